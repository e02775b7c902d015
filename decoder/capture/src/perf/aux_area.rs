//! Trace bytes, cut at AUX records.
//!
//! The kernel writes an AUX record whenever a trace unit stops or its buffer is full: it names a stretch of
//! the buffer by offsets that only grow. perf copies buffers to AUXTRACE records, with the same offsets.

use super::attrs::SampleId;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

const TRUNCATED: u64 = 1;
const OVERWRITE: u64 = 2;
const PARTIAL: u64 = 4;

/// No CPU: the buffer belongs to a thread.
const NO_CPU: u32 = u32::MAX;

/// What a trace unit wrote from a start to a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The position of its AUX record in the file.
    pub at: u64,
    /// Its bytes, as positions in the file.
    pub bytes: Vec<Range<usize>>,
    /// The CPU whose buffer it is; if the buffer belongs to a thread, the CPU where it ended, if that was
    /// recorded.
    pub cpu: Option<u32>,
    /// The thread that the buffer belongs to, if it is not that of a CPU.
    pub tid: Option<u32>,
    /// When it ended, if that was recorded.
    pub time: Option<u64>,
    /// The format of its bytes; its meaning depends on the kind of trace.
    pub format: u8,
    /// Trace was lost at its end, because the buffer was full.
    pub truncated: bool,
    /// Trace was lost within it.
    pub partial: bool,
    /// It starts anywhere, since the buffer was overwritten.
    pub overwritten: bool,
}

/// Trace bytes that cannot be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// An AUX record names bytes that are in no AUXTRACE record, or in an earlier piece.
    Bytes {
        /// The position of the AUX record.
        at: u64,
        /// How many.
        count: u64,
    },
    /// Bytes that no AUX record names.
    Record {
        /// Their position in the file.
        at: u64,
        /// How many.
        count: u64,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes { at, count } => {
                write!(f, "byte {at}: {count} bytes of this AUX record are not in the recording")
            }
            Self::Record { at, count } => {
                write!(f, "byte {at}: {count} bytes are in no AUX record")
            }
        }
    }
}

/// An AUX record.
#[derive(Copy, Clone, Debug)]
pub(super) struct Aux {
    pub(super) at: u64,
    pub(super) id: SampleId,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) flags: u64,
}

/// A copy of a part of a buffer.
#[derive(Clone, Debug)]
struct Extent {
    offset: u64,
    file: Range<usize>,
}

impl Extent {
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.file.len() as u64)
    }

    /// The bytes of the file for a range of offsets within it.
    fn part(&self, offsets: Range<u64>) -> Range<usize> {
        let place = |offset: u64| {
            let distance = offset.saturating_sub(self.offset);
            let distance = usize::try_from(distance).unwrap_or(usize::MAX);
            self.file.start.saturating_add(distance).min(self.file.end)
        };
        place(offsets.start)..place(offsets.end)
    }
}

/// Whose buffer it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Cpu(u32),
    Thread(u32),
}

/// A buffer, in the order of the file.
#[derive(Debug, Default)]
struct Buffer {
    extents: Vec<Extent>,
    records: Vec<Aux>,
}

/// All buffers.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    all: BTreeMap<Owner, Buffer>,
    records: Vec<Aux>,
}

impl Buffers {
    /// Adds an AUXTRACE record.
    pub(super) fn add(&mut self, cpu: u32, tid: u32, offset: u64, file: Range<usize>) {
        let owner = if cpu == NO_CPU { Owner::Thread(tid) } else { Owner::Cpu(cpu) };
        self.all.entry(owner).or_default().extents.push(Extent { offset, file });
    }

    /// Adds an AUX record.
    pub(super) fn add_record(&mut self, aux: Aux) {
        self.records.push(aux);
    }

    /// Cuts all buffers. Pieces are in the order of their times; those without one are last.
    pub(super) fn cut(mut self) -> (Vec<Piece>, Vec<Missing>) {
        let (mut pieces, mut missing) = (Vec::new(), Vec::new());
        let only = self.all.keys().next().copied().filter(|_| self.all.len() == 1);
        for aux in std::mem::take(&mut self.records) {
            let cpu = aux.id.cpu.map(Owner::Cpu).filter(|owner| self.all.contains_key(owner));
            let thread = || aux.id.tid.map(Owner::Thread);
            let thread = || thread().filter(|owner| self.all.contains_key(owner));
            // Where records do not say whose they are, there can be only one.
            let owner = cpu.or_else(thread).or(only);
            match owner.and_then(|owner| self.all.get_mut(&owner)) {
                Some(buffer) => buffer.records.push(aux),
                None => missing.push(Missing::Bytes { at: aux.at, count: aux.size }),
            }
        }
        for (owner, buffer) in self.all {
            buffer.cut(owner, &mut pieces, &mut missing);
        }
        pieces.sort_by_key(|piece| (piece.time.unwrap_or(u64::MAX), piece.at));
        (pieces, missing)
    }
}

