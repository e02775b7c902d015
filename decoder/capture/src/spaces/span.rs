//! Since when and until when something is there.

use crate::spaces::State;
use std::ops::Range;

/// Stretches of time, in order; at most the last one is open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    closed: Vec<Range<u64>>,
    open: Option<u64>,
}

impl Spans {
    /// Takes an event; `floor` is the last time at which it cannot have been there.
    pub(crate) fn take(&mut self, state: State, now: u64, floor: u64) {
        match (state, self.open) {
            (State::Start, None) => self.open = Some(now),
            // Without a start: since it cannot have been there, or since it ended.
            (State::Current, None) => {
                self.open = Some(if self.closed.is_empty() { floor } else { now });
            }
            (State::End, None) if self.closed.is_empty() => self.closed.push(floor..now),
            // It ended once already.
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
        // What is open never ends.
        self.closed.iter().cloned().chain(self.open.map(|since| since..u64::MAX))
    }
}
