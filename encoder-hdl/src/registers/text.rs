//! Texts from tables: for software, and for people.

mod c_header;
mod markdown;
mod rust_driver;

pub use c_header::c_header;
pub use markdown::markdown;
pub use rust_driver::rust_driver;

use crate::registers::table::{Register, Table};

/// Registers of the same kind, and their positions.
struct Family<'a> {
    name: String,
    first: &'a Register,
    count: u32,
    /// Distance from one to the next; 0 if there is only one.
    stride: u32,
}

/// The registers of a table, with those of the same kind as one family, by offset of the
/// first.
fn families(table: &Table) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for register in &table.registers {
        let name = register.family();
        match families.iter_mut().find(|family| family.name == name) {
            Some(family) => {
                family.count += 1;
                if family.count == 2 {
                    family.stride = register.offset - family.first.offset;
                }
            }
            None => families.push(Family { name, first: register, count: 1, stride: 0 }),
        }
    }
    families
}

/// Wraps words into lines of up to `width` characters.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
