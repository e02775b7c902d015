//! A module under construction.

use crate::Expr;
use crate::component::{Content, Direction, Item, Port, Property, PropertyKind, Register};
use crate::names;
use crate::node::Node;
use crate::signal::{Kind, ModuleId, Signal};
use crate::stmt::{Block, check_widths};
use crate::target::{Target, check_owner};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A module under construction; [`Module::finish`] turns it into a [`Component`](crate::Component).
///
/// All methods take `&self`, so that several functions can add to a module.
#[derive(Debug)]
pub struct Module {
    pub(crate) id: ModuleId,
    pub(crate) content: RefCell<Content>,
}

/// A register: its output and its next value.
///
/// If a block drives `d` on some paths only, it stays at `q` on the others.
#[derive(Clone, Debug)]
pub struct Reg {
    /// The output, `name_q`.
    pub q: Expr,
    /// The next value, `name_d`.
    pub d: Expr,
}

impl Module {
    /// Starts a module. `doc` is the comment above it: what it does, and what it does not do.
    ///
    /// # Panics
    ///
    /// If the name is reserved or not in lower case.
    #[must_use]
    #[track_caller]
    pub fn new(name: &str, doc: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        names::check(name);
        let content = Content { name: name.to_owned(), doc: doc.to_owned(), ..Content::default() };
        let id = ModuleId(NEXT.fetch_add(1, Ordering::Relaxed));
        Self { id, content: RefCell::new(content) }
    }

    /// Adds a clock `clk_i` and an asynchronous reset `rst_ni`, active low.
    #[must_use]
    #[track_caller]
    pub fn clocked(self) -> Self {
        let clocked = self.clock_only();
        clocked.input("rst_ni", 1, "");
        clocked
    }

    /// Adds a clock `clk_i`, and no reset: for a memory that is a module of its own.
    #[must_use]
    #[track_caller]
    pub fn clock_only(self) -> Self {
        self.content.borrow_mut().clocked = true;
        self.input("clk_i", 1, "");
        self
    }

    /// Adds an input.
    ///
    /// # Panics
    ///
    /// If the name is already used or reserved, as with all names.
    #[track_caller]
    pub fn input(&self, name: &str, width: u32, doc: &str) -> Expr {
        self.port(Direction::Input, name, width, doc)
    }

    /// Adds an output. It can be read as well.
    #[track_caller]
    pub fn output(&self, name: &str, width: u32, doc: &str) -> Expr {
        self.port(Direction::Output, name, width, doc)
    }

    #[track_caller]
    fn port(&self, direction: Direction, name: &str, width: u32, doc: &str) -> Expr {
        let kind = match direction {
            Direction::Input => Kind::Input,
            Direction::Output => Kind::Output,
        };
        let signal = self.signal(name, width, kind);
        let port = Port { direction, name: name.to_owned(), width, doc: doc.to_owned() };
        self.content.borrow_mut().ports.push(port);
        signal.expr()
    }

    /// Declares a signal to be driven later, by [`Module::assign`], a block or an instance.
    #[track_caller]
    pub fn wire(&self, name: &str, width: u32) -> Expr {
        let signal = self.signal(name, width, Kind::Wire);
        self.push(Item::Declare(Rc::clone(&signal)));
        signal.expr()
    }

    /// Gives an intermediate value a name.
    #[track_caller]
    pub fn let_(&self, name: &str, value: impl Into<Expr>) -> Expr {
        let value = value.into();
        let wire = self.wire(name, value.width());
        self.assign(&wire, value);
        wire
    }

    /// Gives a value that is read in several places a name, unless it is a name or a literal. Unlike [`Module::let_`] it
    /// may be left unread, as where a parameter leaves out what would read it; then it is not written.
    #[track_caller]
    pub fn shared(&self, name: &str, value: impl Into<Expr>) -> Expr {
        let value = value.into();
        let is_name = match value.node() {
            Node::Slice(of, _) => matches!(of.node(), Node::Signal(_)),
            Node::Literal(_) | Node::Constant(..) | Node::Signal(_) => true,
            Node::Not(of) => matches!(of.node(), Node::Signal(_)),
            _ => false,
        };
        if is_name {
            return value;
        }
        let wire = self.let_(name, value);
        if let Node::Signal(signal) = wire.node() {
            self.content.borrow_mut().optional.insert(signal.id);
        }
        wire
    }

