//! Hexadecimal digits, many times faster than formatting.

/// Two digits for every byte.
#[expect(clippy::indexing_slicing, reason = "computed by the compiler, which would notice")]
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    table
};

/// The digits of each byte of an address, the highest first.
#[inline]
pub(crate) fn digits(address: u64) -> [[u8; 2]; 8] {
    address.to_be_bytes().map(|byte| HEX.get(usize::from(byte)).copied().unwrap_or_default())
}
