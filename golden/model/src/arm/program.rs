//! Random code.

use fastrand::Rng;
use hartrace_isa::arm::Isa;

/// Effect of an instruction, as the assembler knows it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// No effect on the flow of control.
    Nothing,
    /// ISB.
    Isb,
    /// A branch to the instruction `to` of the program.
    Branch {
        /// Number of the target instruction.
        to: usize,
        /// Whether it has a condition.
        conditional: bool,
        /// Whether it is a call.
        link: bool,
    },
    /// A branch to the address in a register.
    Jump {
        /// Whether it is a call.
        link: bool,
    },
    /// A return.
    Return,
    /// A return from an exception.
    ExceptionReturn,
}

/// An instruction.
#[derive(Copy, Clone, Debug)]
pub struct Code {
    /// Its address.
    pub address: u64,
    /// Its instruction set.
    pub isa: Isa,
    /// Its length in bytes: 2 or 4.
    pub size: u8,
    /// Its effect.
    pub does: Does,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its instructions, by address.
    pub code: Vec<Code>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Address of the first instruction.
    pub base: u64,
    /// The instruction at which exceptions are handled.
    pub handler: usize,
}

impl Program {
    /// Moves the program to another address: all of its branches are relative.
    pub fn at(mut self, base: u64) -> Self {
        let by = base.wrapping_sub(self.base);
        self.base = base;
        for code in &mut self.code {
            code.address = code.address.wrapping_add(by);
        }
        self
    }

    /// Assembles about `len` instructions: of A64, or of both A32 and T32.
    pub fn random(rng: &mut Rng, len: usize, wide: bool) -> Self {
        let base = match wide {
            true => 0xffff_8000_0800_0000 + 0x1000 * rng.u64(0..1 << 20),
            false => 0x8000 + 0x1000 * rng.u64(0..1 << 16),
        };
        let mut code = Vec::new();
        let mut address = base;
        for number in 0..len {
            let isa = match (wide, number < len / 2) {
                (true, _) => Isa::A64,
                (false, true) => Isa::A32,
                (false, false) => Isa::T32,
            };
            let does = match rng.u8(0..20) {
                0..10 => Does::Nothing,
                10 => Does::Isb,
                11..14 => {
                    Does::Branch { to: near(rng, number, len), conditional: true, link: false }
                }
                14 => Does::Branch { to: near(rng, number, len), conditional: false, link: false },
                15 | 16 => {
                    Does::Branch { to: near(rng, number, len), conditional: false, link: true }
                }
                17 => Does::Jump { link: rng.bool() },
                _ => Does::Return,
            };
            let size = match (isa, does) {
                (Isa::A64 | Isa::A32, _) => 4,
                (_, Does::Jump { .. } | Does::Return) => 2,
                (_, Does::Nothing) => 2 * rng.u8(1..3),
                _ => 4,
            };
            code.push(Code { address, isa, size, does });
            address += u64::from(size);
        }
        let handler = rng.usize(0..len);
        let mut program = Self { code, bytes: Vec::new(), base, handler };
        if !wide && len > 1 {
            // Execution never falls through from one instruction set into the other.
            program.code[len / 2 - 1].does = Does::Return;
        }
        program.add_exception_returns(rng);
        program.keep_instruction_sets(rng);
        program.bytes = (0..len).flat_map(|number| program.assemble(number)).collect();
        // A decoder may read four bytes of an instruction of two.
        program.bytes.extend([0; 4]);
        program
    }

    fn add_exception_returns(&mut self, rng: &mut Rng) {
        for code in &mut self.code {
            if code.does == Does::Return && code.isa == Isa::A64 && rng.u8(0..3) == 0 {
                code.does = Does::ExceptionReturn;
            }
        }
    }

    /// Only calls without a condition can change the instruction set.
    fn keep_instruction_sets(&mut self, rng: &mut Rng) {
        let len = self.code.len();
        for number in 0..len {
            let Does::Branch { to, conditional, link } = self.code[number].does else { continue };
            let same = self.code[to].isa == self.code[number].isa;
            if !same && (conditional || !link) {
                let half = if number < len / 2 { 0..len / 2 } else { len / 2..len };
                let to = rng.usize(half);
                self.code[number].does = Does::Branch { to, conditional, link };
            }
        }
    }

