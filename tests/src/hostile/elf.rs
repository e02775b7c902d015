//! An ELF file of 64 bits, with sections added at its end.

use super::{Abbreviation, Unit};

const NOBITS: u32 = 8;

/// The size of a section header.
const HEADER: usize = 64;

/// A section header.
#[derive(Copy, Clone, Debug, Default)]
pub struct Section {
    /// Offset of its name.
    pub name: u32,
    /// Its type.
    pub kind: u32,
    /// Its flags.
    pub flags: u64,
    /// Its address.
    pub address: u64,
    /// Where its bytes are.
    pub offset: u64,
    /// Its size.
    pub size: u64,
    /// The section that goes with it.
    pub link: u32,
    /// More about it.
    pub info: u32,
    /// Its alignment.
    pub align: u64,
    /// The size of an entry of a table.
    pub entry: u64,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Elf {
    bytes: Vec<u8>,
    sections: Vec<Section>,
    names: Vec<u8>,
    /// The section with names of sections.
    names_at: usize,
}

fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

impl Elf {
    /// Reads the sections of a good program.
    pub fn new(bytes: &[u8]) -> Self {
        let count = number(bytes, 0x3c, 2) as usize;
        let start = number(bytes, 0x28, 8) as usize;
        let sections: Vec<Section> = (0..count)
            .map(|index| {
                let header = &bytes[start + index * HEADER..][..HEADER];
                Section {
                    name: number(header, 0, 4) as u32,
                    kind: number(header, 4, 4) as u32,
                    flags: number(header, 8, 8),
                    address: number(header, 16, 8),
                    offset: number(header, 24, 8),
                    size: number(header, 32, 8),
                    link: number(header, 40, 4) as u32,
                    info: number(header, 44, 4) as u32,
                    align: number(header, 48, 8),
                    entry: number(header, 56, 8),
                }
            })
            .collect();
        let names_at = number(bytes, 0x3e, 2) as usize;
        let Section { offset, size, .. } = sections[names_at];
        let names = bytes[offset as usize..][..size as usize].to_vec();
        Self { bytes: bytes.to_vec(), sections, names, names_at }
    }

    /// Adds bytes; returns where they are.
    pub fn blob(&mut self, bytes: &[u8]) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let at = self.bytes.len();
        self.bytes.extend(bytes);
        at as u64
    }

    /// Adds the name of a section; returns where it is.
    pub fn name(&mut self, name: &str) -> u32 {
        let at = self.names.len();
        self.names.extend(name.bytes().chain([0]));
        at as u32
    }

    /// Adds a section header.
    pub fn push(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// Adds a section with these bytes.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> &mut Section {
        let (name, offset) = (self.name(name), self.blob(bytes));
        let size = bytes.len() as u64;
        self.push(Section { name, kind: 1, offset, size, align: 1, ..Section::default() });
        self.sections.last_mut().expect("it was just added")
    }

    /// Gives a section other bytes.
    pub fn replace(&mut self, name: &str, bytes: &[u8]) {
        let (offset, text) = (self.blob(bytes), [name.as_bytes(), b"\0"].concat());
        let named = |section: &&mut Section| self.names[section.name as usize..].starts_with(&text);
        let section = self.sections.iter_mut().find(named).expect("a section of that name");
        (section.offset, section.size) = (offset, bytes.len() as u64);
    }

    /// Adds executable addresses without bytes.
    #[must_use]
    pub fn bare_code(mut self, address: u64, size: u64) -> Self {
        self.push(Section { kind: NOBITS, flags: 6, address, size, ..Section::default() });
        self
    }

    /// Adds debug information.
    #[must_use]
    pub fn debug(mut self, table: &[Abbreviation], units: &[Unit], lines: &[u8]) -> Self {
        let mut abbreviations = Vec::new();
        table.iter().for_each(|abbreviation| abbreviation.write(&mut abbreviations));
        abbreviations.push(0);
        let mut info = Vec::new();
        units.iter().for_each(|unit| unit.write(&mut info));
        let parts =
            [(".debug_abbrev", &abbreviations[..]), (".debug_info", &info), (".debug_line", lines)];
        for (name, bytes) in parts {
            self.add(name, bytes);
        }
        self
    }

    /// Writes the file.
    pub fn finish(mut self) -> Vec<u8> {
        let names = std::mem::take(&mut self.names);
        let offset = self.blob(&names);
        let section = &mut self.sections[self.names_at];
        (section.offset, section.size) = (offset, names.len() as u64);
        let mut headers = Vec::new();
        for section in &self.sections {
            let Section { name, kind, flags, address, offset, size, link, info, align, entry } =
                *section;
            headers.extend([name, kind].into_iter().flat_map(u32::to_le_bytes));
            headers.extend([flags, address, offset, size].into_iter().flat_map(u64::to_le_bytes));
            headers.extend([link, info].into_iter().flat_map(u32::to_le_bytes));
            headers.extend([align, entry].into_iter().flat_map(u64::to_le_bytes));
        }
        let start = self.blob(&headers);
        self.bytes[0x28..0x30].copy_from_slice(&start.to_le_bytes());
        let count = self.sections.len() as u16;
        self.bytes[0x3c..0x3e].copy_from_slice(&count.to_le_bytes());
        self.bytes
    }
}
