//! From requests to payloads.
//!
//! Three stages: the difference of addresses and the jump target cache; the bits in their places; the
//! length and the choice between index and address.

mod place;

use crate::bundle::{Bundle, Wire};
use crate::config::{Config, ConfigError};
use crate::{request, tables};
use hartrace_etrace::{Mode, Unit};
use hartrace_rtl::{Component, Expr, Module, concat, lit, zero};
use place::Places;

/// Modes that the emitter needs to know.
const MODES: [(&str, Mode); 6] = [
    ("implicit_return", Mode::ImplicitReturn),
    ("implicit_exception", Mode::ImplicitException),
    ("full_address", Mode::FullAddress),
    ("jump_target_cache", Mode::JumpTargetCache),
    ("branch_prediction", Mode::BranchPrediction),
    ("sequential_jump", Mode::SequentialJump),
];

/// The modes that the encoder has, as wires.
pub(crate) fn modes(config: &Config) -> Vec<Wire> {
    let has = |mode: Mode| match mode {
        Mode::ImplicitReturn => config.returns(),
        Mode::ImplicitException => config.implicit_exception,
        Mode::FullAddress => config.full_address,
        Mode::JumpTargetCache => config.caches(),
        Mode::BranchPrediction => config.predicts(),
        Mode::SequentialJump => config.etrace.sijump_p,
        Mode::DeltaAddress => false,
    };
    let there = MODES.iter().filter(|(_, mode)| has(*mode));
    there.map(|(name, _)| Wire::new(name, 1, "the mode is on")).collect()
}

/// Bytes of the longest payload.
pub(crate) fn max_bytes(config: &Config) -> Result<u32, ConfigError> {
    Ok(config.layout()?.max_bits().div_ceil(8))
}

