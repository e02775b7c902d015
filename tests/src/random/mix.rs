//! Straight-line instructions with interesting operands.

use super::program::{BASE, FREE, Generator, NOTES, PLACE, POOL, SLOTS, SP};
use super::{narrow, tables, wide};

/// The range of loads and stores around [`BASE`].
const FIRST: i32 = -1500;
const LAST: i32 = 2032;
/// Free registers that compressed instructions can name.
const FREE_NARROW: [u32; 6] = [10, 11, 12, 13, 14, 15];

impl Generator {
    /// The store of a whole register.
    pub(super) fn store_bits(&self) -> u32 {
        wide::STORES[if self.xlen() == 64 { 3 } else { 2 }].bits
    }

    /// Adds a register to the list of results.
    pub(super) fn note(&mut self, register: u32) {
        self.code.wide("note", wide::store(self.store_bits(), register, NOTES, 0));
        self.code.wide("addi", wide::addi(NOTES, NOTES, 8));
    }

    /// Adds a floating-point register.
    pub(super) fn note_float(&mut self, register: u32) {
        if self.bare {
            return;
        }
        self.code.wide("note", wide::store(wide::STORES[5].bits, register, NOTES, 0));
        self.code.wide("addi", wide::addi(NOTES, NOTES, 8));
    }

    /// Offset of a number in the pool, of the kind that `pool_kind` assigns to a slot.
    pub(super) fn pool(&mut self, kind: u32) -> i32 {
        let third = SLOTS as i32 / 3;
        let slot = kind as i32 * third + self.rng.i32(0..third);
        slot * 8 - SLOTS as i32 * 4
    }

    pub(super) fn load_integer(&mut self, register: u32) {
        let load = wide::LOADS[if self.xlen() == 64 { 3 } else { 2 }];
        let at = self.pool(0);
        self.code.wide(load.name, wide::load(load.bits, register, POOL, at));
    }

    pub(super) fn integer(&mut self) {
        // I and M come first in the table.
        let table = if self.bare { &tables::INTEGER[..tables::I_AND_M] } else { tables::INTEGER };
        let insn = self.pick(table);
        if !insn.base.has(self.xlen()) {
            return;
        }
        let (rs1, rs2) = (self.any(), self.any());
        for register in [rs1, rs2] {
            if FREE.contains(&register) && self.rng.u32(..3) == 0 {
                self.load_integer(register);
            }
        }
        if insn.name == "ctzw" {
            if !FREE.contains(&rs1) {
                return;
            }
            // QEMU 7.2 continues counting in the upper half if the lower is zero; see
            // docs/design/iss.md.
            let one = self.rng.u32(..32);
            self.code.wide("bseti", wide::bseti(rs1, rs1, one));
        }
        let imm = self.rng.u32(..);
        let imm = if insn.form == tables::Form::XUpper { imm >> 12 } else { imm & 0xfff };
        let rd = self.free();
        let operands = tables::Operands { rd, rs1, rs2, imm, ..Default::default() };
        self.code.wide(insn.name, insn.encode(self.xlen(), operands));
        if self.rng.bool() {
            self.note(rd);
        }
    }

    pub(super) fn float(&mut self) {
        use tables::Form::*;
        let insn = self.pick(tables::FLOAT);
        if !insn.base.has(self.xlen()) {
            return;
        }
        let [rs1, rs2, rs3] = [self.any(), self.any(), self.any()];
        let double = insn.name.ends_with(".d");
        match insn.form {
            Fx | FxRm => {
                if FREE.contains(&rs1) && self.rng.bool() {
                    self.load_integer(rs1);
                }
            }
            _ => {
                for register in [rs1, rs2, rs3] {
                    if self.rng.u32(..3) > 0 {
                        self.load_operand(register, double);
                    }
                }
            }
        }
        let to_integer = matches!(insn.form, Xff | Xf | XfRm);
        let rd = if to_integer { self.free() } else { self.any() };
        let rm = self.rounding();
        let operands = tables::Operands { rd, rs1, rs2, rs3, rm, imm: 0 };
        self.code.wide(insn.name, insn.encode(self.xlen(), operands));
        match self.rng.u32(..4) {
            0 => return,
            _ if to_integer => self.note(rd),
            _ => self.note_float(rd),
        }
        if self.rng.bool() {
            // Flags are kept until they are cleared.
            let flags = self.pick(&PLACE);
            self.code.wide("csrrw fflags", wide::csr(1, wide::FFLAGS, flags, 0));
            self.note(flags);
        }
    }

    /// Loads a floating-point number, rarely of the other format.
    fn load_operand(&mut self, register: u32, double: bool) {
        let double = double != (self.rng.u32(..16) == 0);
        let boxes = !double && self.rng.bool();
        let at = self.pool(if double { 1 } else { 2 });
        let load = wide::LOADS[if double || boxes { 8 } else { 7 }];
        self.code.wide(load.name, wide::load(load.bits, register, POOL, at));
    }

