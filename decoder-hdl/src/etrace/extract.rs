//! The fields of payloads.

use super::places::MOST_BRANCHES;
use super::select::{self, Choice, choices, mode};
use super::shape::Shape;
use crate::wires::{any, delay, join};
use hartrace_etrace::{FieldName, Format, Mode};
use hartrace_rtl::{Component, Expr, Module, lit};

/// Fields that are sent as differences from the bit before them.
const DIFFERENCES: [FieldName; 3] = [FieldName::Notify, FieldName::Updiscon, FieldName::Irreport];

/// The fields that payloads of this layout have: name and width.
pub(super) fn fields(shape: &Shape) -> Vec<(FieldName, u32)> {
    let choices = choices(&shape.layout);
    let width = |name| choices.iter().find(|choice| choice.name == name).map(|choice| choice.width);
    FieldName::ALL.iter().filter_map(|name| width(*name).map(|width| (*name, width))).collect()
}

/// What a packet does to the last address and the jump target cache: name, and what it is.
pub(super) const EFFECTS: [(&str, &str); 6] = [
    ("addressed", "they have an address or the index of one"),
    ("absolute", "the address is no difference"),
    ("jump", "the address is in the jump target cache"),
    ("stores", "the address enters the jump target cache"),
    ("clears", "the jump target cache is empty after them"),
    ("forgets", "the last address is unknown after them"),
];

/// The module `etrace_extract`: the fields of one payload.
fn extract(shape: &Shape) -> Component {
    let m = Module::new(
        "etrace_extract",
        "The fields of a payload. Fields that it does not have are 0. Flags that are sent as differences from the \
         bit before them are resolved.",
    );
    let choices = choices(&shape.layout);
    let payload = m.input("payload_i", shape.payload_bits, "the payload");
    let select = m.input("select_i", choices.len() as u32, "places of fields");
    let format = m.input("format_i", Format::STANDARD.len() as u32, "one-hot: the format");
    let options = m.input("options_i", select::MODES.len() as u32, "the modes in force");
    let format_o = m.output("format_o", format_bits(), "the format, as a number");
    let outputs: Vec<(FieldName, Expr)> = fields(shape)
        .into_iter()
        .map(|(name, width)| (name, m.output(&format!("{}_o", name.as_str()), width, "")))
        .collect();
    let effects = EFFECTS.map(|(name, doc)| m.output(&format!("{name}_o"), 1, doc));

    let is = |of: Format| format.bit(of as u32);
    let code: Vec<Expr> = (0..format_bits())
        .map(|bit| {
            any((0..Format::STANDARD.len() as u32)
                .filter(|n| n >> bit & 1 == 1)
                .map(|n| format.bit(n)))
        })
        .collect();
    m.assign(&format_o, join(&code));
    let numbered = || (0u32..).zip(&choices);
    let value = |name: FieldName, of: &dyn Fn(&Choice) -> Expr| {
        let choices = numbered().filter(|(_, choice)| choice.name == name);
        any(choices.map(|(number, choice)| select.bit(number).gate(of(choice))))
    };
    let raw = |choice: &Choice| payload.slice(choice.lo, choice.width);
    let difference = |choice: &Choice| payload.bit(choice.lo) ^ payload.bit(choice.lo - 1);
    for (name, output) in &outputs {
        let found = match name {
            name if DIFFERENCES.contains(name) => value(*name, &difference),
            FieldName::Irdepth => value(FieldName::Irreport, &difference).gate(value(*name, &raw)),
            FieldName::Branches => {
                // A map without an address is full, which has no number of its own.
                let branches = value(*name, &raw);
                let full = is(Format::Branch) & !branches.any();
                full.gate(lit(5, MOST_BRANCHES.into())) | branches
            }
            name => value(*name, &raw),
        };
        m.assign(output, found);
    }

    m.section("What the packet does to the last address and the jump target cache.");
    let with_address = any(numbered()
        .filter(|(_, choice)| choice.name == FieldName::Address)
        .map(|(n, _)| select.bit(n)));
    let with_address = m.let_("with_address", with_address);
    let synchronises = m.let_("synchronises", is(Format::Start) | is(Format::Trap));
    let full = mode(&options, Mode::FullAddress);
    let notify = value(FieldName::Notify, &difference);
    let off = value(FieldName::QualStatus, &raw).any() | !value(FieldName::Ienable, &raw);
    let off = m.let_("off", is(Format::Support) & off);
    let [addressed, absolute, jump, stores, clears, forgets] = &effects;
    m.assign(addressed, &with_address | is(Format::JumpTarget));
    m.assign(absolute, &synchronises | full);
    m.assign(jump, is(Format::JumpTarget));
    // An address that is no target of a jump has the notify flag, or a synchronisation follows that clears the cache.
    let cached = mode(&options, Mode::JumpTargetCache);
    m.assign(stores, &with_address & !&synchronises & !notify & cached);
    m.assign(clears, &synchronises | &off);
    m.assign(forgets, off | (is(Format::Trap) & !with_address));
    // The format is known, and the first one has the number 0.
    m.unused(&payload);
    m.unused(&format);
    for unused in [Mode::ImplicitException, Mode::BranchPrediction] {
        m.unused(&mode(&options, unused));
    }
    m.finish()
}

