//! Finds what a module says more than once.

use crate::component::{Component, Item};
use crate::emit;
use crate::expr::Expr;
use crate::node::Node;
use crate::stmt::Stmt;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A clause that a module contains more than once, and should have a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// Its text.
    pub clause: String,
    /// How often the module contains it, outside of other repeated clauses.
    pub times: usize,
}

impl Component {
    /// The clauses of at least `least` operands that are repeated in the text of this module, the largest first.
    #[must_use]
    pub fn repeated(&self, least: usize) -> Vec<Repeated> {
        let mut found = BTreeMap::new();
        each(self, &mut |e| {
            count(e, least, &mut found);
        });
        let mut found: Vec<(usize, Repeated)> = found
            .into_iter()
            .filter(|(_, (_, times))| *times > 1)
            .map(|(clause, (operands, times))| (operands, Repeated { clause, times }))
            .collect();
        found.sort_by_key(|(operands, _)| Reverse(*operands));
        // What is repeated within something larger that is repeated just as often is no finding of its own.
        let mut kept: Vec<Repeated> = Vec::new();
        for (_, repeated) in found {
            let within = |larger: &Repeated| {
                larger.times >= repeated.times && larger.clause.contains(&repeated.clause)
            };
            if !kept.iter().any(within) {
                kept.push(repeated);
            }
        }
        kept
    }
}

/// Calls `visit` for every expression of a module that is not part of another.
fn each(component: &Component, visit: &mut dyn FnMut(&Expr)) {
    let body = &component.content().body;
    for item in &body.items {
        match item {
            Item::Assign(_, value) => visit(value),
            Item::Comb(stmts) => of_stmts(stmts, visit),
            Item::Instance(instance) => instance.inputs.iter().for_each(|(_, value)| visit(value)),
            Item::Write { enable, address, data, .. } => {
                [enable, address, data].into_iter().for_each(&mut *visit);
            }
            Item::Read { address, .. } => visit(address),
            Item::ReadClocked { enable, address, .. } => {
                [enable, address].into_iter().for_each(&mut *visit);
            }
            _ => {}
        }
    }
}

fn of_stmts(stmts: &[Stmt], visit: &mut dyn FnMut(&Expr)) {
    for stmt in stmts {
        match stmt {
            Stmt::Set(_, value) => visit(value),
            Stmt::If(branches, otherwise) => {
                for (condition, body) in branches {
                    visit(condition);
                    of_stmts(body, visit);
                }
                of_stmts(otherwise, visit);
            }
            Stmt::Switch(subject, cases, default) => {
                visit(subject);
                cases.iter().for_each(|(_, body)| of_stmts(body, visit));
                of_stmts(default, visit);
            }
            Stmt::For(_, body) => of_stmts(body, visit),
            Stmt::Note(_) => {}
        }
    }
}

/// Counts the clauses of an expression. Returns its number of operands: names and numbers, of which `x[3:0]` is one.
fn count(e: &Expr, least: usize, found: &mut BTreeMap<String, (usize, usize)>) -> usize {
    let operands = match e.node() {
        Node::Slice(..) => 1,
        _ => {
            let parts: usize = e.operands().into_iter().map(|part| count(part, least, found)).sum();
            parts.max(1)
        }
    };
    if operands >= least && !is_list(e) {
        found.entry(emit::text_of(e)).or_insert((operands, 0)).1 += 1;
    }
    operands
}

/// A list of signals is not logic.
fn is_list(e: &Expr) -> bool {
    match e.node() {
        Node::Concat(_) => true,
        Node::Zext(of) => is_list(of),
        _ => false,
    }
}
