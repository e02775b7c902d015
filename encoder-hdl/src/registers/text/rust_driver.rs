//! A driver in Rust.

use super::{Family, families, wrap};
use crate::registers::names;
use crate::registers::table::{Field, Table};
use std::fmt::Write;

const HEAD: &str = "\
//! Registers of a trace encoder and of what is behind it: a type for each, with its fields.
//!
//! Where registers are and how they are read and written is up to the caller: each component has a
//! page of 4 KiB, and offsets count from there. Nothing here needs `std`, allocates or panics.
//!
//! Made by `hartrace_encoder_hdl::registers::rust_driver`; changes would be lost.

const fn get(word: u32, lsb: u32, width: u32) -> u32 {
    word >> lsb & u32::MAX >> (32 - width)
}

/// Bits of `value` past the width are left out.
const fn set(word: u32, lsb: u32, width: u32, value: u32) -> u32 {
    let ones = u32::MAX >> (32 - width);
    word & !(ones << lsb) | (value & ones) << lsb
}
";

/// The driver of some components, as text: a module for each, without dependencies.
///
/// Fields that cannot be written have no setter.
#[must_use]
pub fn rust_driver(tables: &[&Table]) -> String {
    let mut out = Text::default();
    out.text.push_str(HEAD);
    for table in tables {
        out.line(0, "");
        out.doc(0, &format!("{}.", table.title));
        out.line(0, &format!("pub mod {} {{", table.name));
        out.line(1, "use super::{get, set};");
        for family in families(table) {
            out.line(0, "");
            out.register(&family);
        }
        out.line(0, "}");
    }
    out.text
}

#[derive(Default)]
struct Text {
    text: String,
}

impl Text {
    fn line(&mut self, depth: usize, line: &str) {
        let indent = if line.is_empty() { 0 } else { 4 * depth };
        // Writing to a string never fails.
        let _ = writeln!(self.text, "{:indent$}{line}", "");
    }

    fn doc(&mut self, depth: usize, text: &str) {
        for line in wrap(text, 96 - 4 * depth) {
            self.line(depth, &format!("/// {line}"));
        }
    }

    fn register(&mut self, family: &Family<'_>) {
        let name = names::pascal(&family.name);
        self.doc(1, &format!("`{}`: {}", family.name, family.first.doc));
        self.line(1, "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]");
        self.line(1, &format!("pub struct {name}(pub u32);"));
        self.line(0, "");
        self.line(1, &format!("impl {name} {{"));
        self.offset(family);
        for field in &family.first.fields {
            self.field(field);
        }
        self.line(1, "}");
    }

    fn offset(&mut self, family: &Family<'_>) {
        let offset = format!("{:#05x}", family.first.offset);
        if family.first.index.is_none() {
            self.doc(2, "Where it is.");
            self.line(2, &format!("pub const OFFSET: u32 = {offset};"));
            return;
        }
        self.doc(2, "How many there are at most.");
        self.line(2, &format!("pub const COUNT: u32 = {};", family.count));
        self.line(0, "");
        self.doc(2, "Where number `index` is.");
        self.line(2, "#[must_use]");
        self.line(2, "pub const fn offset(index: u32) -> Option<u32> {");
        let sum = format!("{offset} + {:#04x} * index", family.first.stride);
        self.line(3, &format!("if index < Self::COUNT {{ Some({sum}) }} else {{ None }}"));
        self.line(2, "}");
    }

    fn field(&mut self, field: &Field) {
        let name = names::short(field.name);
        let (lsb, width) = (field.lsb, field.width);
        let flag = width == 1;
        for (value, what, doc) in &field.values {
            self.line(0, "");
            self.doc(2, &format!("`{}`: {doc}.", field.name));
            let value = match (flag, value) {
                (true, 0) => "bool = false".to_owned(),
                (true, _) => "bool = true".to_owned(),
                (false, value) => format!("u32 = {value}"),
            };
            let constant = format!("{}_{what}", name.to_uppercase());
            self.line(2, &format!("pub const {constant}: {value};"));
        }
        let kind = if flag { "bool" } else { "u32" };
        self.line(0, "");
        self.doc(2, &format!("`{}`: {}", field.name, field.doc));
        self.line(2, "#[must_use]");
        self.line(2, &format!("pub const fn {name}(self) -> {kind} {{"));
        let is = if flag { " == 1" } else { "" };
        self.line(3, &format!("get(self.0, {lsb}, {width}){is}"));
        self.line(2, "}");
        if !field.writable() {
            return;
        }
        self.line(0, "");
        self.doc(2, &format!("With another `{}`.", field.name));
        self.line(2, "#[must_use]");
        self.line(2, &format!("pub const fn with_{name}(self, value: {kind}) -> Self {{"));
        let value = if flag { "value as u32" } else { "value" };
        self.line(3, &format!("Self(set(self.0, {lsb}, {width}, {value}))"));
        self.line(2, "}");
    }
}
