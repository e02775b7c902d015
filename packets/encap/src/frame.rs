use crate::{Framing, atb, encap, esp32, rv_tracer, smi};
use core::fmt;
use hartrace_bits::{BitReader, Tail};

/// The kind of trace in a frame's payload.
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
    /// trace uses the next code in every framing.
    pub(crate) fn of(raw: u8, instruction: u8) -> Self {
        match raw.checked_sub(instruction) {
            Some(0) => Self::Instruction,
            Some(1) => Self::Data,
            _ => Self::Other(raw),
        }
    }

    /// The inverse of [`of`](Self::of); `None` for values that it never returns.
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

/// The fields of a frame besides its payload.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameHeader {
    /// The encoder that sent it: srcID, hart index or ATID. `None` if the framing has no such
    /// field.
    pub source: Option<u16>,
    /// The timestamp or time tag, if this frame has one.
    pub timestamp: Option<u64>,
    /// Routing information, two bits; 0 in framings without the field.
    pub flow: u8,
    /// The kind of trace.
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
    /// is read faster if the bytes after it may be loaded too.
    bytes: &'a [u8],
    /// Index in `bytes` of the first byte that `length` counts.
    fixed: u8,
    /// How many bytes `length` counts.
    len: u8,
    /// First bit of the payload in them, after srcID and type bits. Less than `8 * len`.
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
    /// The reader starts at the payload's first bit. Its positions count from the first byte that
    /// `length` counts, so the first one is not 0 if srcID or type bits precede the payload. Past
    /// the end it reads copies of the last bit (zeros for rv_tracer). In a frame whose payload is
    /// not byte aligned, the standard leaves the padding of the last byte undefined; copies of the
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

    /// The payload's bytes, if the input contains them unchanged: the payload starts on a byte
    /// boundary of the frame and is not reversed (rv_tracer's payloads are).
    #[inline]
    pub fn payload_bytes(&self) -> Option<&'a [u8]> {
        if self.start & 7 != 0 || self.framing == Framing::RvTracer {
            return None;
        }
        self.counted().get(usize::from(self.start >> 3)..)
    }

    /// The bytes that `length` counts, in the order of the input.
    #[inline]
    fn counted(&self) -> &'a [u8] {
        let bytes = self.bytes.get(self.fixed.into()..).unwrap_or_default();
        bytes.get(..self.len.into()).unwrap_or_default()
    }
}

/// Frames are equal if framing, header and payload are equal, wherever they were read.
impl PartialEq for Frame<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.framing == other.framing
            && self.header() == other.header()
            && self.counted() == other.counted()
    }
}

impl Eq for Frame<'_> {}

/// Prints the parts that [`PartialEq`] compares.
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

/// An item of a stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A payload with its header.
    Frame(Frame<'a>),
    /// A packet without content.
    Null(Null),
}

/// An item and its size.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// Bytes used, at least one.
    pub used: usize,
    /// The item in these bytes.
    pub item: Item<'a>,
}
