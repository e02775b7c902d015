//! What a table needs to know of code.

use super::Ends;
use crate::image::Image;
use hartrace_isa::{Insn, Kind, Link};
use std::ops::Range;

/// The code of a program, of any instruction set.
pub trait Code {
    /// Where there is code: ranges in the order of addresses that do not overlap. The end may be 2^64, which wraps.
    fn ranges(&self) -> Vec<Range<u64>>;

    /// The instruction at an address; `before` is that of the instruction before it, if both are executed one after
    /// the other.
    fn step(&self, address: u64, before: Option<u64>) -> Option<Step>;
}

/// An instruction, as far as a table depends on it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// It has 4 bytes, not 2.
    pub wide: bool,
    /// The address after it.
    pub next: u64,
    /// How a block ends with it.
    pub ends: Ends,
    /// See [`Entry::sequential`](super::Entry::sequential).
    pub sequential: bool,
    /// See [`Entry::conditional`](super::Entry::conditional).
    pub conditional: bool,
    /// Its target, if that is in the code or inferred.
    pub target: Option<u64>,
    /// There is an instruction after it.
    pub goes_on: bool,
}

impl Step {
    /// Whether it is the last one of its block.
    #[must_use]
    pub fn ends_block(&self) -> bool {
        self.ends != Ends::Next || self.conditional
    }
}

impl Code for Image {
    fn ranges(&self) -> Vec<Range<u64>> {
        Image::ranges(self).collect()
    }

    fn step(&self, address: u64, before: Option<u64>) -> Option<Step> {
        let (insn, xlen) = (self.insn(address)?, self.isa().xlen);
        let before = before.and_then(|pc| Some((self.insn(pc)?, pc)));
        let inferred =
            before.and_then(|(insn_before, pc)| insn.sequential_target(xlen, insn_before, pc));
        let target = insn.target(xlen, address).or(inferred);
        Some(Step {
            wide: insn.size == 4,
            next: insn.next(xlen, address),
            ends: ends(insn),
            sequential: target.is_some() && matches!(insn.kind, Kind::IndirectJump { .. }),
            conditional: false,
            target,
            goes_on: insn.is_sequential()
                || matches!(insn.kind, Kind::Branch { .. } | Kind::EnvironmentTrap)
                || insn.link() == Some(Link::Call),
        })
    }
}

/// How a block ends with this instruction.
pub(super) fn ends(insn: Insn) -> Ends {
    match (insn.kind, insn.link()) {
        (Kind::Branch { .. }, _) => Ends::Branch,
        (Kind::Jump { .. } | Kind::AbsoluteJump { .. }, Some(Link::Call)) => Ends::Call,
        (Kind::Jump { .. } | Kind::AbsoluteJump { .. }, _) => Ends::Jump,
        (_, Some(Link::Call)) => Ends::IndirectCall,
        (_, Some(Link::Return)) => Ends::Return,
        _ if insn.is_uninferable() => Ends::Indirect,
        _ => Ends::Next,
    }
}
