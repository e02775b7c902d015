//! The code of one process, at all times.

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

/// A range of code in an address space, for a span of time.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) when: Range<u64>,
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// The code; `None` if it is in memory that the log does not contain.
    pub(crate) code: Option<Arc<[u8]>>,
}

impl Layer {
    /// The distance of `address` from the start, if it is within the range.
    fn offset(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.start).filter(|offset| *offset < self.length)
    }

    /// The address of its last byte; `None` if it is empty.
    fn last(&self) -> Option<u64> {
        Some(self.start.saturating_add(self.length.checked_sub(1)?))
    }
}

/// The code of one process, without the kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    /// Later layers cover earlier ones.
    layers: Vec<Layer>,
    /// The times of changes, in order.
    times: Vec<u64>,
}

impl Process {
    pub(crate) fn new(mut layers: Vec<Layer>) -> Self {
        // An empty layer covers nothing.
        layers.retain(|layer| layer.length > 0);
        layers.sort_by_key(|layer| layer.when.start);
        let mut times: Vec<u64> =
            layers.iter().flat_map(|layer| [layer.when.start, layer.when.end]).collect();
        // An open end is not a change.
        times.retain(|time| *time != u64::MAX);
        times.sort_unstable();
        times.dedup();
        Self { layers, times }
    }

    /// The version of its code at a time.
    pub(crate) fn version(&self, now: u64) -> usize {
        self.times.partition_point(|time| *time <= now)
    }

    /// The time at which the next version starts.
    pub(crate) fn changes(&self, now: u64) -> Option<u64> {
        self.times.get(self.version(now)).copied()
    }

    /// The layers that exist in a version, the first one first.
    fn there(&self, version: usize) -> impl DoubleEndedIterator<Item = &Layer> {
        let before = version.checked_sub(1);
        let now = before.and_then(|before| self.times.get(before)).copied().unwrap_or(0);
        self.layers.iter().filter(move |layer| layer.when.contains(&now))
    }
}

/// A version of a process, and of the kernel that it sees.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) own: (&'a Process, usize),
    pub(crate) kernel: (&'a Process, usize),
}

/// Code at an address: a part of a larger piece of code, such as a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its address.
    pub start: u64,
    /// The larger piece of code.
    pub code: Arc<[u8]>,
    /// The part of it.
    pub part: Range<usize>,
}

impl<'a> Seen<'a> {
    /// All layers, the most recently written one first; among those of the same time, the kernel's first.
    fn layers(self) -> impl Iterator<Item = &'a Layer> {
        let mut own = self.own.0.there(self.own.1).rev().peekable();
        let mut kernel = self.kernel.0.there(self.kernel.1).rev().peekable();
        iter::from_fn(move || match (own.peek(), kernel.peek()) {
            (Some(a), Some(b)) if a.when.start > b.when.start => own.next(),
            (_, Some(_)) => kernel.next(),
            (_, None) => own.next(),
        })
    }

    /// The code at an address, and the distance from there up to which nothing else covers it.
    pub(crate) fn code(self, address: u64) -> (Option<&'a [u8]>, u64) {
        let mut free = u64::MAX;
        for layer in self.layers() {
            if let Some(offset) = layer.offset(address) {
                let free = free.min(layer.length.saturating_sub(offset));
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                // Code that is shorter than its stated length has nothing after its end, and hides what is
                // below.
                let code = layer.code.as_ref().map(|code| code.get(from..).unwrap_or_default());
                return (code.map(|code| cut(code, free)), free);
            }
            // The layer starts at a higher address: lower layers end there.
            if let Some(distance) = layer.start.checked_sub(address) {
                free = free.min(distance);
            }
        }
        (None, free)
    }

    /// All code, without overlaps, in the order of addresses.
    pub(crate) fn segments(self) -> Vec<Segment> {
        let mut layers: Vec<&Layer> = self.layers().collect();
        layers.reverse();
        // Key: the first address. Value: the last address, and the layer there.
        let mut painted: BTreeMap<u64, (u64, &Layer)> = BTreeMap::new();
        for layer in layers {
            let (start, Some(last)) = (layer.start, layer.last()) else { continue };
            let below = painted.range(..start).next_back();
            if let Some((at, (end, old))) = below.map(|(at, old)| (*at, *old))
                && end >= start
            {
                painted.insert(at, (start.saturating_sub(1), old));
                keep_tail(&mut painted, last, (end, old));
            }
            while let Some(at) = painted.range(start..=last).next().map(|(at, _)| *at) {
                let covered = painted.remove(&at);
                covered.into_iter().for_each(|old| keep_tail(&mut painted, last, old));
            }
            painted.insert(start, (last, layer));
        }
        let segment = |(start, (last, layer)): (u64, (u64, &Layer))| {
            let code = layer.code.clone()?;
            let from = usize::try_from(start.wrapping_sub(layer.start)).ok()?;
            let to = usize::try_from(last.wrapping_sub(layer.start)).unwrap_or(usize::MAX);
            let part = from..to.saturating_add(1).min(code.len());
            (!part.is_empty()).then_some(Segment { start, code, part })
        };
        painted.into_iter().filter_map(segment).collect()
    }
}

/// Keeps the part of a range after an address.
fn keep_tail<'l>(
    painted: &mut BTreeMap<u64, (u64, &'l Layer)>,
    last: u64,
    (end, layer): (u64, &'l Layer),
) {
    if let Some(next) = last.checked_add(1).filter(|next| *next <= end) {
        painted.insert(next, (end, layer));
    }
}

fn cut(code: &[u8], most: u64) -> &[u8] {
    usize::try_from(most).ok().and_then(|most| code.get(..most)).unwrap_or(code)
}
