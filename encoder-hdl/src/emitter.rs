//! From requests to payloads.
//!
//! Four stages: the request; the difference of addresses, what the jump target cache says and which
//! format it is; the bits in their places; the length and the choice between index and address. A packet
//! a cycle goes through.

mod length;
mod place;

use crate::bundle::{Bundle, Wire};
use crate::config::{Config, ConfigError};
use crate::{request, tables};
use hartrace_etrace::{Format, Mode, Unit};
use hartrace_rtl::{Component, Expr, Module, Reg, concat, zero};
use length::Length;
use place::{Case, Places, cases};

/// Modes that the emitter needs to know.
const MODES: [(&str, Mode); 6] = [
    ("implicit_return", Mode::ImplicitReturn),
    ("implicit_exception", Mode::ImplicitException),
    ("full_address", Mode::FullAddress),
    ("jump_target_cache", Mode::JumpTargetCache),
    ("branch_prediction", Mode::BranchPrediction),
    ("sequential_jump", Mode::SequentialJump),
];

/// Signals of a request that say no more once its format is known.
const FORMATS: [&str; 7] =
    ["start", "trap", "report", "map_only", "support", "context_only", "counting"];

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
    let len_o = m.output("len_o", length::WIDTH, "bytes of it");
    let empty_o = m.output("empty_o", 1, "nothing is on its way");
    let aw = config.address();
    let mode = |name: &str| modes.get(name).cloned().unwrap_or_else(|| zero(1));

    let pipe = Pipe::new(&m, &valid, &ready_i, 4);
    m.assign(&ready, &pipe.ready);
    m.assign(&valid_o, &pipe.held[3].q);
    m.assign(&empty_o, !pipe.any());

    m.section("First stage: the request.");
    let first = stage(&m, "first", &wires, &asked, &pipe.load[0]);
    let load = &pipe.load[1];
    let last = m.reg("last_address", zero(aw));
    let sync = m.let_("sync", &first["start"] | &first["trap"]);
    let addressed = &sync | &first["report"];
    m.assign(&last.d, (load & addressed).mux(&first["address"], &last.q));
    let full = m.let_("absolute", mode("full_address") | &sync);
    let base = (!&full).gate(&last.q);
    let field = m.let_("field", &first["address"] - base);

    let kinds = cases(&m, config, &first, &mode("implicit_exception"));
    let mut carried: Vec<Wire> =
        wires.iter().filter(|wire| !FORMATS.contains(&wire.name)).cloned().collect();
    let mut values: Vec<(&'static str, Expr)> = carried
        .iter()
        .map(|wire| match wire.name {
            "address" => (wire.name, field.clone()),
            name => (name, first[name].clone()),
        })
        .collect();
    if config.caches() {
        let on = mode("jump_target_cache");
        let target = m.let_("is_target", &first["report"] & &first["target"]);
        let cache = m.inst(
            "i_jump_target_cache",
            &tables::cache(config),
            &[
                ("address_i", &first["address"]),
                ("store_i", &(load & &on & &target)),
                ("clear_i", &(load & &sync)),
            ],
        );
        let counting = first.get("counting").cloned().unwrap_or_else(|| zero(1));
        let notify = first.get("notify").cloned().unwrap_or_else(|| zero(1));
        let may = on & &target & !&first["updiscon"] & !notify & !counting;
        let hit = cache["hit_o"].clone();
        carried.retain(|wire| wire.name != "target");
        values.retain(|(name, _)| *name != "target");
        for (wire, value) in [
            (Wire::new("target", 1, ""), target),
            (Wire::new("may_index", 1, ""), may),
            (Wire::new("hit", hit.width(), ""), hit),
            (Wire::new("index", config.etrace.cache_size_p.into(), ""), cache["index_o"].clone()),
        ] {
            values.push((wire.name, value));
            carried.push(wire);
        }
    }

    m.section("Second stage: what is to be sent.");
    let second = stage(&m, "second", &carried, &Bundle::of(values), load);
    let kinds: Vec<Case> = kinds.into_iter().map(|kind| kind.held(&m, load)).collect();
    let mut options = Vec::new();
    for mode in Unit::Hartrace.ioptions() {
        let name = MODES.iter().find(|(_, other)| other == mode).map(|(name, _)| *name);
        options.push(name.and_then(|name| modes.get(name).cloned()).unwrap_or_else(|| zero(1)));
    }
    let options: Vec<&Expr> = options.iter().rev().collect();
    let options = m.let_("options", concat(&options));
    let places = Places::new(&m, &layout, &kinds, &second, &options);
    let plain = places.plain(8 * bytes);

    m.section("Third stage: the fields in their places.");
    let load = &pipe.load[2];
    let hold = |name: &str, value: Expr| {
        let reg = m.reg_data(name, value.width(), load);
        m.assign(&reg.d, value);
        reg.q
    };
    let plain = hold("plain", plain);
    let plain_length = Length::new(&m, "plain", &plain);
    let plain_len = plain_length.number(&m, "plain");
    let (chosen, len) = match config.caches() {
        false => (plain, plain_len),
        true => {
            let width = layout.max_format_bits(Format::JumpTarget).div_ceil(8) * 8;
            let brief = hold("brief", places.index(width));
            let hit = hold("hit", &second["may_index"] & second["hit"].all());
            let target = hold("third_target", second["target"].clone());
            let brief_length = Length::new(&m, "brief", &brief);
            let indexed = m.let_("indexed", hit & !brief_length.exceeds(&plain_length));
            let settled = m.output("settled_o", 1, "no target is on its way");
            let indexed_o = m.output("indexed_o", 1, "the last target was sent as an index");
            let was = m.reg_en("was_indexed", false, &pipe.load[3] & &target);
            m.assign(&was.d, &indexed);
            m.assign(&indexed_o, &was.q);
            let targets = [&first["target"], &second["target"], &target];
            let on_way = pipe.held.iter().zip(targets).map(|(held, target)| &held.q & target);
            m.assign(&settled, !on_way.reduce(|a, b| a | b).unwrap_or_else(|| zero(1)));
            let brief_len = brief_length.number(&m, "brief");
            (indexed.mux(brief.sext(8 * bytes), plain), indexed.mux(brief_len, plain_len))
        }
    };

    m.section("Fourth stage: the payload.");
    let data = m.reg_data("data", 8 * bytes, &pipe.load[3]);
    let size = m.reg_data("len", length::WIDTH, &pipe.load[3]);
    m.assign(&data.d, chosen);
    m.assign(&size.d, len);
    m.assign(&data_o, &data.q);
    m.assign(&len_o, &size.q);
    Ok(m.finish())
}

