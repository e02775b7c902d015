//! The flame graph of a page: call stacks by the instructions in them, without those that could not be seen.

use super::tables::Numbered;
use crate::calls::{Total, Tree};
use serde::Serialize;
use std::cmp::Reverse;

/// Stacks in a page.
const STACKS: usize = 10_000;

/// Deeper stacks are not drawn.
const ROWS: u64 = 200;

/// The smallest share of all instructions that is drawn: one in so many.
const FINEST: u64 = 5_000;

/// The stacks of a source.
#[derive(Serialize)]
pub(super) struct FlameData {
    source: Option<u16>,
    /// For each stack: how deep it is, the number of its innermost function plus 1, its instructions with those of what it
    /// called, and those that the function executed itself. Callers come before what they call, larger stacks before smaller
    /// ones. The first is the empty stack, with all instructions.
    stacks: Vec<u64>,
}

/// The stacks of all sources, and the fewest instructions that are drawn.
pub(super) fn flames(
    trees: &mut [(Option<u16>, Tree, u64)],
    numbered: &Numbered,
) -> (Vec<FlameData>, u64) {
    let totals: Vec<_> =
        trees.iter_mut().map(|(source, tree, insns)| (*source, tree.totals(*insns))).collect();
    let all = totals.iter().filter_map(|(_, stacks)| stacks.first());
    let all = all.fold(0u64, |sum, first| sum.saturating_add(first.insns));
    let mut threshold = all.div_ceil(FINEST).max(1);
    let shown = |threshold: u64| {
        let stacks = totals.iter().flat_map(|(_, stacks)| stacks);
        stacks.filter(|stack| stack.insns >= threshold).count()
    };
    while shown(threshold) > STACKS {
        threshold = threshold.saturating_mul(2);
    }
    let data = totals.iter().map(|(source, stacks)| FlameData {
        source: *source,
        stacks: in_order(stacks, threshold, numbered),
    });
    (data.collect(), threshold)
}

/// The stacks of at least `threshold` instructions, as [`FlameData`] has them.
fn in_order(stacks: &[Total], threshold: u64, numbered: &Numbered) -> Vec<u64> {
    let mut called: Vec<Vec<usize>> = vec![Vec::new(); stacks.len()];
    for (index, stack) in stacks.iter().enumerate().skip(1) {
        if stack.insns >= threshold
            && let Some(called) = called.get_mut(stack.caller)
        {
            called.push(index);
        }
    }
    let mut flat = Vec::new();
    let mut waiting = vec![(0, 0)];
    while let Some((index, depth)) = waiting.pop() {
        let Some(stack) = stacks.get(index) else { continue };
        let function = if index == 0 { 0 } else { numbered.number(stack.callee) };
        flat.extend([depth, function, stack.insns, stack.own]);
        let Some(called) = called.get_mut(index).filter(|_| depth < ROWS) else { continue };
        // The last that waits is the next.
        called.sort_by_key(|index| stacks.get(*index).map(|stack| (stack.insns, Reverse(*index))));
        waiting.extend(called.drain(..).map(|index| (index, depth.saturating_add(1))));
    }
    flat
}
