//! What one of two traces has more of.

use super::side::Piece;
use hartrace_decoder::calls::Functions;
use std::collections::HashMap;
use std::hash::Hash;

/// Functions and edges in the stretches in which two traces differ, with counts of each trace.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    functions: HashMap<u64, [u64; 2]>,
    edges: HashMap<(u64, u64), [u64; 2]>,
}

impl Counts {
    /// Counts what only one trace has here, so many times.
    pub(super) fn add(
        &mut self,
        side: usize,
        piece: &Piece,
        next: Option<&Piece>,
        times: u64,
        functions: &Functions,
    ) {
        let (Some(start), Some(last)) = (piece.start(), piece.last()) else { return };
        let function = functions.containing(start).map_or(start, |range| range.start);
        count(&mut self.functions, function, side, piece.insns().saturating_mul(times));
        if let Some(to) = next.and_then(Piece::start) {
            count(&mut self.edges, (last, to), side, times);
        }
    }

    /// Functions by their start, with the instructions that each trace alone executed in them, as far as they differ. The
    /// largest difference comes first.
    pub fn functions(&self) -> Vec<(u64, [u64; 2])> {
        sorted(&self.functions)
    }

    /// Edges, with how often each trace alone took them, as far as they differ. The largest difference comes first.
    pub fn edges(&self) -> Vec<((u64, u64), [u64; 2])> {
        sorted(&self.edges)
    }
}

fn count<K: Hash + Eq>(map: &mut HashMap<K, [u64; 2]>, key: K, side: usize, more: u64) {
    if let Some(count) = map.entry(key).or_default().get_mut(side) {
        *count = count.saturating_add(more);
    }
}

fn sorted<K: Copy + Ord>(map: &HashMap<K, [u64; 2]>) -> Vec<(K, [u64; 2])> {
    let different = map.iter().filter(|(_, [a, b])| a != b);
    let mut list: Vec<_> = different.map(|(key, counts)| (*key, *counts)).collect();
    list.sort_unstable_by_key(|(key, [a, b])| (std::cmp::Reverse(a.abs_diff(*b)), *key));
    list
}
