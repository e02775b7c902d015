//! The production decoder for a [`Case`].

use crate::case::Case;
use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config, Fault, Image, Sink, StreamPos, Tracer};
use hartrace_etrace::{Layout, Payload};
use hartrace_isa::{Isa, Xlen};

/// The program of a case.
pub fn image(case: &Case) -> Image {
    let xlen = match case.walk.program.xlen {
        hartrace_walk::Xlen::Rv32 => Xlen::Rv32,
        hartrace_walk::Xlen::Rv64 => Xlen::Rv64,
    };
    let mut image = Image::new(Isa::new(xlen));
    for (address, bytes) in &case.walk.program.segments {
        image.add(*address, bytes);
    }
    image
}

/// How to read the stream of a case.
pub fn config(case: &Case) -> Config {
    let golden = case.decoder();
    Config {
        params: golden.params,
        unit: golden.unit,
        tvec: golden.tvec.iter().map(|(level, base)| (level.0, *base)).collect(),
        ..Config::default()
    }
}

/// Parses and follows one payload, whatever it is.
pub fn feed<S: Sink>(
    tracer: &mut Tracer<'_>,
    layout: &Layout,
    packet: u64,
    payload: &[u8],
    out: &mut S,
) {
    let at = StreamPos { packet, byte: 0 };
    if payload.len() > 31 {
        return tracer.damage(at, Fault::Frame, out);
    }
    let mut bits = BitReader::new(payload, Tail::Sign);
    match Payload::parse(layout, tracer.options(), &mut bits) {
        Ok(payload) => tracer.feed(at, &payload, out),
        Err(error) => tracer.damage(at, error.into(), out),
    }
}
