use core::fmt;

/// Why no packet can be read at the start of the bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParseError {
    /// The packet continues after the last byte: call again with more.
    Incomplete {
        /// So many more bytes, at least.
        missing: u8,
    },
    /// No packet starts with this header.
    Reserved(u8),
    /// Zeros that are not an alignment synchronisation.
    BadAsync {
        /// Bytes up to and including the invalid one.
        len: u8,
    },
}

impl ParseError {
    /// Number of bytes to skip; a packet may start after them.
    pub const fn len(&self) -> usize {
        match *self {
            Self::Incomplete { .. } => 0,
            Self::Reserved(_) => 1,
            Self::BadAsync { len } => len as usize,
        }
    }

    /// Whether there is nothing to skip: more bytes are needed.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Incomplete { missing } => {
                write!(f, "the packet is cut off, at least {missing} bytes before its end")
            }
            Self::Reserved(header) => write!(f, "no packet starts with header {header:#04x}"),
            Self::BadAsync { len } => {
                write!(f, "the alignment synchronisation is malformed in byte {len}")
            }
        }
    }
}

impl core::error::Error for ParseError {}

/// Why a packet cannot be written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EmitError {
    /// The buffer is too short; [`MAX_PACKET`](crate::MAX_PACKET) bytes are enough for any packet.
    BufferTooSmall,
    /// A value does not fit its field, or the configuration has no such field.
    Value(crate::Kind),
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::BufferTooSmall => write!(f, "the buffer is too short for the packet"),
            Self::Value(kind) => write!(f, "a value of {} does not fit its field", kind.name()),
        }
    }
}

impl core::error::Error for EmitError {}
