//! Converts requests to payloads.
//!
//! There are four stages, each of which processes one packet per cycle. They hold the request; the
//! difference of addresses, the result of the jump target cache and the format; then, with exact
//! compression, the bits in their places or, with compression by bytes, the number of bytes that
//! the address needs; and the payload.

mod bits;
mod bytes;
mod length;
mod pipe;
mod place;

use crate::bundle::{Bundle, Wire};
use crate::config::{Compression, Config, ConfigError};
use crate::{request, tables};
use hartrace_etrace::{Layout, Mode};
use hartrace_rtl::{Component, Expr, Module, concat, zero};
use pipe::{Pipe, stage};
use place::{Case, cases};

/// Modes that the emitter needs to know.
const MODES: [(&str, Mode); 6] = [
    ("implicit_return", Mode::ImplicitReturn),
    ("implicit_exception", Mode::ImplicitException),
    ("full_address", Mode::FullAddress),
    ("jump_target_cache", Mode::JumpTargetCache),
    ("branch_prediction", Mode::BranchPrediction),
    ("sequential_jump", Mode::SequentiallyInferredJump),
];

/// Signals of a request that are not needed once its format is known.
const FORMATS: [&str; 7] =
    ["start", "trap", "report", "map_only", "support", "context_only", "counting"];

/// Signals of a request that are flags with another meaning when compression is by bytes.
const FLAGS: [&str; 2] = ["notify", "updiscon"];

