//! Bytes of a capture that are read twice: to be decoded, and to be compared with those of another.

use hartrace_capture::decode::{CaptureDecoder, Filling};
use hartrace_decoder::StreamPos;
use hartrace_decoder::stream::{Cut, Cuts};
use hartrace_etrace::Ioptions;
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;

/// Bytes to keep for a comparison.
pub(super) const KEPT: usize = 1 << 26;

/// Where the decoding of a capture starts: at its start, or at a synchronisation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// Its place in the capture.
    pub(super) at: StreamPos,
    /// The modes in force there.
    pub(super) options: Ioptions,
}

impl From<Cut> for Start {
    fn from(cut: Cut) -> Self {
        let at = StreamPos { packet: cut.packets, byte: cut.byte };
        Self { at, options: cut.sync.options }
    }
}

/// A capture, of which what has been read lately can be read again.
pub(super) struct Tape<'a, I> {
    input: Filling<I>,
    kept: Vec<u8>,
    /// Offset of the first byte that is kept.
    first: u64,
    /// Offset of the next byte to decode. It is kept, or has not been read yet.
    pub(super) decoded: u64,
    /// Offset from which on everything is kept: decoding is about to go back to it.
    pub(super) needed: u64,
    /// Where decoding may start; `None` if it starts nowhere but at the start.
    cuts: Option<Cuts<'a>>,
    /// Why there is no more to read: an error, unless it has been passed on.
    ended: Option<Option<io::Error>>,
}

impl<'a, I: Read> Tape<'a, I> {
    /// Starts at the start of a capture. Places where decoding may start are looked for unless it is to be decoded `whole`.
    pub(super) fn new(input: I, follow: &'a CaptureDecoder, whole: bool) -> Self {
        // Parameters that no encoder can have are reported when it is decoded.
        let cuts = if whole { None } else { Cuts::new(&follow.decode()).ok() };
        Self {
            input: Filling(input),
            kept: Vec::new(),
            first: 0,
            decoded: 0,
            needed: u64::MAX,
            cuts,
            ended: None,
        }
    }

    /// Offset after what has been read.
    pub(super) fn end(&self) -> u64 {
        self.first.saturating_add(self.kept.len() as u64)
    }

    /// Whether what has been read from an offset on is kept.
    pub(super) fn keeps(&self, offset: u64) -> bool {
        offset >= self.first
    }

    /// What has been read from an offset on; nothing if some of it is not kept.
    pub(super) fn from(&self, offset: u64) -> &[u8] {
        let skip = offset.checked_sub(self.first).and_then(|skip| usize::try_from(skip).ok());
        skip.and_then(|skip| self.kept.get(skip..)).unwrap_or_default()
    }

    /// Reads more; returns whether there was any.
    pub(super) fn more(&mut self) -> bool {
        if self.ended.is_some() {
            return false;
        }
        // Only what is to be decoded must be kept.
        if self.kept.len() > KEPT {
            self.forget(self.decoded);
        }
        let had = self.kept.len();
        self.kept.resize(had.saturating_add(CHUNK), 0);
        let read = self.input.read(self.kept.get_mut(had..).unwrap_or_default());
        let count = read.as_ref().map_or(0, |count| *count);
        self.kept.truncate(had.saturating_add(count));
        if count == 0 {
            self.ended = Some(read.err());
        }
        if let Some(cuts) = &mut self.cuts {
            cuts.feed(self.kept.get(had..).unwrap_or_default());
        }
        count > 0
    }

    /// Where decoding may start, as far as it has been read and is kept.
    pub(super) fn cuts(&self) -> &[Cut] {
        let all = self.cuts.as_ref().map_or(&[][..], Cuts::of_first);
        all.get(all.partition_point(|cut| cut.byte < self.first)..).unwrap_or_default()
    }

    /// The place at this offset where decoding may start.
    pub(super) fn cut_at(&self, offset: u64) -> Option<Cut> {
        let cuts = self.cuts();
        let cut = cuts.get(cuts.partition_point(|cut| cut.byte < offset))?;
        (cut.byte == offset).then_some(*cut)
    }

    /// What is before this offset is no longer needed, except to be decoded.
    pub(super) fn forget(&mut self, offset: u64) {
        let gone = offset.min(self.decoded).min(self.needed).saturating_sub(self.first);
        let gone = usize::try_from(gone).unwrap_or(usize::MAX).min(self.kept.len());
        // Moving what is left must not cost more than having read what goes.
        if gone >= self.kept.len() / 2 && gone > 0 {
            self.kept.drain(..gone);
            self.first = self.first.saturating_add(gone as u64);
            if let Some(cuts) = &mut self.cuts {
                cuts.forget_before(self.first);
            }
        }
    }
}

/// The bytes to decode, from a tape that somebody else reads, too.
pub(super) struct Decoding<'t, 'a, I>(pub(super) &'t Mutex<Tape<'a, I>>);

impl<I: Read> Read for Decoding<'_, '_, I> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let tape = &mut *lock(self.0);
        if tape.decoded >= tape.end() && !tape.more() {
            return tape.ended.as_mut().and_then(Option::take).map_or(Ok(0), Err);
        }
        let count = tape.from(tape.decoded).read(room)?;
        tape.decoded = tape.decoded.saturating_add(count as u64);
        Ok(count)
    }
}

/// A tape. No panic leaves one half changed.
pub(super) fn lock<'t, 'a, I>(tape: &'t Mutex<Tape<'a, I>>) -> MutexGuard<'t, Tape<'a, I>> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}
