//! The values that packets change.

use super::Config;
use super::action::{self, HEADER_BITS, Segment, TRACED, all_segments, is_source, role};
use super::format::{Format, SF, Target};
use super::stream;
use crate::wires::{delay, join};
use hartrace_etmv4::{FieldName, Kind};
use hartrace_rtl::{Component, Expr, Module, lit, zero};
use std::collections::BTreeMap;

/// Signals between lanes: name, width, and what they are.
pub(super) fn state(config: &Config) -> Vec<(&'static str, u32, &'static str)> {
    let address = config.address_bits;
    let mut state = vec![
        ("header", HEADER_BITS, "what the packet is"),
        ("address", address, "address register 0; bit 0 is the instruction set"),
        ("address_1", address, "address register 1"),
        ("address_2", address, "address register 2"),
        ("after_raised", 1, "the packet is an exception"),
        ("returns", 1, "the packet follows an exception"),
    ];
    for target in TRACED.into_iter().filter(|target| *target != Target::Address) {
        let width = target.width(config);
        if width > 0 {
            state.push((target.name(), width, doc(target)));
        }
    }
    state
}

const fn doc(target: Target) -> &'static str {
    match target {
        Target::Timestamp => "time",
        Target::Vmid => "virtual context identifier",
        Target::ContextId => "context identifier",
        Target::Context => "NS, SF, NSE, exception level",
        Target::Exception => "what the address of an exception means (2 bits), its number",
        Target::Count => "elements of a commit or cancel packet, or instructions of a Q element",
        Target::Address | Target::Cycles | Target::Threshold => "",
    }
}

/// The module `etmv4_trace_lane`: the values after one byte, from those before it.
pub(super) fn lane(config: &Config, format: &Format) -> Component {
    let m = Module::new("etmv4_trace_lane", "The values of the trace after one byte.");
    let taken: BTreeMap<&str, Expr> = wires(format)
        .map(|(name, width, doc)| (name, m.input(&format!("{name}_i"), width, doc)))
        .collect();
    let take = |name: &str| &taken[name];
    let before: BTreeMap<&str, Expr> = state(config)
        .into_iter()
        .map(|(name, width, doc)| (name, m.input(&format!("{name}_before_i"), width, doc)))
        .collect();
    let after: BTreeMap<&str, Expr> = state(config)
        .into_iter()
        .map(|(name, width, _)| (name, m.output(&format!("{name}_o"), width, "")))
        .collect();

    m.assign(&after["header"], take("header_set").mux(take("header"), &before["header"]));
    let [head, raised] = [take("head"), take("raised")];
    m.assign(&after["after_raised"], head.mux(raised, &before["after_raised"]));
    m.assign(&after["returns"], head.mux(&before["after_raised"], &before["returns"]));

    m.section("Addresses: a new one comes before the others.");
    let (clear, shift) = (take("clear"), take("shift"));
    let [a0, a1, a2] = ["address", "address_1", "address_2"].map(|name| &before[name]);
    m.assign(&after["address_1"], (!clear).gate(shift.mux(a0, a1)));
    m.assign(&after["address_2"], (!clear).gate(shift.mux(a1, a2)));
    let values = Values::new(format, &taken);
    // 32 bits are the whole address, unless the context is AArch64. What is written is 0 then.
    let narrow = match config.address_bits > 32 {
        true => m.let_("narrow", take("half") & !before[Target::Context.name()].bit(SF)),
        false => {
            m.unused(take("half"));
            lit(1, 0)
        }
    };
    let address = &after["address"];
    m.comb(|b| {
        b.set(address, a0);
        for (number, (segment, value)) in (0u32..).zip(values.of(Target::Address)) {
            let (lo, width) = (segment.lo, segment.width);
            let select = take("select").slice(2 * number, 2);
            let select = if lo >= 32 { select | narrow.repeat(2) } else { select };
            let [a0, a1, a2] = [a0, a1, a2].map(|register| register.slice(lo, width));
            let (low, high) = (select.bit(0), select.bit(1));
            let chosen = high.mux(low.mux(value, a2), low.mux(a1, a0));
            b.set(&address.slice(lo, width), chosen);
        }
        b.note("Bit 0 is the instruction set. Bit 1 is sent only with the second one.");
        let other = take("select").slice(0, 2);
        b.when(take("is_set"), |b| b.set(&address.bit(0), take("is")))
            .elsif(other.is(1), |b| b.set(&address.bit(0), a1.bit(0)))
            .elsif(other.is(2), |b| b.set(&address.bit(0), a2.bit(0)));
        b.when(take("is_set") & !take("is"), |b| b.set(&address.bit(1), false));
        b.when(clear, |b| b.set(&address.slice(0, 2), zero(2)));
    });

    m.section("Other values.");
    let mut number = 0u32;
    for target in TRACED.into_iter().filter(|target| *target != Target::Address) {
        if target.width(config) == 0 {
            continue;
        }
        let output = &after[target.name()];
        m.comb(|b| {
            b.set(output, &before[target.name()]);
            for (segment, value) in values.of(target) {
                b.when(take("write").bit(number), |b| {
                    b.set(&output.slice(segment.lo, segment.width), value);
                });
                number += 1;
            }
        });
    }
    m.finish()
}

