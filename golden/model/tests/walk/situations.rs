//! Every situation on the list occurs within 300 random walks.

use crate::common::{Op, op_at, sequential, starts};
use hartrace_etrace::ingress::{CType, IType, ITypeWidth, Privilege, Retired};
use hartrace_golden::walk::{Walk, Xlen};
use std::collections::{BTreeMap, HashMap, HashSet};

const NAMES: &[&str] = &[
    "itype-0",
    "itype-1",
    "itype-2",
    "itype-3",
    "itype-4",
    "itype-5",
    "itype-6",
    "itype-8",
    "itype-9",
    "itype-10",
    "itype-11",
    "itype-12",
    "itype-13",
    "itype-14",
    "itype-15",
    "rv32",
    "rv64",
    "uncompressed",
    "code-below-2k",
    "code-at-end-of-rv32",
    "code-at-end-of-rv64",
    "code-with-top-bits",
    "code-across-4g",
    "jump-across-4g-or-more",
    "c.jal",
    "c.addiw",
    "c.j",
    "c.beqz",
    "jal-x5",
    "c.jr-x5",
    "c.jalr-x5",
    "c.jalr-x1",
    "jalr-x5-x5",
    "return-with-rd",
    "absolute-jump",
    "absolute-call",
    "absolute-other",
    "absolute-negative",
    "absolute-odd",
    "branch-to-itself",
    "branch-to-next",
    "backward-jump",
    "recursive-call",
    "depth-above-32",
    "loop-above-100",
    "branches-above-31-pending",
    "leaf-back-to-back",
    "tail-call-direct",
    "return-matched",
    "return-mismatched",
    "return-longjmp",
    "return-empty",
    "indirect-target-repeated",
    "indirect-target-is-branch",
    "swap-and-back",
    "swap-well-behaved",
    "sijump-8",
    "sijump-10",
    "sijump-12",
    "sijump-13",
    "sijump-14",
    "sijump-6",
    "sijump-lui",
    "sijump-auipc",
    "sijump-c.lui",
    "sijump-c.jr",
    "sijump-c.jalr",
    "sijump-odd",
    "sijump-backward",
    "sijump-other-segment",
    "pair-broken-by-trap",
    "pair-broken-other-target",
    "pair-entered-in-the-middle",
    "upper-then-other-register",
    "ecall",
    "ebreak",
    "c.ebreak",
    "ecall-retired",
    "exception-on-branch",
    "exception-on-ecall-fetch",
    "exception-fetch-fault",
    "exception-load",
    "exception-store",
    "interrupt-vectored",
    "trap-first-row",
    "trap-last-row",
    "trap-after-not-taken",
    "trap-after-taken",
    "trap-after-indirect",
    "trap-after-return",
    "trap-after-xret",
    "trap-after-call",
    "trap-at-handler-entry",
    "trap-trap-trap",
    "exception-then-interrupt",
    "interrupt-then-exception",
    "trap-deep",
    "trap-m-to-m",
    "trap-s-to-s",
    "trap-s-to-m",
    "trap-u-to-s",
    "trap-u-to-m",
    "xret-same-privilege",
    "xret-lower-privilege",
    "xret-retry",
    "xret-skip",
    "xret-elsewhere",
    "mret",
    "sret",
    "context-0",
    "context-1",
    "context-2",
    "context-3",
    "context-same",
    "context-at-handler-entry",
    "context-on-branch",
    "notify",
    "notify-on-branch",
    "trace-off",
    "trace-on",
    "trace-on-and-off",
    "trace-off-then-on-next",
    "trace-off-before-trap",
    "halted",
    "reset",
    "time",
    "stall",
];

#[derive(Default)]
struct Count(BTreeMap<String, usize>);

impl Count {
    fn see(&mut self, name: &str) {
        assert!(NAMES.contains(&name), "{name} is not on the list");
        *self.0.entry(name.into()).or_default() += 1;
    }

    fn see_if(&mut self, when: bool, name: &str) {
        if when {
            self.see(name);
        }
    }
}

fn uninferable(itype: IType) -> bool {
    matches!(itype.narrow(), IType::UninferableJump)
}

fn program(walk: &Walk, count: &mut Count) {
    let rv32 = walk.program.xlen == Xlen::Rv32;
    count.see(if rv32 { "rv32" } else { "rv64" });
    count.see_if(!walk.shape.compressed, "uncompressed");
    for (start, bytes) in &walk.program.segments {
        let last = start + (bytes.len() as u64 - 1);
        count.see_if(last < 2048, "code-below-2k");
        count.see_if(rv32 && last >= 0xffff_0000, "code-at-end-of-rv32");
        count.see_if(last >= 0xffff_ffff_ffff_0000, "code-at-end-of-rv64");
        count.see_if(*start >= 0xffff_f000_0000_0000, "code-with-top-bits");
        count.see_if(*start < 1 << 32 && last >= 1 << 32, "code-across-4g");
    }
}

