//! A manual.

use super::{Family, families, reset};
use crate::registers::table::{Enable, Field, Kind, Table};
use std::fmt::Write;

const HEAD: &str = "\
The registers are those of the *RISC-V Trace Control Interface Specification*, version 1.0; where it \
leaves a choice, this manual names ours. Each component has a page of 4 KiB, aligned to 4 KiB; \
offsets count from its start.

They are on APB4, as 32-bit words and without wait states. A read or write of an address that is not a \
multiple of 4 ends in an error (`PSLVERR`), as does a write that is not of a whole word; both change \
nothing. Bits and registers that are not listed read as 0 and ignore writes, as the specification \
asks for; that is no error. A read returns the state at the start of the access.

| access | |
| --- | --- |
| fixed | always the same value |
| status | set by the hardware |
| RW | as written |
| WARL | as written while the component is not in use, as far as it is legal; otherwise it stays |
| RW1C | set by the hardware, cleared by writing 1 |
";

/// A manual for some components.
#[must_use]
pub fn markdown(tables: &[&Table]) -> String {
    let mut out = "# Control registers\n\n".to_owned();
    out.push_str(HEAD);
    for table in tables {
        // Writing to a string never fails.
        let _ = writeln!(out, "\n## {}\n\n{}\n", table.title, table.doc);
        let _ = writeln!(out, "| offset | register | |\n| --- | --- | --- |");
        for family in families(table) {
            let (place, title) = (place(&family), title(&family));
            let _ = writeln!(out, "| {place} | `{title}` | {} |", family.first.doc);
        }
        for family in families(table) {
            register(&mut out, table, &family);
        }
    }
    out
}

fn title(family: &Family<'_>) -> String {
    family.first.template.replace("{i}", "<i>")
}

fn place(family: &Family<'_>) -> String {
    match family.first.index {
        None => format!("{:#05x}", family.first.offset),
        Some(_) => format!("{:#05x} + {:#04x} *i*", family.first.offset, family.first.stride),
    }
}

fn register(out: &mut String, table: &Table, family: &Family<'_>) {
    let first = family.first;
    let _ = writeln!(out, "\n### `{}`, {}\n\n{}", title(family), place(family), first.doc);
    if first.index.is_some() {
        let last = family.count - 1;
        let _ = writeln!(out, "*i* is 0 to {last}.");
    }
    let _ = writeln!(out, "\n| bits | field | access | reset | |\n| --- | --- | --- | --- | --- |");
    for field in first.fields.iter().rev() {
        let bits = match field.width {
            1 => field.lsb.to_string(),
            width => format!("{}:{}", field.lsb + width - 1, field.lsb),
        };
        let others = alike(table, family, field);
        let (access, reset, doc) =
            (access(field), reset(field).map_or_else(String::new, number), doc(field));
        let _ = writeln!(out, "| {bits} | `{}` | {access} | {reset} | {doc}{others} |", field.name);
    }
}

/// How a field differs in the other registers of a family.
fn alike(table: &Table, family: &Family<'_>, field: &Field) -> String {
    let others = table.registers.iter().filter(|r| r.family() == family.name);
    let kinds: Vec<(u32, &Kind)> = others
        .filter_map(|r| Some((r.index?, &r.fields.iter().find(|f| f.name == field.name)?.kind)))
        .collect();
    // Numbers that count up, perhaps to a last one.
    let first = match field.kind {
        Kind::Fixed(first) => first,
        _ => 0,
    };
    let counts = kinds.iter().take_while(|(i, kind)| **kind == Kind::Fixed(first + i)).count();
    let (mut text, from) = match (counts, first) {
        (0 | 1, _) => (String::new(), 1),
        (_, 0) => (" Always *i*.".to_owned(), counts),
        (_, first) => (format!(" Always {first} + *i*."), counts),
    };
    for pair in kinds.windows(2).skip(from - 1).filter(|pair| pair[0].1 != pair[1].1) {
        let (i, kind) = pair[1];
        let what = match kind {
            Kind::Fixed(value) => format!("it is {}", number(*value)),
            Kind::Stored { from, bits, .. } => {
                format!("bits {}:{} can be written", field.lsb + from + bits - 1, field.lsb + from)
            }
            _ => "it differs".to_owned(),
        };
        let _ = write!(text, " From number {i} on {what}.");
    }
    text
}

fn access(field: &Field) -> &'static str {
    match field.kind {
        Kind::Fixed(_) => "fixed",
        Kind::Status { .. } | Kind::Copy { .. } | Kind::Empty => "status",
        Kind::Stored { .. } | Kind::Pointer { .. } | Kind::Triggered { .. } => "WARL",
        Kind::Active | Kind::Enable(_) | Kind::Switch => "RW",
        Kind::Sticky { .. } | Kind::Mark { .. } => "RW1C",
        Kind::Pulse => "W1",
    }
}

fn number(value: u32) -> String {
    if value < 10 { value.to_string() } else { format!("{value:#x}") }
}

fn doc(field: &Field) -> String {
    let mut doc = field.doc.to_owned();
    for (i, (value, _, meaning)) in field.values.iter().enumerate() {
        let lead = if i == 0 { " " } else { ", " };
        let _ = write!(doc, "{lead}{value}: {meaning}");
    }
    if !field.values.is_empty() {
        doc.push('.');
    }
    if let Kind::Stored { from, bits, .. } = field.kind
        && bits < field.width
    {
        let (low, high) = (field.lsb + from, field.lsb + from + bits - 1);
        let _ = match low == high {
            true => write!(doc, " Only bit {low} can be written."),
            false => write!(doc, " Only bits {high}:{low} can be written."),
        };
    }
    if let Kind::Enable(Enable::Flushed { .. }) = field.kind {
        doc.push_str(" Reads as 0 as soon as it is to be cleared.");
    }
    doc
}
