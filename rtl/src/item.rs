//! The items of a module.

use crate::Expr;
use crate::bits::Bits;
use crate::component::Component;
use crate::memory::Memory;
use crate::signal::Signal;
use crate::stmt::Stmt;
use crate::target::Target;
use std::rc::Rc;

/// The part of a module after its ports, in the order it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) items: Vec<Item>,
    pub(crate) registers: Vec<Register>,
    pub(crate) properties: Vec<Property>,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Section(String),
    Declare(Rc<Signal>),
    /// Next value and output.
    DeclareRegister(Rc<Signal>, Rc<Signal>),
    Constant(Rc<Signal>, Bits),
    Assign(Target, Expr),
    Comb(Vec<Stmt>),
    Instance(Instance),
    Memory(Memory),
    Write {
        memory: Memory,
        enable: Expr,
        address: Expr,
        data: Expr,
    },
    Read {
        memory: Memory,
        word: Rc<Signal>,
        address: Expr,
    },
    ReadClocked {
        memory: Memory,
        word: Rc<Signal>,
        enable: Expr,
        address: Expr,
    },
    /// The name of the sink, and the bits connected to it.
    Unused(Rc<Signal>, Expr),
}

#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) name: String,
    pub(crate) of: Component,
    pub(crate) inputs: Vec<(String, Expr)>,
    pub(crate) outputs: Vec<(String, Target)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub(crate) q: Rc<Signal>,
    pub(crate) d: Rc<Signal>,
    pub(crate) reset: Option<Expr>,
    pub(crate) enable: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) kind: PropertyKind,
    pub(crate) name: String,
    pub(crate) expr: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertyKind {
    Assert,
    Assume,
    Cover,
}
