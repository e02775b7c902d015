//! `hartrace sim loop`: runs programs through the RTL of encoder, decoder and block walker. What the walker reports is
//! compared with what was executed.

use crate::args::LoopArgs;
use crate::failure::{Failure, Status, warn};
use crate::{exec, files, hdl, progress};
use hartrace_decoder_hdl::analysis;
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::Setting;
use hartrace_lockstep::decoder::analysis::{AnalysisBench, AnalysisBenchError, Step};
use hartrace_lockstep::decoder::{FollowerError, Said};
use hartrace_lockstep::rtl_loop::{Loop, LoopBench, LoopConfig, LoopError};
use hartrace_lockstep::trial::Work;
use hartrace_sources::executed::modes;
use serde_json::json;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &LoopArgs) -> Result<Status, Failure> {
    if args.tracing.back_pressure > 0 {
        return Err(Failure::usage(
            "--back-pressure, but the decoder never makes the encoder wait",
        )
        .hint("--idle PERCENT, for a slower hart, or `hartrace sim encoder`"));
    }
    let encoder = hdl::named(&args.config, None)?.encoder;
    let works = match &args.program {
        Some(path) => vec![Work::program(exec::program(path)?, &encoder)?],
        None => super::bundled(&encoder)?,
    };
    let options = modes::named(&args.tracing.encode)?;
    let setting = Setting::new(&encoder, options, args.tracing.resync_max);
    let config = LoopConfig {
        entries: args.blocks,
        rows: args.rows,
        ..LoopConfig::new(encoder, args.unroll)
    };
    let bar = progress::executed();
    bar.set_message("building the models");
    bar.tick();
    let options = Options { cache: Some(super::cache()?), ..Options::fast() };
    let mut bench = LoopBench::new(&config, &options)?;
    let address_bits = config.encoder.etrace.iaddress_width_p.into();
    let rtl_loop = Loop {
        idle: 10 * args.idle,
        retire: args.retire,
        limit: args.limit,
        ..Loop::new(&setting, &args.tracing.encode)
    };
    let mut out = files::stdout();
    let mut status = Status::Clean;
    for work in works {
        bar.set_message(work.name().to_owned());
        let mut steps = Vec::new();
        let mut said = |said: &Said| {
            if args.profile.is_some() {
                steps.push(Step::from(said));
            }
        };
        let progress = |rows: &[_]| bar.inc(exec::half_words(rows));
        let figures = rtl_loop.run_with(&mut bench, work, progress, &mut said)?;
        if let Some(path) = &args.profile {
            let config = analysis::Config { address_bits, ..analysis::Config::default() };
            let bench = AnalysisBench::new(&config, &options)?;
            let found = bench.run(&steps, &bench.settings())?;
            if found.lost > 0 {
                warn(format_args!("{} edges were lost", found.lost));
            }
            files::write(path, found.dump)?;
        }
        if figures.difference().is_some() {
            status = Status::Different;
        }
        bar.suspend(|| {
            match args.json {
                true => writeln!(out, "{}", json!(figures.record()))?,
                false => writeln!(out, "{figures}")?,
            }
            out.flush()
        })?;
    }
    bar.finish_and_clear();
    Ok(status)
}

impl From<AnalysisBenchError> for Failure {
    fn from(error: AnalysisBenchError) -> Self {
        match error {
            AnalysisBenchError::Simulation(error) => error.into(),
            error => Self::usage(error),
        }
    }
}

impl From<LoopError> for Failure {
    fn from(error: LoopError) -> Self {
        match error {
            LoopError::Encoder(error) => error.into(),
            LoopError::Trial(error) => error.into(),
            LoopError::Follower(FollowerError::Simulation(error)) => error.into(),
            LoopError::Follower(error) => Self::usage(error).hint("more --blocks"),
            error => Self::usage(error),
        }
    }
}
