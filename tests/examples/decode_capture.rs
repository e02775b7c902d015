//! Decodes a capture: which instructions retired, and how many.

use hartrace_decoder::stream::{Decode, Transport};
use hartrace_decoder::{Config, Count, Image, Sink, StreamPos};
use hartrace_encap::Framing;
use hartrace_isa::{Isa, Xlen};
use std::convert::Infallible;
use std::error::Error;

/// The addresses of instructions, in the order of the trace.
#[derive(Default)]
struct Addresses(Vec<u64>);

impl Sink for Addresses {
    fn run(&mut self, _: StreamPos, run: hartrace_decoder::Run<'_>) {
        run.addresses(|address| self.0.push(address));
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Image::add_elf takes a whole program; this one is c.nop, c.nop, ret.
    let mut image = Image::new(Isa::new(Xlen::Rv32));
    image.add(0x1000, &[0x01, 0x00, 0x01, 0x00, 0x82, 0x80]);
    // A synchronisation at 0x1000, and the address of the last instruction that retired.
    let capture = [0x45, 0x73, 0x00, 0x04, 0x00, 0x00, 0x42, 0x0a, 0x00];

    // Anything that can be read serves as input: a file, a pipe, bytes.
    let decode = Decode::new(Config::default(), &image, Transport::new(Framing::Reference));
    let mut addresses = Vec::new();
    decode.run(
        &capture[..],
        |_source| Addresses::default(),
        |mut part| {
            addresses.extend(part.sinks.iter_mut().flat_map(|(_, sink)| sink.0.drain(..)));
            Ok::<(), Infallible>(())
        },
    )?;
    println!("{addresses:#x?}");
    assert_eq!(addresses, [0x1000, 0x1002, 0x1004]);

    // Sinks that count never look at single instructions, and are several times as fast.
    let mut count = Count::default();
    decode.run(
        &capture[..],
        |_source| Count::default(),
        |part| {
            for (_, sink) in part.sinks {
                count.instructions += sink.instructions;
                count.gaps += sink.gaps;
            }
            Ok::<(), Infallible>(())
        },
    )?;
    assert_eq!(count, Count { instructions: 3, gaps: 0 });
    Ok(())
}
