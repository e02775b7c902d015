//! Programs for the CVA6 and its platform: those of `tests/programs/elf/cva6`, and random ones.

use crate::random::{Target, generate};
use std::path::Path;

/// Start of memory.
const RAM: u64 = 0x8000_0000;

/// Address from which the monitor reads the mode in which to enter a random program.
const MODE: u64 = 0x8000_fff8;

/// Returns a bundled program.
pub fn elf(name: &str) -> Result<Vec<u8>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/elf/cva6");
    let path = folder.join(format!("{name}.elf"));
    std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Memory contents at the start of a random program.
#[derive(Clone, Debug)]
pub struct Monitored {
    /// The monitor on which it runs.
    pub monitor: Vec<u8>,
    /// The program, and the mode in which to enter it.
    pub memory: Vec<(u64, Vec<u8>)>,
}

/// Creates a random program in machine, supervisor or user mode.
pub fn monitored(seed: u64) -> Result<Monitored, String> {
    let mut memory = Vec::from(generate(Target::bare(RAM), seed).segments);
    let mode = [3u64, 1, 0][(seed % 3) as usize];
    memory.push((MODE, mode.to_le_bytes().to_vec()));
    Ok(Monitored { monitor: elf("monitor")?, memory })
}
