//! `hartrace receive`: writes trace that arrives, for example over a serial port, to a capture.

use crate::args::ReceiveArgs;
use crate::described::describe;
use crate::failure::{Failure, Status};
use crate::{files, params, signals};
use hartrace_capture::description::Description;
use hartrace_capture::output::CaptureOutput;
use hartrace_capture::params::{Given, Setup, SetupError};
use hartrace_capture::receive::{Limits, ReceiveError, open, receive};
use std::io::{self, Write};
use std::time::Duration;

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
    files::check_capture(&args.output)?;
    let mut capture = CaptureOutput::arriving(&args.output)?;
    let limits = Limits { bytes: args.bytes, time: args.seconds.map(Duration::from_secs) };
    let received = receive(input, &mut capture, &transport, &limits, signals::stop()?);
    let received = received.map_err(|error| {
        let failure = match error {
            ReceiveError::Read(error) => unreadable(error),
            ReceiveError::Write(error) => error.into(),
        };
        let kept =
            capture.partial().map(|path| format!("{}, with all that arrived", path.display()));
        failure.hint_if(kept)
    })?;
    // If nothing has arrived, an earlier capture stays.
    if received.bytes > 0 {
        let description = Description { draft, ..Description::default() };
        capture.finish(describe(&args.output, description, &[])?)?;
    }
    if !files::is_standard_output(&args.output) {
        writeln!(io::stdout(), "{received}")?;
    }
    Ok(if received.is_sound() { Status::Clean } else { Status::Gaps })
}
