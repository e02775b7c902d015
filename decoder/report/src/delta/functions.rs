//! Where two traces of different builds of a program differ: in their functions, by name.

use crate::calls::FunctionTotal;
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What functions of the same name have executed in each trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The name.
    pub name: String,
    /// Instructions of their own; `None` if the trace has no function of this name.
    pub instructions: [Option<u64>; 2],
    /// How often they were called.
    pub calls: [u64; 2],
}

impl Pair {
    fn counts(&self) -> [u64; 2] {
        self.instructions.map(Option::unwrap_or_default)
    }

    fn difference(&self) -> i128 {
        let [a, b] = self.counts().map(i128::from);
        b.saturating_sub(a)
    }
}

/// The functions of two traces, paired by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByName {
    /// Functions with names, those that differ most first.
    pub pairs: Vec<Pair>,
    /// Instructions of functions without names, which nothing pairs.
    pub nameless: [u64; 2],
    /// All instructions.
    pub instructions: [u64; 2],
    /// Both are of the same files, which were loaded at other addresses.
    pub moved: bool,
}

impl ByName {
    /// Pairs functions. Those of one name in a trace are added up.
    pub fn new(both: [&[FunctionTotal]; 2]) -> Self {
        let mut names: BTreeMap<&str, Pair> = BTreeMap::new();
        let mut found = Self::default();
        for (side, functions) in both.into_iter().enumerate() {
            for function in functions {
                add(&mut found.instructions, side, function.instructions);
                // An address stands for a name.
                if function.name.starts_with("0x") {
                    add(&mut found.nameless, side, function.instructions);
                    continue;
                }
                let new =
                    || Pair { name: function.name.clone(), instructions: [None; 2], calls: [0; 2] };
                let pair = names.entry(&function.name).or_insert_with(new);
                add(&mut pair.calls, side, function.calls);
                if let Some(sum) = pair.instructions.get_mut(side) {
                    *sum = Some(sum.unwrap_or(0).saturating_add(function.instructions));
                }
            }
        }
        found.pairs = names.into_values().collect();
        found.pairs.sort_by_key(|pair| Reverse(pair.difference().unsigned_abs()));
        found
    }

    /// Whether every function has executed and was called as often in both.
    pub fn is_empty(&self) -> bool {
        let same = |pair: &Pair| {
            pair.instructions[0] == pair.instructions[1] && pair.calls[0] == pair.calls[1]
        };
        self.nameless == [0; 2] && self.pairs.iter().all(same)
    }

    /// Functions that only this trace has.
    fn only(&self, side: usize) -> Vec<&Pair> {
        let has =
            |pair: &Pair, side: usize| pair.instructions.get(side).is_some_and(Option::is_some);
        self.pairs
            .iter()
            .filter(|pair| has(pair, side) && !has(pair, usize::from(side == 0)))
            .collect()
    }

