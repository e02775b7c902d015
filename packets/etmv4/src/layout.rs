//! Where the fields of packets are.

use crate::packet::Atoms;
use crate::shape::Shape;
use crate::{Fields, Kind};

/// What to make of the bytes of a packet, if it is of a frequent kind and longer than one.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Layout {
    /// Bits that are a part of the value as they are.
    pub kept: u64,
    /// Those of the second byte. They and seven of the first, side by side, are multiplied.
    pub second: u16,
    pub scale: u8,
    /// As in [`Shape`].
    pub fixed: u8,
    pub most: u8,
    pub plain: u8,
    /// If the packet is longer than this, all bytes count for the value, with seven bits.
    pub more: u8,
    /// A context follows, behind an address of 64 bits: all ones.
    pub context: u8,
}

impl Layout {
    /// Packets that are not read this way.
    pub(crate) const UNKNOWN: Self =
        Self { kept: 0, second: 0, scale: 1, fixed: 0, most: 0, plain: 0, more: 0, context: 0 };

    pub(crate) fn of(kind: Kind, shape: Shape) -> Self {
        use Kind as K;
        let Shape { fixed, most, plain, .. } = shape;
        // The longest timestamp has a byte more than a word.
        let plain = if most > 8 { 8 } else { plain };
        let none = Self { fixed, most, plain, more: u8::MAX, ..Self::UNKNOWN };
        let is0 = Self { second: 0x7f00, scale: 4, ..none };
        let is1 = Self { second: 0xff00, scale: 2, ..none };
        let (bits32, bits64) = (0xffff_0000, !0xffff);
        match kind {
            // Eight bits in the byte that is the last anyway.
            K::AddressShortIs0 => Self { second: 0xff00, ..is0 },
            K::AddressShortIs1 => is1,
            K::Address32Is0 => Self { kept: bits32, ..is0 },
            K::Address32Is1 => Self { kept: bits32, ..is1 },
            K::Address64Is0 => Self { kept: bits64, ..is0 },
            K::Address64Is1 => Self { kept: bits64, ..is1 },
            K::AddressContext64Is0 => Self { kept: bits64, context: u8::MAX, ..is0 },
            K::AddressContext64Is1 => Self { kept: bits64, context: u8::MAX, ..is1 },
            K::Timestamp | K::Exception | K::Commit | K::CancelF1 | K::CancelF1Mispredict => {
                Self { second: 0x7f00, more: 3, ..none }
            }
            K::CycleCountF2 => Self { kept: 0x80, ..none },
            // Rare, of one byte, or more than fits.
            _ => Self::UNKNOWN,
        }
    }
}

/// What a packet of a single byte says.
pub(crate) fn template(header: u8) -> Fields {
    match (Atoms::of(header), header) {
        (Some(atoms), _) => Fields::single(header, atoms.len(), atoms.bits().into()),
        (None, 0x90..=0x92) => Fields::single(header, 0, (header & 3).into()),
        (None, _) => Fields::single(header, 0, 0),
    }
}
