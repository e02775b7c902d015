//! Numbers for which instructions are most likely to be wrong.

use fastrand::Rng;

pub(crate) fn integer(rng: &mut Rng) -> u64 {
    let edge = [0, 1, 2, 31, 32, 63, 64, 0x7f, 0xff, 0x7fff, 0xffff];
    let wide = [1 << 31, (1 << 31) - 1, 1 << 32, (1 << 32) - 1, 1 << 63, (1 << 63) - 1];
    let value = match rng.u32(..6) {
        0 => edge[rng.usize(..edge.len())],
        1 => wide[rng.usize(..wide.len())],
        2 => 1 << rng.u32(..64),
        3 => u64::from(rng.u32(..)),
        _ => rng.u64(..),
    };
    match rng.u32(..4) {
        0 => value.wrapping_neg(),
        1 => !value,
        2 => value as i32 as u64,
        _ => value,
    }
}

/// Zeros, infinities, all kinds of NaN, subnormal numbers, limits of conversions, halves for ties, and
/// numbers of similar size, whose sums and products cancel and round.
pub(crate) fn double(rng: &mut Rng) -> u64 {
    let bits = match rng.u32(..12) {
        0 => [0, 0x7ff << 52, 0x7ff8 << 48, 0x7fef_ffff_ffff_ffff][rng.usize(..4)],
        // A NaN with some payload, quiet or signalling.
        1 => 0x7ff << 52 | rng.u64(..) >> 12 | 1,
        2 => rng.u64(..) >> (12 + rng.u32(..52)),
        3 => (1.0f64 + f64::from(rng.u8(..8)) / 2.0).to_bits(),
        4 => {
            let limit = [31, 32, 63, 64, 24, 53][rng.usize(..6)];
            let near = [-1.0, -0.5, 0.0, 0.5, 1.0][rng.usize(..5)];
            (2f64.powi(limit) + near).to_bits()
        }
        // Near the limits of singles, for conversions.
        5 => (1023 - 150 + rng.u64(..30)) << 52 | rng.u64(..) >> 12,
        6 => (1023 + 120 + rng.u64(..10)) << 52 | rng.u64(..) >> 12,
        7 => beside(rng, 53, 1023 << 52),
        // Next to the smallest normal numbers of both formats: tiny, or not tiny after rounding.
        8 => beside(rng, 53, 1 << 52),
        9 => beside(rng, 53, (1023 - 126) << 52),
        10 => (1023 - 4 + rng.u64(..8)) << 52 | short(rng, 52),
        _ => rng.u64(..),
    };
    bits ^ u64::from(rng.bool()) << 63
}

pub(crate) fn single(rng: &mut Rng) -> u32 {
    let bits = match rng.u32(..11) {
        0 => [0, 0xff << 23, 0x1ff << 22, 0x7f7f_ffff][rng.usize(..4)],
        1 => 0xff << 23 | rng.u32(..) >> 9 | 1,
        2 => rng.u32(..) >> (9 + rng.u32(..23)),
        3 => (1.0f32 + f32::from(rng.u8(..8)) / 2.0).to_bits(),
        4 => (127 + [31, 32, 63, 64, 24][rng.usize(..5)]) << 23 | rng.u32(..2),
        5 => beside(rng, 24, 127 << 23) as u32,
        6 => beside(rng, 24, 1 << 23) as u32,
        7 | 8 => (127 - 4 + rng.u32(..8)) << 23 | short(rng, 23) as u32,
        _ => rng.u32(..),
    };
    bits ^ u32::from(rng.bool()) << 31
}

/// A power of two with the bits `one`, plus or minus a single lower bit.
fn beside(rng: &mut Rng, digits: u32, one: u64) -> u64 {
    let little = 1 << rng.u32(..digits - 1);
    if rng.bool() { one + little } else { one - little }
}

/// A fraction of few digits, so that results are sometimes exact or ties.
fn short(rng: &mut Rng, width: u32) -> u64 {
    let digits = rng.u32(1..=width);
    (rng.u64(..) & ((1 << width) - 1)) >> (width - digits) << (width - digits)
}
