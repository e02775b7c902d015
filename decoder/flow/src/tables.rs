//! The jump target cache and the return stack, which decoder and encoder update in the same way.

use hartrace_etrace::Params;

/// Jump target cache (Spec: E-Trace 2.0, 3.2.7).
#[derive(Clone, Debug)]
pub(crate) struct TargetCache {
    /// Empty until something is stored.
    targets: Vec<Option<u64>>,
    entries: usize,
    shift: u32,
    dirty: bool,
    /// Recorded since [`TargetCache::watch`].
    used: CacheUse,
}

/// The use of the jump target cache by a path. Whatever it reads or stores is the address where it ends.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct CacheUse {
    /// The entry that it reads.
    read: Option<u32>,
    stores: bool,
}

impl CacheUse {
    /// Whether it uses the cache at all.
    pub(crate) fn is_some(&self) -> bool {
        self.read.is_some() || self.stores
    }
}

impl TargetCache {
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            targets: Vec::new(),
            entries: entries(params.cache_size_p),
            shift: shift(params),
            dirty: false,
            used: CacheUse::default(),
        }
    }

    /// A cache of the same size that nothing was stored in.
    pub(crate) fn empty(&self) -> Self {
        Self { targets: Vec::new(), dirty: false, ..*self }
    }

    pub(crate) fn reset(&mut self) {
        if self.dirty {
            self.targets.fill(None);
            self.dirty = false;
        }
    }

    #[inline]
    pub(crate) fn store(&mut self, target: u64) {
        if self.targets.is_empty() {
            self.targets.resize(self.entries, None);
        }
        let index = (target.wrapping_shr(self.shift) as usize) & self.targets.len().wrapping_sub(1);
        self.used.stores = true;
        if let Some(entry) = self.targets.get_mut(index) {
            *entry = Some(target);
            self.dirty = true;
        }
    }

    #[inline]
    fn get(&self, index: u32) -> Option<u64> {
        self.targets.get(index as usize).copied().flatten()
    }

    /// The target in an entry, for a path that depends on it.
    #[inline]
    pub(crate) fn consult(&mut self, index: u32) -> Option<u64> {
        let target = self.get(index);
        self.used.read = Some(index);
        target
    }

    /// Starts recording the use of the cache by the next payload.
    pub(crate) fn watch(&mut self) {
        self.used = CacheUse::default();
    }

    /// The use of the cache since [`TargetCache::watch`], for one payload.
    pub(crate) fn used(&self) -> CacheUse {
        self.used
    }

    /// Whether a path with this use to `target` would read what it read when it was recorded.
    #[inline]
    pub(crate) fn agrees(&self, used: CacheUse, target: u64) -> bool {
        used.read.is_none_or(|index| self.get(index) == Some(target))
    }

    /// Repeats a recorded use.
    #[inline]
    pub(crate) fn repeat(&mut self, used: CacheUse, target: u64) {
        if used.stores {
            self.store(target);
        }
    }
}

/// The use of the return stack by a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackUse {
    /// Earlier entries that it pops, the top one first.
    pub(crate) popped: Vec<u64>,
    /// It pops from the empty stack.
    pub(crate) emptied: bool,
    /// Entries that it pushes and leaves, the top one last.
    pub(crate) pushed: Vec<u64>,
    /// The largest number of entries that it has pushed and not popped, at any time.
    pub(crate) most: usize,
    /// It depends on the number of entries.
    depth: bool,
}

impl StackUse {
    /// Whether it uses the stack at all.
    pub(crate) fn is_some(&self) -> bool {
        self.emptied || self.most > 0 || !self.popped.is_empty()
    }

    fn clear(&mut self) {
        self.popped.clear();
        self.pushed.clear();
        (self.emptied, self.most, self.depth) = (false, 0, false);
    }
}

/// Return addresses (Spec: E-Trace 2.0, 3.2.5) in a ring: a full stack drops its oldest entry.
#[derive(Debug)]
pub(crate) struct Returns {
    /// As long as the stack has ever been, and at most `capacity`.
    ring: Vec<u64>,
    capacity: usize,
    top: usize,
    depth: usize,
    /// Recorded while `watched`.
    used: StackUse,
    watched: bool,
}

impl Clone for Returns {
    fn clone(&self) -> Self {
        let (ring, used) = (self.ring.clone(), self.used.clone());
        Self { ring, used, ..*self }
    }

    /// Allocates only if this stack has never been as long.
    fn clone_from(&mut self, source: &Self) {
        self.ring.clone_from(&source.ring);
        (self.capacity, self.top, self.depth) = (source.capacity, source.top, source.depth);
    }
}

