//! Assembles instructions with labels into an ELF file.

use super::{narrow, wide};

/// A place in the code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// The object whose address is loaded.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Place {
    Label(Label),
    Data(u64),
}

#[derive(Copy, Clone, Debug)]
enum Item {
    Wide(u32),
    Narrow(u16),
    /// A branch without its offset. If the target is too far away, it becomes a `nop`.
    Branch(u32, Label),
    NarrowBranch(u16, Label),
    NarrowJump(u16, Label),
    Jal(u32, Label),
    /// `auipc` and `addi`.
    Address(u32, Place),
    /// The address itself, as data of XLEN bits.
    Entry(Label),
    /// Alignment to a multiple of XLEN bits.
    Align,
    Here(Label),
}

/// Code under construction, with the names of its instructions.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) xlen: u32,
    /// The base of the addresses of code and data.
    base: u64,
    items: Vec<(Item, &'static str)>,
    labels: usize,
}

/// Offset of the code from the base of a program.
pub(crate) const CODE: u64 = 0x1_0000;
/// Offset of the data from the base of a program.
pub const DATA: u64 = 0x4_0000;
/// Offset of the code in the file, after the headers.
const HEADER: u64 = 0x1000;

/// Assembled code, and the name of the instruction at each address.
#[derive(Debug)]
pub(crate) struct Assembled {
    start: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) names: Vec<(u64, &'static str)>,
}

