//! The nodes of expressions.

use crate::Expr;
use crate::bits::Bits;
use crate::index::Index;
use crate::signal::Signal;
use std::rc::Rc;

#[derive(Debug)]
pub(crate) enum Node {
    Literal(Bits),
    /// A `localparam`.
    Constant(Rc<Signal>, Bits),
    Signal(Rc<Signal>),
    Index(Index),
    Not(Expr),
    Neg(Expr),
    Reduce(Reduce, Expr),
    Binary(Binary, Expr, Expr),
    Compare(Compare, Expr, Expr),
    Shift(Shift, Expr, Expr),
    Mux(Expr, Expr, Expr),
    /// Most significant part first.
    Concat(Vec<Expr>),
    Repeat(u32, Expr),
    Zext(Expr),
    Sext(Expr),
    /// As many bits as the expression is wide, starting at the index.
    Slice(Expr, Index),
    /// The element with that number; elements are as wide as the expression. Zero past the end.
    Select(Expr, Expr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduce {
    Or,
    And,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    SignedLt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Left,
    Right,
    Arithmetic,
}
