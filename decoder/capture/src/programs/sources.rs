//! The source code behind instructions: lines, functions, and what was inlined where.

mod dwarf;

pub use super::code::Branch;
use super::code::Code;
use super::debug::TooLarge;
use elf::ElfBytes;
use elf::endian::LittleEndian;
use hartrace_isa::Isa;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A line of a source file.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// The file; see [`Sources::file`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// Tells apart blocks of code of one line; 0 for the first.
    pub discriminator: u32,
}

/// Code of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its addresses, at least one.
    pub range: Range<u64>,
    /// The line.
    pub at: SourceLine,
}

/// A function as it is in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFunction {
    /// Its name, as the source has it.
    pub name: String,
    /// The same as the linker knows it, if that is known.
    pub linkage: String,
    /// The file and line where it is declared.
    pub declared: Option<SourceLine>,
}

/// A compiled copy of a function: a function of the program, or one that was inlined.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The function; see [`Sources::function`].
    pub function: u32,
    /// For an inlined function: the instance that it was inlined into, and the line of the call.
    pub call: Option<(u32, SourceLine)>,
    /// The first instruction to be executed.
    pub entry: u64,
    /// The first of those instances that are the same call of the same function: compilers may describe one in several
    /// pieces, and may copy it.
    pub same: u32,
}

/// Lines, functions and branches of programs, from the debug information and the code of ELF files. The file that was
/// added first counts where several have code.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<String>,
    /// By address, not overlapping.
    rows: Vec<Row>,
    functions: Vec<SourceFunction>,
    /// Callers come before what was inlined into them.
    instances: Vec<Instance>,
    /// The innermost instance from an address on.
    innermost: BTreeMap<u64, Option<u32>>,
    /// By address.
    branches: Vec<Branch>,
}

impl Sources {
    /// Adds what a file says. A file without debug information adds only branches; what cannot be read adds
    /// nothing. `isa` is that of RISC-V programs.
    ///
    /// # Errors
    ///
    /// If the debug information stands for too much, which adds only branches too.
    pub fn add_elf(&mut self, bytes: &[u8], bias: u64, isa: Isa) -> Result<(), TooLarge> {
        let Ok(file) = ElfBytes::<LittleEndian>::minimal_parse(bytes) else { return Ok(()) };
        let place = |address: u64| isa.xlen.wrap(address.wrapping_add(bias));
        let read = dwarf::read(&file, bytes.len());
        let outcome = read.as_ref().map(|_| ()).map_err(|error| *error);
        let mut found = read.unwrap_or_default();
        found.lines.rows.retain_mut(|row| {
            let length = row.range.end.saturating_sub(row.range.start);
            let start = place(row.range.start);
            row.range = start..start.saturating_add(length);
            row.at.file = row.at.file.wrapping_add(self.files.len() as u32);
            self.row(start).is_none()
        });
        self.rows.append(&mut found.lines.rows);
        self.rows.sort_by_key(|row| row.range.start);
        let (files, functions) = (self.files.len() as u32, self.functions.len() as u32);
        let instances = self.instances.len() as u32;
        let placed = |mut at: SourceLine| {
            at.file = at.file.wrapping_add(files);
            at
        };
        self.files.append(&mut found.lines.files.names);
        self.functions.extend(found.functions.into_iter().map(|function| SourceFunction {
            declared: function.declared.map(placed),
            ..function
        }));
        let mut calls: HashMap<(u32, u32, SourceLine), u32> = HashMap::new();
        for (instance, ranges) in found.instances {
            let number = self.instances.len() as u32;
            for range in ranges {
                let start = place(range.start);
                let length = range.end.saturating_sub(range.start);
                // An earlier file has priority.
                if self.instance(start).is_none_or(|earlier| earlier >= instances) {
                    self.paint(start..start.saturating_add(length), number);
                }
            }
            let function = instance.function.wrapping_add(functions);
            let call = instance.call.map(|(to, at)| (to.wrapping_add(instances), placed(at)));
            let same = call.map_or(number, |(caller, at)| {
                let caller = self.instances.get(caller as usize).map_or(caller, |one| one.same);
                *calls.entry((function, caller, at)).or_insert(number)
            });
            self.instances.push(Instance { function, call, entry: place(instance.entry), same });
        }
        let branches = Code::new(&file, bytes.len()).map_or(Vec::new(), |code| code.branches(isa));
        let branches = branches.into_iter().map(|branch| Branch {
            address: place(branch.address),
            next: place(branch.next),
            target: place(branch.target),
        });
        self.branches.extend(branches);
        self.branches.sort_by_key(|branch| branch.address);
        self.branches.dedup_by_key(|branch| branch.address);
        outcome
    }

