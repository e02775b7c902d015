//! The production decoder for a [`Case`].

use crate::case::Case;
use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config, Image, Sink, StreamPos, Tracer};
use hartrace_isa::Isa;

/// Returns the program of a case.
pub fn image(case: &Case) -> Image {
    let mut image = Image::new(Isa::new(case.walk.program.xlen));
    for (address, bytes) in &case.walk.program.segments {
        image.add(*address, bytes);
    }
    image
}

/// Returns the configuration for the stream of a case.
pub fn config(case: &Case) -> Config {
    let golden = case.decoder();
    Config {
        params: golden.params,
        unit: golden.unit,
        tvec: golden.tvec.iter().map(|(level, base)| (level.0, *base)).collect(),
        ..Config::default()
    }
}

/// Processes one payload, whatever it contains.
pub fn feed<S: Sink>(tracer: &mut Tracer<'_>, packet: u64, payload: &[u8], out: &mut S) {
    let at = StreamPos { packet, byte: 0 };
    tracer.feed_bits(at, BitReader::new(payload, Tail::Sign), out);
}
