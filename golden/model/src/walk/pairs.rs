//! Pairs of an upper immediate and the jump that uses it: sequentially inferable jumps.

use crate::walk::asm::Reg;
use crate::walk::body::Body;
use crate::walk::plan::{Align, Class, Label, Op, Site, Style, Upper, entry, pick};

impl Body<'_> {
    /// Calls a function further on.
    pub(crate) fn pair_call(&mut self) {
        let near = self.rng.bool();
        let Some(to) = self.forward_callee(near) else { return };
        let rd = self.link();
        let swap = self.class == Class::Ordinary && self.shape.swaps_allowed();
        let rs1 = match self.rng.u8(..4) {
            0 => self.no_link(),
            // `auipc x5` + `jalr x1, x5` is a swap by class.
            1 if swap => 6 - rd,
            _ => rd,
        };
        let other = self.forward_callee(false);
        self.pair(rd, rs1, to, other);
    }

    /// Jumps over a few instructions.
    pub(crate) fn pair_skip(&mut self) {
        let rd = self.no_link_or_zero();
        let rs1 = self.no_link();
        let first = self.items.len();
        self.pair(rd, rs1, self.here(), None);
        let next = self.here();
        self.plains(3);
        let here = self.here();
        if let Some(item) = self.items.get_mut(first)
            && let Op::Upper { to, .. } = &mut item.op
        {
            *to = Some(here);
        }
        if let Some(site) = self.plan.sites.last_mut() {
            site.targets = vec![here, next];
        }
    }

    /// Calls back or leaves the function, after a branch.
    pub(crate) fn pair_guarded(&mut self) {
        let f = self.function;
        let guard = match self.rng.u8(..3) {
            0 => {
                let back = self.plan.entries(|n, g| n <= f && g.class == Class::Ordinary);
                let guard = self.branch_to(self.here(), Style::GuardCall);
                let to = pick(self.rng, &back).unwrap_or(entry(f));
                let rd = self.link();
                self.pair(rd, rd, to, None);
                guard
            }
            _ => {
                let guard = self.branch_to(self.here(), Style::Biased(128));
                self.pair_tail();
                guard
            }
        };
        self.land(guard);
    }

    /// Leaves the function for one further on.
    pub(crate) fn pair_tail(&mut self) {
        let Some(to) = self.forward_callee(false) else { return self.far_jump() };
        let returns = self.shape.sijump_returns && !self.shape.well_behaved;
        let rs1 = if returns && self.rng.bool() { self.link() } else { self.no_link() };
        let rd = self.no_link_or_zero();
        let other = self.forward_callee(false);
        self.pair(rd, rs1, to, other);
    }

    /// Emits a pair; the layout turns it into something else if it cannot reach.
    ///
    /// `other` is an alternative target of the jump, after a trap between the two instructions.
    fn pair(&mut self, rd: Reg, rs1: Reg, to: Label, other: Option<Label>) {
        let form = match self.rng.u8(..4) {
            0 if self.shape.compressed && rs1 != 2 => Upper::CLui,
            1 => Upper::Lui,
            _ => Upper::Auipc,
        };
        let wanted = self.shape.compressed && rd <= 1 && self.rng.u8(..3) != 0;
        let short = wanted && to.item == 0 && self.aligned(form, to.function);
        let odd = i64::from(!short && self.rng.u8(..8) == 0);
        self.push(Op::Upper { rd: rs1, form, imm: 0, to: Some(to) }, form == Upper::CLui);
        let targets = [to].into_iter().chain(other).collect();
        self.plan.sites.push(Site { targets, free: self.class == Class::Ordinary });
        let site = self.plan.sites.len() - 1;
        self.push(Op::Indirect { rd, rs1, imm: odd, site, paired: true }, short);
    }

    /// c.jr and c.jalr add no offset, so the upper immediate alone must be able to form the
    /// target.
    fn aligned(&mut self, form: Upper, function: usize) -> bool {
        let wanted = match form {
            Upper::Auipc => Align::Like(self.here()),
            Upper::Lui | Upper::CLui => Align::To(4096),
        };
        let target = &mut self.plan.functions[function];
        let movable = function > self.function && self.plan.absolute != Some(target.segment);
        if movable && target.align == Align::No {
            target.align = wanted;
        }
        target.align == wanted
    }
}
