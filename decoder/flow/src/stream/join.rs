//! Puts parts back into the order of the stream.

use super::decode::{Decoded, StreamError};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Parts that may wait for their turn, for every thread.
const WAITING: u64 = 2;

/// Takes parts in any order and passes them on in theirs.
pub(super) struct Join<S, E, J> {
    state: Mutex<State<S, E, J>>,
    /// A part was passed on, or decoding is to end.
    turn: Condvar,
    /// How far a part may be ahead of the one whose turn it is.
    ahead: u64,
}

struct State<S, E, J> {
    join: J,
    /// Number of the part whose turn it is.
    next: u64,
    waiting: BTreeMap<u64, Decoded<S>>,
    failed: Option<StreamError<E>>,
    /// What fails once all parts have been passed on.
    late: Option<StreamError<E>>,
}

impl<S, E, J: FnMut(Decoded<S>) -> Result<(), E>> Join<S, E, J> {
    pub(super) fn new(join: J, threads: NonZeroUsize) -> Self {
        Self {
            state: Mutex::new(State {
                join,
                next: 0,
                waiting: BTreeMap::new(),
                failed: None,
                late: None,
            }),
            turn: Condvar::new(),
            ahead: WAITING.saturating_mul(threads.get() as u64),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<S, E, J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a part, and waits while it is too far ahead. Returns whether to continue.
    pub(super) fn put(&self, number: u64, decoded: Decoded<S>) -> bool {
        let mut state = self.lock();
        state.waiting.insert(number, decoded);
        loop {
            let State { join, next, waiting, failed, .. } = &mut *state;
            while failed.is_none()
                && let Some(decoded) = waiting.remove(next)
            {
                *next = next.saturating_add(1);
                *failed = join(decoded).err().map(StreamError::Join);
                self.turn.notify_all();
            }
            if failed.is_some() {
                return false;
            }
            if number < next.saturating_add(self.ahead) {
                return true;
            }
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes what there is of a part that is not complete, when it is its turn. Returns whether to
    /// continue.
    pub(super) fn put_some(&self, number: u64, decoded: Decoded<S>) -> bool {
        let mut state = self.lock();
        while state.failed.is_none() && state.next < number {
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let State { join, failed, .. } = &mut *state;
        if failed.is_none() {
            *failed = join(decoded).err().map(StreamError::Join);
            if failed.is_some() {
                self.turn.notify_all();
            }
        }
        failed.is_none()
    }

    /// Ends the decoding with the first error. Returns whether to continue: never.
    pub(super) fn fail(&self, error: StreamError<E>) -> bool {
        self.lock().failed.get_or_insert(error);
        self.turn.notify_all();
        false
    }

    /// There are no more parts; those that are there are passed on.
    pub(super) fn fail_late(&self, error: StreamError<E>) {
        self.lock().late.get_or_insert(error);
    }

    pub(super) fn finish(self) -> Result<(), StreamError<E>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.or(state.late).map_or(Ok(()), Err)
    }
}
