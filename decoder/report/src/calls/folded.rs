//! Folded stacks: what flame graphs are drawn from.

use super::tree::Tree;
use super::{CallForm, Names};
use std::collections::HashMap;
use std::io::{self, Write};

/// One line for each stack that was active, `outer;inner;innermost N`, with the number of instructions that the innermost
/// function executed itself. The numbers add up to all instructions.
#[derive(Copy, Clone, Debug, Default)]
pub struct Folded;

impl CallForm for Folded {
    type Calls = Tree;

    fn calls(&self) -> Tree {
        Tree::default()
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Tree, u64)>,
        names: &Names<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let several = all.len() > 1;
        let mut known: HashMap<u64, String> = HashMap::new();
        for (source, mut tree, instructions) in all {
            for (stack, insns) in tree.stacks(instructions) {
                let mut parts = Vec::new();
                if let (true, Some(id)) = (several, source) {
                    parts.push(format!("source {id}"));
                }
                for function in stack {
                    // A semicolon separates functions.
                    let name = || names.name(function).replace(';', ":");
                    parts.push(known.entry(function).or_insert_with(name).clone());
                }
                if parts.is_empty() {
                    parts.push("unknown".into());
                }
                writeln!(out, "{} {}", parts.join(";"), insns)?;
            }
        }
        Ok(())
    }
}
