//! Reads debug information.

use super::super::symbols::dwarf;
use super::{Instance, Row, SourceFunction, SourceLine};
use crate::text::printable_bytes;
use addr2line::gimli::{
    self, AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, LineProgramHeader,
    LittleEndian as Little, Unit, constants as dw,
};
use elf::ElfBytes;
use elf::endian::LittleEndian;
use std::collections::HashMap;
use std::ops::Range;

/// References from one entry to another that are followed: an inlined function to its origin, and that to its
/// declaration.
const HOPS: usize = 8;

type Bytes<'a> = EndianSlice<'a, Little>;
type Entry<'a> = DebuggingInformationEntry<Bytes<'a>>;

/// What may be made of a byte of the file: rows, ranges, and bytes of names. Debug information can refer to the same
/// names and ranges from many places, but a file of a compiler stays far below this.
const PER_BYTE: usize = 16;

/// What a file says, by addresses in it.
#[derive(Default)]
pub(super) struct Found {
    pub(super) files: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) functions: Vec<SourceFunction>,
    pub(super) instances: Vec<(Instance, Vec<Range<u64>>)>,
}

/// Reads all that can be read, of code in these ranges: of functions that the linker removed, lines remain at addresses
/// where there is nothing.
pub(super) fn read(file: &ElfBytes<'_, LittleEndian>, code: &[Range<u64>], bytes: usize) -> Found {
    let Some(dwarf) = dwarf(file) else { return Found::default() };
    let mut units = Vec::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        units.extend(dwarf.unit(header));
    }
    let mut reader = Reader {
        dwarf: &dwarf,
        units: &units,
        code,
        found: Found::default(),
        files: HashMap::new(),
        functions: HashMap::new(),
        left: bytes.saturating_mul(PER_BYTE),
    };
    for unit in &units {
        // What comes before an error counts.
        let _ = reader.lines(unit);
        let _ = reader.entries(unit);
    }
    let mut found = reader.found;
    found.rows.sort_by_key(|row| row.range.start);
    // Of overlapping rows the first counts.
    let mut end = 0;
    found.rows.retain(|row| {
        let fits = row.range.start >= end;
        end = if fits { row.range.end } else { end };
        fits
    });
    found
}

struct Reader<'a, 'r> {
    dwarf: &'r Dwarf<Bytes<'a>>,
    /// By offset.
    units: &'r [Unit<Bytes<'a>>],
    code: &'r [Range<u64>],
    found: Found,
    /// Numbers of files.
    files: HashMap<String, u32>,
    /// Numbers of functions, by the offset of the entry that describes them.
    functions: HashMap<usize, u32>,
    /// What may still be made.
    left: usize,
}

impl<'a, 'r> Reader<'a, 'r> {
    fn is_code(&self, range: &Range<u64>) -> bool {
        let inside = |code: &Range<u64>| code.start <= range.start && range.end <= code.end;
        !range.is_empty() && self.code.iter().any(inside)
    }

    /// Uses up some of what may be made; an error if there is nothing left.
    fn spend(&mut self, amount: usize) -> gimli::Result<()> {
        self.left = self.left.checked_sub(amount).ok_or(gimli::Error::OffsetOutOfBounds(0))?;
        Ok(())
    }

    /// The rows of a unit.
    fn lines(&mut self, unit: &Unit<Bytes<'a>>) -> gimli::Result<()> {
        let Some(program) = unit.line_program.clone() else { return Ok(()) };
        let mut files: HashMap<u64, u32> = HashMap::new();
        let mut rows = program.rows();
        let mut last: Option<(u64, SourceLine)> = None;
        while let Some((header, row)) = rows.next_row()? {
            self.spend(1)?;
            if let Some((start, at)) = last.take() {
                self.row(start..row.address(), at);
            }
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            let (Some(line), false) = (line, row.end_sequence()) else { continue };
            let number = row.file_index();
            let file = match files.get(&number) {
                Some(file) => *file,
                None => *files.entry(number).or_insert(self.file(unit, header, number)?),
            };
            let discriminator = u32::try_from(row.discriminator()).unwrap_or_default();
            last = Some((row.address(), SourceLine { file, line, discriminator }));
        }
        Ok(())
    }

    fn row(&mut self, range: Range<u64>, at: SourceLine) {
        if !self.is_code(&range) {
            return;
        }
        match self.found.rows.last_mut() {
            Some(last) if last.at == at && last.range.end == range.start => {
                last.range.end = range.end;
            }
            _ => self.found.rows.push(Row { range, at }),
        }
    }

