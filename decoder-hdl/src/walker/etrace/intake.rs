//! What a walker needs of the records of a decoder.

use super::Config;
use crate::etrace;
use crate::walker::search::{Places, Searched};
use crate::wires::{any, delay, join};
use hartrace_etrace::{Format, Mode, QualStatus};
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, lit, zero};

/// What a record is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Branches, an address, or both.
    Report = 0,
    /// A synchronisation.
    Start = 1,
    /// A trap.
    Trap = 2,
    /// Modes, or the end of tracing.
    Support = 3,
    /// The packet could not be read.
    Malformed = 4,
}

/// Bits of the number of a class.
pub(super) const CLASS_BITS: u32 = 3;

/// Bits of outcomes: a map or a number of branches.
pub(super) const OUTCOME_BITS: u32 = 32;

/// Modes that a walk depends on, in the order of the bits.
const MODES: [Mode; 3] =
    [Mode::ImplicitReturn, Mode::BranchPrediction, Mode::SequentiallyInferredJump];

/// The exceptions for which an instruction was not fetched: misaligned, access fault, page faults.
const FETCH_FAULTS: [u128; 4] = [0, 1, 12, 20];

bundle! {
    /// The fields of a record in the FIFO. Those that the encoder does not have are missing.
    pub(super) struct Stored {
        class, implicit_return, branch_prediction, sequential_jump, branches, outcomes,
        addressed, known, address, target, passing, privilege, handler, fetch, off, ended, overflow,
        counted: Option, mispredicted: Option, irreport: Option, irdepth: Option
    }
}

impl Stored<Wire> {
    pub(super) fn new(config: &Config) -> Self {
        let params = &config.decoder.params;
        let field = |width| Wire::new(width, "");
        let bit = || field(1);
        let predicts = params.bpred_size_p > 0;
        let irdepth = width(config, "irdepth");
        Self {
            class: field(CLASS_BITS),
            implicit_return: bit(),
            branch_prediction: bit(),
            sequential_jump: bit(),
            branches: field(5),
            outcomes: field(OUTCOME_BITS),
            addressed: bit(),
            known: bit(),
            address: field(config.address_bits()),
            target: bit(),
            passing: bit(),
            privilege: field(params.privilege_width_p.into()),
            handler: bit(),
            fetch: bit(),
            off: bit(),
            ended: bit(),
            overflow: bit(),
            counted: predicts.then(bit),
            mispredicted: predicts.then(bit),
            irreport: irdepth.map(|_| bit()),
            irdepth: irdepth.map(field),
        }
    }
}

/// The places of fields in a record in the FIFO.
pub(super) fn stored(config: &Config) -> Places {
    let stored = Stored::new(config);
    let places = stored.places();
    let searched = Searched::find(|name| places.get(name).copied());
    Places { searched, width: stored.width() }
}

/// The fields of the decoder's records that are used.
const USED: [&str; 22] = [
    "valid",
    "error",
    "format",
    "branches",
    "branch_map",
    "branch_count",
    "branch_fmt",
    "branch",
    "privilege",
    "ecause",
    "interrupt",
    "thaddr",
    "tval",
    "notify",
    "updiscon",
    "irdepth",
    "qual_status",
    "ienable",
    "ioptions",
    "addressed",
    "known",
    "address",
];

/// The fields of the decoder's records that a walker takes, and their widths.
pub(super) fn taken(config: &Config) -> Vec<(&'static str, u32)> {
    let record = etrace::record(&config.decoder).unwrap_or_default();
    // Without a return stack, the field has no bits, and nothing to say.
    let has_depth = record.iter().any(|field| field.name == "irdepth");
    let used = |name: &str| match name {
        "irreport" => has_depth,
        "branch_fmt" | "branch_count" => config.decoder.params.bpred_size_p > 0,
        name => USED.contains(&name),
    };
    let record = record.into_iter().filter(|field| used(field.name));
    record.map(|field| (field.name, field.width)).collect()
}

fn width(config: &Config, name: &str) -> Option<u32> {
    taken(config).into_iter().find(|(other, _)| *other == name).map(|(_, width)| width)
}

