//! What can go wrong.

use thiserror::Error;

/// Why a bit stream is not the trace of a program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// More bits are needed than there are.
    #[error("the trace ends within a record; is it complete?")]
    Truncated,
    /// Bits are left over after the last instruction.
    #[error("{0} bits are left over; is the number of instructions right?")]
    LeftOver(u64),
    /// There is no code where the program is said to be.
    #[error("no code at {0:#x}; is this the program that was traced?")]
    NoCode(u64),
    /// A stream goes on behind an instruction that must have ended it.
    #[error("a stream goes past the jump at {0:#x}; is this the program that was traced?")]
    PastJump(u64),
    /// A stream ends in an instruction that cannot end one.
    #[error("a stream ends at {0:#x}, which is no branch; is this the program that was traced?")]
    NoBranch(u64),
    /// A stream starts elsewhere than where the one before leads.
    #[error("a stream starts at {found:#x}, but the one before leads to {expected:#x}")]
    Elsewhere {
        /// Where the stream before leads.
        expected: u64,
        /// Where this one starts.
        found: u64,
    },
    /// An index of a table or list that holds nothing there.
    #[error("entry {0} of a table is empty")]
    Empty(u64),
    /// A code that no compressor writes.
    #[error("{0}")]
    Malformed(&'static str),
    /// What a general compressor says.
    #[error("{0}")]
    Packed(String),
}

/// A bit stream that cannot be decompressed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("bit {bit}: {fault}")]
pub struct DecodeError {
    /// Where the field starts that could not be used.
    pub bit: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// Something that was executed and that a scheme cannot express, or not with this program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompressError {
    /// What retired is not in the program.
    #[error("instruction {instruction}: no code at {address:#x}; is this the program that ran?")]
    NoCode {
        /// Its number.
        instruction: u64,
        /// Its address.
        address: u64,
    },
    /// The program has an instruction of another length there.
    #[error("instruction {instruction}: the program has another one at {address:#x}")]
    OtherCode {
        /// Its number.
        instruction: u64,
        /// Its address.
        address: u64,
    },
    /// An address has bits set that the scheme leaves out.
    #[error("address {address:#x} is not a multiple of {}; try align = 1", 1_u64 << align)]
    Unaligned {
        /// The address.
        address: u64,
        /// Low bits that are left out.
        align: u32,
    },
    /// A configuration that makes no compressor.
    #[error("{0}")]
    Config(String),
}
