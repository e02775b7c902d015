//! Lowers expressions so that only names are sliced.

use super::{Lower, is_plain};
use crate::bits::Bits;
use crate::expr::Expr;
use crate::index::Index;
use crate::literal::index_width;
use crate::node::{Binary, Compare, Node};
use crate::{concat, lit, literal, zero};

impl Lower<'_> {
    /// Lowers an expression.
    pub(super) fn expr(&mut self, e: &Expr) -> Expr {
        let node = match e.node() {
            Node::Literal(_) | Node::Constant(..) => return e.clone(),
            Node::Signal(signal) => {
                return self.known.get(&signal.id).unwrap_or(e).clone();
            }
            Node::Index(_) => return self.new_name("index", e, e.clone()),
            // Next to an operand of the same width that nothing can widen, an index does no harm.
            Node::Compare(how, a, b)
                if *how != Compare::SignedLt
                    && (is_index(a) && is_plain(b) || is_plain(a) && is_index(b)) =>
            {
                return e.clone();
            }
            Node::Slice(a, lo) => return self.slice(a, lo, e.width()),
            Node::Select(a, i) => return self.select(a, i, e.width()),
            Node::Not(a) => return self.expr(a).not(),
            Node::Neg(a) => Node::Neg(self.expr(a)),
            Node::Reduce(how, a) => Node::Reduce(*how, self.expr(a)),
            Node::Repeat(n, a) => Node::Repeat(*n, self.expr(a)),
            Node::Zext(a) => Node::Zext(self.expr(a)),
            Node::Sext(a) => Node::Sext(self.expr(a)),
            // Operands may have become constant, which these functions handle.
            Node::Binary(how, a, b) => {
                return Expr::simplified(*how, self.expr(a), self.expr(b));
            }
            Node::Compare(how, a, b) => {
                return Expr::compare(*how, &self.expr(a), &self.expr(b));
            }
            Node::Shift(how, a, b) => {
                let shifted = self.expr(a).shift(*how, self.expr(b));
                // This may be copies of the sign, which is a slice.
                let done = matches!(shifted.node(), Node::Shift(..));
                return if done { shifted } else { self.expr(&shifted) };
            }
            Node::Mux(c, a, b) => return self.expr(c).mux(self.expr(a), self.expr(b)),
            Node::Concat(parts) => Node::Concat(parts.iter().map(|part| self.expr(part)).collect()),
        };
        Expr::new(e.width(), node)
    }

    /// `width` bits of `a` from `lo` on.
    fn slice(&mut self, a: &Expr, lo: &Index, width: u32) -> Expr {
        if width == a.width() {
            return self.expr(a);
        }
        // Bit by bit, whatever the position is.
        match a.node() {
            Node::Signal(signal) => {
                return match (self.known.get(&signal.id).map(Expr::node), lo.constant()) {
                    (Some(Node::Literal(bits)), Some(lo)) => literal(bits.slice(lo, width)),
                    _ => a.slice(lo, width),
                };
            }
            Node::Not(a) => return self.slice(a, lo, width).not(),
            Node::Binary(how @ (Binary::And | Binary::Or | Binary::Xor), a, b) => {
                let (a, b) = (self.slice(a, lo, width), self.slice(b, lo, width));
                return Expr::simplified(*how, a, b);
            }
            Node::Mux(c, a, b) => {
                return self.expr(c).mux(self.slice(a, lo, width), self.slice(b, lo, width));
            }
            _ => {}
        }
        match lo.constant() {
            Some(lo) => self.slice_at(a, lo, width),
            None => self.name(a).slice(lo, width),
        }
    }

    /// The same at a constant position.
    fn slice_at(&mut self, a: &Expr, lo: u32, width: u32) -> Expr {
        let at = Index::from(lo);
        match a.node() {
            Node::Literal(bits) | Node::Constant(_, bits) => literal(bits.slice(lo, width)),
            Node::Slice(inner, base) => self.slice(inner, &base.plus(lo), width),
            // The low bits of a sum do not depend on the high bits of the operands.
            Node::Binary(how @ (Binary::Add | Binary::Sub), a, b) if lo == 0 => {
                let (a, b) = (self.slice(a, &at, width), self.slice(b, &at, width));
                Expr::simplified(*how, a, b)
            }
            Node::Neg(a) if lo == 0 => self.slice(a, &at, width).neg(),
            Node::Zext(a) if lo >= a.width() => zero(width),
            Node::Zext(a) => {
                let left = width.min(a.width() - lo);
                self.slice(a, &at, left).zext(width)
            }
            Node::Sext(a) if lo < a.width() => {
                let left = width.min(a.width() - lo);
                self.slice(a, &at, left).sext(width)
            }
            Node::Sext(a) => self.slice(a, &Index::from(a.width() - 1), 1).repeat(width),
            Node::Repeat(_, a) if a.width() == 1 => self.expr(a).repeat(width),
            Node::Concat(parts) => self.slice_of_parts(parts, lo, width),
            _ => self.name(a).slice(lo, width),
        }
    }

    fn slice_of_parts(&mut self, parts: &[Expr], lo: u32, width: u32) -> Expr {
        let (mut base, mut found) = (0, Vec::new());
        for part in parts.iter().rev() {
            let (from, to) = (lo.max(base), (lo + width).min(base + part.width()));
            if from < to {
                found.push(self.slice(part, &Index::from(from - base), to - from));
            }
            base += part.width();
        }
        found.reverse();
        concat(&found.iter().collect::<Vec<_>>())
    }

    /// Element `i` of `a`, zero past the end.
    fn select(&mut self, a: &Expr, i: &Expr, width: u32) -> Expr {
        let number = self.expr(i);
        if number.value().is_some() {
            return self.expr(&a.index(number, width));
        }
        let n = a.width() / width;
        let (within, number) = self.element(n, i);
        let element = match number {
            None => self.expr(a),
            Some(number) => match number.value().and_then(Bits::to_u128) {
                // The significant part of the number is constant, though not all of it.
                Some(number) if number < n.into() => {
                    self.slice(a, &(number as u32 * width).into(), width)
                }
                Some(_) => zero(width),
                None => Expr::new(width, Node::Select(self.name(a), number)),
            },
        };
        within.map_or(element.clone(), |within| within.mux(element, zero(width)))
    }

    /// For the number `i` of one of `n` elements, returns the condition that there is such an
    /// element, unless there always is, and the significant part of the number, unless there is
    /// only one element.
    ///
    /// Thus a vector is never indexed past its end, or the result is not used: simulators differ in
    /// the value there.
    pub(super) fn element(&mut self, n: u32, i: &Expr) -> (Option<Expr>, Option<Expr>) {
        let number = self.expr(i);
        let bits = index_width(n);
        if n == 1 {
            (Some(number.eq(zero(i.width()))), None)
        } else if i.width() < bits || (i.width() == bits && n.is_power_of_two()) {
            (None, Some(number))
        } else {
            let within = number.lt(lit(i.width(), n.into()));
            (Some(within), Some(self.slice(i, &Index::from(0), bits)))
        }
    }
}

fn is_index(e: &Expr) -> bool {
    matches!(e.node(), Node::Index(_))
}
