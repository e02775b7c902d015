//! A description in SystemRDL 2.0.

use super::{enumerator, plain, reset};
use crate::registers::table::{Enable, Field, Kind, Register, Table};
use crate::registers::text::Placed;
use std::fmt::Write;

/// The registers of a module as an `addrmap` of this name, one inner `addrmap` for each component.
///
/// Of a field of which only some bits can be written, the description says which: SystemRDL knows no
/// such field.
#[must_use]
pub fn systemrdl(name: &str, pages: &[Placed<'_>]) -> String {
    let mut out = "// The control registers, in SystemRDL 2.0.\n".to_owned();
    let mut types: Vec<&Table> = Vec::new();
    for page in pages {
        if !types.contains(&page.table) {
            types.push(page.table);
            component(&mut out, page.table);
        }
    }
    // Writing to a string never fails.
    let _ = writeln!(out, "\naddrmap {name} {{");
    property(&mut out, 1, "name", "Control registers");
    for page in pages {
        let _ = writeln!(
            out,
            "    {}_registers {} @ {:#07x}; // {}",
            page.table.name, page.name, page.address, page.title
        );
    }
    out.push_str("};\n");
    out
}

fn component(out: &mut String, table: &Table) {
    let _ = writeln!(out, "\naddrmap {}_registers {{", table.name);
    property(out, 1, "name", table.title);
    property(out, 1, "desc", table.doc);
    out.push_str("    default regwidth = 32;\n    default accesswidth = 32;\n");
    for register in &table.registers {
        self::register(out, register);
    }
    out.push_str("};\n");
}

fn register(out: &mut String, of: &Register) {
    let name = of.name();
    out.push_str("\n    reg {\n");
    property(out, 2, "name", &name);
    property(out, 2, "desc", of.doc);
    for field in of.fields.iter().filter(|field| !field.values.is_empty()) {
        let _ = writeln!(out, "        enum {}_values {{", field.name);
        for (value, what, doc) in &field.values {
            let _ = writeln!(
                out,
                "            {} = {}'d{value} {{ desc = \"{}\"; }};",
                enumerator(what),
                field.width,
                escaped(doc)
            );
        }
        out.push_str("        };\n");
    }
    for field in &of.fields {
        self::field(out, field);
    }
    let _ = writeln!(out, "    }} {name} @ {:#05x};", of.offset);
}

fn field(out: &mut String, of: &Field) {
    out.push_str("        field {\n");
    property(out, 3, "desc", of.doc);
    let properties = behaviour(of);
    let _ = writeln!(out, "            {properties}");
    if let Some(reset) = reset(of) {
        let _ = writeln!(out, "            reset = {}'h{reset:x};", of.width);
    }
    if !of.values.is_empty() {
        let _ = writeln!(out, "            encode = {}_values;", of.name);
    }
    let _ = writeln!(out, "        }} {}[{}:{}];", of.name, of.lsb + of.width - 1, of.lsb);
}

/// What software and hardware can do with a field.
fn behaviour(of: &Field) -> &'static str {
    match of.kind {
        Kind::Fixed(_) => "sw = r; hw = na;",
        Kind::Status { .. } | Kind::Copy { .. } | Kind::Empty => "sw = r; hw = w;",
        Kind::Stored { .. } | Kind::Switch | Kind::Enable(Enable::Direct) => "sw = rw; hw = r;",
        Kind::Active | Kind::Enable(Enable::Flushed { .. }) => "sw = rw; hw = rw;",
        Kind::Triggered { .. } | Kind::Pointer { .. } => "sw = rw; hw = rw;",
        Kind::Pulse => "sw = w; hw = r; singlepulse;",
        Kind::Sticky { .. } | Kind::Mark { .. } => "sw = rw; woclr; hw = na; hwset;",
    }
}

fn property(out: &mut String, depth: usize, name: &str, text: &str) {
    let _ = writeln!(out, "{:1$}{name} = \"{2}\";", "", 4 * depth, escaped(text));
}

fn escaped(text: &str) -> String {
    plain(text).replace('\\', "\\\\").replace('"', "\\\"")
}
