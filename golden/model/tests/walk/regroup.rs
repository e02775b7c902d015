//! Blocks and cycles carry the same information as the rows.

use hartrace_etrace::ingress::{CType, Flavour, IType, Retired};
use hartrace_golden::walk::{Program, Walk};

/// Splits blocks into instructions again.
fn split(program: &Program, blocks: &[Retired]) -> Vec<Retired> {
    let mut out = Vec::new();
    for block in blocks {
        let end = block.next_address();
        let mut at = block.iaddr;
        let mut first = true;
        while at != end {
            let bytes = program.fetch(at).expect("code").bytes;
            let mut row = Retired {
                itype: IType::None,
                iaddr: at,
                iretire: u32::from(bytes) / 2,
                ilastsize: bytes / 4,
                sijump: false,
                ctype: if first { block.ctype } else { CType::Unreported },
                cause: 0,
                tval: 0,
                halted: false,
                reset: false,
                trigger: Default::default(),
                ..*block
            };
            row.trigger.on = first && block.trigger.on;
            at += u64::from(bytes);
            let op = crate::common::op_at(program, row.iaddr);
            let raised = block.itype == IType::Exception && op == crate::common::Op::Raise;
            if at != end || block.itype.is_trap() && !raised && !first {
                let plain =
                    matches!(op, crate::common::Op::Plain | crate::common::Op::Upper { .. });
                assert!(plain, "{op:x?} inside {block:x?}");
            }
            if at == end && (!block.itype.is_trap() || raised) {
                row =
                    Retired { ctype: row.ctype, iretire: row.iretire, iaddr: row.iaddr, ..*block };
                row.trigger.on &= first;
            }
            if at == end {
                row.trigger.notify = block.trigger.notify;
                assert_eq!(row.ilastsize, block.ilastsize);
            }
            out.push(row);
            first = false;
            if raised && at == end {
                break;
            }
            if block.itype.is_trap() && at == end {
                let mut trap = Retired { iaddr: at, iretire: 0, ilastsize: 0, ..*block };
                trap.trigger.on = false;
                trap.trigger.notify = false;
                trap.ctype = CType::Unreported;
                out.push(trap);
            }
        }
        if block.iretire == 0 {
            out.push(*block);
        }
    }
    out
}

/// Removes what regrouping does not keep per row: the clock, and signals where they have no
/// meaning.
fn bare(row: &Retired) -> Retired {
    let trap = row.itype.is_trap();
    Retired {
        cycles: 1,
        cause: if trap { row.cause } else { 0 },
        tval: if trap { row.tval } else { 0 },
        ..*row
    }
}

fn compare(seed: u64, walk: &Walk, blocks: &[Retired]) {
    let again = split(&walk.program, blocks);
    assert_eq!(again.len(), walk.rows.len(), "seed {seed}");
    for (n, (a, b)) in again.iter().zip(&walk.rows).enumerate() {
        assert_eq!(bare(a), bare(b), "seed {seed} row {n}");
    }
    let cycles = |rows: &[Retired]| rows.iter().map(|r| u64::from(r.cycles)).sum::<u64>();
    assert_eq!(cycles(blocks), cycles(&walk.rows), "seed {seed}");
}

#[test]
fn blocks_split_into_the_rows() {
    let (mut long, mut merged_traps, mut younger) = (0, 0, 0);
    for seed in 0..300 {
        let walk = Walk::random(seed);
        for lanes in [0, 1, 2, 4] {
            for halfwords in [0, 7, 31] {
                let blocks = walk.blocks_within(seed, lanes, halfwords);
                compare(seed, &walk, &blocks);
                assert!(blocks.iter().all(|b| b.iretire <= halfwords.max(2)));
                for group in blocks.chunk_by(|_, b| b.cycles == 0) {
                    assert!(group.len() <= lanes.max(1));
                }
                long += blocks.iter().filter(|b| b.iretire > 8).count();
                merged_traps +=
                    blocks.iter().filter(|b| b.itype.is_trap() && b.iretire > 2).count();
                younger += blocks.iter().filter(|b| b.cycles == 0).count();
            }
        }
        assert_eq!(walk.blocks(seed, 3), walk.blocks(seed, 3));
    }
    assert!(long > 100 && merged_traps > 100 && younger > 100);
}

fn check_cycles<const N: usize>(seed: u64, walk: &Walk) {
    for cycles in [walk.cycles::<N>(), walk.single_cycles::<N>()] {
        let mut rows: Vec<Retired> = Vec::new();
        let mut context = None;
        for cycle in &cycles {
            assert_eq!(cycle.check(), Ok(()), "seed {seed}");
            for mut row in cycle.blocks() {
                // The whole cycle shares ctype, which is significant only when the context
                // changes.
                if cycle.flavour == Flavour::Single {
                    assert_eq!(row.iretire, if row.iretire == 0 { 0 } else { 1 << row.ilastsize });
                }
                let changed = context.replace(row.context) != Some(row.context);
                row.ctype = if changed { row.ctype } else { CType::Unreported };
                rows.push(row);
            }
        }
        let mut expected = walk.clone();
        let mut context = None;
        for row in &mut expected.rows {
            let changed = context.replace(row.context) != Some(row.context);
            row.ctype = if changed { row.ctype } else { CType::Unreported };
            row.cycles = 1;
        }
        let again = split(&walk.program, &rows);
        assert_eq!(again.len(), walk.rows.len());
        for (n, (a, b)) in again.iter().zip(&expected.rows).enumerate() {
            assert_eq!(bare(a), bare(b), "seed {seed} row {n}");
        }
        let clocks: u64 = walk.rows.iter().map(|r| u64::from(r.cycles)).sum();
        assert!(cycles.len() as u64 <= clocks);
    }
}

#[test]
fn cycles_unpack_into_the_rows() {
    for seed in 0..200 {
        let walk = Walk::random(seed);
        check_cycles::<1>(seed, &walk);
        check_cycles::<2>(seed, &walk);
        check_cycles::<5>(seed, &walk);
        assert!(walk.cycles::<0>().is_empty());
    }
}
