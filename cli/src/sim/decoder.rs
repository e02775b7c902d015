//! `hartrace sim decoder`: runs a trace through the RTL of a trace decoder in Verilator. Every record is compared
//! with the software decoder.

use crate::args::{DecoderArg, DecoderArgs};
use crate::failure::{Failure, Status};
use crate::{files, hdl, progress};
use hartrace_hdl_tools::verilate::{Options, SimError};
use hartrace_lockstep::decoder::{CompareError, Lanes, Table, captured, compare, random_packets};

/// Runs the command.
pub(crate) fn run(args: &DecoderArgs) -> Result<Status, Failure> {
    let (config, snapshot) = (args.config.as_deref(), args.snapshot.as_deref());
    if snapshot.is_some() && args.decoder == DecoderArg::Etrace {
        return Err(Failure::usage("a snapshot has no E-Trace").hint("--decoder etmv4"));
    }
    let mut work = Vec::new();
    for unroll in &args.unroll.0 {
        let decoder = hdl::decoder(args.decoder, config, true)?.with_unroll(*unroll);
        match snapshot {
            Some(path) => work.extend(captured(&decoder, path).map_err(Failure::input)?),
            None => {
                let (len, hostile, seed) = (args.random, args.hostile, args.seed);
                let (name, bytes) = random_packets(&decoder, len, hostile, seed)?;
                work.push((decoder, name, bytes));
            }
        }
    }
    let lanes = args.holes.map_or(Lanes::Full, Lanes::Holes);
    let options = Options { cache: Some(super::cache()?), ..Options::fast() };
    let bar = progress::executed();
    let mut table = Table::new(files::stdout(), args.json);
    let mut status = Status::Clean;
    for (decoder, name, bytes) in work {
        let unroll = decoder.unroll();
        bar.set_message(format!("{name} at {unroll} bytes per cycle;"));
        bar.tick();
        let report = compare(&decoder, &bytes, lanes, &options)?;
        bar.suspend(|| table.print(&name, unroll, &report))?;
        if report.differences > 0 {
            status = Status::Different;
        }
    }
    bar.finish_and_clear();
    table.finish()?;
    Ok(status)
}

impl From<CompareError> for Failure {
    fn from(error: CompareError) -> Self {
        match error {
            CompareError::Simulation(error) => error.into(),
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