impl Buffer {
    fn cut(mut self, owner: Owner, pieces: &mut Vec<Piece>, missing: &mut Vec<Missing>) {
        if self.records.iter().any(|aux| aux.flags & OVERWRITE != 0) {
            return self.take_whole(owner, pieces, missing);
        }
        self.extents.sort_by_key(|extent| extent.offset);
        self.records.sort_by_key(|aux| aux.offset);
        // A copy is padded to eight bytes, and the next one starts where its own bytes ended.
        let starts: Vec<u64> = self.extents.iter().skip(1).map(|next| next.offset).collect();
        for (extent, next) in self.extents.iter_mut().zip(starts) {
            extent.file = extent.part(extent.offset..next.min(extent.end()));
        }
        let mut extents = self.extents.into_iter().peekable();
        // Offsets up to which all bytes are used.
        let mut done = 0u64;
        for aux in self.records {
            let (mut from, end) = (aux.offset.max(done), aux.offset.saturating_add(aux.size));
            let mut bytes = Vec::new();
            while from < end {
                let Some(extent) = extents.peek() else { break };
                if extent.end() <= from {
                    unnamed(extent, done, extent.end(), missing);
                    done = done.max(extent.end());
                    extents.next();
                    continue;
                }
                if extent.offset >= end {
                    break;
                }
                let (start, stop) = (extent.offset.max(from), extent.end().min(end));
                unnamed(extent, done, start, missing);
                bytes.push(extent.part(start..stop));
                (from, done) = (stop, stop);
            }
            let found = bytes.iter().fold(0u64, |sum, part| sum.saturating_add(part.len() as u64));
            if found < aux.size {
                let count = aux.size.saturating_sub(found);
                missing.push(Missing::Bytes { at: aux.at, count });
            }
            pieces.push(Piece::new(&aux, owner, bytes));
        }
        for extent in extents {
            unnamed(&extent, done, extent.end(), missing);
        }
    }

    /// Snapshots: the offsets of a buffer that is overwritten say nothing, and each AUX record stands for the
    /// last bytes of a copy.
    fn take_whole(self, owner: Owner, pieces: &mut Vec<Piece>, missing: &mut Vec<Missing>) {
        let mut extents = self.extents.into_iter();
        for aux in self.records {
            let Some(extent) = extents.next() else {
                missing.push(Missing::Bytes { at: aux.at, count: aux.size });
                continue;
            };
            let from = extent.end().saturating_sub(aux.size).max(extent.offset);
            unnamed(&extent, 0, from, missing);
            let bytes = vec![extent.part(from..extent.end())];
            pieces.push(Piece::new(&aux, owner, bytes));
        }
        for extent in extents {
            unnamed(&extent, 0, extent.end(), missing);
        }
    }
}

/// Bytes of an extent that no AUX record names, except padding at its end.
fn unnamed(extent: &Extent, from: u64, to: u64, missing: &mut Vec<Missing>) {
    let part = extent.part(from.max(extent.offset)..to);
    let padding = to == extent.end() && part.len() < 8;
    if !part.is_empty() && !padding {
        missing.push(Missing::Record { at: part.start as u64, count: part.len() as u64 });
    }
}

impl Piece {
    fn new(aux: &Aux, owner: Owner, bytes: Vec<Range<usize>>) -> Self {
        let (cpu, tid) = match owner {
            Owner::Cpu(cpu) => (Some(cpu), None),
            Owner::Thread(tid) => (aux.id.cpu, Some(tid)),
        };
        let has = |flag| aux.flags & flag != 0;
        Self {
            at: aux.at,
            bytes,
            cpu,
            tid,
            time: aux.id.time,
            format: (aux.flags >> 8) as u8,
            truncated: has(TRUNCATED),
            partial: has(PARTIAL),
            overwritten: has(OVERWRITE),
        }
    }

    /// Number of its bytes.
    pub fn len(&self) -> usize {
        self.bytes.iter().fold(0, |sum, part| sum.saturating_add(part.len()))
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