    /// The number of a file, whose name is composed as addr2line does.
    fn file(
        &mut self,
        unit: &Unit<Bytes<'a>>,
        header: &LineProgramHeader<Bytes<'a>>,
        number: u64,
    ) -> gimli::Result<u32> {
        let mut path = String::new();
        let mut push = |part: &str| {
            if part.starts_with('/') {
                path.clear();
            } else if !path.is_empty() && !path.ends_with('/') {
                path.push('/');
            }
            path.push_str(part);
        };
        if let Some(folder) = unit.comp_dir {
            push(&printable_bytes(folder.slice()));
        }
        if let Some(file) = header.file(number) {
            // Directory 0 is that of the unit.
            let folder = file.directory(header).filter(|_| file.directory_index() != 0);
            for part in folder.into_iter().chain([file.path_name()]) {
                if let Ok(text) = self.dwarf.attr_string(unit, part) {
                    push(&printable_bytes(text.slice()));
                }
            }
        }
        self.spend(path.len())?;
        let next = self.found.files.len() as u32;
        let number = *self.files.entry(path.clone()).or_insert(next);
        if number == next {
            self.found.files.push(path);
        }
        Ok(number)
    }

    /// The functions of a unit.
    fn entries(&mut self, unit: &'r Unit<Bytes<'a>>) -> gimli::Result<()> {
        // The instances around an entry, with their depths.
        let mut around: Vec<(isize, u32)> = Vec::new();
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            while around.last().is_some_and(|(depth, _)| *depth >= entry.depth()) {
                around.pop();
            }
            let call = match (entry.tag(), around.last()) {
                (dw::DW_TAG_subprogram, _) => None,
                (dw::DW_TAG_inlined_subroutine, Some((_, caller))) => {
                    Some((*caller, self.call(unit, entry)?))
                }
                _ => continue,
            };
            let mut ranges = Vec::new();
            let mut all = self.dwarf.die_ranges(unit, entry)?;
            while let Some(range) = all.next()? {
                self.spend(1)?;
                ranges.extend(Some(range.begin..range.end).filter(|range| self.is_code(range)));
            }
            let Some(first) = ranges.first().map(|range| range.start) else { continue };
            let Some(function) = self.function(unit, entry)? else { continue };
            let named = entry.attr_value(dw::DW_AT_entry_pc);
            let entry_pc = match named {
                Some(AttributeValue::Udata(offset)) => Some(first.wrapping_add(offset)),
                Some(value) => self.dwarf.attr_address(unit, value)?,
                None => None,
            };
            let number = self.found.instances.len() as u32;
            around.push((entry.depth(), number));
            let entry = entry_pc.unwrap_or(first);
            let instance = Instance { function, call, entry, same: number };
            self.found.instances.push((instance, ranges));
        }
        Ok(())
    }

    /// Where an inlined function is called.
    fn call(&mut self, unit: &Unit<Bytes<'a>>, entry: &Entry<'a>) -> gimli::Result<SourceLine> {
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
        unit: &Unit<Bytes<'a>>,
        entry: &Entry<'a>,
        name: gimli::DwAt,
    ) -> gimli::Result<Option<u32>> {
        match (entry.attr_value(name), &unit.line_program) {
            (Some(AttributeValue::FileIndex(number)), Some(program)) => {
                Ok(Some(self.file(unit, program.header(), number)?))
            }
            _ => Ok(None),
        }
    }

    /// The number of the function that an entry is a copy of.
    fn function(
        &mut self,
        unit: &'r Unit<Bytes<'a>>,
        entry: &Entry<'a>,
    ) -> gimli::Result<Option<u32>> {
        // From the copy to the declaration.
        let mut chain = vec![(unit, entry.clone())];
        while let Some((unit, entry)) = chain.last().filter(|_| chain.len() < HOPS) {
            let origin = entry.attr_value(dw::DW_AT_abstract_origin);
            match origin.or_else(|| entry.attr_value(dw::DW_AT_specification)) {
                Some(next) => match self.referred(unit, next) {
                    Some(next) => chain.push(next),
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
                let name = self.dwarf.attr_string(unit, value).ok()?;
                Some(printable_bytes(name.slice()).into_owned())
            })
        };
        let linkage = [dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name];
        let name = text(&linkage).or_else(|| text(&[dw::DW_AT_name])).unwrap_or_default();
        self.spend(name.len())?;
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
        self.found.functions.push(SourceFunction { name, declared });
        Ok(Some(number))
    }

    /// The entry that an attribute refers to.
    fn referred(
        &self,
        unit: &'r Unit<Bytes<'a>>,
        value: AttributeValue<Bytes<'a>>,
    ) -> Option<(&'r Unit<Bytes<'a>>, Entry<'a>)> {
        let (unit, at) = match value {
            AttributeValue::UnitRef(at) => (unit, at),
            AttributeValue::DebugInfoRef(at) => {
                let after = self.units.partition_point(|unit| start(unit) <= at.0);
                let unit = self.units.get(after.checked_sub(1)?)?;
                (unit, at.to_unit_offset(&unit.header)?)
            }
            _ => return None,
        };
        Some((unit, unit.entry(at).ok()?))
    }
}

/// Where a unit starts.
fn start(unit: &Unit<Bytes<'_>>) -> usize {
    unit.header.debug_info_offset().map_or(0, |at| at.0)
}

/// Where an entry is.
fn offset(unit: &Unit<Bytes<'_>>, entry: &Entry<'_>) -> usize {
    start(unit).saturating_add(entry.offset().0)
}
