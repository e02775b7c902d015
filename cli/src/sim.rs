//! `hartrace sim encoder`: runs an execution through the encoder's RTL in Verilator. Every payload is compared
//! with the golden encoder, every decoded instruction with what was executed.

pub(crate) mod cva6;
pub(crate) mod decoder;
pub(crate) mod rtl_loop;

use crate::args::SimArgs;
use crate::described::describe;
use crate::failure::{Failure, Status};
use crate::{exec, files, hdl, input, progress};
use hartrace_capture::description::Traced;
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_executions::executed::{half_words, modes};
use hartrace_hdl_tools::verilate::{Mode, Options, user_cache};
use hartrace_lockstep::trial::{Report, Trial, TrialError, Work, xlen};
use hartrace_lockstep::{Bench, BenchError, Setting, Traffic};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs the command.
pub(crate) fn run(args: &SimArgs) -> Result<Status, Failure> {
    let mut config = hdl::named(&args.config, args.lanes)?.encoder;
    if args.time {
        (config.etrace.notime_p, config.etrace.time_width_p) = (false, 40);
    }
    let works = match &args.input {
        Some(path) => vec![open(path, args, &config)?],
        None => Work::bundled(&config)?,
    };
    let setting =
        Setting::new(&config, modes::in_hardware(&args.tracing.encode)?, args.tracing.resync_max);
    let options = Options {
        mode: Mode::Fast,
        waves: args.waves.is_some(),
        cache: Some(cache()?),
        ..Options::default()
    };
    let bar = progress::executed();
    bar.set_message("building the model");
    bar.tick();
    let mut bench = Bench::new(&config, &options)?;
    let trial = Trial {
        setting: &setting,
        mode: &args.tracing.encode,
        traffic: Traffic {
            back_pressure: 10 * args.tracing.back_pressure,
            idle: 10 * args.hart.idle,
            seed: args.seed,
            clock: args.time,
            ..Traffic::default()
        },
        retire: args.hart.retire,
        limit: args.limit,
    };
    let mut report = Report::new(files::summary(), args.json);
    let mut status = Status::Clean;
    for work in works {
        bar.set_message(work.name().to_owned());
        bench.restart(args.seed as u32).map_err(Failure::input)?;
        let tvec = work.trap_vectors(&setting.options, args.limit)?;
        let mut output = args.output.as_deref().map(files::create_capture).transpose()?;
        if let Some(path) = &args.waves {
            bench.simulation().waves(path).map_err(Failure::input)?;
        }
        let written = output.as_mut().map(|output| output as &mut dyn Write);
        let progress = |rows: &[_]| bar.inc(half_words(rows));
        let figures = trial.run(&mut bench, work, tvec.clone(), written, progress)?;
        if let (Some(output), Some(input)) = (output, &args.input) {
            let program = if exec::is_elf(input)? { Some(input) } else { args.elf.as_ref() };
            let elf = program.map(|path| files::read(path)).transpose()?;
            let traced = program.zip(elf.as_ref()).map(|(path, elf)| Traced::new(path, elf));
            let description = setting.description(&config, &tvec);
            let description = describe(output.path(), description, traced.as_slice())?;
            output.finish(description)?;
        }
        if figures.difference().is_some() {
            status = Status::Different;
        }
        bar.suspend(|| report.print(&figures))?;
    }
    bar.finish_and_clear();
    report.finish()?;
    Ok(status)
}

/// Opens an ELF file or a log.
fn open(path: &Path, args: &SimArgs, config: &Config) -> Result<Work, Failure> {
    // There may be two files: name the one in question.
    let at = |path: &Path, error: TrialError| match error {
        TrialError::Width { .. } => Failure::from(error).at(files::name(path)),
        error => error.into(),
    };
    if exec::is_elf(path)? {
        let program = exec::program(path)?;
        let work = Work::program(program, config).map_err(|error| at(path, error))?;
        if args.elf.is_some() {
            return Err(Failure::usage("--elf is for logs").at(files::name(path)));
        }
        return Ok(work);
    }
    let program = args.elf.as_deref().map(exec::program).transpose()?;
    let options = input::options(&args.format, Some(xlen(config)), ITypeWidth::Four);
    // The simulation has its own bar.
    let (rows, _) = input::open(path, &options)?;
    Work::log(files::name(path), rows, program, config)
        .map_err(|error| at(args.elf.as_deref().unwrap_or(path), error))
}

/// Where models are kept.
fn cache() -> Result<PathBuf, Failure> {
    user_cache()
        .ok_or_else(|| Failure::usage("no folder to keep models in").hint("XDG_CACHE_HOME=FOLDER"))
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Config(error) => {
                Self::usage(error).hint("another --config, or other values in its file")
            }
            BenchError::Simulation(error) => error.into(),
            error => Self::input(error),
        }
    }
}

impl From<TrialError> for Failure {
    fn from(error: TrialError) -> Self {
        let hint = error.hint();
        match error {
            TrialError::Program(error) => error.into(),
            TrialError::Log(error) => error.into(),
            TrialError::Write(error) => error.into(),
            error if error.is_usage() => Self::usage(error).hint_if(hint),
            error => Self::input(error).hint_if(hint),
        }
    }
}
