//! A module under construction.

use crate::component::{Component, Direction, Port};
use crate::expr::Node;
use crate::item::{Body, Instance, Item, Property, PropertyKind, Register};
use crate::memory::Memory;
use crate::names;
use crate::signal::{Kind, ModuleId, Signal, Target, check_owner};
use crate::stmt::{Block, check_widths};
use crate::{Expr, check, lower};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Index;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A module under construction; [`Module::finish`] makes a [`Component`] of it.
///
/// All methods take `&self`, so that functions that add to a module can share it.
#[derive(Debug)]
pub struct Module {
    pub(crate) id: ModuleId,
    pub(crate) content: RefCell<Content>,
}

/// What a module consists of, in the order it was written.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) clocked: bool,
    pub(crate) ports: Vec<Port>,
    pub(crate) signals: Vec<Rc<Signal>>,
    pub(crate) names: BTreeSet<String>,
    pub(crate) body: Body,
    pub(crate) children: Vec<Component>,
}

/// A register: its output and its next value.
///
/// A block that drives `d` on some paths only leaves it at `q` on the others.
#[derive(Clone, Debug)]
pub struct Reg {
    /// The output, `name_q`.
    pub q: Expr,
    /// The next value, `name_d`.
    pub d: Expr,
}

/// The outputs of an instance, by name of the port: `outputs["valid_o"]`.
#[derive(Clone, Debug)]
pub struct Outputs {
    instance: String,
    outputs: Vec<(String, Expr)>,
}

impl Index<&str> for Outputs {
    type Output = Expr;

    /// # Panics
    ///
    /// If there is no such output.
    #[track_caller]
    fn index(&self, port: &str) -> &Expr {
        match self.outputs.iter().find(|(name, _)| name == port) {
            Some((_, expr)) => expr,
            None => panic!("{} has no output {port}", self.instance),
        }
    }
}

impl Module {
    /// Starts a module. `doc` is the comment above it: what it does, and what it does not.
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

    /// With a clock `clk_i` and an asynchronous reset `rst_ni`, active low.
    #[must_use]
    #[track_caller]
    pub fn clocked(self) -> Self {
        self.content.borrow_mut().clocked = true;
        self.input("clk_i", 1, "");
        self.input("rst_ni", 1, "");
        self
    }

    /// An input.
    ///
    /// # Panics
    ///
    /// If the name is taken or reserved, as with everything named.
    #[track_caller]
    pub fn input(&self, name: &str, width: u32, doc: &str) -> Expr {
        self.port(Direction::Input, name, width, doc)
    }

    /// An output. It can be read as well.
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

    /// A signal to be driven later, by [`Module::assign`], a block or an instance.
    #[track_caller]
    pub fn wire(&self, name: &str, width: u32) -> Expr {
        let signal = self.signal(name, width, Kind::Wire);
        self.push(Item::Declare(Rc::clone(&signal)));
        signal.expr()
    }

    /// A name for an intermediate value.
    #[track_caller]
    pub fn let_(&self, name: &str, value: impl Into<Expr>) -> Expr {
        let value = value.into();
        let wire = self.wire(name, value.width());
        self.assign(&wire, value);
        wire
    }

    /// A constant with a name, `UpperCamelCase`.
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

    /// Drives a whole signal, always.
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

    /// Statements that say together what some signals are.
    pub fn comb(&self, body: impl FnOnce(&mut Block)) {
        let mut block = Block::new(self.id);
        body(&mut block);
        self.push(Item::Comb(block.stmts));
    }

    /// A register `name_q` with next value `name_d`, set to `reset` by `rst_ni`.
    ///
    /// # Panics
    ///
    /// If the module is not clocked, or `reset` is not constant.
    #[track_caller]
    pub fn reg(&self, name: &str, reset: impl Into<Expr>) -> Reg {
        let reset = reset.into();
        self.register(name, reset.width(), Some(reset), None)
    }

    /// A register that takes its next value only while `enable` is set.
    ///
    /// # Panics
    ///
    /// As [`Module::reg`], and if `enable` is wider than a bit.
    #[track_caller]
    pub fn reg_en(&self, name: &str, reset: impl Into<Expr>, enable: impl Into<Expr>) -> Reg {
        let reset = reset.into();
        self.register(name, reset.width(), Some(reset), Some(enable.into()))
    }

    /// A register without reset that takes its next value only while `enable` is set: for data that
    /// is not looked at before it was written.
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

