//! The instruction set simulator in place of the core.

use hartrace_cva6_sim::map;
use hartrace_iss::{Clock, Hart, HartConfig, Misaligned, Range};

/// A hart like the core, as far as programs without interrupts can observe.
pub(crate) fn hart(elf: &[u8]) -> Result<Hart, String> {
    let mut hart = Hart::new(HartConfig {
        memory: vec![Range { base: map::RAM, size: map::RAM_SIZE }],
        misaligned: Misaligned::Trap,
        // Time does not advance.
        clock: Clock::Instructions(u64::MAX),
        ..HartConfig::default()
    });
    hart.load_elf(elf).map_err(|error| error.to_string())?;
    Ok(hart)
}
