//! Extensions that a program needs and the core lacks.

use super::SocError;
use hartrace_decoder::{elf_arch, elf_float};
use hartrace_isa::{Arch, Xlen};

/// The extensions of the core in its configuration, `rtl/cva6_config_pkg.sv`.
const CORE: [&str; 12] =
    ["i", "m", "a", "c", "zicsr", "zifencei", "zicntr", "zihpm", "zmmul", "zaamo", "zalrsc", "zca"];

/// Checks that the core has every extension that a program was built for. A program whose toolchain does not
/// list them may still need floating-point registers for its calling convention.
///
/// # Errors
///
/// [`SocError::Extensions`] if it lacks one of them.
pub fn check_extensions(elf: &[u8]) -> Result<(), SocError> {
    let arch = elf_arch(elf).and_then(Arch::new);
    let listed = arch.filter(|arch| arch.xlen() == Xlen::Rv64);
    let listed = listed.into_iter().flat_map(|arch| arch.extensions());
    let mut lacks: Vec<&str> = listed.chain(elf_float(elf)).collect();
    lacks.retain(|extension| !CORE.contains(extension));
    lacks.sort_unstable();
    lacks.dedup();
    match lacks.as_slice() {
        [] => Ok(()),
        _ => Err(SocError::Extensions(lacks.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_for_other_cores() {
        let fits = include_bytes!("../../../../tests/programs/elf/cva6/calls.elf");
        assert!(check_extensions(fits).is_ok());
        let general = include_bytes!("../../../../tests/programs/elf/calls.elf");
        let error = check_extensions(general).unwrap_err().to_string();
        assert_eq!(error, "the program is built for extensions that the core lacks: d, f");
        // Not an ELF file: that is reported elsewhere.
        assert!(check_extensions(b"").is_ok());
    }
}
