//! `hartrace sim loop`: runs programs through the RTL of encoder, decoder and block walker. What the walker reports is
//! compared with what was executed.

use crate::args::LoopArgs;
use crate::failure::{Failure, Status, warn};
use crate::sim::cva6;
use crate::{exec, files, hdl, progress};
use hartrace_cva6_sim::Core;
use hartrace_cva6_sim::soc::{CoreLoop, Job, Soc, SocConfig, SocError};
use hartrace_executions::executed::{half_words, modes};
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::Setting;
use hartrace_lockstep::decoder::FollowerError;
use hartrace_lockstep::rtl_loop::{Loop, LoopBench, LoopConfig, LoopError, LoopFigures};
use hartrace_lockstep::trial::{TrialError, Work};
use indicatif::ProgressBar;
use std::io::Write;

/// Instructions and traps of a program, unless told otherwise.
const LIMIT: u64 = 200_000;

/// Runs the command.
pub(crate) fn run(args: &LoopArgs) -> Result<Status, Failure> {
    if args.tracing.back_pressure > 0 {
        return Err(Failure::usage(
            "--back-pressure, but the decoder never makes the encoder wait",
        )
        .hint("--idle PERCENT, for a slower hart, or `hartrace sim encoder`"));
    }
    let encoder = hdl::named(&args.config, None)?.encoder;
    let modes = modes::in_hardware(&args.tracing.encode)?;
    let setting = Setting::new(&encoder, modes, args.tracing.resync_max);
    let config = LoopConfig {
        entries: args.blocks,
        rows: args.rows,
        // With or without a profile, so that there is one model.
        analysis: true,
        ..LoopConfig::new(encoder, args.unroll)
    };
    let bar = progress::executed();
    bar.set_message("building the models");
    bar.tick();
    let options = Options { cache: Some(super::cache()?), ..Options::fast() };
    let printed = Printed { args, bar: &bar, options: &options };
    let status = match args.cva6 {
        true => on_core(&printed, &config, setting)?,
        false => on_hart(&printed, &config, &setting)?,
    };
    bar.finish_and_clear();
    Ok(status)
}

/// Programs on the model of a hart, which may retire several instructions in every cycle.
fn on_hart(to: &Printed<'_>, config: &LoopConfig, setting: &Setting) -> Result<Status, Failure> {
    let args = to.args;
    let works = match &args.program {
        Some(path) => vec![Work::program(exec::program(path)?, &config.encoder)?],
        None => Work::bundled(&config.encoder)?,
    };
    let mut bench = LoopBench::new(config, to.options)?;
    let rtl_loop = Loop {
        idle: 10 * args.hart.idle,
        retire: args.hart.retire,
        limit: args.limit.unwrap_or(LIMIT),
        ..Loop::new(setting, &args.tracing.encode)
    };
    let mut status = Status::Clean;
    for work in works {
        let name = work.name().to_owned();
        to.bar.set_message(name.clone());
        let progress = |rows: &[_]| to.bar.inc(half_words(rows));
        match rtl_loop.run(&mut bench, work, progress) {
            Err(LoopError::Trial(error @ TrialError::TrapVectors)) if args.program.is_none() => {
                to.bar.suspend(|| warn(format_args!("{name} is left out: {error}")));
            }
            figures => status = status.max(to.print(&figures?)?),
        }
    }
    Ok(status)
}

/// Programs on a CVA6 core with connector and encoder.
fn on_core(to: &Printed<'_>, config: &LoopConfig, setting: Setting) -> Result<Status, Failure> {
    let args = to.args;
    let programs = cva6::programs(args.program.as_deref(), true)?;
    let core = Core::find().map_err(Failure::usage)?;
    let options = Options { cache: to.options.cache.clone(), ..core.options() };
    let soc = Soc::build(&core, &SocConfig::new(config.encoder.clone(), 1), &options)?;
    let core_loop = CoreLoop::new(&soc, config, to.options)?;
    let mut status = Status::Clean;
    for (name, elf) in programs {
        to.bar.set_message(name.clone());
        let job = Job { setting: setting.clone(), ..Job::new(elf) };
        let job = Job { limit: args.limit.unwrap_or(job.limit), ..job };
        let survey = soc.survey(&job)?;
        match core_loop.run((&name, &args.tracing.encode), &job, &survey) {
            Err(error @ SocError::Mode(_)) if args.program.is_none() => {
                to.bar.suspend(|| warn(format_args!("{name} is left out: {error}")));
            }
            run => status = status.max(to.print(&run?.0)?),
        }
    }
    Ok(status)
}

/// Where results go.
struct Printed<'a> {
    args: &'a LoopArgs,
    bar: &'a ProgressBar,
    options: &'a Options,
}

impl Printed<'_> {
    fn print(&self, figures: &LoopFigures) -> Result<Status, Failure> {
        if let (Some(path), Some(found)) = (&self.args.profile, &figures.found) {
            if found.lost > 0 {
                warn(format_args!("{} edges were lost", found.lost));
            }
            files::write(path, &found.dump)?;
        }
        let mut out = files::summary();
        self.bar.suspend(|| figures.print(&mut out, self.args.json))?;
        out.flush()?;
        Ok(figures.difference().map_or(Status::Clean, |_| Status::Different))
    }
}

impl From<LoopError> for Failure {
    fn from(error: LoopError) -> Self {
        match error {
            LoopError::Encoder(error) => error.into(),
            LoopError::Trial(error) => error.into(),
            LoopError::Follower(error) => error.into(),
            error => Self::usage(error),
        }
    }
}

impl From<FollowerError> for Failure {
    fn from(error: FollowerError) -> Self {
        match error {
            FollowerError::Simulation(error) => error.into(),
            error => Self::usage(error).hint("more --blocks"),
        }
    }
}