impl Code {
    pub(crate) fn new(xlen: u32, base: u64) -> Self {
        Self { xlen, base, items: Vec::new(), labels: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Creates a label without a position.
    pub(crate) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    pub(crate) fn here(&mut self, label: Label) {
        self.items.push((Item::Here(label), ""));
    }

    pub(crate) fn wide(&mut self, name: &'static str, word: u32) {
        self.items.push((Item::Wide(word), name));
    }

    pub(crate) fn narrow(&mut self, name: &'static str, half: u16) {
        self.items.push((Item::Narrow(half), name));
    }

    pub(crate) fn branch(&mut self, name: &'static str, word: u32, to: Label) {
        self.items.push((Item::Branch(word, to), name));
    }

    pub(crate) fn narrow_branch(&mut self, name: &'static str, half: u16, to: Label) {
        self.items.push((Item::NarrowBranch(half, to), name));
    }

    pub(crate) fn narrow_jump(&mut self, name: &'static str, half: u16, to: Label) {
        self.items.push((Item::NarrowJump(half, to), name));
    }

    pub(crate) fn jal(&mut self, rd: u32, to: Label) {
        self.items.push((Item::Jal(rd, to), "jal"));
    }

    pub(crate) fn address(&mut self, rd: u32, place: Place) {
        self.items.push((Item::Address(rd, place), "auipc"));
    }

    pub(crate) fn entry(&mut self, label: Label) {
        self.items.push((Item::Entry(label), ""));
    }

    /// Aligns the following data to a multiple of its size.
    pub(crate) fn align(&mut self) {
        self.items.push((Item::Align, ""));
    }

    /// Assigns an address to everything.
    pub(crate) fn assemble(&self) -> Assembled {
        let start = self.base + CODE;
        let mut places = vec![start; self.labels];
        let mut at = start;
        for (item, _) in &self.items {
            at += match item {
                Item::Here(label) => {
                    places[label.0] = at;
                    0
                }
                Item::Wide(_) | Item::Branch(..) | Item::Jal(..) => 4,
                Item::Narrow(_) | Item::NarrowBranch(..) | Item::NarrowJump(..) => 2,
                Item::Address(..) => 8,
                Item::Entry(_) => u64::from(self.xlen / 8),
                Item::Align => at.next_multiple_of(u64::from(self.xlen / 8)) - at,
            };
        }
        let mut out = Assembled { start, bytes: Vec::new(), names: Vec::new() };
        for (item, name) in &self.items {
            let pc = out.end();
            let offset = |label: &Label| places[label.0] as i64 - pc as i64;
            match item {
                Item::Here(_) => {}
                Item::Align => {
                    out.bytes.resize(out.bytes.len().next_multiple_of(self.xlen as usize / 8), 0);
                }
                Item::Wide(word) => out.wide(name, *word),
                Item::Narrow(half) => out.narrow(name, *half),
                Item::Branch(word, to) => match wide::branch_offset(offset(to)) {
                    Some(bits) => out.wide(name, word | bits),
                    None => out.wide("nop", wide::NOP),
                },
                Item::NarrowBranch(half, to) => match narrow::branch_offset(offset(to)) {
                    Some(bits) => out.narrow(name, half | bits),
                    None => out.narrow("c.nop", narrow::NOP),
                },
                Item::NarrowJump(half, to) => match narrow::jump_offset(offset(to)) {
                    Some(bits) => out.narrow(name, half | bits),
                    None => out.narrow("c.nop", narrow::NOP),
                },
                Item::Jal(rd, to) => out.wide(name, wide::jal(*rd, offset(to))),
                Item::Address(rd, place) => {
                    let offset = match place {
                        Place::Label(label) => offset(label),
                        Place::Data(address) => (self.base + address) as i64 - pc as i64,
                    };
                    // The lower part is signed.
                    let upper = (offset as u32).wrapping_add(0x800) & 0xffff_f000;
                    out.wide(name, upper | rd << 7 | 0x17);
                    out.wide("addi", wide::addi(*rd, *rd, offset as i32));
                }
                Item::Entry(label) => {
                    let address = places[label.0].to_le_bytes();
                    out.bytes.extend(&address[..self.xlen as usize / 8]);
                }
            }
        }
        out
    }
}

impl Assembled {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn wide(&mut self, name: &'static str, word: u32) {
        self.names.push((self.end(), name));
        self.bytes.extend(word.to_le_bytes());
    }

    fn narrow(&mut self, name: &'static str, half: u16) {
        self.names.push((self.end(), name));
        self.bytes.extend(half.to_le_bytes());
    }
}

/// Creates a static Linux program: code at [`CODE`], which is also its entry, and data at [`DATA`] padded
/// with zeros to `memory` bytes.
pub(crate) fn elf(xlen: u32, code: &[u8], data: &[u8], memory: u64) -> Vec<u8> {
    let wide = xlen == 64;
    let mut bytes = Vec::new();
    let word = |bytes: &mut Vec<u8>, value: u64| {
        bytes.extend(&value.to_le_bytes()[..xlen as usize / 8]);
    };
    let (header_size, entry_size) = if wide { (64u16, 56u16) } else { (52, 32) };
    bytes.extend([0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1, 1]);
    bytes.resize(16, 0);
    bytes.extend([2, 0, 243, 0, 1, 0, 0, 0]); // executable, RISC-V
    word(&mut bytes, CODE);
    word(&mut bytes, header_size.into());
    word(&mut bytes, 0);
    bytes.extend(5u32.to_le_bytes()); // compressed, double-precision registers
    for field in [header_size, entry_size, 2, 0, 0, 0] {
        bytes.extend(field.to_le_bytes());
    }
    let data_at = (HEADER + code.len() as u64).next_multiple_of(0x1000);
    let (code_size, data_size) = (code.len() as u64, data.len() as u64);
    for (flags, offset, address, size, memory) in
        [(5u32, HEADER, CODE, code_size, code_size), (6, data_at, DATA, data_size, memory)]
    {
        bytes.extend(1u32.to_le_bytes());
        if wide {
            bytes.extend(flags.to_le_bytes());
        }
        for field in [offset, address, address, size, memory] {
            word(&mut bytes, field);
        }
        if !wide {
            bytes.extend(flags.to_le_bytes());
        }
        word(&mut bytes, 0x1000);
    }
    bytes.resize(HEADER as usize, 0);
    bytes.extend(code);
    bytes.resize(data_at as usize, 0);
    bytes.extend(data);
    bytes
}
