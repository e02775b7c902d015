//! `hartrace dump`.

use crate::args::DumpArgs;
use crate::capture::{self, Packets, Reader};
use crate::failure::{Failure, Status};
use crate::files;
use crate::listing::Listed;
use crate::params::Setup;
use hartrace_isa::Xlen;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &DumpArgs) -> Result<Status, Failure> {
    let params = args.stream.params.as_deref();
    files::one_standard(params.into_iter().chain([args.capture.as_path()]))?;
    let setup = Setup::new(&args.stream)?;
    let bytes = files::read(&args.capture)?;
    let with_source = capture::sources(&bytes, setup.transport).len() > 1;
    let bar = files::progress(bytes.len() as u64);
    let mut reader = Reader::new(setup.layout, setup.options);
    let mut out = files::stdout();
    let mut status = Status::Clean;
    for packet in Packets::new(&bytes, setup.transport) {
        bar.set_position(packet.frame);
        let listed = Listed::new(packet, &mut reader);
        if !listed.is_sound() {
            status = Status::Gaps;
        }
        print(&mut out, &listed, args.json, with_source, setup.xlen)?;
    }
    bar.finish_and_clear();
    out.flush()?;
    Ok(status)
}

/// Prints one packet.
pub(crate) fn print(
    out: &mut dyn Write,
    listed: &Listed<'_>,
    json: bool,
    with_source: bool,
    xlen: Xlen,
) -> Result<(), Failure> {
    if json {
        serde_json::to_writer(&mut *out, &listed.json(xlen)).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}", listed.line(with_source, xlen))?;
    }
    Ok(())
}
