//! Puts parts back into the order of the stream.

use super::decode::{Decoded, StreamError};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Condvar, LockResult, Mutex, MutexGuard, PoisonError};

/// Number of parts per thread that may wait for their turn.
const WAITING: u64 = 2;

/// Accepts parts in any order and passes them on in the order of the stream.
pub(super) struct Join<S, E, J> {
    state: Mutex<State<S, E, J>>,
    /// Notified when a part was passed on, or when decoding ends.
    turn: Condvar,
    /// How far a part may be ahead of the part whose turn it is.
    ahead: u64,
}

struct State<S, E, J> {
    join: J,
    /// Number of the part whose turn it is.
    next: u64,
    /// Parts, each with whether the next one is of the same bytes.
    waiting: BTreeMap<u64, (Decoded<S>, bool)>,
    /// Sinks of parts of the same bytes, which are passed on together.
    together: Vec<(Option<u16>, S)>,
    failed: Option<StreamError<E>>,
    /// A thread has panicked, so a part will never arrive.
    panicked: bool,
    /// An error to report once all parts have been passed on.
    late: Option<StreamError<E>>,
}

impl<S, E, J: FnMut(Decoded<S>) -> Result<(), E>> Join<S, E, J> {
    pub(super) fn new(join: J, threads: NonZeroUsize) -> Self {
        Self {
            state: Mutex::new(State {
                join,
                next: 0,
                waiting: BTreeMap::new(),
                together: Vec::new(),
                failed: None,
                panicked: false,
                late: None,
            }),
            turn: Condvar::new(),
            ahead: WAITING.saturating_mul(threads.get() as u64),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<S, E, J>> {
        poisoned(self.state.lock())
    }

    /// Waits until a part was passed on, or until decoding ends.
    fn wait<'s>(&self, state: MutexGuard<'s, State<S, E, J>>) -> MutexGuard<'s, State<S, E, J>> {
        poisoned(self.turn.wait(state))
    }

    /// Accepts a part, and waits while it is too far ahead. Returns whether to continue. The next part has `more` of the same
    /// bytes.
    pub(super) fn put(&self, number: u64, decoded: Decoded<S>, more: bool) -> bool {
        let mut state = self.lock();
        state.waiting.insert(number, (decoded, more));
        loop {
            let ended = state.panicked;
            let State { join, next, waiting, together, failed, .. } = &mut *state;
            while !ended
                && failed.is_none()
                && let Some((mut decoded, more)) = waiting.remove(next)
            {
                *next = next.saturating_add(1);
                together.append(&mut decoded.sinks);
                if !more {
                    decoded.sinks = std::mem::take(together);
                    *failed = join(decoded).err().map(StreamError::Join);
                }
                self.turn.notify_all();
            }
            if ended || failed.is_some() {
                return false;
            }
            if number < next.saturating_add(self.ahead) {
                return true;
            }
            state = self.wait(state);
        }
    }

    /// Accepts the beginning of an incomplete part when it is its turn. Returns whether to
    /// continue.
    pub(super) fn put_some(&self, number: u64, decoded: Decoded<S>) -> bool {
        let mut state = self.lock();
        while !state.panicked && state.failed.is_none() && state.next < number {
            state = self.wait(state);
        }
        if state.panicked {
            return false;
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

    /// Ends the decoding with the first error. Returns whether to continue, which is always
    /// `false`.
    pub(super) fn fail(&self, error: StreamError<E>) -> bool {
        self.lock().failed.get_or_insert(error);
        self.turn.notify_all();
        false
    }

    /// Ends the decoding with an error after the parts read so far have been passed on.
    pub(super) fn fail_late(&self, error: StreamError<E>) {
        self.lock().late.get_or_insert(error);
    }

    /// Ends the decoding if the present thread panics while the result is alive: the other threads would
    /// wait for its part for ever.
    pub(super) fn watch(&self) -> Watch<'_, S, E, J> {
        Watch { join: self }
    }

    pub(super) fn finish(self) -> Result<(), StreamError<E>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failed.or(state.late).map_or(Ok(()), Err)
    }
}

/// See [`Join::watch`].
pub(super) struct Watch<'j, S, E, J> {
    join: &'j Join<S, E, J>,
}

impl<S, E, J> Drop for Watch<'_, S, E, J> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            poisoned(self.join.state.lock()).panicked = true;
            self.join.turn.notify_all();
        }
    }
}

/// The state of a lock; `join` is not called again after it has panicked.
fn poisoned<'s, S, E, J>(
    lock: LockResult<MutexGuard<'s, State<S, E, J>>>,
) -> MutexGuard<'s, State<S, E, J>> {
    lock.unwrap_or_else(|error| {
        let mut state = error.into_inner();
        state.panicked = true;
        state
    })
}
