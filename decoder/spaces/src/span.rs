//! The time spans in which something exists.

use crate::State;
use std::ops::Range;

/// Spans of time, in order; only the last one may be open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    closed: Vec<Range<u64>>,
    open: Option<u64>,
}

impl Spans {
    /// Applies an event; `floor` is the last time at which the subject cannot have existed.
    pub(crate) fn take(&mut self, state: State, now: u64, floor: u64) {
        match (state, self.open) {
            (State::Start, None) => self.open = Some(now),
            // Without a start event, it has existed since the floor; if it ended before, since now.
            (State::Current, None) => {
                self.open = Some(if self.closed.is_empty() { floor } else { now });
            }
            (State::End, None) if self.closed.is_empty() => self.closed.push(floor..now),
            // It has already ended.
            (State::End, None) => {}
            (State::End, Some(_)) => self.close(now),
            (State::Start | State::Current, Some(_)) => {}
        }
    }

    pub(crate) fn close(&mut self, now: u64) {
        if let Some(since) = self.open.take() {
            self.closed.push(since..now);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        // An open span never ends.
        self.closed.iter().cloned().chain(self.open.map(|since| since..u64::MAX))
    }
}