    /// Declares a constant with a name in `UpperCamelCase`.
    #[track_caller]
    pub fn constant(&self, name: &str, value: impl Into<Expr>) -> Expr {
        names::check_constant(name);
        let value = value.into();
        let Some(bits) = value.value().cloned() else {
            panic!("{name}: the value is not constant")
        };
        let signal = self.signal_unchecked(name, value.width(), Kind::Constant);
        self.push(Item::Constant(Rc::clone(&signal), bits.clone()));
        Expr::new(value.width(), Node::Constant(signal, bits))
    }

    /// Drives a whole signal permanently.
    ///
    /// # Panics
    ///
    /// If widths differ or the target cannot be driven.
    #[track_caller]
    pub fn assign(&self, target: &Expr, value: impl Into<Expr>) {
        let value = value.into();
        let target = Target::new(target, self.id);
        assert!(
            target.width == target.signal.width,
            "assign drives all of {}; parts of a signal are driven in one block",
            target.signal.name
        );
        check_owner(&value, self.id);
        check_widths(&target, &value);
        self.push(Item::Assign(target, value));
    }

    /// Adds a combinational block, whose statements together define some signals.
    pub fn comb(&self, body: impl FnOnce(&mut Block)) {
        let mut block = Block::new(self.id);
        body(&mut block);
        self.push(Item::Comb(block.stmts));
    }

    /// Adds a register `name_q` with next value `name_d`, set to `reset` by `rst_ni`.
    ///
    /// # Panics
    ///
    /// If the module is not clocked, or `reset` is not constant.
    #[track_caller]
    pub fn reg(&self, name: &str, reset: impl Into<Expr>) -> Reg {
        let reset = reset.into();
        self.register(name, reset.width(), Some(reset), None)
    }

    /// Adds a register that is updated only while `enable` is set.
    ///
    /// # Panics
    ///
    /// As [`Module::reg`], and if `enable` is wider than one bit.
    #[track_caller]
    pub fn reg_en(&self, name: &str, reset: impl Into<Expr>, enable: impl Into<Expr>) -> Reg {
        let reset = reset.into();
        self.register(name, reset.width(), Some(reset), Some(enable.into()))
    }

    /// Adds a register without reset that is updated only while `enable` is set: for data that is
    /// not read before it was written.
    ///
    /// # Panics
    ///
    /// As [`Module::reg_en`].
    #[track_caller]
    pub fn reg_data(&self, name: &str, width: u32, enable: impl Into<Expr>) -> Reg {
        self.register(name, width, None, Some(enable.into()))
    }

    #[track_caller]
    fn register(&self, name: &str, width: u32, reset: Option<Expr>, enable: Option<Expr>) -> Reg {
        self.needs_clock(name);
        if let Some(reset) = &reset {
            self.needs_reset(name);
            assert!(reset.value().is_some(), "{name}: the reset value is not constant");
        }
        if let Some(enable) = &enable {
            enable.is_bit("enable of a register");
            check_owner(enable, self.id);
        }
        let q = self.signal(&format!("{name}_q"), width, Kind::State);
        let d = self.signal(&format!("{name}_d"), width, Kind::Next(q.id));
        self.push(Item::DeclareRegister(Rc::clone(&d), Rc::clone(&q)));
        let reg = Reg { q: q.expr(), d: d.expr() };
        self.content.borrow_mut().body.registers.push(Register { q, d, reset, enable });
        reg
    }

    /// Adds a comment, preceded by a blank line.
    pub fn section(&self, text: &str) {
        self.push(Item::Section(text.to_owned()));
    }

    /// Declares that these bits are left unread on purpose.
    #[track_caller]
    pub fn unused(&self, expr: &Expr) {
        check_owner(expr, self.id);
        let Some(of) = first_signal(expr) else { panic!("no signal in what is unused") };
        let stem = of.name.strip_prefix("unused_").unwrap_or(&of.name);
        let taken = |name: &String| self.content.borrow().names.contains(name);
        let names = (0..).map(|n| match n {
            0 => format!("unused_{stem}"),
            n => format!("unused_{stem}_{n}"),
        });
        let Some(name) = names.into_iter().find(|name| !taken(name)) else { return };
        let sink = self.signal(&name, 1, Kind::Sink);
        self.push(Item::Unused(sink, expr.clone()));
    }

