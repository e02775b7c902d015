//! Control-flow classification of RISC-V instructions.
//!
//! A trace decoder replays a program from its image. For every instruction it needs the length,
//! where the program continues, the effect on the call stack, and, for jumps that can be inferred
//! from the instruction before them, the constant that is loaded. [`decode`] returns this
//! information, and nothing else, for every encoding of RV32GC and RV64GC, Zcb, Zcmp, Zcmt, the
//! hypervisor extension and the privileged architecture. Every instruction that continues with the
//! next one is [`Kind::Plain`]. This includes reserved and unknown encodings, since an instruction
//! that does not exist is traced as the exception it raises.
//!
//! It is meant to be called once for each instruction of an image, not once for each instruction of
//! a trace.
//!
//! # Guarantees
//!
//! Nothing here panics or allocates, for any input. [`Insn`] is at most 16 bytes.
//!
//! ```
//! use hartrace_isa::{Isa, Kind, Link, Xlen, decode};
//!
//! let isa = Isa::new(Xlen::Rv64);
//! let jal = decode(isa, 0x0080_00ef).ok_or("longer than 4 bytes")?; // jal ra, .+8
//! assert_eq!(jal.size, 4);
//! assert_eq!(jal.kind, Kind::Jump { offset: 8, link: Link::Call });
//! assert_eq!(jal.target(isa.xlen, 0x8000_0000), Some(0x8000_0008));
//! assert_eq!(jal.itype(true), 9);
//!
//! let ret = decode(isa, 0x8082).ok_or("longer than 4 bytes")?; // the upper half is not looked at
//! assert_eq!(ret.size, 2);
//! assert_eq!(ret.kind, Kind::IndirectJump { rs1: 1, offset: 0, link: Link::Return });
//! assert!(ret.is_uninferable());
//! # Ok::<(), &str>(())
//! ```
//!
//! Spec: E-Trace 2.0 4.1.1 "Jump classification and target inference"; encodings from the RISC-V
//! unprivileged and privileged manuals.
#![no_std]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

#[cfg(test)]
extern crate std;

mod arch;
pub mod arm;
mod insn;
mod narrow;
mod wide;

pub use arch::Arch;
pub use hartrace_etrace::ingress::Xlen;
pub use insn::{Insn, Kind, Link};

/// Which encodings exist, where one encoding has several meanings.
///
/// All other encodings are always recognised, including returns from trap handlers of every
/// privilege.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Isa {
    /// Base instruction set.
    pub xlen: Xlen,
    /// Zcmp: `cm.popret` and `cm.popretz` exist; their encodings are `c.fsdsp` otherwise.
    pub zcmp: bool,
    /// Zcmt: `cm.jt` and `cm.jalt` exist; their encodings are `c.fsdsp` otherwise.
    pub zcmt: bool,
}

impl Isa {
    /// A hart without Zcmp and Zcmt.
    pub const fn new(xlen: Xlen) -> Self {
        Self { xlen, zcmp: false, zcmt: false }
    }

    /// The same with or without Zcmp.
    #[must_use]
    pub const fn with_zcmp(self, zcmp: bool) -> Self {
        Self { zcmp, ..self }
    }

    /// The same with or without Zcmt.
    #[must_use]
    pub const fn with_zcmt(self, zcmt: bool) -> Self {
        Self { zcmt, ..self }
    }
}

/// Length in bytes, 2 or 4, of the instruction that starts with this half-word; `None` if it is
/// longer, which no instruction of a known extension is.
#[inline]
pub const fn length(low: u16) -> Option<u8> {
    match low & 0x1f {
        half if half & 3 != 3 => Some(2),
        0x1f => None,
        _ => Some(4),
    }
}

/// Classifies the instruction whose first byte is the lowest of `word`.
///
/// For an instruction of 2 bytes the upper half of `word` is ignored. `None` if the instruction is
/// longer than 4 bytes; see [`length`].
#[inline]
pub const fn decode(isa: Isa, word: u32) -> Option<Insn> {
    match length(word as u16) {
        Some(2) => Some(Insn { size: 2, kind: narrow::kind(isa, word as u16) }),
        Some(size) => Some(Insn { size, kind: wide::kind(word) }),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        assert_eq!(length(0x0000), Some(2));
        assert_eq!(length(0x8082), Some(2));
        assert_eq!(length(0x0073), Some(4));
        assert_eq!(length(0x001f), None); // 48 bits
        assert_eq!(length(0x003f), None); // 64 bits
        assert_eq!(length(0xffff), None);
        assert_eq!(decode(Isa::new(Xlen::Rv32), 0xffff_ffff), None);
    }

    #[test]
    fn upper_half_of_a_narrow_instruction_is_ignored() {
        let isa = Isa::new(Xlen::Rv64);
        for half in (0..=0xffff).filter(|half| half & 3 != 3) {
            assert_eq!(decode(isa, half), decode(isa, half | 0xabcd_0000));
        }
    }
}
