//! Random programs: their behaviour is random, but they always end.
//!
//! Some registers have a fixed purpose, so that no address and no loop counter can get lost. All others, and
//! all floating-point registers, start with random values and take part in everything. Most results are also
//! added to a growing list, so that values that are overwritten later are not lost; the list shows which
//! instruction was the first to differ.

use super::assemble::{Assembled, CODE, Code, DATA, Label, Place, elf};
use super::{narrow, values, wide};
use fastrand::Rng;

/// Registers that only this module writes.
const LINK: u32 = 1;
pub(super) const SP: u32 = 2;
const INNER_LINK: u32 = 5;
/// Loop counters, from the innermost out; branches on the first can be compressed.
const ROUNDS: [u32; 2] = [8, 26];
const ALL_ROUNDS: u32 = 27;
/// The middle of the data that may be changed; also in `SP`.
pub(super) const BASE: u32 = 9;
/// The middle of the pool of operands.
pub(super) const POOL: u32 = 18;
/// The end of the list of results.
pub(super) const NOTES: u32 = 28;
pub(super) const FREE: [u32; 20] =
    [3, 4, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 23, 24, 25, 29];
/// Registers for addresses, which are free only while they hold no address.
pub(super) const PLACE: [u32; 2] = [30, 31];

/// Size of the data: registers are stored in its first bytes at the end, and everything else may be loaded
/// and stored.
pub const DATA_SIZE: usize = 4160;
const MIDDLE: i32 = 2048;
const POOL_AT: u64 = DATA + 0x2000;
pub(super) const SLOTS: usize = 512;
/// Start of the list of results.
pub const NOTES_AT: u64 = DATA + 0x4000;
/// Room for data, the pool and more results than any program has.
const MEMORY: u64 = 4 << 20;

/// The platform of a program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Target {
    xlen: u32,
    bare: Option<u64>,
}

impl Target {
    /// Creates a target for Linux programs with all instructions, which print their registers and results.
    pub const fn linux(xlen: u32) -> Self {
        Self { xlen, bare: None }
    }

    /// Creates a target for bare RV64IMAC programs in memory from `base` on. A program ends with an `ecall`,
    /// its only one. It contains unaligned accesses and, rarely, floating-point instructions: a handler has
    /// to skip those that trap.
    pub const fn bare(base: u64) -> Self {
        Self { xlen: 64, bare: Some(base) }
    }
}

/// A program, its file and the names of its instructions.
#[derive(Debug)]
pub struct Program {
    /// The ELF file for Linux.
    pub elf: Vec<u8>,
    /// Addresses and contents; the first segment is the code, which is entered at its start.
    pub segments: [(u64, Vec<u8>); 2],
    /// Addresses and names of instructions.
    pub names: Vec<(u64, &'static str)>,
}

/// Generates the program of a seed.
pub fn generate(target: Target, seed: u64) -> Program {
    let Target { xlen, bare } = target;
    let base = bare.unwrap_or(0);
    let mut generator = Generator {
        rng: Rng::with_seed(seed << 1 | u64::from(xlen == 32)),
        code: Code::new(xlen, base),
        bare: bare.is_some(),
        functions: Vec::new(),
        depth: 0,
        in_function: None,
    };
    let data = generator.data();
    let Assembled { bytes, names, .. } = generator.program();
    let elf = if bare.is_some() { Vec::new() } else { elf(xlen, &bytes, &data, MEMORY) };
    Program { elf, segments: [(base + CODE, bytes), (base + DATA, data)], names }
}

/// A program under construction.
pub(super) struct Generator {
    pub(super) rng: Rng,
    pub(super) code: Code,
    /// Whether it is not for Linux.
    pub(super) bare: bool,
    /// The first two may call the others.
    functions: Vec<Label>,
    /// Number of loops around the current place.
    depth: usize,
    in_function: Option<usize>,
}

impl Generator {
    pub(super) fn xlen(&self) -> u32 {
        self.code.xlen
    }

