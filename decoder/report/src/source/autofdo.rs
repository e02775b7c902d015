//! Sample profiles of LLVM, in their text form.

use super::report::{Counted, SourceForm};
use hartrace_capture::programs::{SourceLine, Sources};
use hartrace_capture::text::escaped;
use hartrace_decoder::{Edge, Frequency, Leaves, Transfer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A sample profile for `clang -fprofile-sample-use` and `llvm-profdata`: how often each line of a function was executed,
/// counted from where the function is declared; what it called; and the same of what was inlined. A line counts as often as
/// its most frequent instruction, which is what LLVM expects of a profile from samples. Lines of a function that were
/// never executed are there with 0; functions that were never executed are not.
#[derive(Copy, Clone, Debug, Default)]
pub struct Autofdo;

/// Inlined functions within each other that are kept apart. What is deeper counts for the last of them.
const MAX_DEPTH: usize = 64;

/// A line within a function, and its discriminator.
type Offset = (u32, u32);

/// A function, or a copy of it that was inlined.
#[derive(Debug, Default)]
struct Profile {
    /// How often it was entered; not known of an inlined copy.
    head: u64,
    lines: BTreeMap<Offset, Line>,
    inlined: BTreeMap<(Offset, String), Profile>,
}

#[derive(Debug, Default)]
struct Line {
    times: u64,
    calls: BTreeMap<String, u64>,
}

impl Profile {
    fn total(&self) -> u64 {
        let own = self.lines.values().map(|line| line.times);
        own.chain(self.inlined.values().map(Self::total)).fold(0, u64::saturating_add)
    }

    fn write(&self, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        for (offset, line) in &self.lines {
            write!(out, "{:depth$}{}: {}", "", Shown(*offset), line.times)?;
            for (name, times) in &line.calls {
                write!(out, " {}:{times}", word(name))?;
            }
            writeln!(out)?;
        }
        for ((offset, name), profile) in &self.inlined {
            let total = profile.total();
            // A copy that was never executed says nothing.
            if total > 0 {
                writeln!(out, "{:depth$}{}: {}:{total}", "", Shown(*offset), word(name))?;
                profile.write(depth.saturating_add(1), out)?;
            }
        }
        Ok(())
    }
}

/// A name as one word: spaces separate, and a line that starts with `#` or `[` is something else.
fn word(name: &str) -> Cow<'_, str> {
    let other = name.starts_with(['#', '[']);
    let is_special = |c| c == ' ' || other && matches!(c, '#' | '[');
    if name.contains(is_special) { escaped(name, is_special).into() } else { name.into() }
}

struct Shown(Offset);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            (line, 0) => write!(f, "{line}"),
            (line, discriminator) => write!(f, "{line}.{discriminator}"),
        }
    }
}

/// The base discriminator of what LLVM encodes: the number of copies comes after it.
fn base(discriminator: u32) -> u32 {
    let value = discriminator >> 1;
    match (discriminator & 1, value & 0x20) {
        (1, _) => 0,
        (_, 0) => value & 0x1f,
        _ => (value >> 1) & 0xfe0 | value & 0x1f,
    }
}

/// A line as it counts within a function that is declared at a line. LLVM keeps 16 bits.
fn offset(at: SourceLine, declared: u32) -> Offset {
    (at.line.wrapping_sub(declared) & 0xffff, base(at.discriminator))
}

/// Profiles of functions by name.
#[derive(Default)]
struct Profiles {
    functions: BTreeMap<String, Profile>,
}

