//! Folded stacks: what flame graphs are drawn from.

use super::tree::{Busy, Tree};
use super::{CallForm, Callee, Names};
use hartrace_decoder::calls::{CallStack, Transfers};
use std::collections::HashMap;
use std::io::{self, Write};

/// One line for each stack that was active, `outer;inner;innermost N`, with the number of instructions that the innermost
/// function executed itself. The numbers add up to all instructions. Several sources come first in a stack, and then several
/// contexts.
#[derive(Copy, Clone, Debug, Default)]
pub struct Folded;

impl CallForm for Folded {
    type Calls = Tree;

    fn calls(&self, _: Option<u16>, _: &Names<'_>) -> Tree {
        Tree::of_contexts()
    }

    #[inline(never)]
    fn replay(stack: &mut CallStack<Tree>, part: &Transfers) {
        stack.replay(part);
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Tree, u64)>,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let several = all.len() > 1;
        let mut known: HashMap<Callee, String> = HashMap::new();
        // Copies of an inlined function have the same name, so stacks that differ only in these are one.
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut lines: Vec<(String, u64)> = Vec::new();
        for (source, mut tree, instructions) in all {
            for Busy { context, functions, insns } in tree.stacks(instructions) {
                let mut parts = Vec::new();
                if let (true, Some(id)) = (several, source) {
                    parts.push(format!("source {id}"));
                }
                parts.extend(context.map(|context| format!("context {context:#x}")));
                for callee in functions {
                    // A semicolon separates functions.
                    let name = || names.name(callee).replace(';', ":");
                    parts.push(known.entry(callee).or_insert_with(name).clone());
                }
                if parts.is_empty() {
                    parts.push("unknown".into());
                }
                let stack = parts.join(";");
                let place = *places.entry(stack.clone()).or_insert(lines.len());
                match lines.get_mut(place) {
                    Some((_, sum)) => *sum = sum.saturating_add(insns),
                    None => lines.push((stack, insns)),
                }
            }
        }
        lines.iter().try_for_each(|(stack, insns)| writeln!(out, "{stack} {insns}"))
    }
}
