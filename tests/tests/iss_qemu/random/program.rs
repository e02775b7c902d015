//! Random programs: what they do is random, that they end is not.
//!
//! Some registers have one purpose, so that no address and no number of rounds can get lost. All others, and
//! all floating-point registers, start with random values and take part in everything. Most results are
//! also noted in a growing list, so that what is overwritten later is not lost; it tells which
//! instruction was the first to differ.

use super::assemble::{Assembled, Code, DATA, Label, Place, elf};
use super::{narrow, values, wide};
use fastrand::Rng;

/// Registers that only this module writes.
const LINK: u32 = 1;
const SP: u32 = 2;
const INNER_LINK: u32 = 5;
/// Rounds of loops, from the inside out; branches on the first can be compressed.
const ROUNDS: [u32; 2] = [8, 26];
const ALL_ROUNDS: u32 = 27;
/// The middle of the data that may be changed; also in `SP`.
const BASE: u32 = 9;
/// The middle of the pool of operands.
const POOL: u32 = 18;
/// The end of the list of results.
const NOTES: u32 = 28;
const FREE: [u32; 20] =
    [3, 4, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 23, 24, 25, 29];
/// Free ones that compressed instructions reach.
const FREE_NARROW: [u32; 6] = [10, 11, 12, 13, 14, 15];
/// For addresses, so that they are free only when no address is in them.
const PLACE: [u32; 2] = [30, 31];

/// Data: registers are put into its first bytes at the end, everything else may be loaded and stored.
pub(crate) const DATA_SIZE: usize = 4160;
const MIDDLE: i32 = 2048;
const FIRST: i32 = -1500;
const LAST: i32 = 2032;
const POOL_AT: u64 = DATA + 0x2000;
const SLOTS: usize = 512;
pub(crate) const NOTES_AT: u64 = DATA + 0x4000;
/// Room for data, pool and more results than a program has.
const MEMORY: u64 = 4 << 20;

/// A program, its file and what its instructions are called.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) elf: Vec<u8>,
    pub(crate) names: Vec<(u64, &'static str)>,
}

pub(crate) fn generate(xlen: u32, seed: u64) -> Program {
    let mut generator = Generator {
        rng: Rng::with_seed(seed << 1 | u64::from(xlen == 32)),
        code: Code::new(xlen),
        functions: Vec::new(),
        depth: 0,
        in_function: None,
    };
    let data = generator.data();
    let Assembled { bytes, names } = generator.program();
    Program { elf: elf(xlen, &bytes, &data, MEMORY), names }
}

struct Generator {
    rng: Rng,
    code: Code,
    /// The first two may call the others.
    functions: Vec<Label>,
    /// Loops around this place.
    depth: usize,
    in_function: Option<usize>,
}

impl Generator {
    fn xlen(&self) -> u32 {
        self.code.xlen
    }

    fn any(&mut self) -> u32 {
        self.rng.u32(..32)
    }

