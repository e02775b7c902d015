//! Walks through programs.

use crate::program::{Does, Program};
use fastrand::Rng;
use hartrace_arm_isa::Isa;

/// An instruction that was executed.
#[derive(Copy, Clone, Debug)]
pub struct Executed {
    /// Its number in the program.
    pub number: usize,
    /// A branch was taken; other instructions are.
    pub taken: bool,
    /// The instruction that was executed next, or would have been without an exception.
    pub next: usize,
}

/// What happened.
#[derive(Copy, Clone, Debug)]
pub enum Step {
    /// An instruction was executed.
    Executed(Executed),
    /// An exception was taken before this instruction, which was not executed.
    Exception {
        /// The instruction to return to.
        before: usize,
        /// Its number.
        number: u16,
    },
    /// Time, which grows.
    Time(u64),
}

impl Program {
    /// A walk of `len` instructions, from one that is returned.
    pub fn walk(&self, rng: &mut Rng, len: usize) -> (usize, Vec<Step>) {
        let start = rng.usize(0..self.code.len());
        let (mut at, mut steps) = (start, Vec::new());
        let (mut calls, mut exceptions) = (Vec::new(), Vec::new());
        let mut time = rng.u64(0..1 << 40);
        for _ in 0..len {
            if rng.u8(0..40) == 0 {
                let number = if rng.bool() { 14 } else { 15 };
                steps.push(Step::Exception { before: at, number });
                exceptions.push(at);
                at = self.handler;
                continue;
            }
            if rng.u8(0..60) == 0 {
                let bits = rng.u32(1..30);
                time += rng.u64(0..1 << bits);
                steps.push(Step::Time(time));
            }
            let following = (at + 1) % self.code.len();
            let last = at + 1 == self.code.len();
            let somewhere = rng.usize(0..self.code.len());
            let (taken, next) = match self.code[at].does {
                // The program ends here: the walk has to, too.
                Does::Nothing | Does::Isb if last => break,
                Does::Nothing | Does::Isb => (true, following),
                Does::Branch { conditional: true, .. } if !last && rng.bool() => (false, following),
                Does::Branch { to, .. } => (true, to),
                Does::Jump { .. } => (true, somewhere),
                Does::Return => match calls.pop() {
                    Some(back) if rng.u8(0..10) > 0 => (true, back),
                    _ => (true, somewhere),
                },
                Does::ExceptionReturn => (true, exceptions.pop().unwrap_or(somewhere)),
            };
            let links = matches!(
                self.code[at].does,
                Does::Branch { link: true, .. } | Does::Jump { link: true }
            );
            if links && !last {
                calls.push(following);
            }
            steps.push(Step::Executed(Executed { number: at, taken, next }));
            at = next;
        }
        (start, steps)
    }

    /// Whether an instruction is one that trace tells the outcome of.
    pub fn is_traced(&self, number: usize) -> bool {
        self.code[number].does != Does::Nothing
    }
}

/// Instructions that a decoder reports in one: address of the first, address behind the last, how
/// many, whether the last was taken.
pub type Expected = (u64, u64, u32, bool);

/// What a decoder must report of a walk. What comes behind the last instruction whose outcome is told
/// is not in the trace.
pub fn expected(program: &Program, steps: &[Step]) -> Vec<Expected> {
    let mut all = Vec::new();
    let mut open: Option<(u64, u64, u32)> = None;
    for step in steps {
        match *step {
            Step::Executed(Executed { number, taken, .. }) => {
                let code = program.code[number];
                let end = code.address + u64::from(code.size);
                let (start, _, count) = open.unwrap_or((code.address, end, 0));
                open = Some((start, end, count + 1));
                if program.is_traced(number) {
                    all.push((start, end, count + 1, taken));
                    open = None;
                }
            }
            Step::Exception { .. } => {
                if let Some((start, end, count)) = open.take() {
                    all.push((start, end, count, true));
                }
            }
            Step::Time(_) => {}
        }
    }
    all
}

/// The instruction set bit of AArch32 addresses.
pub(crate) fn is_thumb(isa: Isa) -> bool {
    isa == Isa::T32
}
