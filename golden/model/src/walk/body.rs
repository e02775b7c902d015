//! Function bodies: a sequence of small constructs, and a terminator.

use crate::walk::asm;
use crate::walk::plan::{Class, Item, Label, Op, Plan, Style, chance, entry, pick};
use crate::walk::shape::Shape;
use fastrand::Rng;
use hartrace_etrace::ingress::Privilege;

/// No new construct starts in a function longer than this, which keeps branches in reach.
const LONG: usize = 400;

#[derive(Copy, Clone, Debug)]
enum Unit {
    Straight,
    If,
    IfElse,
    Loop,
    Ladder,
    Skip,
    BackwardJump,
    Call,
    GuardedCall,
    LeafRun,
    IndirectCall,
    Switch,
    FarJump,
    Swap,
    Pair,
    LocalPair,
    GuardedPair,
    Absolute,
    Raise,
    EarlyExit,
    LooseUpper,
}

/// Plans a program: its functions and their contents.
pub(crate) fn generate(shape: &Shape, rng: &mut Rng) -> Plan {
    let mut plan = Plan::new(shape, rng);
    for function in 0..plan.functions.len() {
        let items = Body::generate(&mut plan, function, shape, rng);
        plan.functions[function].items = items;
    }
    plan
}

/// A function under construction.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    pub(crate) plan: &'a mut Plan,
    pub(crate) shape: &'a Shape,
    pub(crate) rng: &'a mut Rng,
    pub(crate) function: usize,
    pub(crate) class: Class,
    pub(crate) items: Vec<Item>,
    /// Items that start a construct: the only targets of direct jumps.
    starts: Vec<usize>,
}

impl<'a> Body<'a> {
    fn generate(
        plan: &'a mut Plan,
        function: usize,
        shape: &'a Shape,
        rng: &'a mut Rng,
    ) -> Vec<Item> {
        let class = plan.functions[function].class;
        let mut body =
            Self { plan, shape, rng, function, class, items: Vec::new(), starts: Vec::new() };
        match class {
            Class::Table(privilege) => body.table(privilege),
            Class::Boot => body.straight(3),
            Class::Leaf if body.rng.bool() || Some(body.segment()) == body.plan.absolute => {
                body.straight(6);
            }
            Class::Leaf => body.units(1, 3),
            Class::Handler(_) => body.units(2, 4),
            Class::Ordinary => {
                let density = usize::from(shape.density.clamp(1, 24));
                let units = body.rng.usize(1..=2 * density);
                body.units(2, units);
            }
        }
        if !matches!(class, Class::Table(_)) {
            body.terminator();
        }
        body.items
    }

    pub(crate) fn segment(&self) -> usize {
        self.plan.functions[self.function].segment
    }

    /// The next item.
    pub(crate) fn here(&self) -> Label {
        Label { function: self.function, item: self.items.len() }
    }

    pub(crate) fn per_mille(&mut self, rate: u16) -> bool {
        chance(self.rng, rate)
    }

    fn table(&mut self, privilege: Privilege) {
        let bodies =
            self.plan.entries(|n, f| n > self.function && f.class == Class::Handler(privilege));
        for _ in 0..16 {
            let to = pick(self.rng, &bodies).unwrap_or(entry(self.function + 1));
            self.items.push(Item { op: Op::Jump { rd: 0, to }, short: false });
        }
    }

    fn units(&mut self, depth: u8, count: usize) {
        for _ in 0..count {
            if self.items.len() > LONG {
                break;
            }
            self.starts.push(self.items.len());
            let unit = self.choose();
            self.unit(unit, depth);
        }
        self.starts.push(self.items.len());
    }

