//! From symbols to addresses and words.

use crate::walk::asm;
use crate::walk::plain::Access;
use crate::walk::plan::{
    Align, Class, Function, Item, Label, Op, Plan, Style, Upper, direct_class, indirect_class,
};
use crate::walk::program::Program;
use crate::walk::shape::Shape;
use hartrace_etrace::ingress::Xlen;
use hartrace_etrace::ingress::{IType, Privilege};
use std::ops::Range;

/// What the walk needs to know about an instruction. Targets are positions in [`Code::insns`].
#[derive(Copy, Clone, Debug)]
pub(crate) enum Kind {
    Plain(Access),
    Upper,
    Branch {
        to: usize,
        style: Style,
    },
    Jump {
        to: usize,
        itype: IType,
    },
    /// `pair` is the target if the preceding instruction retired immediately before.
    Indirect {
        itype: IType,
        site: usize,
        pair: Option<usize>,
    },
    Raise,
    TrapReturn,
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct Insn {
    pub(crate) addr: u64,
    pub(crate) bytes: u8,
    pub(crate) word: u32,
    pub(crate) kind: Kind,
    pub(crate) function: usize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    pub(crate) list: Vec<usize>,
    pub(crate) free: bool,
}

/// The program as the walk sees it.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) insns: Vec<Insn>,
    pub(crate) sites: Vec<Targets>,
    /// Entries of ordinary functions.
    pub(crate) roots: Vec<usize>,
    pub(crate) leaves: Vec<usize>,
    /// The instructions of each ordinary function.
    pub(crate) bodies: Vec<Range<usize>>,
    pub(crate) boot: usize,
    pub(crate) handlers: Vec<(Privilege, usize)>,
}

struct Layout<'a> {
    functions: &'a mut [Function],
    bases: Vec<u64>,
    addresses: Vec<Vec<u64>>,
    xlen: Xlen,
}

/// Assembles the plan.
pub(crate) fn lay_out(mut plan: Plan, shape: &Shape) -> (Program, Code) {
    let bases = place(&plan, shape);
    let addresses = plan.functions.iter().map(|f| vec![0; f.items.len()]).collect();
    let functions = &mut plan.functions;
    let mut layout = Layout { functions, bases, addresses, xlen: shape.xlen };
    layout.assign();
    while layout.relax() {
        layout.assign();
    }

    let firsts: Vec<usize> = layout
        .functions
        .iter()
        .scan(0, |next, f| {
            let first = *next;
            *next += f.items.len();
            Some(first)
        })
        .collect();
    let flat = |l: Label| firsts[l.function] + l.item;
    let mut insns = Vec::new();
    for (function, f) in layout.functions.iter().enumerate() {
        let mut pair = None;
        for (n, item) in f.items.iter().enumerate() {
            let label = Label { function, item: n };
            let low = pair.take();
            let (word, kind) = match item.op {
                Op::Upper { rd, form, imm, to } => {
                    let next = f.items.get(n + 1);
                    let (word, upper) = match to {
                        None => (upper(form, rd, imm), true),
                        Some(to) => match layout.split(form, label, to, next) {
                            Some((form, hi, lo)) => {
                                pair = Some((lo, flat(to)));
                                (upper(form, rd, hi), true)
                            }
                            None if item.short => (asm::c_imm6(2, rd, 1), false),
                            None => (asm::i_type(0x13, 0, rd, 0, 1), false),
                        },
                    };
                    (word, if upper { Kind::Upper } else { Kind::Plain(Access::None) })
                }
                _ => layout.encode(item, label, low, &flat),
            };
            let addr = layout.addresses[function][n];
            insns.push(Insn { addr, bytes: bytes(item), word, kind, function });
        }
    }

    let select = |class: Class| -> Vec<usize> {
        plan.functions
            .iter()
            .zip(&firsts)
            .filter(|(f, _)| f.class == class)
            .map(|(_, &n)| n)
            .collect()
    };
    let mut handlers = Vec::new();
    for privilege in [Privilege::M, Privilege::S] {
        let class =
            if shape.vectored { Class::Table(privilege) } else { Class::Handler(privilege) };
        handlers.extend(select(class).first().map(|&n| (privilege, n)));
    }
    let sites = plan.sites.iter();
    let code = Code {
        sites: sites
            .map(|s| Targets { list: s.targets.iter().map(|&l| flat(l)).collect(), free: s.free })
            .collect(),
        roots: select(Class::Ordinary),
        leaves: select(Class::Leaf),
        bodies: plan
            .functions
            .iter()
            .zip(&firsts)
            .filter(|(f, _)| f.class == Class::Ordinary)
            .map(|(f, &n)| n..n + f.items.len())
            .collect(),
        boot: select(Class::Boot).first().copied().unwrap_or(0),
        handlers,
        insns,
    };
    (program(&code, shape), code)
}

