//! Every path through a block must assign each signal that the block drives before reading it.

use super::driven;
use super::reads::{self, Loops};
use crate::component::Content;
use crate::expr::Expr;
use crate::signal::Kind;
use crate::stmt::Stmt;
use crate::target::{Part, Target};
use std::collections::BTreeMap;

/// For every signal that the block drives, the bits that are assigned on every path so far.
type Assigned = BTreeMap<usize, Vec<bool>>;

/// Returns the next values of registers that are not assigned on every path before they are read,
/// and therefore need the register's output as a default.
///
/// # Panics
///
/// If another signal is not assigned in this way: it would be a latch, or old values would be read.
#[track_caller]
pub(super) fn check(content: &Content, stmts: &[Stmt]) -> Vec<(usize, usize)> {
    let targets = driven(stmts);
    let mut assigned: Assigned =
        targets.iter().map(|(id, t)| (*id, vec![false; t.signal.width as usize])).collect();
    let mut flow = Flow { loops: Loops::default(), early: BTreeMap::new() };
    flow.stmts(stmts, &mut assigned);
    let mut defaults = Vec::new();
    for (id, target) in targets {
        let complete = !assigned[&id].contains(&false);
        let early = flow.early.contains_key(&id);
        if complete && !early {
            continue;
        }
        if let Kind::Next(q) = target.signal.kind {
            defaults.push((id, q));
            continue;
        }
        let (name, module, location) = (&target.signal.name, &content.name, target.location);
        assert!(
            !early,
            "{name} in module {module} is read before it is assigned in the same block ({location})"
        );
        panic!(
            "{name} in module {module} would be a latch: some path through the block leaves bits of \
             it unassigned ({location}); assign to all of it first"
        );
    }
    defaults
}

struct Flow {
    loops: Loops,
    /// Signals that were read too early.
    early: BTreeMap<usize, ()>,
}

impl Flow {
    #[track_caller]
    fn stmts(&mut self, stmts: &[Stmt], assigned: &mut Assigned) {
        for stmt in stmts {
            match stmt {
                Stmt::Set(target, value) => self.set(target, value, assigned),
                Stmt::If(branches, otherwise) => {
                    let mut after = Vec::new();
                    for (condition, body) in branches {
                        self.read(condition, assigned);
                        after.push(self.branch(body, assigned));
                    }
                    after.push(self.branch(otherwise, assigned));
                    join(after, assigned);
                }
                Stmt::Switch(subject, cases, default) => {
                    self.read(subject, assigned);
                    let mut after: Vec<Assigned> =
                        cases.iter().map(|(_, body)| self.branch(body, assigned)).collect();
                    after.push(self.branch(default, assigned));
                    join(after, assigned);
                }
                Stmt::For(variable, body) => {
                    let mut loops = std::mem::take(&mut self.loops);
                    loops.each(variable, |loops| {
                        std::mem::swap(&mut self.loops, loops);
                        self.stmts(body, assigned);
                        std::mem::swap(&mut self.loops, loops);
                    });
                    self.loops = loops;
                }
                Stmt::Note(_) => {}
            }
        }
    }

    #[track_caller]
    fn branch(&mut self, body: &[Stmt], before: &Assigned) -> Assigned {
        let mut assigned = before.clone();
        self.stmts(body, &mut assigned);
        assigned
    }

    #[track_caller]
    fn set(&mut self, target: &Target, value: &Expr, assigned: &mut Assigned) {
        self.read(value, assigned);
        if let Part::Element(i) = &target.part {
            self.read(i, assigned);
        }
        let Some(bits) = assigned.get_mut(&target.signal.id) else { return };
        match &target.part {
            Part::All => bits.fill(true),
            Part::Slice(lo) => {
                let lo = self.loops.value(lo) as usize;
                bits[lo..lo + target.width as usize].fill(true);
            }
            // It is not known which element.
            Part::Element(_) => {}
        }
    }

    #[track_caller]
    fn read(&mut self, e: &Expr, assigned: &Assigned) {
        reads::of_expr(e, &self.loops, &mut |signal, lo, width| {
            let bits = assigned.get(&signal.id);
            let read = bits.map(|bits| &bits[lo as usize..(lo + width) as usize]);
            if read.is_some_and(|bits| bits.contains(&false)) {
                self.early.insert(signal.id, ());
            }
        });
    }
}

/// Only what is assigned on every path counts as assigned.
fn join(paths: Vec<Assigned>, assigned: &mut Assigned) {
    for (id, bits) in assigned {
        for (i, bit) in bits.iter_mut().enumerate() {
            *bit = paths.iter().all(|path| path[id][i]);
        }
    }
}
