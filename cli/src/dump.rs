//! `hartrace dump`.

use crate::args::DumpArgs;
use crate::described;
use crate::failure::{Failure, Status};
use crate::{files, gaps};
use hartrace_etrace::Payload;
use hartrace_report::dump::{Dump, Listed};
use hartrace_report::gaps::NoSync;
use hartrace_report::packets::{Packets, Reader, sources};
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &DumpArgs) -> Result<Status, Failure> {
    let params = args.stream.params.as_deref();
    files::one_standard(params.into_iter().chain([args.capture.as_path()]))?;
    let (described, setup) = described::stream(&args.capture, &args.stream)?;
    let bytes = described::read(&described)?;
    let transport = setup.transport.stream();
    let with_source = sources(&bytes, transport).len() > 1;
    let dump = Dump { json: args.json, with_source, xlen: setup.xlen };
    let bar = files::progress(bytes.len() as u64);
    let mut reader = Reader::new(setup.layout, setup.options);
    let mut out = files::stdout();
    let mut status = Status::Clean;
    let mut found = NoSync { bytes: bytes.len() as u64, packets: 0 };
    let mut synchronised = false;
    for packet in Packets::new(&bytes, transport) {
        bar.set_position(packet.frame);
        let listed = Listed::new(packet, &mut reader);
        found.packets += 1;
        synchronised |= matches!(listed.payload(), Some(Payload::Start(_) | Payload::Trap(_)));
        if !listed.is_sound() {
            status = Status::Gaps;
        }
        dump.write(&mut out, &listed)?;
    }
    bar.finish_and_clear();
    out.flush()?;
    if !synchronised {
        if status == Status::Clean {
            gaps::new(files::name(&args.capture), false, bar).silent(found);
        }
        status = Status::Gaps;
    }
    Ok(status)
}
