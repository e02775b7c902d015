//! `hartrace explain`: lists packets, each with its reason.
//!
//! A run is encoded, so its reasons are those of the encoder. For a capture, they are inferred.

use crate::args::ExplainArgs;
use crate::described;
use crate::encode::Run;
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_etrace::encoder::Reason;
use hartrace_golden::infer::reasons;
use hartrace_report::dump::{Because, Dump, Listed};
use hartrace_report::packets::{Packets, Reader, sources};
use hartrace_sources::Format;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<Status, Failure> {
    if is_log(args)? { explain_run(args) } else { explain_capture(args) }
}

/// Whether the input is a log of an execution, and not a capture.
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

/// Explains the packets of a capture. All are read first: what follows a packet reveals more about its
/// reason than the packet itself.
fn explain_capture(args: &ExplainArgs) -> Result<Status, Failure> {
    let (described, setup) = described::stream(&args.run.input, &args.run.stream)?;
    let bytes = described::read(&described)?;
    let transport = setup.transport.stream();
    let with_source = sources(&bytes, transport).len() > 1;
    let dump = Dump { json: args.json, with_source, xlen: setup.xlen };
    let mut reader = Reader::new(setup.layout, setup.options);
    let listed: Vec<Listed<'_>> =
        Packets::new(&bytes, transport).map(|packet| Listed::new(packet, &mut reader)).collect();

    let payloads = listed.iter().map(|packet| (packet.source(), packet.payload().copied()));
    let reasons = reasons(&payloads.collect::<Vec<_>>());
    let mut out = files::stdout();
    let mut status = Status::Clean;
    for (packet, reason) in listed.into_iter().zip(reasons) {
        if !packet.is_sound() {
            status = Status::Gaps;
        }
        let packet = match reason {
            Some(reason) => packet.because(because(reason, None, None)),
            None => packet,
        };
        dump.write(&mut out, &packet)?;
    }
    out.flush()?;
    Ok(status)
}

/// Explains the packets of a run, with the reasons of the encoder.
fn explain_run(args: &ExplainArgs) -> Result<Status, Failure> {
    let (setup, mut run) = Run::open(&args.run)?;
    let transport = setup.transport.finding_sync(false).stream();
    let dump = Dump { json: args.json, with_source: false, xlen: setup.xlen };
    let mut out = files::stdout();
    let mut reader = Reader::new(setup.layout, setup.options);
    let mut number = 0;
    let mut offset = 0;
    let mut status = Status::Clean;
    run.each(&setup, |sent| {
        let place = sent.row.map(|row| (row.line, row.iaddr));
        let because = because(sent.encoded.reason, Some(sent.encoded.row), place);
        // The frame is read back as `dump` would read it.
        for packet in Packets::new(sent.frame, transport) {
            let listed =
                Listed::new(packet.moved(number, offset), &mut reader).because(because.clone());
            if !listed.is_sound() {
                status = Status::Gaps;
            }
            dump.write(&mut out, &listed)?;
            number += 1;
        }
        offset += sent.frame.len() as u64;
        Ok(())
    })?;
    out.flush()?;
    Ok(status)
}

fn because(reason: Reason, row: Option<u64>, place: Option<(Option<u64>, u64)>) -> Because {
    Because { reason: reason.name(), why: reason.text(), row, place }
}
