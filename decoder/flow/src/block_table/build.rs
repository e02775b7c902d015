//! Finds the blocks of a program.

use super::{BlockTable, Code, Ends, Entry, Step, WordLayout};
use std::ops::Range;

/// What is known about a half-word.
#[derive(Copy, Clone, Debug, Default)]
struct Half {
    /// An instruction starts here.
    starts: bool,
    /// The second half of an instruction is here.
    second: bool,
    /// A block starts here.
    head: bool,
}

/// Consecutive code.
#[derive(Debug)]
struct Region {
    start: u64,
    halves: Vec<Half>,
}

/// The code of a program, as far as it is known.
struct Finder<'a, C> {
    code: &'a C,
    regions: Vec<Region>,
    /// Where an instruction starts that was not followed yet.
    open: Vec<u64>,
}

impl BlockTable {
    /// Finds the blocks of a program. `roots` are addresses at which an instruction is known to start, such as the
    /// entry point and functions: what is reached from there is code. The rest is read from the lowest address on.
    ///
    /// Blocks are cut where a span has no more bits. Targets without code are the last entry.
    #[must_use]
    pub fn build(code: &impl Code, roots: &[u64], span_bits: u32) -> Self {
        let mut finder = Finder { code, regions: regions(code.ranges()), open: Vec::new() };
        finder.open.extend(roots.iter().rev());
        finder.follow();
        finder.sweep();
        finder.heads();
        let most = 1u32.checked_shl(span_bits).unwrap_or(u32::MAX).saturating_sub(1);
        finder.entries(most)
    }
}

impl WordLayout {
    /// The layout of a memory with this many entries, for code that is at most `bytes` long.
    #[must_use]
    pub fn new(entries: u32, bytes: u64) -> Self {
        let bits = |value: u64| u64::BITS.saturating_sub(value.leading_zeros()).max(1);
        Self {
            start_bits: bits(bytes >> 1),
            span_bits: Self::SPAN_BITS,
            index_bits: bits(u64::from(entries).saturating_sub(1)),
        }
    }
}

fn regions(code: impl IntoIterator<Item = Range<u64>>) -> Vec<Region> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for range in code {
        // Code at odd addresses does not exist.
        let start = range.start.wrapping_add(range.start & 1);
        // The end may be 2^64, which wraps.
        let bytes = range.end.wrapping_sub(start);
        match ranges.last_mut() {
            Some((first, length)) if first.wrapping_add(*length) == start && start != 0 => {
                *length = length.saturating_add(bytes);
            }
            _ => ranges.push((start, bytes)),
        }
    }
    let region = |(start, bytes): (u64, u64)| {
        let halves = vec![Half::default(); usize::try_from(bytes >> 1).unwrap_or(0)];
        Region { start, halves }
    };
    ranges.into_iter().map(region).collect()
}