    /// A destination; now and then `x0`.
    fn free(&mut self) -> u32 {
        if self.rng.u32(..30) == 0 { 0 } else { FREE[self.rng.usize(..FREE.len())] }
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.usize(..list.len())]
    }

    /// A static rounding mode, or the one of `frm`.
    fn rounding(&mut self) -> u32 {
        self.pick(&[0, 1, 2, 3, 4, 7, 7, 7])
    }

    /// What the program starts with: numbers for the first part of the data, and the pool.
    fn data(&mut self) -> Vec<u8> {
        let rng = &mut self.rng;
        let mut bytes = Vec::new();
        let slot = |rng: &mut Rng, kind: u32| match kind {
            0 => values::integer(rng),
            1 => values::double(rng),
            // Singles in their boxes, and some that are not.
            _ if rng.u32(..4) == 0 => u64::from(rng.u32(..)) << 32 | u64::from(values::single(rng)),
            _ => 0xffff_ffff << 32 | u64::from(values::single(rng)),
        };
        while bytes.len() < DATA_SIZE {
            let kind = rng.u32(..3);
            bytes.extend(slot(rng, kind).to_le_bytes());
        }
        bytes.resize((POOL_AT - DATA) as usize, 0);
        for number in 0..SLOTS {
            bytes.extend(slot(rng, pool_kind(number)).to_le_bytes());
        }
        bytes
    }

    fn program(mut self) -> Assembled {
        self.functions = (0..4).map(|_| self.code.label()).collect();
        self.start();
        let again = self.code.label();
        let rounds = self.rng.i32(3..7);
        self.code.wide("addi", wide::addi(ALL_ROUNDS, 0, rounds));
        self.code.here(again);
        self.body(2000);
        self.code.wide("addi", wide::addi(ALL_ROUNDS, ALL_ROUNDS, -1));
        // A branch may not reach that far.
        let end = self.code.label();
        self.code.branch("beq", wide::branch(0, ALL_ROUNDS, 0), end);
        self.code.jal(0, again);
        self.code.here(end);
        self.end();
        for number in 0..self.functions.len() {
            self.in_function = Some(number);
            self.code.here(self.functions[number]);
            self.body(20);
            let link = link(number);
            if self.rng.bool() {
                self.code.narrow("c.jr", narrow::jump_register(link, false));
            } else {
                self.code.wide("jalr", wide::jalr(0, link, 0));
            }
        }
        self.code.assemble()
    }

    /// Gives every register a value.
    fn start(&mut self) {
        self.code.address(BASE, Place::Data(DATA + MIDDLE as u64));
        self.code.address(POOL, Place::Data(POOL_AT + SLOTS as u64 * 4));
        self.code.address(NOTES, Place::Data(NOTES_AT));
        self.code.wide("addi", wide::addi(SP, BASE, 0));
        for register in 0..32 {
            let kind = self.rng.u32(1..3);
            let at = self.pool(kind);
            self.code.wide("fld", wide::load(wide::LOADS[8].bits, register, POOL, at));
            if FREE.contains(&register) || PLACE.contains(&register) {
                self.load_integer(register);
            }
        }
        for register in [LINK, INNER_LINK, ROUNDS[0], ROUNDS[1]] {
            self.code.wide("addi", wide::addi(register, 0, 0));
        }
    }

    /// The store of a whole register.
    fn store_bits(&self) -> u32 {
        wide::STORES[if self.xlen() == 64 { 3 } else { 2 }].bits
    }

    /// Adds a register to the list of results.
    fn note(&mut self, register: u32) {
        self.code.wide("note", wide::store(self.store_bits(), register, NOTES, 0));
        self.code.wide("addi", wide::addi(NOTES, NOTES, 8));
    }

    /// The same with a floating-point register.
    fn note_float(&mut self, register: u32) {
        self.code.wide("note", wide::store(wide::STORES[5].bits, register, NOTES, 0));
        self.code.wide("addi", wide::addi(NOTES, NOTES, 8));
    }

    /// Writes all registers, all data and all results to standard output, and ends.
    fn end(&mut self) {
        for register in 1..32 {
            let at = -MIDDLE + 8 * register;
            self.code.wide("store", wide::store(self.store_bits(), register as u32, BASE, at));
        }
        for register in 0..32 {
            let at = -MIDDLE + 256 + 8 * register;
            self.code.wide("fsd", wide::store(wide::STORES[5].bits, register as u32, BASE, at));
        }
        self.code.wide("csrr", wide::csr(2, wide::FCSR, 10, 0));
        self.code.wide("store", wide::store(self.store_bits(), 10, BASE, -MIDDLE + 512));
        self.code.wide("addi", wide::addi(11, BASE, -MIDDLE));
        self.code.wide("addi", wide::addi(12, 0, DATA_SIZE as i32 / 16));
        self.code.wide("slli", wide::slli(12, 12, 4));
        self.print();
        self.code.address(11, Place::Data(NOTES_AT));
        self.code.wide("sub", wide::sub(12, NOTES, 11));
        self.print();
        self.code.wide("addi", wide::addi(10, 0, 0));
        self.code.wide("addi", wide::addi(17, 0, 93));
        self.code.wide("ecall", wide::ECALL);
    }

    /// `write`, of what `a1` and `a2` say.
    fn print(&mut self) {
        self.code.wide("addi", wide::addi(10, 0, 1));
        self.code.wide("addi", wide::addi(17, 0, 64));
        self.code.wide("ecall", wide::ECALL);
    }

    /// Offset of a number of the pool, of a kind as in [`pool_kind`].
    fn pool(&mut self, kind: u32) -> i32 {
        let third = SLOTS as i32 / 3;
        let slot = kind as i32 * third + self.rng.i32(0..third);
        slot * 8 - SLOTS as i32 * 4
    }

    fn load_integer(&mut self, register: u32) {
        let load = wide::LOADS[if self.xlen() == 64 { 3 } else { 2 }];
        let at = self.pool(0);
        self.code.wide(load.name, wide::load(load.bits, register, POOL, at));
    }

    /// Some instructions, at least so many.
    fn body(&mut self, items: usize) {
        let end = self.code.len() + items;
        while self.code.len() < end {
            match self.rng.u32(..100) {
                0..30 => self.integer(),
                30..58 => self.float(),
                58..70 => self.compressed(),
                70..79 => self.memory(),
                79..84 => self.atomic(),
                84..88 => self.csr(),
                88..94 => self.forward(),
                94..96 => self.jump_table(),
                96..98 => self.call(),
                98 => self.repeat(),
                _ => {
                    let fence = self.rng.bool();
                    self.code.wide("fence", if fence { wide::FENCE } else { wide::FENCE_I });
                }
            }
        }
    }

    fn integer(&mut self) {
        let insn = self.pick(wide::INTEGER);
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
            // QEMU 7.2 counts on in the upper half where the lower is zero.
            let one = self.rng.u32(..32);
            self.code.wide("bseti", wide::bseti(rs1, rs1, one));
        }
        let imm = self.rng.u32(..);
        let imm = if insn.form == wide::Form::XUpper { imm >> 12 } else { imm & 0xfff };
        let rd = self.free();
        let operands = wide::Operands { rd, rs1, rs2, imm, ..Default::default() };
        self.code.wide(insn.name, insn.encode(self.xlen(), operands));
        if self.rng.bool() {
            self.note(rd);
        }
    }

    fn float(&mut self) {
        use wide::Form::*;
        let insn = self.pick(wide::FLOAT);
        if !insn.base.has(self.xlen()) {
            return;
        }
        let [rs1, rs2, rs3] = [self.any(), self.any(), self.any()];
        let double = insn.name.ends_with(".d");
        match insn.form {
            FX | FXRm => {
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
        let to_integer = matches!(insn.form, XFF | XF | XFRm);
        let rd = if to_integer { self.free() } else { self.any() };
        let rm = self.rounding();
        let operands = wide::Operands { rd, rs1, rs2, rs3, rm, imm: 0 };
        self.code.wide(insn.name, insn.encode(self.xlen(), operands));
        match self.rng.u32(..4) {
            0 => return,
            _ if to_integer => self.note(rd),
            _ => self.note_float(rd),
        }
        if self.rng.bool() {
            // Flags stay until somebody clears them.
            let flags = self.pick(&PLACE);
            self.code.wide("csrrw fflags", wide::csr(1, wide::FFLAGS, flags, 0));
            self.note(flags);
        }
    }

    /// A floating-point number; seldom of the other format.
    fn load_operand(&mut self, register: u32, double: bool) {
        let double = double != (self.rng.u32(..16) == 0);
        let boxes = !double && self.rng.bool();
        let at = self.pool(if double { 1 } else { 2 });
        let load = wide::LOADS[if double || boxes { 8 } else { 7 }];
        self.code.wide(load.name, wide::load(load.bits, register, POOL, at));
    }

    fn compressed(&mut self) {
        use narrow::Form::*;
        let insn = self.pick(narrow::ALL);
        if !insn.base.has(self.xlen()) {
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
        // Now and then with the stack pointer elsewhere.
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
    fn memory(&mut self) {
        let is_load = self.rng.bool();
        let access = self.pick(if is_load { wide::LOADS } else { wide::STORES });
        if !access.base.has(self.xlen()) {
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

    fn atomic(&mut self) {
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
        // A reservation never outlives this: a store before its sc may or may not make that fail.
        let kind = self.rng.u32(..6);
        if kind > 0 {
            self.code.wide("lr", wide::amo(wide::LR, order, wide_one, [rd, 0, place]));
            self.note(rd);
        }
        for _ in 0..self.rng.u32(..3) {
            self.integer();
        }
        if kind == 1 {
            // Another place: it fails.
            self.code.wide("addi", wide::addi(place, place, 8));
        }
        for _ in 0..1 + u32::from(kind == 2) {
            let (result, value) = (self.free(), self.any());
            self.code.wide("sc", wide::amo(wide::SC, order, wide_one, [result, value, place]));
            self.note(result);
        }
    }

    /// Flags and rounding modes. A reserved mode does not stay.
    fn csr(&mut self) {
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

    /// A branch forward to `to`, of any kind.
    fn branch_to(&mut self, to: Label) {
        if self.rng.u32(..3) == 0 {
            let register = self.rng.u32(8..16);
            self.code.narrow_branch(narrow::branch(self.rng.bool(), register), to);
            return;
        }
        let (name, funct3) = self.pick(&wide::BRANCHES);
        let (rs1, rs2) = (self.any(), self.any());
        self.code.branch(name, wide::branch(funct3, rs1, rs2), to);
    }

    fn jump_to(&mut self, to: Label) {
        if self.rng.bool() {
            // If that is too far, both ways are gone.
            self.code.narrow_jump(narrow::J, to);
        } else {
            self.code.jal(0, to);
        }
    }

    /// One way or another.
    fn forward(&mut self) {
        let (other, end) = (self.code.label(), self.code.label());
        self.branch_to(other);
        let items = self.rng.usize(1..6);
        self.straight(items);
        if self.rng.bool() {
            self.jump_to(end);
            self.code.here(other);
            self.straight(items);
        } else {
            self.code.here(other);
        }
        self.code.here(end);
    }

    fn straight(&mut self, items: usize) {
        for _ in 0..items {
            match self.rng.u32(..10) {
                0..4 => self.integer(),
                4..7 => self.float(),
                7..9 => self.compressed(),
                _ => self.memory(),
            }
        }
    }

    /// One of four ways, by an address from a table.
    fn jump_table(&mut self) {
        let (table, end) = (self.code.label(), self.code.label());
        let ways: Vec<Label> = (0..4).map(|_| self.code.label()).collect();
        let [index, place] = PLACE;
        let from = self.any();
        let shift = if self.xlen() == 64 { 3 } else { 2 };
        self.code.wide("andi", wide::andi(index, from, 3));
        self.code.wide("slli", wide::slli(index, index, shift));
        self.code.address(place, Place::Label(table));
        self.code.wide("add", wide::add(place, place, index));
        let load = wide::LOADS[shift as usize];
        self.code.wide(load.name, wide::load(load.bits, index, place, 0));
        if self.rng.bool() {
            self.code.narrow("c.jr", narrow::jump_register(index, false));
        } else {
            // The lowest bit does not count.
            self.code.wide("jalr", wide::jalr(0, index, self.rng.i32(0..2)));
        }
        self.code.here(table);
        ways.iter().for_each(|&way| self.code.entry(way));
        for way in ways {
            self.code.here(way);
            let items = self.rng.usize(1..4);
            self.straight(items);
            self.code.jal(0, end);
        }
        self.code.here(end);
    }

    /// Calls one of the functions that may be called here.
    fn call(&mut self) {
        let number = match self.in_function {
            None => self.rng.usize(..4),
            Some(0 | 1) => self.rng.usize(2..4),
            Some(_) => return,
        };
        let (to, link) = (self.functions[number], link(number));
        let place = self.pick(&PLACE);
        match self.rng.u32(..5) {
            0 if link == LINK && self.xlen() == 32 => self.code.narrow_jump(narrow::JAL, to),
            1 if link == LINK => {
                self.code.address(place, Place::Label(to));
                self.code.narrow("c.jalr", narrow::jump_register(place, true));
            }
            2 | 3 => {
                let by = self.rng.i32(-2048..2048);
                self.code.address(place, Place::Label(to));
                self.code.wide("addi", wide::addi(place, place, -(by.max(-2047))));
                self.code.wide("jalr", wide::jalr(link, place, by.max(-2047)));
            }
            _ => self.code.jal(link, to),
        }
    }

    /// A loop; it ends after some rounds, or before.
    fn repeat(&mut self) {
        if self.depth == ROUNDS.len() || self.in_function.is_some() {
            return;
        }
        let counter = ROUNDS[1 - self.depth];
        let (top, out) = (self.code.label(), self.code.label());
        let rounds = self.rng.i32(2..6);
        self.code.wide("addi", wide::addi(counter, 0, rounds));
        self.code.here(top);
        self.depth += 1;
        let items = self.rng.usize(4..16);
        self.body(items);
        self.depth -= 1;
        self.code.wide("addi", wide::addi(counter, counter, -1));
        if counter == ROUNDS[0] && self.rng.bool() {
            self.code.narrow_branch(narrow::branch(true, counter), top);
        } else if self.rng.bool() {
            self.code.branch("bne", wide::branch(1, counter, 0), top);
        } else {
            self.code.branch("beq", wide::branch(0, counter, 0), out);
            self.branch_to(top);
        }
        self.code.here(out);
    }
}

/// Integers, doubles, singles.
fn pool_kind(slot: usize) -> u32 {
    (slot / (SLOTS / 3)).min(2) as u32
}

/// The register that has the return address of a function.
fn link(function: usize) -> u32 {
    if function < 2 { LINK } else { INNER_LINK }
}
