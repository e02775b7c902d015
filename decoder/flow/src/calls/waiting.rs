//! Stacks of contexts that do not run at present.

use super::stack::{Ending, Stack};
use super::{MAX_WAITING, Note};
use std::collections::{BTreeMap, HashMap};

/// A stack whose functions are suspended.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) stack: Stack,
    /// What the visitor has noted of each function, the innermost first, with those that are inlined.
    pub(super) notes: Vec<Note>,
    /// The trap that was taken just before another context ran.
    pub(super) trap: Option<Ending>,
}

impl Waiting {
    fn size(&self) -> usize {
        self.notes.len().saturating_add(1)
    }
}

/// The stacks of all contexts but the present one.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    /// With the order in which they were put away.
    stacks: HashMap<u64, (u64, Waiting)>,
    by_age: BTreeMap<u64, u64>,
    next: u64,
    size: usize,
}

impl Contexts {
    pub(super) fn insert(&mut self, context: u64, waiting: Waiting) {
        self.size = self.size.saturating_add(waiting.size());
        self.by_age.insert(self.next, context);
        self.stacks.insert(context, (self.next, waiting));
        self.next = self.next.wrapping_add(1);
    }

    pub(super) fn remove(&mut self, context: u64) -> Option<Waiting> {
        let (age, waiting) = self.stacks.remove(&context)?;
        self.by_age.remove(&age);
        self.size = self.size.saturating_sub(waiting.size());
        Some(waiting)
    }

    /// The stack that has waited longest.
    pub(super) fn oldest(&mut self) -> Option<(u64, Waiting)> {
        let (_, context) = self.by_age.first_key_value()?;
        let context = *context;
        self.remove(context).map(|waiting| (context, waiting))
    }

    /// There are more frames than are kept.
    pub(super) fn is_too_large(&self) -> bool {
        self.size > MAX_WAITING
    }
}