impl<C: Code> Finder<'_, C> {
    fn place(&self, address: u64) -> Option<(usize, usize)> {
        if address & 1 != 0 {
            return None;
        }
        let at = self.regions.partition_point(|region| region.start <= address).checked_sub(1)?;
        let region = self.regions.get(at)?;
        let half = usize::try_from(address.wrapping_sub(region.start) >> 1).ok()?;
        (half < region.halves.len()).then_some((at, half))
    }

    fn half(&mut self, address: u64) -> Option<&mut Half> {
        let (region, half) = self.place(address)?;
        self.regions.get_mut(region)?.halves.get_mut(half)
    }

    /// Follows the code from all places that are open. An instruction that overlaps one found before is none.
    fn follow(&mut self) {
        while let Some(start) = self.open.pop() {
            self.run(start);
        }
    }

    fn run(&mut self, start: u64) {
        let mut address = start;
        let mut before = None;
        while let Some(half) = self.half(address).copied() {
            let Some(step) = self.code.step(address, before) else { return };
            if half.starts || half.second {
                return;
            }
            if step.wide {
                match self.half(address.wrapping_add(2)) {
                    Some(second) if !second.starts => second.second = true,
                    _ => return,
                }
            }
            if let Some(half) = self.half(address) {
                half.starts = true;
            }
            self.open.extend(step.target);
            if !step.goes_on || step.next <= address {
                return;
            }
            before = Some(address);
            address = step.next;
        }
    }

    /// Reads what was not reached, from the lowest address on.
    fn sweep(&mut self) {
        for region in 0..self.regions.len() {
            let mut half = 0usize;
            while let Some(r) = self.regions.get(region)
                && let Some(here) = r.halves.get(half)
            {
                if !here.starts && !here.second {
                    let address = r.start.wrapping_add((half as u64).wrapping_mul(2));
                    self.run(address);
                    self.follow();
                }
                half = half.saturating_add(1);
            }
        }
    }

    /// Marks where blocks start: at targets, and after instructions that end a block.
    fn heads(&mut self) {
        let mut heads = Vec::new();
        self.instructions(|step| {
            heads.extend(step.target);
            if step.ends_block() {
                heads.push(step.next);
            }
        });
        for head in heads {
            if let Some(half) = self.half(head) {
                half.head = half.starts;
            }
        }
    }

    /// Visits every instruction.
    fn instructions(&self, mut visit: impl FnMut(&Step)) {
        for region in &self.regions {
            let mut before: Option<u64> = None;
            for (half, at) in region.halves.iter().zip(0u64..) {
                let address = region.start.wrapping_add(at.wrapping_mul(2));
                if !half.starts {
                    if !half.second {
                        before = None;
                    }
                    continue;
                }
                let Some(step) = self.code.step(address, before) else { continue };
                visit(&step);
                before = Some(address);
            }
        }
    }

    fn entries(&self, most: u32) -> BlockTable {
        let mut entries: Vec<Entry> = Vec::new();
        let mut targets: Vec<(usize, u64)> = Vec::new();
        for region in &self.regions {
            let mut open: Option<Entry> = None;
            let mut before: Option<u64> = None;
            for (half, at) in region.halves.iter().zip(0u64..) {
                let address = region.start.wrapping_add(at.wrapping_mul(2));
                let step = match self.code.step(address, before) {
                    Some(step) if half.starts => step,
                    _ if half.second => continue,
                    _ => {
                        entries.extend(open.take());
                        before = None;
                        hole(&mut entries, address);
                        continue;
                    }
                };
                let span = |entry: &Entry| (address.wrapping_sub(entry.start) >> 1) as u32;
                if half.head || open.as_ref().is_some_and(|entry| span(entry) > most) {
                    entries.extend(open.take());
                }
                let mut entry = open.take().unwrap_or_else(|| Entry::new(address));
                entry.span = span(&entry);
                entry.wide = step.wide;
                entry.ends = step.ends;
                entry.sequential = step.sequential;
                entry.conditional = step.conditional;
                targets.extend(step.target.map(|target| (entries.len(), target)));
                match step.ends_block() {
                    false => open = Some(entry),
                    true => entries.push(entry),
                }
                before = Some(address);
            }
            entries.extend(open.take());
            let bytes = (region.halves.len() as u64).wrapping_mul(2);
            hole(&mut entries, region.start.wrapping_add(bytes));
        }
        let none = entries.len().saturating_sub(1);
        let mut table = BlockTable { entries };
        for (from, target) in targets {
            let found = table.find(target).filter(|found| {
                table.entries.get(*found).is_some_and(|entry| entry.start == target)
            });
            let target = found.unwrap_or(none);
            if let Some(entry) = table.entries.get_mut(from) {
                entry.target = target as u32;
            }
        }
        table
    }
}

/// Adds a place without code, unless there is one already.
fn hole(entries: &mut Vec<Entry>, start: u64) {
    if entries.last().is_none_or(|last| last.ends != Ends::NoCode) {
        entries.push(Entry { ends: Ends::NoCode, ..Entry::new(start) });
    }
}

impl Entry {
    fn new(start: u64) -> Self {
        Self {
            start,
            span: 0,
            wide: false,
            ends: Ends::Next,
            sequential: false,
            conditional: false,
            target: 0,
        }
    }
}
