//! Lowers modules to a form that every tool understands.
//!
//! Only a name can be sliced, and a truncating cast is not an alternative: yosys 0.23 gives an
//! expression that contains one the width of the operand before truncation. Therefore slices are
//! moved towards the names, where that is exact, and any other sliced expression gets a name. The
//! value of a loop variable, which has 32 bits, gets a name for the same reason, unless it stands
//! alone.

mod prune;
mod slice;

use crate::component::{Body, Content, Item};
use crate::expr::Expr;
use crate::names;
use crate::node::Node;
use crate::signal::{Kind, ModuleId, Signal};
use crate::stmt::Stmt;
use crate::target::{Part, Target};
use crate::{check, zero};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Lowers a module and returns its original body. New names are added to its signals.
pub(crate) fn module(content: &mut Content, id: ModuleId) -> Body {
    let written = check::read_bits(&content.signals, &content.body);
    let body = std::mem::take(&mut content.body);
    let mut lower = Lower {
        content,
        id,
        hint: String::new(),
        named: vec![],
        known: BTreeMap::new(),
        before: vec![],
        block: None,
    };
    let mut lowered = Body::default();
    for item in &body.items {
        let item = lower.item(item);
        lowered.items.append(&mut lower.before);
        lowered.items.push(item);
    }
    for register in &body.registers {
        let mut register = register.clone();
        lower.hint = register.q.name.clone();
        register.enable = register.enable.map(|enable| lower.expr(&enable));
        lowered.registers.push(register);
    }
    for property in &body.properties {
        let mut property = property.clone();
        lower.hint = property.name.clone();
        property.expr = lower.expr(&property.expr);
        property.waits = property.waits.map(|waits| lower.expr(&waits));
        lowered.properties.push(property);
    }
    lowered.items.append(&mut lower.before);
    content.body = lowered;
    prune::prune(content, id, &written);
    body
}

fn signal_of(e: &Expr) -> Option<&Rc<Signal>> {
    match e.node() {
        Node::Signal(signal) => Some(signal),
        _ => None,
    }
}

struct Lower<'a> {
    content: &'a mut Content,
    id: ModuleId,
    /// Prefix of new names.
    hint: String,
    /// Expressions that have a name, with the name.
    named: Vec<(Option<Expr>, Expr)>,
    /// The values of names that turned out to be constant.
    known: BTreeMap<usize, Expr>,
    /// Items that must be declared and assigned before the current item.
    before: Vec<Item>,
    block: Option<Block>,
}

/// The current combinational block.
struct Block {
    driven: BTreeSet<usize>,
    /// Statements that must precede the current statement.
    before: Vec<Stmt>,
    /// Initial values for signals that are assigned on some paths only.
    defaults: Vec<Stmt>,
    depth: u32,
}

