//! Call stacks: which functions are active while a program runs.
//!
//! [`Transfers`] is a sink that collects calls, returns and traps. [`CallStack`] follows them, and tells a [`Visit`]
//! which frames are entered and left, and after how many instructions. Frames are always left in the opposite order in
//! which they were entered.
//!
//! ```
//! use hartrace_decoder::calls::{CallStack, Frame, Functions, Transfers, Visit};
//! use hartrace_decoder::{Leaves, Run, Sink, StreamPos, Transfer};
//! use std::sync::Arc;
//!
//! #[derive(Default)]
//! struct Names(Vec<String>);
//!
//! impl Visit for Names {
//!     fn enter(&mut self, frame: &Frame, at: u64) {
//!         self.0.push(format!("{at}: enter {:#x}", frame.function));
//!     }
//!     fn leave(&mut self, frame: &Frame, at: u64) {
//!         self.0.push(format!("{at}: leave {:#x}", frame.function));
//!     }
//! }
//!
//! let functions = Arc::new(Functions::new([0x1000..0x1010, 0x2000..0x2010]));
//! let mut transfers = Transfers::new(functions.clone());
//! let at = StreamPos::default();
//! let run = |start, end, leaves, transfer| Run::new(start, &[0, 4], end, leaves).map(|run| run.with_transfer(transfer));
//! // Two instructions of the function at 0x1000, the second of which calls the one at 0x2000, which returns.
//! for run in [
//!     run(0x1000, 0x1008, Leaves::Jump, Transfer::Call),
//!     run(0x2000, 0x2008, Leaves::Indirect, Transfer::Return),
//!     run(0x1008, 0x1010, Leaves::No, Transfer::None),
//! ] {
//!     transfers.run(at, run.expect("two instructions"));
//! }
//! let mut stack = CallStack::new(functions, Names::default());
//! stack.replay(&transfers);
//! assert_eq!(
//!     stack.finish().0,
//!     ["0: enter 0x1000", "2: enter 0x2000", "4: leave 0x2000", "6: leave 0x1000"]
//! );
//! ```
//!
//! What a trace does not say is inferred:
//!
//! - What was active before the trace started, or before a gap, is not known. The first frame is [`Why::Unknown`], and
//!   when its function returns, so is the one it returns to.
//! - A jump into another function is a tail call: its frame takes the place of the present one, and returns to where
//!   that would have returned. Only [`Functions`] show this, so without symbols there are no tail calls.
//! - A return to none of the callers that are known, but into a function that is active, leaves everything that it
//!   called: `longjmp`, or an exception of C++.
//! - A trap after which the program simply goes on is a call of an operating system that is not traced. Any other trap
//!   is a frame, which a trap return leaves with everything above it. If that continues elsewhere, the
//!   interrupted stack is kept until something continues there: another thread of a small operating system runs.
//! - Inlined functions, if [`Functions`] know any, are entered and left with the instructions that belong to them. They
//!   stay active while what they call runs.
//! - Each context has its own stack, which waits while another one runs. Functions on it are suspended and resumed, neither
//!   left nor entered. Without contexts, threads that wait at the same address cannot be told apart.
//! - A function that is active, though the trace shows neither a call of it nor its first instruction, is resumed, not entered. So it is
//!   entered as often as the program arrives at its start.
//!
//! Memory is bounded: beyond [`MAX_DEPTH`] frames, calls are only counted. Of stacks that wait, as many are kept as have
//! [`MAX_WAITING`] frames together; those that have waited longest are left first, as if they had returned.

mod functions;
mod reduce;
mod repeat;
mod stack;
#[cfg(test)]
mod tests;
mod transfers;
mod unrolled;
mod waiting;

pub use functions::{Functions, Inlined};
pub use reduce::{Base, Reducer, Residue, Span};
pub use stack::CallStack;
pub use transfers::Transfers;
pub use unrolled::Unrolled;

use crate::time::Time;

