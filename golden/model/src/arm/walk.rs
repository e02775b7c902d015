//! Walks through programs.

use crate::arm::expected::{Expected, Gap, Ranges};
use crate::arm::program::{Does, Program};
use fastrand::Rng;
use hartrace_isa::arm::{Executed, Insn, Isa, Kind, Place, Return};

/// An instruction that was executed.
#[derive(Copy, Clone, Debug)]
pub struct Walked {
    /// Its number in the program.
    pub number: usize,
    /// Whether it was taken; always true for instructions other than branches.
    pub taken: bool,
    /// The instruction that was executed next, or would have been without an exception.
    pub next: usize,
}

/// A step of a walk.
#[derive(Copy, Clone, Debug)]
pub enum Step {
    /// An instruction was executed.
    Executed(Walked),
    /// An exception was taken before this instruction, which was not executed.
    Exception {
        /// The instruction to return to.
        before: usize,
        /// Its number.
        number: u16,
    },
    /// The time, which never decreases.
    Time(u64),
    /// The core waits for this number of cycles.
    Stall(u32),
    /// The core switches to another process.
    Context(Ids),
    /// The trace unit loses what was executed since the last outcome.
    Overflow,
    /// The next `count` instructions are not reported one by one (Q): only their number is, or not
    /// even that.
    Unknown {
        /// Number of instructions.
        count: u32,
        /// Whether the number is reported.
        counted: bool,
    },
}

/// The running process: its context identifier and its virtual one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// Context identifier.
    pub context: u32,
    /// Virtual context identifier.
    pub vmid: u32,
}

/// Further events on a walk.
#[derive(Copy, Clone, Debug, Default)]
pub struct Disturbances {
    /// Whether processes change.
    pub contexts: bool,
    /// Whether trace is lost.
    pub overflows: bool,
    /// Whether some instructions are not reported.
    pub unknown: bool,
}

impl Program {
    /// Walks through up to `len` instructions. Returns the first instruction and the steps.
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
                // The program ends here, so the walk must end too.
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
            steps.push(Step::Executed(Walked { number: at, taken, next }));
            at = next;
        }
        (start, steps)
    }

    /// The same walk with further events, where they are possible: directly after an instruction
    /// whose outcome is reported, and before one that is executed.
    pub fn disturb(&self, rng: &mut Rng, steps: &[Step], what: &Disturbances) -> Vec<Step> {
        let (mut all, mut quiet) = (Vec::new(), 0);
        for (at, step) in steps.iter().enumerate() {
            let behind =
                matches!(all.last(), Some(Step::Executed(last)) if self.is_traced(last.number));
            let run = steps[at..].iter().take_while(|step| matches!(step, Step::Executed(_)));
            let run = run.take(12).count();
            if quiet == 0 && behind && run > 0 {
                if rng.u8(0..6) == 0 {
                    let bits = rng.u32(0..22);
                    all.push(Step::Stall(rng.u32(0..1 << bits)));
                }
                if what.contexts && rng.u8(0..20) == 0 {
                    all.push(Step::Context(Ids { context: rng.u32(0..4), vmid: rng.u32(0..3) }));
                } else if what.overflows && rng.u8(0..40) == 0 {
                    all.push(Step::Overflow);
                } else if what.unknown && rng.u8(0..10) == 0 {
                    quiet = rng.usize(1..=run);
                    all.push(Step::Unknown { count: quiet as u32, counted: rng.u8(0..4) > 0 });
                }
            }
            quiet = quiet.saturating_sub(1);
            all.push(*step);
        }
        all
    }

    /// Whether the trace reports the outcome of an instruction.
    pub fn is_traced(&self, number: usize) -> bool {
        self.code[number].does != Does::Nothing
    }

    /// Address and instruction set of an instruction.
    pub fn place(&self, number: usize) -> Place {
        let code = self.code[number];
        Place { address: code.address, isa: code.isa }
    }

    /// An instruction as a trace unit sees it.
    pub fn executed(&self, walked: &Walked) -> Executed {
        let code = self.code[walked.number];
        let (mut link, mut conditional, mut returns) = (false, false, Return::No);
        let kind = match code.does {
            Does::Nothing => Kind::Other,
            Does::Isb => Kind::Isb,
            Does::Branch { to, conditional: has_condition, link: links } => {
                (link, conditional) = (links, has_condition);
                let Place { address: target, isa } = self.place(to);
                Kind::Direct { target, isa }
            }
            Does::Jump { link: links } => {
                link = links;
                Kind::Indirect
            }
            Does::Return => {
                returns = if code.isa == Isa::A64 { Return::Ret } else { Return::Implied };
                Kind::Indirect
            }
            Does::ExceptionReturn => {
                returns = Return::Eret;
                Kind::Indirect
            }
        };
        Executed {
            address: code.address,
            isa: code.isa,
            insn: Insn { size: code.size, kind, link, conditional, returns, it: 0 },
            taken: walked.taken,
            next: self.place(walked.next),
        }
    }
}

/// What a decoder must report for a walk: ranges, and the instructions that are in none.
pub fn expected(program: &Program, steps: &[Step]) -> (Vec<Expected>, Vec<Gap>) {
    let (mut ranges, mut all) = (Ranges::default(), Vec::new());
    for step in steps {
        match step {
            Step::Executed(walked) => all.extend(ranges.executed(&program.executed(walked))),
            Step::Exception { .. } => all.extend(ranges.exception()),
            Step::Overflow => ranges.lost(),
            Step::Unknown { count, counted } => ranges.unknown(*count, *counted),
            Step::Time(_) | Step::Stall(_) | Step::Context(_) => {}
        }
    }
    (all, ranges.gaps().to_vec())
}
