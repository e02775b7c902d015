//! Debug information of DWARF 4, byte by byte: a library would refuse what these tests are about.

/// An attribute: its name and its form.
pub(super) type Attribute = (u16, u8);

pub(super) const FLAG: Attribute = (0x3f, 0x19);
pub(super) const FOLDER: Attribute = (0x1b, 0x08);
pub(super) const ORIGIN: Attribute = (0x31, 0x13);
pub(super) const PC: [Attribute; 2] = [(0x11, 0x01), (0x12, 0x07)];
pub(super) const RANGES: Attribute = (0x55, 0x17);
pub(super) const STATEMENTS: Attribute = (0x10, 0x17);

/// What entries with a code look like.
#[derive(Clone, Debug)]
pub struct Abbreviation {
    /// The code.
    pub code: u64,
    /// What the entries are.
    pub tag: u16,
    /// Whether others are within them.
    pub parent: bool,
    /// Their attributes.
    pub attributes: Vec<Attribute>,
}

impl Abbreviation {
    pub(super) fn new(code: u64, tag: u16, attributes: &[Attribute]) -> Self {
        Self { code, tag, parent: false, attributes: attributes.to_vec() }
    }

    pub(super) fn parent(self) -> Self {
        Self { parent: true, ..self }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        leb(self.code, out);
        leb(self.tag.into(), out);
        out.push(self.parent.into());
        for (name, form) in &self.attributes {
            leb((*name).into(), out);
            leb((*form).into(), out);
        }
        out.extend([0, 0]);
    }
}

/// An entry: its code and the values of its attributes.
#[derive(Clone, Debug)]
pub struct Entry(
    /// Its bytes.
    pub Vec<u8>,
);

impl Entry {
    pub(super) fn new(code: u64) -> Self {
        let mut bytes = Vec::new();
        leb(code, &mut bytes);
        Self(bytes)
    }

    pub(super) fn number(mut self, size: usize, value: u64) -> Self {
        self.0.extend(&value.to_le_bytes()[..size]);
        self
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.0.extend(text.bytes().chain([0]));
        self
    }
}

/// A unit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Where its abbreviations are.
    pub table: u32,
    /// Its entries in order. Those that end others are not needed at its end.
    pub entries: Vec<Entry>,
}

impl Unit {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let length: usize = self.entries.iter().map(|entry| entry.0.len()).sum();
        out.extend((length as u32 + 7).to_le_bytes());
        out.extend(4u16.to_le_bytes());
        out.extend(self.table.to_le_bytes());
        out.push(8);
        self.entries.iter().for_each(|entry| out.extend(&entry.0));
    }
}

pub(super) fn unit_with(entry: Entry) -> [Unit; 1] {
    [Unit { table: 0, entries: vec![entry] }]
}

/// A line program of these files, with a row for each of `rows` addresses; each is of the next file, as far as there are any.
pub fn line_program(files: &[&str], address: u64, rows: usize) -> Vec<u8> {
    let mut header = vec![1, 1, 1, 0xfd, 12, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0];
    for file in files {
        header.extend(file.bytes().chain([0; 4]));
    }
    header.push(0);
    let mut program = vec![0, 9, 2];
    program.extend(address.to_le_bytes());
    for row in 0..rows {
        if files.len() > 1 {
            program.push(4);
            leb((row % files.len()) as u64 + 1, &mut program);
        }
        program.push(0x20);
    }
    program.extend([0, 1, 1]);
    let mut out = Vec::new();
    out.extend(((2 + 4 + header.len() + program.len()) as u32).to_le_bytes());
    out.extend(4u16.to_le_bytes());
    out.extend((header.len() as u32).to_le_bytes());
    out.extend(header);
    out.extend(program);
    out
}

fn leb(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
