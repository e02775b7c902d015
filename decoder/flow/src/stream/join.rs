//! Puts parts back into the order of the stream.

use super::decode::{Decoded, StreamError};
use crate::sink::Sink;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::{Condvar, LockResult, Mutex, MutexGuard, PoisonError};

/// Number of parts per thread that may wait for their turn.
const PARTS: u64 = 64;

/// The same if it is not known what their sinks use.
const UNKNOWN_PARTS: u64 = 2;

/// Number of full sinks per thread that may wait for their turn, if it is not known what they use.
const UNKNOWN_FULL: usize = 4;

/// Accepts parts in any order and passes them on in the order of the stream.
pub(super) struct Join<S, E, J> {
    state: Mutex<State<S, E, J>>,
    /// Notified when a part was passed on, or when decoding ends.
    turn: Condvar,
    threads: NonZeroUsize,
    /// See [`Decode::ahead`](super::Decode::ahead).
    most: usize,
}

struct State<S, E, J> {
    /// `None` while a thread passes on what has its turn. The others need not wait for it.
    join: Option<J>,
    /// Number of the part whose turn it is.
    next: u64,
    waiting: BTreeMap<u64, Waiting<S>>,
    /// Bytes of sinks that wait.
    bytes: usize,
    /// Sinks of parts of the same bytes, which are passed on together.
    together: Vec<(Option<u16>, S)>,
    failed: Option<StreamError<E>>,
    /// A thread has panicked, so a part will never arrive.
    panicked: bool,
    /// An error to report once all parts have been passed on.
    late: Option<StreamError<E>>,
}

/// What has arrived of a part.
struct Waiting<S> {
    /// Sinks that were full before the part ended, with their bytes.
    full: VecDeque<(Decoded<S>, usize)>,
    rest: Option<Rest<S>>,
}

/// The rest of a part.
struct Rest<S> {
    decoded: Decoded<S>,
    bytes: usize,
    /// The next part is of the same bytes of the capture.
    more: bool,
}

impl<S> Default for Waiting<S> {
    fn default() -> Self {
        Self { full: VecDeque::new(), rest: None }
    }
}

impl<S, E, J> State<S, E, J> {
    fn ended(&self) -> bool {
        self.panicked || self.failed.is_some()
    }

    /// Removes what has its turn, if it has arrived.
    fn take(&mut self) -> Option<Decoded<S>> {
        loop {
            let part = self.waiting.get_mut(&self.next)?;
            if let Some((full, bytes)) = part.full.pop_front() {
                self.bytes = self.bytes.saturating_sub(bytes);
                return Some(full);
            }
            let Rest { mut decoded, bytes, more } = part.rest.take()?;
            self.bytes = self.bytes.saturating_sub(bytes);
            self.waiting.remove(&self.next);
            self.next = self.next.saturating_add(1);
            self.together.append(&mut decoded.sinks);
            if !more {
                decoded.sinks = std::mem::take(&mut self.together);
                return Some(decoded);
            }
        }
    }

    /// Whether a full sink of a part has to wait for room, if sinks may use so many bytes.
    fn is_crowded(&self, number: u64, most: usize) -> bool {
        let waits = self.waiting.get(&number).is_some_and(|part| !part.full.is_empty());
        waits && self.bytes >= most
    }

    /// Whether a thread that has ended a part has to wait, since that may be `ahead` by so many parts, and sinks may use so
    /// many bytes.
    fn is_ahead(&self, number: u64, ahead: u64, most: usize) -> bool {
        number >= self.next.saturating_add(ahead) || number > self.next && self.bytes >= most
    }
}

impl<S: Sink, E, J: FnMut(Decoded<S>) -> Result<(), E>> Join<S, E, J> {
    pub(super) fn new(join: J, threads: NonZeroUsize, most: usize) -> Self {
        Self {
            state: Mutex::new(State {
                join: Some(join),
                next: 0,
                waiting: BTreeMap::new(),
                bytes: 0,
                together: Vec::new(),
                failed: None,
                panicked: false,
                late: None,
            }),
            turn: Condvar::new(),
            threads,
            most,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<S, E, J>> {
        poisoned(self.state.lock())
    }

    /// Waits until a part was passed on, or until decoding ends.
    fn wait<'s>(&self, state: MutexGuard<'s, State<S, E, J>>) -> MutexGuard<'s, State<S, E, J>> {
        poisoned(self.turn.wait(state))
    }

    /// Passes on what has its turn, unless another thread is at it, which then passes this on, too.
    fn pass_on<'s>(
        &'s self,
        mut state: MutexGuard<'s, State<S, E, J>>,
    ) -> MutexGuard<'s, State<S, E, J>> {
        let Some(mut join) = state.join.take() else { return state };
        while !state.ended()
            && let Some(decoded) = state.take()
        {
            drop(state);
            let joined = join(decoded).map_err(StreamError::Join);
            state = self.lock();
            if let Err(error) = joined {
                state.failed.get_or_insert(error);
            }
            self.turn.notify_all();
        }
        state.join = Some(join);
        state
    }

    /// Accepts a part, and waits while it is too far ahead. Returns whether to continue. The next part has `more` of the same
    /// bytes.
    pub(super) fn put(&self, number: u64, decoded: Decoded<S>, more: bool) -> bool {
        let bytes = bytes(&decoded);
        let ahead = if bytes.is_some() { PARTS } else { UNKNOWN_PARTS };
        let (ahead, bytes) = (ahead.saturating_mul(self.threads.get() as u64), bytes.unwrap_or(0));
        let mut state = self.lock();
        state.waiting.entry(number).or_default().rest = Some(Rest { decoded, bytes, more });
        state.bytes = state.bytes.saturating_add(bytes);
        state = self.pass_on(state);
        while !state.ended() && state.is_ahead(number, ahead, self.most) {
            state = self.wait(state);
        }
        !state.ended()
    }

    /// Accepts the beginning of an incomplete part, and waits while there is no room. Returns whether to continue.
    pub(super) fn put_some(&self, number: u64, decoded: Decoded<S>) -> bool {
        let few = UNKNOWN_FULL.saturating_mul(self.threads.get());
        let bytes = bytes(&decoded).unwrap_or(self.most.div_ceil(few));
        let mut state = self.lock();
        state.waiting.entry(number).or_default().full.push_back((decoded, bytes));
        state.bytes = state.bytes.saturating_add(bytes);
        state = self.pass_on(state);
        while !state.ended() && state.is_crowded(number, self.most) {
            state = self.wait(state);
        }
        !state.ended()
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
        debug_assert!(state.ended() || state.bytes == 0, "{} bytes of nothing", state.bytes);
        state.failed.or(state.late).map_or(Ok(()), Err)
    }
}

/// Bytes that sinks use; `None` if one of them does not know.
fn bytes<S: Sink>(decoded: &Decoded<S>) -> Option<usize> {
    let mut sinks = decoded.sinks.iter();
    sinks.try_fold(0, |all: usize, (_, sink)| Some(all.saturating_add(sink.bytes()?)))
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
