//! Debug information of ELF files.
//!
//! A few bytes of it can stand for any amount: units share tables, entries share names, and tables may overlap. Each
//! table is therefore read once, and everything that is made of it is paid from a [`Budget`].

mod lines;

pub(super) use lines::Lines;

use super::tables;
use crate::limits::{DEBUG_ANYWAY, DEBUG_PER_BYTE};
use elf::ElfBytes;
use elf::abi::SHF_COMPRESSED;
use elf::endian::LittleEndian;
use gimli::{
    Abbreviations, DebugAbbrevOffset, Dwarf, EndianSlice, FileEntry, IncompleteLineProgram,
    LittleEndian as Little, Reader as _, Section as _, SectionId, Unit, UnitHeader,
    constants as dw,
};
use std::collections::HashMap;
use std::sync::Arc;
use thiserror::Error;

pub(super) type Bytes<'a> = EndianSlice<'a, Little>;

/// The debug information of a file stands for much more than a compiler would write in a file of that size.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("too large in effect")]
pub struct TooLarge;

/// What may still be made of the debug information of a file.
#[derive(Debug)]
pub(super) struct Budget {
    left: Option<usize>,
}

impl Budget {
    /// For a file of this size.
    pub(super) fn new(bytes: usize) -> Self {
        Self { left: Some(bytes.saturating_mul(DEBUG_PER_BYTE).saturating_add(DEBUG_ANYWAY)) }
    }

    /// Uses up some of it; an error if that is more than there is.
    pub(super) fn spend(&mut self, amount: usize) -> gimli::Result<()> {
        self.left = self.left.and_then(|left| left.checked_sub(amount));
        self.left.map(|_| ()).ok_or(gimli::Error::OffsetOutOfBounds(0))
    }

    /// Whether it was enough.
    pub(super) fn check(&self) -> Result<(), TooLarge> {
        self.left.map(|_| ()).ok_or(TooLarge)
    }
}

/// Bytes in memory for each byte of a table of abbreviations: the smallest has five, and becomes a few words.
const ABBREVIATION: usize = 32;

/// The debug information of a file.
pub(super) struct Debug<'a> {
    pub(super) dwarf: Dwarf<Bytes<'a>>,
    /// By offset.
    pub(super) units: Vec<DebugUnit<'a>>,
    /// Line programs by offset, with the index of the first unit that refers to them.
    programs: HashMap<usize, (usize, Program<'a>)>,
}

type Program<'a> = IncompleteLineProgram<Bytes<'a>>;

/// A unit.
pub(super) struct DebugUnit<'a> {
    /// Without its line program, which others may share.
    pub(super) unit: Unit<Bytes<'a>>,
    /// The offset of its line program.
    lines: Option<usize>,
}

