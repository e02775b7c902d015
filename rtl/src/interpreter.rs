//! Runs modules without a simulator.

use crate::bits::Bits;
use crate::component::{Component, Direction, Item, PropertyKind, Register};
use crate::eval::{Scope, eval};
use crate::expr::Expr;
use crate::index::{Index, Variable};
use crate::signal::Signal;
use crate::stmt::Stmt;
use crate::target::{Part, Target};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Runs a component directly from its description, without the emitted text. It gives a second
/// opinion on the results of simulators, and is slow.
///
/// There are only zeros and ones; registers without reset and memories start as zeros.
#[derive(Debug)]
pub struct Interpreter {
    component: Component,
    values: Vec<Bits>,
    memories: BTreeMap<String, Vec<Bits>>,
    children: BTreeMap<String, Interpreter>,
    /// What had to stay at the last edge, by property.
    offered: BTreeMap<String, Bits>,
}

impl Interpreter {
    /// Creates an interpreter after a reset, with all inputs zero.
    #[must_use]
    pub fn new(component: &Component) -> Self {
        let content = component.content();
        let values = content.signals.iter().map(|signal| Bits::zero(signal.width)).collect();
        let mut memories = BTreeMap::new();
        let mut children = BTreeMap::new();
        for item in &component.source().items {
            match item {
                Item::Memory(memory) => {
                    let words = vec![Bits::zero(memory.width()); memory.depth() as usize];
                    memories.insert(memory.name().to_owned(), words);
                }
                Item::Instance(instance) => {
                    children.insert(instance.name.clone(), Interpreter::new(&instance.of));
                }
                _ => {}
            }
        }
        let mut new = Self {
            component: component.clone(),
            values,
            memories,
            children,
            offered: BTreeMap::new(),
        };
        new.reset();
        new
    }

    /// Resets all registers that have a reset.
    pub fn reset(&mut self) {
        self.offered.clear();
        let component = self.component.clone();
        for Register { q, reset, .. } in &component.source().registers {
            if let Some(value) = reset.as_ref().and_then(Expr::value) {
                self.values[q.id] = value.clone();
            }
        }
        self.children.values_mut().for_each(Interpreter::reset);
        self.settle();
    }

    /// Sets an input.
    ///
    /// # Panics
    ///
    /// If there is no such input, or its width differs.
    #[track_caller]
    pub fn set(&mut self, port: &str, value: Bits) {
        self.put(port, value);
        self.settle();
    }

    #[track_caller]
    fn put(&mut self, port: &str, value: Bits) {
        let id = self.port(port, Direction::Input, value.width());
        self.values[id] = value;
    }

