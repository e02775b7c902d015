//! The tables of the components.

mod analysis;
mod atb_bridge;
mod encoder;
mod ram_sink;

pub use analysis::analysis;
pub use atb_bridge::atb_bridge;
pub use encoder::encoder;
pub use ram_sink::ram_sink;

use crate::registers::table::{Kind, Register};

/// Kinds of components.
mod component {
    pub(super) const ENCODER: u32 = 0x1;
    pub(super) const RAM_SINK: u32 = 0x9;
    pub(super) const ATB_BRIDGE: u32 = 0xe;
    /// Not one of the specification.
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
