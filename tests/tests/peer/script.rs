//! Handwritten cases: a few instructions and a path through them.

use hartrace_etrace::ingress::{IType, Retired};
use hartrace_etrace::{Params, Unit};
use hartrace_golden::EncoderConfig;
use hartrace_golden::walk::{Program, Shape, Walk, Xlen};
use hartrace_tests::case::Case;

/// `addi x0, x0, 0`
pub(crate) const NOP: u32 = 0x13;
/// `mret`
pub(crate) const MRET: u32 = 0x3020_0073;
/// `jalr x0, 0(x1)`
pub(crate) const RET: u32 = 0x8067;
/// `jalr x0, 0(x10)`
pub(crate) const JUMP: u32 = 0x5_0067;

/// `jal rd, offset`
pub(crate) fn jal(rd: u32, offset: i32) -> u32 {
    let bits = |low: u32, width: u32| offset as u32 >> low & ((1 << width) - 1);
    0x6f | rd << 7 | bits(12, 8) << 12 | bits(11, 1) << 20 | bits(1, 10) << 21 | bits(20, 1) << 31
}

/// `bne x10, x0, offset`
pub(crate) fn bne(offset: i32) -> u32 {
    let bits = |low: u32, width: u32| offset as u32 >> low & ((1 << width) - 1);
    0x5_1063 | bits(11, 1) << 7 | bits(1, 4) << 8 | bits(5, 6) << 25 | bits(12, 1) << 31
}

/// `jalr rd, imm(rs1)`
pub(crate) fn jalr(rd: u32, rs1: u32, imm: u32) -> u32 {
    0x67 | rd << 7 | rs1 << 15 | imm << 20
}

/// `lui rd, value >> 12`
pub(crate) fn lui(rd: u32, value: u32) -> u32 {
    0x37 | rd << 7 | value & 0xffff_f000
}

/// A step of the path.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Do {
    /// The instruction at this address retires.
    Run(u64),
    /// An interrupt before the instruction at this address.
    Interrupt(u64),
    /// Instruction page fault at this address.
    Fault(u64),
}

use Do::{Fault, Interrupt, Run};

impl Do {
    fn address(self) -> u64 {
        let (Run(address) | Interrupt(address) | Fault(address)) = self;
        address
    }
}

/// Creates a case from pieces of code and the path through them, in machine mode on RV64.
pub(crate) fn script(code: &[(u64, &[u32])], way: &[Do]) -> Case {
    let segments: Vec<(u64, Vec<u8>)> = code
        .iter()
        .map(|(start, words)| (*start, words.iter().flat_map(|w| w.to_le_bytes()).collect()))
        .collect();
    let program = Program {
        xlen: Xlen::Rv64,
        entry: segments[0].0,
        segments,
        tvec: Vec::new(),
        vectored: false,
    };
    let rows = (0..way.len()).map(|at| row(&program, way, at)).collect();
    let params = Params {
        iaddress_width_p: 64,
        context_width_p: 8,
        nocontext_p: false,
        ..Params::default()
    };
    // Any case without a filter.
    let mut case = Case::new(4);
    case.walk = Walk { seed: 0, shape: Shape::default(), program, rows };
    case.rows = case.walk.rows.clone();
    case.encoder = EncoderConfig { params, unit: Unit::Reference, ..EncoderConfig::default() };
    assert!(case.traced().iter().all(|traced| *traced));
    case
}

fn row(program: &Program, way: &[Do], at: usize) -> Retired {
    let word = |index: usize| match way.get(index) {
        Some(Run(address)) => program.fetch(*address).expect("the way has code").bits,
        _ => 0,
    };
    let plain = Retired::plain(way[at].address());
    let trap = Retired { iretire: 0, ilastsize: 0, ..plain };
    match way[at] {
        Interrupt(_) => Retired { itype: IType::Interrupt, cause: 7, ..trap },
        Fault(tval) => Retired { itype: IType::Exception, cause: 12, tval, ..trap },
        Run(address) => {
            let next = way.get(at + 1).map(|next| next.address());
            let here = word(at);
            let before = at.checked_sub(1).map_or(0, word);
            let loads = before & 0x7f == 0x37 && before >> 7 & 31 == here >> 15 & 31;
            let itype = itype(here, next.is_some_and(|next| next != address + 4));
            Retired { itype, sijump: here & 0x7f == 0x67 && loads, ..plain }
        }
    }
}

/// The class of an instruction; `away` if the next executed instruction does not follow it in
/// memory.
fn itype(word: u32, away: bool) -> IType {
    let link = |register: u32| register == 1 || register == 5;
    let (rd, rs1) = (word >> 7 & 31, word >> 15 & 31);
    match word & 0x7f {
        0x63 if away => IType::Taken,
        0x63 => IType::NotTaken,
        0x6f if link(rd) => IType::InferableCall,
        0x6f => IType::InferableTailCall,
        0x67 if rs1 == 0 => IType::InferableTailCall,
        0x67 if link(rs1) && !link(rd) => IType::Return,
        0x67 if link(rd) => IType::UninferableCall,
        0x67 => IType::UninferableTailCall,
        0x73 if word == MRET => IType::TrapReturn,
        _ => IType::None,
    }
}
