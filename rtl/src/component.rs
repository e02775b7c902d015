//! What modules consist of, and finished ones. These types contain each other: a module has instances of finished
//! modules, which have a content of their own.

use crate::bits::Bits;
use crate::expr::Expr;
use crate::memory::Memory;
use crate::names;
use crate::signal::Signal;
use crate::stmt::Stmt;
use crate::target::Target;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A finished module, checked as a whole. It is cheap to clone.
#[derive(Clone, Debug)]
pub struct Component(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The lowered content, which all tools understand.
    content: Content,
    /// The content as written.
    source: Body,
    facts: Facts,
}

/// A port of a [`Component`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Input or output.
    pub direction: Direction,
    /// Its name.
    pub name: String,
    /// Its width in bits.
    pub width: u32,
    /// Its comment.
    pub doc: String,
}

impl Port {
    pub(crate) fn is_clock_or_reset(&self) -> bool {
        self.name == "clk_i" || self.name == "rst_ni"
    }
}

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the module.
    Input,
    /// Out of the module.
    Output,
}

impl Component {
    pub(crate) fn new(content: Content, source: Body, facts: Facts) -> Self {
        Self(Rc::new(Inner { content, source, facts }))
    }

    pub(crate) fn content(&self) -> &Content {
        &self.0.content
    }

    pub(crate) fn source(&self) -> &Body {
        &self.0.source
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.0.facts
    }

    /// The name of the module.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.content().name
    }

    /// Its ports, in order.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.content().ports
    }

    /// Whether it has a clock `clk_i`.
    #[must_use]
    pub fn clocked(&self) -> bool {
        self.content().clocked
    }

    /// Whether it has a clock and a reset `rst_ni`.
    #[must_use]
    pub fn has_reset(&self) -> bool {
        self.clocked() && self.ports().iter().any(|port| port.name == "rst_ni")
    }

    /// The modules it instantiates, in order, repeated for every instance.
    #[must_use]
    pub fn children(&self) -> &[Component] {
        &self.content().children
    }

    /// The same hierarchy with a prefix before the name of every module, so that two hierarchies made from different
    /// parameters can be parts of one design.
    ///
    /// # Panics
    ///
    /// If a name with the prefix is reserved or not in lower case.
    #[must_use]
    #[track_caller]
    pub fn prefixed(&self, prefix: &str) -> Self {
        if prefix.is_empty() {
            return self.clone();
        }
        let mut content = self.content().clone();
        content.name.insert_str(0, prefix);
        names::check(&content.name);
        let of_items = |body: &mut Body| {
            for item in &mut body.items {
                if let Item::Instance(instance) = item {
                    instance.of = instance.of.prefixed(prefix);
                }
            }
        };
        let mut source = self.source().clone();
        of_items(&mut content.body);
        of_items(&mut source);
        content.children = content.children.iter().map(|child| child.prefixed(prefix)).collect();
        Self::new(content, source, self.facts().clone())
    }
}

/// Contents of a module, in the order they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) clocked: bool,
    pub(crate) ports: Vec<Port>,
    pub(crate) signals: Vec<Rc<Signal>>,
    pub(crate) names: BTreeSet<String>,
    pub(crate) body: Body,
    pub(crate) children: Vec<Component>,
    /// Names that need not be read.
    pub(crate) optional: BTreeSet<usize>,
    /// Signals that the author reads, but that nothing depends on.
    pub(crate) dropped: BTreeSet<usize>,
}

/// Results of the checks.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// For every block, in order: next values whose default is the output of their register.
    pub(crate) defaults: Vec<Vec<(usize, usize)>>,
    /// For every output: the inputs it depends on without a register in between.
    pub(crate) paths: BTreeMap<String, BTreeSet<String>>,
}

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
    /// Of [`PropertyKind::Stays`]: whether the value has to be the same at the next edge.
    pub(crate) waits: Option<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PropertyKind {
    Assert,
    Assume,
    Cover,
    /// The value is the same as at the edge before. Only simulation checks it.
    Stays,
}
