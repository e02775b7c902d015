//! Packets, counted as they come.

use super::{Stats, Sum};
use crate::capture::{Reader, Unread};
use crate::failure::Failure;
use crate::files::Capture;
use crate::framing::Transport;
use crate::gaps::Gaps;
use crate::params::Setup;
use hartrace_decoder::{Event, Fault, StreamPos};
use hartrace_encap::{Deframer, FrameError, Item};
use std::io::{self, ErrorKind, Read};

/// Bytes to read at once.
const CHUNK: usize = 1 << 16;

/// Counts packets.
pub(super) struct Tally {
    stats: Stats,
    deframer: Deframer,
    reader: Reader,
    transport: Transport,
    /// Packets so far, damage not counted.
    packets: u64,
    /// Bytes of payload of all sources.
    payloads: u64,
    /// There must be no packet that is malformed.
    strict: Option<Gaps>,
}

/// Why a capture was not counted to its end.
pub(super) enum Ended {
    Unreadable(io::Error),
    Gap(Failure),
}

impl Tally {
    pub(super) fn new(setup: &Setup, strict: Option<Gaps>) -> Self {
        let mut deframer = Deframer::new(setup.transport.framing);
        if setup.transport.find_sync {
            deframer.resync(&mut |_, _| {});
        }
        Self {
            stats: Stats::default(),
            deframer,
            reader: Reader::new(setup.layout, setup.options),
            transport: setup.transport,
            packets: 0,
            payloads: 0,
            strict,
        }
    }

    /// Counts all of a capture.
    pub(super) fn read(&mut self, capture: Capture) -> Result<(), Ended> {
        let Capture { mut input, bar, moving } = capture;
        let mut chunk = vec![0; CHUNK];
        loop {
            match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => self.feed(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Ended::Unreadable(error)),
            }
            self.check()?;
            if !moving {
                bar.set_position(self.stats.capture_bytes);
            }
        }
        self.end();
        bar.finish_and_clear();
        self.check()
    }

    fn check(&mut self) -> Result<(), Ended> {
        self.strict.as_mut().map_or(Ok(()), |gaps| gaps.check().map_err(Ended::Gap))
    }

    /// Counts some more bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.stats.capture_bytes += bytes.len() as u64;
        let mut deframer = self.deframer.clone();
        deframer.feed(bytes, &mut |byte, item| self.take(byte, item));
        self.deframer = deframer;
    }

    /// The capture has ended.
    pub(super) fn end(&mut self) {
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
                // Payloads of other sources are no overhead.
                self.payloads += bits.div_ceil(8);
                let wanted = self.transport.source;
                if wanted.is_some() && frame.header().source != wanted {
                    return;
                }
                self.packets += 1;
                (bits, self.reader.read_frame(&frame))
            }
            Err(error) => (0, Err(Unread::Frame(error))),
        };
        let (stats, sum) = (&mut self.stats, Sum { packets: 1, bytes: bits.div_ceil(8) });
        stats.total.add(sum);
        let fault = match outcome {
            Ok(payload) => {
                stats.formats.of(payload.format()).add(sum);
                *stats.lengths.entry(sum.bytes).or_default() += 1;
                stats.bits += bits;
                return;
            }
            Err(Unread::Kind(_)) => return stats.other.add(sum),
            Err(Unread::Frame(error)) => error.into(),
            Err(Unread::Payload(error)) => Fault::Malformed(error),
        };
        stats.malformed.add(sum);
        if let Some(gaps) = &mut self.strict {
            gaps.event(None, at, &Event::Gap(fault));
        }
    }

    /// What was counted.
    pub(super) fn stats(self) -> Stats {
        let mut stats = self.stats;
        stats.overhead_bytes = stats.capture_bytes.saturating_sub(self.payloads);
        stats.sync_share = stats.formats.sync_share();
        stats
    }
}

/// Counts what somebody else reads.
pub(super) struct Counted<'t, R> {
    pub(super) input: R,
    pub(super) tally: &'t mut Tally,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(room)?;
        self.tally.feed(room.get(..count).unwrap_or_default());
        Ok(count)
    }
}
