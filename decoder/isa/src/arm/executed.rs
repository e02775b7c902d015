use crate::arm::{Insn, Isa};

/// An instruction that a core has executed, and where it went.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Executed {
    /// Its address.
    pub address: u64,
    /// Its instruction set.
    pub isa: Isa,
    /// What it is.
    pub insn: Insn,
    /// A branch was taken; of other instructions this is set. One that does not pass its condition is
    /// executed all the same.
    pub taken: bool,
    /// Where the core went on, or would have without an exception.
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
    /// The address behind it.
    #[inline]
    pub const fn end(&self) -> u64 {
        let end = self.address.wrapping_add(self.insn.size as u64);
        match self.isa {
            Isa::A64 => end,
            Isa::A32 | Isa::T32 => end & 0xffff_ffff,
        }
    }
}
