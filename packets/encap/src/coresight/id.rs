/// The identifier of a trace source, 0x01 to 0x6f.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(u8);

impl TraceId {
    /// Creates an identifier; `None` if the number is reserved.
    pub const fn new(id: u8) -> Option<Self> {
        match id {
            0x01..=0x6f => Some(Self(id)),
            _ => None,
        }
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// The meaning of the seven bits of an ID byte.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A trace source.
    Trace(TraceId),
    /// Padding, 0x00.
    Null,
    /// A flush has finished, 0x7b.
    Flush,
    /// A trigger, 0x7d; the data identifies it.
    Trigger,
    /// Any other number that no source may have; 0x7f would look like a synchronisation word.
    Reserved(u8),
}

impl Source {
    /// Interprets the number in an ID byte; its top bit is ignored.
    pub const fn new(number: u8) -> Self {
        match (number & 0x7f, TraceId::new(number & 0x7f)) {
            (_, Some(id)) => Self::Trace(id),
            (0x00, _) => Self::Null,
            (0x7b, _) => Self::Flush,
            (0x7d, _) => Self::Trigger,
            (number, _) => Self::Reserved(number),
        }
    }
}
