//! No signal depends on itself without a register in between.

use super::driven;
use crate::component::{Content, Instance, Item};
use crate::expr::Expr;
use crate::node::Node;
use crate::signal::Kind;
use crate::stmt::Stmt;
use std::collections::{BTreeMap, BTreeSet};

/// For every signal, the signals it is computed from.
type Graph = BTreeMap<usize, BTreeSet<usize>>;

/// Returns the inputs that every output depends on.
///
/// # Panics
///
/// If a signal depends on itself.
#[track_caller]
pub(super) fn check(content: &Content) -> BTreeMap<String, BTreeSet<String>> {
    let graph = graph(content);
    let mut done = BTreeMap::new();
    let name = |id: usize| &content.signals[id].name;
    for signal in &content.signals {
        let mut path = Vec::new();
        if let Some(cycle) = visit(signal.id, &graph, &mut path, &mut done) {
            let names: Vec<&str> = cycle.iter().map(|id| name(*id).as_str()).collect();
            panic!("combinational loop in module {}: {}", content.name, names.join(" <- "));
        }
    }
    let outputs = content.signals.iter().filter(|signal| signal.kind == Kind::Output);
    let inputs = |id: usize| {
        let from = done.get(&id).cloned().unwrap_or_default();
        let inputs = from.into_iter().filter(|id| content.signals[*id].kind == Kind::Input);
        inputs.map(|id| name(id).clone()).collect()
    };
    outputs.map(|signal| (signal.name.clone(), inputs(signal.id))).collect()
}

/// Finds everything that `id` depends on, or a cycle.
fn visit(id: usize, graph: &Graph, path: &mut Vec<usize>, done: &mut Graph) -> Option<Vec<usize>> {
    if done.contains_key(&id) {
        return None;
    }
    if let Some(start) = path.iter().position(|other| *other == id) {
        return Some(path[start..].iter().copied().chain([id]).collect());
    }
    path.push(id);
    let mut all = BTreeSet::new();
    for from in graph.get(&id).into_iter().flatten() {
        if let Some(cycle) = visit(*from, graph, path, done) {
            return Some(cycle);
        }
        all.insert(*from);
        all.extend(done.get(from).into_iter().flatten());
    }
    path.pop();
    done.insert(id, all);
    None
}

#[track_caller]
fn graph(content: &Content) -> Graph {
    let mut graph = Graph::new();
    for item in &content.body.items {
        match item {
            Item::Assign(target, value) => {
                graph.insert(target.signal.id, sources(value));
            }
            Item::Read { word, address, .. } => {
                graph.insert(word.id, sources(address));
            }
            Item::Comb(stmts) => {
                let mut block = Block { values: Graph::new() };
                driven(stmts).into_keys().for_each(|id| {
                    block.values.insert(id, BTreeSet::new());
                });
                block.stmts(stmts, &BTreeSet::new());
                graph.extend(block.values);
            }
            Item::Instance(instance) => through(instance, &mut graph),
            _ => {}
        }
    }
    graph
}

/// The signals in an expression. Which part of them is read does not matter here, so loops need not
/// be run.
fn sources(e: &Expr) -> BTreeSet<usize> {
    match e.node() {
        Node::Signal(signal) => BTreeSet::from([signal.id]),
        _ => e.operands().into_iter().flat_map(sources).collect(),
    }
}

fn through(instance: &Instance, graph: &mut Graph) {
    for (port, target) in &instance.outputs {
        let inputs = instance.of.facts().paths.get(port);
        let connected = instance
            .inputs
            .iter()
            .filter(|(name, _)| inputs.is_some_and(|inputs| inputs.contains(name)));
        graph.insert(target.signal.id, connected.flat_map(|(_, e)| sources(e)).collect());
    }
}

/// Signals outside of a block on which the signals it drives depend. Statements in a block are
/// executed in order, so a signal may be computed from its own earlier value.
struct Block {
    values: Graph,
}

impl Block {
    fn stmts(&mut self, stmts: &[Stmt], conditions: &BTreeSet<usize>) {
        for stmt in stmts {
            match stmt {
                Stmt::Set(target, value) => {
                    let mut from = self.outside(value);
                    if let crate::target::Part::Element(i) = &target.part {
                        from.extend(self.outside(i));
                    }
                    from.extend(conditions);
                    self.values.entry(target.signal.id).or_default().extend(from);
                }
                Stmt::If(branches, otherwise) => {
                    let mut conditions = conditions.clone();
                    for (condition, body) in branches {
                        conditions.extend(self.outside(condition));
                        self.stmts(body, &conditions);
                    }
                    self.stmts(otherwise, &conditions);
                }
                Stmt::Switch(subject, cases, default) => {
                    let mut conditions = conditions.clone();
                    conditions.extend(self.outside(subject));
                    cases.iter().for_each(|(_, body)| self.stmts(body, &conditions));
                    self.stmts(default, &conditions);
                }
                // A dependency added in one iteration may reach another signal in the next.
                Stmt::For(_, body) => loop {
                    let before = self.values.clone();
                    self.stmts(body, conditions);
                    if self.values == before {
                        break;
                    }
                },
                Stmt::Note(_) => {}
            }
        }
    }

    fn outside(&self, e: &Expr) -> BTreeSet<usize> {
        let mut from = BTreeSet::new();
        for id in sources(e) {
            match self.values.get(&id) {
                Some(values) => from.extend(values),
                None => {
                    from.insert(id);
                }
            }
        }
        from
    }
}
