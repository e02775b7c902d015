//! A header in C.

use super::{families, wrap};
use crate::registers::names;
use crate::registers::table::{Register, Table};
use std::fmt::Write;

const HEAD: &str = "\
/* Registers of a trace encoder and of what is behind it.
 *
 * Each component has a page of 4 KiB; offsets count from its start. For every field F of a register R
 * there are R_F_SHIFT and R_F_MASK; TR_GET(word, R_F) is its value in a word, and
 * TR_SET(word, R_F, value) the word with another value of it.
 *
 * Made by crate::registers::c_header; changes would be lost.
 */
#ifndef HARTRACE_REGISTERS_H
#define HARTRACE_REGISTERS_H

#include <stdint.h>

#define TR_GET(word, field) (((uint32_t)(word) & field##_MASK) >> field##_SHIFT)
#define TR_SET(word, field, value) \\
    (((uint32_t)(word) & ~field##_MASK) | (((uint32_t)(value) << field##_SHIFT) & field##_MASK))
";

/// A header for some components: offsets, and positions of fields.
#[must_use]
pub fn c_header(tables: &[&Table]) -> String {
    let mut out = HEAD.to_owned();
    for table in tables {
        // Writing to a string never fails.
        let _ = writeln!(out, "\n/* --- {} --- */", table.title);
        for family in families(table) {
            comment(&mut out, &format!("{}: {}", family.name, family.first.doc));
            let (name, first) = (names::screaming(&family.name), family.first);
            let _ = match first.index {
                None => writeln!(out, "#define {name}_OFFSET {:#05x}u", first.offset),
                Some(_) => writeln!(
                    out,
                    "#define {name}_COUNT {}u\n#define {name}_OFFSET(index) ({:#05x}u + {:#04x}u * (index))",
                    family.count, first.offset, family.first.stride
                ),
            };
            fields(&mut out, &name, first);
        }
    }
    out.push_str("\n#endif\n");
    out
}

fn fields(out: &mut String, register: &str, of: &Register) {
    for field in &of.fields {
        let name = format!("{register}_{}", names::short(field.name).to_uppercase());
        let _ = writeln!(out, "#define {name}_SHIFT {}u", field.lsb);
        let _ = writeln!(out, "#define {name}_MASK {:#010x}u", field.mask());
        for (value, what, doc) in &field.values {
            let _ = writeln!(out, "#define {name}_{what} {value}u /* {doc} */");
        }
    }
}

fn comment(out: &mut String, text: &str) {
    let lines = wrap(&text.replace('`', ""), 96);
    let _ = writeln!(out, "\n/* {} */", lines.join("\n * "));
}
