use hartrace_isa::arm::Isa;

/// Number of entries of a return stack.
const DEPTH: usize = 16;

/// A stack of return addresses. The hardware has at most as many entries, and does not use entries
/// that it has dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReturnStack {
    active: bool,
    entries: [Option<(u64, Isa)>; DEPTH],
    head: usize,
    len: usize,
}

impl ReturnStack {
    pub(crate) fn new(active: bool) -> Self {
        Self { active, ..Self::default() }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    pub(crate) fn push(&mut self, address: u64, isa: Isa) {
        if !self.active {
            return;
        }
        self.head = self.head.wrapping_add(1) & DEPTH.wrapping_sub(1);
        if let Some(entry) = self.entries.get_mut(self.head) {
            *entry = Some((address, isa));
        }
        self.len = self.len.saturating_add(1).min(DEPTH);
    }

    /// Pops an entry; `None` if the stack is empty.
    pub(crate) fn pop(&mut self) -> Option<(u64, Isa)> {
        self.len = self.len.checked_sub(1)?;
        let entry = self.entries.get(self.head).copied().flatten();
        self.head = self.head.wrapping_sub(1) & DEPTH.wrapping_sub(1);
        entry
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let mut stack = ReturnStack::new(true);
        (0..20).for_each(|address| stack.push(address, Isa::A64));
        let popped: Vec<u64> = std::iter::from_fn(|| stack.pop()).map(|(a, _)| a).collect();
        assert_eq!(popped, (4..20).rev().collect::<Vec<_>>());
        let mut off = ReturnStack::new(false);
        off.push(1, Isa::A64);
        assert_eq!(off.pop(), None);
    }
}
