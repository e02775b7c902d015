//! A second opinion on walks: decodes the program again and follows the rows.

use hartrace_etrace::ingress::{IType, ITypeWidth, Privilege, Retired};
use hartrace_golden::walk::{Program, Walk, Word, Xlen};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Effect of a word on the flow of control, decoded independently.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Plain,
    Upper { rd: u8, value: u64 },
    Branch { to: u64 },
    Jal { rd: u8, to: u64 },
    Jalr { rd: u8, rs1: u8, imm: i64 },
    Raise,
    Mret,
    Sret,
}

/// Collects bits of `word` into a sign-extended number: (from bit, to bit), the last is the sign.
fn gather(word: u32, bits: &[(u32, u32)]) -> i64 {
    let value: u32 = bits.iter().map(|&(from, to)| (word >> from & 1) << to).sum();
    let sign = bits.iter().map(|b| b.1).max().expect("not empty");
    i64::from((value << (31 - sign)) as i32 >> (31 - sign))
}

pub(crate) fn decode(word: Word, pc: u64, xlen: Xlen) -> Op {
    let w = word.bits;
    let to = |offset: i64| xlen.wrap(pc.wrapping_add(offset as u64));
    let reg = |at: u32| (w >> at & 31) as u8;
    if word.bytes == 2 {
        let jump = [
            (12, 11),
            (11, 4),
            (10, 9),
            (9, 8),
            (8, 10),
            (7, 6),
            (6, 7),
            (5, 3),
            (4, 2),
            (3, 1),
            (2, 5),
        ];
        let branch = [(12, 8), (11, 4), (10, 3), (6, 7), (5, 6), (4, 2), (3, 1), (2, 5)];
        let upper = [(12, 17), (6, 16), (5, 15), (4, 14), (3, 13), (2, 12)];
        return match (w & 3, w >> 13) {
            (1, 5) => Op::Jal { rd: 0, to: to(gather(w, &jump)) },
            (1, 1) if xlen == Xlen::Rv32 => Op::Jal { rd: 1, to: to(gather(w, &jump)) },
            (1, 6 | 7) => Op::Branch { to: to(gather(w, &branch)) },
            (1, 3) if reg(7) != 2 => {
                assert!(reg(7) != 0 && gather(w, &upper) != 0, "reserved c.lui");
                Op::Upper { rd: reg(7), value: xlen.wrap(gather(w, &upper) as u64) }
            }
            (2, 4) if reg(2) == 0 && w >> 12 & 1 == 0 => {
                assert_ne!(reg(7), 0, "reserved c.jr");
                Op::Jalr { rd: 0, rs1: reg(7), imm: 0 }
            }
            (2, 4) if reg(2) == 0 && reg(7) == 0 => Op::Raise,
            (2, 4) if reg(2) == 0 => Op::Jalr { rd: 1, rs1: reg(7), imm: 0 },
            _ => Op::Plain,
        };
    }
    let high = i64::from((w & 0xffff_f000) as i32);
    match w & 0x7f {
        0x37 => Op::Upper { rd: reg(7), value: xlen.wrap(high as u64) },
        0x17 => Op::Upper { rd: reg(7), value: to(high) },
        0x63 => {
            let mut bits = vec![(7, 11), (31, 12)];
            bits.extend((8..12).map(|b| (b, b - 7)));
            bits.extend((25..31).map(|b| (b, b - 20)));
            Op::Branch { to: to(gather(w, &bits)) }
        }
        0x6f => {
            let mut bits = vec![(20, 11), (31, 20)];
            bits.extend((12..20).map(|b| (b, b)));
            bits.extend((21..31).map(|b| (b, b - 20)));
            Op::Jal { rd: reg(7), to: to(gather(w, &bits)) }
        }
        0x67 => Op::Jalr { rd: reg(7), rs1: reg(15), imm: i64::from(w as i32 >> 20) },
        0x73 => match w {
            0x0000_0073 | 0x0010_0073 => Op::Raise,
            0x1020_0073 => Op::Sret,
            0x3020_0073 => Op::Mret,
            _ => Op::Plain,
        },
        _ => Op::Plain,
    }
}

pub(crate) fn op_at(program: &Program, address: u64) -> Op {
    let word = program.fetch(address).unwrap_or_else(|| panic!("no code at {address:#x}"));
    decode(word, address, program.xlen)
}