    /// A memory of `depth` words with one write port; see [`Module::write`], [`Module::read`] and
    /// [`Module::read_clocked`]. What is read before it was written is not defined.
    ///
    /// # Panics
    ///
    /// If the module is not clocked, or there are less than two words.
    #[track_caller]
    pub fn memory(&self, name: &str, width: u32, depth: u32) -> Memory {
        self.needs_clock(name);
        assert!(depth >= 2, "{name}: a memory of {depth} words");
        self.claim(name);
        let memory = Memory::new(name, width, depth, self.id);
        self.push(Item::Memory(memory.clone()));
        memory
    }

    /// The write port of a memory.
    ///
    /// # Panics
    ///
    /// If widths do not fit, or the memory has a write port already.
    #[track_caller]
    pub fn write(
        &self,
        memory: &Memory,
        enable: impl Into<Expr>,
        address: impl Into<Expr>,
        data: impl Into<Expr>,
    ) {
        let (enable, address, data) = (enable.into(), address.into(), data.into());
        self.check_access(memory, &[&enable, &address, &data], &address);
        enable.is_bit("write enable");
        let (name, width) = (memory.name(), memory.width());
        assert!(data.width() == width, "{name}: words of {width} bits, data of {}", data.width());
        let written = self.content.borrow().body.items.iter().any(|item| match item {
            Item::Write { memory, .. } => memory.name() == name,
            _ => false,
        });
        assert!(!written, "{name}: a memory has one write port");
        self.push(Item::Write { memory: memory.clone(), enable, address, data });
    }

    /// An asynchronous read port called `name`: LUT RAM.
    ///
    /// # Panics
    ///
    /// If the address has not the width of [`Memory::address_width`].
    #[track_caller]
    pub fn read(&self, memory: &Memory, name: &str, address: impl Into<Expr>) -> Expr {
        let address = address.into();
        self.check_access(memory, &[&address], &address);
        let word = self.signal(name, memory.width(), Kind::State);
        self.push(Item::Read { memory: memory.clone(), word: Rc::clone(&word), address });
        word.expr()
    }

    /// A synchronous read port: `name_q` is the word at `address` when `enable` was last set, as it was
    /// before a write in the same cycle. Block RAM.
    ///
    /// # Panics
    ///
    /// If the address has not the width of [`Memory::address_width`].
    #[track_caller]
    pub fn read_clocked(
        &self,
        memory: &Memory,
        name: &str,
        enable: impl Into<Expr>,
        address: impl Into<Expr>,
    ) -> Expr {
        let (enable, address) = (enable.into(), address.into());
        enable.is_bit("read enable");
        self.check_access(memory, &[&enable, &address], &address);
        let word = self.signal(&format!("{name}_q"), memory.width(), Kind::State);
        let expr = word.expr();
        self.push(Item::ReadClocked { memory: memory.clone(), word, enable, address });
        expr
    }

    #[track_caller]
    fn check_access(&self, memory: &Memory, exprs: &[&Expr], address: &Expr) {
        let (name, width) = (memory.name(), memory.address_width());
        assert!(memory.module() == self.id, "{name} belongs to another module");
        assert!(
            address.width() == width,
            "{name}: an address has {width} bits, {} given",
            address.width()
        );
        exprs.iter().for_each(|expr| check_owner(expr, self.id));
    }

