//! The predictor of outcomes, returns and targets. Both sides have one and keep them equal.

use super::Tmbp;
use crate::dmtf::LOW;
use hartrace_isa::{Insn, Kind, Link, Xlen};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Predictor {
    config: Tmbp,
    xlen: Xlen,
    /// Two-bit counters; 2 and above predict taken.
    outcomes: Vec<u8>,
    /// A ring of return addresses without their upper bits.
    returns: Vec<u64>,
    top: usize,
    /// Targets by set, the most recently used first.
    targets: Vec<Option<Target>>,
    /// Outcomes of the last conditional branches.
    history: u64,
    /// The path: a hash of the addresses of the last branches.
    path: u64,
    /// Upper bits of the last indirect target.
    upper: u64,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Target {
    tag: u8,
    low: u64,
}

/// The prediction for a branch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Predicted {
    /// For a conditional branch: whether it is taken.
    Outcome(bool),
    /// For an indirect branch: where it leads.
    Target(u64),
}

impl Predictor {
    pub(crate) fn new(config: Tmbp, xlen: Xlen) -> Self {
        Self {
            config,
            xlen,
            outcomes: vec![1; config.entries as usize],
            returns: vec![0; config.ras as usize],
            top: 0,
            targets: vec![None; config.ibtb as usize],
            history: 0,
            path: 0,
            upper: 0,
        }
    }

    /// Predicts a conditional or indirect branch; `None` for all other instructions.
    pub(crate) fn predict(&self, pc: u64, insn: Insn) -> Option<Predicted> {
        if insn.is_branch() {
            return Some(Predicted::Outcome(self.outcomes[self.outcome_at(pc)] >= 2));
        }
        if !insn.is_uninferable() {
            return None;
        }
        let low = if pops(insn) {
            self.returns.get(self.top).copied()
        } else {
            let (set, tag) = self.target_at(pc);
            let found = self.targets[set].iter().flatten().find(|target| target.tag == tag);
            found.map(|target| target.low)
        };
        Some(Predicted::Target(self.xlen.wrap(self.upper << LOW | low.unwrap_or(0))))
    }

    /// Returns whether an indirect target has the predicted upper bits.
    pub(crate) fn is_near(&self, target: u64) -> bool {
        target >> LOW == self.upper
    }

    /// Trains on an executed instruction: `taken` for a conditional branch, `target` for an indirect one.
    pub(crate) fn update(&mut self, pc: u64, insn: Insn, taken: bool, target: u64) {
        let low = (1 << LOW) - 1;
        if insn.is_branch() {
            let at = self.outcome_at(pc);
            let counter = &mut self.outcomes[at];
            *counter = if taken { 3.min(*counter + 1) } else { counter.saturating_sub(1) };
            self.history =
                (self.history << 1 | u64::from(taken)) & ((1 << self.config.history_bits()) - 1);
            self.walk(pc, taken);
            return;
        }
        let indirect = insn.is_uninferable();
        if indirect && !pops(insn) && !self.targets.is_empty() {
            let (set, tag) = self.target_at(pc);
            let ways = &mut self.targets[set];
            let last = ways.len() - 1;
            let at = ways
                .iter()
                .position(|way| way.is_some_and(|target| target.tag == tag))
                .or_else(|| ways.iter().position(Option::is_none))
                .unwrap_or(last);
            ways[at] = Some(Target { tag, low: target & low });
            ways[..=at].rotate_right(1);
        }
        if !self.returns.is_empty() {
            let size = self.returns.len();
            if pops(insn) {
                self.top = (self.top + size - 1) % size;
            }
            if insn.link().is_some_and(Link::pushes) {
                self.top = (self.top + 1) % size;
                self.returns[self.top] = insn.next(self.xlen, pc) & low;
            }
        }
        if indirect {
            self.upper = target >> LOW;
            self.walk(if self.config.path_targets { target } else { pc }, true);
        }
    }

    fn walk(&mut self, address: u64, outcome: bool) {
        let mask = (1 << self.config.path_bits()) - 1;
        let address = address >> self.config.pc_shift & mask;
        self.path = ((self.path << 2 ^ address) | u64::from(outcome)) & mask;
    }

    fn outcome_at(&self, pc: u64) -> usize {
        let hash = self.history ^ pc >> self.config.pc_shift;
        hash as usize & (self.outcomes.len() - 1)
    }

    /// The set and the tag of an indirect branch.
    fn target_at(&self, pc: u64) -> (std::ops::Range<usize>, u8) {
        let Tmbp { pc_shift, ibtb, ways, .. } = self.config;
        if ibtb == 0 {
            return (0..0, 0);
        }
        let ways = ways as usize;
        let set = (self.path >> 8 ^ pc >> pc_shift) as usize & (ibtb as usize / ways - 1);
        (set * ways..(set + 1) * ways, (self.path ^ pc >> (pc_shift + 6)) as u8)
    }
}

/// Whether the target is predicted from the return stack.
fn pops(insn: Insn) -> bool {
    !matches!(insn.kind, Kind::TrapReturn) && insn.link().is_some_and(Link::pops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_isa::{Isa, decode};

    fn trained(config: Tmbp, steps: &[(u64, u32, bool, u64)]) -> Predictor {
        let mut predictor = Predictor::new(config, Xlen::Rv32);
        for (pc, encoding, taken, target) in steps {
            let insn = decode(Isa::new(Xlen::Rv32), *encoding).unwrap();
            predictor.update(*pc, insn, *taken, *target);
        }
        predictor
    }

    const BEQZ: u32 = 0x0000_0463;
    const JR_A0: u32 = 0x0005_0067;

    /// A larger table of counters sees a longer history: one taken branch, nine branches ago.
    #[test]
    fn more_counters_see_more_history() {
        let mut steps = vec![(0x1000, BEQZ, true, 0)];
        steps.extend([(0x1000, BEQZ, false, 0); 9]);
        let differs = |config: Tmbp| {
            let index = |steps| trained(config, steps).outcome_at(0x1000);
            index(&steps) != index(&steps[1..])
        };
        assert!(!differs(Tmbp::BASE));
        assert!(differs(Tmbp { entries: 1024, ..Tmbp::BASE }));
        assert!(!differs(Tmbp { entries: 1024, bhr_bits: Some(9), ..Tmbp::BASE }));
    }

    /// The index of a table with more sets takes more of the path: a branch seven branches ago decides.
    #[test]
    fn more_targets_see_more_of_the_path() {
        let mut steps = vec![(0x0020, BEQZ, false, 0)];
        steps.extend([(0, BEQZ, false, 0); 6]);
        let differs = |ibtb| {
            let config = Tmbp { ibtb, ..Tmbp::BASE };
            let set = |steps| trained(config, steps).target_at(0x1000).0;
            set(&steps) != set(&steps[1..])
        };
        assert_eq!([32, 64, 128, 256].map(differs), [false, false, true, true]);
    }

    /// With targets in the path, where an indirect branch went distinguishes what follows.
    #[test]
    fn the_path_may_hold_targets() {
        let differs = |path_targets| {
            let config = Tmbp { path_targets, ..Tmbp::BASE };
            let at = |to| trained(config, &[(0x1000, JR_A0, true, to)]).target_at(0x1000);
            at(0x2000) != at(0x2020)
        };
        assert_eq!([false, true].map(differs), [false, true]);
    }
}
