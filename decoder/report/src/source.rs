//! How often lines, functions and branches of the source were executed.

mod autofdo;
mod bolt;
mod lcov;
mod report;

pub use autofdo::Autofdo;
pub use bolt::Bolt;
pub use lcov::Lcov;
pub use report::{Counted, SourceForm, SourceReport};

use hartrace_capture::programs::{SourceLine, Sources, Symbols};
use hartrace_decoder::{Edge, Frequencies, Frequency, Leaves, Transfer};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A line.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct LineCount {
    /// How often it was executed: as often as the instruction of it that was executed most often, added up over all
    /// functions that it was inlined into.
    pub executions: u64,
    /// Instructions of it that were executed.
    pub instructions: u64,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCount {
    /// Its name.
    pub name: String,
    /// The line where it starts.
    pub line: u32,
    /// How often it was entered, in its own copy and where it was inlined.
    pub executions: u64,
}

/// A conditional branch, of those in the code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BranchCount {
    /// Its address.
    pub address: u64,
    /// How often it was executed. If a trap or a gap came right after it, it is not known which way it went.
    pub executions: u64,
    /// How often it was taken.
    pub taken: u64,
    /// How often it was not taken.
    pub not_taken: u64,
}

/// What is known of a source file. Lines that have code and were not executed are there too, with 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Lines that have code.
    pub lines: BTreeMap<u32, LineCount>,
    /// Functions, by line and name; those of which it is certain how often they were entered.
    pub functions: Vec<FunctionCount>,
    /// Branches of each line, by address.
    pub branches: BTreeMap<u32, Vec<BranchCount>>,
}

/// How often everything was executed, by instruction and in the source.
#[derive(Clone, Debug, Default)]
pub struct SourceCounts {
    /// Instructions that were executed, by address.
    pub insns: Vec<Frequency>,
    /// Edges that were taken, in sorted order.
    pub edges: Vec<(Edge, u64)>,
    /// All conditional branches in the code, by address, executed or not.
    pub branches: Vec<BranchCount>,
    /// Source files, by name.
    pub files: BTreeMap<String, FileCounts>,
    /// Instructions without a line that were executed.
    pub unknown: u64,
    /// Jumps and branches to the start of a function from within.
    loops: BTreeMap<u64, u64>,
}

/// Whether the code at an address is a part that GCC has split off a function: `f.part.0`, or `f.cold`.
fn is_rest(symbols: &Symbols<'_>, entry: u64) -> bool {
    let place = symbols.place(entry);
    place.is_some_and(|place| place.linkage.contains(".part.") || place.linkage.ends_with(".cold"))
}

impl SourceCounts {
    /// Adds up what was executed, by line, function and branch of the programs.
    pub fn new(frequencies: Frequencies, sources: &Sources, symbols: &Symbols<'_>) -> Self {
        let (insns, edges) = frequencies.sorted();
        let mut counts = Self { insns, edges, ..Self::default() };
        counts.find_loops(symbols);
        counts.count_lines(sources);
        counts.count_branches(sources);
        counts.count_functions(sources, symbols);
        counts
    }

    /// How often the instruction at an address was executed.
    pub fn times(&self, address: u64) -> u64 {
        self.insn(address).map_or(0, |insn| insn.times)
    }

    fn insn(&self, address: u64) -> Option<&Frequency> {
        let index = self.insns.binary_search_by_key(&address, |insn| insn.address);
        self.insns.get(index.ok()?)
    }

    /// How often the function that starts at an address was entered: loops back to its start do not count.
    pub fn entered(&self, function: u64) -> u64 {
        let loops = self.loops.get(&function).copied().unwrap_or_default();
        self.times(function).saturating_sub(loops)
    }

    /// What the instruction at an address does to the call stack, if it was executed.
    pub fn transfer(&self, address: u64) -> Transfer {
        self.insn(address).map_or(Transfer::None, |insn| insn.transfer)
    }

    /// The instructions in a range that were executed.
    pub fn range(&self, range: &Range<u64>) -> &[Frequency] {
        let from = self.insns.partition_point(|insn| insn.address < range.start);
        let to = self.insns.partition_point(|insn| insn.address < range.end);
        self.insns.get(from..to).unwrap_or_default()
    }

    /// The edges that leave an instruction, with how often each was taken.
    pub fn leaving(&self, address: u64) -> &[(Edge, u64)] {
        let from = self.edges.partition_point(|(edge, _)| edge.from < address);
        let to = self.edges.partition_point(|(edge, _)| edge.from <= address);
        self.edges.get(from..to).unwrap_or_default()
    }

    fn file(&mut self, sources: &Sources, number: u32) -> &mut FileCounts {
        let name = sources.file(number);
        if !self.files.contains_key(name) {
            self.files.insert(name.to_owned(), FileCounts::default());
        }
        self.files.entry(name.to_owned()).or_default()
    }

    fn find_loops(&mut self, symbols: &Symbols<'_>) {
        for (edge, times) in &self.edges {
            let start = |address: u64| Some(address.wrapping_sub(symbols.place(address)?.offset));
            let call = matches!(self.transfer(edge.from), Transfer::Call | Transfer::Swap);
            if !call && start(edge.to) == Some(edge.to) && start(edge.from) == Some(edge.to) {
                let sum = self.loops.entry(edge.to).or_default();
                *sum = sum.saturating_add(*times);
            }
        }
    }