    /// Names stay as the linker has them.
    pub(super) fn keep_raw_names(&mut self) {
        self.functions.iter_mut().for_each(|function| function.name.clone_from(&function.linkage));
    }

    /// Assigns a range to an instance.
    fn paint(&mut self, range: Range<u64>, instance: u32) {
        if range.is_empty() {
            return;
        }
        let after = self.instance(range.end);
        let inside: Vec<u64> = self.innermost.range(range.clone()).map(|(at, _)| *at).collect();
        for at in inside {
            self.innermost.remove(&at);
        }
        self.innermost.insert(range.start, Some(instance));
        self.innermost.entry(range.end).or_insert(after);
    }

    /// The name of a file.
    pub fn file(&self, number: u32) -> &str {
        self.files.get(number as usize).map_or("", String::as_str)
    }

    /// All rows, by address.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row of an address.
    pub fn row(&self, address: u64) -> Option<&Row> {
        let index = self.rows.partition_point(|row| row.range.start <= address).checked_sub(1)?;
        self.rows.get(index).filter(|row| address < row.range.end)
    }

    /// A function.
    pub fn function(&self, number: u32) -> Option<&SourceFunction> {
        self.functions.get(number as usize)
    }

    /// All copies of functions. Those that have others inlined come before these.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// The number of the innermost instance that an address belongs to.
    pub fn instance(&self, address: u64) -> Option<u32> {
        self.innermost.range(..=address).next_back().and_then(|(_, instance)| *instance)
    }

    /// The code of each instance without what was inlined into it, by address, with the number of the instance.
    pub fn pieces(&self) -> impl Iterator<Item = (Range<u64>, u32)> {
        let starts = self.innermost.keys().skip(1);
        let pieces = self.innermost.iter().zip(starts);
        pieces.filter_map(|((start, instance), end)| Some((*start..*end, (*instance)?)))
    }

    /// The conditional branches in the code, by address.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_isa::Xlen;

    const ISA: Isa = Isa::new(Xlen::Rv64);

    fn program(name: &str) -> Vec<u8> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/elf/debug/");
        std::fs::read(format!("{folder}{name}.elf")).unwrap()
    }

    #[test]
    fn inlined_functions_know_their_callers() {
        let mut sources = Sources::default();
        sources.add_elf(&program("sort"), 0, ISA).unwrap();
        let name = |instance: &Instance| &sources.function(instance.function).unwrap().name[..];
        let inlined = sources.instances().iter().filter_map(|instance| {
            let (caller, at) = instance.call?;
            let caller = sources.instances().get(caller as usize)?;
            Some((name(caller), name(instance), sources.file(at.file), at.line))
        });
        let inlined: Vec<_> = inlined.collect();
        assert!(inlined.contains(&("by_key_down", "by_key", "./src/sort.c", 24)), "{inlined:?}");
        for instance in sources.instances() {
            assert!(sources.row(instance.entry).is_some(), "{instance:?}");
        }
        assert!(sources.rows().is_sorted_by(|a, b| a.range.end <= b.range.start));
    }

    #[test]
    fn a_bias_moves_everything() {
        let (mut here, mut there) = (Sources::default(), Sources::default());
        here.add_elf(&program("sort"), 0, ISA).unwrap();
        there.add_elf(&program("sort"), 0x1000, ISA).unwrap();
        // What is there already has priority.
        there.add_elf(&program("sort"), 0x1000, ISA).unwrap();
        assert_eq!(
            (here.rows().len(), here.branches().len()),
            (there.rows().len(), there.branches().len())
        );
        for (a, b) in here.rows().iter().zip(there.rows()) {
            assert_eq!((a.range.start + 0x1000, a.at), (b.range.start, b.at));
            assert_eq!(here.instance(a.range.start), there.instance(b.range.start));
        }
    }

    /// Whatever is in the file: no panic, and no more than it has room for.
    #[test]
    fn damaged_files_add_what_can_be_read() {
        for name in ["sort", "sort-a64", "sort-t32"] {
            let good = program(name);
            let mut seed = 1u64;
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) as usize
            };
            for _ in 0..150 {
                let mut bytes = good.clone();
                for _ in 0..=next() % 40 {
                    let at = next() % bytes.len();
                    bytes[at] = next() as u8;
                }
                bytes.truncate(bytes.len() - next() % 3 * (next() % bytes.len()) / 4);
                let mut sources = Sources::default();
                let _ = sources.add_elf(&bytes, next() as u64, ISA);
                assert!(sources.rows().len() <= 16 * bytes.len());
            }
        }
    }
}