fn program(code: &Code, shape: &Shape) -> Program {
    let mut segments: Vec<(u64, Vec<u8>)> = Vec::new();
    for insn in &code.insns {
        let word = &insn.word.to_le_bytes()[..insn.bytes.into()];
        match segments.last_mut() {
            Some((start, bytes)) if start.checked_add(bytes.len() as u64) == Some(insn.addr) => {
                bytes.extend_from_slice(word);
            }
            _ => segments.push((insn.addr, word.to_vec())),
        }
    }
    segments.sort_by_key(|&(start, _)| start);
    Program {
        xlen: shape.xlen,
        segments,
        tvec: code.handlers.iter().map(|&(p, n)| (p, code.insns[n].addr)).collect(),
        vectored: shape.vectored,
        entry: code.insns[code.boot].addr,
    }
}

/// Finds room for every segment near its requested base.
fn place(plan: &Plan, shape: &Shape) -> Vec<u64> {
    let mask = shape.address_mask();
    let step: u64 = if shape.compressed { 2 } else { 4 };
    let limit = u128::from(mask) + 1;
    let mut taken: Vec<(u128, u128)> = Vec::new();
    let mut bases = vec![0; plan.bases.len()];
    let sizes: Vec<u128> = (0..plan.bases.len())
        .map(|segment| {
            let functions = plan.functions.iter().filter(|f| f.segment == segment);
            functions.map(room).sum::<u64>().into()
        })
        .collect();
    // The absolute segment is the last one, and the only one that cannot move.
    for segment in (0..plan.bases.len()).rev() {
        let size = sizes[segment];
        let mut at = u128::from(plan.bases[segment] & mask & !(step - 1));
        if at + size > limit {
            at = (limit - size) & !u128::from(step - 1);
        }
        let mut wrapped = false;
        while let Some(&(_, end)) = taken.iter().find(|&&(s, e)| at < e && s < at + size) {
            at = (end + 0xfff) & !0xfff;
            if at + size > limit {
                if wrapped {
                    break;
                }
                wrapped = true;
                at = 0;
            }
        }
        taken.push((at, at + size));
        bases[segment] = at as u64;
    }
    bases
}

/// Upper bound of a function's size, padding included.
fn room(function: &Function) -> u64 {
    let padding = match function.align {
        Align::No => 0,
        Align::To(to) => to,
        Align::Like(_) => 4096,
    };
    function.items.len() as u64 * 4 + padding
}

fn bytes(item: &Item) -> u8 {
    if item.short { 2 } else { 4 }
}

fn upper(form: Upper, rd: asm::Reg, imm: i64) -> u32 {
    match form {
        Upper::Lui => asm::lui(rd, imm),
        Upper::Auipc => asm::auipc(rd, imm),
        Upper::CLui => asm::c_lui(rd, imm),
    }
}

