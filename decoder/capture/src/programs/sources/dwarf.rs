//! Reads functions from debug information.

use super::super::demangle::demangle;
use super::{Instance, SourceFunction, SourceLine};
use crate::limits::INLINED_DEPTH;
use crate::programs::debug::{Budget, Bytes, Debug, DebugUnit, Lines, TooLarge};
use crate::programs::tables;
use elf::ElfBytes;
use elf::endian::LittleEndian;
use gimli::{AttributeValue, DebuggingInformationEntry, constants as dw};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// References from one entry to another that are followed: an inlined function to its origin, and that to its
/// declaration.
const HOPS: usize = 8;

/// Bytes in memory for each function, besides its name.
const FUNCTION: usize = 64;

type Entry<'a> = DebuggingInformationEntry<Bytes<'a>>;

/// What a file says, by addresses in it.
#[derive(Default)]
pub(super) struct Found {
    pub(super) lines: Lines,
    pub(super) functions: Vec<SourceFunction>,
    pub(super) instances: Vec<(Instance, Vec<Range<u64>>)>,
}

/// Reads all that can be read, of code in the sections of the file.
pub(super) fn read(file: &ElfBytes<'_, LittleEndian>, size: usize) -> Result<Found, TooLarge> {
    let code = tables::code_ranges(file);
    let mut budget = Budget::new(size);
    let debug = Debug::new(file, &mut budget);
    let lines = Lines::new(&debug, &code, &mut budget);
    let mut reader = Reader {
        debug: &debug,
        code: &code,
        found: Found { lines, ..Found::default() },
        functions: HashMap::new(),
        scopes: HashMap::new(),
        budget,
    };
    for unit in &debug.units {
        // What comes before an error counts.
        let _ = reader.entries(unit);
    }
    reader.budget.check().map(|()| reader.found)
}

struct Reader<'a, 'r> {
    debug: &'r Debug<'a>,
    code: &'r [Range<u64>],
    found: Found,
    /// Numbers of functions, by the offset of the entry that describes them.
    functions: HashMap<usize, u32>,
    /// For units that were asked for, by where they start: the scopes of the functions in them.
    scopes: HashMap<usize, Scopes>,
    budget: Budget,
}

/// The namespace or class that functions are in, by the offset of the entry that declares them.
type Scopes = HashMap<usize, Rc<str>>;

