//! Named things of a module.

use crate::Expr;
use crate::index::Index;
use crate::node::Node;
use std::panic::Location;
use std::rc::Rc;

/// A named vector of a module.
#[derive(Debug)]
pub(crate) struct Signal {
    pub(crate) name: String,
    pub(crate) width: u32,
    pub(crate) kind: Kind,
    /// The module it belongs to, and its place in that module's list.
    pub(crate) module: ModuleId,
    pub(crate) id: usize,
}

/// Tells modules apart; names do not, two modules of one name may be under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModuleId(pub(crate) u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Input,
    Output,
    Wire,
    /// The output of a register or of a memory.
    State,
    /// The next value of the register whose output has that id.
    Next(usize),
    Constant,
    /// Where bits go that nothing reads.
    Sink,
}

impl Signal {
    pub(crate) fn expr(self: &Rc<Self>) -> Expr {
        Expr::new(self.width, Node::Signal(Rc::clone(self)))
    }
}

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
    /// The element of that number.
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

/// All signals of the expression are of the module.
///
/// # Panics
///
/// If one is not.
#[track_caller]
pub(crate) fn check_owner(expr: &Expr, module: ModuleId) {
    if let Node::Signal(signal) | Node::Constant(signal, _) = expr.node() {
        assert!(signal.module == module, "{} belongs to another module", signal.name);
    }
    for operand in expr.operands() {
        check_owner(operand, module);
    }
}
