//! Programs that are bundled with this crate: nothing else is needed to try it.

macro_rules! elf {
    ($name:literal) => {
        include_bytes!(concat!("../../programs/", $name, ".elf"))
    };
}

/// Programs for the simulated hart: name and ELF file.
pub const PROGRAMS: [(&str, &[u8]); 12] = [
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
pub const CVA6: [(&str, &[u8]); 6] = [
    ("branchy", elf!("cva6/branchy")),
    ("calls", elf!("cva6/calls")),
    ("crypto", elf!("cva6/crypto")),
    ("interp", elf!("cva6/interp")),
    ("sort", elf!("cva6/sort")),
    ("strings", elf!("cva6/strings")),
];