/// The module `etrace_intake`: what the FIFO stores, one cycle later.
pub(super) fn unit(config: &Config) -> Component {
    let slots = config.decoder.unroll.div_ceil(2);
    let stored = Stored::new(config);
    let m = Module::new(
        "etrace_intake",
        "What a walker needs of records. Modes and the record before are known here even if the FIFO is full. Context \
         packets do not matter.",
    )
    .clocked();
    let inputs: Vec<(&str, u32, Expr)> = taken(config)
        .into_iter()
        .map(|(name, width)| (name, width, m.input(&format!("{name}_i"), slots * width, "")))
        .collect();
    let valid_o = m.output("valid_o", slots, "there is a record");
    let record_o = m.output("record_o", slots * stored.width(), "it");

    let modes = m.reg("modes", zero(MODES.len() as u32));
    let mut now = modes.q.clone();
    let started = m.reg("started", zero(1));
    let mut after_start = started.q.clone();
    let last = m.reg_data("last_address", config.address_bits(), lit(1, 1));
    let mut before = last.q.clone();
    let (mut valids, mut records) = (Vec::new(), Vec::new());
    for slot in 0..slots {
        if slot < 2 {
            m.section("A record, with the modes and the address before it.");
        }
        let of = |name: &str| {
            let input = inputs.iter().find(|(other, ..)| *other == name);
            input.map(|(_, width, value)| value.slice(slot * width, *width))
        };
        let bit = |name: &str| of(name).unwrap_or_else(|| lit(1, 0));
        let name = |what: &str| format!("{what}_{slot}");
        let format = of("format").unwrap_or_else(|| zero(3));
        let is = |which: Format| format.is(which as u128);
        let malformed =
            m.let_(&name("malformed"), of("error").map_or_else(|| lit(1, 0), |e| e.any()));
        let valid = bit("valid");
        let good = m.let_(&name("good"), &valid & !&malformed);
        let support = m.let_(&name("support"), &good & is(Format::Support));
        let sent = of("ioptions");
        let known = config.decoder.unit.ioptions();
        let set: Vec<Expr> = MODES
            .iter()
            .map(|mode| {
                let at = (0u32..).zip(known).find(|(_, other)| *other == mode);
                match (at, &sent) {
                    (Some((at, _)), Some(sent)) => sent.bit(at),
                    // An encoder that cannot say it does it always or never (D11).
                    _ => lit(1, config.decoder.params.sijump_p.into()),
                }
            })
            .collect();
        now = m.let_(&name("modes"), support.mux(join(&set), &now));
        let status = of("qual_status").unwrap_or_else(|| zero(2));
        let start = m.let_(&name("start"), is(Format::Start));
        let trap = m.let_(&name("trap"), is(Format::Trap));
        let class = any([
            malformed.gate(lit(CLASS_BITS, Class::Malformed as u128)),
            (!&malformed & &start).gate(lit(CLASS_BITS, Class::Start as u128)),
            (!&malformed & &trap).gate(lit(CLASS_BITS, Class::Trap as u128)),
            (!&malformed & is(Format::Support)).gate(lit(CLASS_BITS, Class::Support as u128)),
        ]);
        let synchronises = &start | &trap;
        let map = of("branch_map").unwrap_or_else(|| zero(31));
        let count = of("branch_count").unwrap_or_else(|| zero(OUTCOME_BITS));
        let outcomes =
            map.zext(OUTCOME_BITS) | count | (&synchronises & bit("branch")).zext(OUTCOME_BITS);
        let cause = of("ecause");
        let unfetched = cause.map_or_else(
            || lit(1, 0),
            |cause| {
                let fits = |code: &u128| cause.width() >= 128 || *code >> cause.width() == 0;
                any(FETCH_FAULTS.into_iter().filter(fits).map(|code| cause.is(code)))
            },
        );
        let tval = of("tval").unwrap_or_else(|| zero(config.address_bits()));
        let fetch = all_of([
            trap.clone(),
            bit("thaddr"),
            !bit("interrupt"),
            unfetched,
            after_start.clone(),
            tval.eq(&before),
        ]);
        let fmt = of("branch_fmt").unwrap_or_else(|| zero(2));
        let has_bits = |wire: &Wire, name: &str| of(name).unwrap_or_else(|| zero(wire.width));
        let record = Stored {
            class,
            implicit_return: now.bit(0),
            branch_prediction: now.bit(1),
            sequential_jump: now.bit(2),
            branches: of("branches").unwrap_or_else(|| zero(5)),
            outcomes,
            // That of a handler may follow from the cause; it is then known.
            addressed: bit("addressed") | (&trap & bit("thaddr")),
            known: bit("known"),
            address: has_bits(&stored.address, "address"),
            target: bit("updiscon") | is(Format::JumpTarget),
            passing: bit("notify"),
            privilege: has_bits(&stored.privilege, "privilege"),
            handler: bit("thaddr"),
            fetch,
            off: status.any() | !bit("ienable"),
            ended: status.is(QualStatus::EndedNtr as u128),
            overflow: status.is(QualStatus::TraceLost as u128),
            counted: stored.counted.as_ref().map(|_| is(Format::BranchCount)),
            // Without an address, the last branch was mispredicted too.
            mispredicted: stored
                .mispredicted
                .as_ref()
                .map(|_| is(Format::BranchCount) & (!fmt.bit(1) | fmt.bit(0))),
            irreport: stored.irreport.as_ref().map(|wire| has_bits(wire, "irreport")),
            irdepth: stored.irdepth.as_ref().map(|wire| has_bits(wire, "irdepth")),
        };
        let record = record.join();
        valids.push(&valid & !(!&malformed & is(Format::Context)));
        records.push(m.let_(&name("record"), record));
        after_start = m.let_(&name("after_start"), valid.mux(&good & &start, &after_start));
        before = m.let_(
            &name("after"),
            valid.mux(of("address").unwrap_or_else(|| zero(config.address_bits())), &before),
        );
    }
    m.assign(&modes.d, &now);
    m.assign(&started.d, &after_start);
    m.assign(&last.d, &before);
    for (name, _, value) in &inputs {
        if *name == "ioptions" {
            m.unused(value);
        }
    }
    m.assign(&valid_o, delay(&m, "valid", &join(&valids), true));
    m.assign(&record_o, delay(&m, "record", &join(&records), false));
    m.finish()
}

fn all_of(bits: impl IntoIterator<Item = Expr>) -> Expr {
    crate::wires::all(bits)
}