impl Profiles {
    /// The entry of a line in the innermost function at an address.
    fn line(&mut self, sources: &Sources, address: u64) -> Option<&mut Line> {
        let at = sources.row(address)?.at;
        let mut number = sources.instance(address)?;
        // From the innermost function outwards: each with the line in it.
        let mut stack: Vec<(Offset, &str)> = Vec::new();
        let mut at = at;
        loop {
            let instance = sources.instances().get(number as usize)?;
            let function = sources.function(instance.function)?;
            stack.push((offset(at, function.declared?.line), &function.linkage));
            match instance.call {
                Some((caller, line)) => (number, at) = (caller, line),
                None => break,
            }
        }
        let (mut place, name) = stack.pop()?;
        let mut profile = self.functions.entry(name.to_owned()).or_default();
        for (deeper, name) in stack.into_iter().rev().take(MAX_DEPTH) {
            profile = profile.inlined.entry((place, name.to_owned())).or_default();
            place = deeper;
        }
        Some(profile.lines.entry(place).or_default())
    }
}

impl SourceForm for Autofdo {
    fn write(&mut self, counted: &Counted<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
        let Counted { counts, sources, .. } = counted;
        let mut profiles = Profiles::default();
        for Frequency { address, times, .. } in &counts.insns {
            if let Some(line) = profiles.line(sources, *address) {
                line.times = line.times.max(*times);
            }
        }
        // Of functions that were executed, all lines.
        for row in sources.rows() {
            let top = counted.top(row.range.start);
            if top.is_some_and(|name| profiles.functions.contains_key(name)) {
                profiles.line(sources, row.range.start);
            }
        }
        for (edge, times) in &counts.edges {
            if let Some(name) = counted.called(edge)
                && let Some(line) = profiles.line(sources, edge.from)
            {
                let sum = line.calls.entry(name.to_owned()).or_default();
                *sum = sum.saturating_add(*times);
            }
        }
        for instance in sources.instances().iter().filter(|instance| instance.call.is_none()) {
            let name = sources.function(instance.function).map(|function| &function.linkage);
            if let Some(profile) = name.and_then(|name| profiles.functions.get_mut(name)) {
                profile.head = profile.head.saturating_add(counts.entered(instance.entry));
            }
        }
        for (name, profile) in &profiles.functions {
            writeln!(out, "{}:{}:{}", word(name), profile.total(), profile.head)?;
            profile.write(1, out)?;
        }
        Ok(())
    }
}

impl Counted<'_, '_> {
    /// The name of the function around an address, into which others may be inlined.
    fn top(&self, address: u64) -> Option<&str> {
        let mut number = self.sources.instance(address)?;
        loop {
            let instance = self.sources.instances().get(number as usize)?;
            match instance.call {
                Some((caller, _)) => number = caller,
                None => return Some(&self.sources.function(instance.function)?.linkage),
            }
        }
    }

    /// Where the function around an address starts.
    fn start(&self, address: u64) -> Option<u64> {
        Some(address.wrapping_sub(self.symbols.place(address)?.offset))
    }

    /// The name of the function that an edge calls, also by a jump to its start.
    fn called(&self, edge: &Edge) -> Option<&str> {
        let call = match edge.kind {
            Leaves::No | Leaves::Branch => false,
            Leaves::Jump | Leaves::Indirect => match self.counts.transfer(edge.from) {
                Transfer::Call | Transfer::Swap => true,
                Transfer::None => self.start(edge.from) != self.start(edge.to),
                Transfer::Return | Transfer::TrapReturn => false,
            },
        };
        let place = self.symbols.place(edge.to).filter(|place| call && place.offset == 0)?;
        Some(self.top(edge.to).unwrap_or(place.linkage))
    }
}

#[cfg(test)]
mod tests {
    use super::base;

    /// Up to 31 in five bits, larger ones in twelve with a bit that says so, after a bit that is 0; 1 alone is none.
    #[test]
    fn discriminators_are_encoded_by_llvm() {
        for (encoded, expected) in
            [(0, 0), (1, 0), (2, 1), (0x3e, 0x1f), (0xc0, 0x20), (0x3ffe, 0xfff)]
        {
            assert_eq!(base(encoded), expected, "{encoded:#x}");
        }
    }
}
