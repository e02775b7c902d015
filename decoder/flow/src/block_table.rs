//! The code of a program as a table of blocks, for a walker in hardware.
//!
//! A [`BlockTable`] has one [`Entry`] for every block: consecutive instructions, only the last of which may change
//! the flow of control. Entries are in the order of addresses and do not overlap, and a place without code is an
//! entry too. So the block after entry *i* in memory is entry *i* + 1, and every address belongs to exactly one entry.
//! [`BlockTable::words`] packs the entries into words of a memory, as [`WordLayout`] says.
//!
//! A table is built from any [`Code`]: an [`Image`](crate::Image) of RISC-V is some, and so is that of other instruction
//! sets in other crates.

mod build;
mod code;
#[cfg(test)]
mod tests;
mod words;

pub use code::{Code, Step};
pub use words::{Summary, TableError, WordLayout};

use std::fmt;

/// How a block ends: the number is the one in the table.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ends {
    /// With the next instruction.
    Next = 0,
    /// With a conditional branch.
    Branch = 1,
    /// With a jump whose target is in the code.
    Jump = 2,
    /// With such a jump that is also a call.
    Call = 3,
    /// With a jump whose target is not in the code, or a return from a trap.
    Indirect = 4,
    /// With such a jump that is also a call.
    IndirectCall = 5,
    /// With a return.
    Return = 6,
    /// There is no code here.
    NoCode = 7,
}

impl Ends {
    /// All of them, by number.
    pub const ALL: [Self; 8] = [
        Self::Next,
        Self::Branch,
        Self::Jump,
        Self::Call,
        Self::Indirect,
        Self::IndirectCall,
        Self::Return,
        Self::NoCode,
    ];

    /// Bits of the number.
    pub const BITS: u32 = 3;

    /// The name, for listings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Branch => "branch",
            Self::Jump => "jump",
            Self::Call => "call",
            Self::Indirect => "indirect jump",
            Self::IndirectCall => "indirect call",
            Self::Return => "return",
            Self::NoCode => "no code",
        }
    }
}

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A block of the program, or a place without code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Address of the first instruction.
    pub start: u64,
    /// Half-words from the first instruction to the last.
    pub span: u32,
    /// The last instruction has 4 bytes, not 2.
    pub wide: bool,
    /// How the block ends.
    pub ends: Ends,
    /// The register of the indirect jump was loaded with a constant by the instruction before it: its target is
    /// known where both are executed one after the other.
    pub sequential: bool,
    /// Arm: the trace has an outcome for the last instruction, and the next one may follow it. This is a jump with a
    /// condition or, at the end of a block that ends with the next instruction, one that is traced like a branch: ISB.
    pub conditional: bool,
    /// The entry of the direct target, or that of the sequentially inferred one; otherwise 0.
    pub target: u32,
}

impl Entry {
    /// Address of the last instruction.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.start.wrapping_add(u64::from(self.span).wrapping_mul(2))
    }

    /// Address after the last instruction.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.last().wrapping_add(if self.wide { 4 } else { 2 })
    }
}

/// All blocks of a program, by address. The last entry is a place without code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTable {
    entries: Vec<Entry>,
}

impl BlockTable {
    /// The entries, by address.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The number of the entry that an address belongs to; `None` before the first one.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<usize> {
        self.entries.partition_point(|entry| entry.start <= address).checked_sub(1)
    }

    /// The address that starts are counted from.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.entries.first().map_or(0, |entry| entry.start)
    }
}