impl<'a> Debug<'a> {
    /// Reads the units of a file. What cannot be read is left out.
    pub(super) fn new(file: &ElfBytes<'a, LittleEndian>, budget: &mut Budget) -> Self {
        let dwarf = sections(file);
        let mut debug = Self { dwarf, units: Vec::new(), programs: HashMap::new() };
        let mut tables = HashMap::new();
        let mut headers = debug.dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            // What comes after an error may be good, but nothing comes after the end of the budget.
            let _ = debug.add(header, &mut tables, budget);
            if budget.check().is_err() {
                break;
            }
        }
        debug
    }

    fn add(
        &mut self,
        header: UnitHeader<Bytes<'a>>,
        tables: &mut HashMap<usize, Arc<Abbreviations>>,
        budget: &mut Budget,
    ) -> gimli::Result<()> {
        let offset = header.debug_abbrev_offset();
        let table = match tables.get(&offset.0) {
            Some(table) => table.clone(),
            None => {
                budget.spend(self.table_length(offset)?.saturating_mul(ABBREVIATION))?;
                let table = Arc::new(self.dwarf.debug_abbrev.abbreviations(offset)?);
                tables.insert(offset.0, table.clone());
                table
            }
        };
        let mut unit = Unit::new_with_abbreviations(&self.dwarf, header, table)?;
        budget.spend(size_of::<DebugUnit<'_>>())?;
        let root = unit.entries_raw(None)?.read_abbreviation()?;
        budget.spend(root.map_or(0, |root| root.attributes().len()))?;
        let names = [unit.name, unit.comp_dir].into_iter().flatten();
        budget.spend(names.map(|name| name.len()).sum())?;
        let program = unit.line_program.take();
        let lines = program.as_ref().map(|program| program.header().offset().0);
        if let (Some(program), Some(offset)) = (program, lines) {
            budget.spend(program.header().header_length())?;
            if !self.programs.contains_key(&offset) {
                let files = program.header().file_names().len();
                budget.spend(files.saturating_mul(size_of::<FileEntry<Bytes<'_>>>()))?;
                budget.spend(program.header().unit_length())?;
                self.programs.insert(offset, (self.units.len(), program));
            }
        }
        self.units.push(DebugUnit { unit, lines });
        Ok(())
    }

    /// The length of a table of abbreviations.
    fn table_length(&self, offset: DebugAbbrevOffset) -> gimli::Result<usize> {
        let mut rest = *self.dwarf.debug_abbrev.reader();
        rest.skip(offset.0)?;
        let before = rest.len();
        while !rest.is_empty() && rest.read_uleb128()? != 0 {
            rest.skip_leb128()?;
            rest.skip(1)?;
            loop {
                let (name, form) = (rest.read_uleb128()?, rest.read_uleb128()?);
                match (name, form) {
                    (0, 0) => break,
                    (_, form) if form == u64::from(dw::DW_FORM_implicit_const.0) => {
                        rest.skip_leb128()?;
                    }
                    _ => {}
                }
            }
        }
        Ok(before.saturating_sub(rest.len()))
    }

    /// The line program of a unit.
    pub(super) fn program(&self, unit: &DebugUnit<'a>) -> Option<&Program<'a>> {
        self.programs.get(&unit.lines?).map(|(_, program)| program)
    }
}

/// The sections with debug information.
fn sections<'a>(file: &ElfBytes<'a, LittleEndian>) -> Dwarf<Bytes<'a>> {
    let mut names = Vec::new();
    // The names that are asked for are those of the library.
    let _ = Dwarf::load(|id: SectionId| {
        names.push(id.name());
        Ok::<_, gimli::Error>(())
    });
    let found = tables::named(file, names.into_iter());
    let section = |id: SectionId| {
        let header = found.get(id.name());
        // Compressed debug information is not supported, and treated as absent.
        let header = header.filter(|h| h.sh_flags & u64::from(SHF_COMPRESSED) == 0);
        let data = header.and_then(|h| file.section_data(h).ok());
        EndianSlice::new(data.map_or(&[][..], |(bytes, _)| bytes), Little)
    };
    Dwarf::load(|id| Ok::<_, gimli::Error>(section(id))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::sources::Sources;
    use super::super::{Programs, TooLarge};
    use super::*;
    use hartrace_isa::{Isa, Xlen};
    use hartrace_tests::hostile::{Elf, SHAPES};

    const ISA: Isa = Isa::new(Xlen::Rv64);
    const PLAIN: &[u8] = include_bytes!("../../../../tests/programs/elf/calls.elf");

    /// What shares tables is read, what stands for too much is not.
    #[test]
    fn shapes_are_read_or_left_out() {
        let large = [
            "abbreviations-overlapping",
            "attributes-without-bytes",
            "file-names-long",
            "ranges-shared",
        ];
        for (name, shape) in SHAPES {
            let bytes = shape(Elf::new(PLAIN));
            let read = Sources::default().add_elf(&bytes, 0, ISA);
            let expected = if large.contains(&name) { Err(TooLarge) } else { Ok(()) };
            assert_eq!(read, expected, "{name}");
        }
    }

    /// The warning names the program, once it is asked for lines.
    #[test]
    fn programs_warn() {
        let shape = |wanted: &str| SHAPES.iter().find(|(name, _)| *name == wanted).unwrap().1;
        let mut programs = Programs::new(Xlen::Rv64);
        programs.add_names("a.elf", shape("abbreviations-overlapping")(Elf::new(PLAIN)), 0);
        programs.add_names("b.elf", shape("lines-shared")(Elf::new(PLAIN)), 0);
        let symbols = programs.all_symbols();
        assert!(programs.warnings().is_empty());
        assert_eq!(symbols.source(0x9000_0010).as_deref(), Some("a.c:65"));
        assert_eq!(symbols.source(0), None);
        let warning = "debug information of a.elf is too large in effect; lines are left out";
        assert_eq!(programs.warnings(), [warning]);
    }

    /// Files of compilers stay far below the limit.
    #[test]
    fn real_programs_need_little() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/elf/debug/");
        for entry in std::fs::read_dir(folder).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            let Ok(file) = ElfBytes::minimal_parse(&bytes) else { continue };
            let mut budget = Budget { left: Some(usize::MAX) };
            let debug = Debug::new(&file, &mut budget);
            let _ = Lines::new(&debug, &tables::code_ranges(&file), &mut budget);
            let used = usize::MAX - budget.left.unwrap();
            assert!(used <= DEBUG_PER_BYTE * bytes.len() / 8, "{used} of {}", bytes.len());
        }
    }
}