/// What one retired word looks like.
fn word(walk: &Walk, row: &Retired, next: Option<&Retired>, count: &mut Count) {
    let word = walk.program.fetch(row.iaddr).expect("code");
    let op = op_at(&walk.program, row.iaddr);
    let short = word.bytes == 2;
    let rv32 = walk.program.xlen == Xlen::Rv32;
    if short && word.bits & 0xe003 == 0x2001 {
        count.see(if rv32 { "c.jal" } else { "c.addiw" });
    }
    match op {
        Op::Branch { to } => {
            count.see_if(short, "c.beqz");
            count.see_if(to == row.iaddr, "branch-to-itself");
            count.see_if(to == row.next_address(), "branch-to-next");
        }
        Op::Jal { rd, to } => {
            count.see_if(short && rd == 0, "c.j");
            count.see_if(rd == 5, "jal-x5");
            count.see_if(to < row.iaddr && rd != 1 && rd != 5, "backward-jump");
            count.see_if(to < row.iaddr && (rd == 1 || rd == 5), "recursive-call");
            count.see_if(rd == 0 && to.abs_diff(row.iaddr) > 64, "tail-call-direct");
        }
        Op::Jalr { rd, rs1: 0, imm } => {
            let name = match rd {
                0 => "absolute-jump",
                1 | 5 => "absolute-call",
                _ => "absolute-other",
            };
            count.see(name);
            count.see_if(imm < 0, "absolute-negative");
            count.see_if(imm & 1 == 1, "absolute-odd");
        }
        Op::Jalr { rd, rs1, .. } => {
            count.see_if(short && rd == 0 && rs1 == 5, "c.jr-x5");
            count.see_if(short && rd == 1 && rs1 == 5, "c.jalr-x5");
            count.see_if(short && rd == 1 && rs1 == 1, "c.jalr-x1");
            count.see_if(rd == 5 && rs1 == 5, "jalr-x5-x5");
            count.see_if(rd > 1 && rd != 5 && (rs1 == 1 || rs1 == 5), "return-with-rd");
            if let Some(next) = next {
                let far = next.iaddr.abs_diff(row.iaddr) >= 1 << 32;
                count.see_if(far, "jump-across-4g-or-more");
                let branch = matches!(op_at(&walk.program, next.iaddr), Op::Branch { .. });
                count.see_if(branch && next.iretire > 0, "indirect-target-is-branch");
            }
        }
        Op::Mret => count.see("mret"),
        Op::Sret => count.see("sret"),
        _ => {}
    }
}

fn pairs(walk: &Walk, starts: &HashSet<u64>, n: usize, count: &mut Count) {
    let (program, rows) = (&walk.program, &walk.rows);
    let row = &rows[n];
    let Op::Jalr { rd, rs1, imm } = op_at(program, row.iaddr) else { return };
    if rs1 == 0 {
        return;
    }
    let next = rows.get(n + 1);
    let word = program.fetch(row.iaddr).expect("code");
    if row.sijump {
        let upper = program.fetch(rows[n - 1].iaddr).expect("code");
        count.see(&format!("sijump-{}", row.itype.raw()));
        count.see(match (upper.bytes, upper.bits & 0x7f) {
            (2, _) => "sijump-c.lui",
            (_, 0x37) => "sijump-lui",
            _ => "sijump-auipc",
        });
        count.see_if(word.bytes == 2 && rd == 0, "sijump-c.jr");
        count.see_if(word.bytes == 2 && rd == 1, "sijump-c.jalr");
        count.see_if(imm & 1 == 1, "sijump-odd");
        if let Some(next) = next {
            count.see_if(next.iaddr < row.iaddr, "sijump-backward");
            count.see_if(next.iaddr.abs_diff(row.iaddr) > 1 << 20, "sijump-other-segment");
        }
        return;
    }
    // The preceding instruction in memory, if it is an upper immediate.
    let front = [2, 4].into_iter().find_map(|back| {
        let at = row.iaddr.checked_sub(back).filter(|at| starts.contains(at))?;
        let word = program.fetch(at)?;
        (u64::from(word.bytes) == back).then_some(())?;
        match op_at(program, at) {
            Op::Upper { rd, value } => Some((at, rd, value)),
            _ => None,
        }
    });
    let Some((at, upper, value)) = front else { return };
    if upper != rs1 {
        count.see_if(n > 0 && rows[n - 1].iaddr == at, "upper-then-other-register");
    } else if n > 0 && rows[n - 1].itype == IType::TrapReturn {
        count.see("pair-broken-by-trap");
        let target = program.xlen.wrap(value.wrapping_add(imm as u64)) & !1;
        count.see_if(next.is_some_and(|r| r.iaddr != target), "pair-broken-other-target");
    } else {
        count.see("pair-entered-in-the-middle");
        assert_eq!(sequential(program, rows, n), None);
    }
}

