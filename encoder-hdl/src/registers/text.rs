//! Texts from tables: for software, and for people.

mod c_header;
mod ipxact;
mod markdown;
mod rust_driver;
mod systemrdl;

pub use c_header::c_header;
pub use ipxact::ipxact;
pub use markdown::markdown;
pub use rust_driver::rust_driver;
pub use systemrdl::systemrdl;

use crate::registers::table::{Field, Kind, Register, Table};

/// The registers of a component at their place in a module.
#[derive(Clone, Debug)]
pub struct Placed<'a> {
    /// Its name there.
    pub name: String,
    /// What it is there.
    pub title: String,
    /// Its first address.
    pub address: u32,
    /// Its registers.
    pub table: &'a Table,
}

/// Registers of the same kind, and their positions.
struct Family<'a> {
    name: String,
    first: &'a Register,
    count: u32,
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
            }
            None => families.push(Family { name, first: register, count: 1 }),
        }
    }
    families
}

/// The value of a field after a reset, unless hardware sets it.
fn reset(of: &Field) -> Option<u32> {
    match of.kind {
        Kind::Fixed(value) => Some(value),
        Kind::Stored { tied, .. } => Some(tied),
        Kind::Status { .. } | Kind::Copy { .. } | Kind::Empty | Kind::Pointer { .. } => None,
        Kind::Active | Kind::Enable(_) | Kind::Switch | Kind::Pulse => Some(0),
        Kind::Triggered { .. } | Kind::Sticky { .. } | Kind::Mark { .. } => Some(0),
    }
}

/// A text without the marks of Markdown.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

/// The name of a value as an identifier.
fn enumerator(name: &str) -> String {
    let digit = name.starts_with(|first: char| first.is_ascii_digit());
    if digit { format!("_{name}") } else { name.to_owned() }
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
