//! Counts packets as they arrive.

use super::{Formats, Stats, Sum};
use hartrace_capture::params::Setup;
use hartrace_decoder::stream::{Lengths, PacketCounter, PacketCounts, StreamError};
use hartrace_decoder::{Endings, Fault, StreamPos};
use std::io::{self, Read};

/// Bytes to read at once.
const PIECE: usize = 1 << 16;

/// Counts the packets of a capture, which arrives in pieces of any size.
#[derive(Debug)]
pub struct Tally(PacketCounter);

impl Tally {
    /// A tally that has not counted anything yet.
    pub fn new(setup: &Setup) -> Self {
        let Setup { layout, transport, options, .. } = setup;
        Self(PacketCounter::with_layout(*layout, transport.stream(), *options))
    }

    /// Counts all of a capture, and ends it. `check` is called after every piece, and its error ends the
    /// counting.
    ///
    /// # Errors
    ///
    /// If the capture cannot be read, and those of `check`.
    pub fn read<E>(
        &mut self,
        mut input: impl Read,
        mut check: impl FnMut(&Self) -> Result<(), E>,
    ) -> Result<(), StreamError<E>> {
        let mut piece = vec![0; PIECE];
        loop {
            match input.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => self.0.feed(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(StreamError::Input(error)),
            }
            check(self).map_err(StreamError::Join)?;
        }
        self.0.end();
        check(self).map_err(StreamError::Join)
    }

    /// The same bytes, which are counted as they are read.
    pub fn tee<R: Read>(&mut self, input: R) -> impl Read {
        Tee { input, counter: &mut self.0 }
    }

    /// Ends the capture.
    pub fn end(&mut self) {
        self.0.end();
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.0.counts().capture_bytes
    }

    /// The first packet that is malformed, if there is one so far.
    pub fn fault(&self) -> Option<(StreamPos, Fault)> {
        self.0.fault()
    }

    /// Where traces start and end, so far.
    pub fn endings(&self) -> &Endings {
        self.0.endings()
    }

    /// Returns the counts.
    pub fn stats(self) -> Stats {
        self.0.counts().into()
    }
}

/// Counts what is read.
struct Tee<'t, R> {
    input: R,
    counter: &'t mut PacketCounter,
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(room)?;
        self.counter.feed(room.get(..count).unwrap_or_default());
        Ok(count)
    }
}

impl From<&Lengths> for Sum {
    fn from(lengths: &Lengths) -> Self {
        Self { packets: lengths.packets(), bytes: lengths.bytes() }
    }
}

impl From<&PacketCounts> for Stats {
    fn from(counts: &PacketCounts) -> Self {
        let mut readable = Lengths::default();
        counts.formats.iter().for_each(|lengths| readable.join(lengths));
        let mut all = readable.clone();
        all.join(&counts.malformed);
        all.join(&counts.other);
        let formats = Formats(counts.formats.each_ref().map(Sum::from));
        Self {
            capture_bytes: counts.capture_bytes,
            overhead_bytes: counts.capture_bytes.saturating_sub(counts.payload_bytes),
            sync_share: formats.sync_share(),
            formats,
            malformed: (&counts.malformed).into(),
            other: (&counts.other).into(),
            total: (&all).into(),
            lengths: readable.iter().collect(),
            ended: false,
            ended_early: None,
            program: None,
            bits: counts.bits,
            modes: counts.modes.iter().map(ToString::to_string).collect(),
        }
    }
}
