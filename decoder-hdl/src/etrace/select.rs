//! The format of payloads, and where their fields are.

use super::gather;
use super::places::{Condition, MOST_BRANCHES, Place, map_width, only, places};
use super::shape::Shape;
use crate::wires::{all, any, delay, join};
use hartrace_etrace::{FieldName, Format, Layout, Mode, Presence};
use hartrace_rtl::{Component, Expr, Module, bundle, lit, zero};

bundle! {
    /// The outputs of a lane for the format of a payload.
    struct FormatOut { payload, accept, short: Option, timestamp: Option, support, options }
}

/// Why a packet cannot be decoded: the value of the field `error` of its record.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It has no payload.
    TooShort = 1,
    /// It has format 0, but there is no such subformat, or its mode is off.
    Format = 2,
    /// Its branch_fmt is reserved.
    BranchFmt = 3,
}

/// Bits of the field `error`.
pub(super) const FAULT_BITS: u32 = 2;

/// The modes that change how payloads are read, in the order of `options`.
pub const MODES: [Mode; 4] =
    [Mode::ImplicitException, Mode::FullAddress, Mode::JumpTargetCache, Mode::BranchPrediction];

/// The bit of a mode in `options`.
pub(super) fn mode(options: &Expr, mode: Mode) -> Expr {
    let bit = MODES.iter().position(|other| *other == mode);
    bit.map_or_else(|| lit(1, 0), |bit| options.bit(bit as u32))
}

/// Places of a field that are the same in several formats.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) name: FieldName,
    pub(super) lo: u32,
    pub(super) width: u32,
    places: Vec<Place>,
}

/// All choices, in the order of the bits of `select`.
pub(super) fn choices(layout: &Layout) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    let shown = |place: &Place| !matches!(place.name, FieldName::Format | FieldName::Subformat);
    for place in places(layout).into_iter().filter(shown) {
        let (name, lo, width) = (place.name, place.lo, place.width);
        match choices.iter_mut().find(|other| other.name == name && other.lo == lo) {
            Some(choice) => choice.places.push(place),
            None => choices.push(Choice { name, lo, width, places: vec![place] }),
        }
    }
    choices
}

/// Whether a payload has this format. `options` is `None` where modes do not matter.
fn is_format(layout: &Layout, payload: &Expr, format: Format, options: Option<&Expr>) -> Expr {
    let field = |name| only(layout, format, name).map(|(lo, width)| payload.slice(lo, width));
    let mut tests = Vec::new();
    tests.extend(field(FieldName::Format).map(|bits| bits.is(format.format().into())));
    let subformat = field(FieldName::Subformat).zip(format.subformat());
    tests.extend(subformat.as_ref().map(|(bits, value)| bits.is((*value).into())));
    let modes = match format {
        Format::BranchCount => Some((Mode::BranchPrediction, Mode::JumpTargetCache)),
        Format::JumpTarget => Some((Mode::JumpTargetCache, Mode::BranchPrediction)),
        _ => None,
    };
    if let (Some((this, other)), Some(options)) = (modes, options) {
        tests.push(mode(options, this));
        // Without a subformat, only one of them may be on.
        if subformat.is_none() {
            tests.push(!mode(options, other));
        }
    }
    all(tests)
}

