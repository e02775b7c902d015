use crate::{FrameHeader, Kind};
use core::fmt;

/// No frame could be read. Nothing was consumed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameError {
    /// The frame continues past the end of the bytes. Parse again with at least `missing` more
    /// bytes; at the end of a file, the last frame was cut off.
    Incomplete {
        /// At least this many bytes are still needed; never more than the frame has.
        missing: usize,
    },
    /// `length` ends the frame before its payload begins. Skip the frame; if this happens more
    /// than once, the srcID or type width is probably wrong.
    TooShort {
        /// The `length` field.
        length: u8,
        /// Bytes in the frame, all of them present.
        skip: usize,
    },
    /// No frame of this framing starts with this byte. Continue with
    /// [`sync_forward`](crate::Framing::sync_forward); at offset 0, the framing is probably wrong.
    Header(u8),
    /// The header of an rv_tracer record lacks the timestamp that every record has. Skip the
    /// record; if this happens more than once, the file does not start at a record.
    Record(u8),
}

impl FrameError {
    /// Number of bytes to skip to reach the next frame.
    ///
    /// `None` if that is not known: call [`sync_forward`](crate::Framing::sync_forward), or supply
    /// more bytes if the error is [`Incomplete`](Self::Incomplete).
    pub const fn skip(&self) -> Option<usize> {
        match *self {
            Self::Incomplete { .. } | Self::Header(_) => None,
            Self::TooShort { skip, .. } => Some(skip),
            Self::Record(_) => Some(crate::rv_tracer::RECORD),
        }
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete { missing } => write!(f, "{missing} more bytes needed"),
            Self::TooShort { length, .. } => write!(f, "length {length} leaves no payload"),
            Self::Header(raw) => write!(f, "no frame starts with header {raw:#04x}"),
            Self::Record(raw) => write!(f, "record header {raw:#04x} lacks the timestamp"),
        }
    }
}

impl core::error::Error for FrameError {}

/// A frame could not be written. Nothing was written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EmitError {
    /// The payload is empty or, with the other fields that `length` counts, longer than the framing
    /// allows. Check that it is sign compressed.
    PayloadLength(usize),
    /// The source id is missing, does not fit, or cannot be carried by this framing.
    Source(Option<u16>),
    /// The timestamp is missing, does not fit, or cannot be carried by this framing.
    Timestamp(Option<u64>),
    /// The framing has no code for this kind of trace. The codes of instruction and data trace are
    /// not accepted as [`Kind::Other`].
    Kind(Kind),
    /// The framing has no `flow` field, or the value does not fit in two bits.
    Flow(u8),
    /// The packet index is missing, or cannot be carried by this framing.
    Index(Option<u16>),
    /// The output is too short. Try again with `needed` bytes.
    BufferTooSmall {
        /// Bytes in the frame.
        needed: usize,
    },
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PayloadLength(len) => write!(f, "payload of {len} bytes does not fit"),
            Self::Source(Some(id)) => write!(f, "source id {id} cannot be carried"),
            Self::Source(None) => f.write_str("source id missing"),
            Self::Timestamp(Some(time)) => write!(f, "timestamp {time} cannot be carried"),
            Self::Timestamp(None) => f.write_str("timestamp missing"),
            Self::Kind(kind) => write!(f, "{kind} trace cannot be carried"),
            Self::Flow(flow) => write!(f, "flow {flow} cannot be carried"),
            Self::Index(Some(index)) => write!(f, "packet index {index} cannot be carried"),
            Self::Index(None) => f.write_str("packet index missing"),
            Self::BufferTooSmall { needed } => write!(f, "frame needs {needed} bytes"),
        }
    }
}

impl core::error::Error for EmitError {}

/// Checks that framings without a field make before they emit.
impl FrameHeader {
    pub(crate) fn no_source(&self) -> Result<(), EmitError> {
        self.source.map_or(Ok(()), |id| Err(EmitError::Source(Some(id))))
    }

    pub(crate) fn no_timestamp(&self) -> Result<(), EmitError> {
        self.timestamp.map_or(Ok(()), |time| Err(EmitError::Timestamp(Some(time))))
    }

    pub(crate) fn no_index(&self) -> Result<(), EmitError> {
        self.index.map_or(Ok(()), |index| Err(EmitError::Index(Some(index))))
    }

    pub(crate) fn no_flow(&self) -> Result<(), EmitError> {
        if self.flow == 0 { Ok(()) } else { Err(EmitError::Flow(self.flow)) }
    }

    pub(crate) fn no_data(&self) -> Result<(), EmitError> {
        if self.kind == Kind::Instruction { Ok(()) } else { Err(EmitError::Kind(self.kind)) }
    }
}

/// A framing parameter is out of range; the value is inside.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParamsError {
    /// A srcID has 0 to 16 bits.
    SrcIdBits(u8),
    /// A timestamp has 0 to 8 bytes.
    TimestampBytes(u8),
    /// A type field has 0 to 8 bits.
    TypeBits(u8),
    /// The code for instruction trace must fit in the type field.
    InstructionType(u8),
    /// A hart index has 0 to 16 bits.
    HartIndexBits(u8),
    /// An ATID has 7 bits.
    Atid(u8),
}

impl fmt::Display for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SrcIdBits(bits) => write!(f, "srcID of {bits} bits, at most 16 allowed"),
            Self::TimestampBytes(n) => write!(f, "timestamp of {n} bytes, at most 8 allowed"),
            Self::TypeBits(bits) => write!(f, "type of {bits} bits, at most 8 allowed"),
            Self::InstructionType(code) => write!(f, "instruction type {code} too wide"),
            Self::HartIndexBits(bits) => write!(f, "hart index of {bits} bits, at most 16 allowed"),
            Self::Atid(id) => write!(f, "ATID {id}, at most 127 allowed"),
        }
    }
}

impl core::error::Error for ParamsError {}