/// What is written to the parts of registers.
struct Values(Vec<(Segment, Expr)>);

impl Values {
    fn new(format: &Format, taken: &BTreeMap<&str, Expr>) -> Self {
        let mut mixed = 0;
        let value = |segment: Segment| {
            let value = match segment.aligned() {
                Some(from) => taken["byte"].slice(from, segment.width),
                None => {
                    mixed += segment.width;
                    taken["mixed"].slice(mixed - segment.width, segment.width)
                }
            };
            (segment, value)
        };
        Self(all_segments(format, &TRACED).into_iter().map(value).collect())
    }

    fn of(&self, target: Target) -> impl Iterator<Item = (&Segment, &Expr)> {
        self.0.iter().filter(move |(segment, _)| segment.target == target).map(|(s, v)| (s, v))
    }
}

/// The module `etmv4_trace_{unroll}`: the values after every byte, in the cycle in which its action comes.
pub(super) fn unit(config: &Config, format: &Format) -> Component {
    let u = config.unroll;
    let m = Module::new(
        &format!("etmv4_trace_{u}"),
        "The values of the trace after every byte: a chain of lanes.",
    )
    .clocked();
    let wires: Vec<_> = wires(format).collect();
    let inputs: Vec<Expr> = wires
        .iter()
        .map(|(name, width, doc)| m.input(&format!("{name}_i"), u * width, doc))
        .collect();
    let outputs: Vec<Expr> = visible(config)
        .map(|(name, width, doc)| m.output(&format!("{name}_o"), u * width, doc))
        .collect();
    let lane = lane(config, format);
    let state = state(config);
    let regs: Vec<_> = state
        .iter()
        .map(|(name, width, _)| m.reg(&format!("{name}_before"), zero(*width)))
        .collect();
    let mut now: Vec<Expr> = regs.iter().map(|reg| reg.q.clone()).collect();
    let mut values: Vec<Vec<Expr>> = outputs.iter().map(|_| Vec::new()).collect();
    for i in 0..u {
        let taken: Vec<Expr> = wires
            .iter()
            .zip(&inputs)
            .map(|((_, width, _), input)| input.slice(i * width, *width))
            .collect();
        let mut ports: Vec<(String, &Expr)> =
            wires.iter().map(|(name, ..)| format!("{name}_i")).zip(&taken).collect();
        ports.extend(state.iter().map(|(name, ..)| format!("{name}_before_i")).zip(&now));
        let ports: Vec<_> = ports.iter().map(|(name, expr)| (name.as_str(), *expr)).collect();
        let out = m.inst(&format!("i_lane_{i}"), &lane, &ports);
        now = state.iter().map(|(name, ..)| out[&format!("{name}_o")].clone()).collect();
        for ((name, ..), values) in visible(config).zip(&mut values) {
            values.push(out[&format!("{name}_o")].clone());
        }
    }
    for (reg, value) in regs.iter().zip(&now) {
        m.assign(&reg.d, value);
    }
    for (output, values) in outputs.iter().zip(&values) {
        m.assign(output, join(values));
    }
    m.finish()
}

/// Actions that the lanes need.
pub(super) fn wires(format: &Format) -> impl Iterator<Item = (&'static str, u32, &'static str)> {
    let others = ["valid", "error", "atoms", "outcomes", "events"];
    action::wires(format).into_iter().filter(move |(name, ..)| !others.contains(name))
}

/// Values that records have.
fn visible(config: &Config) -> impl Iterator<Item = (&'static str, u32, &'static str)> {
    let hidden = ["address_1", "address_2", "after_raised"];
    state(config).into_iter().filter(move |(name, ..)| !hidden.contains(name))
}

/// Signals between lanes of cycles.
pub(super) fn cycles_state(config: &Config) -> [(&'static str, u32, &'static str); 2] {
    [Target::Cycles, Target::Threshold].map(|target| {
        let doc = if target == Target::Cycles { "cycles of the packet" } else { "the threshold" };
        (target.name(), target.width(config), doc)
    })
}

