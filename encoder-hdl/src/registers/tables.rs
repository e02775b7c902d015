//! The tables of the components.

mod analysis;
mod atb_bridge;
mod decoder;
mod encoder;
mod filters;
mod ram_sink;

pub use analysis::analysis;
pub use atb_bridge::atb_bridge;
pub use decoder::decoder;
pub use encoder::encoder;
pub use ram_sink::ram_sink;

use crate::registers::table::{Kind, Register};

/// Kinds of components.
mod component {
    pub(super) const ENCODER: u32 = 0x1;
    pub(super) const RAM_SINK: u32 = 0x9;
    pub(super) const ATB_BRIDGE: u32 = 0xe;
    /// The others are not of the specification.
    pub(super) const DECODER: u32 = 0xd;
    pub(super) const ANALYSIS: u32 = 0xf;
}

/// The first fields of the second register of every component, named after the
/// component.
fn versions(register: Register, names: [&'static str; 3], component: u32) -> Register {
    let [major, minor, kind] = names;
    register
        .field((3, 0), major, Kind::Fixed(1), "Major version of these registers.")
        .field((7, 4), minor, Kind::Fixed(0), "Minor version of these registers.")
        .field((11, 8), kind, Kind::Fixed(component), "Kind of the component.")
}

/// A number that hardware counts.
fn counter(name: &'static str, at: u32, input: &'static str, doc: &'static str) -> [Register; 1] {
    let shows = Kind::Status { input, from: 0, bits: 32 };
    [Register::new(name, at, doc).field((31, 0), name, shows, "The number.")]
}

/// An address that software writes.
fn address(
    [low, high]: [&'static str; 2],
    at: u32,
    width: u32,
    doc: &'static str,
) -> Vec<Register> {
    let kind = Kind::stored(width.min(32));
    let mut all =
        vec![Register::new(low, at, doc).field((31, 0), low, kind, "Bits 31 to 0 of the address.")];
    if width > 32 {
        let kind = Kind::stored(width - 32);
        let register = Register::new(high, at + 4, doc);
        all.push(register.field((31, 0), high, kind, "Bits 63 to 32 of the address."));
    }
    all
}
