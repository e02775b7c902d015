//! Tables of programs, whatever they were compiled for.

use crate::description::At;
use crate::programs::{Code, Overlap, Programs, Unloadable};
use hartrace_arm_decoder::block_table::{Code as ArmCode, CodeError};
use hartrace_decoder::block_table::{BlockTable, WordLayout};
use hartrace_isa::Xlen;
use hartrace_isa::arm::{Arch, Rules};
use thiserror::Error;

/// Machines of ELF files: Arm and AArch64, little-endian.
const ARM: [[u8; 2]; 2] = [[40, 0], [183, 0]];

/// Why there is no table of a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The instruction sets of bare Arm code are not known.
    #[error("{0}: bare code with an Arm program, whose instruction sets are those of its symbols")]
    Bare(String),
    /// An Arm program cannot be used.
    #[error("{name}: {error}")]
    Arm {
        /// The program.
        name: String,
        /// Why.
        error: CodeError,
    },
    /// A RISC-V program cannot be loaded.
    #[error(transparent)]
    Riscv(#[from] Unloadable),
}

/// Returns the blocks of programs and bare code, all of the architecture of the first, and what overlaps.
/// Branches of all versions of the Arm architecture are known.
///
/// # Errors
///
/// If some of it cannot be used.
pub fn table_of(code: Vec<Code>) -> Result<(BlockTable, Vec<Overlap>), TableError> {
    let machine = code.first().and_then(|first| first.bytes.get(18..20));
    if machine.is_some_and(|machine| ARM.iter().any(|arm| arm == machine)) {
        return Ok((arm(code)?, Vec::new()));
    }
    let xlen = code.first().map_or(Xlen::Rv64, Code::xlen);
    let (programs, overlaps) = Programs::load(code, xlen)?;
    let symbols = programs.all_symbols();
    let functions = symbols.functions().into_iter();
    let roots: Vec<u64> = functions.map(|function| function.range.start).collect();
    Ok((BlockTable::build(programs.image(0), &roots, WordLayout::SPAN_BITS), overlaps))
}

fn arm(code: Vec<Code>) -> Result<BlockTable, TableError> {
    let mut all = ArmCode::new(Rules { arch: Arch::Later, barriers: false, wfx: false });
    for Code { name, bytes, at, .. } in code {
        let At::Bias(bias) = at else { return Err(TableError::Bare(name)) };
        all.add_elf(&bytes, bias).map_err(|error| TableError::Arm { name, error })?;
    }
    Ok(all.table(&[], WordLayout::SPAN_BITS))
}