/// The module `etmv4_cycles_{unroll}`: the cycles counted up to every byte, one cycle after its role.
pub(super) fn cycles_unit(config: &Config, format: &Format) -> Component {
    let (u, width) = (config.unroll, config.cycles_bits);
    let m = Module::new(
        &format!("etmv4_cycles_{u}"),
        "Adds up the cycles that packets count: a chain of lanes, then one of adders.",
    )
    .clocked();
    let lane = cycles_lane(config, format);
    let inputs = stream::role(format)
        .into_iter()
        .filter(|(name, ..)| lane.ports().iter().any(|port| port.name == format!("{name}_i")));
    let inputs: Vec<(&str, u32, Expr)> = inputs
        .map(|(name, width, doc, _)| (name, width, m.input(&format!("{name}_i"), u * width, doc)))
        .collect();
    let cycles_o = m.output("cycles_o", u * width, "cycles counted so far");

    let state = cycles_state(config);
    let regs = state.map(|(name, width, _)| m.reg(&format!("{name}_before"), zero(width)));
    let mut now: Vec<Expr> = regs.iter().map(|reg| reg.q.clone()).collect();
    let total = m.reg("total", zero(width));
    let mut sum = total.q.clone();
    let mut sums = Vec::new();
    for i in 0..u {
        let taken: Vec<Expr> =
            inputs.iter().map(|(_, width, input)| input.slice(i * width, *width)).collect();
        let mut ports: Vec<(String, &Expr)> =
            inputs.iter().map(|(name, ..)| format!("{name}_i")).zip(&taken).collect();
        ports.extend(state.iter().map(|(name, ..)| format!("{name}_before_i")).zip(&now));
        let ports: Vec<_> = ports.iter().map(|(name, expr)| (name.as_str(), *expr)).collect();
        let out = m.inst(&format!("i_lane_{i}"), &lane, &ports);
        let counted = delay(&m, &format!("counted_{i}"), &out["counted_o"], true);
        let [cycles, threshold] = state
            .map(|(name, ..)| delay(&m, &format!("{name}_{i}"), &out[&format!("{name}_o")], false));
        let amount = counted.gate(cycles.zext(width) + threshold.zext(width));
        sum = m.let_(&format!("sum_{i}"), &sum + amount);
        sums.push(sum.clone());
        now = state.iter().map(|(name, ..)| out[&format!("{name}_o")].clone()).collect();
    }
    for (reg, value) in regs.iter().zip(&now) {
        m.assign(&reg.d, value);
    }
    m.assign(&total.d, &sum);
    m.assign(&cycles_o, join(&sums));
    m.finish()
}

/// The module `etmv4_cycles_lane`: the cycles of a packet so far.
pub(super) fn cycles_lane(config: &Config, format: &Format) -> Component {
    let m =
        Module::new("etmv4_cycles_lane", "The cycles that a packet counts, after one byte of it.");
    let [byte, head, inside, section, index] = role(&m, format);
    let last = m.input("last_i", 1, "a packet ends with it");
    let error = m.input("error_i", 1, "it is malformed");
    let before = cycles_state(config)
        .map(|(name, width, doc)| m.input(&format!("{name}_before_i"), width, doc));
    let after =
        cycles_state(config).map(|(name, width, _)| m.output(&format!("{name}_o"), width, ""));
    let counted = m.output("counted_o", 1, "the packet ends, and its cycles are known");

    let in_headers = super::format::headers(&format.layout).filter(|header| {
        let row = format.layout.row(*header);
        row.is_some_and(|row| row.kind == Kind::CycleCountF3)
    });
    let values: Vec<Expr> = in_headers.map(|header| lit(8, header.into())).collect();
    let short = m.let_(
        "in_header",
        values.iter().map(|value| byte.eq(value)).reduce(|a, b| a | b).unwrap_or_else(|| lit(1, 0)),
    );
    let row = format
        .layout
        .row(0x10)
        .and_then(|row| row.fields.iter().find(|field| field.name == FieldName::Cycles));
    let field = row.map_or((0, 1), |field| (u32::from(field.from), u32::from(field.width)));
    let info = super::format::headers(&format.layout)
        .find(|header| format.layout.row(*header).is_some_and(|row| row.kind == Kind::TraceInfo));
    for ((target, before), after) in
        [Target::Cycles, Target::Threshold].into_iter().zip(before).zip(after)
    {
        let width = target.width(config);
        m.comb(|b| {
            b.set(&after, &before);
            for segment in all_segments(format, &[target]) {
                let value = byte.slice(segment.aligned().unwrap_or(0), segment.width);
                b.when(&inside & is_source(format, &segment, &section, &index), |b| {
                    b.set(&after.slice(segment.lo, segment.width), value);
                });
            }
            match target {
                Target::Cycles => {
                    b.when(&head, |b| {
                        b.set(&after, short.gate(byte.slice(field.0, field.1)).zext(width));
                    });
                }
                _ => {
                    let starts =
                        info.map_or_else(|| lit(1, 0), |info| &head & byte.is(info.into()));
                    b.when(starts | &error, |b| b.set(&after, zero(width)));
                }
            }
        });
    }
    let ending: Vec<Expr> = format
        .classes
        .iter()
        .enumerate()
        .filter(|(_, class)| class.writes.iter().any(|write| write.target == Target::Cycles))
        .map(|(number, _)| section.bit(number as u32))
        .collect();
    let ending = join(&ending).any();
    m.assign(&counted, &last & (ending | (&head & &short)));
    m.finish()
}
