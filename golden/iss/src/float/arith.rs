//! Sum, product, quotient, root and fused multiply-add.

use super::{Format, Round, Value, flag, pack, unpack};

/// A finite number other than zero: sign, significand, exponent.
type Number = (bool, u128, i32);

/// Position of the leading bit in [`sum`], with room for a carry above and for more bits than an
/// exact product has below.
const TOP: u32 = 125;

fn normal((sign, significand, exponent): Number) -> Number {
    let shift = significand.leading_zeros() - (127 - TOP);
    (sign, significand << shift, exponent - shift as i32)
}

/// The exact sum of two numbers of at most 106 bits each, rounded once.
fn sum(format: Format, a: Number, b: Number, round: Round, flags: &mut u8) -> u64 {
    let (a, b) = (normal(a), normal(b));
    // The larger number stays in place; the other moves right and may leave a sticky bit behind. If
    // it does, the exponents differ so much that the difference loses at most one leading bit.
    let (large, small) = if (a.2, a.1) >= (b.2, b.1) { (a, b) } else { (b, a) };
    let shift = (large.2 - small.2) as u32;
    let moved = small.1.checked_shr(shift).unwrap_or(0);
    let sticky = shift > 0 && moved.checked_shl(shift).unwrap_or(0) != small.1;
    let significand =
        if large.0 == small.0 { large.1 + moved } else { large.1 - moved - u128::from(sticky) };
    if significand == 0 && !sticky {
        return format.zero(round == Round::Down);
    }
    pack(format, large.0, (significand, large.2), sticky, round, flags)
}

/// `a + b`.
pub(crate) fn add(format: Format, a: u64, b: u64, round: Round, flags: &mut u8) -> u64 {
    match (unpack(format, a), unpack(format, b)) {
        ((_, Value::Nan), _) | (_, (_, Value::Nan)) => format.propagate(&[a, b], flags),
        ((s, Value::Infinity), (t, Value::Infinity)) if s != t => format.invalid(flags),
        ((_, Value::Infinity), _) => a,
        (_, (_, Value::Infinity)) => b,
        ((s, Value::Zero), (t, Value::Zero)) => zeros(format, s, t, round),
        ((_, Value::Zero), _) => b,
        (_, (_, Value::Zero)) => a,
        ((s, Value::Finite(m, e)), (t, Value::Finite(n, f))) => {
            sum(format, (s, m, e), (t, n, f), round, flags)
        }
    }
}

/// The sum of two zeros with these signs.
fn zeros(format: Format, a: bool, b: bool, round: Round) -> u64 {
    format.zero(if a == b { a } else { round == Round::Down })
}

/// `a * b`.
pub(crate) fn mul(format: Format, a: u64, b: u64, round: Round, flags: &mut u8) -> u64 {
    let ((s, x), (t, y)) = (unpack(format, a), unpack(format, b));
    let sign = s != t;
    match (x, y) {
        (Value::Nan, _) | (_, Value::Nan) => format.propagate(&[a, b], flags),
        (Value::Infinity, Value::Zero) | (Value::Zero, Value::Infinity) => format.invalid(flags),
        (Value::Infinity, _) | (_, Value::Infinity) => format.zero(sign) | format.infinity(),
        (Value::Zero, _) | (_, Value::Zero) => format.zero(sign),
        (Value::Finite(m, e), Value::Finite(n, f)) => {
            pack(format, sign, (m * n, e + f), false, round, flags)
        }
    }
}

/// `a * b + c`, rounded once. Infinity times zero is invalid even if `c` is a quiet NaN.
pub(crate) fn mul_add(format: Format, [a, b, c]: [u64; 3], round: Round, flags: &mut u8) -> u64 {
    let ((s, x), (t, y), (u, z)) = (unpack(format, a), unpack(format, b), unpack(format, c));
    let sign = s != t;
    match (x, y, z) {
        (Value::Infinity, Value::Zero, _) | (Value::Zero, Value::Infinity, _) => {
            format.invalid(flags)
        }
        (Value::Nan, ..) | (_, Value::Nan, _) | (.., Value::Nan) => {
            format.propagate(&[a, b, c], flags)
        }
        (Value::Infinity, ..) | (_, Value::Infinity, _) => match z {
            Value::Infinity if u != sign => format.invalid(flags),
            _ => format.zero(sign) | format.infinity(),
        },
        (.., Value::Infinity) => c,
        (Value::Zero, _, Value::Zero) | (_, Value::Zero, Value::Zero) => {
            zeros(format, sign, u, round)
        }
        (Value::Zero, ..) | (_, Value::Zero, _) => c,
        (Value::Finite(m, e), Value::Finite(n, f), Value::Zero) => {
            pack(format, sign, (m * n, e + f), false, round, flags)
        }
        (Value::Finite(m, e), Value::Finite(n, f), Value::Finite(o, g)) => {
            sum(format, (sign, m * n, e + f), (u, o, g), round, flags)
        }
    }
}

/// `a / b`.
pub(crate) fn div(format: Format, a: u64, b: u64, round: Round, flags: &mut u8) -> u64 {
    let ((s, x), (t, y)) = (unpack(format, a), unpack(format, b));
    let sign = s != t;
    match (x, y) {
        (Value::Nan, _) | (_, Value::Nan) => format.propagate(&[a, b], flags),
        (Value::Infinity, Value::Infinity) | (Value::Zero, Value::Zero) => format.invalid(flags),
        (Value::Infinity, _) => format.zero(sign) | format.infinity(),
        (_, Value::Infinity) | (Value::Zero, _) => format.zero(sign),
        (_, Value::Zero) => {
            *flags |= flag::DZ;
            format.zero(sign) | format.infinity()
        }
        (Value::Finite(m, e), Value::Finite(n, f)) => {
            // Leading bit at 125: the quotient has at least 72 bits.
            let (_, m, e) = normal((sign, m, e));
            pack(format, sign, (m / n, e - f), m % n != 0, round, flags)
        }
    }
}

/// The square root.
pub(crate) fn sqrt(format: Format, a: u64, round: Round, flags: &mut u8) -> u64 {
    match unpack(format, a) {
        (_, Value::Nan) => format.propagate(&[a], flags),
        (_, Value::Zero) | (false, Value::Infinity) => a,
        (true, _) => format.invalid(flags),
        (false, Value::Finite(m, e)) => {
            let (_, m, e) = normal((false, m, e));
            // Make the exponent even, and compute about 62 bits of the root.
            let (m, e) = if e % 2 == 0 { (m, e) } else { (m << 1, e - 1) };
            let root = m.isqrt();
            pack(format, false, (root, e / 2), root * root != m, round, flags)
        }
    }
}
