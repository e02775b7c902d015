//! What a walker needs of the records of a decoder.

use super::Config;
use crate::etrace;
use crate::walker::fields::Fields;
use crate::wires::{any, delay, join};
use hartrace_etrace::{Format, Mode, QualStatus};
use hartrace_rtl::{Component, Expr, Module, lit, zero};

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
const MODES: [(Mode, &str); 3] = [
    (Mode::ImplicitReturn, "implicit_return"),
    (Mode::BranchPrediction, "branch_prediction"),
    (Mode::SequentiallyInferredJump, "sequential_jump"),
];

/// The exceptions for which an instruction was not fetched: misaligned, access fault, page faults.
const FETCH_FAULTS: [u128; 4] = [0, 1, 12, 20];

/// The fields of a record in the FIFO. Those that the encoder does not have are missing.
pub(super) fn stored(config: &Config) -> Fields {
    let params = &config.decoder.params;
    let mut fields = vec![
        ("class", CLASS_BITS),
        ("implicit_return", 1),
        ("branch_prediction", 1),
        ("sequential_jump", 1),
        ("branches", 5),
        ("outcomes", OUTCOME_BITS),
        ("addressed", 1),
        ("known", 1),
        ("address", config.address_bits()),
        ("target", 1),
        ("passing", 1),
        ("privilege", params.privilege_width_p.into()),
        ("handler", 1),
        ("fetch", 1),
        ("off", 1),
        ("ended", 1),
        ("overflow", 1),
    ];
    if params.bpred_size_p > 0 {
        fields.extend([("counted", 1), ("mispredicted", 1)]);
    }
    if let Some(width) = width(config, "irdepth") {
        fields.extend([("irreport", 1), ("irdepth", width)]);
    }
    Fields::new(fields)
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
    let stored = stored(config);
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
            .map(|(mode, _)| {
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
        let record = stored.join(|field| match field {
            "class" => class.clone(),
            // That of a handler may follow from the cause; it is then known.
            "addressed" => bit("addressed") | (&trap & bit("thaddr")),
            "branches" => of("branches").unwrap_or_else(|| zero(5)),
            "outcomes" => outcomes.clone(),
            "counted" => is(Format::BranchCount),
            // Without an address, the last branch was mispredicted too.
            "mispredicted" => is(Format::BranchCount) & (!fmt.bit(1) | fmt.bit(0)),
            "target" => bit("updiscon") | is(Format::JumpTarget),
            "passing" => bit("notify"),
            "handler" => bit("thaddr"),
            "fetch" => fetch.clone(),
            "off" => status.any() | !bit("ienable"),
            "ended" => status.is(QualStatus::EndedNtr as u128),
            "overflow" => status.is(QualStatus::TraceLost as u128),
            name => match MODES.iter().position(|(_, mode)| *mode == name) {
                Some(mode) => now.bit(mode as u32),
                None => of(name).unwrap_or_else(|| zero(1)),
            },
        });
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
