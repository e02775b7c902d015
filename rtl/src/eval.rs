//! The value of an expression.

use crate::bits::Bits;
use crate::expr::Expr;
use crate::index::Index;
use crate::node::{Binary, Compare, Node, Reduce, Shift};
use crate::signal::Signal;
use std::cmp::Ordering;

/// Provides the values that are not in the expression.
pub(crate) trait Scope {
    fn signal(&self, signal: &Signal) -> Bits;
    fn index(&self, index: &Index) -> u32;
}

/// The value of an expression of literals.
pub(crate) fn constant(expr: &Expr) -> Option<Bits> {
    struct Nothing;
    impl Scope for Nothing {
        fn signal(&self, signal: &Signal) -> Bits {
            unreachable!("{} in an expression of literals", signal.name)
        }
        fn index(&self, index: &Index) -> u32 {
            index.offset
        }
    }
    // A slice whose position depends on a loop variable is not constant.
    match expr.node() {
        Node::Slice(_, index) if index.constant().is_none() => None,
        _ => Some(eval(expr, &Nothing)),
    }
}

pub(crate) fn eval(expr: &Expr, scope: &impl Scope) -> Bits {
    let of = |e: &Expr| eval(e, scope);
    match expr.node() {
        Node::Literal(bits) | Node::Constant(_, bits) => bits.clone(),
        Node::Signal(signal) => scope.signal(signal),
        Node::Index(index) => Bits::new(expr.width(), scope.index(index).into()),
        Node::Not(a) => of(a).not(),
        Node::Neg(a) => Bits::zero(a.width()).add(&of(a).not(), true),
        Node::Reduce(Reduce::Or, a) => of(a).any().into(),
        Node::Reduce(Reduce::And, a) => of(a).all().into(),
        Node::Reduce(Reduce::Xor, a) => of(a).parity().into(),
        Node::Binary(how, a, b) => binary(*how, &of(a), &of(b)),
        Node::Compare(how, a, b) => compare(*how, &of(a), &of(b)).into(),
        Node::Shift(Shift::Left, a, b) => of(a).shl(&of(b)),
        Node::Shift(Shift::Right, a, b) => of(a).shr(&of(b), false),
        Node::Shift(Shift::Arithmetic, a, b) => {
            let a = of(a);
            a.shr(&of(b), a.sign())
        }
        Node::Mux(c, a, b) => of(if of(c).any() { a } else { b }),
        Node::Concat(parts) => Bits::concat(&parts.iter().map(of).collect::<Vec<_>>()),
        Node::Repeat(n, a) => Bits::concat(&vec![of(a); *n as usize]),
        Node::Zext(a) => of(a).slice(0, expr.width()),
        Node::Sext(a) => {
            let a = of(a);
            let high = expr.width() - a.width();
            let high = if a.sign() { Bits::ones(high) } else { Bits::zero(high) };
            Bits::concat(&[high, a])
        }
        Node::Slice(a, lo) => of(a).slice(scope.index(lo), expr.width()),
        Node::Select(a, i) => {
            let a = of(a);
            let lo = of(i).to_u128().and_then(|i| i.checked_mul(expr.width().into()));
            match lo {
                Some(lo) if lo < a.width().into() => a.slice(lo as u32, expr.width()),
                _ => Bits::zero(expr.width()),
            }
        }
    }
}

fn binary(how: Binary, a: &Bits, b: &Bits) -> Bits {
    match how {
        Binary::Add => a.add(b, false),
        Binary::Sub => a.add(&b.not(), true),
        Binary::And => a.zip(b, |a, b| a & b),
        Binary::Or => a.zip(b, |a, b| a | b),
        Binary::Xor => a.zip(b, |a, b| a ^ b),
    }
}

fn compare(how: Compare, a: &Bits, b: &Bits) -> bool {
    let order = a.compare(b);
    match how {
        Compare::Eq => order == Ordering::Equal,
        Compare::Ne => order != Ordering::Equal,
        Compare::Lt => order == Ordering::Less,
        Compare::Le => order != Ordering::Greater,
        Compare::Gt => order == Ordering::Greater,
        Compare::Ge => order != Ordering::Less,
        Compare::SignedLt if a.sign() != b.sign() => a.sign(),
        Compare::SignedLt => order == Ordering::Less,
    }
}