    fn count_lines(&mut self, sources: &Sources) {
        // By line and copy of the function around it.
        let mut most: BTreeMap<(u32, u32, Option<u32>), LineCount> = BTreeMap::new();
        let copy = |address: u64| {
            let number = sources.instance(address)?;
            Some(sources.instances().get(number as usize)?.same)
        };
        let mut known = 0u64;
        for row in sources.rows() {
            let SourceLine { file, line, .. } = row.at;
            most.entry((file, line, copy(row.range.start))).or_default();
            for insn in self.range(&row.range) {
                let count = most.entry((file, line, copy(insn.address))).or_default();
                count.executions = count.executions.max(insn.times);
                count.instructions = count.instructions.saturating_add(insn.times);
                known = known.saturating_add(insn.times);
            }
        }
        for ((file, line, _), count) in most {
            let sum = self.file(sources, file).lines.entry(line).or_default();
            sum.executions = sum.executions.saturating_add(count.executions);
            sum.instructions = sum.instructions.saturating_add(count.instructions);
        }
        let all = self.insns.iter().fold(0u64, |sum, insn| sum.saturating_add(insn.times));
        self.unknown = all.saturating_sub(known);
    }

    fn count_branches(&mut self, sources: &Sources) {
        for branch in sources.branches() {
            let mut count = BranchCount {
                address: branch.address,
                executions: self.times(branch.address),
                taken: 0,
                not_taken: 0,
            };
            for (edge, times) in self.leaving(branch.address) {
                let sum = match edge.kind {
                    Leaves::Branch if edge.to == branch.next => &mut count.not_taken,
                    Leaves::Branch => &mut count.taken,
                    _ => continue,
                };
                *sum = sum.saturating_add(*times);
            }
            self.branches.push(count);
            if let Some(row) = sources.row(branch.address) {
                let file = self.file(sources, row.at.file);
                file.branches.entry(row.at.line).or_default().push(count);
            }
        }
    }

    /// How often each inlined function was entered, by the number that stands for its pieces; `None` if that is not certain.
    ///
    /// Compilers mix the code of a function with that around it, and may move its first instruction away from the others. Only if the
    /// program always came to it at that one, each time is an entry.
    fn inlined_entries(&self, sources: &Sources) -> BTreeMap<u32, Option<u64>> {
        let instances = sources.instances();
        // The inlined functions around an address, the innermost first.
        let around = |address: u64| {
            let get = |number: u32| instances.get(number as usize);
            let first = sources.instance(address).and_then(get);
            // Callers come before what was inlined into them, so this ends.
            let all = std::iter::successors(first, |one| get(one.call?.0));
            all.filter(|one| one.call.is_some()).map(|one| one.same).collect::<Vec<u32>>()
        };
        let copies = instances.iter().filter(|one| one.call.is_some());
        let starts: BTreeSet<(u32, u64)> = copies.map(|one| (one.same, one.entry)).collect();
        let mut inlined: BTreeMap<u32, Option<u64>> =
            starts.iter().map(|(same, _)| (*same, Some(0))).collect();
        let mut arrive = |from: u64, to: u64, times: u64| {
            let (before, after) = (around(from), around(to));
            for same in after.into_iter().filter(|same| !before.contains(same)) {
                let mut entries = starts.range((same, 0)..=(same, u64::MAX)).map(|(_, at)| *at);
                let is_first = entries.next() == Some(to) && entries.next().is_none();
                let sum = inlined.entry(same).or_default();
                *sum = sum.filter(|_| is_first).map(|sum| sum.saturating_add(times));
            }
        };
        let mut jumped: BTreeMap<u64, u64> = BTreeMap::new();
        for (edge, times) in &self.edges {
            let sum = jumped.entry(edge.to).or_default();
            *sum = sum.saturating_add(*times);
            // What was called returns behind the call, and a trap handler to what it has interrupted.
            let from = match self.transfer(edge.from) {
                Transfer::Return | Transfer::Swap | Transfer::TrapReturn => edge.to.wrapping_sub(1),
                Transfer::Call | Transfer::None => edge.from,
            };
            arrive(from, edge.to, *times);
        }
        for (range, _) in sources.pieces() {
            // The rest came from the instruction before it.
            let jumped = jumped.get(&range.start).copied().unwrap_or_default();
            let fell = self.times(range.start).saturating_sub(jumped);
            if fell > 0 {
                arrive(range.start.wrapping_sub(1), range.start, fell);
            }
        }
        inlined
    }

    fn count_functions(&mut self, sources: &Sources, symbols: &Symbols<'_>) {
        let mut functions: BTreeMap<(u32, u32, String), Option<u64>> = BTreeMap::new();
        let mut entries = Vec::new();
        let mut inlined = self.inlined_entries(sources);
        for instance in sources.instances() {
            let Some(function) = sources.function(instance.function) else { continue };
            let Some(SourceLine { file, line, .. }) = function.declared else { continue };
            let sum = functions.entry((file, line, function.linkage.clone())).or_insert(Some(0));
            let times = match instance.call {
                // The rest of a function is entered from its start, in one copy of it or another.
                None if is_rest(symbols, instance.entry) => Some(0),
                None => Some(self.entered(instance.entry)),
                Some(_) => inlined.remove(&instance.same).unwrap_or(Some(0)),
            };
            *sum = sum.zip(times).map(|(sum, times)| sum.saturating_add(times));
            entries.push(instance.entry);
        }
        entries.sort_unstable();
        // Functions in assembly have no other description.
        for function in symbols.functions() {
            let start = function.range.start;
            if let Some(row) = sources.row(start)
                && entries.binary_search(&start).is_err()
                && sources.instance(start).is_none()
            {
                let key = (row.at.file, row.at.line, function.linkage.to_owned());
                functions.insert(key, Some(self.entered(start)));
            }
        }
        for ((file, line, name), executions) in functions {
            let Some(executions) = executions else { continue };
            let list = &mut self.file(sources, file).functions;
            list.push(FunctionCount { name, line, executions });
        }
    }
}
