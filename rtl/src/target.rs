//! Targets of assignments, and the module they belong to.

use crate::Expr;
use crate::index::Index;
use crate::node::Node;
use crate::signal::{Kind, ModuleId, Signal};
use std::panic::Location;
use std::rc::Rc;

/// The left side of an assignment.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) signal: Rc<Signal>,
    pub(crate) part: Part,
    pub(crate) width: u32,
    pub(crate) location: &'static Location<'static>,
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    All,
    Slice(Index),
    /// The element with that number.
    Element(Expr),
}

impl Target {
    /// # Panics
    ///
    /// If the expression is not a signal of the module that may be driven, or a part of one.
    #[track_caller]
    pub(crate) fn new(expr: &Expr, module: ModuleId) -> Self {
        let (base, part) = match expr.node() {
            Node::Slice(base, lo) => (base, Part::Slice(lo.clone())),
            Node::Select(base, i) => (base, Part::Element(i.clone())),
            _ => (expr, Part::All),
        };
        let Node::Signal(signal) = base.node() else {
            panic!("only a signal or a part of one can be assigned to");
        };
        let name = &signal.name;
        assert!(signal.module == module, "{name} belongs to another module");
        match signal.kind {
            Kind::Input => panic!("{name} is an input and cannot be driven"),
            Kind::State => {
                panic!("{name} is the output of a register or memory and cannot be driven")
            }
            Kind::Constant | Kind::Sink => panic!("{name} cannot be driven"),
            Kind::Output | Kind::Wire | Kind::Next(_) => {}
        }
        let signal = Rc::clone(signal);
        Self { signal, part, width: expr.width(), location: Location::caller() }
    }
}

/// Checks that all signals of the expression belong to the module.
///
/// # Panics
///
/// If one does not.
#[track_caller]
pub(crate) fn check_owner(expr: &Expr, module: ModuleId) {
    if let Node::Signal(signal) | Node::Constant(signal, _) = expr.node() {
        assert!(signal.module == module, "{} belongs to another module", signal.name);
    }
    for operand in expr.operands() {
        check_owner(operand, module);
    }
}
