//! Where packets start and end.
//!
//! The stream state is chained through the lanes within one cycle, so nothing is in a lane that depends on its byte
//! alone: `etmv4_header` prepares that one cycle before.

use super::format::{Class, Format, ZEROS, decides_kind};
use super::{Config, header};
use crate::wires::{any, delay, join};
use hartrace_etmv4::{Effect, End, Rule, Test};
use hartrace_rtl::{Component, Expr, Module, Outputs, bundle, lit, zero};

bundle! {
    /// What a lane says of its byte.
    struct Ends { last, error }
}

/// Signals between lanes: name, width, and what they are.
pub(super) fn state(format: &Format) -> [(&'static str, u32, &'static str); 6] {
    [
        ("head", 1, "the byte is a header"),
        ("search", 1, "the byte is before the next alignment synchronisation"),
        ("section", format.classes.len() as u32, "the section of the byte, one-hot"),
        ("index", index_bits(format), "one-hot: bytes of the section after this one"),
        ("open", 1, "the section ends at a byte without bit 7"),
        ("pending", format.pending.len() as u32, "sections that follow"),
    ]
}

/// The state before the first byte.
pub(super) fn start(name: &str, width: u32) -> Expr {
    match name {
        "search" => lit(1, 1),
        "index" => lit(width, 1 << ZEROS),
        _ => zero(width),
    }
}

/// While searching, the index is the number of zeros that are missing.
pub(super) fn index_bits(format: &Format) -> u32 {
    format.longest().max(ZEROS + 1)
}