    fn choose(&mut self) -> Unit {
        let s = self.shape;
        let free = self.class == Class::Ordinary;
        let calls = self.class != Class::Leaf;
        let only = |on: bool, rate: u16| if on { rate.min(1000) } else { 0 };
        let swaps = if s.swaps_allowed() { s.swaps } else { 0 };
        let weights = [
            (Unit::Straight, 300),
            (Unit::If, only(true, s.branches) / 3),
            (Unit::IfElse, only(true, s.branches) / 6),
            (Unit::Loop, only(true, s.branches) / 3),
            (Unit::Ladder, only(true, s.branches) / 4),
            (Unit::BackwardJump, only(free, s.branches) / 10),
            (Unit::EarlyExit, only(true, s.branches) / 10),
            (Unit::Skip, 50),
            (Unit::LooseUpper, 50),
            (Unit::Call, only(calls, s.calls)),
            (Unit::IndirectCall, only(calls, s.calls.min(s.indirect))),
            (Unit::GuardedCall, only(free, s.recursion)),
            (Unit::LeafRun, only(calls, s.leaf_runs)),
            (Unit::Switch, only(true, s.indirect)),
            (Unit::FarJump, only(free, s.indirect) / 2),
            (Unit::Swap, only(free, swaps)),
            (Unit::Pair, only(calls, s.sijumps)),
            (Unit::LocalPair, only(true, s.sijumps) / 2),
            (Unit::GuardedPair, only(free, s.sijumps)),
            (Unit::Absolute, only(calls, s.absolute)),
            (Unit::Raise, only(free, s.environment_calls)),
        ];
        let total: u16 = weights.iter().map(|&(_, w)| w).sum();
        let mut ticket = self.rng.u16(..total);
        for (unit, weight) in weights {
            if ticket < weight {
                return unit;
            }
            ticket -= weight;
        }
        Unit::Straight
    }

    fn unit(&mut self, unit: Unit, depth: u8) {
        match unit {
            Unit::Straight => self.straight(8),
            Unit::If => {
                let branch = self.branch();
                self.nested(depth);
                self.land(branch);
            }
            Unit::IfElse => {
                let branch = self.branch();
                self.nested(depth);
                let jump = self.jump();
                self.land(branch);
                self.starts.push(self.items.len());
                self.nested(depth);
                self.land(jump);
            }
            Unit::Loop => {
                let top = self.here();
                if self.rng.u8(..6) != 0 {
                    self.nested(depth);
                }
                self.branch_to(top, Style::Loop);
            }
            Unit::Ladder => {
                for _ in 0..self.rng.usize(2..=self.shape.density.clamp(2, 12).into()) {
                    let branch = self.branch();
                    self.plains(2);
                    self.land(branch);
                }
            }
            Unit::Skip => {
                let jump = self.jump();
                self.plains(3);
                self.land(jump);
            }
            Unit::BackwardJump => {
                if let Some(item) = pick(self.rng, &self.starts) {
                    let guard = self.branch_to(self.here(), Style::GuardJump);
                    let rd = self.no_link_or_zero();
                    self.direct(rd, Label { function: self.function, item });
                    self.land(guard);
                }
            }
            Unit::Call => {
                if let Some(to) = self.forward_callee(true) {
                    let rd = self.link();
                    self.direct(rd, to);
                }
            }
            Unit::GuardedCall => self.guarded_call(),
            Unit::LeafRun => {
                let (f, segment) = (self.function, self.segment());
                let leaves = self
                    .plan
                    .entries(|n, g| n > f && g.segment == segment && g.class == Class::Leaf);
                if let Some(to) = pick(self.rng, &leaves) {
                    for _ in 0..self.rng.usize(2..=5) {
                        let rd = self.link();
                        self.direct(rd, to);
                        if self.rng.u8(..3) == 0 {
                            self.plains(2);
                        }
                    }
                }
            }
            Unit::IndirectCall => {
                let targets = self.callees();
                let rd = self.link();
                let rs1 = if self.rng.u8(..4) == 0 { rd } else { self.no_link() };
                self.indirect(rd, rs1, targets, self.class == Class::Ordinary);
            }
            Unit::Switch => self.switch(depth),
            Unit::FarJump => {
                let guard = self.branch();
                self.far_jump();
                self.land(guard);
            }
            Unit::Swap => {
                let targets = self.some_ordinary();
                let rd = self.link();
                self.indirect(rd, 6 - rd, targets, true);
            }
            Unit::Pair => self.pair_call(),
            Unit::LocalPair => self.pair_skip(),
            Unit::GuardedPair => self.pair_guarded(),
            Unit::Absolute => self.absolute(),
            Unit::Raise => {
                let (word, short) = match self.rng.u8(..3) {
                    0 => (asm::EBREAK, false),
                    1 if self.shape.compressed => (asm::C_EBREAK, true),
                    _ => (asm::ECALL, false),
                };
                self.push(Op::Raise { word }, short);
            }
            Unit::EarlyExit => {
                let guard = self.branch();
                match self.class {
                    Class::Handler(privilege) => self.push(Op::TrapReturn(privilege), false),
                    _ => self.ret(),
                }
                self.land(guard);
            }
            Unit::LooseUpper => self.loose_upper(),
        }
    }

