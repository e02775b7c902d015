//! Source lines of code.

use super::{Budget, Bytes, Debug, DebugUnit, TooLarge};
use crate::programs::sources::{Row, SourceLine};
use crate::programs::tables;
use elf::ElfBytes;
use elf::endian::LittleEndian;
use gimli::LineProgramHeader;
use std::collections::HashMap;
use std::ops::Range;

/// The lines of a file, by addresses in it.
#[derive(Debug, Default)]
pub(in crate::programs) struct Lines {
    /// By address, not overlapping.
    pub(in crate::programs) rows: Vec<Row>,
    /// The names of source files.
    pub(in crate::programs) files: Files,
}

/// Names of source files, by number.
#[derive(Debug, Default)]
pub(in crate::programs) struct Files {
    pub(in crate::programs) names: Vec<String>,
    /// Numbers by name.
    numbers: HashMap<String, u32>,
    /// Numbers by line program and number in it.
    known: HashMap<(usize, u64), u32>,
}

impl Lines {
    /// Reads only the lines of a file.
    pub(in crate::programs) fn of_file(
        file: &ElfBytes<'_, LittleEndian>,
        size: usize,
    ) -> Result<Self, TooLarge> {
        let mut budget = Budget::new(size);
        let debug = Debug::new(file, &mut budget);
        let lines = Self::new(&debug, &tables::code_ranges(file), &mut budget);
        budget.check().map(|()| lines)
    }

    /// Reads all that can be read, of code in these ranges: of functions that the linker removed, lines remain at addresses
    /// where there is nothing.
    pub(in crate::programs) fn new(
        debug: &Debug<'_>,
        code: &[Range<u64>],
        budget: &mut Budget,
    ) -> Self {
        let mut lines = Self::default();
        let mut programs: Vec<usize> = debug.programs.values().map(|(unit, _)| *unit).collect();
        programs.sort_unstable();
        for unit in programs.into_iter().filter_map(|index| debug.units.get(index)) {
            // What comes before an error counts.
            let _ = lines.read(debug, unit, code, budget);
        }
        lines.rows.sort_by_key(|row| row.range.start);
        // Of overlapping rows the first counts.
        let mut end = 0;
        lines.rows.retain(|row| {
            let fits = row.range.start >= end;
            end = if fits { row.range.end } else { end };
            fits
        });
        lines
    }

    /// The rows of a unit.
    fn read<'a>(
        &mut self,
        debug: &Debug<'a>,
        unit: &DebugUnit<'a>,
        code: &[Range<u64>],
        budget: &mut Budget,
    ) -> gimli::Result<()> {
        let Some(program) = debug.program(unit) else { return Ok(()) };
        let mut rows = program.clone().rows();
        let mut last: Option<(u64, SourceLine)> = None;
        while let Some((header, row)) = rows.next_row()? {
            budget.spend(size_of::<Row>())?;
            if let Some((start, at)) = last.take() {
                self.row(start..row.address(), at, code);
            }
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            let (Some(line), false) = (line, row.end_sequence()) else { continue };
            let file = self.files.number(debug, unit, header, row.file_index(), budget)?;
            let discriminator = u32::try_from(row.discriminator()).unwrap_or_default();
            last = Some((row.address(), SourceLine { file, line, discriminator }));
        }
        Ok(())
    }

    fn row(&mut self, range: Range<u64>, at: SourceLine, code: &[Range<u64>]) {
        if !tables::contains(code, &range) {
            return;
        }
        match self.rows.last_mut() {
            Some(last) if last.at == at && last.range.end == range.start => {
                last.range.end = range.end;
            }
            _ => self.rows.push(Row { range, at }),
        }
    }

    /// The file and the line of an address.
    pub(in crate::programs) fn find(&self, address: u64) -> Option<(&str, u32)> {
        let index = self.rows.partition_point(|row| row.range.start <= address).checked_sub(1)?;
        let row = self.rows.get(index).filter(|row| address < row.range.end)?;
        Some((self.files.names.get(row.at.file as usize)?, row.at.line))
    }
}

impl Files {
    /// The number of a file, whose name is composed as addr2line does.
    pub(in crate::programs) fn number<'a>(
        &mut self,
        debug: &Debug<'a>,
        unit: &DebugUnit<'a>,
        header: &LineProgramHeader<Bytes<'a>>,
        number: u64,
        budget: &mut Budget,
    ) -> gimli::Result<u32> {
        let key = (header.offset().0, number);
        if let Some(number) = self.known.get(&key) {
            return Ok(*number);
        }
        let mut path = String::new();
        let mut push = |part: Bytes<'_>| {
            let part = tables::cut(part.slice());
            if part.starts_with('/') {
                path.clear();
            } else if !path.is_empty() && !path.ends_with('/') {
                path.push('/');
            }
            path.push_str(&part);
        };
        if let Some(folder) = unit.unit.comp_dir {
            push(folder);
        }
        if let Some(file) = header.file(number) {
            // Directory 0 is that of the unit.
            let folder = file.directory(header).filter(|_| file.directory_index() != 0);
            for part in folder.into_iter().chain([file.path_name()]) {
                if let Ok(text) = debug.dwarf.attr_string(&unit.unit, part) {
                    // To find its end takes time too.
                    budget.spend(text.len())?;
                    push(text);
                }
            }
        }
        budget.spend(path.len().saturating_add(ENTRY))?;
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(path.clone()).or_insert(next);
        if number == next {
            self.names.push(path);
        }
        self.known.insert(key, number);
        Ok(number)
    }
}

/// Bytes in memory for each file, besides its name.
const ENTRY: usize = 128;
