//! Registers and single instructions for [`Body`].

use crate::walk::asm::{self, Reg};
use crate::walk::body::Body;
use crate::walk::plain::{self, Access};
use crate::walk::plan::{Item, Label, Op, Site, Style, Upper, direct_class, is_link};
use hartrace_etrace::ingress::IType;
use hartrace_etrace::ingress::Xlen;

impl Body<'_> {
    pub(crate) fn link(&mut self) -> Reg {
        if self.rng.u8(..4) == 0 { 5 } else { 1 }
    }

    /// Not x0 and not a link register.
    pub(crate) fn no_link(&mut self) -> Reg {
        let r = self.rng.u8(2..31);
        if r == 5 { 31 } else { r }
    }

    pub(crate) fn no_link_or_zero(&mut self) -> Reg {
        if self.rng.u8(..3) == 0 { self.no_link() } else { 0 }
    }

    pub(crate) fn push(&mut self, op: Op, short: bool) {
        if let (Op::Indirect { rs1, paired: false, .. }, Some(Op::Upper { rd, .. })) =
            (op, self.items.last().map(|i| i.op))
            && rs1 == rd
        {
            // Not a pair: no instruction computed its target.
            self.nop();
        }
        self.items.push(Item { op, short });
    }

    fn nop(&mut self) {
        let short = self.shape.compressed;
        let word = if short { asm::C_NOP } else { asm::NOP };
        self.items.push(Item { op: Op::Plain { word, access: Access::None }, short });
    }

    /// At least one plain instruction, at most `max`.
    pub(crate) fn straight(&mut self, max: usize) {
        self.plains(max - 1);
        self.plain();
    }

    /// Up to `max` plain instructions.
    pub(crate) fn plains(&mut self, max: usize) {
        for _ in 0..self.rng.usize(..=max) {
            self.plain();
        }
    }

    fn plain(&mut self) {
        let short = self.shape.compressed && self.rng.bool();
        let draw = if short { plain::narrow } else { plain::wide };
        let (word, access) = draw(self.rng, self.shape.xlen);
        self.push(Op::Plain { word, access }, short);
    }

    /// An upper immediate that is not part of a pair, sometimes followed by a jump that looks as if
    /// it were.
    pub(crate) fn loose_upper(&mut self) {
        let (rd, imm) = (self.no_link(), i64::from(self.rng.i32(..)) & !0xfff);
        match self.rng.u8(..3) {
            0 if self.shape.compressed && rd != 2 => {
                let imm = i64::from(self.rng.i8(1..32)) << 12;
                self.push(Op::Upper { rd, form: Upper::CLui, imm, to: None }, true);
            }
            1 => self.push(Op::Upper { rd, form: Upper::Lui, imm, to: None }, false),
            _ => self.push(Op::Upper { rd, form: Upper::Auipc, imm, to: None }, false),
        }
        if self.shape.indirect > 0 && self.rng.bool() {
            let near = if self.rng.bool() { rd } else { self.no_link() };
            let site = self.indirect(0, near, Vec::new(), false);
            self.plan.sites[site].targets = vec![self.here()];
        }
    }

    /// Emits a branch with random behaviour; pass the result to `land`.
    pub(crate) fn branch(&mut self) -> usize {
        let style = match self.rng.u8(..8) {
            0 => Style::Biased(0),
            1 => Style::Biased(255),
            2 => Style::Biased(10),
            3 | 4 => Style::Biased(245),
            5 => Style::Pattern(self.rng.u32(..)),
            _ => Style::Biased(128),
        };
        self.branch_to(self.here(), style)
    }

    pub(crate) fn branch_to(&mut self, to: Label, style: Style) -> usize {
        let funct3 = [0, 1, 4, 5, 6, 7][self.rng.usize(..6)];
        let (rs1, rs2) = (self.rng.u8(..32), self.rng.u8(..32));
        let short = self.shape.compressed && self.rng.bool();
        self.push(Op::Branch { to, style, funct3, rs1, rs2 }, short);
        self.items.len() - 1
    }

    /// Emits a forward jump; pass the result to `land`.
    pub(crate) fn jump(&mut self) -> usize {
        let rd = self.no_link_or_zero();
        self.direct(rd, self.here());
        self.items.len() - 1
    }

    /// Makes the branch or jump lead to the next item.
    pub(crate) fn land(&mut self, item: usize) {
        let here = self.here();
        match &mut self.items[item].op {
            Op::Branch { to, .. } | Op::Jump { to, .. } => *to = here,
            _ => {}
        }
    }

    pub(crate) fn direct(&mut self, rd: Reg, to: Label) {
        let fits = match direct_class(rd) {
            IType::InferableTailCall => true,
            IType::InferableCall => rd == 1 && self.shape.xlen == Xlen::Rv32,
            _ => false,
        };
        let short = fits && self.shape.compressed && self.rng.u8(..4) != 0;
        self.push(Op::Jump { rd, to }, short);
    }

    pub(crate) fn indirect(&mut self, rd: Reg, rs1: Reg, targets: Vec<Label>, free: bool) -> usize {
        let short = self.shape.compressed && rd <= 1 && self.rng.bool();
        let plain = self.rng.bool() || is_link(rs1);
        let imm = if short || plain { 0 } else { self.rng.i64(-2048..2048) };
        self.plan.sites.push(Site { targets, free });
        let site = self.plan.sites.len() - 1;
        self.push(Op::Indirect { rd, rs1, imm, site, paired: false }, short);
        site
    }
}
