//! Which A64, A32 and T32 instructions change the flow of control, and how.
//!
//! [`decode`] determines what a trace decoder needs of an instruction: its size, whether it ends a
//! block of the trace (a P0 instruction of ETMv4, a waypoint of PTM), and its target. Data processing,
//! loads and stores are all [`Kind::Other`] unless they write the program counter.
//!
//! ```
//! use hartrace_isa::arm::{Arch, Isa, Kind, Rules, decode};
//!
//! let rules = Rules { arch: Arch::V8, barriers: false, wfx: false };
//! let insn = decode(Isa::A64, &rules, 0x1000, 0x9400_0002); // bl 0x1008
//! assert_eq!(insn.kind, Kind::Direct { target: 0x1008, isa: Isa::A64 });
//! assert!(insn.link && !insn.conditional);
//! ```
//!
//! # Guarantees
//!
//! Nothing here panics or allocates, for any opcode. Undefined opcodes are [`Kind::Other`] or are
//! decoded like a similar defined opcode.

mod a32;
mod a64;
mod executed;
mod insn;
mod space;
mod t32;
#[cfg(test)]
mod tests;

pub use executed::{Executed, Place};
pub use insn::{Arch, Insn, Isa, Kind, Return, Rules};
pub use space::{Space, Spaces};

/// Decodes one instruction. For T32 the first half-word is in the upper half of the opcode; the lower
/// half is ignored for a short instruction.
#[inline]
pub fn decode(isa: Isa, rules: &Rules, address: u64, opcode: u32) -> Insn {
    match isa {
        Isa::A64 => a64::decode(rules, address, opcode),
        Isa::A32 => a32::decode(rules, address as u32, opcode),
        Isa::T32 => t32::decode(rules, address as u32, opcode),
    }
}

/// Whether a T32 instruction that starts with this half-word has a second one.
#[inline]
pub const fn is_wide(first: u16) -> bool {
    first & 0xf800 > 0xe000
}
