//! The programs that are bundled with the command: nothing else is needed to try it.

use hartrace_compressors::comparison::Source;

macro_rules! elf {
    ($name:expr) => {
        include_bytes!(concat!("../../tests/programs/elf/", $name, ".elf"))
    };
}

/// Programs for our own hart: name and ELF file.
pub(crate) const PROGRAMS: [(&str, &[u8]); 12] = [
    ("branchy", elf!("branchy")),
    ("calls", elf!("calls")),
    ("interp", elf!("interp")),
    ("strings", elf!("strings")),
    ("sort", elf!("sort")),
    ("crypto", elf!("crypto")),
    ("float", elf!("float")),
    ("interrupts", elf!("interrupts")),
    ("interrupts-rv32", elf!("interrupts-rv32")),
    ("user", elf!("user")),
    ("linux", elf!("linux")),
    ("long", elf!("long")),
];

/// The programs that compute, built for CVA6.
pub(crate) const CVA6: [(&str, &[u8]); 6] = [
    ("branchy", elf!("cva6/branchy")),
    ("calls", elf!("cva6/calls")),
    ("crypto", elf!("cva6/crypto")),
    ("interp", elf!("cva6/interp")),
    ("sort", elf!("cva6/sort")),
    ("strings", elf!("cva6/strings")),
];

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
pub(crate) const SOURCES: [Source; 5] =
    [source!("branchy"), source!("crypto"), source!("interp"), source!("sort"), source!("strings")];
