use crate::walk::body;
use crate::walk::layout;
use crate::walk::program::Program;
use crate::walk::regroup;
use crate::walk::shape::Shape;
use crate::walk::walker::Walker;
use fastrand::Rng;
use hartrace_etrace::ingress::{Cycle, Flavour, Retired};

/// A program and one way through it.
///
/// # Rows
///
/// Each row is one retired instruction (`iretire` 1 or 2), or a trap in its place (`iretire` 0,
/// itype 1 or 2, `iaddr` the address of the instruction that did not retire, `ilastsize` 0). With
/// [`Shape::ecall_retires`] the rows of ecall, ebreak and c.ebreak are both: `iretire` not 0 and
/// itype 1.
///
/// The next row is at an address that the instruction allows. The row after a trap is at
/// [`Program::handler`]; after an instruction that is not a jump, a taken branch or a trap return
/// it is at `next_address()`; after `reset` it is at [`Program::entry`], in machine mode. A trap
/// row carries the privilege before the trap, an xRET row the one before the return.
///
/// `sijump` is set exactly on uninferable jumps whose rs1 is the rd of a lui, auipc or c.lui in the
/// row directly before, traps included; then the next row is at the target those two compute.
/// Trace triggers and halts do not interrupt a pair.
///
/// # What a trace can express
///
/// An endless loop of inferable jumps has no iteration count in a trace. So no address retires
/// again before a conditional branch, an uninferable jump without `sijump` (returns included), a
/// trap return, a trap or a reset: from one visit up to the row before the next, at least one row
/// is one of these. With implicit returns, too, every loop is counted: inferable jumps and calls
/// only lead forward, or directly follow a branch that was not taken.
///
/// # Well-behaved walks
///
/// With [`Shape::well_behaved`], follow the rows with a stack of return addresses: a call (itype 8
/// or 9) pushes its `next_address()`, a return (13) pops, a trap saves the stack and starts an empty
/// one, a trap return restores it. Then
///
/// * every return that finds an entry goes to it; with an empty stack any target may follow;
/// * a handler's trap return only executes when the handler's own stack is empty;
/// * a trap return that starts something new ([`Shape::reschedules`], and at boot) leaves an empty
///   stack, and so does a reset;
/// * co-routine swaps (12) leave the stack alone: after a swap, no return uses an entry that was on
///   the stack, and no return executes at that height, before a trap has happened. It therefore
///   does not matter whether an encoder ignores the swap, pops and pushes, or only pushes.
///
/// Every encoder whose return stack or counter is emptied by traps predicts such a walk correctly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The seed that produced it.
    pub seed: u64,
    /// The shape that produced it.
    pub shape: Shape,
    /// The code.
    pub program: Program,
    /// The rows that the hart reports, each one instruction or one trap.
    pub rows: Vec<Retired>,
}

/// Builds a random program and walks through it. The same seed and shape give the same walk.
///
/// Never panics and always terminates, whatever the shape.
pub fn generate(seed: u64, shape: &Shape) -> Walk {
    let mut rng = Rng::with_seed(seed);
    let plan = body::generate(shape, &mut rng);
    let (program, code) = layout::lay_out(plan, shape);
    let rows = Walker::new(shape, &code, &mut rng).run();
    Walk { seed, shape: shape.clone(), program, rows }
}

impl Walk {
    /// A walk of a [random shape](Shape::random).
    pub fn random(seed: u64) -> Self {
        generate(seed, &Shape::random(seed))
    }

    /// Addresses of all retired instructions, in order, as a decoder must reconstruct them.
    pub fn expected_pcs(&self) -> impl Iterator<Item = u64> + '_ {
        self.rows.iter().filter(|row| row.iretire > 0).map(|row| row.iaddr)
    }

    /// The rows as reported by a hart with block retirement: see [`Self::blocks_within`], with
    /// blocks of at most 31 half-words.
    pub fn blocks(&self, seed: u64, max_lanes: usize) -> Vec<Retired> {
        self.blocks_within(seed, max_lanes, 31)
    }

    /// The rows merged at random into blocks of at most `halfwords` half-words, with up to
    /// `max_lanes` blocks in one cycle.
    ///
    /// Contiguous instructions of the same privilege, context and time make a block; only the last
    /// one is special. A trap becomes part of the block before it or stays alone. Triggers stay at
    /// the instruction they belong to: on at the first of a cycle, off, halt and reset at the last,
    /// notify at the last of a block. The younger blocks of a cycle have `cycles` 0, the oldest has
    /// the sum.
    pub fn blocks_within(&self, seed: u64, max_lanes: usize, halfwords: u32) -> Vec<Retired> {
        regroup::regroup(&self.rows, &self.program, seed, max_lanes, halfwords)
    }

    /// [`Self::blocks`] as cycles of a port with `N` lanes; rows that took more than one clock are
    /// preceded by idle cycles. Empty for `N` 0.
    pub fn cycles<const N: usize>(&self) -> Vec<Cycle<N>> {
        self.packed(31, Flavour::Block)
    }

    /// The same for single retirement: one instruction per lane.
    pub fn single_cycles<const N: usize>(&self) -> Vec<Cycle<N>> {
        self.packed(0, Flavour::Single)
    }

    fn packed<const N: usize>(&self, halfwords: u32, flavour: Flavour) -> Vec<Cycle<N>> {
        if N == 0 {
            return Vec::new();
        }
        regroup::pack(&self.blocks_within(self.seed, N, halfwords), flavour)
    }
}
