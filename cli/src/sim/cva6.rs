//! `hartrace sim cva6`: runs a program on the real CVA6 core with connector and encoder, in Verilator.
//! The trace is decoded and compared with what the core executed.

use crate::args::{Cva6Args, SimEmit};
use crate::described::describe;
use crate::failure::{Failure, Status};
use crate::{files, hdl, progress};
use hartrace_capture::description::Traced;
use hartrace_cva6_sim::soc::{Job, Outcome, Report, Soc, SocConfig, SocError, check_extensions};
use hartrace_cva6_sim::{Config as Platform, Core, Exit, Latency};
use hartrace_executions::executed::bundled::CVA6;
use hartrace_executions::executed::modes;
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::Setting;
use std::io::{self, Write};
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &Cva6Args) -> Result<Status, Failure> {
    let encoder = hdl::named(&args.encoder, Some(args.lanes))?.encoder;
    let modes = modes::in_hardware(&args.tracing.encode)?;
    let setting =
        Setting { stall: args.stall, ..Setting::new(&encoder, modes, args.tracing.resync_max) };
    // Building the model takes minutes.
    let programs = programs(args.program.as_deref(), args.filelist.is_none())?;
    let config = SocConfig::new(encoder, args.harts).waiting(args.stall);
    let config = config.with_time(args.time).serialised(args.serialised);
    let core = Core::of(args.filelist.as_deref(), &args.set).map_err(Failure::usage)?;
    let options =
        Options { waves: args.waves.is_some(), cache: Some(super::cache()?), ..core.options() };
    let bar = progress::executed();
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar.set_message("building the model of the core, which takes a minute or two the first time;");
    let soc = Soc::build(&core, &config, &options)?;
    let mut report =
        Report::new(files::summary(), args.json, &args.encoder, args.lanes, &args.tracing.encode);
    let mut status = Status::Clean;
    for (name, elf) in programs {
        let job = Job {
            platform: Platform {
                latency: Latency { cycles: args.latency, jitter: 0 },
                seed: args.seed,
                ..Platform::default()
            },
            setting: setting.clone(),
            back_pressure: 10 * args.tracing.back_pressure,
            limit: args.limit,
            waves: args.waves.clone(),
            ..Job::new(elf)
        };
        bar.set_message(format!("{name} without tracing;"));
        let survey = soc.survey(&job)?;
        bar.set_message(format!("{name} with tracing;"));
        let outcome = soc.trace(&job, &survey)?;
        if let (Some(path), Some(program)) = (&args.output, &args.program) {
            let mut output = files::create_capture(path)?;
            output.write_all(&outcome.bytes)?;
            let description = soc.description(&job, &survey)?;
            output.finish(describe(path, description, &[Traced::new(program, &job.elf)])?)?;
        }
        if outcome.difference().is_some() {
            status = Status::Different;
        }
        bar.suspend(|| -> Result<(), Failure> {
            match args.emit {
                Some(SimEmit::Pcs) => {
                    let mut pcs = String::new();
                    soc.decode(&job, &survey, &outcome, args.hart, &mut |pc, _| {
                        pcs += &format!("{pc:016x}\n");
                    })?;
                    let mut out = io::stdout();
                    out.write_all(pcs.as_bytes()).and_then(|()| out.flush())?;
                }
                None => report.print(&name, &survey, &outcome)?,
            }
            Ok(remark(args, &name, &outcome)?)
        })?;
    }
    bar.finish_and_clear();
    if args.emit.is_none() {
        report.finish()?;
    }
    Ok(status)
}

/// A program, or the bundled ones, by their names in tables. They need nothing that the core of 2022 lacks.
pub(super) fn programs(
    path: Option<&Path>,
    of_2022: bool,
) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let programs = match path {
        Some(path) => vec![(stem(path), files::read(path)?)],
        None => CVA6.iter().map(|(name, elf)| ((*name).into(), elf.to_vec())).collect(),
    };
    for (name, elf) in programs.iter().filter(|_| of_2022) {
        let place = || path.map_or_else(|| name.clone(), files::name);
        check_extensions(elf).map_err(|error| Failure::from(error).at(place()))?;
    }
    Ok(programs)
}

/// The name of a program in tables.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into()
}

/// Prints further remarks on a run.
fn remark(args: &Cva6Args, name: &str, outcome: &Outcome) -> io::Result<()> {
    if let (Some(_), Some(difference)) = (args.emit, outcome.difference()) {
        eprintln!("{name}: {difference}");
    }
    match outcome.run.exit {
        Exit::Limit if !args.json && args.emit.is_none() => {
            let cycles = outcome.run.cycles;
            writeln!(io::stdout(), "{name}: ended after {cycles} cycles, see --limit")?;
        }
        Exit::Exited(code @ 1..) => eprintln!("{name}: exit code {code}"),
        _ => {}
    }
    Ok(())
}

impl From<SocError> for Failure {
    fn from(error: SocError) -> Self {
        let hint = error.hint();
        match error {
            SocError::Follower(error) => error.into(),
            error if error.is_usage() => Self::usage(error).hint_if(hint),
            error => Self::input(error).hint_if(hint),
        }
    }
}