    /// Prints the functions that differ most, and what has no counterpart. `names` are those of the captures.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn print(&self, out: &mut dyn Write, names: [&str; 2], rows: usize) -> io::Result<()> {
        let [a, b] = self.instructions;
        let programs =
            if self.moved { "the same programs at other addresses" } else { "different programs" };
        writeln!(
            out,
            "{programs}, compared by the names of functions: {a} instructions in {}, {b} in {}",
            names[0], names[1]
        )?;
        let mut different = self.pairs.iter().filter(|pair| {
            pair.instructions[0] != pair.instructions[1] || pair.calls[0] != pair.calls[1]
        });
        let count = different.clone().count();
        if count > 0 {
            writeln!(
                out,
                "\n{:>12} {:>12} {:>13} {:>10} {:>10}  function",
                "first", "second", "difference", "calls", "calls"
            )?;
        }
        let text = |value: Option<u64>| value.map_or("-".into(), |value| value.to_string());
        for pair in different.by_ref().take(rows) {
            let [a, b] = pair.instructions.map(text);
            let [calls_a, calls_b] = pair.calls;
            let difference = format!("{:+}", pair.difference());
            writeln!(
                out,
                "{a:>12} {b:>12} {difference:>13} {calls_a:>10} {calls_b:>10}  {}",
                pair.name
            )?;
        }
        match different.count() {
            0 => {}
            more => writeln!(out, "{:>61}  and {more} more", "")?,
        }
        let same = self.pairs.len().saturating_sub(count);
        writeln!(out, "\n{same} functions have executed and were called as often in both")?;
        for (side, name) in names.into_iter().enumerate() {
            let only = self.only(side);
            if only.is_empty() {
                continue;
            }
            let insns = only.iter().filter_map(|pair| *pair.instructions.get(side)?);
            let insns = insns.fold(0, u64::saturating_add);
            let (few, s) = (only.len(), if only.len() == 1 { "" } else { "s" });
            writeln!(
                out,
                "only in {name}: {few} function{s} with {insns} instructions; a compiler may have inlined or renamed \
                 what the other has of them"
            )?;
        }
        for (name, insns) in names.into_iter().zip(self.nameless).filter(|(_, insns)| *insns > 0) {
            writeln!(out, "without a name in {name}, and not compared: {insns} instructions")?;
        }
        Ok(())
    }

    /// The same as one JSON object.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn json(&self, out: &mut dyn Write, names: [&str; 2]) -> io::Result<()> {
        let functions = self.pairs.iter().map(|pair| {
            json!({ "function": pair.name, "instructions": pair.instructions, "calls": pair.calls })
        });
        let all = json!({
            "captures": names,
            "by": "function",
            "moved": self.moved,
            "instructions": self.instructions,
            "nameless": self.nameless,
            "functions": functions.collect::<Vec<_>>(),
        });
        serde_json::to_writer(&mut *out, &all)?;
        writeln!(out)
    }
}

fn add(sums: &mut [u64; 2], side: usize, more: u64) {
    if let Some(sum) = sums.get_mut(side) {
        *sum = sum.saturating_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(name: &str, calls: u64, instructions: u64) -> FunctionTotal {
        let (source, place) = (None, None);
        let (name, address, inlined, with_callees) = (name.into(), 0, false, 0);
        let object = None;
        FunctionTotal {
            source,
            name,
            address,
            inlined,
            object,
            place,
            calls,
            instructions,
            with_callees,
        }
    }

    #[test]
    fn functions_are_paired_by_name() {
        let a = [total("main", 1, 10), total("helper", 2, 30), total("0x1000", 1, 5)];
        let b = [total("main", 1, 10), total("fast", 1, 7), total("fast", 2, 1)];
        let found = ByName::new([&a, &b]);
        assert_eq!((found.instructions, found.nameless), ([45, 18], [5, 0]));
        let names: Vec<_> = found.pairs.iter().map(|pair| &pair.name[..]).collect();
        assert_eq!(names, ["helper", "fast", "main"]);
        assert_eq!(found.pairs[1].instructions, [None, Some(8)]);
        assert_eq!(found.pairs[1].calls, [0, 3]);
        assert!(!found.is_empty() && ByName::new([&b, &b]).is_empty());
        // Nothing tells whether functions without names are the same.
        assert!(!ByName::new([&a, &a]).is_empty());
        let mut text = Vec::new();
        found.print(&mut text, ["a.te", "b.te"], 1).unwrap();
        let text = String::from_utf8(text).unwrap();
        let mut moved = Vec::new();
        ByName { moved: true, ..found.clone() }.print(&mut moved, ["a", "b"], 1).unwrap();
        assert!(moved.starts_with(b"the same programs at other addresses, compared by the names"));
        assert!(
            text.contains("          30            -           -30          2          0  helper"),
            "{text}"
        );
        assert!(text.contains("and 1 more\n\n1 functions have executed"), "{text}");
        assert!(text.contains("only in a.te: 1 function with 30 instructions"), "{text}");
        assert!(
            text.contains("without a name in a.te, and not compared: 5 instructions"),
            "{text}"
        );
    }
}
