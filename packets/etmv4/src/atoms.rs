use crate::Kind;
use crate::table::{ones, row_of};

/// Up to 24 outcomes of P0 instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atoms {
    len: u8,
    bits: u32,
}

impl Atoms {
    /// Creates `len` outcomes, 1 to 24; a set bit is E, and the lowest bit is the oldest. `None` if no
    /// packet represents them.
    pub fn new(len: u8, bits: u32) -> Option<Self> {
        let atoms = Self { len, bits: bits & ones(len) as u32 };
        atoms.header().map(|_| atoms)
    }

    /// No outcomes: the value for headers that are not atom packets.
    pub(crate) const NONE: Self = Self { len: 0, bits: 0 };

    /// The outcomes of an atom packet with this header.
    pub(crate) const fn of(header: u8) -> Option<Self> {
        let bits = header as u32;
        Some(match header {
            0xf6 | 0xf7 => Self::raw(1, bits & 1),
            0xd8..=0xdb => Self::raw(2, bits & 3),
            0xf8..=0xff => Self::raw(3, bits & 7),
            0xdc => Self::raw(4, 0b1110),
            0xdd => Self::raw(4, 0b0000),
            0xde => Self::raw(4, 0b1010),
            0xdf => Self::raw(4, 0b0101),
            0xd5 => Self::raw(5, 0b00000),
            0xd6 => Self::raw(5, 0b01010),
            0xd7 => Self::raw(5, 0b10101),
            0xf5 => Self::raw(5, 0b11110),
            0xc0..=0xd4 | 0xe0..=0xf4 => {
                let len = (header & 0x1f).wrapping_add(4);
                let all = ones(len) as u32;
                Self::raw(len, if header & 0x20 == 0 { all } else { all >> 1 })
            }
            _ => return None,
        })
    }

    /// The outcomes before a misprediction, from their two-bit code.
    pub(crate) const fn of_hint(code: u64) -> Option<Self> {
        match code & 3 {
            0 => None,
            1 => Some(Self::raw(1, 1)),
            2 => Some(Self::raw(2, 3)),
            _ => Some(Self::raw(1, 0)),
        }
    }

    pub(crate) const fn raw(len: u8, bits: u32) -> Self {
        Self { len, bits }
    }

    /// Number of outcomes.
    #[inline]
    pub const fn len(&self) -> u8 {
        self.len
    }

    /// Always `false`; there is at least one outcome.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The outcomes: a set bit is E, and the lowest bit is the oldest.
    #[inline]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// The header byte of the packet.
    pub fn header(&self) -> Option<u8> {
        let (bits, run) = (self.bits as u8, self.len.wrapping_sub(4));
        let is = |header: &u8| Self::of(*header) == Some(*self);
        match self.len {
            1 => Some(0xf6 | bits).filter(is),
            2 => Some(0xd8 | bits).filter(is),
            3 => Some(0xf8 | bits).filter(is),
            // Formats 4 and 5 have four and five outcomes.
            4 | 5 => (0xc0..=0xff).find(is),
            _ => [0xc0 | run, 0xe0 | run].into_iter().find(is),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.header().and_then(row_of).map_or(Kind::AtomF6, |row| row.kind)
    }
}
