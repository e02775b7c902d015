//! Errors of compressors and decompressors.

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
    /// There is no code at an address of the trace.
    #[error("no code at {0:#x}; is this the program that was traced?")]
    NoCode(u64),
    /// A stream continues after an instruction that must have ended it.
    #[error("a stream goes past the jump at {0:#x}; is this the program that was traced?")]
    PastJump(u64),
    /// A stream ends in an instruction that cannot end one.
    #[error("a stream ends at {0:#x}, which is not a branch; is this the program that was traced?")]
    NoBranch(u64),
    /// A stream does not start where the previous one leads.
    #[error("a stream starts at {found:#x}, but the one before leads to {expected:#x}")]
    Elsewhere {
        /// Where the previous stream leads.
        expected: u64,
        /// Where this stream starts.
        found: u64,
    },
    /// An index refers to an empty entry of a table or list.
    #[error("entry {0} of a table is empty")]
    Empty(u64),
    /// A code that no compressor writes.
    #[error("{0}")]
    Malformed(&'static str),
    /// The error of a general-purpose compressor.
    #[error("{0}")]
    Packed(String),
}

/// A bit stream that cannot be decompressed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("bit {bit}: {fault}")]
pub struct DecodeError {
    /// Position of the field that could not be used.
    pub bit: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// An execution that a scheme cannot express, or cannot express with this program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompressError {
    /// A retired instruction is not in the program.
    #[error("instruction {instruction}: no code at {address:#x}; is this the program that ran?")]
    NoCode {
        /// The number of the instruction.
        instruction: u64,
        /// The address of the instruction.
        address: u64,
    },
    /// The program has an instruction of another length at this address.
    #[error("instruction {instruction}: the program has another one at {address:#x}")]
    OtherCode {
        /// The number of the instruction.
        instruction: u64,
        /// The address of the instruction.
        address: u64,
    },
    /// An address has bits set that the scheme leaves out.
    #[error("address {address:#x} is not a multiple of {}; try align = 1", 1_u64 << align)]
    Unaligned {
        /// The address.
        address: u64,
        /// Number of low bits that are left out.
        align: u32,
    },
    /// The configuration of a compressor is not valid.
    #[error("{0}")]
    Config(String),
}