/// The module `etmv4_stream_lane`: the role of one byte, and the state after it.
pub(super) fn lane(format: &Format) -> Component {
    let m = Module::new(
        "etmv4_stream_lane",
        "The role of one byte, from the state after the byte before it. Sections are numbered as in etmv4_header.",
    );
    let valid = m.input("valid_i", 1, "there is a byte");
    let more = m.input("more_i", 1, "bit 7 of the byte");
    let single = m.input("single_i", 1, "as a header, it is the whole packet");
    let bad = m.input("bad_i", 1, "as a header, it is an error");
    let start =
        m.input("start_i", format.classes.len() as u32, "as a header, the section after it");
    let then =
        m.input("then_i", format.pending.len() as u32, "as a header, the sections after that");
    let tests = m.input("tests_i", format.tests.len() as u32, "results of comparisons");
    let [head, search, section, index, open, pending] =
        state(format).map(|(name, width, doc)| m.input(&format!("{name}_i"), width, doc));
    let last_o = m.output("last_o", 1, "a packet ends with the byte");
    let error_o = m.output("error_o", 1, "the byte is malformed");
    let next = state(format).map(|(name, width, _)| m.output(&format!("{name}_o"), width, ""));

    let test = |test: &Test| {
        let bit = tests.bit(format.test(test) as u32);
        if test.equal { bit } else { !bit }
    };
    let (is_zero, is_80) =
        (Test { mask: 0xff, value: 0, equal: true }, Test { mask: 0xff, value: 0x80, equal: true });
    let (is_zero, is_80) = (test(&is_zero), test(&is_80));
    let holds = |number: usize, class: &Class, rule: &Rule| {
        let within = section.bit(number as u32) & test(&rule.test);
        match bytes(class, rule, &index) {
            Some(bytes) => within & bytes,
            None => within,
        }
    };

    m.section("What the byte decides.");
    let ends = m.let_("ends", index.bit(0) | (&open & !&more));
    let mut faults = Vec::new();
    for (number, class) in format.classes.iter().enumerate() {
        let place = section.bit(number as u32);
        for rule in class.rules.iter().filter(|rule| rule.effect == Effect::Malformed) {
            faults.push(holds(number, class, rule));
        }
        if class.shape.end == End::Unbounded {
            faults.push(&place & index.bit(0) & &more);
        }
        if decides_kind(&format.layout, class) {
            let kinds = class.rules.iter().filter(|rule| matches!(rule.effect, Effect::Kind(_)));
            faults.push(place & !any(kinds.map(|rule| test(&rule.test))));
        }
    }
    let malformed = m.let_("malformed", any(faults));
    let mut wanted = Vec::new();
    for (bit, section) in (0u32..).zip(&format.pending) {
        let mut all = vec![pending.bit(bit)];
        for (number, class) in format.classes.iter().enumerate() {
            let adds = class.rules.iter().filter(|rule| rule.effect == Effect::Section(*section));
            all.extend(adds.map(|rule| holds(number, class, rule)));
        }
        wanted.push(any(all));
    }
    let wanted = m.let_("wanted", join(&wanted));
    let firsts: Vec<Expr> = (0u32..)
        .zip(&format.pending)
        .map(|(bit, section)| {
            let before: Vec<_> =
                format.before(*section).map(|other| wanted.bit(other as u32)).collect();
            let this = wanted.bit(bit);
            if before.is_empty() { this } else { this & !any(before) }
        })
        .collect();
    let first = m.let_("first", join(&firsts));
    let found = m.let_("found", &search & index.bit(0) & &is_80);
    // While a header or a synchronisation is expected, `section` and `pending` are empty.
    let turns = m.let_("turns", &ends & !&malformed);
    let over = m.let_("over", &turns & !&search & !wanted.any());
    let error = m.let_("error", (&head & &bad) | &malformed);
    let last = m.let_("last", (&head & &single) | &over | &found);
    m.assign(&last_o, &valid & &last);
    m.assign(&error_o, &valid & &error);

    m.section("The state after the byte.");
    let goes_on = m.let_("goes_on", !&ends & !&malformed);
    let entered: Vec<Expr> = (0..format.classes.len())
        .map(|class| {
            let of = (0u32..)
                .zip(&format.pending)
                .filter(|(_, section)| format.class(**section) == class);
            any(of.map(|(bit, _)| first.bit(bit)))
        })
        .collect();
    let of_size = |from: &dyn Fn(usize) -> Expr, size: u32| {
        let of = format
            .classes
            .iter()
            .enumerate()
            .filter(|(_, class)| u32::from(class.shape.most) == size);
        any(of.map(|(number, _)| from(number)))
    };
    let opens = |from: &dyn Fn(usize) -> Expr| {
        let of =
            format.classes.iter().enumerate().filter(|(_, class)| class.shape.end != End::Fixed);
        any(of.map(|(number, _)| from(number)))
    };
    let started = |class: usize| start.bit(class as u32);
    let turned = |class: usize| entered[class].clone();
    let new_section: Vec<Expr> = (0..format.classes.len())
        .map(|class| {
            (&head & started(class))
                | (&turns & turned(class))
                | (&goes_on & section.bit(class as u32))
        })
        .collect();
    let new_pending: Vec<Expr> = (0..format.pending.len() as u32)
        .map(|bit| {
            (&head & then.bit(bit))
                | (&turns & wanted.bit(bit) & !first.bit(bit))
                | (&goes_on & wanted.bit(bit))
        })
        .collect();
    let width = index_bits(format);
    let new_index: Vec<Expr> = (0..width)
        .map(|bit| {
            let above = if bit + 1 < width { index.bit(bit + 1) } else { lit(1, 0) };
            // A run of zeros may be longer.
            let zeros = if bit == 0 { &above | index.bit(0) } else { above.clone() };
            let mut terms = vec![
                &head & of_size(&started, bit + 1),
                &turns & of_size(&turned, bit + 1),
                &goes_on & !&search & above,
                &search & &is_zero & zeros,
            ];
            if bit == ZEROS {
                terms.push(&error | (&search & !&is_zero & !&found));
            }
            any(terms)
        })
        .collect();
    let now = [
        last.clone(),
        (&search & !&found) | &error,
        join(&new_section),
        join(&new_index),
        (&head & opens(&started)) | (&turns & opens(&turned)) | (&goes_on & &open),
        join(&new_pending),
    ];
    let before = [&head, &search, &section, &index, &open, &pending];
    for ((output, now), before) in next.iter().zip(now).zip(before) {
        m.assign(output, valid.mux(now, before));
    }
    m.finish()
}

/// The role of a byte: name, width, what it is, and whether it is cleared by reset.
pub(super) fn role(format: &Format) -> [(&'static str, u32, &'static str, bool); 8] {
    [
        ("byte", 8, "the bytes", false),
        ("head", 1, "they are headers", true),
        ("inside", 1, "they are not", true),
        ("section", format.classes.len() as u32, "their sections, one-hot", false),
        ("index", index_bits(format), "one-hot: bytes of the sections after them", false),
        ("search", 1, "they are before an alignment synchronisation", false),
        ("last", 1, "packets end with them", true),
        ("error", 1, "they are malformed", true),
    ]
}

/// The role of a byte, from the state before it and the outputs of its lane.
fn of_byte(valid: &Expr, byte: &Expr, state: &[Expr], lane: &Outputs) -> [Expr; 8] {
    let [head, search, section, index, ..] = state else { unreachable!("a state has six parts") };
    let Ends { last, error } = Ends::of(lane);
    [
        byte.clone(),
        valid & head,
        valid & !head,
        section.clone(),
        index.clone(),
        search.clone(),
        last,
        error,
    ]
}

