//! What a walker says.

use hartrace_decoder::block_table::Ends;

/// An output of a walker. At most one block leaves it in a cycle; nothing can make it wait.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The name of the port.
    pub name: &'static str,
    /// Its width.
    pub width: u32,
    /// What it is.
    pub doc: &'static str,
}

/// Why there is a gap: the number is the one at `cause_o`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Records found the FIFO full.
    Lost = 1,
    /// The trace unit lost trace.
    TraceLost = 2,
    /// The decoder could not read a packet.
    Malformed = 3,
    /// A packet came before the first synchronisation.
    NotSynchronised = 4,
    /// There is no code at an address that was sent or reached.
    NoCode = 5,
    /// A branch was reached whose outcome was not sent.
    NoOutcome = 6,
    /// A jump was reached whose target was not sent.
    UnexpectedJump = 7,
    /// The address was reached with branches left over.
    BranchesLeft = 8,
    /// An outcome was sent for an instruction that is no branch.
    NotABranch = 9,
    /// The address is inside the last instruction of a block.
    InsideInstruction = 10,
    /// The program goes on and on without reaching the address.
    NoProgress = 11,
    /// The address depends on one that is not known: that of a trap handler, or an empty entry of the jump target
    /// cache; or the address of an exception was not sent.
    UnknownAddress = 12,
    /// A packet that the walker does not follow: of speculation, conditional instructions or data, or a Q element.
    Unsupported = 13,
    /// A branch that is always taken was not: the program is another one.
    NotTaken = 14,
    /// A return was reached without its target, and no call is known.
    NoReturn = 15,
}

impl Cause {
    /// All of them, by number.
    pub const ALL: [Self; 15] = [
        Self::Lost,
        Self::TraceLost,
        Self::Malformed,
        Self::NotSynchronised,
        Self::NoCode,
        Self::NoOutcome,
        Self::UnexpectedJump,
        Self::BranchesLeft,
        Self::NotABranch,
        Self::InsideInstruction,
        Self::NoProgress,
        Self::UnknownAddress,
        Self::Unsupported,
        Self::NotTaken,
        Self::NoReturn,
    ];

    /// Bits of the number.
    pub const BITS: u32 = 4;
}

/// The outputs of a walker for addresses of this width, in the order of its ports.
#[must_use]
pub fn outputs(address_bits: u32) -> Vec<Output> {
    let output = |name, width, doc| Output { name, width, doc };
    vec![
        output("valid_o", 1, "instructions were executed, at consecutive addresses"),
        output("start_o", address_bits, "address of the first one"),
        output("last_o", address_bits, "address of the last one"),
        output(
            "ends_o",
            Ends::BITS,
            "what the last one is: 0 none of these, 1 branch, 2 jump, 3 call, 4 indirect jump, 5 indirect call, 6 return",
        ),
        output("taken_o", 1, "the last one is a jump, or a branch that was taken"),
        output(
            "faulted_o",
            1,
            "the last one was not executed, the others were: it could not be fetched, or an exception came first",
        ),
        output("next_valid_o", 1, "the next instruction follows without a trap, a gap or an end"),
        output("next_o", address_bits, "its address"),
        output("gap_o", 1, "after these instructions, if there are any, some are missing"),
        output("cause_o", Cause::BITS, "why"),
        output("busy_o", 1, "records wait, or the walker follows one"),
        output(
            "lost_o",
            LOST_BITS,
            "records that found the FIFO full since reset; stays at the largest number",
        ),
    ]
}

/// Bits of the counter of lost records.
pub const LOST_BITS: u32 = 32;
