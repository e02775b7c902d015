//! Parameters for the tests.

use fastrand::Rng;
use hartrace_encoder_hdl::Overflow;
use hartrace_encoder_hdl::registers::{
    EncoderParams, ImplicitReturn, RamSinkParams, Resync, Table, atb_bridge, atb_bridge_registers,
    encoder, encoder_registers, ram_sink, ram_sink_registers,
};
use hartrace_rtl::Component;

/// Parameters from which table and hardware are generated.
#[derive(Clone, Debug)]
pub(crate) enum Design {
    Encoder(EncoderParams),
    RamSink(RamSinkParams),
    AtbBridge,
}

impl Design {
    pub(crate) fn table(&self) -> Table {
        match self {
            Self::Encoder(params) => encoder(params).expect("legal parameters"),
            Self::RamSink(params) => ram_sink(params).expect("legal parameters"),
            Self::AtbBridge => atb_bridge(),
        }
    }

    pub(crate) fn component(&self) -> Component {
        match self {
            Self::Encoder(params) => encoder_registers(params).expect("legal parameters"),
            Self::RamSink(params) => ram_sink_registers(params).expect("legal parameters"),
            Self::AtbBridge => atb_bridge_registers(),
        }
    }
}

/// Each parameter at random, often at its limits.
pub(crate) fn random_encoder(rng: &mut Rng) -> EncoderParams {
    let address_lsb = rng.u32(0..=2);
    let comparators = rng.u32(0..=8);
    let tval_comparators = rng.u32(0..=8 - comparators);
    let context_comparators = rng.u32(0..=8 - comparators - tval_comparators);
    let most = comparators.max(tval_comparators).max(context_comparators).max(1);
    EncoderParams {
        address_width: *rng.choice(&[4, 31, 32, 33, 39, 48, 63, 64]).unwrap_or(&64),
        address_lsb,
        privilege_levels: 2 << rng.u32(0..=2),
        full_address: rng.bool(),
        implicit_exception: rng.bool(),
        sequential_jump: rng.bool(),
        implicit_return: [ImplicitReturn::None, ImplicitReturn::Counter, ImplicitReturn::Stack]
            [rng.usize(0..3)],
        branch_prediction: rng.bool(),
        jump_target_cache: rng.bool(),
        resync: Resync { packets: rng.bool(), cycles: rng.bool(), half_words: rng.bool() },
        triggers: rng.bool(),
        filters: rng.u32(most..=8),
        comparators,
        tval_comparators,
        context_comparators,
        context_width: *rng.choice(&[1, 16, 32, 33, 64]).unwrap_or(&64),
        causes: *rng.choice(&[0, 2, 16, 32, 64]).unwrap_or(&0),
        overflow: [Overflow::Stall, Overflow::Drop, Overflow::Either][rng.usize(0..3)],
        source_bits: *rng.choice(&[0, 1, 5, 12]).unwrap_or(&0),
        time_width: *rng.choice(&[0, 1, 31, 32, 33, 40, 63, 64]).unwrap_or(&0),
        internal_time: rng.bool(),
        protocol: (rng.u32(0..16), rng.u32(0..16)),
    }
}

pub(crate) fn encoders() -> Vec<(String, Design)> {
    let mut rng = Rng::with_seed(1);
    let mut designs = vec![
        ("encoder/everything".to_owned(), EncoderParams::everything()),
        ("encoder/minimal".to_owned(), EncoderParams::minimal()),
    ];
    designs.extend((0..6).map(|i| (format!("encoder/random-{i}"), random_encoder(&mut rng))));
    designs.into_iter().map(|(name, params)| (name, Design::Encoder(params))).collect()
}

pub(crate) fn ram_sinks() -> Vec<(String, Design)> {
    let sinks = [(64, 8, true), (32, 4, false), (12, 32, true), (33, 16, false)];
    let sinks = sinks.map(|(address_width, word_bytes, null_runs)| {
        let params = RamSinkParams { address_width, word_bytes, null_runs };
        (format!("ram_sink/a{address_width}w{word_bytes}"), Design::RamSink(params))
    });
    sinks.into()
}

pub(crate) fn atb() -> (String, Design) {
    ("atb_bridge".to_owned(), Design::AtbBridge)
}
