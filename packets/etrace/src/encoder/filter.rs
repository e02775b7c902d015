//! Which instructions are traced.
//!
//! Spec: E-Trace 2.0, chapter 5 "Filtering" (informative), and 4.2.4 "Triggers".

use alloc::vec::Vec;

/// Input of a comparator.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Instruction addresses: matches if any instruction of the block does.
    Iaddress,
    /// The context.
    Context,
    /// The trap value. As [`Condition::causes`], it is asked of a trap.
    Tval,
}

/// Comparison that a comparator makes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less than.
    Less,
    /// Less than or equal.
    LessEqual,
    /// Greater than.
    Greater,
    /// Greater than or equal.
    GreaterEqual,
    /// Always matches.
    Always,
}

/// How the primary (P) and secondary (S) matches combine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// P alone.
    Primary,
    /// P and S.
    Both,
    /// Not both.
    NotBoth,
    /// From a match of P to a match of S, both included.
    Latch,
}

/// A pair of comparisons on one input.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comparator {
    /// The input to compare.
    pub input: Input,
    /// Primary comparison: function and operand.
    pub primary: (Function, u64),
    /// Secondary comparison.
    pub secondary: (Function, u64),
    /// How they combine.
    pub combine: Combine,
}

impl Comparator {
    /// Instruction addresses in `first..=last`.
    pub const fn range(first: u64, last: u64) -> Self {
        Self::within(Input::Iaddress, first, last)
    }

    /// Values of an input in `first..=last`.
    pub const fn within(input: Input, first: u64, last: u64) -> Self {
        Self {
            input,
            primary: (Function::GreaterEqual, first),
            secondary: (Function::LessEqual, last),
            combine: Combine::Both,
        }
    }
}

/// A condition on a retired block; every part that is given must hold.
///
/// Some parts are asked of a trap: [`Condition::causes`], [`Condition::interrupt`], and comparators of
/// [`Input::Tval`]. A condition with such parts holds from a trap that matches all of them to the return from
/// it. Traps and returns in between are counted, up to [`Condition::NESTED_TRAPS`]. Where blocks are
/// missing, and where the hart is reset, it ends, since the return may never come (D22).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Indices of comparators that must match, three at most in hardware.
    pub comparators: Vec<usize>,
    /// Privilege levels that match.
    pub privileges: Option<Vec<u8>>,
    /// Causes of a trap that match.
    pub causes: Option<Vec<u64>>,
    /// Whether a trap has to be an interrupt, or an exception.
    pub interrupt: Option<bool>,
}

impl Condition {
    /// Number of traps, one within the other, that are counted. One more is not, so that matching ends
    /// too early.
    pub const NESTED_TRAPS: u8 = 7;
}

/// The filter: a block is traced if any condition matches it, or if there are no conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The comparators.
    pub comparators: Vec<Comparator>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Whether tracing is on before the first trigger.
    pub initially_on: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self { comparators: Vec::new(), conditions: Vec::new(), initially_on: true }
    }
}