    pub(super) fn any(&mut self) -> u32 {
        self.rng.u32(..32)
    }

    /// A destination; occasionally `x0`.
    pub(super) fn free(&mut self) -> u32 {
        if self.rng.u32(..30) == 0 { 0 } else { FREE[self.rng.usize(..FREE.len())] }
    }

    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.usize(..list.len())]
    }

    /// A static rounding mode, or that of `frm`.
    pub(super) fn rounding(&mut self) -> u32 {
        self.pick(&[0, 1, 2, 3, 4, 7, 7, 7])
    }

    /// The initial data: numbers for the first part of the data, and the pool.
    fn data(&mut self) -> Vec<u8> {
        let rng = &mut self.rng;
        let mut bytes = Vec::new();
        let slot = |rng: &mut Rng, kind: u32| match kind {
            0 => values::integer(rng),
            1 => values::double(rng),
            // NaN-boxed singles, and some without a box.
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
        self.body(if self.bare { 400 } else { 2000 });
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
            if !self.bare {
                self.code.wide("fld", wide::load(wide::LOADS[8].bits, register, POOL, at));
            }
            if FREE.contains(&register) || PLACE.contains(&register) {
                self.load_integer(register);
            }
        }
        for register in [LINK, INNER_LINK, ROUNDS[0], ROUNDS[1]] {
            self.code.wide("addi", wide::addi(register, 0, 0));
        }
    }

    /// Writes all registers, all data and all results to standard output, and ends the program.
    fn end(&mut self) {
        if self.bare {
            self.code.wide("addi", wide::addi(10, 0, 0));
            self.code.wide("ecall", wide::ECALL);
            return;
        }
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

    /// Calls `write` with the buffer in `a1` and `a2`.
    fn print(&mut self) {
        self.code.wide("addi", wide::addi(10, 0, 1));
        self.code.wide("addi", wide::addi(17, 0, 64));
        self.code.wide("ecall", wide::ECALL);
    }

    /// Generates at least this many instructions.
    fn body(&mut self, items: usize) {
        let end = self.code.len() + items;
        while self.code.len() < end {
            match self.rng.u32(..100) {
                // They would all trap.
                30..57 | 84..87 if self.bare => self.forward(),
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

    /// A forward branch of any kind to `to`.
    fn branch_to(&mut self, to: Label) {
        if self.rng.u32(..3) == 0 {
            let (register, not_zero) = (self.rng.u32(8..16), self.rng.bool());
            let name = if not_zero { "c.bnez" } else { "c.beqz" };
            self.code.narrow_branch(name, narrow::branch(not_zero, register), to);
            return;
        }
        let (name, funct3) = self.pick(&wide::BRANCHES);
        let (rs1, rs2) = (self.any(), self.any());
        self.code.branch(name, wide::branch(funct3, rs1, rs2), to);
    }

    fn jump_to(&mut self, to: Label) {
        if self.rng.bool() {
            // If the target is too far away, both paths are executed.
            self.code.narrow_jump("c.j", narrow::J, to);
        } else {
            self.code.jal(0, to);
        }
    }

    /// Generates two alternative paths.
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
                4..7 if self.bare => self.compressed(),
                4..7 => self.float(),
                7..9 => self.compressed(),
                _ => self.memory(),
            }
        }
    }

    /// Jumps to one of four places, by an address from a table.
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
            // The lowest bit is ignored.
            self.code.wide("jalr", wide::jalr(0, index, self.rng.i32(0..2)));
        }
        if self.bare {
            // Otherwise the load of an entry would trap.
            self.code.align();
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
            0 if link == LINK && self.xlen() == 32 => {
                self.code.narrow_jump("c.jal", narrow::JAL, to)
            }
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

    /// Generates a loop that ends after some iterations, or earlier.
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
            self.code.narrow_branch("c.bnez", narrow::branch(true, counter), top);
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

/// The register that holds the return address of a function.
fn link(function: usize) -> u32 {
    if function < 2 { LINK } else { INNER_LINK }
}