    /// Asserts that `holds` at every clock edge outside reset. Simulation and provers check it.
    #[track_caller]
    pub fn assert_always(&self, name: &str, holds: impl Into<Expr>) {
        self.property(PropertyKind::Assert, name, holds.into());
    }

    /// Asserts that `value` is the same at the clock edge after one at which it `waits`, as what a sender offers
    /// has to be until it is taken. Simulation checks it, with registers that only exist there; provers do not.
    #[track_caller]
    pub fn assert_stays(&self, name: &str, waits: impl Into<Expr>, value: impl Into<Expr>) {
        let (waits, value) = (waits.into(), value.into());
        waits.is_bit("property");
        check_owner(&waits, self.id);
        self.claim(&format!("{name}_waits_q"));
        self.claim(&format!("{name}_before_q"));
        self.add_property(PropertyKind::Stays, name, value, Some(waits));
    }

    /// Requires that the environment ensures `holds` at every clock edge outside reset. Simulation
    /// checks it; provers assume it.
    #[track_caller]
    pub fn assume_always(&self, name: &str, holds: impl Into<Expr>) {
        self.property(PropertyKind::Assume, name, holds.into());
    }

    /// Asks provers for a run in which `happens` at some clock edge outside reset.
    #[track_caller]
    pub fn cover(&self, name: &str, happens: impl Into<Expr>) {
        self.property(PropertyKind::Cover, name, happens.into());
    }

    #[track_caller]
    fn property(&self, kind: PropertyKind, name: &str, expr: Expr) {
        expr.is_bit("property");
        self.add_property(kind, name, expr, None);
    }

    #[track_caller]
    fn add_property(&self, kind: PropertyKind, name: &str, expr: Expr, waits: Option<Expr>) {
        self.needs_clock(name);
        self.needs_reset(name);
        check_owner(&expr, self.id);
        self.claim(name);
        let name = name.to_owned();
        self.content.borrow_mut().body.properties.push(Property { kind, name, expr, waits });
    }

    #[track_caller]
    pub(crate) fn signal(&self, name: &str, width: u32, kind: Kind) -> Rc<Signal> {
        names::check(name);
        self.signal_unchecked(name, width, kind)
    }

    #[track_caller]
    fn signal_unchecked(&self, name: &str, width: u32, kind: Kind) -> Rc<Signal> {
        assert!(width > 0, "{name} has no bits");
        self.claim_unchecked(name);
        let mut content = self.content.borrow_mut();
        let id = content.signals.len();
        let signal = Rc::new(Signal { name: name.to_owned(), width, kind, module: self.id, id });
        content.signals.push(Rc::clone(&signal));
        signal
    }

    #[track_caller]
    pub(crate) fn claim(&self, name: &str) {
        names::check(name);
        self.claim_unchecked(name);
    }

    #[track_caller]
    fn claim_unchecked(&self, name: &str) {
        let mut content = self.content.borrow_mut();
        let free = name != content.name && content.names.insert(name.to_owned());
        assert!(free, "the name {name} is taken in module {}", content.name);
    }

    #[track_caller]
    pub(crate) fn find(&self, name: &str) -> Rc<Signal> {
        let content = self.content.borrow();
        match content.signals.iter().find(|signal| signal.name == name) {
            Some(signal) => Rc::clone(signal),
            None => panic!("no signal {name} in module {}", content.name),
        }
    }

    #[track_caller]
    pub(crate) fn needs_clock(&self, name: &str) {
        let content = self.content.borrow();
        assert!(
            content.clocked,
            "{name} needs a clock, but module {} is not clocked",
            content.name
        );
    }

    #[track_caller]
    fn needs_reset(&self, name: &str) {
        let content = self.content.borrow();
        let has = content.ports.iter().any(|port| port.name == "rst_ni");
        assert!(has, "{name} needs a reset, but module {} has none", content.name);
    }

    pub(crate) fn push(&self, item: Item) {
        self.content.borrow_mut().body.items.push(item);
    }
}

fn first_signal(expr: &Expr) -> Option<&Signal> {
    match expr.node() {
        Node::Signal(signal) => Some(signal),
        _ => expr.operands().into_iter().find_map(first_signal),
    }
}
