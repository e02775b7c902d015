//! The walk: picks outcomes and targets, and writes the rows.

use crate::walk::layout::{Code, Insn, Kind};
use crate::walk::plan::{Style, chance, pick};
use crate::walk::shape::Shape;
use crate::walk::side::Side;
use fastrand::Rng;
use hartrace_etrace::ingress::{IType, ITypeWidth, Privilege, Retired};

/// A trap that was taken and from which the hart has not returned.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) epc: usize,
    pub(crate) itype: IType,
    /// ecall or ebreak.
    pub(crate) raised: bool,
    pub(crate) privilege: Privilege,
    /// `base` of the interrupted code.
    pub(crate) base: usize,
}

/// Kind of the preceding row, which influences the probability of a trap. Upper immediates are
/// special.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    Start,
    Plain,
    Special,
    Trap,
}

#[derive(Debug)]
pub(crate) struct Walker<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) code: &'a Code,
    pub(crate) rng: &'a mut Rng,
    pub(crate) rows: Vec<Retired>,
    pub(crate) side: Side,
    /// Position of the next instruction.
    pub(crate) at: usize,
    pub(crate) privilege: Privilege,
    /// Where the open calls return to.
    pub(crate) stack: Vec<usize>,
    /// The running handler's calls start here.
    pub(crate) base: usize,
    pub(crate) traps: Vec<Frame>,
    /// Stack height at a swap; entries below must not be used by a return before a trap.
    pub(crate) barrier: Option<usize>,
    pub(crate) last: Last,
    /// The upper immediate that just retired. A trap needs no care: its handler retires something.
    upper: Option<usize>,
    /// Where the co-routine that swapped out continues.
    swapped: Option<usize>,
    /// Per instruction: the remaining iterations of a loop, plus 1; or the visits of a pattern.
    counters: Vec<u32>,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(shape: &'a Shape, code: &'a Code, rng: &'a mut Rng) -> Self {
        let side = Side::new(shape, rng);
        let mut walker = Self {
            shape,
            code,
            rng,
            rows: Vec::with_capacity(shape.steps.min(1 << 24)),
            side,
            at: code.boot,
            privilege: Privilege::M,
            stack: Vec::new(),
            base: 0,
            traps: Vec::new(),
            barrier: None,
            last: Last::Start,
            upper: None,
            swapped: None,
            counters: vec![0; code.insns.len()],
        };
        if walker.rng.bool() {
            walker.at = walker.root();
            walker.privilege = walker.some_privilege();
        }
        walker
    }

    pub(crate) fn run(mut self) -> Vec<Retired> {
        while self.rows.len() < self.shape.steps.min(1 << 24) {
            self.step();
        }
        self.rows
    }

    fn step(&mut self) {
        let Some(&insn) = self.code.insns.get(self.at) else {
            // Cannot happen: no function falls off its end.
            self.at = self.root();
            return;
        };
        let returns = matches!(insn.kind, Kind::Indirect { itype: IType::Return, .. });
        if let Some(itype) = self.trap_now(returns && self.tainted()) {
            self.trap(&insn, itype);
            return;
        }
        let (here, next, privilege) = (self.at, self.at + 1, self.privilege);
        let mut sijump = false;
        let itype = match insn.kind {
            Kind::Plain(_) | Kind::Upper => {
                self.at = next;
                IType::None
            }
            Kind::Branch { to, style } => {
                let taken = self.decide(style);
                self.at = if taken { to } else { next };
                if taken { IType::Taken } else { IType::NotTaken }
            }
            Kind::Jump { to, itype } => {
                if itype.is_call() {
                    self.stack.push(next);
                }
                self.at = to;
                itype
            }
            Kind::Indirect { itype, site, pair } => {
                let flagged = pair.filter(|_| self.upper.is_some_and(|u| u + 1 == here));
                sijump = flagged.is_some();
                self.at = self.go(itype, site, flagged, next);
                itype
            }
            Kind::Raise => return self.raise(&insn),
            Kind::TrapReturn => {
                self.trap_return();
                IType::TrapReturn
            }
        };
        self.upper = matches!(insn.kind, Kind::Upper).then_some(here);
        let plain = matches!(insn.kind, Kind::Plain(_));
        self.last = if plain { Last::Plain } else { Last::Special };
        let mut row = Retired { itype, sijump, privilege, ..Retired::plain(insn.addr) };
        self.fill_size(&mut row, &insn);
        self.emit(row);
    }

    pub(crate) fn fill_size(&self, row: &mut Retired, insn: &Insn) {
        row.iretire = u32::from(insn.bytes) / 2;
        row.ilastsize = insn.bytes / 4;
    }

    /// Adds the signals that accompany the instruction, and restarts the hart if they require it.
    pub(crate) fn emit(&mut self, mut row: Retired) {
        self.side.fill(&mut row, self.shape, self.rng);
        if self.shape.itype_width == ITypeWidth::Three {
            row.itype = row.itype.narrow();
        }
        self.rows.push(row);
        if row.reset {
            self.reset();
        }
    }

    fn reset(&mut self) {
        self.at = self.code.boot;
        self.privilege = Privilege::M;
        self.leave_all();
        self.upper = None;
        self.last = Last::Start;
    }

    /// Forgets every open call and trap.
    pub(crate) fn leave_all(&mut self) {
        self.stack.clear();
        self.base = 0;
        self.traps.clear();
        self.barrier = None;
    }

    /// Whether a return from here would depend on what an encoder's return stack does at a swap.
    fn tainted(&self) -> bool {
        self.shape.well_behaved && self.barrier.is_some_and(|height| self.stack.len() <= height)
    }

    /// Executes an indirect jump and returns its target.
    fn go(&mut self, itype: IType, site: usize, flagged: Option<usize>, next: usize) -> usize {
        match itype {
            IType::Return => match flagged {
                Some(to) => {
                    if self.stack.len() > self.base && self.rng.bool() {
                        self.stack.pop();
                    }
                    to
                }
                None => self.unwind(),
            },
            IType::CoRoutineSwap => {
                let to = self.swapped.replace(next);
                if self.shape.well_behaved {
                    self.barrier = Some(self.stack.len());
                } else if self.stack.len() > self.base
                    && self.rng.bool()
                    && let Some(top) = self.stack.last_mut()
                {
                    *top = next;
                }
                let fresh = self.rng.u8(..4) == 0;
                flagged.or(to.filter(|_| !fresh)).unwrap_or_else(|| self.choose(itype, site))
            }
            _ => {
                let to = flagged.unwrap_or_else(|| self.choose(itype, site));
                if itype.is_call() {
                    self.stack.push(next);
                }
                to
            }
        }
    }

    /// Returns to the caller or, for a mismatched return, to another place.
    fn unwind(&mut self) -> usize {
        let depth = self.stack.len() - self.base;
        let free = self.traps.is_empty();
        if free && !self.shape.well_behaved && chance(self.rng, self.shape.mismatched_returns) {
            return match self.rng.u8(..4) {
                0 if depth > 1 => {
                    let keep = self.stack.len() - self.rng.usize(2..=depth);
                    let to = self.stack.get(keep).copied();
                    self.stack.truncate(keep);
                    to.unwrap_or_else(|| self.root())
                }
                1 => {
                    self.stack.pop();
                    self.anywhere()
                }
                2 => self.anywhere(),
                _ => self.root(),
            };
        }
        match self.stack.pop().filter(|_| depth > 0) {
            Some(to) => to,
            None if self.rng.u8(..4) == 0 => self.anywhere(),
            None => self.root(),
        }
    }

    fn choose(&mut self, itype: IType, site: usize) -> usize {
        let code = self.code;
        let call = itype.is_call();
        if call && self.stack.len() - self.base >= self.shape.max_depth.into() {
            return pick(self.rng, &code.leaves).unwrap_or(code.boot);
        }
        let (list, free) = code.sites.get(site).map_or((&[][..], true), |s| (&s.list[..], s.free));
        if list.is_empty() || free && self.rng.u8(..12) == 0 {
            return if call { self.root() } else { self.anywhere() };
        }
        // Earlier entries are chosen more often.
        let first = self.rng.usize(..list.len());
        list[first.min(self.rng.usize(..list.len()))]
    }

    /// Some ordinary function.
    pub(crate) fn root(&mut self) -> usize {
        pick(self.rng, &self.code.roots).unwrap_or(self.code.boot)
    }

    /// Some instruction of an ordinary function.
    pub(crate) fn anywhere(&mut self) -> usize {
        let bodies = &self.code.bodies;
        match bodies.get(self.rng.usize(..bodies.len().max(1))) {
            Some(body) if !body.is_empty() => self.rng.usize(body.clone()),
            _ => self.code.boot,
        }
    }

    /// A privilege that the current one can return to.
    pub(crate) fn some_privilege(&mut self) -> Privilege {
        let (now, user, supervisor) = (
            self.privilege,
            self.shape.user,
            self.shape.supervisor && self.privilege > Privilege::S,
        );
        match (self.rng.u8(..4), user, supervisor) {
            (0, ..) | (_, false, false) => now,
            (1, _, true) | (_, false, true) => Privilege::S,
            _ => Privilege::U,
        }
    }

    fn decide(&mut self, style: Style) -> bool {
        let depth = self.stack.len() - self.base;
        let limit = match style {
            Style::Biased(of_255) => return of_255 == 255 || self.rng.u8(..255) < of_255,
            Style::Pattern(bits) => {
                let period = bits >> 28 & 7;
                let count = &mut self.counters[self.at];
                *count = (*count + 1) % (period + 2);
                return bits >> *count & 1 == 1;
            }
            Style::GuardCall if depth >= self.shape.max_depth.into() => {
                self.counters[self.at] = 0;
                return true;
            }
            Style::GuardCall => self.shape.max_depth,
            Style::Loop | Style::GuardJump => self.shape.loop_limit,
        };
        let on = style == Style::Loop;
        let left = match self.counters[self.at].checked_sub(1) {
            Some(left) => left,
            None => match self.rng.u8(..10) {
                0 => self.rng.u16(..=limit).into(),
                _ => self.rng.u16(..=limit.min(4)).into(),
            },
        };
        // One more visit, or start over.
        self.counters[self.at] = left;
        if left > 0 { on } else { !on }
    }
}
