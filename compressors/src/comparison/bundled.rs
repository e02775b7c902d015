//! Programs that are bundled with this crate.

use super::Source;

macro_rules! elf {
    ($name:expr) => {
        include_bytes!(concat!("../../programs/", $name, ".elf"))
    };
}

/// An entry of [`SOURCES`].
macro_rules! source {
    ($name:literal) => {
        Source {
            name: $name,
            rv64: elf!(concat!("cva6/", $name)),
            arm: [elf!(concat!("arm/a64/", $name)), elf!(concat!("arm/t32/", $name))],
        }
    };
}

/// C sources that depend on no architecture, compiled for RV64, A64 and T32.
pub const SOURCES: [Source; 5] =
    [source!("branchy"), source!("crypto"), source!("interp"), source!("sort"), source!("strings")];
