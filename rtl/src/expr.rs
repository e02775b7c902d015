//! Expressions that know their width.

use crate::bits::Bits;
use crate::eval;
use crate::index::Index;
use crate::literal::{lit, literal, zero};
use crate::node::{Binary, Compare, Node, Reduce, Shift};
use std::rc::Rc;

/// A value in hardware: a signal, a literal or a value computed from them. It is cheap to clone.
///
/// Every operation checks the widths of its operands and panics at the caller's line if they do not
/// fit; nothing is extended or truncated silently.
#[derive(Clone, Debug)]
pub struct Expr {
    width: u32,
    node: Rc<Node>,
}

macro_rules! binary {
    ($($(#[$doc:meta])* $method:ident $operation:ident)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        ///
        /// If the widths differ.
        #[must_use]
        #[track_caller]
        pub fn $method(&self, other: impl Into<Expr>) -> Expr {
            let other = other.into();
            self.same_width(&other, stringify!($method));
            Expr::new(self.width, Node::Binary(Binary::$operation, self.clone(), other))
        }
    )* };
}

macro_rules! compare {
    ($($(#[$doc:meta])* $method:ident $operation:ident)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        ///
        /// If the widths differ.
        #[must_use]
        #[track_caller]
        pub fn $method(&self, other: impl Into<Expr>) -> Expr {
            let other = other.into();
            self.same_width(&other, stringify!($method));
            Expr::compare(Compare::$operation, self, &other)
        }
    )* };
}

macro_rules! shift {
    ($($(#[$doc:meta])* $method:ident $operation:ident)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        ///
        /// If the amount is wider than 32 bits.
        #[must_use]
        #[track_caller]
        pub fn $method(&self, amount: impl Into<Expr>) -> Expr {
            self.shift(Shift::$operation, amount.into())
        }
    )* };
}

impl Expr {
    /// The number of bits.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The value, if it is a literal or a named constant.
    #[must_use]
    pub fn value(&self) -> Option<&Bits> {
        match self.node() {
            Node::Literal(bits) | Node::Constant(_, bits) => Some(bits),
            _ => None,
        }
    }

    binary! {
        /// The sum; the carry is lost.
        add Add
        /// The difference; the borrow is lost.
        sub Sub
        /// Bitwise and.
        and And
        /// Bitwise or.
        or Or
        /// Bitwise exclusive or.
        xor Xor
    }

    compare! {
        /// Whether both are equal.
        eq Eq
        /// Whether they differ.
        ne Ne
        /// Whether this is less, both unsigned.
        lt Lt
        /// Whether this is less or equal, both unsigned.
        le Le
        /// Whether this is greater, both unsigned.
        gt Gt
        /// Whether this is greater or equal, both unsigned.
        ge Ge
        /// Whether this is less, both signed.
        slt SignedLt
    }

    shift! {
        /// Shifts left by a variable amount, with zeros from the right. An amount of at least the
        /// width shifts everything out.
        shl Left
        /// Shifts right by a variable amount, with zeros from the left.
        shr Right
        /// Shifts right by a variable amount, with the sign from the left.
        sra Arithmetic
    }

    /// Whether this equals a number.
    ///
    /// # Panics
    ///
    /// If the number does not fit.
    #[must_use]
    #[track_caller]
    pub fn is(&self, value: u128) -> Expr {
        self.eq(lit(self.width, value))
    }

    /// Bitwise not.
    #[must_use]
    pub fn not(&self) -> Expr {
        match self.node() {
            Node::Not(inner) => inner.clone(),
            _ => Expr::new(self.width, Node::Not(self.clone())),
        }
    }

    /// The two's complement.
    #[must_use]
    pub fn neg(&self) -> Expr {
        Expr::new(self.width, Node::Neg(self.clone()))
    }

    /// Whether any bit is set.
    #[must_use]
    pub fn any(&self) -> Expr {
        self.reduce(Reduce::Or)
    }

    /// Whether all bits are set.
    #[must_use]
    pub fn all(&self) -> Expr {
        self.reduce(Reduce::And)
    }

    /// Whether the number of bits set is odd.
    #[must_use]
    pub fn parity(&self) -> Expr {
        self.reduce(Reduce::Xor)
    }

    /// Selects `yes` if this bit is set, otherwise `no`.
    ///
    /// # Panics
    ///
    /// If this is wider than one bit, or the widths of `yes` and `no` differ.
    #[must_use]
    #[track_caller]
    pub fn mux(&self, yes: impl Into<Expr>, no: impl Into<Expr>) -> Expr {
        let (yes, no) = (yes.into(), no.into());
        self.is_bit("condition of mux");
        yes.same_width(&no, "mux");
        match self.value() {
            Some(bits) if bits.any() => yes,
            Some(_) => no,
            None => Expr::new(yes.width, Node::Mux(self.clone(), yes, no)),
        }
    }

    /// Whether `other` is set if this bit is set: for properties.
    ///
    /// # Panics
    ///
    /// If one of them is wider than one bit.
    #[must_use]
    #[track_caller]
    pub fn implies(&self, other: impl Into<Expr>) -> Expr {
        self.is_bit("left side of implies");
        self.not().or(other)
    }

    /// `this` while the bit is set, otherwise zero.
    ///
    /// # Panics
    ///
    /// If this is wider than one bit.
    #[must_use]
    #[track_caller]
    pub fn gate(&self, this: impl Into<Expr>) -> Expr {
        let this = this.into();
        self.is_bit("condition of gate");
        self.repeat(this.width).and(this)
    }

    /// Extends with zeros to `width` bits.
    ///
    /// # Panics
    ///
    /// If `width` is less than the current width.
    #[must_use]
    #[track_caller]
    pub fn zext(&self, width: u32) -> Expr {
        assert!(width >= self.width, "zext of {} bits to {width}", self.width);
        if width == self.width { self.clone() } else { Expr::new(width, Node::Zext(self.clone())) }
    }

    /// Extends with copies of the top bit to `width` bits.
    ///
    /// # Panics
    ///
    /// If `width` is less than the current width.
    #[must_use]
    #[track_caller]
    pub fn sext(&self, width: u32) -> Expr {
        assert!(width >= self.width, "sext of {} bits to {width}", self.width);
        if width == self.width { self.clone() } else { Expr::new(width, Node::Sext(self.clone())) }
    }

    /// The low `width` bits.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    #[must_use]
    #[track_caller]
    pub fn trunc(&self, width: u32) -> Expr {
        self.slice(0, width)
    }

    /// `width` bits from bit `lo` on.
    ///
    /// # Panics
    ///
    /// If there are not that many bits.
    #[must_use]
    #[track_caller]
    pub fn slice(&self, lo: impl Into<Index>, width: u32) -> Expr {
        let lo = lo.into();
        let end = lo.max() + width;
        assert!(end <= self.width, "slice up to bit {} of {} bits", end - 1, self.width);
        if width == self.width {
            return self.clone();
        }
        match (self.node(), lo.constant()) {
            (Node::Slice(inner, base), Some(lo)) => inner.slice(base.plus(lo), width),
            (Node::Slice(inner, base), None) if base.constant().is_some() => {
                inner.slice(lo.plus(base.offset), width)
            }
            _ => Expr::new(width, Node::Slice(self.clone(), lo)),
        }
    }

    /// Bit number `i`.
    ///
    /// # Panics
    ///
    /// If there are not that many bits.
    #[must_use]
    #[track_caller]
    pub fn bit(&self, i: impl Into<Index>) -> Expr {
        self.slice(i, 1)
    }

    /// The top bit.
    #[must_use]
    pub fn msb(&self) -> Expr {
        self.bit(self.width - 1)
    }

    /// The bit whose number is known only at run time; zero past the end.
    #[must_use]
    #[track_caller]
    pub fn bit_at(&self, i: impl Into<Expr>) -> Expr {
        self.index(i, 1)
    }

    /// Element `i` of a vector of elements of `width` bits, `x[i * width +: width]`; zero past the end.
    ///
    /// # Panics
    ///
    /// If this does not consist of a whole number of elements.
    #[must_use]
    #[track_caller]
    pub fn index(&self, i: impl Into<Expr>, width: u32) -> Expr {
        let i = i.into();
        assert!(
            width > 0 && self.width.is_multiple_of(width),
            "{} bits are no whole number of elements of {width} bits",
            self.width
        );
        if let Some(i) = i.value().and_then(Bits::to_u128) {
            let lo = i.saturating_mul(width.into());
            return if lo < self.width.into() { self.slice(lo as u32, width) } else { zero(width) };
        }
        Expr::new(width, Node::Select(self.clone(), i))
    }

    /// `n` copies side by side.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    #[must_use]
    #[track_caller]
    pub fn repeat(&self, n: u32) -> Expr {
        if n == 1 { self.clone() } else { Expr::new(self.width * n, Node::Repeat(n, self.clone())) }
    }

    /// Creates an expression; one that consists of literals only becomes a literal.
    #[track_caller]
    pub(crate) fn new(width: u32, node: Node) -> Self {
        assert!(width > 0, "an expression has at least one bit");
        let expr = Self { width, node: Rc::new(node) };
        match expr.node() {
            Node::Literal(_) => expr,
            _ if expr.operands().is_empty() => expr,
            _ if expr.operands().iter().all(|o| matches!(o.node(), Node::Literal(_))) => {
                eval::constant(&expr).map_or(expr, literal)
            }
            _ => expr,
        }
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// Whether both are the same expression, not merely equal ones.
    pub(crate) fn same(&self, other: &Expr) -> bool {
        Rc::ptr_eq(&self.node, &other.node)
    }

    pub(crate) fn operands(&self) -> Vec<&Expr> {
        match self.node() {
            Node::Literal(_) | Node::Constant(..) | Node::Signal(_) | Node::Index(_) => vec![],
            Node::Not(a) | Node::Neg(a) | Node::Reduce(_, a) | Node::Repeat(_, a) => vec![a],
            Node::Zext(a) | Node::Sext(a) | Node::Slice(a, _) => vec![a],
            Node::Binary(_, a, b) | Node::Compare(_, a, b) | Node::Shift(_, a, b) => vec![a, b],
            Node::Select(a, b) => vec![a, b],
            Node::Mux(a, b, c) => vec![a, b, c],
            Node::Concat(parts) => parts.iter().collect(),
        }
    }

    #[track_caller]
    pub(crate) fn is_bit(&self, what: &str) {
        assert!(self.width == 1, "{what}: 1 bit wanted, {} given", self.width);
    }

    #[track_caller]
    fn same_width(&self, other: &Expr, what: &str) {
        let (left, right) = (self.width, other.width);
        assert!(left == right, "{what}: operand widths differ, left {left}, right {right}");
    }

    fn reduce(&self, how: Reduce) -> Expr {
        if self.width == 1 { self.clone() } else { Expr::new(1, Node::Reduce(how, self.clone())) }
    }

    /// The operation, or what it is if an operand is a literal or both are the same: `x & 1'b1` is `x`. Generators have
    /// such operands where a parameter leaves something out.
    pub(crate) fn simplified(how: Binary, left: Expr, right: Expr) -> Expr {
        let known = |e: &Expr| match e.node() {
            Node::Literal(bits) => (bits.all(), !bits.any()),
            _ => (false, false),
        };
        let ((left_ones, left_zero), (right_ones, right_zero)) = (known(&left), known(&right));
        match how {
            Binary::And | Binary::Or if left.reads_as(&right) => left,
            Binary::And if left_ones || right_zero => right,
            Binary::And if right_ones || left_zero => left,
            Binary::Or if left_zero || right_ones => right,
            Binary::Or if right_zero || left_ones => left,
            Binary::Xor if left_ones => right.not(),
            Binary::Xor if right_ones => left.not(),
            Binary::Add | Binary::Xor if left_zero => right,
            Binary::Add | Binary::Xor | Binary::Sub if right_zero => left,
            _ => Expr::new(left.width, Node::Binary(how, left, right)),
        }
    }

    /// Whether both are the same expression or the same signal.
    fn reads_as(&self, other: &Expr) -> bool {
        match (self.node(), other.node()) {
            (Node::Signal(a), Node::Signal(b)) => Rc::ptr_eq(a, b),
            _ => self.same(other),
        }
    }

    /// Tools differ in the largest constant amount they accept, so an amount that shifts everything
    /// out is handled here.
    ///
    /// # Panics
    ///
    /// If the amount is wider than 32 bits, some of which Verilator 5.006 loses.
    #[track_caller]
    pub(crate) fn shift(&self, how: Shift, amount: Expr) -> Expr {
        assert!(amount.width <= 32, "the amount of a shift has {} bits, at most 32", amount.width);
        let out = match amount.value() {
            Some(bits) if !bits.any() => return self.clone(),
            Some(bits) => bits.to_u128().is_none_or(|n| n >= self.width.into()),
            None => false,
        };
        match how {
            _ if !out => Expr::new(self.width, Node::Shift(how, self.clone(), amount)),
            Shift::Arithmetic => self.msb().repeat(self.width),
            Shift::Left | Shift::Right => zero(self.width),
        }
    }

    /// Comparisons that hold or fail for every value become literals: tools warn about them,
    /// although they are not mistakes when widths are parameters.
    pub(crate) fn compare(how: Compare, left: &Expr, right: &Expr) -> Expr {
        let least = |e: &Expr| e.value().is_some_and(|bits| !bits.any());
        let most = |e: &Expr| e.value().is_some_and(Bits::all);
        let known = match how {
            Compare::Lt if least(right) || most(left) => Some(false),
            Compare::Gt if least(left) || most(right) => Some(false),
            Compare::Le if least(left) || most(right) => Some(true),
            Compare::Ge if least(right) || most(left) => Some(true),
            _ => None,
        };
        match known {
            Some(bit) => lit(1, bit.into()),
            None => Expr::new(1, Node::Compare(how, left.clone(), right.clone())),
        }
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Self {
        expr.clone()
    }
}