fn traps(walk: &Walk, n: usize, depth: usize, count: &mut Count) {
    let (program, rows) = (&walk.program, &walk.rows);
    let row = &rows[n];
    let interrupt = row.itype == IType::Interrupt;
    let word = program.fetch(row.iaddr).expect("code");
    let op = op_at(program, row.iaddr);
    if op == Op::Raise && !interrupt && matches!(row.cause, 3 | 8..=11) {
        count.see(match word.bits {
            0x73 => "ecall",
            0x9002 => "c.ebreak",
            _ => "ebreak",
        });
        count.see_if(row.iretire > 0, "ecall-retired");
    } else if !interrupt {
        count.see_if(op == Op::Raise, "exception-on-ecall-fetch");
        count.see_if(matches!(op, Op::Branch { .. }), "exception-on-branch");
        count.see_if(matches!(row.cause, 1 | 12) && row.tval == row.iaddr, "exception-fetch-fault");
        count.see_if(matches!(row.cause, 4 | 5 | 13), "exception-load");
        count.see_if(matches!(row.cause, 6 | 7 | 15), "exception-store");
    }
    count.see_if(interrupt && walk.shape.vectored, "interrupt-vectored");
    count.see_if(n == 0, "trap-first-row");
    count.see_if(n + 1 == rows.len(), "trap-last-row");
    count.see_if(depth >= 4, "trap-deep");
    let before = n.checked_sub(1).map(|n| &rows[n]);
    match before.filter(|b| row.iretire == 0 && !b.reset).map(|b| (b, b.itype)) {
        Some((_, IType::NotTaken)) => count.see("trap-after-not-taken"),
        Some((_, IType::Taken)) => count.see("trap-after-taken"),
        Some((_, IType::TrapReturn)) => count.see("trap-after-xret"),
        Some((_, IType::Return)) => count.see("trap-after-return"),
        Some((_, itype)) if itype.is_call() => count.see("trap-after-call"),
        Some((_, itype)) if uninferable(itype) => count.see("trap-after-indirect"),
        Some((b, itype)) if itype.is_trap() => {
            count.see("trap-at-handler-entry");
            count.see_if(itype == IType::Exception && interrupt, "exception-then-interrupt");
            count.see_if(itype == IType::Interrupt && !interrupt, "interrupt-then-exception");
            count.see_if(b.iretire == 0 && n > 1 && rows[n - 2].itype.is_trap(), "trap-trap-trap");
        }
        _ => {}
    }
    let Some(next) = rows.get(n + 1).filter(|_| !row.reset) else { return };
    let name = match (row.privilege, next.privilege) {
        (Privilege::M, _) => "trap-m-to-m",
        (Privilege::S, Privilege::S) => "trap-s-to-s",
        (Privilege::S, _) => "trap-s-to-m",
        (_, Privilege::S) => "trap-u-to-s",
        _ => "trap-u-to-m",
    };
    count.see(name);
}

fn sideband(rows: &[Retired], n: usize, count: &mut Count) {
    let row = &rows[n];
    let t = row.trigger;
    let before = n.checked_sub(1).map(|n| &rows[n]);
    count.see_if(t.notify, "notify");
    count.see_if(t.notify && row.itype.is_branch(), "notify-on-branch");
    count.see_if(t.off, "trace-off");
    count.see_if(t.on, "trace-on");
    count.see_if(t.on && t.off, "trace-on-and-off");
    count.see_if(row.halted, "halted");
    count.see_if(row.reset, "reset");
    count.see_if(row.cycles > 1, "stall");
    let Some(before) = before else { return };
    count.see_if(before.trigger.off && t.on, "trace-off-then-on-next");
    count.see_if(before.trigger.off && row.itype.is_trap(), "trace-off-before-trap");
    count.see_if(row.time > before.time, "time");
    if row.context != before.context {
        count.see(match row.ctype {
            CType::Unreported => "context-0",
            CType::Imprecise => "context-1",
            CType::Precise => "context-2",
            CType::AsynchronousDiscontinuity => "context-3",
        });
        count.see_if(before.itype.is_trap(), "context-at-handler-entry");
        count.see_if(row.itype.is_branch(), "context-on-branch");
    } else {
        count.see_if(row.ctype != CType::Unreported, "context-same");
    }
}