impl Layout<'_> {
    fn at(&self, label: Label) -> u64 {
        self.addresses[label.function][label.item]
    }

    /// Distance between two addresses as the hart computes it.
    fn distance(&self, from: u64, to: u64) -> i64 {
        let distance = to.wrapping_sub(from);
        match self.xlen {
            Xlen::Rv32 => i64::from(distance as i32),
            Xlen::Rv64 => distance as i64,
        }
    }

    fn assign(&mut self) {
        let mut at = 0;
        for function in 0..self.functions.len() {
            let f = &self.functions[function];
            if function == 0 || self.functions[function - 1].segment != f.segment {
                at = self.bases[f.segment];
            }
            let padding = match f.align {
                Align::No => 0,
                Align::To(to) => at.wrapping_neg() & (to - 1),
                Align::Like(label) => self.at(label).wrapping_sub(at) & 0xfff,
            };
            at = at.wrapping_add(padding);
            for (n, item) in f.items.iter().enumerate() {
                self.addresses[function][n] = at;
                at = at.wrapping_add(bytes(item).into());
            }
        }
    }

    /// Widens the short branches and jumps that do not reach their targets. Returns whether there
    /// were any.
    fn relax(&mut self) -> bool {
        let mut any = false;
        for function in 0..self.functions.len() {
            for item in 0..self.functions[function].items.len() {
                let Item { op, short: true } = self.functions[function].items[item] else {
                    continue;
                };
                let (to, reach) = match op {
                    Op::Branch { to, .. } => (to, 256),
                    Op::Jump { to, .. } => (to, 2048),
                    _ => continue,
                };
                let distance = self.distance(self.addresses[function][item], self.at(to));
                if !(-reach..reach).contains(&distance) {
                    self.functions[function].items[item].short = false;
                    any = true;
                }
            }
        }
        any
    }

    /// Upper and lower part of an address, and the form that can hold them.
    fn split(
        &self,
        wanted: Upper,
        at: Label,
        to: Label,
        jump: Option<&Item>,
    ) -> Option<(Upper, i64, i64)> {
        let forms: &[Upper] = match wanted {
            Upper::CLui => &[Upper::CLui],
            Upper::Lui => &[Upper::Lui, Upper::Auipc],
            Upper::Auipc => &[Upper::Auipc, Upper::Lui],
        };
        let exact = jump.is_some_and(|j| j.short);
        forms.iter().find_map(|&form| {
            let base = if form == Upper::Auipc { self.at(at) } else { 0 };
            let value = self.distance(base, self.at(to));
            let lo = (value << 52) >> 52;
            let hi = value.wrapping_sub(lo);
            // Only the low 32 bits matter on RV32.
            let hi = if self.xlen == Xlen::Rv32 { i64::from(hi as i32) } else { hi };
            let fits = match form {
                Upper::CLui => (-0x2_0000..0x2_0000).contains(&hi) && hi != 0,
                _ => i64::from(hi as i32) == hi,
            };
            (fits && (!exact || lo == 0)).then_some((form, hi, lo))
        })
    }

    /// Encodes everything but upper immediates; `low` belongs to the second half of a pair that
    /// reaches its target.
    fn encode(
        &self,
        item: &Item,
        label: Label,
        low: Option<(i64, usize)>,
        flat: &dyn Fn(Label) -> usize,
    ) -> (u32, Kind) {
        let to_offset = |to: Label| self.distance(self.at(label), self.at(to));
        match item.op {
            Op::Plain { word, access } => (word, Kind::Plain(access)),
            Op::Upper { rd, form, imm, .. } => (upper(form, rd, imm), Kind::Upper),
            Op::Branch { to, style, funct3, rs1, rs2 } => {
                let offset = to_offset(to);
                let word = if item.short {
                    asm::c_branch(6 + (funct3 & 1), rs1, offset)
                } else {
                    asm::branch(funct3, rs1, rs2, offset)
                };
                (word, Kind::Branch { to: flat(to), style })
            }
            Op::Jump { rd, to } => {
                let offset = to_offset(to);
                let word = match (item.short, rd) {
                    (true, 0) => asm::c_jump(5, offset),
                    (true, _) => asm::c_jump(1, offset),
                    (false, _) => asm::jal(rd, offset),
                };
                (word, Kind::Jump { to: flat(to), itype: direct_class(rd) })
            }
            Op::Absolute { rd, to, odd } => {
                let imm = self.distance(0, self.at(to)) | i64::from(odd);
                (asm::jalr(rd, 0, imm), Kind::Jump { to: flat(to), itype: direct_class(rd) })
            }
            Op::Indirect { rd, rs1, imm, site, paired } => {
                let imm = match low {
                    Some((lo, _)) if paired => lo + imm,
                    _ => imm,
                };
                let word = match (item.short, rd) {
                    (true, 0) => asm::c_jr(rs1),
                    (true, _) => asm::c_jalr(rs1),
                    (false, _) => asm::jalr(rd, rs1, imm),
                };
                let pair = low.filter(|_| paired).map(|(_, target)| target);
                (word, Kind::Indirect { itype: indirect_class(rd, rs1), site, pair })
            }
            Op::Raise { word } => (word, Kind::Raise),
            Op::TrapReturn(Privilege::S) => (asm::SRET, Kind::TrapReturn),
            Op::TrapReturn(_) => (asm::MRET, Kind::TrapReturn),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn segments_do_not_overlap_whatever_the_bases() {
        for seed in 0..200 {
            let base = [0, 0x100, 0x8000_0000, u64::MAX, 0xffff_ffff][seed as usize % 5];
            let shape = Shape {
                bases: vec![base; 20],
                functions: 200,
                density: 1000,
                address_bits: (seed % 70) as u8,
                ..Shape::random(seed)
            };
            let mut rng = Rng::with_seed(seed);
            let (program, code) = lay_out(crate::walk::body::generate(&shape, &mut rng), &shape);
            let mut end = 0;
            for (start, bytes) in &program.segments {
                assert!(*start >= end, "segment at {start:#x} overlaps");
                end = start + (bytes.len() as u64 - 1);
                assert!(end <= shape.address_mask());
            }
            assert!(!code.roots.is_empty() && !code.leaves.is_empty());
            assert_eq!(code.insns[code.roots[0]].addr, code.insns[code.bodies[0].start].addr);
        }
    }
}
