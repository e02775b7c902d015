//! Conversion between formats and to and from integers.

use super::{Format, Round, Value, flag, pack, split, unpack};

/// Converts `bits` to the format `to`.
pub(crate) fn resize(from: Format, to: Format, bits: u64, round: Round, flags: &mut u8) -> u64 {
    match unpack(from, bits) {
        (_, Value::Nan) => {
            from.propagate(&[bits], flags);
            to.nan()
        }
        (sign, Value::Infinity) => to.zero(sign) | to.infinity(),
        (sign, Value::Zero) => to.zero(sign),
        (sign, Value::Finite(m, e)) => pack(to, sign, (m, e), false, round, flags),
    }
}

/// An integer type.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Int {
    /// 32 or 64.
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

impl Int {
    const fn limits(self) -> (i128, i128) {
        match self.signed {
            true => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        }
    }
}

/// The closest integer. If the type has none, the nearest limit of the type, and the operation is
/// invalid. A NaN counts as greater than any number. A result of 32 bits is sign-extended.
pub(crate) fn to_int(format: Format, bits: u64, int: Int, round: Round, flags: &mut u8) -> u64 {
    let (low, high) = int.limits();
    let mut inexact = false;
    let value = match unpack(format, bits) {
        (_, Value::Nan) => i128::MAX,
        (true, Value::Infinity) => i128::MIN,
        (false, Value::Infinity) => i128::MAX,
        (_, Value::Zero) => 0,
        // Far outside of any type; this also keeps the shift below small.
        (true, Value::Finite(_, 65..)) => i128::MIN,
        (false, Value::Finite(_, 65..)) => i128::MAX,
        (sign, Value::Finite(m, e)) => {
            let (kept, half, rest) = split(m, -e, false);
            inexact = half || rest;
            let kept = kept + u128::from(round.away(sign, kept & 1 == 1, half, rest));
            if sign { -(kept as i128) } else { kept as i128 }
        }
    };
    let result = value.clamp(low, high);
    if result != value {
        *flags |= flag::NV;
    } else if inexact {
        *flags |= flag::NX;
    }
    if int.bits == 32 { result as i32 as u64 } else { result as u64 }
}

/// The number closest to an integer held in a register.
pub(crate) fn from_int(
    format: Format,
    register: u64,
    int: Int,
    round: Round,
    flags: &mut u8,
) -> u64 {
    let value = match (int.bits, int.signed) {
        (32, true) => i128::from(register as i32),
        (32, false) => i128::from(register as u32),
        (_, true) => i128::from(register as i64),
        (_, false) => i128::from(register),
    };
    if value == 0 {
        return 0;
    }
    pack(format, value < 0, (value.unsigned_abs(), 0), false, round, flags)
}
