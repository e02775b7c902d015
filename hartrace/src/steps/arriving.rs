//! What a thread decodes ahead of an iterator.
//!
//! The decoder hands its results over, and an iterator fetches them: a thread of its own decodes ahead, as far as a channel has
//! room. It ends when the iterator is dropped.

use crate::capture::Capture;
use crate::error::{Error, Gap};
use hartrace_report::decode::SMALL;
use hartrace_report::gaps::{Missing, Note};
use hartrace_report::{Printer, Report};
use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;
use std::vec;

/// Parts that may wait for the iterator.
const AHEAD: usize = 4;

/// What the decoding thread passes on.
pub(super) enum Passed<T> {
    Part(Option<u16>, T),
    /// The end, with what is missing there.
    End(Vec<Error>),
}

/// The items of an iterator, which arrive in parts.
pub(super) struct Arriving<T, I> {
    parts: Receiver<Passed<T>>,
    /// The items of a part of a source.
    items: fn(Option<u16>, T) -> Vec<Result<I, Error>>,
    ready: vec::IntoIter<Result<I, Error>>,
    ended: bool,
}

impl<T: Send + 'static, I> Arriving<T, I> {
    /// Starts to decode with `decode`, which passes parts on, and says at the end what is missing.
    pub(super) fn new(
        capture: &Capture,
        decode: fn(&Capture, &SyncSender<Passed<T>>) -> Vec<Error>,
        items: fn(Option<u16>, T) -> Vec<Result<I, Error>>,
    ) -> Self {
        let (sender, parts) = sync_channel(AHEAD);
        let capture = capture.clone();
        thread::spawn(move || {
            let missing = decode(&capture, &sender);
            // Nobody may be there any more.
            let _ = sender.send(Passed::End(missing));
        });
        Self { parts, items, ready: Vec::new().into_iter(), ended: false }
    }
}

impl<T, I> Arriving<T, I> {
    /// Waits for an item, or for the end, but no longer than `most`. Returns whether it has arrived.
    pub(super) fn wait(&mut self, most: Option<Duration>) -> bool {
        while self.ready.as_slice().is_empty() && !self.ended {
            let passed = match most {
                Some(most) => self.parts.recv_timeout(most),
                None => self.parts.recv().map_err(RecvTimeoutError::from),
            };
            let items = match passed {
                Ok(Passed::Part(source, part)) => (self.items)(source, part),
                Ok(Passed::End(missing)) => {
                    self.ended = true;
                    missing.into_iter().map(Err).collect()
                }
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => {
                    self.ended = true;
                    vec![Err(Error::Stopped)]
                }
            };
            self.ready = items.into_iter();
        }
        true
    }

    pub(super) fn next(&mut self) -> Option<Result<I, Error>> {
        self.wait(None);
        self.ready.next()
    }
}

impl<T, I> fmt::Debug for Arriving<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arriving").field("ended", &self.ended).finish_non_exhaustive()
    }
}

/// Decodes into a report. Returns what is missing: gaps only if the report does not pass them on itself, since they may
/// be many.
pub(super) fn decode<R: Report + Send>(
    capture: &Capture,
    report: R,
    with_gaps: bool,
) -> Vec<Error> {
    let trace = capture.trace();
    let (sender, notes) = channel();
    let gaps = capture.gaps(move |note: &Note| {
        let error = match note {
            Note::Gap(..) if !with_gaps => return,
            Note::Gap(missing, _) => {
                let Missing { source, at, cause, .. } = *missing;
                Error::Gap(Gap { source, at, cause })
            }
            note => Error::Incomplete(note.to_string()),
        };
        let _ = sender.send(error);
    });
    let mut printer = Printer::new(report, io::sink(), gaps);
    let outcome = trace.print(&mut printer, SMALL);
    let nothing = !printer.gaps.has_started() && printer.gaps.count() == 0;
    drop(printer);
    let mut missing: Vec<Error> = notes.try_iter().collect();
    if outcome.is_ok() && nothing && missing.is_empty() {
        missing.push(Error::Incomplete(trace.nothing()));
    }
    missing.extend(trace.losses().into_iter().map(Error::Incomplete));
    missing.extend(outcome.err());
    missing
}