/// The addresses of all instructions.
pub(crate) fn starts(program: &Program) -> HashSet<u64> {
    let mut starts = HashSet::new();
    for (start, bytes) in &program.segments {
        let mut offset = 0;
        while offset < bytes.len() as u64 {
            let at = start + offset;
            op_at(program, at);
            starts.insert(at);
            offset += u64::from(program.fetch(at).expect("whole instructions").bytes);
        }
        assert_eq!(offset, bytes.len() as u64);
    }
    starts
}

/// The class table, in the words of the specification.
pub(crate) fn itype_of(op: Op) -> Option<IType> {
    let link = |r: u8| r == 1 || r == 5;
    Some(match op {
        Op::Plain | Op::Upper { .. } => IType::None,
        Op::Mret | Op::Sret => IType::TrapReturn,
        Op::Jal { rd, .. } | Op::Jalr { rd, rs1: 0, .. } if link(rd) => IType::InferableCall,
        Op::Jal { rd: 0, .. } | Op::Jalr { rd: 0, rs1: 0, .. } => IType::InferableTailCall,
        Op::Jal { .. } | Op::Jalr { rs1: 0, .. } => IType::OtherInferableJump,
        Op::Jalr { rd: 1, rs1: 5, .. } | Op::Jalr { rd: 5, rs1: 1, .. } => IType::CoRoutineSwap,
        Op::Jalr { rd, .. } if link(rd) => IType::UninferableCall,
        Op::Jalr { rs1, .. } if link(rs1) => IType::Return,
        Op::Jalr { rd: 0, .. } => IType::UninferableTailCall,
        Op::Jalr { .. } => IType::OtherUninferableJump,
        Op::Branch { .. } | Op::Raise => return None,
    })
}

/// Target and flag of a jump that may be sequentially inferable.
pub(crate) fn sequential(program: &Program, rows: &[Retired], n: usize) -> Option<u64> {
    let before = rows.get(n.checked_sub(1)?)?;
    let Op::Jalr { rs1, imm, .. } = op_at(program, rows[n].iaddr) else { return None };
    if before.iretire == 0 || before.reset || rs1 == 0 {
        return None;
    }
    match op_at(program, before.iaddr) {
        Op::Upper { rd, value } if rd == rs1 => {
            Some(program.xlen.wrap(value.wrapping_add(imm as u64)) & !1)
        }
        _ => None,
    }
}

/// Where a check failed.
struct Note<'a> {
    seed: u64,
    n: usize,
    row: &'a Retired,
    next: Option<&'a Retired>,
}

impl fmt::Display for Note<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} row {}: {:x?} then {:x?}", self.seed, self.n, self.row, self.next)
    }
}

struct Frame {
    epc: u64,
    privilege: Privilege,
    stack: Vec<u64>,
}

