//! Signals and indices as expressions.

use crate::Expr;
use crate::index::Index;
use crate::literal::lit;
use crate::node::Node;
use crate::signal::Signal;
use std::rc::Rc;

impl Signal {
    pub(crate) fn expr(self: &Rc<Self>) -> Expr {
        Expr::new(self.width, Node::Signal(Rc::clone(self)))
    }
}

impl Index {
    /// The index as a value of `width` bits, for comparisons and computations.
    ///
    /// # Panics
    ///
    /// If the largest value does not fit.
    #[must_use]
    #[track_caller]
    pub fn expr(&self, width: u32) -> Expr {
        let max = self.max();
        assert!(width >= 32 || max >> width == 0, "index up to {max} does not fit {width} bits");
        match self.variable {
            None => lit(width, self.offset.into()),
            // A loop variable has 32 bits.
            Some(_) if width > 32 => self.expr(32).zext(width),
            Some(_) => Expr::new(width, Node::Index(self.clone())),
        }
    }
}