fn flow(walk: &Walk, count: &mut Count) {
    let rows = &walk.rows;
    let starts = starts(&walk.program);
    let mut stack: Vec<u64> = Vec::new();
    let mut frames: Vec<(u64, Vec<u64>)> = Vec::new();
    let mut calls: Vec<(u64, bool)> = Vec::new();
    let mut loops: HashMap<u64, u32> = HashMap::new();
    let mut targets: HashMap<(u64, u64), u32> = HashMap::new();
    let (mut pending, mut swap, mut leaf) = (0, None, None);
    for (n, row) in rows.iter().enumerate() {
        let next = rows.get(n + 1).filter(|_| !row.reset);
        count.see(&format!("itype-{}", row.itype.raw()));
        sideband(rows, n, count);
        if row.itype.is_trap() {
            traps(walk, n, frames.len() + 1, count);
            frames.push((row.iaddr, std::mem::take(&mut stack)));
        } else {
            word(walk, row, next, count);
            pairs(walk, &starts, n, count);
        }
        if row.itype.is_branch() {
            pending += 1;
            let run = loops.entry(row.iaddr).or_default();
            *run = if row.itype == IType::Taken { *run + 1 } else { 0 };
            count.see_if(*run > 100, "loop-above-100");
            calls.clear();
        } else if row.itype.is_trap() || uninferable(row.itype) || row.itype == IType::TrapReturn {
            pending = 0;
        }
        count.see_if(pending > 31, "branches-above-31-pending");
        if uninferable(row.itype)
            && let Some(next) = next
        {
            let times = targets.entry((row.iaddr, next.iaddr)).or_default();
            *times += 1;
            count.see_if(*times == 5, "indirect-target-repeated");
        }
        match row.itype {
            IType::InferableCall | IType::UninferableCall => {
                stack.push(row.next_address());
                count.see_if(stack.len() > 32, "depth-above-32");
                let target = next.map_or(0, |r| r.iaddr);
                count.see_if(leaf == Some((row.iaddr, target)), "leaf-back-to-back");
                calls = vec![(target, true)];
            }
            IType::Return => {
                let back = stack.last() == next.map(|r| &r.iaddr);
                let name = match stack.pop() {
                    None => "return-empty",
                    Some(_) if back => "return-matched",
                    _ => "return-mismatched",
                };
                count.see_if(next.is_some(), name);
                let deeper = next.is_some_and(|r| stack.contains(&r.iaddr));
                count.see_if(!back && deeper, "return-longjmp");
                // The next instruction calls the same branch-free leaf again.
                leaf = next.filter(|_| back).and_then(|r| Some((r.iaddr, calls.first()?.0)));
                calls.clear();
            }
            IType::CoRoutineSwap => {
                count.see_if(walk.shape.well_behaved, "swap-well-behaved");
                count.see_if(swap.is_some() && swap == next.map(|r| r.iaddr), "swap-and-back");
                swap = Some(row.next_address());
            }
            IType::TrapReturn => {
                if let Some(next) = next {
                    let same = next.privilege == row.privilege;
                    count.see(if same { "xret-same-privilege" } else { "xret-lower-privilege" });
                    if let Some((epc, saved)) = frames.pop() {
                        let size = walk.program.fetch(epc).expect("code").bytes;
                        count.see(match next.iaddr.wrapping_sub(epc) {
                            0 => "xret-retry",
                            skip if skip == u64::from(size) => "xret-skip",
                            _ => "xret-elsewhere",
                        });
                        stack = saved;
                    }
                }
            }
            _ => {}
        }
        if row.reset {
            frames.clear();
            stack.clear();
        }
    }
}

#[test]
fn every_situation_occurs() {
    let mut count = Count::default();
    for seed in 0..300 {
        let walk = Walk::random(seed);
        if walk.shape.itype_width == ITypeWidth::Four || seed % 2 == 0 {
            program(&walk, &mut count);
            flow(&walk, &mut count);
        }
    }
    for name in NAMES {
        println!("{:8} {name}", count.0.get(*name).copied().unwrap_or(0));
    }
    let missing: Vec<_> = NAMES.iter().filter(|n| !count.0.contains_key(**n)).collect();
    assert!(missing.is_empty(), "never seen: {missing:?}");
}
