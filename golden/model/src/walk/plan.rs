//! The program before it has addresses: functions of symbolic instructions.
//!
//! # No loop without a count
//!
//! A trace has no iteration count for a loop that consists of inferable jumps only. Therefore the
//! edges that a decoder follows without information from the trace (falling through, direct jumps
//! and calls, absolute jumps, sequentially inferable jumps) only lead *forward* in the order
//! (function, item). Every backward edge is the fall-through of a conditional branch directly
//! before it, and only that branch, indirect jumps and trap returns lead to it.

use crate::walk::asm::Reg;
use crate::walk::plain::Access;
use crate::walk::shape::Shape;
use fastrand::Rng;
use hartrace_etrace::ingress::{IType, Privilege};

/// An instruction by function and position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) function: usize,
    pub(crate) item: usize,
}

/// How the walk decides a branch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Taken with this probability, in units of 1/255.
    Biased(u8),
    /// Bits of the pattern in turn.
    Pattern(u32),
    /// Taken for a number of iterations, then not.
    Loop,
    /// Not taken for a number of visits, then taken once; the fall-through is a backward jump.
    GuardJump,
    /// The same before a call; taken when the stack is deep.
    GuardCall,
}

/// What sets the upper bits of an address.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Upper {
    Lui,
    Auipc,
    CLui,
}

/// One symbolic instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Plain {
        word: u32,
        access: Access,
    },
    /// With a label: the first half of a pair, `imm` is ignored.
    Upper {
        rd: Reg,
        form: Upper,
        imm: i64,
        to: Option<Label>,
    },
    Branch {
        to: Label,
        style: Style,
        funct3: u32,
        rs1: Reg,
        rs2: Reg,
    },
    Jump {
        rd: Reg,
        to: Label,
    },
    Absolute {
        rd: Reg,
        to: Label,
        odd: bool,
    },
    /// With `paired`, the immediate is the lower part of the label in the preceding item, plus
    /// `imm`.
    Indirect {
        rd: Reg,
        rs1: Reg,
        imm: i64,
        site: usize,
        paired: bool,
    },
    /// ecall and ebreak.
    Raise {
        word: u32,
    },
    TrapReturn(Privilege),
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct Item {
    pub(crate) op: Op,
    /// 16-bit form; the layout widens branches and jumps that do not reach.
    pub(crate) short: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Boot,
    /// 16 jumps to handlers.
    Table(Privilege),
    Handler(Privilege),
    Ordinary,
    /// Calls nothing, raises nothing, jumps nowhere else: safe to call from handlers.
    Leaf,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    No,
    To(u64),
    /// The same offset in its page as this instruction.
    Like(Label),
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) segment: usize,
    pub(crate) class: Class,
    pub(crate) align: Align,
    pub(crate) items: Vec<Item>,
}

/// Preferred targets of an indirect jump.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) targets: Vec<Label>,
    /// Whether it may also go anywhere else.
    pub(crate) free: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) functions: Vec<Function>,
    pub(crate) sites: Vec<Site>,
    /// Requested base of each segment; the last one may be the absolute segment.
    pub(crate) bases: Vec<u64>,
    /// Index of the segment that `jalr rd, imm(x0)` reaches.
    pub(crate) absolute: Option<usize>,
}

/// Class of an indirect jump. Spec: E-Trace 2.0, 4.1.1, table of *itype* values.
pub(crate) const fn indirect_class(rd: Reg, rs1: Reg) -> IType {
    match (is_link(rd), is_link(rs1)) {
        (true, true) if rd != rs1 => IType::CoRoutineSwap,
        (true, _) => IType::UninferableCall,
        (false, true) => IType::Return,
        (false, false) if rd == 0 => IType::UninferableTailCall,
        (false, false) => IType::OtherUninferableJump,
    }
}

/// Class of a direct or absolute jump.
pub(crate) const fn direct_class(rd: Reg) -> IType {
    match rd {
        0 => IType::InferableTailCall,
        1 | 5 => IType::InferableCall,
        _ => IType::OtherInferableJump,
    }
}

pub(crate) const fn is_link(r: Reg) -> bool {
    r == 1 || r == 5
}

/// True in `rate` of 1000 cases.
pub(crate) fn chance(rng: &mut Rng, rate: u16) -> bool {
    rate > 0 && rng.u16(..1000) < rate
}

/// Picks one of a list; `None` if it is empty.
pub(crate) fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> Option<T> {
    if list.is_empty() { None } else { list.get(rng.usize(..list.len())).copied() }
}

impl Plan {
    /// Creates the segments and the functions, which are still empty.
    pub(crate) fn new(shape: &Shape, rng: &mut Rng) -> Self {
        let mut bases = shape.bases.clone();
        bases.truncate(16);
        if bases.is_empty() {
            bases.push(0x8000_0000);
        }
        let functions = usize::from(shape.functions.clamp(1, 48));
        bases.truncate(functions);
        let segments = bases.len();
        let mut plan = Self { functions: Vec::new(), sites: Vec::new(), bases, absolute: None };
        let trap_segment = rng.usize(..segments);
        for segment in 0..segments {
            if segment == trap_segment {
                plan.add_traps(shape, rng, segment);
            }
            let share = functions / segments + usize::from(segment < functions % segments);
            for _ in 0..share {
                plan.add(rng, segment, Class::Ordinary);
            }
            for _ in 0..rng.usize(1..=3) {
                plan.add(rng, segment, Class::Leaf);
            }
        }
        if shape.absolute > 0 {
            plan.absolute = Some(segments);
            let end = shape.address_mask() == u64::MAX >> (64 - shape.xlen.bits());
            let low = rng.u64(0x20..0x80) << 2;
            plan.bases.push(if end && rng.bool() { 0u64.wrapping_sub(0x800) + low } else { low });
            for _ in 0..rng.usize(1..=2) {
                plan.add(rng, segments, Class::Leaf);
            }
        }
        plan
    }

    fn add(&mut self, rng: &mut Rng, segment: usize, class: Class) {
        let align = match class {
            Class::Boot | Class::Handler(_) => Align::To(4),
            Class::Table(_) => Align::To(64),
            // Targets for lui + c.jr.
            Class::Ordinary if rng.u8(..5) == 0 => Align::To(4096),
            _ => Align::No,
        };
        self.functions.push(Function { segment, class, align, items: Vec::new() });
    }

    fn add_traps(&mut self, shape: &Shape, rng: &mut Rng, segment: usize) {
        self.add(rng, segment, Class::Boot);
        let both = [Privilege::M, Privilege::S];
        for &privilege in if shape.supervisor { &both[..] } else { &both[..1] } {
            if shape.vectored {
                self.add(rng, segment, Class::Table(privilege));
                self.add(rng, segment, Class::Handler(privilege));
            }
            self.add(rng, segment, Class::Handler(privilege));
        }
    }

    /// Entries of the functions for which `keep` holds.
    pub(crate) fn entries(&self, keep: impl Fn(usize, &Function) -> bool) -> Vec<Label> {
        let functions = self.functions.iter().enumerate();
        functions.filter(|&(n, f)| keep(n, f)).map(|(n, _)| entry(n)).collect()
    }
}

pub(crate) const fn entry(function: usize) -> Label {
    Label { function, item: 0 }
}
