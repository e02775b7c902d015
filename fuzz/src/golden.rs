//! The golden decoder on a [`Stream`].

use crate::bits;
use crate::stream::Stream;
use hartrace_etrace::ingress::Privilege;
use hartrace_golden::decoder::{Event, Position};
use hartrace_golden::isa::{Isa, Xlen};
use hartrace_golden::{Compat, Decoder, DecoderConfig, Image};

/// The largest number of instructions that it follows for one payload.
pub const MAX_STEPS: u64 = 20_000;

/// Decodes the whole stream.
pub fn decode(stream: &Stream, sink: &mut dyn FnMut(u64, Event)) {
    let xlen = if stream.rv32 { Xlen::Rv32 } else { Xlen::Rv64 };
    let mut image = Image::new(Isa { xlen, zcm: stream.zcm });
    image.add(stream.base, &stream.code);
    let config = DecoderConfig {
        params: stream.params,
        unit: stream.unit,
        tvec: stream.tvec.map(|(level, base)| (Privilege(level), base)).to_vec(),
        compat: match stream.compat {
            0 => Compat::None,
            1 => Compat::PythonModel,
            _ => Compat::CModel,
        },
        max_steps: MAX_STEPS,
    };
    let mut decoder = Decoder::new(config, &image).expect("the layout is legal");
    let mut sink = |at: Position, event: Event| sink(at.packet, event);
    for (packet, payload) in stream.payloads.iter().enumerate() {
        let at = Position { packet: packet as u64, byte: 0 };
        decoder.feed(at, &bits(payload), &mut sink);
    }
    decoder.finish(&mut sink);
}
