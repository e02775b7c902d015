//! Expressions without operands: literals, and concatenations.

use crate::Expr;
use crate::bits::Bits;
use crate::node::Node;

/// A literal of `width` bits.
///
/// # Panics
///
/// If `value` does not fit, or `width` is 0.
#[must_use]
#[track_caller]
pub fn lit(width: u32, value: u128) -> Expr {
    assert!(width >= 128 || value >> width == 0, "{value} does not fit {width} bits");
    literal(Bits::new(width, value))
}

/// A literal of any width.
///
/// # Panics
///
/// If it has no bits.
#[must_use]
#[track_caller]
pub fn literal(bits: Bits) -> Expr {
    Expr::new(bits.width(), Node::Literal(bits))
}

/// `width` zero bits.
#[must_use]
#[track_caller]
pub fn zero(width: u32) -> Expr {
    literal(Bits::zero(width))
}

/// `width` one bits.
#[must_use]
#[track_caller]
pub fn ones(width: u32) -> Expr {
    literal(Bits::ones(width))
}

/// Concatenates parts, the most significant first, like SystemVerilog's `{a, b}`.
///
/// # Panics
///
/// If there are no parts.
#[must_use]
#[track_caller]
pub fn concat(parts: &[&Expr]) -> Expr {
    match parts {
        [one] => (*one).clone(),
        _ => Expr::new(
            parts.iter().map(|part| part.width()).sum(),
            Node::Concat(parts.iter().map(|part| (*part).clone()).collect()),
        ),
    }
}

/// The number of bits needed to number `n` things: the width of an index into them,
/// at least 1.
#[must_use]
pub fn index_width(n: u32) -> u32 {
    (32 - n.saturating_sub(1).leading_zeros()).max(1)
}

impl From<bool> for Expr {
    fn from(bit: bool) -> Self {
        lit(1, bit.into())
    }
}

impl From<Bits> for Expr {
    #[track_caller]
    fn from(bits: Bits) -> Self {
        literal(bits)
    }
}
