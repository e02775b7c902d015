//! Reasons why execution stops: at one instruction ([`Stop`]), or for the whole run
//! ([`Exit`]).

use crate::op::Op;
use crate::privileged::cause;
use crate::step::Trap;

/// Why execution does not simply continue with the next instruction. Addresses are those at
/// which it continues.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It does not retire.
    Trap { cause: u64, tval: u64 },
    /// It retires, and interrupts or devices may have changed.
    Look(u64),
    /// Interrupts or devices may have changed before it; it has not executed yet.
    LookFirst,
    /// It retires and jumps to itself.
    Spin(u64),
    /// It retires and waits for an interrupt.
    Wait(u64),
}

impl Stop {
    /// The trap of an instruction that does not exist, or is not allowed in this state.
    pub(crate) fn illegal(op: Op) -> Self {
        Self::Trap { cause: cause::ILLEGAL, tval: op.encoding.into() }
    }
}

/// Why [`Hart::run`](crate::Hart::run) returned.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Exit {
    /// The program ended with this code.
    Exited(i32),
    /// A signal ended the program: one that it sent itself, or that stopped a run with [`Hart::share`](crate::Hart::share).
    Killed(i32),
    /// The limit of steps was reached; run again to continue.
    Limit,
    /// The program waits or jumps to itself, and no interrupt can change that.
    Stuck {
        /// Address of the instruction.
        pc: u64,
    },
    /// All threads of a Linux program wait, and nothing can wake any of them.
    Deadlock {
        /// Address of the system call that made the last of them wait.
        pc: u64,
        /// Number of threads.
        threads: u64,
    },
    /// A Linux program wanted another process (`fork`, `vfork`, `posix_spawn`), which does not exist here.
    NewProcess {
        /// Address of the system call.
        pc: u64,
    },
    /// An instruction that this hart does not have and the program has no handler for.
    Unsupported {
        /// Address of the instruction.
        pc: u64,
        /// The instruction.
        encoding: u32,
    },
    /// Another exception that has no handler.
    Fault {
        /// Address of the instruction.
        pc: u64,
        /// Exception code.
        cause: u64,
        /// Trap value.
        tval: u64,
    },
}

/// An exception that was taken.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Last {
    pub(crate) trap: Trap,
    pub(crate) encoding: u32,
    /// Number of instructions that had retired.
    pub(crate) retired: u64,
}
