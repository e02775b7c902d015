//! Profiles of BOLT.

use super::report::{Counted, SourceForm};
use std::collections::HashMap;
use std::io::{self, Write};

/// A profile for `llvm-bolt --data`: how often each branch and jump was taken from one place to another, both ways of
/// conditional branches, by name of the function and offset in it.
#[derive(Copy, Clone, Debug, Default)]
pub struct Bolt;

impl SourceForm for Bolt {
    fn write(&mut self, counted: &Counted<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
        let mut seen: HashMap<&str, u32> = HashMap::new();
        let mut names: HashMap<u64, String> = HashMap::new();
        for function in counted.symbols.functions() {
            // BOLT numbers functions of the same name that are local to their files, by address.
            let name = if function.local {
                let number = seen.entry(function.linkage).or_default();
                *number = number.saturating_add(1);
                format!("{}/{number}", function.linkage)
            } else {
                function.linkage.to_owned()
            };
            names.insert(function.range.start, name);
        }
        let place = |address: u64| {
            let place = counted.symbols.place(address)?;
            let name = names.get(&address.wrapping_sub(place.offset))?;
            // A backslash precedes a space, which otherwise separates.
            Some((name.replace('\\', "\\\\").replace(' ', "\\ "), place.offset))
        };
        for (edge, times) in &counted.counts.edges {
            if let (Some((from, at)), Some((to, target))) = (place(edge.from), place(edge.to)) {
                // A trace does not tell mispredictions.
                writeln!(out, "1 {from} {at:x} 1 {to} {target:x} 0 {times}")?;
            }
        }
        Ok(())
    }
}
