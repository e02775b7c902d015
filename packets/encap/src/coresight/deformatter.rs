use crate::coresight::id::{Source, TraceId};
use crate::coresight::unpack::unpack;
use crate::coresight::{FRAME, FSYNC, HSYNC};
use core::fmt;

/// How frames are found.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Every sixteen bytes, from the first, without synchronisation words: the format of ETB, ETF
    /// and ETR.
    Aligned,
    /// Like [`Mode::Aligned`], but four full synchronisation words, or a multiple, in place of
    /// frames reset the state. Linux perf separates blocks like this.
    AlignedReset,
    /// After full synchronisation words, which may appear between any two frames.
    Fsync,
    /// Like [`Mode::Fsync`], with half synchronisation words at any even offset.
    FsyncHsync,
}

/// An item of a capture.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// Bytes of a trace source.
    Data(Chunk<'a>),
    /// A trigger.
    Trigger {
        /// Its position in the capture, as for a [`Chunk`].
        index: u64,
        /// The bytes that identify it.
        bytes: &'a [u8],
    },
    /// A flush has finished.
    Flush {
        /// Its position in the capture, as for a [`Chunk`].
        index: u64,
    },
    /// [`Mode::AlignedReset`]: the state of all sources is reset.
    Reset,
    /// A violation of the frame format.
    Fault(Fault),
}

/// Bytes of one trace source, without interruption and within one frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The source.
    pub id: TraceId,
    /// The position of the first byte in the capture, as OpenCSD counts: the start of the frame, or
    /// of the pair of bytes where the source changed.
    pub index: u64,
    /// The bytes, at least one.
    pub bytes: &'a [u8],
}

/// A violation of the frame format. Reading continues at the next position where a frame can start.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// A half synchronisation word within a frame, which the mode excludes. The capture may be of
    /// mode [`Mode::FsyncHsync`].
    HalfSync {
        /// Where it is.
        index: u64,
    },
    /// A full synchronisation word within a frame, or a source 0x7f: the frame is incomplete.
    FullSync {
        /// Where it is.
        index: u64,
    },
    /// Full synchronisation words among aligned frames, but not a multiple of four.
    Reset {
        /// Where they start.
        index: u64,
        /// How many.
        words: u64,
    },
    /// The capture ends within a frame.
    Incomplete {
        /// Where the frame starts.
        index: u64,
        /// How many bytes of it are present.
        bytes: u8,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::HalfSync { index } => {
                write!(f, "half synchronisation word within a frame, at byte {index}")
            }
            Self::FullSync { index } => {
                write!(f, "frame cut off by a full synchronisation word, at byte {index}")
            }
            Self::Reset { index, words } => {
                write!(f, "{words} full synchronisation words instead of frames, at byte {index}")
            }
            Self::Incomplete { index, bytes } => {
                write!(
                    f,
                    "the trace ends within the frame at byte {index}, after {bytes} bytes of it"
                )
            }
        }
    }
}

/// How many bytes of a capture were used for what.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Statistics {
    /// Data of trace sources.
    pub data: u64,
    /// Data before the first ID.
    pub unknown: u64,
    /// Padding.
    pub null: u64,
    /// Data of reserved sources.
    pub reserved: u64,
    /// IDs, auxiliary bytes and synchronisation words.
    pub overhead: u64,
    /// Bytes before the first synchronisation word, or in frames that were abandoned.
    pub unsynchronised: u64,
}

/// Splits a capture into the bytes of its sources.
#[derive(Clone, Debug)]
pub struct Deformatter {
    mode: Mode,
    current: Option<Source>,
    frame: [u8; FRAME],
    filled: u8,
    /// Where the frame started.
    start: u64,
    /// Where the next byte is.
    position: u64,
    /// Frames start at a known place.
    synchronised: bool,
    /// The last bytes read, to recognise a synchronisation word, even one among bytes that are a fault.
    window: [u8; 4],
    /// First byte of a pair, in the modes that look at pairs.
    half: Option<u8>,
    /// The last pair may be the first half of a full synchronisation word between frames.
    opened: bool,
    /// Full synchronisation words in a row.
    resets: u64,
    statistics: Statistics,
}

impl Deformatter {
    /// Starts at the beginning of a capture.
    pub const fn new(mode: Mode) -> Self {
        Self {
            mode,
            current: None,
            frame: [0; FRAME],
            filled: 0,
            start: 0,
            position: 0,
            synchronised: matches!(mode, Mode::Aligned | Mode::AlignedReset),
            window: [0; 4],
            half: None,
            opened: false,
            resets: 0,
            statistics: Statistics {
                data: 0,
                unknown: 0,
                null: 0,
                reserved: 0,
                overhead: 0,
                unsynchronised: 0,
            },
        }
    }

