//! Counts packets as they arrive.

use super::{Stats, Sum};
use crate::packets::{Reader, Unread};
use hartrace_capture::params::Setup;
use hartrace_decoder::stream::StreamError;
use hartrace_decoder::{Fault, StreamPos};
use hartrace_encap::{Deframer, FrameError, Item};
use hartrace_etrace::Payload;
use std::io::{self, Read};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Bytes to read at once.
const PIECE: usize = 1 << 16;

/// Pieces that may wait to be counted.
const WAITING: usize = 64;

/// Counts the packets of a capture, which arrives in pieces of any size.
#[derive(Debug)]
pub struct Tally {
    stats: Stats,
    deframer: Deframer,
    reader: Reader,
    /// The source to count; all if `None`.
    source: Option<u16>,
    /// Packets so far, damage not counted.
    packets: u64,
    /// Bytes of payload of all sources.
    payloads: u64,
    /// The first malformed packet.
    fault: Option<(StreamPos, Fault)>,
}

impl Tally {
    /// A tally that has not counted anything yet.
    pub fn new(setup: &Setup) -> Self {
        let mut deframer = Deframer::new(setup.transport.framing);
        if setup.transport.find_sync {
            deframer.resync(&mut |_, _| {});
        }
        Self {
            stats: Stats::default(),
            deframer,
            reader: Reader::new(setup.layout, setup.options),
            source: setup.transport.source,
            packets: 0,
            payloads: 0,
            fault: None,
        }
    }

    /// Counts the next bytes of the capture.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.stats.capture_bytes = self.stats.capture_bytes.saturating_add(bytes.len() as u64);
        let mut deframer = self.deframer.clone();
        deframer.feed(bytes, &mut |byte, item| self.take(byte, item));
        self.deframer = deframer;
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
                Ok(count) => self.feed(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(StreamError::Input(error)),
            }
            check(self).map_err(StreamError::Join)?;
        }
        self.end();
        check(self).map_err(StreamError::Join)
    }

    /// Ends the capture.
    pub fn end(&mut self) {
        if let Some((byte, error)) = self.deframer.clone().finish() {
            self.take(byte, Err(error));
        }
    }

    fn take(&mut self, byte: u64, item: Result<Item<'_>, FrameError>) {
        let at = StreamPos { packet: self.packets, byte };
        let (bits, outcome) = match item {
            Ok(Item::Null(_)) => return,
            Ok(Item::Frame(frame)) => {
                let bits = frame.payload().remaining();
                // Payloads of other sources are not overhead.
                self.payloads = self.payloads.saturating_add(bits.div_ceil(8));
                if self.source.is_some() && frame.header().source != self.source {
                    return;
                }
                self.packets = self.packets.saturating_add(1);
                (bits, self.reader.read_frame(&frame))
            }
            Err(error) => (0, Err(Unread::Frame(error))),
        };
        let (stats, sum) = (&mut self.stats, Sum { packets: 1, bytes: bits.div_ceil(8) });
        stats.total.add(sum);
        let fault = match outcome {
            Ok(payload) => {
                if let Payload::Support(support) = &payload {
                    stats.modes.insert(support.ioptions.to_string());
                }
                stats.formats.add(payload.format(), sum);
                let packets = stats.lengths.entry(sum.bytes).or_default();
                *packets = packets.saturating_add(1);
                stats.bits = stats.bits.saturating_add(bits);
                return;
            }
            Err(Unread::Kind(_)) => return stats.other.add(sum),
            Err(Unread::Frame(error)) => error.into(),
            Err(Unread::Payload(error)) => Fault::Malformed(error),
        };
        stats.malformed.add(sum);
        self.fault.get_or_insert((at, fault));
    }

    /// Calls `read`, and counts on another thread what it reads of a capture: those that decode it need not wait for
    /// that. All has been counted when this returns.
    pub fn beside<T>(&mut self, read: impl FnOnce(Pieces) -> T) -> T {
        let (pieces, counted) = sync_channel::<Vec<u8>>(WAITING);
        thread::scope(|scope| {
            scope.spawn(move || counted.iter().for_each(|piece| self.feed(&piece)));
            read(Pieces(pieces))
        })
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.stats.capture_bytes
    }

    /// The first packet that is malformed, if there is one so far.
    pub fn fault(&self) -> Option<(StreamPos, Fault)> {
        self.fault
    }

    /// Returns the counts.
    pub fn stats(self) -> Stats {
        let mut stats = self.stats;
        stats.overhead_bytes = stats.capture_bytes.saturating_sub(self.payloads);
        stats.sync_share = stats.formats.sync_share();
        stats
    }
}

/// Passes what is read of a capture to the tally that counts it; see [`Tally::beside`].
#[derive(Debug)]
pub struct Pieces(SyncSender<Vec<u8>>);

impl Pieces {
    /// A reader of a capture that is counted.
    pub fn of<R>(self, input: R) -> Counted<R> {
        Counted { input, pieces: self }
    }
}

/// A reader that has a capture counted while it is read.
#[derive(Debug)]
pub struct Counted<R> {
    input: R,
    pieces: Pieces,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(room)?;
        let piece = room.get(..count).unwrap_or_default().to_vec();
        // The tally receives until the end, unless it has panicked, which the caller then learns.
        self.pieces.0.send(piece).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(count)
    }
}