impl Lower<'_> {
    fn item(&mut self, item: &Item) -> Item {
        match item {
            Item::Assign(target, value) => {
                self.hint = target.signal.name.clone();
                let value = self.expr(value);
                if target.signal.kind == Kind::Wire && matches!(value.node(), Node::Literal(_)) {
                    self.known.insert(target.signal.id, value.clone());
                }
                Item::Assign(target.clone(), value)
            }
            Item::Comb(stmts) => Item::Comb(self.block(stmts)),
            Item::Instance(instance) => {
                let mut instance = instance.clone();
                for (port, value) in &mut instance.inputs {
                    self.hint = format!("{}_{port}", instance.name);
                    *value = self.expr(value);
                }
                Item::Instance(instance)
            }
            Item::Write { memory, enable, address, data } => {
                self.hint = format!("{}_write", memory.name());
                let (enable, address) = (self.expr(enable), self.expr(address));
                Item::Write { memory: memory.clone(), enable, address, data: self.expr(data) }
            }
            Item::Read { memory, word, address } => {
                self.hint = format!("{}_address", word.name);
                let (memory, word) = (memory.clone(), Rc::clone(word));
                Item::Read { memory, word, address: self.expr(address) }
            }
            Item::ReadClocked { memory, word, enable, address } => {
                self.hint = format!("{}_address", word.name);
                let (enable, address) = (self.expr(enable), self.expr(address));
                let (memory, word) = (memory.clone(), Rc::clone(word));
                Item::ReadClocked { memory, word, enable, address }
            }
            Item::Unused(sink, value) => {
                self.hint = sink.name.clone();
                Item::Unused(Rc::clone(sink), self.expr(value))
            }
            Item::Section(_) | Item::Declare(_) | Item::DeclareRegister(..) => item.clone(),
            Item::Constant(..) | Item::Memory(_) => item.clone(),
        }
    }

    fn block(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let driven = check::driven(stmts).into_keys().collect();
        self.block = Some(Block { driven, before: vec![], defaults: vec![], depth: 0 });
        let lowered = self.stmts(stmts);
        let mut all = self.block.take().map(|block| block.defaults).unwrap_or_default();
        all.extend(lowered);
        all
    }

    fn nested(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        self.deeper(1);
        let lowered = self.stmts(stmts);
        self.deeper(-1);
        lowered
    }

    fn deeper(&mut self, by: i32) {
        if let Some(block) = &mut self.block {
            block.depth = block.depth.saturating_add_signed(by);
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut lowered = Vec::new();
        for stmt in stmts {
            // The expressions of a statement come first: the statements they need precede it.
            let (head, bodies) = self.head(stmt);
            if let Some(block) = &mut self.block {
                lowered.append(&mut block.before);
            }
            lowered.push(self.body(head, bodies));
        }
        lowered
    }

    /// Lowers the expressions of a statement, but not the statements in it.
    fn head<'s>(&mut self, stmt: &'s Stmt) -> (Stmt, Vec<&'s [Stmt]>) {
        match stmt {
            Stmt::Set(target, value) => {
                self.hint = target.signal.name.clone();
                let alone = matches!(value.node(), Node::Index(_));
                let value = if alone { value.clone() } else { self.expr(value) };
                (self.set(target, value), vec![])
            }
            Stmt::If(branches, otherwise) => {
                let mut bodies: Vec<&[Stmt]> = Vec::new();
                let mut heads = Vec::new();
                for (condition, body) in branches {
                    self.hint = "condition".to_owned();
                    heads.push((self.expr(condition), vec![]));
                    bodies.push(body);
                }
                bodies.push(otherwise);
                (Stmt::If(heads, vec![]), bodies)
            }
            Stmt::Switch(subject, cases, default) => {
                self.hint = "subject".to_owned();
                let heads = cases.iter().map(|(labels, _)| (labels.clone(), vec![])).collect();
                let mut bodies: Vec<&[Stmt]> = cases.iter().map(|(_, body)| &**body).collect();
                bodies.push(default);
                (Stmt::Switch(self.expr(subject), heads, vec![]), bodies)
            }
            Stmt::For(variable, body) => (Stmt::For(Rc::clone(variable), vec![]), vec![body]),
            Stmt::Note(text) => (Stmt::Note(text.clone()), vec![]),
        }
    }

    /// Values assigned past the end of a vector are lost.
    fn set(&mut self, target: &Target, value: Expr) -> Stmt {
        let Part::Element(i) = &target.part else { return Stmt::Set(target.clone(), value) };
        let (within, i) = self.element(target.signal.width / target.width, i);
        let part = i.map_or(Part::All, Part::Element);
        let set = Stmt::Set(Target { part, ..target.clone() }, value);
        match within {
            Some(within) => Stmt::If(vec![(within, vec![set])], vec![]),
            None => set,
        }
    }

    /// Inserts the lowered bodies of a statement.
    fn body(&mut self, head: Stmt, bodies: Vec<&[Stmt]>) -> Stmt {
        if bodies.is_empty() {
            return head;
        }
        let mut bodies = bodies.into_iter().map(|body| self.nested(body)).collect::<Vec<_>>();
        let last = bodies.pop().unwrap_or_default();
        match head {
            Stmt::If(heads, _) => {
                let branches = heads.into_iter().zip(bodies).map(|((e, _), body)| (e, body));
                Stmt::If(branches.collect(), last)
            }
            Stmt::Switch(subject, heads, _) => {
                let cases = heads.into_iter().zip(bodies).map(|((e, _), body)| (e, body));
                Stmt::Switch(subject, cases.collect(), last)
            }
            Stmt::For(variable, _) => Stmt::For(variable, last),
            Stmt::Set(..) | Stmt::Note(_) => head,
        }
    }

    /// Gives an expression a name.
    fn name(&mut self, e: &Expr) -> Expr {
        let known = self.named.iter().find(|(of, _)| of.as_ref().is_some_and(|of| of.same(e)));
        if let Some((_, name)) = known {
            return name.clone();
        }
        let lowered = self.expr(e);
        match signal_of(&lowered) {
            Some(_) => lowered,
            None => self.new_name("full", e, lowered),
        }
    }

    /// Creates a name for an expression. If its value depends on the position in a block, it is
    /// assigned at that position.
    fn new_name(&mut self, suffix: &str, of: &Expr, lowered: Expr) -> Expr {
        let stem = format!("{}_{suffix}", self.hint.trim_end_matches("_o"));
        let signal = self.content.new_signal(&stem, lowered.width(), Kind::Wire, self.id);
        self.before.push(Item::Declare(Rc::clone(&signal)));
        let name = signal.expr();
        let target = Target::new(&name, self.id);
        match &mut self.block {
            Some(block) if changes(&lowered, &block.driven) => {
                if block.depth > 0 {
                    block.defaults.push(Stmt::Set(target.clone(), zero(lowered.width())));
                }
                block.before.push(Stmt::Set(target, lowered));
                block.driven.insert(signal.id);
                self.named.push((None, name.clone()));
            }
            _ => {
                self.before.push(Item::Assign(target, lowered));
                self.named.push((Some(of.clone()), name.clone()));
            }
        }
        name
    }
}

/// Whether the text is a name, possibly with a range, or a number.
fn is_plain(e: &Expr) -> bool {
    match e.node() {
        Node::Signal(_) | Node::Constant(..) | Node::Literal(_) => true,
        Node::Slice(a, _) => signal_of(a).is_some(),
        _ => false,
    }
}

/// Whether the value depends on signals that a block drives, or on a loop.
fn changes(e: &Expr, driven: &BTreeSet<usize>) -> bool {
    match e.node() {
        Node::Signal(signal) => driven.contains(&signal.id),
        Node::Index(_) => true,
        Node::Slice(_, lo) if lo.constant().is_none() => true,
        _ => e.operands().into_iter().any(|operand| changes(operand, driven)),
    }
}

impl Content {
    /// Creates a signal with an unused name that starts with `stem`.
    fn new_signal(&mut self, stem: &str, width: u32, kind: Kind, module: ModuleId) -> Rc<Signal> {
        let mut n = 0;
        let name = loop {
            let name = if n == 0 { stem.to_owned() } else { format!("{stem}_{n}") };
            if !self.names.contains(&name) {
                break name;
            }
            n += 1;
        };
        names::check(&name);
        self.names.insert(name.clone());
        let signal = Rc::new(Signal { name, width, kind, module, id: self.signals.len() });
        self.signals.push(Rc::clone(&signal));
        signal
    }
}
