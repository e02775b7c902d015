//! IEEE 754 binary arithmetic on bit patterns, as the F and D extensions require it.
//!
//! Every operation takes a rounding mode and adds to a set of flags. NaN results are always the
//! canonical NaN. Tininess is detected after rounding. Values are `u64` bit patterns; those of the
//! single format are in the low half, and the caller handles boxing.
//!
//! Spec: RISC-V unprivileged ISA, "F" and "D".

mod arith;
mod compare;
mod convert;

pub(crate) use arith::{add, div, mul, mul_add, sqrt};
pub(crate) use compare::{classify, equal, less, max, min};
pub(crate) use convert::{Int, from_int, resize, to_int};

/// Rounding mode.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// To nearest, ties to even.
    Even,
    /// Towards zero.
    Zero,
    /// Down.
    Down,
    /// Up.
    Up,
    /// To nearest, ties away from zero.
    Away,
}

impl Round {
    /// The mode with this encoding in `frm` or an instruction.
    pub(crate) const fn from_raw(raw: u8) -> Option<Self> {
        Some(match raw {
            0 => Self::Even,
            1 => Self::Zero,
            2 => Self::Down,
            3 => Self::Up,
            4 => Self::Away,
            _ => return None,
        })
    }

    /// Whether to round away from zero, given the last bit kept, the first bit dropped, and whether
    /// any of the bits after that is set.
    const fn away(self, sign: bool, last: bool, half: bool, rest: bool) -> bool {
        match self {
            Self::Even => half && (rest || last),
            Self::Zero => false,
            Self::Down => sign && (half || rest),
            Self::Up => !sign && (half || rest),
            Self::Away => half,
        }
    }
}

/// Accrued exceptions, in the bits of `fflags`.
pub(crate) mod flag {
    /// Inexact.
    pub(crate) const NX: u8 = 1;
    /// Underflow.
    pub(crate) const UF: u8 = 2;
    /// Overflow.
    pub(crate) const OF: u8 = 4;
    /// Division by zero.
    pub(crate) const DZ: u8 = 8;
    /// Invalid operation.
    pub(crate) const NV: u8 = 16;
}

/// A binary interchange format.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the exponent field.
    exponent: u32,
    /// Bits of the fraction field.
    fraction: u32,
}

/// binary32.
pub(crate) const SINGLE: Format = Format { exponent: 8, fraction: 23 };
/// binary64.
pub(crate) const DOUBLE: Format = Format { exponent: 11, fraction: 52 };

impl Format {
    /// The sign bit.
    pub(crate) const fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    /// Positive infinity, whose bits are also the mask of the exponent field.
    const fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The canonical NaN.
    pub(crate) const fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction - 1)
    }

    /// Exponent of the smallest normal number.
    const fn min_exponent(self) -> i32 {
        2 - (1 << (self.exponent - 1))
    }

    pub(crate) const fn is_nan(self, bits: u64) -> bool {
        bits & !self.sign() > self.infinity()
    }

    pub(crate) const fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits >> (self.fraction - 1) & 1 == 0
    }

    const fn is_negative(self, bits: u64) -> bool {
        bits & self.sign() != 0
    }

    /// A zero with this sign.
    const fn zero(self, negative: bool) -> u64 {
        if negative { self.sign() } else { 0 }
    }

    /// Returns the canonical NaN; the operation is invalid if an operand is signalling.
    fn propagate(self, operands: &[u64], flags: &mut u8) -> u64 {
        if operands.iter().any(|&x| self.is_signalling(x)) {
            *flags |= flag::NV;
        }
        self.nan()
    }

    /// Returns the canonical NaN of an invalid operation.
    fn invalid(self, flags: &mut u8) -> u64 {
        *flags |= flag::NV;
        self.nan()
    }
}

/// Value of a bit pattern, apart from its sign.
#[derive(Copy, Clone, Debug)]
enum Value {
    Nan,
    Infinity,
    Zero,
    /// `significand * 2^exponent`, the significand not zero.
    Finite(u128, i32),
}

fn unpack(format: Format, bits: u64) -> (bool, Value) {
    let fraction = bits & ((1 << format.fraction) - 1);
    let field = (bits & format.infinity()) >> format.fraction;
    let lowest = format.min_exponent() - format.fraction as i32;
    let value = if format.is_nan(bits) {
        Value::Nan
    } else if bits & format.infinity() == format.infinity() {
        Value::Infinity
    } else if field > 0 {
        Value::Finite((fraction | 1 << format.fraction).into(), lowest + field as i32 - 1)
    } else if fraction > 0 {
        Value::Finite(fraction.into(), lowest)
    } else {
        Value::Zero
    };
    (format.is_negative(bits), value)
}

/// Removes the `shift` lowest bits of `significand`. Returns the bits that are kept, the first bit
/// dropped, and whether the rest, or `sticky`, is more than zero.
fn split(significand: u128, shift: i32, sticky: bool) -> (u128, bool, bool) {
    match shift {
        ..=0 => (significand << -shift, false, sticky),
        1..=127 => {
            let half = 1u128 << (shift - 1);
            (significand >> shift, significand & half != 0, sticky || significand & (half - 1) != 0)
        }
        // All bits are below the first bit dropped; significands stay below bit 127.
        _ => (0, false, sticky || significand != 0),
    }
}

/// Returns the number closest to `significand * 2^exponent`, and a little more if `sticky`,
/// according to `round`. The significand is not zero; if `sticky`, it has at least two bits more
/// than the format.
fn pack(
    format: Format,
    sign: bool,
    (significand, exponent): (u128, i32),
    sticky: bool,
    round: Round,
    flags: &mut u8,
) -> u64 {
    let leading = exponent + 127 - significand.leading_zeros() as i32;
    let fraction = format.fraction as i32;
    let min = format.min_exponent();
    let shift = leading.max(min) - fraction - exponent;
    let (mut kept, half, rest) = split(significand, shift, sticky);
    let inexact = half || rest;
    kept += u128::from(round.away(sign, kept & 1 == 1, half, rest));
    // A carry out of the fraction correctly moves into the exponent field.
    let magnitude = if leading >= min {
        let field = (leading - min) as u64;
        if field >= 1 << format.exponent {
            format.infinity()
        } else {
            (field << format.fraction) + kept as u64
        }
    } else {
        kept as u64
    };
    let sign_bit = format.zero(sign);
    if magnitude >= format.infinity() {
        *flags |= flag::OF | flag::NX;
        let infinite = round.away(sign, true, true, true);
        return sign_bit | (format.infinity() - u64::from(!infinite));
    }
    if inexact {
        *flags |= flag::NX;
        // Tiny after rounding: with an exponent of any size it would still be below the normal
        // numbers.
        if leading < min {
            let (kept, half, rest) = split(significand, leading - fraction - exponent, sticky);
            let carries = kept + 1 == 2 << fraction;
            if !(leading == min - 1 && carries && round.away(sign, kept & 1 == 1, half, rest)) {
                *flags |= flag::UF;
            }
        }
    }
    sign_bit | magnitude
}

#[cfg(test)]
mod tests;
