//! Looks up code: in memory that does not change, and in a timeline.

use crate::memory::{Memory, opcode};
use hartrace_isa::arm::{Isa, Spaces};
use hartrace_spaces::{Clock, Space, Timeline};

/// The code that is visible.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub spaces: Spaces,
    /// With a timeline: the process and the version of its code.
    pub space: Option<Space>,
}

/// All sources of code.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Code<'m> {
    memory: &'m Memory,
    timeline: Option<&'m Timeline>,
}

impl<'m> Code<'m> {
    pub(crate) const fn new(memory: &'m Memory) -> Self {
        Self { memory, timeline: None }
    }

    pub(crate) const fn set_timeline(&mut self, timeline: &'m Timeline) {
        self.timeline = Some(timeline);
    }

    /// The bytes from an address on, up to the next possible change.
    pub(crate) fn from(&self, address: u64, place: Place) -> &'m [u8] {
        let memory = || self.memory.from(address, place.spaces).unwrap_or_default();
        let (Some(timeline), Some(space)) = (self.timeline, place.space) else { return memory() };
        let told = timeline.code(space, address);
        let bytes = told.bytes.unwrap_or_else(memory);
        let length = usize::try_from(told.length).unwrap_or(usize::MAX);
        bytes.get(..length).unwrap_or(bytes)
    }

    /// The opcode at an address, with the bytes that it starts with. Code that changes while a program
    /// runs may be as short as an instruction, so an opcode may extend over two ranges.
    pub(crate) fn opcode(&self, isa: Isa, address: u64, place: Place) -> Option<(u32, &'m [u8])> {
        let bytes = self.from(address, place);
        if let Some(opcode) = opcode(isa, bytes) {
            return Some((opcode, bytes));
        }
        place.space?;
        let mut word = [0; 4];
        for (byte, offset) in word.iter_mut().zip(0..) {
            *byte = *self.from(address.wrapping_add(offset), place).first()?;
        }
        Some((opcode(isa, &word)?, bytes))
    }
}

/// The state for queries to a timeline.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clocked<'m> {
    timeline: Option<&'m Timeline>,
    now: u64,
    context: Option<u64>,
    /// The context of trace that has none.
    usual: Option<u64>,
    /// The time at which the answer may change.
    until: u64,
}

impl<'m> Clocked<'m> {
    pub(crate) const NEVER: Self =
        Self { timeline: None, now: 0, context: None, usual: None, until: u64::MAX };

    pub(crate) fn new(timeline: &'m Timeline) -> Self {
        let mut clocked = Self { timeline: Some(timeline), ..Self::NEVER };
        clocked.settle();
        clocked
    }

    fn settle(&mut self) {
        let changes = self.timeline.and_then(|timeline| timeline.changes(self.now, self.context));
        self.until = changes.unwrap_or(u64::MAX);
    }

    pub(crate) fn space(&self) -> Option<Space> {
        Some(self.timeline?.space(self.now, self.context))
    }

    pub(crate) fn enter(&mut self, context: Option<u32>) {
        self.context = context.map(u64::from).or(self.usual);
        self.settle();
    }

    /// Sets a time that the trace does not have, and the context if it has none.
    pub(crate) fn set_moment(&mut self, now: u64, context: Option<u32>) {
        self.now = now;
        self.usual = context.map(u64::from);
        self.context = self.usual;
        self.settle();
    }

    /// Advances to a time, or to a position in the trace. `false` if that changes nothing.
    #[inline]
    pub(crate) fn reach(&mut self, clock: Clock, now: u64) -> bool {
        if self.timeline.is_none_or(|timeline| timeline.clock() != clock) {
            return false;
        }
        self.now = self.now.max(now);
        if self.now < self.until {
            return false;
        }
        self.settle();
        true
    }
}
