//! `hartrace sim decoder`: runs a trace through the RTL of the ETMv4 decoder in Verilator. Every record is compared
//! with the software decoder.

use crate::args::DecoderArgs;
use crate::failure::{Failure, Status};
use crate::{files, progress};
use hartrace_decoder_hdl::etmv4::Config;
use hartrace_hdl_tools::verilate::{Options, SimError};
use hartrace_lockstep::decoder::{Etmv4Bench, Etmv4BenchError, Lanes, Source, Table, sources};

/// Runs the command.
pub(crate) fn run(args: &DecoderArgs) -> Result<Status, Failure> {
    let sources = match &args.snapshot {
        Some(path) => sources(path).map_err(|error| Failure::input(error).at(path.display()))?,
        None => vec![Source::random(&Config::default().unit, args.random, args.hostile, args.seed)],
    };
    let lanes = args.holes.map_or(Lanes::Full, Lanes::Holes);
    let options = Options { cache: Some(super::cache()?), ..Options::fast() };
    let bar = progress::executed();
    let mut table = Table::new(files::stdout(), args.json);
    let mut status = Status::Clean;
    for unroll in &args.unroll.0 {
        for source in &sources {
            bar.set_message(format!("{} at {unroll} bytes per cycle;", source.name));
            bar.tick();
            let config = Config { unroll: *unroll, unit: source.unit, ..Config::default() };
            let bench = Etmv4Bench::new(&config, &options)?;
            let report = bench.compare(&source.bytes, lanes)?;
            bar.suspend(|| table.print(&source.name, *unroll, &report))?;
            if report.differences > 0 {
                status = Status::Different;
            }
        }
    }
    bar.finish_and_clear();
    table.finish()?;
    Ok(status)
}

impl From<Etmv4BenchError> for Failure {
    fn from(error: Etmv4BenchError) -> Self {
        match error {
            Etmv4BenchError::Simulation(error) => error.into(),
            error => Self::usage(error),
        }
    }
}

impl From<SimError> for Failure {
    fn from(error: SimError) -> Self {
        match error {
            SimError::Missing { .. } => {
                Self::usage(error).hint("another command, named by the variables VERILATOR and CXX")
            }
            error => Self::input(error),
        }
    }
}