/// The module `etmv4_step`: what one byte does, without registers; the units that take several bytes are compared with it.
pub(super) fn step(format: &Format) -> Component {
    let m = Module::new("etmv4_step", "The role of one byte, and the state after it.");
    let valid = m.input("valid_i", 1, "there is a byte");
    let byte = m.input("byte_i", 8, "the byte");
    let names = state(format).map(|(name, ..)| name);
    let before =
        state(format).map(|(name, width, doc)| m.input(&format!("before_{name}_i"), width, doc));
    let after =
        state(format).map(|(name, width, doc)| m.output(&format!("after_{name}_o"), width, doc));
    let roles =
        role(format).map(|(name, width, doc, _)| m.output(&format!("{name}_o"), width, doc));
    let prepared = m.inst("i_header", &header::build(format), &[("byte_i", &byte)]);
    let mut ports = vec![("valid_i".to_owned(), valid.clone()), ("more_i".to_owned(), byte.bit(7))];
    ports.extend(
        header::OUTPUTS.map(|name| (format!("{name}_i"), prepared[&format!("{name}_o")].clone())),
    );
    ports.extend(
        names.into_iter().zip(&before).map(|(name, now)| (format!("{name}_i"), now.clone())),
    );
    let out = crate::wires::instance(&m, "i_lane", &lane(format), &ports);
    for (name, after) in names.iter().zip(&after) {
        m.assign(after, &out[&format!("{name}_o")]);
    }
    for (output, value) in roles.iter().zip(of_byte(&valid, &byte, &before, &out)) {
        m.assign(output, value);
    }
    m.finish()
}

/// The module `etmv4_stream_{unroll}`: the role of every byte, two cycles later.
pub(super) fn unit(config: &Config, format: &Format) -> Component {
    let u = config.unroll;
    let m = Module::new(
        &format!("etmv4_stream_{u}"),
        "Finds where packets start and end: a stage for headers, then a chain of one lane per byte.",
    )
    .clocked();
    let valid_i = m.input("valid_i", u, "valid bytes");
    let bytes_i = m.input("bytes_i", 8 * u, "bytes, the oldest lowest");
    let outputs =
        role(format).map(|(name, width, doc, _)| m.output(&format!("{name}_o"), u * width, doc));

    m.section("What each byte would be as a header.");
    let header = header::build(format);
    let valid = delay(&m, "valid", &valid_i, true);
    let bytes = delay(&m, "bytes", &bytes_i, false);
    let mut prepared = Vec::new();
    for i in 0..u {
        let out =
            m.inst(&format!("i_header_{i}"), &header, &[("byte_i", &bytes_i.slice(8 * i, 8))]);
        prepared.push(
            header::OUTPUTS
                .map(|name| delay(&m, &format!("{name}_{i}"), &out[&format!("{name}_o")], false)),
        );
    }

    m.section("The role of each byte, from that of the byte before it.");
    let lane = lane(format);
    let regs = state(format).map(|(name, width, _)| m.reg(name, start(name, width)));
    let mut now: Vec<Expr> = regs.iter().map(|reg| reg.q.clone()).collect();
    let mut roles: [Vec<Expr>; 8] = Default::default();
    for (i, prepared) in (0..u).zip(&prepared) {
        let (valid, more) = (valid.bit(i), bytes.bit(8 * i + 7));
        let mut ports = vec![("valid_i".to_owned(), &valid), ("more_i".to_owned(), &more)];
        let names = header::OUTPUTS.into_iter().chain(state(format).map(|(name, ..)| name));
        ports.extend(names.map(|name| format!("{name}_i")).zip(prepared.iter().chain(&now)));
        let ports: Vec<_> = ports.iter().map(|(name, expr)| (name.as_str(), *expr)).collect();
        let out = m.inst(&format!("i_lane_{i}"), &lane, &ports);
        let role = of_byte(&valid, &bytes.slice(8 * i, 8), &now, &out);
        roles.iter_mut().zip(role).for_each(|(all, one)| all.push(one));
        now = state(format).iter().map(|(name, ..)| out[&format!("{name}_o")].clone()).collect();
    }
    for (reg, value) in regs.iter().zip(&now) {
        m.assign(&reg.d, value);
    }
    for ((output, all), (name, _, _, clears)) in outputs.iter().zip(&roles).zip(role(format)) {
        m.assign(output, delay(&m, &format!("role_{name}"), &join(all), clears));
    }
    m.finish()
}

/// The bytes to which a rule applies; `None` if it applies to all.
fn bytes(class: &Class, rule: &Rule, index: &Expr) -> Option<Expr> {
    let most = class.shape.most;
    match (rule.first, rule.last) {
        (0, last) if last + 1 >= most => None,
        (0, last) if last + 2 == most && class.shape.end == End::Fixed => Some(!index.bit(0)),
        (first, last) => {
            Some(any((first..=last).map(|byte| index.bit(u32::from(most - 1 - byte)))))
        }
    }
}
