//! Comparison, minimum and maximum, classification.

use super::{Format, Value, flag, unpack};

/// Maps the bit pattern to an integer of the same order: -0 is below +0, NaNs are at both
/// ends.
fn order(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & !format.sign()) as i64;
    if format.is_negative(bits) { -1 - magnitude } else { magnitude }
}

fn both_zero(format: Format, a: u64, b: u64) -> bool {
    (a | b) & !format.sign() == 0
}

/// `a == b`; invalid for signalling NaNs only.
pub(crate) fn equal(format: Format, a: u64, b: u64, flags: &mut u8) -> bool {
    if format.is_nan(a) || format.is_nan(b) {
        format.propagate(&[a, b], flags);
        return false;
    }
    a == b || both_zero(format, a, b)
}

/// `a < b`, or `a <= b` with `or_equal`; invalid for any NaN.
pub(crate) fn less(format: Format, a: u64, b: u64, or_equal: bool, flags: &mut u8) -> bool {
    if format.is_nan(a) || format.is_nan(b) {
        *flags |= flag::NV;
        return false;
    }
    if a == b || both_zero(format, a, b) {
        return or_equal;
    }
    order(format, a) < order(format, b)
}

/// The smaller number; if one operand is a NaN, the other one. -0 is smaller than +0.
pub(crate) fn min(format: Format, a: u64, b: u64, flags: &mut u8) -> u64 {
    pick(format, a, b, order(format, a) < order(format, b), flags)
}

/// The larger number; if one operand is a NaN, the other one. +0 is larger than -0.
pub(crate) fn max(format: Format, a: u64, b: u64, flags: &mut u8) -> u64 {
    pick(format, a, b, order(format, a) > order(format, b), flags)
}

fn pick(format: Format, a: u64, b: u64, first: bool, flags: &mut u8) -> u64 {
    let nan = format.propagate(&[a, b], flags);
    match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => nan,
        (true, false) => b,
        (false, true) => a,
        (false, false) if first => a,
        (false, false) => b,
    }
}

/// The result of `fclass`.
pub(crate) fn classify(format: Format, bits: u64) -> u64 {
    let subnormal = bits & format.infinity() == 0;
    let bit = match unpack(format, bits) {
        (true, Value::Infinity) => 0,
        (true, Value::Finite(..)) if !subnormal => 1,
        (true, Value::Finite(..)) => 2,
        (true, Value::Zero) => 3,
        (false, Value::Zero) => 4,
        (false, Value::Finite(..)) if subnormal => 5,
        (false, Value::Finite(..)) => 6,
        (false, Value::Infinity) => 7,
        (_, Value::Nan) if format.is_signalling(bits) => 8,
        (_, Value::Nan) => 9,
    };
    1 << bit
}
