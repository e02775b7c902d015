//! The production decoder for a [`Case`] and for captures.

use crate::case::Case;
use crate::log::{Collect, Log, unannounced};
use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::stream::{Decode, Decoded};
use hartrace_decoder::{Config, Image, Sink, StreamPos, Tracer};
use hartrace_isa::Isa;
use std::io::Read;

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

/// Decodes a capture of one source, and returns its events, the number of parts in which it was decoded, and
/// the number of packets.
pub fn stream_log(decode: &Decode<'_>, capture: impl Read + Send) -> (Log, usize, u64) {
    let (mut log, mut parts, mut packets) = (Log::new(), 0, 0);
    let result = decode.run(
        capture,
        |_| Collect::default(),
        |part: Decoded<Collect>| {
            assert!(part.sinks.len() <= 1, "there is one source");
            log.extend(part.sinks.into_iter().flat_map(|(_, sink)| sink.0));
            parts += 1;
            packets = part.packets;
            Ok::<(), std::convert::Infallible>(())
        },
    );
    result.expect("nothing fails");
    (unannounced(log), parts, packets)
}