    /// Sets several inputs at once.
    ///
    /// # Panics
    ///
    /// As [`Interpreter::set`].
    #[track_caller]
    pub fn set_all<'a>(&mut self, inputs: impl IntoIterator<Item = (&'a str, Bits)>) {
        inputs.into_iter().for_each(|(port, value)| self.put(port, value));
        self.settle();
    }

    /// The value of an output.
    ///
    /// # Panics
    ///
    /// If there is no such output.
    #[must_use]
    #[track_caller]
    pub fn get(&self, port: &str) -> Bits {
        let width = self.component.ports().iter().find(|p| p.name == port).map_or(0, |p| p.width);
        self.values[self.port(port, Direction::Output, width)].clone()
    }

    /// Everything that is stored: registers, and words of memories, by their path.
    #[must_use]
    pub fn state(&self) -> BTreeMap<String, Bits> {
        let registers = self.component.source().registers.iter();
        let registers =
            registers.map(|Register { q, .. }| (q.name.clone(), self.values[q.id].clone()));
        let words = self.memories.iter().flat_map(|(name, words)| {
            words.iter().enumerate().map(move |(i, word)| (format!("{name}[{i}]"), word.clone()))
        });
        let children = self.children.iter().flat_map(|(name, child)| {
            child.state().into_iter().map(move |(path, value)| (format!("{name}.{path}"), value))
        });
        registers.chain(words).chain(children).collect()
    }

    /// Simulates a rising edge of the clock, outside of reset. Returns the names of claims and
    /// requirements that did not hold.
    pub fn clock(&mut self) -> Vec<String> {
        let mut failed = Vec::new();
        self.edge(&mut failed);
        self.settle();
        failed
    }

    #[track_caller]
    fn port(&self, name: &str, direction: Direction, width: u32) -> usize {
        let content = self.component.content();
        let Some(port) = content.ports.iter().find(|p| p.name == name && p.direction == direction)
        else {
            panic!("{} has no such port {name}", content.name);
        };
        assert!(port.width == width, "port {name} has {} bits, {width} given", port.width);
        content.signals.iter().position(|signal| signal.name == name).unwrap_or_default()
    }

    /// Updates all state with its next value, computed from values that have settled.
    fn edge(&mut self, failed: &mut Vec<String>) {
        let component = self.component.clone();
        let content = component.content();
        for property in &component.source().properties {
            let holds = match (property.kind, &property.waits) {
                (PropertyKind::Cover, _) => true,
                (PropertyKind::Stays, waits) => {
                    let value = self.value(&property.expr);
                    let waits = waits.as_ref().is_some_and(|waits| self.value(waits).any());
                    let before = match waits {
                        true => self.offered.insert(property.name.clone(), value.clone()),
                        false => self.offered.remove(&property.name),
                    };
                    before.is_none_or(|before| before == value)
                }
                _ => self.value(&property.expr).any(),
            };
            if !holds {
                failed.push(format!("{}.{}", content.name, property.name));
            }
        }
        let mut next: Vec<(usize, Bits)> = Vec::new();
        for Register { q, d, enable, .. } in &component.source().registers {
            if enable.as_ref().is_none_or(|enable| self.value(enable).any()) {
                next.push((q.id, self.values[d.id].clone()));
            }
        }
        let mut writes = Vec::new();
        for item in &component.source().items {
            match item {
                Item::ReadClocked { memory, word, enable, address } if self.value(enable).any() => {
                    next.push((word.id, self.word(memory.name(), address)));
                }
                Item::Write { memory, enable, address, data } if self.value(enable).any() => {
                    let address = self.value(address).to_u128().unwrap_or(u128::MAX);
                    writes.push((memory.name(), address as usize, self.value(data)));
                }
                _ => {}
            }
        }
        self.children.values_mut().for_each(|child| child.edge(failed));
        for (id, value) in next {
            self.values[id] = value;
        }
        for (memory, address, data) in writes {
            let word = self.memories.get_mut(memory).and_then(|words| words.get_mut(address));
            word.into_iter().for_each(|word| *word = data.clone());
        }
    }

    /// Evaluates everything until nothing changes. This terminates, as was checked when the module
    /// was built.
    fn settle(&mut self) {
        let component = self.component.clone();
        loop {
            let before = self.values.clone();
            let mut blocks = component.facts().defaults.iter();
            for item in &component.source().items {
                match item {
                    Item::Assign(target, value) => {
                        self.values[target.signal.id] = self.value(value);
                    }
                    Item::Read { memory, word, address } => {
                        self.values[word.id] = self.word(memory.name(), address);
                    }
                    Item::Comb(stmts) => {
                        for (d, q) in blocks.next().into_iter().flatten() {
                            self.values[*d] = self.values[*q].clone();
                        }
                        self.run(stmts, &mut Vec::new());
                    }
                    Item::Instance(instance) => {
                        let inputs: Vec<(&str, Bits)> =
                            instance.inputs.iter().map(|(p, e)| (&**p, self.value(e))).collect();
                        let Some(child) = self.children.get_mut(&instance.name) else { continue };
                        inputs.into_iter().for_each(|(port, value)| child.put(port, value));
                        child.settle();
                        for (port, target) in &instance.outputs {
                            self.values[target.signal.id] = child.get(port);
                        }
                    }
                    _ => {}
                }
            }
            if self.values == before {
                break;
            }
        }
    }

    fn word(&self, memory: &str, address: &Expr) -> Bits {
        let words = &self.memories[memory];
        let address = self.value(address).to_u128().unwrap_or(u128::MAX) as usize;
        words.get(address).cloned().unwrap_or_else(|| Bits::zero(words[0].width()))
    }

    fn value(&self, e: &Expr) -> Bits {
        eval(e, &Values { values: &self.values, loops: &[] })
    }

    fn run(&mut self, stmts: &[Stmt], loops: &mut Vec<(Rc<Variable>, u32)>) {
        for stmt in stmts {
            let value = |e: &Expr| eval(e, &Values { values: &self.values, loops });
            match stmt {
                Stmt::Set(target, e) => {
                    let (lo, value) = (self.first_bit(target, loops), value(e));
                    if let Some(lo) = lo {
                        self.values[target.signal.id].set_slice(lo, &value);
                    }
                }
                Stmt::If(branches, otherwise) => {
                    let taken = branches.iter().find(|(condition, _)| value(condition).any());
                    self.run(taken.map_or(otherwise, |(_, body)| body), loops);
                }
                Stmt::Switch(subject, cases, default) => {
                    let subject = value(subject);
                    let is = |label: &Expr| label.value() == Some(&subject);
                    let taken = cases.iter().find(|(labels, _)| labels.iter().any(is));
                    self.run(taken.map_or(default, |(_, body)| body), loops);
                }
                Stmt::For(variable, body) => {
                    for i in variable.from..variable.to {
                        loops.push((Rc::clone(variable), i));
                        self.run(body, loops);
                        loops.pop();
                    }
                }
                Stmt::Note(_) => {}
            }
        }
    }

    /// The position that an assignment changes; `None` if it is past the end.
    fn first_bit(&self, target: &Target, loops: &[(Rc<Variable>, u32)]) -> Option<u32> {
        let scope = Values { values: &self.values, loops };
        match &target.part {
            Part::All => Some(0),
            Part::Slice(lo) => Some(scope.index(lo)),
            Part::Element(i) => {
                let lo = eval(i, &scope).to_u128()?.checked_mul(target.width.into())?;
                u32::try_from(lo).ok().filter(|lo| *lo < target.signal.width)
            }
        }
    }
}

struct Values<'a> {
    values: &'a [Bits],
    loops: &'a [(Rc<Variable>, u32)],
}

impl Scope for Values<'_> {
    fn signal(&self, signal: &Signal) -> Bits {
        self.values[signal.id].clone()
    }

    fn index(&self, index: &Index) -> u32 {
        let Some(variable) = &index.variable else { return index.offset };
        let found = self.loops.iter().rev().find(|(v, _)| Rc::ptr_eq(v, variable));
        found.map_or(0, |(_, value)| index.at(*value))
    }
}