/// Panics if the walk breaks any promise of [`Walk`].
pub(crate) fn check(walk: &Walk) {
    let (shape, program, rows) = (&walk.shape, &walk.program, &walk.rows);
    let narrow = |itype: IType| match shape.itype_width {
        ITypeWidth::Three => itype.narrow(),
        ITypeWidth::Four => itype,
    };
    assert_eq!(rows.len(), shape.steps);
    let bits = shape.address_bits.clamp(24, shape.xlen.bits() as u8);
    for (start, bytes) in &program.segments {
        assert!(start + (bytes.len() as u64 - 1) <= u64::MAX >> (64 - bits));
    }
    let starts = starts(program);
    let mut frames: Vec<Frame> = Vec::new();
    let mut stack: Vec<u64> = Vec::new();
    let mut barrier: Option<usize> = None;
    let mut seen: HashMap<u64, u32> = HashMap::new();
    let mut epoch = 0;
    for (n, row) in rows.iter().enumerate() {
        let next = rows.get(n + 1);
        let seed = walk.seed;
        let note = Note { seed, n, row, next };
        let word = program.fetch(row.iaddr).unwrap_or_else(|| panic!("{note}"));
        assert!(starts.contains(&row.iaddr), "{note}");
        let op = decode(word, row.iaddr, program.xlen);
        let size = u64::from(word.bytes);
        assert!(word.bytes == 4 || shape.compressed, "{note}");
        assert!(shape.context_bits >= 64 || row.context >> shape.context_bits == 0, "{note}");
        assert!(row.cycles >= 1, "{note}");
        let known = row.privilege == Privilege::M
            || row.privilege == Privilege::S && shape.supervisor
            || row.privilege == Privilege::U && shape.user;
        assert!(known, "{note}");
        if row.iretire > 0 {
            assert_eq!(u64::from(row.iretire) * 2, size, "{note}");
            assert_eq!(row.last_bytes(), size, "{note}");
            let before = seen.insert(row.iaddr, epoch);
            assert_ne!(before, Some(epoch), "loop without a count: {note}");
        } else {
            assert!(row.itype.is_trap() && row.ilastsize == 0, "{note}");
            assert!(!row.trigger.notify && !row.halted && !row.reset, "{note}");
        }
        let sequential = sequential(program, rows, n).filter(|_| row.iretire > 0);
        assert_eq!(row.sijump, sequential.is_some(), "{note}");

        let follow = |address: u64| {
            if let Some(next) = next.filter(|_| !row.reset) {
                assert_eq!(next.iaddr, address, "{note}");
            }
        };
        let separates;
        if row.itype.is_trap() {
            let retires = op == Op::Raise && shape.ecall_retires;
            let interrupt = row.itype == IType::Interrupt;
            assert_eq!(row.iretire > 0, retires && !interrupt && row.iretire > 0, "{note}");
            if op == Op::Raise && matches!(row.cause, 3 | 8..=11) && !interrupt {
                assert_eq!(row.iretire > 0, shape.ecall_retires, "{note}");
            }
            assert!(row.cause < 16, "{note}");
            if let Some(next) = next.filter(|_| !row.reset) {
                assert!(next.privilege >= row.privilege, "{note}");
                assert_ne!(next.privilege, Privilege::U, "{note}");
                let handler = program.handler(next.privilege, interrupt, row.cause);
                follow(handler.unwrap_or_else(|| panic!("{note}")));
            }
            let stack = std::mem::take(&mut stack);
            frames.push(Frame { epc: row.iaddr, privilege: row.privilege, stack });
            barrier = None;
            separates = true;
        } else {
            if let Some(itype) = itype_of(op) {
                assert_eq!(row.itype, narrow(itype), "{note}");
            }
            assert_ne!(op, Op::Raise, "{note}");
            separates = match op {
                Op::Branch { to } => {
                    assert!(row.itype.is_branch(), "{note}");
                    follow(if row.itype == IType::Taken { to } else { row.next_address() });
                    true
                }
                Op::Jal { to, .. } => {
                    follow(to);
                    false
                }
                Op::Jalr { rs1: 0, imm, .. } => {
                    follow(program.xlen.wrap(imm as u64) & !1);
                    false
                }
                Op::Jalr { .. } => {
                    sequential.into_iter().for_each(follow);
                    !row.sijump
                }
                Op::Mret | Op::Sret => {
                    let privilege = if op == Op::Mret { Privilege::M } else { Privilege::S };
                    assert_eq!(row.privilege, privilege, "{note}");
                    if shape.well_behaved {
                        assert!(stack.is_empty() || frames.is_empty(), "{note}");
                    }
                    let frame = frames.pop();
                    if let Some(next) = next.filter(|_| !row.reset) {
                        assert!(next.privilege <= row.privilege, "{note}");
                        match frame {
                            Some(f) => {
                                let size = program.fetch(f.epc).map_or(0, |w| w.bytes.into());
                                let skip = next.iaddr == f.epc.wrapping_add(size);
                                let back = next.iaddr == f.epc || skip;
                                let back = back && next.privilege == f.privilege;
                                assert!(back || frames.is_empty() && shape.reschedules > 0);
                                stack = if back { f.stack } else { Vec::new() };
                            }
                            None => stack.clear(),
                        }
                    }
                    true
                }
                _ => {
                    follow(row.next_address());
                    false
                }
            };
            if !matches!(op, Op::Mret | Op::Sret)
                && let Some(next) = next.filter(|_| !row.reset)
            {
                assert_eq!(next.privilege, row.privilege, "{note}");
            }
            match itype_of(op) {
                Some(itype) if itype.is_call() => stack.push(row.next_address()),
                Some(IType::CoRoutineSwap) => barrier = Some(stack.len()),
                Some(IType::Return) if shape.well_behaved => {
                    assert!(!row.sijump, "{note}");
                    assert!(barrier.is_none_or(|b| stack.len() > b), "return past a swap: {note}");
                    stack.pop().into_iter().for_each(follow);
                }
                _ => {}
            }
        }
        if row.reset {
            if let Some(next) = next {
                assert_eq!((next.iaddr, next.privilege), (program.entry, Privilege::M), "{note}");
            }
            frames.clear();
            stack.clear();
            barrier = None;
        }
        epoch += u32::from(separates || row.reset);
    }
}
