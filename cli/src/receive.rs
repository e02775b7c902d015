//! `hartrace receive`: writes trace that arrives, for example over a serial port, to a capture.

use crate::args::ReceiveArgs;
use crate::described::describe;
use crate::failure::{Failure, Status};
use crate::{files, params};
use hartrace_capture::description::Description;
use hartrace_capture::params::{Given, Setup, SetupError};
use hartrace_capture::receive::{Limits, ReceiveError, open, receive};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// Runs the command.
pub(crate) fn run(args: &ReceiveArgs) -> Result<Status, Failure> {
    files::one_standard([args.port.as_path(), args.params.as_path()])?;
    let draft = params::draft(&args.params)?;
    let given = Given { find_sync: args.find_sync, ..Given::default() };
    let wrong = |error: SetupError| Failure::usage(error).at(files::name(&args.params));
    let transport = Setup::new(Some(draft.clone()), &given).map_err(wrong)?.transport;
    let unreadable = |error| files::unreadable(&args.port, &error);
    let input: files::Input = match files::is_standard(&args.port) {
        true => Box::new(io::stdin()),
        false => Box::new(open(&args.port, args.baud).map_err(unreadable)?),
    };
    let mut capture = files::create(&args.output)?;
    ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed)).map_err(Failure::input)?;
    let limits = Limits { bytes: args.bytes, time: args.seconds.map(Duration::from_secs) };
    let failed = |error| match error {
        ReceiveError::Read(error) => unreadable(error),
        ReceiveError::Write(error) => Failure::write(files::output_name(&args.output), &error),
    };
    let received = receive(input, &mut capture, &transport, &limits, &STOP).map_err(failed)?;
    describe(&args.output, Description { draft, ..Description::default() }, &[])?;
    if !files::is_standard(&args.output) {
        writeln!(io::stdout(), "{received}")?;
    }
    Ok(if received.is_sound() { Status::Clean } else { Status::Gaps })
}
