//! Finds the bits that are read.

use crate::component::{Body, Item};
use crate::expr::Expr;
use crate::index::{Index, Variable};
use crate::node::Node;
use crate::signal::Signal;
use crate::stmt::Stmt;
use crate::target::{Part, Target};
use std::rc::Rc;

/// The values of the variables of the enclosing loops.
#[derive(Debug, Default)]
pub(crate) struct Loops(Vec<(Rc<Variable>, u32)>);

impl Loops {
    /// Runs `body` for each value of the variable.
    pub(crate) fn each(&mut self, variable: &Rc<Variable>, mut body: impl FnMut(&mut Self)) {
        for value in variable.from..variable.to {
            self.0.push((Rc::clone(variable), value));
            body(self);
            self.0.pop();
        }
    }

    /// # Panics
    ///
    /// If the variable does not belong to an enclosing loop: an index that escaped from its
    /// loop.
    #[track_caller]
    pub(crate) fn value(&self, index: &Index) -> u32 {
        let Some(variable) = &index.variable else { return index.offset };
        let found = self.0.iter().rev().find(|(v, _)| Rc::ptr_eq(v, variable));
        match found {
            Some((_, value)) => index.at(*value),
            None => panic!("index {} is used outside of its loop", variable.name),
        }
    }
}

/// Reports every signal, or part of one, that the expression reads: signal, first bit, width.
#[track_caller]
pub(crate) fn of_expr<'a>(
    e: &'a Expr,
    loops: &Loops,
    report: &mut dyn FnMut(&'a Signal, u32, u32),
) {
    match e.node() {
        Node::Signal(signal) | Node::Constant(signal, _) => report(signal, 0, signal.width),
        Node::Slice(of, lo) => match of.node() {
            Node::Signal(signal) => report(signal, loops.value(lo), e.width()),
            _ => {
                loops.value(lo);
                of_expr(of, loops, report);
            }
        },
        Node::Select(of, i) => {
            of_expr(i, loops, report);
            match of.node() {
                Node::Signal(signal) => {
                    let reach = u64::from(e.width()) << i.width().min(31);
                    report(signal, 0, reach.min(signal.width.into()) as u32);
                }
                _ => of_expr(of, loops, report),
            }
        }
        Node::Index(index) => {
            loops.value(index);
        }
        _ => e.operands().into_iter().for_each(|operand| of_expr(operand, loops, report)),
    }
}

/// The same for the left side of an assignment, which reads the index of an element.
#[track_caller]
pub(crate) fn of_target<'a>(
    target: &'a Target,
    loops: &Loops,
    report: &mut dyn FnMut(&'a Signal, u32, u32),
) {
    match &target.part {
        Part::Element(i) => of_expr(i, loops, report),
        Part::Slice(lo) => {
            loops.value(lo);
        }
        Part::All => {}
    }
}

/// For every signal of a module, the bits that its body reads.
#[track_caller]
pub(crate) fn of_body(signals: &[Rc<Signal>], body: &Body) -> Vec<Vec<bool>> {
    let mut seen: Vec<Vec<bool>> =
        signals.iter().map(|signal| vec![false; signal.width as usize]).collect();
    let mut report = |signal: &Signal, lo: u32, width: u32| {
        seen[signal.id][lo as usize..(lo + width) as usize].fill(true);
    };
    let loops = &mut Loops::default();
    for item in &body.items {
        if let Item::Comb(stmts) = item {
            of_stmts(stmts, loops, &mut report);
        }
        of_item(item).into_iter().for_each(|e| of_expr(e, loops, &mut report));
    }
    let enables = body.registers.iter().filter_map(|register| register.enable.as_ref());
    let resets = body.registers.iter().filter_map(|register| register.reset.as_ref());
    let properties = body.properties.iter().flat_map(|p| std::iter::once(&p.expr).chain(&p.waits));
    enables.chain(resets).chain(properties).for_each(|e| of_expr(e, loops, &mut report));
    let clock = signals.iter().filter(|s| s.name == "clk_i" || s.name == "rst_ni");
    // Clocks and resets that no register needs have their own sink.
    clock.for_each(|signal| report(signal, 0, signal.width));
    seen
}

/// The expressions of an item that is not a block.
fn of_item(item: &Item) -> Vec<&Expr> {
    match item {
        Item::Assign(_, value) | Item::Unused(_, value) => vec![value],
        Item::Instance(instance) => instance.inputs.iter().map(|(_, e)| e).collect(),
        Item::Write { enable, address, data, .. } => vec![enable, address, data],
        Item::Read { address, .. } => vec![address],
        Item::ReadClocked { enable, address, .. } => vec![enable, address],
        Item::Section(_) | Item::Declare(_) | Item::DeclareRegister(..) => vec![],
        Item::Constant(..) | Item::Comb(_) | Item::Memory(_) => vec![],
    }
}

#[track_caller]
fn of_stmts<'a>(
    stmts: &'a [Stmt],
    loops: &mut Loops,
    report: &mut dyn FnMut(&'a Signal, u32, u32),
) {
    for stmt in stmts {
        match stmt {
            Stmt::Set(target, value) => {
                of_target(target, loops, report);
                of_expr(value, loops, report);
            }
            Stmt::If(branches, otherwise) => {
                for (condition, body) in branches {
                    of_expr(condition, loops, report);
                    of_stmts(body, loops, report);
                }
                of_stmts(otherwise, loops, report);
            }
            Stmt::Switch(subject, cases, default) => {
                of_expr(subject, loops, report);
                for (labels, body) in cases {
                    labels.iter().for_each(|label| of_expr(label, loops, report));
                    of_stmts(body, loops, report);
                }
                of_stmts(default, loops, report);
            }
            Stmt::For(variable, body) => {
                loops.each(variable, |loops| of_stmts(body, loops, report));
            }
            Stmt::Note(_) => {}
        }
    }
}