/// The module `te_packet_emitter`.
pub(crate) fn build(config: &Config) -> Result<Component, ConfigError> {
    let m = Module::new(
        "te_packet_emitter",
        "Makes payloads of requests: the fields of their format one after the other, without the bits at\n\
         the top that follow from the ones below.",
    )
    .clocked();
    let layout = config.layout()?;
    let bytes = max_bytes(config)?;
    let valid = m.input("valid_i", 1, "");
    let ready = m.output("ready_o", 1, "");
    let wires = request::wires(config);
    let asked = Bundle::inputs(&m, &wires);
    let modes = Bundle::inputs(&m, &modes(config));
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let data_o = m.output(
        "data_o",
        8 * bytes,
        "the payload, first byte lowest; what is behind it repeats its last bit",
    );
    let len_o = m.output("len_o", 5, "bytes of it");
    let empty_o = m.output("empty_o", 1, "nothing is on its way");
    let aw = config.address();
    let mode = |name: &str| modes.get(name).cloned().unwrap_or_else(|| zero(1));

    m.section("First stage: the difference to the address sent before.");
    let held: Vec<_> = (1..=3).map(|stage| m.reg(&format!("valid_{stage}"), false)).collect();
    let move_3 = m.let_("move_3", !&held[2].q | &ready_i);
    let move_2 = m.let_("move_2", !&held[1].q | &move_3);
    let move_1 = m.let_("move_1", !&held[0].q | &move_2);
    m.assign(&ready, &move_1);
    m.assign(&held[0].d, &valid | (&held[0].q & !&move_2));
    m.assign(&held[1].d, &held[0].q | (&held[1].q & !&move_3));
    m.assign(&held[2].d, &held[1].q | (&held[2].q & !&ready_i));
    let load_1 = m.let_("load_1", &valid & &move_1);
    let load_2 = m.let_("load_2", &held[0].q & &move_2);
    let load_3 = m.let_("load_3", &held[1].q & &move_3);
    let first = stage(&m, "first", &wires, &asked, &load_1);
    let last = m.reg("last_address", zero(aw));
    let sync = m.let_("sync", &first["start"] | &first["trap"]);
    let addressed = &sync | &first["report"];
    m.assign(&last.d, (&load_2 & addressed).mux(&first["address"], &last.q));
    let full = m.let_("absolute", mode("full_address") | &sync);
    let base = (!&full).gate(&last.q);
    let field = m.let_("field", &first["address"] - base);

    let mut carried: Vec<Wire> = wires.clone();
    let mut values: Vec<(&'static str, Expr)> =
        wires.iter().map(|w| (w.name, first[w.name].clone())).collect();
    for value in &mut values {
        if value.0 == "address" {
            value.1 = field.clone();
        }
    }
    if config.caches() {
        let on = mode("jump_target_cache");
        let clear = &load_2 & &sync;
        let cache = m.inst(
            "i_jump_target_cache",
            &tables::cache(config),
            &[
                ("address_i", &first["address"]),
                ("store_i", &(&load_2 & &on & &first["report"] & &first["target"])),
                ("clear_i", &clear),
            ],
        );
        let counting = first.get("counting").cloned().unwrap_or_else(|| zero(1));
        let notify = first.get("notify").cloned().unwrap_or_else(|| zero(1));
        let plain = !&first["updiscon"] & !notify & !counting;
        let hit = &on & &first["report"] & &first["target"] & plain & &cache["hit_o"];
        carried.push(Wire::new("hit", 1, ""));
        carried.push(Wire::new("index", config.etrace.cache_size_p.into(), ""));
        values.push(("hit", hit));
        values.push(("index", cache["index_o"].clone()));
    }
    let second = stage(&m, "second", &carried, &Bundle::of(values), &load_2);

    m.section("Second stage: the fields in their places.");
    let mut options = Vec::new();
    for mode in Unit::Hartrace.ioptions() {
        let name = MODES.iter().find(|(_, other)| other == mode).map(|(name, _)| *name);
        options.push(name.and_then(|name| modes.get(name).cloned()).unwrap_or_else(|| zero(1)));
    }
    let options: Vec<&Expr> = options.iter().rev().collect();
    let options = m.let_("options", concat(&options));
    let places = Places::new(&m, config, &layout, &second, &options, &mode("implicit_exception"));
    let plain = m.let_("plain", places.plain(8 * bytes));
    let plain_len = length(&m, "plain", &plain);
    let (chosen, len) = match config.caches() {
        false => (plain, plain_len),
        true => {
            let width = layout.max_format_bits(hartrace_etrace::Format::JumpTarget).div_ceil(8) * 8;
            let short = m.let_("brief", places.index(width));
            let short_len = length(&m, "brief", &short);
            let indexed = m.let_("indexed", &second["hit"] & short_len.le(&plain_len));
            let settled = m.output("settled_o", 1, "no target is on its way");
            let indexed_o = m.output("indexed_o", 1, "the last target was sent as an index");
            let was = m.reg("was_indexed", false);
            let target = &second["report"] & &second["target"];
            m.assign(&was.d, (&load_3 & target).mux(&indexed, &was.q));
            m.assign(&indexed_o, &was.q);
            let on_way = (&held[0].q & &first["target"]) | (&held[1].q & &second["target"]);
            m.assign(&settled, !on_way);
            (indexed.mux(short.sext(8 * bytes), plain), indexed.mux(short_len, plain_len))
        }
    };

    m.section("Third stage: the payload.");
    let data = m.reg_data("data", 8 * bytes, &load_3);
    let size = m.reg_data("len", 5, &load_3);
    m.assign(&data.d, chosen);
    m.assign(&size.d, len);
    m.assign(&data_o, &data.q);
    m.assign(&len_o, &size.q);
    m.assign(&valid_o, &held[2].q);
    m.assign(&empty_o, !(&held[0].q | &held[1].q | &held[2].q));
    Ok(m.finish())
}

/// A stage: all signals in registers.
fn stage(m: &Module, name: &str, wires: &[Wire], from: &Bundle, load: &Expr) -> Bundle {
    Bundle::of(wires.iter().map(|wire| {
        let reg = m.reg_data(&format!("{name}_{}", wire.name), wire.width, load);
        m.assign(&reg.d, &from[wire.name]);
        (wire.name, reg.q)
    }))
}

/// Bytes that are left if all but one of the bits at the top that are alike are dropped.
fn length(m: &Module, name: &str, bits: &Expr) -> Expr {
    let sign = bits.msb();
    let bytes = bits.width() / 8;
    // Byte k is needed if one of the bits from 8k-1 on is another than the last.
    let differs: Vec<Expr> = (1..bytes)
        .map(|k| {
            let bits = bits.slice(8 * k - 1, 8);
            (bits ^ sign.repeat(8)).any()
        })
        .collect();
    let mut len = lit(5, 1);
    for (k, differs) in (2..).zip(&differs) {
        len = differs.mux(lit(5, k), len);
    }
    m.let_(&format!("{name}_len"), len)
}
