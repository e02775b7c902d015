use crate::MAX_LENGTH;
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

/// One payload with its header.
///
/// The payload, 31 bytes at most, is held inline: a frame outlives the bytes it was read from.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Everything but the payload.
    pub header: FrameHeader,
    /// The bytes that `length` counts; zeros behind.
    bytes: [u8; MAX_LENGTH],
    len: u8,
    /// Where in `bytes` the payload starts: srcID and type bits come first. Less than `8 * len`.
    start: u8,
    pub(crate) tail: Tail,
}

impl Frame {
    pub(crate) fn new(header: FrameHeader, counted: &[u8], start: u8, tail: Tail) -> Self {
        let mut bytes = [0; MAX_LENGTH];
        let counted = counted.get(..MAX_LENGTH).unwrap_or(counted);
        if let Some(to) = bytes.get_mut(..counted.len()) {
            to.copy_from_slice(counted);
        }
        let len = counted.len() as u8;
        Self { header, bytes, len, start, tail }
    }

    /// The payload, at least one bit.
    ///
    /// The reader stands at the payload's first bit; its positions count from the first byte that
    /// `length` counts, so they are not 0 at first where srcID or type bits come before. Past the
    /// end it reads copies of the last bit (zeros for rv_tracer). In a frame whose payload is not
    /// byte aligned, the standard leaves the padding of the last byte free; copies of the
    /// payload's top bit are assumed.
    pub fn payload(&self) -> BitReader<'_> {
        let mut bits = BitReader::new(self.counted(), self.tail);
        bits.skip(self.start.into());
        bits
    }

    /// The payload's bytes, if it starts on a byte boundary of the frame.
    pub fn payload_bytes(&self) -> Option<&[u8]> {
        if self.start & 7 != 0 {
            return None;
        }
        self.counted().get(usize::from(self.start >> 3)..)
    }

    fn counted(&self) -> &[u8] {
        self.bytes.get(..self.len.into()).unwrap_or_default()
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
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// A payload with its header.
    Frame(Frame),
    /// Nothing.
    Null(Null),
}

/// An item and its size.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parsed {
    /// Bytes taken, at least one.
    pub used: usize,
    /// What they say.
    pub item: Item,
}
