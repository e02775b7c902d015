//! `hartrace explain`: lists packets, each with its reason.
//!
//! Given a run it encodes it, so the reasons are the encoder's; given a capture they are inferred.

mod infer;

use crate::args::ExplainArgs;
use crate::capture::{self, Packet, Packets, Reader};
use crate::dump::print;
use crate::encode::Run;
use crate::failure::{Failure, Status};
use crate::files;
use crate::listing::{Because, Listed};
use crate::params::Setup;
use hartrace_bits::BitPos;
use hartrace_etrace::Payload;
use hartrace_sources::Format;
use infer::Guess;
use std::collections::HashMap;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<Status, Failure> {
    if is_log(args)? { explain_run(args) } else { explain_capture(args) }
}

/// Whether the input is a log of an execution, and not a capture.
fn is_log(args: &ExplainArgs) -> Result<bool, Failure> {
    let path = &args.run.input;
    let name = path.to_string_lossy();
    // Standard input cannot be looked at twice.
    let named = files::is_standard(path) || name.ends_with(".csv") || name.ends_with(".csv.zst");
    if named || args.run.format.input_format.is_some() {
        return Ok(true);
    }
    let (input, _) = files::open(path)?;
    // What cannot be read on as one may still be a capture.
    Ok(Format::detect(input).is_ok_and(|(format, _)| format.is_some()))
}

/// The packets of a capture. What follows a packet says more about it than the packet itself, so
/// all are read first.
fn explain_capture(args: &ExplainArgs) -> Result<Status, Failure> {
    let setup = Setup::new(&args.run.stream)?;
    let bytes = files::read(&args.run.input)?;
    let with_source = capture::sources(&bytes, setup.transport).len() > 1;
    let mut reader = Reader::new(setup.layout, setup.options);
    let listed: Vec<Listed<'_>> = Packets::new(&bytes, setup.transport)
        .map(|packet| Listed::new(packet, &mut reader))
        .collect();

    // For each packet the next one of its source, context packets left out.
    let mut next = vec![None; listed.len()];
    let mut latest = HashMap::new();
    for (index, packet) in listed.iter().enumerate().rev() {
        next[index] = latest.get(&packet.source()).copied();
        if let Some(payload) = packet.payload()
            && !matches!(payload, Payload::Context(_))
        {
            latest.insert(packet.source(), *payload);
        }
    }

    let mut out = files::stdout();
    let mut guesses: HashMap<Option<u16>, Guess> = HashMap::new();
    let mut status = Status::Clean;
    for (packet, next) in listed.into_iter().zip(next) {
        if !packet.is_sound() {
            status = Status::Gaps;
        }
        let guess = guesses.entry(packet.source()).or_default();
        let reason = packet.payload().map(|payload| guess.reason(payload, next.as_ref()));
        let packet = match reason {
            Some(reason) => packet.because(Because { reason, row: None, place: None }),
            None => packet,
        };
        print(&mut out, &packet, args.json, with_source, setup.xlen)?;
    }
    out.flush()?;
    Ok(status)
}

/// The packets of a run, with the reasons of the encoder.
fn explain_run(args: &ExplainArgs) -> Result<Status, Failure> {
    let (setup, mut run) = Run::open(&args.run)?;
    let mut out = files::stdout();
    let mut reader = Reader::new(setup.layout, setup.options);
    let mut number = 0;
    let mut offset = 0;
    let mut status = Status::Clean;
    run.each(&setup, &mut |sent| {
        let because = Because {
            reason: sent.encoded.reason,
            row: Some(sent.encoded.row),
            place: sent.row.map(|row| (row.line, row.iaddr)),
        };
        // The frame is read back as `dump` would read it.
        for packet in Packets::new(sent.frame, setup.transport.at_start()) {
            let packet = Packet {
                number,
                frame: packet.frame + offset,
                at: BitPos(packet.at.0 + BitPos::of_byte(offset).0),
                ..packet
            };
            let listed = Listed::new(packet, &mut reader).because(because);
            if !listed.is_sound() {
                status = Status::Gaps;
            }
            print(&mut out, &listed, args.json, false, setup.xlen)?;
            number += 1;
        }
        offset += sent.frame.len() as u64;
        Ok(())
    })?;
    out.flush()?;
    Ok(status)
}