impl Returns {
    /// Creates a stack of `2^n` entries; for a call counter, `2^n - 1` (`2^n` if `wide_counter`).
    pub(crate) fn new(params: &Params, wide_counter: bool) -> Self {
        let capacity = if params.return_stack_size_p > 0 {
            entries(params.return_stack_size_p)
        } else {
            let counter = entries(params.call_counter_size_p);
            counter.saturating_sub(usize::from(!wide_counter))
        };
        Self {
            ring: Vec::new(),
            capacity,
            top: 0,
            depth: 0,
            used: StackUse::default(),
            watched: false,
        }
    }

    /// A stack of the same size without entries.
    pub(crate) fn empty(&self) -> Self {
        let (ring, used) = (Vec::new(), StackUse::default());
        Self { ring, used, top: 0, depth: 0, watched: false, ..*self }
    }

    #[inline]
    pub(crate) fn reset(&mut self) {
        (self.top, self.depth) = (0, 0);
    }

    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.depth as u32
    }

    #[inline]
    pub(crate) fn push(&mut self, address: u64) {
        if self.watched {
            self.used.pushed.push(address);
            self.used.most = self.used.most.max(self.used.pushed.len());
        }
        self.top = self.top.wrapping_add(1);
        if self.top >= self.capacity {
            self.top = 0;
        }
        match self.ring.get_mut(self.top) {
            Some(slot) => *slot = address,
            None if self.capacity == 0 => return,
            None => self.grow(address),
        }
        self.depth = self.depth.saturating_add(1).min(self.capacity);
    }

    /// Makes room for the top, and stores it there.
    #[cold]
    fn grow(&mut self, address: u64) {
        self.ring.resize(self.top, 0);
        self.ring.push(address);
    }

    #[inline]
    pub(crate) fn top(&self) -> Option<u64> {
        if self.depth == 0 {
            return None;
        }
        self.ring.get(self.top).copied()
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u64> {
        let top = self.top();
        if self.watched && self.used.pushed.pop().is_none() {
            self.used.emptied |= top.is_none();
            self.used.popped.extend(top);
        }
        let address = top?;
        self.depth = self.depth.saturating_sub(1);
        self.top = self.top.checked_sub(1).unwrap_or(self.capacity.saturating_sub(1));
        Some(address)
    }

    /// Starts recording the use of the stack, if it can hold anything.
    pub(crate) fn watch(&mut self) {
        self.used.clear();
        self.watched = self.capacity > 0;
    }

    /// Ends the recording of [`Returns::watch`].
    pub(crate) fn unwatch(&mut self) {
        self.watched = false;
    }

    /// The use of the stack since [`Returns::watch`].
    pub(crate) fn used(&self) -> &StackUse {
        &self.used
    }

    /// Notes that the path depends on the number of entries.
    pub(crate) fn note_depth(&mut self) {
        self.used.depth = true;
    }

    /// Whether the recorded use is sufficient to repeat the path, where `depth` is the depth before
    /// it. It is not if entries were dropped.
    pub(crate) fn is_repeatable(&self, depth: u32) -> bool {
        let most = (depth as usize).saturating_add(self.used.most);
        !self.used.depth && most <= self.capacity.max(depth as usize)
    }

    /// Repeats a recorded use if the relevant part of the stack is the same. Returns whether it is.
    pub(crate) fn repeat(&mut self, used: &StackUse) -> bool {
        let popped = used.popped.len();
        let same = popped <= self.depth
            && (!used.emptied || popped == self.depth)
            && self.depth.saturating_add(used.most) <= self.capacity
            && used.popped.iter().enumerate().all(|(below, a)| self.entry(below) == Some(*a));
        if same {
            for _ in 0..popped {
                self.pop();
            }
            for address in &used.pushed {
                self.push(*address);
            }
        }
        same
    }

    /// The entry that is `below` entries under the top.
    fn entry(&self, below: usize) -> Option<u64> {
        let index = self.top.wrapping_add(self.capacity).wrapping_sub(below);
        self.ring.get(index.checked_rem(self.capacity)?).copied()
    }

    /// Whether both have the same entries, wherever they are in the ring.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.depth == other.depth && (0..self.depth).all(|i| self.entry(i) == other.entry(i))
    }
}

pub(crate) fn entries(size: u8) -> usize {
    if size == 0 { 0 } else { 1usize.checked_shl(size.into()).unwrap_or(0) }
}

pub(crate) fn shift(params: &Params) -> u32 {
    params.iaddress_lsb_p.max(1).into()
}
