//! Bit-granular reading and writing of trace payloads.
//!
//! E-Trace concatenates fields of any width, first field at bit 0, every field least significant
//! bit first; byte `i` holds bits `8i..8i+8`. A payload may be *sign compressed*: identical bits at
//! its most significant end are dropped, so a reader that runs past the end reads copies of the
//! last bit. See [`Tail`].
//!
//! # Guarantees
//!
//! Nothing here panics or allocates, for any input. A failed read leaves the reader where it was; a
//! failed write leaves the writer where it was.
//!
//! ```
//! use hartrace_bits::{BitReader, BitWriter, Tail};
//!
//! let mut bytes = [0; 8];
//! let mut out = BitWriter::new(&mut bytes);
//! out.write(0b10, 2)?;
//! out.write(0xffff_fff0, 32)?;
//! let len = out.finish_compressed();
//! assert_eq!(len, 1); // the run of ones at the top is one sign bit
//!
//! let mut bits = BitReader::new(&bytes[..len], Tail::Sign);
//! assert_eq!(bits.read(2)?, 0b10);
//! assert_eq!(bits.read(32)?, 0xffff_fff0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

#[cfg(test)]
extern crate std;

mod reader;
mod words;
mod writer;

pub use reader::{BitReader, Incomplete, Tail, Window};
pub use words::{bit_of_each, low_bytes, septet_bytes, septets, septets4, which};
pub use writer::{BitWriter, WriteError};

use core::fmt;

/// A position in a bit stream, counted from its first bit.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitPos(pub u64);

impl BitPos {
    /// The position of bit 0 of byte `byte`.
    pub const fn of_byte(byte: u64) -> Self {
        Self(byte.saturating_mul(8))
    }

    /// The byte that holds this bit.
    pub const fn byte(self) -> u64 {
        self.0 >> 3
    }

    /// The bit within that byte, 0 = least significant.
    pub const fn bit(self) -> u8 {
        (self.0 & 7) as u8
    }
}

/// Prints `byte.bit`.
impl fmt::Display for BitPos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.byte(), self.bit())
    }
}

/// The lowest `width` bits set; all 64 for a width of 64 or more.
pub const fn mask(width: u32) -> u64 {
    match u64::MAX.checked_shr(64u32.saturating_sub(width)) {
        Some(m) => m,
        None => 0, // width 0
    }
}

/// Sign-extends the low `width` bits of `value` to 64 bits.
pub const fn sign_extend(value: u64, width: u32) -> u64 {
    if width == 0 || width >= 64 {
        return value;
    }
    let low = value & mask(width);
    let sign = mask(1).wrapping_shl(width.wrapping_sub(1));
    (low ^ sign).wrapping_sub(sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn masks() {
        assert_eq!(mask(0), 0);
        assert_eq!(mask(1), 1);
        assert_eq!(mask(63), u64::MAX >> 1);
        assert_eq!(mask(64), u64::MAX);
        assert_eq!(mask(99), u64::MAX);
    }

    #[test]
    fn sign_extension_at_every_width() {
        for width in 1..=64 {
            assert_eq!(sign_extend(mask(width), width), u64::MAX, "width {width}");
            assert_eq!(sign_extend(mask(width - 1), width), mask(width - 1));
        }
        assert_eq!(sign_extend(0xff7f, 8), 0x7f);
    }

    #[test]
    fn position_display() {
        assert_eq!(std::format!("{}", BitPos(19)), "2.3");
        assert_eq!(BitPos::of_byte(3), BitPos(24));
    }

    proptest! {
        #[test]
        fn fields_survive_compression(fields in prop::collection::vec((any::<u64>(), 0u32..=64), 1..8)) {
            let mut bytes = [0u8; 64];
            let mut out = BitWriter::new(&mut bytes);
            for &(value, width) in &fields {
                out.write(value & mask(width), width).unwrap();
            }
            let bits = out.position().0;
            let len = out.finish_compressed();
            prop_assert!(len >= 1 && len as u64 <= bits.div_ceil(8).max(1));
            let mut reader = BitReader::new(&bytes[..len], Tail::Sign);
            for &(value, width) in &fields {
                prop_assert_eq!(reader.read(width).unwrap(), value & mask(width));
            }
        }

        #[test]
        fn uncompressed_prefixes_are_incomplete(value: u64, width in 1u32..=64, cut in 1u32..=64) {
            let cut = cut.min(width);
            let mut bytes = [0u8; 8];
            let mut out = BitWriter::new(&mut bytes);
            out.write(value & mask(width), width).unwrap();
            let mut reader = BitReader::with_bit_len(&bytes, (width - cut) as usize, Tail::End);
            prop_assert_eq!(reader.read(width), Err(Incomplete { missing: cut }));
            prop_assert_eq!(reader.position(), BitPos(0));
        }

        #[test]
        fn windows_equal_reads(
            bytes in prop::collection::vec(any::<u8>(), 1..=40),
            bits in 0usize..=320,
            skip in 0u32..=20,
            at in 0u32..128,
            width in 0u32..=64,
        ) {
            let mut reader = BitReader::with_bit_len(&bytes, bits, Tail::Sign);
            reader.skip(8 * skip);
            let window = reader.window();
            prop_assert_eq!(window.is_some(), (1..=128).contains(&reader.remaining()));
            if let Some(window) = window {
                reader.skip(at);
                prop_assert_eq!(window.get(at, width), reader.read(width).unwrap());
            }
        }

        #[test]
        fn reversed_bytes_read_the_same(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            tail in prop_oneof![Just(Tail::Sign), Just(Tail::Zero), Just(Tail::End)],
            widths in prop::collection::vec(0u32..=64, 1..12),
        ) {
            let backwards: Vec<u8> = bytes.iter().rev().copied().collect();
            let mut reader = BitReader::new(&bytes, tail);
            let mut reversed = BitReader::reversed(&backwards, tail);
            for width in widths {
                prop_assert_eq!(reversed.read(width), reader.read(width));
                prop_assert_eq!(reversed.position(), reader.position());
            }
        }

        #[test]
        fn wide_reads_equal_bit_reads(bytes in prop::collection::vec(any::<u8>(), 1..24), skip in 0u32..64, width in 0u32..=128) {
            let mut one = BitReader::new(&bytes, Tail::Sign);
            let mut all = BitReader::new(&bytes, Tail::Sign);
            one.read(skip).unwrap();
            all.read(skip).unwrap();
            let bits: Vec<bool> = (0..width).map(|_| one.read_bool().unwrap()).collect();
            let expected = bits.iter().rev().fold(0u128, |acc, &b| acc << 1 | u128::from(b));
            prop_assert_eq!(all.read_wide(width).unwrap(), expected);
        }
    }
}