    /// An instance. Every input is connected by name, clock and reset by themselves; an output may be
    /// connected to a signal of this module, otherwise it becomes a signal of its own.
    ///
    /// # Panics
    ///
    /// If a port does not exist, an input is missing or widths differ.
    #[track_caller]
    pub fn inst(&self, name: &str, of: &Component, connections: &[(&str, &Expr)]) -> Outputs {
        for (i, (port, _)) in connections.iter().enumerate() {
            let known = of.ports().iter().any(|p| p.name == *port);
            assert!(known, "{} has no port {port}", of.name());
            let twice = connections[..i].iter().any(|(other, _)| other == port);
            assert!(!twice, "{name}: port {port} is connected twice");
        }
        self.claim(name);
        let (mut inputs, mut outputs, mut exprs) = (Vec::new(), Vec::new(), Vec::new());
        for port in of.ports() {
            let given = connections.iter().find(|(p, _)| *p == port.name).map(|(_, e)| *e);
            let width = given.map_or(port.width, Expr::width);
            assert!(
                width == port.width,
                "{name}: port {} has {} bits, {width} given",
                port.name,
                port.width
            );
            match (port.direction, given) {
                (Direction::Input, Some(expr)) => {
                    check_owner(expr, self.id);
                    inputs.push((port.name.clone(), expr.clone()));
                }
                (Direction::Input, None) if of.clocked() && port.is_clock_or_reset() => {
                    self.needs_clock(name);
                    let signal = self.find(&port.name);
                    inputs.push((port.name.clone(), signal.expr()));
                }
                (Direction::Input, None) => panic!("{name}: input {} is not connected", port.name),
                (Direction::Output, Some(expr)) => {
                    let target = Target::new(expr, self.id);
                    assert!(
                        target.width == target.signal.width,
                        "{name}: output {} drives a part of a signal only",
                        port.name
                    );
                    exprs.push((port.name.clone(), target.signal.expr()));
                    outputs.push((port.name.clone(), target));
                }
                (Direction::Output, None) => {
                    let stem = name.strip_prefix("i_").unwrap_or(name);
                    let end = port.name.strip_suffix("_o").unwrap_or(&port.name);
                    let wire = self.wire(&format!("{stem}_{end}"), port.width);
                    outputs.push((port.name.clone(), Target::new(&wire, self.id)));
                    exprs.push((port.name.clone(), wire));
                }
            }
        }
        let instance = Instance { name: name.to_owned(), of: of.clone(), inputs, outputs };
        self.push(Item::Instance(instance));
        self.content.borrow_mut().children.push(of.clone());
        Outputs { instance: name.to_owned(), outputs: exprs }
    }

    /// A comment with a blank line before it.
    pub fn section(&self, text: &str) {
        self.push(Item::Section(text.to_owned()));
    }

    /// Says that these bits are left unread on purpose.
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

    /// Claims that `holds` at every clock edge outside reset. Checked in simulation and by provers.
    #[track_caller]
    pub fn assert_always(&self, name: &str, holds: impl Into<Expr>) {
        self.property(PropertyKind::Assert, name, holds.into());
    }

    /// Requires of the surroundings that `holds` at every clock edge outside reset. Checked in
    /// simulation, taken for granted by provers.
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
        self.needs_clock(name);
        expr.is_bit("property");
        check_owner(&expr, self.id);
        self.claim(name);
        let name = name.to_owned();
        self.content.borrow_mut().body.properties.push(Property { kind, name, expr });
    }

    /// Checks the module as a whole.
    ///
    /// # Panics
    ///
    /// If a signal has no driver or two, keeps its value on some path through a block (a latch), is
    /// read in a block before it is assigned there, depends on itself, or is never read.
    #[must_use]
    #[track_caller]
    pub fn finish(self) -> Component {
        self.sink_clock();
        let mut content = self.content.into_inner();
        let source = lower::module(&mut content, self.id);
        let facts = check::check(&content);
        Component::new(content, source, facts)
    }

    /// A clock or reset that nothing needs is no mistake: a module may have its ports for the sake of
    /// its siblings.
    fn sink_clock(&self) {
        let (clock, reset) = {
            let content = self.content.borrow();
            if !content.clocked {
                return;
            }
            let below = content.children.iter().any(Component::clocked);
            let always = below || !content.body.properties.is_empty();
            let reset = content.body.registers.iter().any(|register| register.reset.is_some());
            let memory = content.body.items.iter().any(|item| matches!(item, Item::Memory(_)));
            (always || memory || !content.body.registers.is_empty(), always || reset)
        };
        for (name, needed) in [("clk_i", clock), ("rst_ni", reset)] {
            if !needed {
                self.unused(&self.find(name).expr());
            }
        }
    }

    #[track_caller]
    fn signal(&self, name: &str, width: u32, kind: Kind) -> Rc<Signal> {
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
    fn claim(&self, name: &str) {
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
    fn find(&self, name: &str) -> Rc<Signal> {
        let content = self.content.borrow();
        match content.signals.iter().find(|signal| signal.name == name) {
            Some(signal) => Rc::clone(signal),
            None => panic!("no signal {name} in module {}", content.name),
        }
    }

    #[track_caller]
    fn needs_clock(&self, name: &str) {
        let content = self.content.borrow();
        assert!(
            content.clocked,
            "{name} needs a clock, but module {} is not clocked",
            content.name
        );
    }

    fn push(&self, item: Item) {
        self.content.borrow_mut().body.items.push(item);
    }
}

fn first_signal(expr: &Expr) -> Option<&Signal> {
    match expr.node() {
        Node::Signal(signal) => Some(signal),
        _ => expr.operands().into_iter().find_map(first_signal),
    }
}