/// Bits of the number of a format.
pub(super) fn format_bits() -> u32 {
    hartrace_rtl::index_width(Format::STANDARD.len() as u32)
}

/// What is known of a packet: name, width, and whether it is cleared by reset.
pub(super) fn extracted(shape: &Shape) -> Vec<(&'static str, u32, bool)> {
    let passed = select::selected(shape).into_iter();
    let hidden = ["format", "select", "payload", "options"];
    let passed = passed.filter(|(name, ..)| !hidden.contains(name));
    let fields = fields(shape).into_iter().map(|(name, width)| (name.as_str(), width, false));
    let effects = EFFECTS.into_iter().map(|(name, _)| (name, 1, true));
    passed.chain([("format", format_bits(), false)]).chain(fields).chain(effects).collect()
}

/// The module `etrace_extraction`: the fields of the payloads in all slots, one cycle later.
pub(super) fn unit(shape: &Shape) -> Component {
    let slots = shape.slots();
    let m = Module::new("etrace_extraction", "The fields of payloads.").clocked();
    let inputs: Vec<(&str, u32, Expr)> = select::selected(shape)
        .into_iter()
        .map(|(name, width, _)| (name, width, m.input(&format!("{name}_i"), slots * width, "")))
        .collect();
    let outputs: Vec<(&str, Expr, bool)> = extracted(shape)
        .into_iter()
        .map(|(name, width, clears)| {
            (name, m.output(&format!("{name}_o"), slots * width, ""), clears)
        })
        .collect();
    let extract = extract(shape);
    let mut found: Vec<Vec<Expr>> = outputs.iter().map(|_| Vec::new()).collect();
    for slot in 0..slots {
        let of = |name: &str| {
            let input = inputs.iter().find(|(other, ..)| *other == name);
            input.map(|(_, width, value)| value.slice(slot * width, *width))
        };
        let ports: Vec<(String, Expr)> = ["payload", "select", "format", "options"]
            .into_iter()
            .filter_map(|name| of(name).map(|value| (format!("{name}_i"), value)))
            .collect();
        let out = crate::wires::instance(&m, &format!("i_extract_{slot}"), &extract, &ports);
        for ((name, ..), found) in outputs.iter().zip(&mut found) {
            let passed = if *name == "format" { None } else { of(name) };
            found.push(passed.unwrap_or_else(|| out[&format!("{name}_o")].clone()));
        }
    }
    for ((name, output, clears), found) in outputs.iter().zip(&found) {
        m.assign(output, delay(&m, &format!("extracted_{name}"), &join(found), *clears));
    }
    m.finish()
}
