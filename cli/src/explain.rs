//! `hartrace explain`: encodes a run and lists its packets, each with its reason.

use crate::args::ExplainArgs;
use crate::capture::{Packet, Packets, Reader};
use crate::dump::print;
use crate::encode::Run;
use crate::failure::{Failure, Status};
use crate::files;
use crate::listing::{Because, Listed};
use hartrace_bits::BitPos;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<Status, Failure> {
    let (setup, mut run) = Run::open(&args.run)?;
    let mut out = files::stdout();
    let mut reader = Reader::new(setup.layout, setup.options);
    let mut number = 0;
    let mut offset = 0;
    let mut status = Status::Clean;
    run.each(&setup, &mut |sent| {
        let because = Because {
            reason: sent.encoded.reason,
            row: sent.encoded.row,
            place: sent.row.map(|row| (row.line, row.iaddr)),
        };
        // The frame is read back as `dump` would read it.
        for packet in Packets::new(sent.frame, setup.transport) {
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
