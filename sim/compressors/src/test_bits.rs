//! Bits as text, for vectors.

use crate::Bits;

/// The digits of a text; all else is for reading.
pub(crate) fn parse(text: &str) -> Bits {
    let mut bits = Bits::default();
    text.chars().filter(|c| "01".contains(*c)).for_each(|c| bits.put_bool(c == '1'));
    bits
}