impl<'a, 'r> Reader<'a, 'r> {
    /// The functions of a unit.
    fn entries(&mut self, unit: &'r DebugUnit<'a>) -> gimli::Result<()> {
        // The instances around an entry, with their depths.
        let mut around: Vec<(isize, u32)> = Vec::new();
        let mut entries = unit.unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            self.budget.spend(entry.attrs().len().saturating_add(1))?;
            while around.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
                around.pop();
            }
            let call = match (entry.tag(), around.last()) {
                (dw::DW_TAG_subprogram, _) => None,
                _ if around.len() >= INLINED_DEPTH => continue,
                (dw::DW_TAG_inlined_subroutine, Some((_, caller))) => {
                    Some((*caller, self.call(unit, entry)?))
                }
                _ => continue,
            };
            if !self.has_end(unit, entry)? {
                continue;
            }
            let mut ranges = Vec::new();
            let mut all = self.debug.dwarf.die_ranges(&unit.unit, entry)?;
            while let Some(range) = all.next()? {
                self.budget.spend(size_of::<Range<u64>>())?;
                let range = Some(range.begin..range.end);
                ranges.extend(range.filter(|range| tables::contains(self.code, range)));
            }
            let Some(first) = ranges.first().map(|range| range.start) else { continue };
            let Some(function) = self.function(unit, entry)? else { continue };
            let named = entry.attr_value(dw::DW_AT_entry_pc);
            let entry_pc = match named {
                Some(AttributeValue::Udata(offset)) => Some(first.wrapping_add(offset)),
                Some(value) => self.debug.dwarf.attr_address(&unit.unit, value)?,
                None => None,
            };
            let number = self.found.instances.len() as u32;
            around.push((entry.depth(), number));
            let entry = entry_pc.unwrap_or(first);
            let instance = Instance { function, call, entry, same: number };
            self.budget.spend(size_of::<(Instance, Vec<Range<u64>>)>())?;
            self.found.instances.push((instance, ranges));
        }
        Ok(())
    }

    /// Whether the range of an entry ends at an address, if it has a size: gimli adds it to the start without looking.
    fn has_end(&self, unit: &DebugUnit<'a>, entry: &Entry<'a>) -> gimli::Result<bool> {
        let (start, end) =
            (entry.attr_value(dw::DW_AT_low_pc), entry.attr_value(dw::DW_AT_high_pc));
        let (Some(start), Some(AttributeValue::Udata(size))) = (start, end) else {
            return Ok(true);
        };
        let start = self.debug.dwarf.attr_address(&unit.unit, start)?;
        Ok(start.is_none_or(|start| start.checked_add(size).is_some()))
    }

    /// Where an inlined function is called.
    fn call(&mut self, unit: &DebugUnit<'a>, entry: &Entry<'a>) -> gimli::Result<SourceLine> {
        let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
        let narrow = |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok());
        Ok(SourceLine {
            file: self.attr_file(unit, entry, dw::DW_AT_call_file)?.unwrap_or_default(),
            line: narrow(number(dw::DW_AT_call_line)).unwrap_or_default(),
            discriminator: narrow(number(dw::DW_AT_GNU_discriminator)).unwrap_or_default(),
        })
    }

    fn attr_file(
        &mut self,
        unit: &DebugUnit<'a>,
        entry: &Entry<'a>,
        name: gimli::DwAt,
    ) -> gimli::Result<Option<u32>> {
        match (entry.attr_value(name), self.debug.program(unit)) {
            (Some(AttributeValue::FileIndex(number)), Some(program)) => {
                let (files, budget) = (&mut self.found.lines.files, &mut self.budget);
                files.number(self.debug, unit, program.header(), number, budget).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The number of the function that an entry is a copy of.
    fn function(
        &mut self,
        unit: &'r DebugUnit<'a>,
        entry: &Entry<'a>,
    ) -> gimli::Result<Option<u32>> {
        // From the copy to the declaration.
        let mut chain = vec![(unit, entry.clone())];
        while let Some((unit, entry)) = chain.last().filter(|_| chain.len() < HOPS) {
            let origin = entry.attr_value(dw::DW_AT_abstract_origin);
            match origin.or_else(|| entry.attr_value(dw::DW_AT_specification)) {
                Some(next) => match self.referred(unit, next) {
                    Some(next) => {
                        self.budget.spend(next.1.attrs().len())?;
                        chain.push(next);
                    }
                    None => return Ok(None),
                },
                None => break,
            }
        }
        let Some(key) = chain.last().map(|(unit, entry)| offset(unit, entry)) else {
            return Ok(None);
        };
        if let Some(number) = self.functions.get(&key) {
            return Ok(Some(*number));
        }
        let text = |names: &[gimli::DwAt]| {
            chain.iter().find_map(|(unit, entry)| {
                let value = names.iter().find_map(|name| entry.attr_value(*name))?;
                self.debug.dwarf.attr_string(&unit.unit, value).ok()
            })
        };
        let linkage = text(&[dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name]);
        let is_linked = linkage.is_some();
        let name = linkage.or_else(|| text(&[dw::DW_AT_name])).unwrap_or_default();
        self.budget.spend(name.len().saturating_add(FUNCTION))?;
        let mut declared = None;
        for (unit, entry) in &chain {
            let line = entry.attr_value(dw::DW_AT_decl_line).and_then(|line| line.udata_value());
            if let Some(line) = line.and_then(|line| u32::try_from(line).ok())
                && let Some(file) = self.attr_file(unit, entry, dw::DW_AT_decl_file)?
            {
                declared = Some(SourceLine { file, line, discriminator: 0 });
                break;
            }
        }
        let number = self.found.functions.len() as u32;
        self.functions.insert(key, number);
        let linkage = tables::cut(name.slice()).into_owned();
        let mut name = demangle(&linkage).unwrap_or_else(|| linkage.clone());
        // A function that the linker does not know, since it was only inlined, may have its own name only.
        if let Some((unit, entry)) = chain.last().filter(|_| !is_linked)
            && let Some(scope) = self.scope(unit, entry)?
        {
            name = tables::cut(format!("{scope}::{name}").as_bytes()).into_owned();
        }
        self.budget.spend(name.len())?;
        self.found.functions.push(SourceFunction { name, linkage, declared });
        Ok(Some(number))
    }

    /// The namespace or class that an entry is in.
    fn scope(
        &mut self,
        unit: &'r DebugUnit<'a>,
        entry: &Entry<'a>,
    ) -> gimli::Result<Option<Rc<str>>> {
        let key = start(unit);
        if !self.scopes.contains_key(&key) {
            let scopes = self.scopes_of(unit)?;
            self.scopes.insert(key, scopes);
        }
        Ok(self.scopes.get(&key).and_then(|scopes| scopes.get(&entry.offset().0)).cloned())
    }

    /// The namespaces and classes of the functions of a unit.
    fn scopes_of(&mut self, unit: &'r DebugUnit<'a>) -> gimli::Result<Scopes> {
        let mut scopes = Scopes::new();
        // The scopes around an entry, with their depths.
        let mut around: Vec<(isize, Rc<str>)> = Vec::new();
        let mut entries = unit.unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            self.budget.spend(entry.attrs().len().saturating_add(1))?;
            while around.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
                around.pop();
            }
            let unnamed = match entry.tag() {
                dw::DW_TAG_subprogram => {
                    if let Some((_, scope)) = around.last() {
                        self.budget.spend(size_of::<(usize, Rc<str>)>())?;
                        scopes.insert(entry.offset().0, Rc::clone(scope));
                    }
                    continue;
                }
                dw::DW_TAG_namespace => "(anonymous namespace)",
                dw::DW_TAG_class_type | dw::DW_TAG_structure_type | dw::DW_TAG_union_type => {
                    "{unnamed type}"
                }
                _ => continue,
            };
            let name = entry.attr_value(dw::DW_AT_name);
            let name = name.and_then(|name| self.debug.dwarf.attr_string(&unit.unit, name).ok());
            let name = name.map_or(unnamed.into(), |name| tables::cut(name.slice()));
            let scope: Rc<str> = match around.last() {
                Some((_, outer)) => format!("{outer}::{name}").into(),
                None => name.into(),
            };
            self.budget.spend(scope.len())?;
            around.push((entry.depth(), scope));
        }
        Ok(scopes)
    }

    /// The entry that an attribute refers to.
    fn referred(
        &self,
        unit: &'r DebugUnit<'a>,
        value: AttributeValue<Bytes<'a>>,
    ) -> Option<(&'r DebugUnit<'a>, Entry<'a>)> {
        let (unit, at) = match value {
            AttributeValue::UnitRef(at) => (unit, at),
            AttributeValue::DebugInfoRef(at) => {
                let after = self.debug.units.partition_point(|unit| start(unit) <= at.0);
                let unit = self.debug.units.get(after.checked_sub(1)?)?;
                (unit, at.to_unit_offset(&unit.unit.header)?)
            }
            _ => return None,
        };
        Some((unit, unit.unit.entry(at).ok()?))
    }
}

/// Where a unit starts.
fn start(unit: &DebugUnit<'_>) -> usize {
    unit.unit.header.debug_info_offset().map_or(0, |at| at.0)
}

/// Where an entry is.
fn offset(unit: &DebugUnit<'_>, entry: &Entry<'_>) -> usize {
    start(unit).saturating_add(entry.offset().0)
}