    fn assemble(&self, number: usize) -> Vec<u8> {
        let Code { address, isa, size, does } = self.code[number];
        let half_words = |word: u32| {
            let (first, second) = ((word >> 16) as u16, word as u16);
            [first.to_le_bytes(), second.to_le_bytes()].concat()
        };
        let distance = |to: usize| self.code[to].address.wrapping_sub(address) as i64;
        match isa {
            Isa::A64 => a64(does, distance).to_le_bytes().into(),
            Isa::A32 => self.a32(number).to_le_bytes().into(),
            Isa::T32 if size == 2 => {
                let word: u16 = match does {
                    Does::Nothing => 0xbf00,
                    Does::Jump { link: false } => 0x4718, // bx r3
                    Does::Jump { link: true } => 0x4798,  // blx r3
                    Does::Return => 0x4770,               // bx lr
                    other => panic!("{other:?} has four bytes"),
                };
                word.to_le_bytes().into()
            }
            Isa::T32 => half_words(self.t32(number)),
        }
    }

    fn a32(&self, number: usize) -> u32 {
        let Code { address, does, .. } = self.code[number];
        match does {
            Does::Nothing => 0xe320_f000,
            Does::Isb => 0xf57f_f06f,
            Does::Jump { link: false } => 0xe12f_ff13,
            Does::Jump { link: true } => 0xe12f_ff33,
            Does::Return | Does::ExceptionReturn => 0xe12f_ff1e,
            Does::Branch { to, conditional, link } => {
                let target = self.code[to];
                let offset = target.address.wrapping_sub(address + 8) as i64;
                let field = (offset >> 2) as u32 & 0xff_ffff;
                match (target.isa, conditional, link) {
                    (Isa::T32, _, _) => 0xfa00_0000 | ((offset as u32 >> 1) & 1) << 24 | field,
                    (_, true, _) => 0x0a00_0000 | field, // beq
                    (_, false, false) => 0xea00_0000 | field,
                    (_, false, true) => 0xeb00_0000 | field,
                }
            }
        }
    }

    /// The T32 encoding, with the first half-word uppermost.
    fn t32(&self, number: usize) -> u32 {
        let Code { address, does, .. } = self.code[number];
        let Does::Branch { to, conditional, link } = does else {
            return match does {
                Does::Isb => 0xf3bf_8f6f,
                _ => 0xf3af_8000, // nop.w
            };
        };
        let target = self.code[to];
        let exchange = target.isa == Isa::A32;
        let base = if exchange { address & !3 } else { address } + 4;
        let offset = target.address.wrapping_sub(base) as u32;
        let bit = |at: u32| (offset >> at) & 1;
        let (sign, low, high) = (bit(24), (offset >> 1) & 0x7ff, (offset >> 12) & 0x3ff);
        if conditional {
            let (j1, j2) = (bit(18), bit(19));
            let six = (offset >> 12) & 0x3f;
            return 0xf000_8000 | bit(20) << 26 | six << 16 | j1 << 13 | j2 << 11 | low;
        }
        let (j1, j2) = (!(bit(23) ^ sign) & 1, !(bit(22) ^ sign) & 1);
        let fields = sign << 26 | high << 16 | j1 << 13 | j2 << 11 | low;
        match (link, exchange) {
            (true, true) => 0xf000_c000 | fields & !1,
            (true, false) => 0xf000_d000 | fields,
            (false, _) => 0xf000_9000 | fields,
        }
    }
}

fn a64(does: Does, distance: impl Fn(usize) -> i64) -> u32 {
    match does {
        Does::Nothing => 0xd503_201f,
        Does::Isb => 0xd503_3fdf,
        Does::Jump { link: false } => 0xd61f_0060, // br x3
        Does::Jump { link: true } => 0xd63f_0060,
        Does::Return => 0xd65f_03c0,
        Does::ExceptionReturn => 0xd69f_03e0,
        Does::Branch { to, conditional: true, .. } => {
            let field = (distance(to) >> 2) as u32;
            match to % 3 {
                0 => 0x5400_0000 | (field & 0x7_ffff) << 5,
                1 => 0xb400_0000 | (field & 0x7_ffff) << 5, // cbz
                _ => 0x3600_0000 | (field & 0x3fff) << 5,   // tbz
            }
        }
        Does::Branch { to, link, .. } => {
            0x1400_0000 | u32::from(link) << 31 | (distance(to) >> 2) as u32 & 0x3ff_ffff
        }
    }
}

/// A target, mostly close, as in real programs.
fn near(rng: &mut Rng, number: usize, len: usize) -> usize {
    match rng.u8(0..4) {
        0 => rng.usize(0..len),
        _ => (number + rng.usize(0..20)).saturating_sub(8).min(len - 1),
    }
}
