//! Configurations for the tests.

pub(crate) mod flat;

use fastrand::Rng;
use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::top::{Encapsulation, Sink, Standard, TimeSource, TopConfig};
use hartrace_lockstep::random;

/// A random legal configuration.
pub(crate) fn config(rng: &mut Rng) -> TopConfig {
    let port = [2, 4, 8, 16];
    let word_bytes = port[rng.usize(..4)];
    let harts = if rng.bool() { 1 } else { rng.u32(2..=5) };
    let src_id_bits = rng.u8(if harts == 1 { 0 } else { 3 }..=12);
    let type_bits = rng.u8(0..=3);
    let standard = Standard {
        src_id_bits,
        timestamp_bytes: if rng.bool() { 0 } else { rng.u8(1..=8) },
        type_bits,
        instruction_type: rng.u8(..1 << type_bits),
    };
    let raw = harts == 1 && rng.u8(..4) == 0;
    let config = TopConfig {
        prefix: String::new(),
        time: if rng.bool() { TimeSource::Internal } else { TimeSource::External },
        harts,
        first_source: if raw { 0 } else { rng.u32(0..=(1 << src_id_bits) - harts) },
        fifo_depth: rng.u32(2..=20),
        encapsulation: match raw {
            true => Encapsulation::Reference,
            false => Encapsulation::Standard(standard),
        },
        sink: match rng.u8(..4) {
            0 => Sink::AxiStream { word_bytes },
            1 => Sink::Atb { word_bytes },
            2 => Sink::Frames { id: rng.u32(1..=0x6f), sync_frames: rng.u32(1..=1000) },
            _ => Sink::Memory {
                address_width: rng.u32(12..=64),
                word_bytes: word_bytes.max(4),
                burst_words: 1 << rng.u32(0..=4),
            },
        },
        axi_bridge: None,
        encoder: random::config(rng),
    };
    match config.check() {
        Ok(()) => config,
        // Payloads can be too long for the header of a packet, and there may be no time to count.
        Err(_) => self::config(rng),
    }
}

/// The named configurations, each with another sink.
pub(crate) fn named() -> Vec<(String, TopConfig)> {
    let sinks = [Sink::MEMORY, Sink::AXI_STREAM, Sink::ATB, Sink::FRAMES];
    let named = Config::all_named().into_iter().zip(sinks.into_iter().cycle());
    named
        .map(|((name, encoder), sink)| (name, TopConfig { sink, ..TopConfig::of(encoder) }))
        .collect()
}
