use crate::{Framing, atb, encap, esp32, rv_tracer, smi};
use core::fmt;
use hartrace_bits::{BitReader, Tail};

/// What the frame's payload traces.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Instructions. Framings without a type field carry nothing else.
    #[default]
    Instruction,
    /// Data accesses.
    Data,
    /// Something else, with this type code.
    Other(u8),
}

impl Kind {
    /// The kind with type code `raw`, where `instruction` is the code of instruction trace. Data
    /// has the next code in every framing.
    pub(crate) fn of(raw: u8, instruction: u8) -> Self {
        match raw.checked_sub(instruction) {
            Some(0) => Self::Instruction,
            Some(1) => Self::Data,
            _ => Self::Other(raw),
        }
    }

    /// The inverse of [`of`](Self::of); `None` for what it never returns.
    pub(crate) fn code(self, instruction: u8) -> Option<u8> {
        let raw = match self {
            Self::Instruction => instruction,
            Self::Data => instruction.checked_add(1)?,
            Self::Other(raw) => raw,
        };
        (Self::of(raw, instruction) == self).then_some(raw)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instruction => f.write_str("instruction"),
            Self::Data => f.write_str("data"),
            Self::Other(raw) => write!(f, "type {raw}"),
        }
    }
}

/// What a frame says about its payload.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameHeader {
    /// Which encoder sent it: srcID, hart index or ATID. `None` if the framing has no such field.
    pub source: Option<u16>,
    /// The timestamp or time tag, if this frame has one.
    pub timestamp: Option<u64>,
    /// Where the frame is to be routed, two bits; 0 in framings without the field.
    pub flow: u8,
    /// What is traced.
    pub kind: Kind,
    /// Running number of the packet (ESP32-C6 only).
    pub index: Option<u16>,
}

/// One payload with its header, in the bytes it was read from.
///
/// Nothing is copied, and the header is read only when asked for.
#[derive(Copy, Clone)]
pub struct Frame<'a> {
    framing: Framing,
    /// From the first byte of the frame to the end of the input, not only of the frame: a payload
    /// is read faster if what lies behind it may be loaded too.
    bytes: &'a [u8],
    /// Where in `bytes` the bytes start that `length` counts.
    fixed: u8,
    /// How many they are.
    len: u8,
    /// Where in them the payload starts: srcID and type bits come first. Less than `8 * len`.
    start: u8,
}

impl<'a> Frame<'a> {
    #[inline]
    pub(crate) fn new(framing: Framing, bytes: &'a [u8], fixed: u8, len: u8, start: u8) -> Self {
        Self { framing, bytes, fixed, len, start }
    }

    /// Everything but the payload.
    pub fn header(&self) -> FrameHeader {
        match self.framing {
            Framing::Reference => FrameHeader::default(),
            Framing::Encap(params) => encap::header(params, self.bytes),
            Framing::Smi(params) => smi::header(params, self.bytes),
            Framing::RvTracer => rv_tracer::header(self.bytes),
            Framing::Atb(params) => atb::header(params, self.bytes),
            Framing::Esp32 => esp32::header(self.bytes),
        }
    }

    /// The payload, at least one bit.
    ///
    /// The reader stands at the payload's first bit; its positions count from the first byte that
    /// `length` counts, so they are not 0 at first where srcID or type bits come before. Past the
    /// end it reads copies of the last bit (zeros for rv_tracer). In a frame whose payload is not
    /// byte aligned, the standard leaves the padding of the last byte free; copies of the
    /// payload's top bit are assumed.
    #[inline]
    pub fn payload(&self) -> BitReader<'a> {
        if self.framing == Framing::RvTracer {
            return BitReader::reversed(self.counted(), Tail::Zero);
        }
        let bytes = self.bytes.get(self.fixed.into()..).unwrap_or_default();
        let bits = usize::from(self.len).saturating_mul(8);
        let mut reader = BitReader::with_bit_len(bytes, bits, Tail::Sign);
        reader.skip(self.start.into());
        reader
    }

    /// The payload's bytes, if they are in the input as they are: it starts on a byte boundary of
    /// the frame and is not reversed, as rv_tracer's are.
    pub fn payload_bytes(&self) -> Option<&'a [u8]> {
        if self.start & 7 != 0 || self.framing == Framing::RvTracer {
            return None;
        }
        self.counted().get(usize::from(self.start >> 3)..)
    }

    /// The bytes that `length` counts, in the order of the input.
    fn counted(&self) -> &'a [u8] {
        let bytes = self.bytes.get(self.fixed.into()..).unwrap_or_default();
        bytes.get(..self.len.into()).unwrap_or_default()
    }
}

/// Frames are equal if framing, header and payload are, wherever they were read.
impl PartialEq for Frame<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.framing == other.framing
            && self.header() == other.header()
            && self.counted() == other.counted()
    }
}

impl Eq for Frame<'_> {}

/// Prints what [`PartialEq`] compares.
impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("framing", &self.framing)
            .field("header", &self.header())
            .field("counted", &self.counted())
            .finish()
    }
}

/// A packet without content.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Null {
    /// `null.idle`: nothing to send.
    Idle,
    /// `null.alignment`: ends a run of nulls in streams without byte boundaries.
    Alignment,
    /// A byte of padding (ESP32-C6).
    Padding,
}

impl fmt::Display for Null {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "null.idle",
            Self::Alignment => "null.alignment",
            Self::Padding => "padding",
        })
    }
}

/// What a stream is made of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A payload with its header.
    Frame(Frame<'a>),
    /// Nothing.
    Null(Null),
}

/// An item and its size.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// Bytes taken, at least one.
    pub used: usize,
    /// What they say.
    pub item: Item<'a>,
}
