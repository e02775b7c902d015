//! Fields of encodings.

use crate::op::NOWHERE;

/// Bits `hi..=lo` of `word`.
pub(crate) const fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    (word >> lo) & ((1 << (hi - lo + 1)) - 1)
}

/// The same as a register number.
pub(crate) const fn register(word: u32, lo: u32) -> u8 {
    (word >> lo & 31) as u8
}

/// The slot in which a result for register `rd` is stored.
pub(crate) const fn target(rd: u8) -> u8 {
    if rd == 0 { NOWHERE } else { rd }
}

/// The immediate of loads, `jalr` and operations with an immediate.
pub(crate) const fn immediate_i(word: u32) -> i32 {
    word as i32 >> 20
}

/// The immediate of stores.
pub(crate) const fn immediate_s(word: u32) -> i32 {
    (word as i32 >> 25) << 5 | bits(word, 11, 7) as i32
}

/// The immediate of branches.
pub(crate) const fn immediate_b(word: u32) -> i32 {
    (word as i32 >> 31) << 12
        | (bits(word, 7, 7) << 11 | bits(word, 30, 25) << 5 | bits(word, 11, 8) << 1) as i32
}

/// The immediate of `jal`.
pub(crate) const fn immediate_j(word: u32) -> i32 {
    (word as i32 >> 31) << 20
        | (bits(word, 19, 12) << 12 | bits(word, 20, 20) << 11 | bits(word, 30, 21) << 1) as i32
}
