//! Which stretches of a capture are of which source.
//!
//! A number on the trace bus is that of one source, as the metadata says, unless a log has `define_trace`:
//! then it may be that of several, one after the other, and a source may have several numbers and
//! configurations.

use super::origin::Origin;
use crate::snapshot::Protocol;
use hartrace_arm_decoder::{
    Capture, ElementSink, Etmv4, Event, Memory, Ptm, Range, RecordedAt, Stream, list_etmv4,
    list_ptm,
};
use hartrace_decoder::StreamPos;
use hartrace_isa::arm::Arch;
use hartrace_spaces::{Bound, Clock, Log};
use std::borrow::Cow;
use thiserror::Error;

/// A stretch that a source wrote under one number, with one configuration.
#[derive(Debug)]
pub struct Portion<'c> {
    /// The number; that of the metadata if there are no frames to tell.
    pub id: u8,
    /// What it wrote.
    pub stream: Cow<'c, Stream>,
    /// Its protocol, with its configuration.
    pub protocol: Protocol,
    /// When and where it was recorded, if the trace itself does not say.
    pub recorded: Option<RecordedAt>,
}

/// A log says something about a source that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BindError {
    /// There is no source of this name.
    #[error("define_trace: no source {name}")]
    NoSource {
        /// The name in the log.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The protocol of this source does not have the register that is given for it.
    #[error("define_trace: {0} has no such register")]
    NoRegister(String),
    /// The trace buffer cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// The portions of a source, in the order of time.
pub type Portions<'c, 's> = (&'c Origin<'s>, Vec<Portion<'c>>);

/// Finds the sources of all streams that can be read. Bytes without a source go to `lost`: the number of
/// the stream, and how many bytes.
pub fn bind<'c, 's>(
    capture: &'c Capture,
    origins: &'c [Origin<'s>],
    raw: bool,
    log: Option<&Log>,
    mut lost: impl FnMut(u8, usize),
) -> Result<Vec<Portions<'c, 's>>, BindError> {
    let named = |name: &str| origins.iter().find(|origin| origin.name() == name);
    let usual =
        |id: u8| origins.iter().find(|origin| origin.is_read() && (raw || origin.id() == id));
    let bound = match log {
        // Frames distinguish sources: without frames, there is only one.
        Some(log) if !raw => log.bound(|id| usual(id).map(Origin::name)),
        _ => Default::default(),
    };
    // Each with where it starts in the buffer.
    let mut found: Vec<(&Origin<'s>, u64, Portion<'c>)> = Vec::new();
    for stream in &capture.streams {
        let Some(bound) = bound.get(&stream.id) else {
            if let Some(origin) = usual(stream.id) {
                let protocol = origin.protocol().clone();
                let id = if raw { origin.id() } else { stream.id };
                let portion =
                    Portion { id, stream: Cow::Borrowed(stream), protocol, recorded: None };
                found.push((origin, stream.first(), portion));
            }
            continue;
        };
        // Positions and times are looked for, so all of it is needed at once.
        let held = stream.held().map_err(|error| BindError::Unreadable(error.to_string()))?;
        let stream: &Stream = &held;
        let clock = log.map_or(Clock::Time, |log| log.clock);
        let mut start = 0;
        // How the bytes from `start` on are to be read, to find times in them.
        let mut before: Option<Protocol> = None;
        for (index, Bound { source, .. }) in bound.iter().enumerate() {
            let mut own = None;
            if let Some((name, setup)) = source {
                let Some(origin) = named(name) else {
                    let known = origins.iter().map(Origin::name).collect();
                    return Err(BindError::NoSource { name: name.clone(), known });
                };
                let Some(protocol) = origin.protocol().with(*setup) else {
                    return Err(BindError::NoRegister(name.clone()));
                };
                own = Some((origin, protocol));
            }
            let reader = own.as_ref().map(|(_, protocol)| protocol.clone()).or(before.take());
            let end = match bound.get(index.saturating_add(1)) {
                None => stream.bytes.len(),
                Some(next) => match clock {
                    Clock::Position => stream.before(next.since),
                    Clock::Time => before_time(stream, start, reader.as_ref(), next.since),
                    // Recordings do not define sources in this way.
                    Clock::Recorded => stream.bytes.len(),
                },
            };
            let end = end.max(start);
            if end > start {
                match own {
                    Some((origin, protocol)) if origin.is_read() => {
                        let (id, part) = (stream.id, stream.part(start..end));
                        let first = part.first();
                        let stream = Cow::Owned(part);
                        let portion = Portion { id, stream, protocol, recorded: None };
                        found.push((origin, first, portion));
                    }
                    Some(_) => {}
                    None => lost(stream.id, end.saturating_sub(start)),
                }
            }
            (start, before) = (end, reader);
        }
    }
    let mut all: Vec<Portions<'c, 's>> = Vec::new();
    found.sort_by_key(|(_, first, _)| *first);
    for (origin, _, portion) in found {
        match all.iter_mut().find(|(other, _)| std::ptr::eq(*other, origin)) {
            Some((_, portions)) => portions.push(portion),
            None => all.push((origin, vec![portion])),
        }
    }
    all.sort_by_key(|(_, portions)| portions.first().map(|portion| portion.id));
    Ok(all)
}

/// How many bytes of a stream come before a time: all up to the last synchronisation before the first
/// timestamp that is not earlier. A unit that is set up anew starts with one.
fn before_time(stream: &Stream, start: usize, reader: Option<&Protocol>, time: u64) -> usize {
    let Some(reader) = reader.filter(|reader| !matches!(reader, Protocol::Other(_))) else {
        // Nobody can tell.
        return start;
    };
    let all = stream.bytes.len();
    // No more than has to be looked at, since there may be many times.
    let mut length = 1 << 12;
    loop {
        let end = start.saturating_add(length).min(all);
        match last_sync_before(&stream.part(start..end), reader, time) {
            Some(offset) => return start.saturating_add(offset),
            None if end == all => return all,
            None => length = length.saturating_mul(2),
        }
    }
}

/// Where the last synchronisation is before the first timestamp that is not before a time, if there is such a
/// timestamp.
fn last_sync_before(stream: &Stream, reader: &Protocol, time: u64) -> Option<usize> {
    let (mut times, memory) = (Times { time, at: None }, Memory::new());
    let (records, name) = match reader {
        Protocol::Etmv4(config) => {
            Etmv4::new(*config, Arch::Later, &memory).decode(stream, &mut times);
            (list_etmv4(stream, config), "I_ASYNC")
        }
        Protocol::Ptm(config) => {
            Ptm::new(*config, Arch::Later, &memory).decode(stream, &mut times);
            (list_ptm(stream, config), "ASYNC")
        }
        Protocol::Other(_) => return None,
    };
    let at = times.at?;
    let mut before = records.iter().filter(|record| record.name == name && record.index <= at);
    Some(before.next_back().map_or(0, |record| record.bytes.start))
}

/// Looks for the first timestamp that is not before a time.
struct Times {
    time: u64,
    at: Option<u64>,
}

impl ElementSink for Times {
    fn range(&mut self, _: StreamPos, _: &Range) {}

    fn event(&mut self, at: StreamPos, event: Event) {
        if let Event::Timestamp { value, .. } = event
            && value >= self.time
        {
            self.at.get_or_insert(at.byte);
        }
    }
}
