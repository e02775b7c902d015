//! The predictor of indirect jumps: a return stack, a cache of targets, and two tables of places in that cache.

use super::Tage;
use hartrace_isa::{Insn, Kind, Link, Xlen};

/// Low bits of targets that are kept; the upper bits are those of the jump.
pub(super) const LOW: u32 = 20;
/// Bits of the path.
pub(super) const PATH: u32 = 16;
/// Bits of a tag.
pub(super) const TAG: u32 = 6;

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    tag: u32,
    /// A place in the cache.
    place: usize,
    /// From 0 to 3.
    trust: u8,
}

/// The prediction for an indirect jump.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The prediction.
    pub(super) address: u64,
    /// Where it comes from.
    pub(super) from: From,
    base: usize,
    index: usize,
    tag: u32,
}

impl Target {
    /// Whether the target may be in the cache: it is not for returns.
    pub(super) fn may_be_cached(&self) -> bool {
        self.from != From::Stack
    }
}

/// Where the prediction of a target comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// The return stack.
    Stack,
    /// The table indexed by the address of the jump.
    Base,
    /// The table indexed by address and path, with an entry of this trust.
    Path(u8),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Targets {
    xlen: Xlen,
    /// A ring of return addresses.
    returns: Vec<u64>,
    top: usize,
    /// Low bits of targets, each at the place that its lowest bits give.
    cache: Vec<u64>,
    base: Vec<usize>,
    table: Vec<Entry>,
    /// A hash of the last targets.
    path: u32,
}

impl Targets {
    pub(super) fn new(config: &Tage, xlen: Xlen) -> Self {
        let targets = config.targets as usize;
        Self {
            xlen,
            returns: vec![0; config.ras as usize],
            top: 0,
            cache: vec![0; targets],
            base: vec![0; targets / 2],
            table: vec![Entry::default(); targets],
            path: 0,
        }
    }

    /// The place of a target in the cache.
    pub(super) fn place(&self, target: u64) -> usize {
        (target >> 1) as usize & (self.cache.len() - 1)
    }

    /// Whether the cache has this target of a jump at `pc`.
    pub(super) fn has(&self, pc: u64, target: u64) -> bool {
        self.at(pc, self.place(target)) == target
    }

    /// The target of a jump at `pc` that is at a place of the cache.
    pub(super) fn at(&self, pc: u64, place: usize) -> u64 {
        whole(pc, self.cache[place])
    }

    pub(super) fn predict(&self, pc: u64, insn: Insn) -> Target {
        let half = (pc >> 1) as u32;
        let bits = self.table.len().ilog2();
        let base = (half ^ half >> (bits - 1)) as usize & (self.base.len() - 1);
        let index = (half ^ half >> bits ^ fold(self.path, bits)) as usize & (self.table.len() - 1);
        let tag = half ^ fold(self.path, TAG) ^ fold(self.path, TAG - 1) << 1;
        let tag = tag & ((1 << TAG) - 1);
        let entry = self.table[index];
        let (address, from) = match () {
            () if pops(insn) => {
                (whole(pc, self.returns.get(self.top).copied().unwrap_or(0)), From::Stack)
            }
            () if entry.tag == tag => (self.at(pc, entry.place), From::Path(entry.trust)),
            () => (self.at(pc, self.base[base]), From::Base),
        };
        Target { address, from, base, index, tag }
    }

    /// Learns the target of a jump that was predicted.
    pub(super) fn update(&mut self, predicted: &Target, target: u64) {
        let Target { from, base, index, tag, .. } = *predicted;
        if !predicted.may_be_cached() {
            return;
        }
        let wrong = predicted.address != target;
        let place = self.place(target);
        self.cache[place] = target & ((1 << LOW) - 1);
        let entry = &mut self.table[index];
        match from {
            From::Path(_) if !wrong => entry.trust = 3.min(entry.trust + 1),
            // An entry is not replaced before it has been wrong more often than right.
            _ if wrong && entry.trust > 0 => entry.trust -= 1,
            _ if wrong => *entry = Entry { tag, place, trust: 0 },
            _ => {}
        }
        if from == From::Base {
            self.base[base] = place;
        }
        let half = (target >> 1) as u32;
        self.path = (self.path << 3 ^ half ^ half >> 4) & ((1 << PATH) - 1);
    }

    /// Follows calls and returns.
    pub(super) fn link(&mut self, pc: u64, insn: Insn) {
        let size = self.returns.len();
        if pops(insn) && size > 0 {
            self.top = (self.top + size - 1) % size;
        }
        if insn.link().is_some_and(Link::pushes) {
            self.push(insn.next(self.xlen, pc));
        }
    }

    /// Pushes an address: that of the next instruction at a call, that of the instruction that does not retire at a trap.
    pub(super) fn push(&mut self, address: u64) {
        if !self.returns.is_empty() {
            self.top = (self.top + 1) % self.returns.len();
            self.returns[self.top] = address & ((1 << LOW) - 1);
        }
    }
}

/// An address whose upper bits are those of another one.
fn whole(upper: u64, low: u64) -> u64 {
    upper >> LOW << LOW | low
}

/// The sum of all parts of this many bits, without carry.
fn fold(path: u32, bits: u32) -> u32 {
    let mut sum = 0;
    let mut left = path;
    while left > 0 && bits > 0 {
        sum ^= left & ((1 << bits) - 1);
        left >>= bits;
    }
    sum
}

/// Whether the target is predicted from the return stack.
fn pops(insn: Insn) -> bool {
    matches!(insn.kind, Kind::TrapReturn) || insn.link().is_some_and(Link::pops)
}
