//! The code of one process, at all times.

use std::ops::Range;
use std::sync::Arc;

/// A stretch of code in an address space, for some time.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) when: Range<u64>,
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// What is there; `None` if it is in memory that the log does not tell.
    pub(crate) code: Option<Arc<[u8]>>,
}

impl Layer {
    /// How far `address` is from the start, if it is within.
    fn offset(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.start).filter(|offset| *offset < self.length)
    }
}

/// The code of one process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    /// What comes later is written over what came before.
    layers: Vec<Layer>,
    /// When something changes, in order.
    times: Vec<u64>,
}

impl Process {
    pub(crate) fn new(layers: Vec<Layer>) -> Self {
        let mut times: Vec<u64> =
            layers.iter().flat_map(|layer| [layer.when.start, layer.when.end]).collect();
        // What never ends does not change.
        times.retain(|time| *time != u64::MAX);
        times.sort_unstable();
        times.dedup();
        Self { layers, times }
    }

    /// How many versions of its code there are.
    pub(crate) fn versions(&self) -> usize {
        self.times.len().saturating_add(1)
    }

    /// Which of them it is at a time.
    pub(crate) fn version(&self, now: u64) -> usize {
        self.times.partition_point(|time| *time <= now)
    }

    /// When each of them but the first starts.
    pub(crate) fn times(&self) -> &[u64] {
        &self.times
    }

    /// All of its code in a version, without overlaps.
    pub(crate) fn segments(&self, version: usize) -> Vec<(u64, &[u8])> {
        let edges = |layer: &Layer| [Some(layer.start), layer.start.checked_add(layer.length)];
        let mut edges: Vec<u64> = self.layers.iter().flat_map(edges).flatten().collect();
        edges.sort_unstable();
        edges.dedup();
        let code = |start: &u64| {
            let (code, _) = self.code(version, *start);
            let next = edges.get(edges.partition_point(|edge| edge <= start));
            let length = next.map_or(u64::MAX, |next| next.wrapping_sub(*start));
            code.map(|code| (*start, cut(code, length))).filter(|(_, code)| !code.is_empty())
        };
        edges.iter().filter_map(code).collect()
    }

    /// When the next one starts.
    pub(crate) fn changes(&self, now: u64) -> Option<u64> {
        self.times.get(self.version(now)).copied()
    }

    /// The code at an address in a version, and up to which distance from there nothing is written over
    /// it.
    pub(crate) fn code(&self, version: usize, address: u64) -> (Option<&[u8]>, u64) {
        let before = version.checked_sub(1);
        let now = before.and_then(|before| self.times.get(before)).copied().unwrap_or(0);
        let there = |layer: &&Layer| layer.when.contains(&now);
        let mut free = u64::MAX;
        for layer in self.layers.iter().rev().filter(there) {
            if let Some(offset) = layer.offset(address) {
                let free = free.min(layer.length.saturating_sub(offset));
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                // What is shorter than it says has no code behind its end, and does not show what is below.
                let code = layer.code.as_ref().map(|code| code.get(from..).unwrap_or_default());
                return (code.map(|code| cut(code, free)), free);
            }
            // It starts further up: what is below ends there.
            if let Some(distance) = layer.start.checked_sub(address) {
                free = free.min(distance);
            }
        }
        (None, free)
    }
}

fn cut(code: &[u8], most: u64) -> &[u8] {
    usize::try_from(most).ok().and_then(|most| code.get(..most)).unwrap_or(code)
}
