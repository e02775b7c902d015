use crate::arm::{Insn, Isa};

/// An instruction that a core has executed, and where the core continued.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Executed {
    /// Its address.
    pub address: u64,
    /// Its instruction set.
    pub isa: Isa,
    /// The decoded instruction.
    pub insn: Insn,
    /// Whether a branch was taken; always set for other instructions. An instruction whose condition
    /// fails counts as executed.
    pub taken: bool,
    /// Where the core continued, or would have continued without an exception.
    pub next: Place,
}

/// An address, and the instruction set there.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The address.
    pub address: u64,
    /// The instruction set.
    pub isa: Isa,
}

impl Executed {
    /// The address after it.
    #[inline]
    pub const fn end(&self) -> u64 {
        let end = self.address.wrapping_add(self.insn.size as u64);
        match self.isa {
            Isa::A64 => end,
            Isa::A32 | Isa::T32 => end & 0xffff_ffff,
        }
    }
}