/// The module `etrace_format`: whether the packet of a slot is one to decode, and the modes that it sets.
fn format(shape: &Shape) -> Component {
    let m = Module::new("etrace_format", "Which packets are decoded, and the modes that they set.");
    let ended = m.input("ended_i", 1, "a packet ended");
    let bytes = m.input("bytes_i", 8 * shape.positions(), "its bytes, by position");
    let stamped = (shape.stamp_bytes > 0).then(|| m.input("stamped_i", 1, "it has a timestamp"));
    let short = (shape.start >= 8).then(|| m.input("short_i", 1, "it has no payload"));
    let source = (shape.source_bits > 0)
        .then(|| m.input("source_i", shape.source_bits, "the srcID whose packets are decoded"));
    let payload_o = m.output("payload_o", shape.payload_bits, "the payload");
    let accept_o = m.output("accept_o", 1, "the payload is decoded");
    let short_o = short.as_ref().map(|_| m.output("short_o", 1, "there is none"));
    let stamp_o = (shape.stamp_bytes > 0)
        .then(|| m.output("timestamp_o", 8 * shape.stamp_bytes, "the timestamp"));
    let support_o = m.output("support_o", 1, "it is a support packet");
    let options_o = m.output("options_o", MODES.len() as u32, "modes that it sets");

    let body = 8 * shape.body();
    let (whole, odd) = (8 * shape.source_bytes, shape.source_bits % 8);
    let (type_bits, instruction) = shape.kind;
    let payload = m.let_("payload", bytes.slice(body + shape.start, shape.payload_bits));
    m.assign(&payload_o, &payload);
    let mut tests = vec![ended.clone()];
    if let Some(wanted) = &source {
        if whole > 0 {
            tests.push(bytes.slice(0, whole).eq(wanted.slice(0, whole)));
        }
        if odd > 0 {
            // The timestamp comes after all of srcID, and shifts its last bits.
            let there = bytes.slice(body, odd);
            let there = stamped
                .as_ref()
                .map_or(there.clone(), |stamped| stamped.mux(bytes.slice(whole, odd), there));
            tests.push(there.eq(wanted.slice(whole, odd)));
        }
    }
    if type_bits > 0 {
        let kind = bytes.slice(body + odd, type_bits);
        tests.push(kind.is(instruction.into()));
    }
    if let Some(short) = &short {
        tests.push(!short);
    }
    let accept = m.let_("accept", all(tests));
    m.assign(&accept_o, &accept);
    if let (Some(short), Some(output)) = (&short, &short_o) {
        m.assign(output, &ended & short);
    }
    if let (Some(output), Some(stamped)) = (&stamp_o, &stamped) {
        let stamp = bytes.slice(shape.source_bits, 8 * shape.stamp_bytes);
        m.assign(output, stamped.gate(stamp));
    }
    // Payloads need not end with a byte, and parts of a timestamp may lie between others.
    m.unused(&bytes);

    let layout = &shape.layout;
    m.assign(&support_o, &accept & is_format(layout, &payload, Format::Support, None));
    let modes = layout.unit().ioptions();
    let field = only(layout, Format::Support, FieldName::Ioptions).map_or(0, |(lo, _)| lo);
    let options: Vec<Expr> = MODES
        .iter()
        .map(|mode| {
            let bit = (0u32..).zip(modes).find(|(_, other)| *other == mode);
            bit.map_or_else(|| lit(1, 0), |(bit, _)| payload.bit(field + bit))
        })
        .collect();
    m.assign(&options_o, join(&options));
    m.finish()
}

/// The module `etrace_select`: the format of a payload, and where its fields are.
fn select(shape: &Shape) -> Component {
    let layout = &shape.layout;
    let m = Module::new("etrace_select", "The format of a payload, and where its fields are.");
    let payload = m.input("payload_i", shape.payload_bits, "the payload");
    let accept = m.input("accept_i", 1, "there is one");
    let short = (shape.start >= 8).then(|| m.input("short_i", 1, "there should be one"));
    let options = m.input("options_i", MODES.len() as u32, "the modes in force");
    let choices = choices(layout);
    let valid_o = m.output("valid_o", 1, "there is a record");
    let error_o = m.output("error_o", FAULT_BITS, "why it cannot be decoded");
    let format_o = m.output("format_o", Format::STANDARD.len() as u32, "one-hot: the format");
    let select_o = m.output("select_o", choices.len() as u32, "places of fields");

    let formats: Vec<Expr> = Format::STANDARD
        .into_iter()
        .map(|format| {
            let is = is_format(layout, &payload, format, Some(&options));
            m.let_(&format!("is_{}", format.name()), is)
        })
        .collect();
    let field = |format: Format, name: FieldName| {
        only(layout, format, name).map_or_else(|| zero(2), |(lo, width)| payload.slice(lo, width))
    };
    let unknown = m.let_("unknown", &accept & !any(formats.iter().cloned()));
    let count = &formats[Format::BranchCount as usize];
    let fmt = field(Format::BranchCount, FieldName::BranchFmt);
    let reserved = m.let_("reserved", &accept & count & fmt.is(1));
    let decoded = m.let_("decoded", &accept & !&unknown & !&reserved);
    m.assign(&valid_o, any([Some(&accept), short.as_ref()].into_iter().flatten().cloned()));
    let faults = [
        (short, Fault::TooShort),
        (Some(unknown), Fault::Format),
        (Some(reserved), Fault::BranchFmt),
    ];
    let faults = faults.into_iter().filter_map(|(is, fault)| is.map(|is| (is, fault)));
    let code = faults.map(|(is, fault)| is.gate(lit(FAULT_BITS, fault as u128)));
    m.assign(&error_o, any(code));
    let kinds: Vec<Expr> = formats.iter().map(|is| &decoded & is).collect();
    m.assign(&format_o, join(&kinds));

    let holds = |format: Format, condition: &Condition| match condition {
        Condition::Present(presence) => present(&field, &options, format, *presence),
        Condition::Absent(presence) => !present(&field, &options, format, *presence),
        Condition::MapWidth { width, none_if_empty } => {
            let branches = field(format, FieldName::Branches);
            let alike = (0..=MOST_BRANCHES).filter(|n| map_width(*n, *none_if_empty) == *width);
            any(alike.map(|n| branches.is(n.into())))
        }
    };
    let selects: Vec<Expr> = choices
        .iter()
        .map(|choice| {
            any(choice.places.iter().map(|place| {
                let when = place.when.iter().map(|condition| holds(place.format, condition));
                all(when.chain([kinds[place.format as usize].clone()]))
            }))
        })
        .collect();
    m.assign(&select_o, join(&selects));
    // Only some bits decide.
    m.unused(&payload);
    m.unused(&mode(&options, Mode::FullAddress));
    m.finish()
}