    /// A few constructs inside another one; only plain instructions at the innermost level.
    fn nested(&mut self, depth: u8) {
        match depth.checked_sub(1) {
            Some(depth) => {
                let count = self.rng.usize(1..=3);
                self.units(depth, count);
            }
            None => self.plains(4),
        }
    }

    fn guarded_call(&mut self) {
        let (f, segment) = (self.function, self.segment());
        let callees =
            self.plan.entries(|n, g| n <= f && g.segment == segment && g.class == Class::Ordinary);
        let to = if self.rng.bool() { Some(entry(f)) } else { pick(self.rng, &callees) };
        let guard = self.branch_to(self.here(), Style::GuardCall);
        let rd = self.link();
        self.direct(rd, to.unwrap_or(entry(f)));
        self.land(guard);
    }

    fn switch(&mut self, depth: u8) {
        let rs1 = self.no_link();
        let rd = self.no_link_or_zero();
        let site = self.indirect(rd, rs1, Vec::new(), false);
        let mut jumps = Vec::new();
        let mut targets = Vec::new();
        for _ in 0..self.rng.usize(1..=4) {
            self.starts.push(self.items.len());
            targets.push(self.here());
            self.nested(depth.min(1));
            if self.rng.bool() {
                jumps.push(self.jump());
            }
        }
        targets.push(self.here());
        for jump in jumps {
            self.land(jump);
        }
        self.plan.sites[site].targets = targets;
    }

    fn absolute(&mut self) {
        let Some(segment) = self.plan.absolute else { return };
        let leaves = self.plan.entries(|_, g| g.segment == segment);
        let Some(to) = pick(self.rng, &leaves) else { return };
        let odd = self.rng.u8(..8) == 0;
        if self.class != Class::Ordinary || self.rng.bool() {
            let rd = self.link();
            self.push(Op::Absolute { rd, to, odd }, false);
        } else {
            let guard = self.branch_to(self.here(), Style::Biased(128));
            let rd = self.no_link_or_zero();
            self.push(Op::Absolute { rd, to, odd }, false);
            self.land(guard);
        }
    }

    fn terminator(&mut self) {
        self.starts.push(self.items.len());
        let tail = self.per_mille(self.shape.tail_calls);
        match self.class {
            Class::Boot => self.push(Op::TrapReturn(Privilege::M), false),
            Class::Handler(privilege) => self.push(Op::TrapReturn(privilege), false),
            Class::Ordinary if tail => {
                match self.rng.u8(..4) {
                    0 if self.shape.indirect > 0 => self.far_jump(),
                    1 if self.shape.sijumps > 0 => self.pair_tail(),
                    _ => {
                        // There is a leaf at the end of every segment.
                        let to = self.forward_callee(true).unwrap_or(entry(self.function + 1));
                        let rd = self.no_link_or_zero();
                        self.direct(rd, to);
                    }
                }
            }
            _ => self.ret(),
        }
    }

    pub(crate) fn far_jump(&mut self) {
        let targets = self.some_ordinary();
        let rs1 = self.no_link();
        let rd = self.no_link_or_zero();
        self.indirect(rd, rs1, targets, true);
    }

    fn ret(&mut self) {
        let rs1 = self.link();
        let rd = if self.rng.u8(..6) == 0 { self.no_link() } else { 0 };
        self.indirect(rd, rs1, Vec::new(), true);
    }

    /// A function further on, in the same segment if it must be near.
    pub(crate) fn forward_callee(&mut self, near: bool) -> Option<Label> {
        let (f, segment, class) = (self.function, self.segment(), self.class);
        let callees = self.plan.entries(|n, g| {
            let callable = g.class == Class::Leaf
                || g.class == Class::Ordinary && !matches!(class, Class::Handler(_));
            n > f && (!near || g.segment == segment) && callable
        });
        pick(self.rng, &callees)
    }

    /// Some functions anywhere that may be called here.
    fn callees(&mut self) -> Vec<Label> {
        let handler = matches!(self.class, Class::Handler(_));
        let all = self
            .plan
            .entries(|_, g| g.class == Class::Leaf || !handler && g.class == Class::Ordinary);
        self.some(&all)
    }

    fn some_ordinary(&mut self) -> Vec<Label> {
        let all = self.plan.entries(|_, g| g.class == Class::Ordinary);
        self.some(&all)
    }

    fn some(&mut self, all: &[Label]) -> Vec<Label> {
        (0..self.rng.usize(1..=4)).filter_map(|_| pick(self.rng, all)).collect()
    }
}