/// Which stages hold something. A stage moves on if the next one is empty or moves on itself.
struct Pipe {
    held: Vec<Reg>,
    /// When a stage takes what is before it.
    load: Vec<Expr>,
    ready: Expr,
}

impl Pipe {
    fn new(m: &Module, valid: &Expr, ready: &Expr, depth: usize) -> Self {
        let held: Vec<Reg> =
            (1..=depth).map(|stage| m.reg(&format!("valid_{stage}"), false)).collect();
        let mut load = Vec::new();
        let mut ready = ready.clone();
        for stage in (0..depth).rev() {
            let before = if stage == 0 { valid } else { &held[stage - 1].q };
            m.assign(&held[stage].d, before | (&held[stage].q & !&ready));
            ready = m.let_(&format!("move_{}", stage + 1), !&held[stage].q | ready);
            load.push(m.let_(&format!("load_{}", stage + 1), before & &ready));
        }
        load.reverse();
        Self { held, load, ready }
    }

    fn any(&self) -> Expr {
        let held = self.held.iter().map(|stage| stage.q.clone());
        held.reduce(|any, stage| any | stage).unwrap_or_else(|| zero(1))
    }
}

/// A stage: all signals in registers.
fn stage(m: &Module, name: &str, wires: &[Wire], from: &Bundle, load: &Expr) -> Bundle {
    Bundle::of(wires.iter().map(|wire| {
        let reg = m.reg_data(&format!("{name}_{}", wire.name), wire.width, load);
        m.assign(&reg.d, &from[wire.name]);
        (wire.name, reg.q)
    }))
}