    /// The statistics of the bytes so far.
    pub const fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Processes the next bytes of the capture and reports the items that they complete.
    pub fn feed(&mut self, bytes: &[u8], out: &mut impl FnMut(Item<'_>)) {
        match self.mode {
            Mode::Aligned | Mode::AlignedReset => self.aligned(bytes, out),
            Mode::Fsync | Mode::FsyncHsync => {
                for byte in bytes {
                    self.port(*byte, out);
                    self.position = self.position.wrapping_add(1);
                }
            }
        }
    }

    /// Ends the capture. An incomplete frame is a fault, and its bytes are not reported.
    pub fn finish(&mut self, out: &mut impl FnMut(Item<'_>)) {
        self.end_resets(out);
        let opened = core::mem::take(&mut self.opened);
        let halves = u8::from(self.half.is_some()).saturating_add(if opened { 2 } else { 0 });
        let held = self.filled.saturating_add(halves);
        if held > 0 {
            out(Item::Fault(Fault::Incomplete { index: self.start, bytes: held }));
            self.give_up(held.into());
        }
    }

    fn aligned(&mut self, mut bytes: &[u8], out: &mut impl FnMut(Item<'_>)) {
        while !bytes.is_empty() {
            if self.filled == 0
                && let Some((frame, rest)) = bytes.split_first_chunk::<FRAME>()
            {
                self.start = self.position;
                self.position = self.position.wrapping_add(FRAME as u64);
                self.whole(frame, out);
                bytes = rest;
                continue;
            }
            // A frame that continues in the next piece, or started in the one before.
            let Some((byte, rest)) = bytes.split_first() else { break };
            self.hold(*byte);
            self.position = self.position.wrapping_add(1);
            bytes = rest;
            if usize::from(self.filled) == FRAME {
                let frame = self.frame;
                self.filled = 0;
                self.whole(&frame, out);
            }
        }
    }

    /// Processes a frame in one of the aligned modes.
    fn whole(&mut self, frame: &[u8; FRAME], out: &mut impl FnMut(Item<'_>)) {
        if self.mode == Mode::AlignedReset {
            let words = frame.chunks_exact(4).take_while(|word| **word == FSYNC).count() as u64;
            if words > 0 {
                self.resets = self.resets.wrapping_add(words);
                self.count_overhead(FRAME as u64);
                if words < 4 {
                    self.end_resets(out);
                }
                return;
            }
            self.end_resets(out);
        }
        self.split(frame, out);
    }

    fn end_resets(&mut self, out: &mut impl FnMut(Item<'_>)) {
        let words = core::mem::take(&mut self.resets);
        if words == 0 {
            return;
        }
        self.current = None;
        out(if words.is_multiple_of(4) {
            Item::Reset
        } else {
            Item::Fault(Fault::Reset { index: self.start, words })
        });
    }

    /// Processes a byte in one of the modes with synchronisation words.
    fn port(&mut self, byte: u8, out: &mut impl FnMut(Item<'_>)) {
        let [_, a, b, c] = self.window;
        self.window = [a, b, c, byte];
        if !self.synchronised {
            self.statistics.unsynchronised = self.statistics.unsynchronised.wrapping_add(1);
            if self.window == FSYNC {
                self.synchronised = true;
                self.statistics.unsynchronised = self.statistics.unsynchronised.saturating_sub(4);
                self.count_overhead(4);
            }
            return;
        }
        let Some(first) = self.half.take() else {
            if self.filled == 0 {
                self.start = self.position;
            }
            self.half = Some(byte);
            return;
        };
        let at = self.position.wrapping_sub(1);
        let opened = core::mem::take(&mut self.opened);
        match [first, byte] {
            HSYNC if opened => self.count_overhead(4),
            _ if opened => self.lost(Fault::FullSync { index: at.wrapping_sub(2) }, 4, out),
            HSYNC if self.mode == Mode::FsyncHsync => self.count_overhead(2),
            HSYNC => self.lost(Fault::HalfSync { index: at }, 2, out),
            [0xff, 0xff] if self.filled == 0 => self.opened = true,
            [0xff, 0xff] => self.lost(Fault::FullSync { index: at }, 2, out),
            _ => {
                self.hold(first);
                self.hold(byte);
                if usize::from(self.filled) == FRAME {
                    let frame = self.frame;
                    self.filled = 0;
                    self.split(&frame, out);
                }
            }
        }
    }

    fn hold(&mut self, byte: u8) {
        if self.filled == 0 && self.half.is_none() && self.mode_is_aligned() {
            self.start = self.position;
        }
        if let Some(to) = self.frame.get_mut(usize::from(self.filled)) {
            *to = byte;
            self.filled = self.filled.saturating_add(1);
        }
    }

    const fn mode_is_aligned(&self) -> bool {
        matches!(self.mode, Mode::Aligned | Mode::AlignedReset)
    }

    /// Abandons the frame and looks for the next full synchronisation word.
    fn lost(&mut self, fault: Fault, extra: u64, out: &mut impl FnMut(Item<'_>)) {
        out(Item::Fault(fault));
        self.give_up(extra.wrapping_add(self.filled.into()));
        self.synchronised = false;
        self.current = None;
    }

    fn give_up(&mut self, bytes: u64) {
        self.filled = 0;
        self.half = None;
        self.statistics.unsynchronised = self.statistics.unsynchronised.wrapping_add(bytes);
    }

    fn count_overhead(&mut self, bytes: u64) {
        self.statistics.overhead = self.statistics.overhead.wrapping_add(bytes);
    }

    #[inline]
    fn split(&mut self, frame: &[u8; FRAME], out: &mut impl FnMut(Item<'_>)) {
        let start = self.start;
        let statistics = &mut self.statistics;
        let mut carried = 0u64;
        unpack(frame, &mut self.current, &mut |piece| {
            let len = piece.bytes.len() as u64;
            carried = carried.wrapping_add(len);
            let index = start.wrapping_add(piece.index.into());
            let counter = match piece.source {
                Some(Source::Trace(id)) => {
                    out(Item::Data(Chunk { id, index, bytes: piece.bytes }));
                    &mut statistics.data
                }
                Some(Source::Null) => &mut statistics.null,
                Some(Source::Trigger) => {
                    out(Item::Trigger { index, bytes: piece.bytes });
                    &mut statistics.overhead
                }
                Some(Source::Flush) => {
                    out(Item::Flush { index });
                    &mut statistics.overhead
                }
                Some(Source::Reserved(_)) => &mut statistics.reserved,
                None => &mut statistics.unknown,
            };
            *counter = counter.wrapping_add(len);
        });
        self.count_overhead((FRAME as u64).wrapping_sub(carried));
    }
}