/// Whether a field is present; the same question as in the parser.
fn present(
    field: &dyn Fn(Format, FieldName) -> Expr,
    options: &Expr,
    format: Format,
    presence: Presence,
) -> Expr {
    match presence {
        Presence::Always => lit(1, 1),
        Presence::IfBranches => field(format, FieldName::Branches).any(),
        Presence::IfCountAddress => field(format, FieldName::BranchFmt).msb(),
        Presence::UnlessImplicit => {
            !(mode(options, Mode::ImplicitException) & field(format, FieldName::Thaddr))
        }
        Presence::IfException => !field(format, FieldName::Interrupt),
        Presence::IfStop => field(format, FieldName::Stop),
    }
}

/// What is known of a payload: name, width, and whether it is cleared by reset.
pub(super) fn selected(shape: &Shape) -> Vec<(&'static str, u32, bool)> {
    let mut selected = vec![
        ("valid", 1, true),
        ("error", FAULT_BITS, true),
        ("format", Format::STANDARD.len() as u32, true),
        ("select", choices(&shape.layout).len() as u32, true),
        ("payload", shape.payload_bits, false),
        ("options", MODES.len() as u32, false),
        ("second", 1, false),
    ];
    if shape.stamp_bytes > 0 {
        selected.extend([("stamped", 1, false), ("timestamp", 8 * shape.stamp_bytes, false)]);
    }
    selected
}

/// The module `etrace_selection`: formats and places for all slots, two cycles later.
pub(super) fn unit(shape: &Shape) -> Component {
    let slots = shape.slots();
    let m = Module::new(
        "etrace_selection",
        "The formats of packets and the places of their fields. Modes change from packet to packet.",
    )
    .clocked();
    let inputs: Vec<(&str, u32, Expr)> = gather::packet(shape)
        .into_iter()
        .map(|(name, width, doc, _)| {
            (name, width, m.input(&format!("{name}_i"), slots * width, doc))
        })
        .collect();
    let source = (shape.source_bits > 0)
        .then(|| m.input("source_i", shape.source_bits, "the srcID whose packets are decoded"));
    let outputs: Vec<(&str, Expr, bool)> = selected(shape)
        .into_iter()
        .map(|(name, width, clears)| {
            (name, m.output(&format!("{name}_o"), slots * width, ""), clears)
        })
        .collect();
    let (format, select) = (format(shape), select(shape));
    let modes = m.reg("modes", zero(MODES.len() as u32));
    let mut now = modes.q.clone();
    let mut found: Vec<Vec<Expr>> = outputs.iter().map(|_| Vec::new()).collect();
    for slot in 0..slots {
        let of = |name: &str| {
            let input = inputs.iter().find(|(other, ..)| *other == name);
            input.map(|(_, width, value)| value.slice(slot * width, *width))
        };
        let mut ports: Vec<(String, Expr)> = ["ended", "bytes", "stamped", "short"]
            .into_iter()
            .filter_map(|name| of(name).map(|value| (format!("{name}_i"), value)))
            .collect();
        ports.extend(source.iter().map(|source| ("source_i".to_owned(), source.clone())));
        let out = crate::wires::instance(&m, &format!("i_format_{slot}"), &format, &ports);
        let out = FormatOut::of(&out);
        let keep =
            |name: &str, value: &Expr, clears| delay(&m, &format!("{name}_{slot}"), value, clears);
        let payload = keep("payload", &out.payload, false);
        let options = keep("options", &now, false);
        now = m.let_(&format!("modes_after_{slot}"), out.support.mux(&out.options, &now));
        let mut ports = vec![
            ("payload_i".to_owned(), payload.clone()),
            ("accept_i".to_owned(), keep("accept", &out.accept, true)),
            ("options_i".to_owned(), options.clone()),
        ];
        if let Some(short) = &out.short {
            ports.push(("short_i".to_owned(), keep("short", short, true)));
        }
        let selected = crate::wires::instance(&m, &format!("i_select_{slot}"), &select, &ports);
        for ((name, ..), found) in outputs.iter().zip(&mut found) {
            found.push(match *name {
                "payload" => payload.clone(),
                "options" => options.clone(),
                "timestamp" => {
                    let time = out.timestamp.clone().unwrap_or_else(|| lit(1, 0));
                    keep(name, &time, false)
                }
                "second" | "stamped" => keep(name, &of(name).unwrap_or_else(|| lit(1, 0)), false),
                _ => selected[&format!("{name}_o")].clone(),
            });
        }
    }
    m.assign(&modes.d, &now);
    for ((name, output, clears), found) in outputs.iter().zip(&found) {
        m.assign(output, delay(&m, &format!("selected_{name}"), &join(found), *clears));
    }
    m.finish()
}