/// The modes that the encoder has, as wires.
pub(crate) fn modes(config: &Config) -> Vec<Wire> {
    let has = |mode: Mode| match mode {
        Mode::ImplicitReturn => config.returns(),
        Mode::ImplicitException => config.implicit_exception,
        Mode::FullAddress => config.full_address,
        Mode::JumpTargetCache => config.caches(),
        Mode::BranchPrediction => config.predicts(),
        Mode::SequentiallyInferredJump => config.etrace.sijump_p,
        Mode::DeltaAddress | Mode::HistoryPrediction => false,
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
        match config.compression {
            Compression::Bits => {
                "Makes payloads of requests: the fields of their format one after the other, without\n\
                 the bits at the top that follow from the ones below."
            }
            Compression::Bytes => {
                "Makes payloads of requests: the fields of their format one after the other, addresses in\n\
                 as few bytes as hold them and one bit more, and zeros at the top."
            }
        },
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
    let behind = match config.compression {
        Compression::Bits => {
            "the payload, first byte lowest; what is behind it repeats its last bit"
        }
        Compression::Bytes => "the payload, first byte lowest; what is behind it is 0",
    };
    let data_o = m.output("data_o", 8 * bytes, behind);
    let len_o = m.output("len_o", length::WIDTH, "bytes of it");
    let empty_o = m.output("empty_o", 1, "nothing is on its way");
    let aw = config.address();
    let mode = |name: &str| modes.get(name).cloned().unwrap_or_else(|| zero(1));

    let pipe = Pipe::new(&m, &valid, &ready_i, 4);
    m.assign(&ready, &pipe.ready);
    m.assign(&valid_o, &pipe.held[3].q);
    m.assign(&empty_o, !pipe.any());

    m.section("First stage: the request.");
    // The dialect has no room for these flags.
    let dialect = config.compression == Compression::Bytes;
    let mut wires = wires;
    if dialect && !config.caches() {
        let flags = wires.extract_if(.., |wire| FLAGS.contains(&wire.name));
        flags.for_each(|wire| m.unused(&asked[wire.name]));
    }
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
    let target = first.get("target").map(|to| m.let_("is_target", &first["report"] & to));
    let mut carried = wires;
    carried.retain(|wire| !FORMATS.contains(&wire.name));
    carried.retain(|wire| !dialect || !FLAGS.contains(&wire.name));
    let value = |wire: &Wire| match (wire.name, &target) {
        ("address", _) => (wire.name, field.clone()),
        ("target", Some(target)) => (wire.name, target.clone()),
        (name, _) => (name, first[name].clone()),
    };
    let mut values: Vec<(&'static str, Expr)> = carried.iter().map(value).collect();
    let mut carry = |wire: Wire, value: Expr| {
        values.push((wire.name, value));
        carried.push(wire);
    };
    if dialect {
        carry(Wire::new("top", 1, ""), first["address"].msb());
        carry(Wire::new("signed", 1, ""), first["report"].clone());
        carry(Wire::new("trapped", 1, ""), first["trap"].clone());
    }
    if let Some(target) = target.filter(|_| config.caches()) {
        let on = mode("jump_target_cache");
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
        carry(Wire::new("may_index", 1, ""), may & &cache["known_o"]);
        // The value that is read goes directly to a register, and the address comes from a
        // register, so that the memory can be one with clocked reads.
        for (name, port) in [("stored", "stored_o"), ("tag", "tag_o"), ("index", "index_o")] {
            carry(Wire::new(name, cache[port].width(), ""), cache[port].clone());
        }
    }

    m.section("Second stage: what is to be sent.");
    let second = stage(&m, "second", &carried, &Bundle::of(values), load);
    let kinds: Vec<Case> = kinds.into_iter().map(|kind| kind.held(&m, "is", load)).collect();
    let mut options = Vec::new();
    for option in layout.unit().ioptions() {
        let name = MODES.iter().find(|(_, other)| other == option).map(|(name, _)| *name);
        options.push(match option {
            Mode::DeltaAddress => !mode("full_address"),
            _ => name.map_or_else(|| zero(1), mode),
        });
    }
    let options: Vec<&Expr> = options.iter().rev().collect();
    let options = m.let_("options", concat(&options));
    let front =
        Front { m: &m, config, layout: &layout, pipe: &pipe, carried, second, kinds, options };
    let made = match config.compression {
        Compression::Bits => bits::build(&front, 8 * bytes),
        Compression::Bytes => bytes::build(&front, 8 * bytes),
    };
    if let Some((target, indexed)) = made.index {
        let settled = m.output("settled_o", 1, "no target is on its way");
        let indexed_o = m.output("indexed_o", 1, "the last target was sent as an index");
        let was = m.reg_en("was_indexed", false, &pipe.load[3] & &target);
        m.assign(&was.d, indexed);
        m.assign(&indexed_o, &was.q);
        let targets = [&first["target"], &front.second["target"], &target];
        let on_way = pipe.held.iter().zip(targets).map(|(held, target)| &held.q & target);
        m.assign(&settled, !on_way.reduce(|a, b| a | b).unwrap_or_else(|| zero(1)));
    }

    m.section("Fourth stage: the payload.");
    let data = m.reg_data("data", 8 * bytes, &pipe.load[3]);
    let size = m.reg_data("len", length::WIDTH, &pipe.load[3]);
    m.assign(&data.d, made.data);
    m.assign(&size.d, made.len);
    m.assign(&data_o, &data.q);
    m.assign(&len_o, &size.q);
    Ok(m.finish())
}

/// Number of bits of a tag that are compared at once.
const PART: u32 = 3;

/// What both kinds of compression have in common.
struct Front<'a> {
    m: &'a Module,
    config: &'a Config,
    layout: &'a Layout,
    pipe: &'a Pipe,
    /// The signals of the second stage.
    carried: Vec<Wire>,
    second: Bundle,
    kinds: Vec<Case>,
    /// The field *ioptions*.
    options: Expr,
}

impl Front<'_> {
    /// A register of the third stage.
    fn hold(&self, name: &str, value: impl Into<Expr>) -> Expr {
        let value = value.into();
        let reg = self.m.reg_data(name, value.width(), &self.pipe.load[2]);
        self.m.assign(&reg.d, value);
        reg.q
    }

    /// Whether the target is in the cache, in the third stage. Reading the memory takes long, so
    /// parts of the tag are compared in the second stage, and the results are combined in the
    /// third.
    fn hit(&self) -> Expr {
        let (stored, tag) = (&self.second["stored"], &self.second["tag"]);
        let parts = (0..tag.width()).step_by(PART as usize).map(|at| {
            let width = PART.min(tag.width() - at);
            stored.slice(at, width).eq(tag.slice(at, width))
        });
        let parts: Vec<Expr> = parts.collect();
        let same = self.hold("same", concat(&parts.iter().collect::<Vec<_>>()));
        self.hold("may_hit", &self.second["may_index"]) & same.all()
    }
}

/// A payload at the end of the third stage.
struct Made {
    data: Expr,
    len: Expr,
    /// With a jump target cache: whether it is a target, and whether it is sent as an index.
    index: Option<(Expr, Expr)>,
}
