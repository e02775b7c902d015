//! `hartrace explain`: lists packets, each with its reason.
//!
//! A run is encoded, so its reasons are those of the encoder. For a capture, they are inferred.

use crate::args::ExplainArgs;
use crate::described;
use crate::encode::Run;
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_executions::Format;
use hartrace_golden::infer::reasons;
use hartrace_report::lists::Explained;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<Status, Failure> {
    let mut out = files::stdout();
    let sound = if is_log(args)? {
        let (setup, mut run) = Run::open(&args.run)?;
        let mut explained = Explained::new(&setup, args.json);
        run.each(&setup, |sent| {
            let place = (sent.encoded.row, sent.row.map(|row| (row.line, row.iaddr)));
            Ok(explained.frame(sent.frame, sent.encoded.reason, place, &mut out)?)
        })?;
        explained.is_sound()
    } else {
        let idle = [
            ("hart", args.run.format.hart.is_some()),
            ("retirement", args.run.format.retirement.is_some()),
            ("compat", args.run.compat.is_some()),
        ];
        if let Some((option, _)) = idle.into_iter().find(|(_, is_given)| *is_given) {
            let what = format!("--{option} is for logs, but this is a capture");
            return Err(Failure::usage(what)
                .at(files::name(&args.run.input))
                .hint(format_args!("the same without --{option}, or --input-format for a log")));
        }
        let (described, setup) = described::stream(&args.run.input, &args.run.stream)?;
        let bytes = described::read(&described)?;
        Explained::new(&setup, args.json).capture(&bytes, &setup, reasons, &mut out)?
    };
    out.flush()?;
    Ok(if sound { Status::Clean } else { Status::Gaps })
}

/// Whether the input is an execution log, and not a capture.
fn is_log(args: &ExplainArgs) -> Result<bool, Failure> {
    let path = &args.run.input;
    let name = path.to_string_lossy();
    // Standard input cannot be read twice.
    let named = files::is_standard(path) || name.ends_with(".csv") || name.ends_with(".csv.zst");
    if named || args.run.format.input_format.is_some() {
        return Ok(true);
    }
    let (input, _) = files::open(path)?;
    // A file that cannot be read as a log may still be a capture.
    Ok(Format::detect(input).is_ok_and(|(format, _)| format.is_some()))
}
