//! Groups rows of single instructions into blocks and cycles.

use crate::walk::program::Program;
use fastrand::Rng;
use hartrace_etrace::ingress::{Block, CType, Cycle, Flavour, IType, Retired};

/// Merges rows into blocks of at most `halfwords` (0 keeps single instructions) and puts up to
/// `lanes` of them into one cycle.
pub(crate) fn regroup(
    rows: &[Retired],
    program: &Program,
    seed: u64,
    lanes: usize,
    halfwords: u32,
) -> Vec<Retired> {
    let rng = &mut Rng::with_seed(seed ^ 0xb10c);
    // How eagerly this hart merges rows and joins blocks.
    let (merge, join) = (rng.u8(64..=255), rng.u8(64..=255));
    let mut out: Vec<Retired> = Vec::with_capacity(rows.len());
    let mut oldest = 0;
    let mut jumped = false;
    for row in rows {
        let used = out.len() - oldest;
        match out.last_mut() {
            Some(block)
                if !jumped
                    && block.iretire + row.iretire <= halfwords
                    && extends(block, row)
                    && rng.u8(..) <= merge =>
            {
                *block = merged(block, row);
                out[oldest].cycles += row.cycles;
            }
            Some(block) if used < lanes && shares(block, row) && rng.u8(..) <= join => {
                out.push(Retired { cycles: 0, ..*row });
                out[oldest].cycles += row.cycles;
            }
            _ => {
                oldest = out.len();
                out.push(*row);
            }
        }
        jumped = row.iretire > 0 && program.is_inferable_jump(row.iaddr);
    }
    out
}

/// Whether the shared signals of a cycle are right for both.
fn shares(block: &Retired, row: &Retired) -> bool {
    let closed = block.itype.is_trap() || block.trigger.off || block.halted || block.reset;
    let opens = row.trigger.on || row.ctype != CType::Unreported;
    let same =
        (block.privilege, block.context, block.time) == (row.privilege, row.context, row.time);
    same && !closed && !opens
}

/// Whether the row continues at the end of the block, with nothing special in between.
fn extends(block: &Retired, row: &Retired) -> bool {
    shares(block, row)
        && block.itype == IType::None
        && !block.trigger.notify
        && row.iaddr == block.next_address()
}

fn merged(block: &Retired, row: &Retired) -> Retired {
    let mut merged = Retired {
        iaddr: block.iaddr,
        iretire: block.iretire + row.iretire,
        ctype: block.ctype,
        cycles: block.cycles,
        ..*row
    };
    merged.trigger.on = block.trigger.on;
    if row.iretire == 0 {
        merged.ilastsize = block.ilastsize;
    }
    merged
}

/// Makes one cycle of each group of rows: those with `cycles` 0 belong to the preceding row.
pub(crate) fn pack<const N: usize>(rows: &[Retired], flavour: Flavour) -> Vec<Cycle<N>> {
    let mut out: Vec<Cycle<N>> = Vec::with_capacity(rows.len());
    let mut lane = 0;
    for row in rows {
        if row.cycles > 0 || lane >= N || out.is_empty() {
            let idle = out.last().map_or_else(|| still(&quiet(row, flavour)), still);
            let waits = row.cycles.saturating_sub(1).min(1 << 12);
            out.extend((0..waits).map(|_| idle));
            out.push(quiet(row, flavour));
            lane = 0;
        }
        let Some(cycle) = out.last_mut() else { continue };
        if row.itype.is_trap() {
            (cycle.cause, cycle.tval) = (row.cause, row.tval);
        }
        cycle.trigger_on |= row.trigger.on;
        cycle.trigger_off |= row.trigger.off;
        cycle.halted |= row.halted;
        cycle.reset |= row.reset;
        if let Some(block) = cycle.blocks.get_mut(lane) {
            *block = Block {
                itype: row.itype,
                iaddr: row.iaddr,
                iretire: match flavour {
                    Flavour::Block => row.iretire,
                    Flavour::Single => row.iretire.min(1),
                },
                ilastsize: row.ilastsize,
                sijump: row.sijump,
                notify: row.trigger.notify,
            };
        }
        lane += 1;
    }
    out
}

/// The row's cycle, still without blocks.
fn quiet<const N: usize>(row: &Retired, flavour: Flavour) -> Cycle<N> {
    Cycle {
        flavour,
        blocks: [Block::default(); N],
        cause: 0,
        tval: 0,
        privilege: row.privilege,
        context: row.context,
        ctype: row.ctype,
        time: row.time,
        trigger_on: false,
        trigger_off: false,
        halted: false,
        reset: false,
    }
}

/// A cycle after the last, in which nothing happens.
fn still<const N: usize>(last: &Cycle<N>) -> Cycle<N> {
    Cycle {
        blocks: [Block::default(); N],
        cause: 0,
        tval: 0,
        ctype: CType::Unreported,
        trigger_on: false,
        trigger_off: false,
        halted: false,
        reset: false,
        ..*last
    }
}