/// Frames of a stack. Deeper calls are counted, but are not frames.
pub const MAX_DEPTH: usize = 1 << 12;

/// Frames of all stacks that wait for their contexts or threads to go on. Each stack counts as one more.
pub const MAX_WAITING: usize = 1 << 20;

/// Interrupted stacks of one context that are kept, to be found by where they continue.
pub const MAX_INTERRUPTED: usize = 1 << 8;

/// What a visitor notes of a function that waits.
pub type Note = [u64; 2];

/// An active function.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Where the function starts, or its copy if it was inlined; if no function is known there, the first of its instructions that was executed.
    pub function: u64,
    /// Where it returns to, if known. After a trap, the program may also continue after the instruction there.
    pub returns: Option<u64>,
    /// Why it is active.
    pub why: Why,
}

/// Why a function is active.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// It was active before the trace started, or before a gap.
    Unknown,
    /// It was called.
    Call,
    /// Another function, which had been called, jumped to it.
    TailCall,
    /// It was inlined, as number so many of [`Functions::with_inlined`], into the one that was entered before.
    Inlined(u32),
    /// It handles a trap.
    Trap {
        /// The cause.
        cause: u64,
        /// It is an interrupt.
        interrupt: bool,
    },
}

/// Learns which functions are entered and left.
///
/// A trace may say that a loop is repeated billions of times. A visitor learns of every turn, unless it limits that with
/// [`Visit::ONE_BY_ONE`].
pub trait Visit {
    /// About how many changes of the call stack to report one by one, when turns of a loop are repeated. Of the rest, one
    /// turn is reported between [`Visit::begin_turns`] and [`Visit::end_turns`], or a few turns if only these lead
    /// back to the same call stack.
    const ONE_BY_ONE: u64 = u64::MAX;

    /// A function was entered after `at` instructions.
    fn enter(&mut self, frame: &Frame, at: u64);

    /// A function was left after `at` instructions. It is the one that was entered last and has not been left.
    fn leave(&mut self, frame: &Frame, at: u64);

    /// A function waits, after `at` instructions: another context or thread runs. It is the one that was entered or resumed last.
    /// What this returns is passed to [`Visit::resume`].
    fn suspend(&mut self, frame: &Frame, at: u64) -> Note {
        self.leave(frame, at);
        Note::default()
    }

    /// A function is active, though it was not called after `at` instructions: it has waited, with a note; or it was active
    /// before that part of the trace which is known. Every function that waits is resumed, if only to be left at
    /// the end of the trace.
    fn resume(&mut self, frame: &Frame, at: u64, note: Option<Note>) {
        let _ = note;
        self.enter(frame, at);
    }

    /// Everything up to [`Visit::end_turns`] happens `times` times, at least twice, the first time after `at`
    /// instructions. All but the first execute `more` instructions together. The same functions are active before and after
    /// each of them.
    fn begin_turns(&mut self, at: u64, times: u64, more: u64) {
        let _ = (at, times, more);
    }

    /// What happens several times ends, the first time after `at` instructions. The trace continues with the instruction after
    /// the last time.
    fn end_turns(&mut self, at: u64) {
        let _ = at;
    }

    /// Another context runs, after `at` instructions. All functions have been suspended, and those of that context are
    /// resumed next.
    fn context(&mut self, context: u64, at: u64) {
        let _ = (context, at);
    }

    /// A clock was read after `at` instructions.
    fn time(&mut self, time: Time, at: u64) {
        let _ = (time, at);
    }

    /// Tracing started, or went on, after `at` instructions.
    fn on(&mut self, at: u64) {
        let _ = at;
    }

    /// A trigger of the trace unit fired, after `at` instructions.
    fn trigger(&mut self, at: u64) {
        let _ = at;
    }

    /// Part of the trace is missing, after `at` instructions. All functions have been left.
    fn gap(&mut self, at: u64) {
        let _ = at;
    }
}
