//! Bits as text, for test vectors.

use crate::Bits;

/// Parses the digits of a text; everything else is for readability.
pub(crate) fn parse(text: &str) -> Bits {
    let mut bits = Bits::default();
    text.chars().filter(|c| "01".contains(*c)).for_each(|c| bits.put_bool(c == '1'));
    bits
}