    pub(super) fn compressed(&mut self) {
        use narrow::Form::*;
        let insn = self.pick(narrow::ALL);
        if !insn.base.has(self.xlen()) || self.bare && insn.float {
            return;
        }
        let near = self.pick(&FREE_NARROW);
        let rd = self.pick(&FREE);
        let (mut a, mut b, mut imm) = (rd, self.rng.u32(1..32), self.rng.u32(..));
        match insn.form {
            Imm => {}
            ImmNotZero => imm |= 1 << self.rng.u32(..6),
            Shift => imm &= self.xlen() - 1,
            ShiftC => (a, imm) = (near, imm & (self.xlen() - 1)),
            ImmC => a = near,
            PairC => (a, b) = (near, self.rng.u32(8..16)),
            Pair => {}
            AddSp => (a, imm) = (near, imm & 0x3fc | 4),
            LoadC => (a, b) = (if insn.float { self.rng.u32(8..16) } else { near }, BASE),
            StoreC => (a, b) = (self.rng.u32(8..16), BASE),
            LoadSp if insn.float => a = self.any(),
            LoadSp => {}
            StoreSp => a = self.any(),
        }
        // Occasionally with the stack pointer elsewhere.
        let moves = matches!(insn.form, LoadSp | StoreSp) && self.rng.u32(..4) == 0;
        let by = self.rng.i32(1..=31) * if self.rng.bool() { 16 } else { -16 };
        if moves {
            self.code.narrow("c.addi16sp", narrow::adjust_sp(by));
        }
        self.code.narrow(insn.name, insn.encode(a, b, imm));
        if moves {
            self.code.narrow("c.addi16sp", narrow::adjust_sp(-by));
        }
        match insn.form {
            StoreC | StoreSp => {}
            _ if insn.float => self.note_float(a),
            _ => self.note(a),
        }
    }

    /// A load or store, aligned or not.
    pub(super) fn memory(&mut self) {
        let is_load = self.rng.bool();
        let access = self.pick(if is_load { wide::LOADS } else { wide::STORES });
        if !access.base.has(self.xlen()) || self.bare && access.float {
            return;
        }
        let (mut base, mut at) = (self.pick(&[BASE, SP]), self.rng.i32(FIRST..=LAST));
        if self.rng.u32(..3) == 0 {
            at &= !7;
        }
        if self.rng.u32(..3) == 0 {
            base = self.computed_place(0x7ff);
            at = self.rng.i32(-1000..=0);
        }
        if is_load {
            let rd = if access.float { self.any() } else { self.free() };
            self.code.wide(access.name, wide::load(access.bits, rd, base, at));
            if access.float {
                self.note_float(rd);
            } else {
                self.note(rd);
            }
        } else {
            let rs2 = self.any();
            self.code.wide(access.name, wide::store(access.bits, rs2, base, at));
        }
    }

    /// A register with an address that depends on another register.
    fn computed_place(&mut self, mask: i32) -> u32 {
        let (place, from) = (self.pick(&PLACE), self.any());
        self.code.wide("andi", wide::andi(place, from, mask));
        self.code.wide("add", wide::add(place, place, BASE));
        place
    }

    pub(super) fn atomic(&mut self) {
        let wide_one = self.xlen() == 64 && self.rng.bool();
        let place = self.computed_place(if wide_one { 0x7f8 } else { 0x7fc });
        let order = self.rng.u32(..4);
        let (rd, rs2) = (self.free(), self.any());
        if self.rng.u32(..3) > 0 {
            let (name, funct5) = self.pick(&wide::AMO);
            self.code.wide(name, wide::amo(funct5, order, wide_one, [rd, rs2, place]));
            self.note(rd);
            let load = wide::LOADS[if wide_one { 3 } else { 2 }];
            self.code.wide(load.name, wide::load(load.bits, place, place, 0));
            self.note(place);
            return;
        }
        if self.bare {
            // The core in sim/cva6 treats a failed sc.w in the upper half of a double-word as one that
            // succeeded; see docs/design/cva6.md.
            self.code.wide("andi", wide::andi(place, place, -8));
        }
        // A reservation never lasts beyond this: a store to its address may or may not make the sc
        // fail.
        let kind = self.rng.u32(..6);
        if kind > 0 {
            self.code.wide("lr", wide::amo(wide::LR, order, wide_one, [rd, 0, place]));
            self.note(rd);
        }
        for _ in 0..self.rng.u32(..3) {
            self.integer();
        }
        if kind == 1 {
            // It fails because of another address.
            self.code.wide("addi", wide::addi(place, place, 8));
        }
        for _ in 0..1 + u32::from(kind == 2) {
            let (result, value) = (self.free(), self.any());
            self.code.wide("sc", wide::amo(wide::SC, order, wide_one, [result, value, place]));
            self.note(result);
        }
    }

    /// Accesses flags and rounding modes. A reserved mode is not kept.
    pub(super) fn csr(&mut self) {
        let (rd, rs1, number) = (self.free(), self.any(), self.rng.u32(..32));
        let mode = self.rng.u32(..5);
        match self.rng.u32(..6) {
            0 => self.code.wide("csr fflags", wide::csr(self.rng.u32(1..4), wide::FFLAGS, rd, rs1)),
            1 => {
                self.code
                    .wide("csri fflags", wide::csr(self.rng.u32(5..8), wide::FFLAGS, rd, number));
            }
            2 => self.code.wide("csrrwi frm", wide::csr(5, wide::FRM, rd, mode)),
            3 => {
                let csr = self.pick(&[wide::FFLAGS, wide::FRM, wide::FCSR]);
                self.code.wide("csrr", wide::csr(2, csr, rd, 0));
            }
            _ => {
                let (csr, how) = (self.pick(&[wide::FRM, wide::FCSR]), self.rng.u32(1..4));
                let another = self.free();
                self.code.wide("csr", wide::csr(how, csr, rd, rs1));
                self.code.wide("csrrwi frm", wide::csr(5, wide::FRM, another, mode));
                self.note(another);
            }
        }
        self.note(rd);
    }
}
