//! The code section.

use super::LineError;
use super::line::{Line, hex};
use hartrace_etrace::ingress::IType;
use hartrace_golden::Image;
use hartrace_golden::isa::{Flow, Insn, Isa, Link, Xlen};
use std::collections::BTreeMap;

/// One instruction of a scenario.
#[derive(Clone, Debug)]
pub struct Word {
    /// The encoding; only the low half if it has 2 bytes.
    pub word: u32,
    /// Mnemonic as written in the file.
    pub mnemonic: String,
    /// Line number in the file.
    pub line: usize,
    pub(crate) insn: Insn,
}

/// The program of a scenario.
#[derive(Clone, Debug)]
pub struct Code {
    isa: Isa,
    words: BTreeMap<u64, Word>,
}

impl Code {
    pub(crate) fn parse(lines: &[Line<'_>], isa: Isa) -> Result<Self, LineError> {
        let mut words = BTreeMap::new();
        for line in lines {
            let (address, word) = parse_word(line, isa)?;
            if words.insert(address, word).is_some() {
                return Err(line.error(format!("a second instruction at {address:x}")));
            }
        }
        let code = Self { isa, words };
        for (address, word) in &code.words {
            let inside = address.wrapping_add(1)..address.wrapping_add(word.insn.size.into());
            if inside.start <= inside.end && code.words.range(inside).next().is_some() {
                return Err(LineError::new(word.line, "the next instruction overlaps this one"));
            }
        }
        Ok(code)
    }

    /// Returns the width of addresses.
    pub fn xlen(&self) -> Xlen {
        self.isa.xlen
    }

    /// Returns the instructions in order of their addresses.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.words.values()
    }

    /// Returns the instructions with their addresses, in order.
    pub fn instructions(&self) -> impl Iterator<Item = (u64, &Word)> {
        self.words.iter().map(|(address, word)| (*address, word))
    }

    pub(crate) fn get(&self, address: u64) -> Option<&Word> {
        self.words.get(&address)
    }

    /// Returns the program for the golden decoder.
    pub fn image(&self) -> Image {
        let mut image = Image::new(self.isa);
        for (address, bytes) in self.segments() {
            image.add(address, &bytes);
        }
        image
    }

    /// Returns the code in pieces without holes, with their addresses.
    pub fn segments(&self) -> Vec<(u64, Vec<u8>)> {
        let mut segments: Vec<(u64, Vec<u8>)> = Vec::new();
        for (address, word) in &self.words {
            match segments.last_mut() {
                Some((start, bytes)) if start.wrapping_add(bytes.len() as u64) == *address => {
                    bytes.extend(word.bytes());
                }
                _ => segments.push((*address, word.bytes().collect())),
            }
        }
        segments
    }
}

/// `80000000: 00000013  nop`
fn parse_word(line: &Line<'_>, isa: Isa) -> Result<(u64, Word), LineError> {
    let Some((address, rest)) = line.text.split_once(':') else {
        return Err(line.error("expected `address: word  assembly`"));
    };
    let address = hex(line, address.trim())?;
    let (digits, assembly) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let word = hex(line, digits)? as u32;
    let insn = Insn::decode(word, isa).ok_or_else(|| line.error("not 2 or 4 bytes long"))?;
    if digits.len() != 2 * usize::from(insn.size) {
        return Err(line.error(format!("{digits} is not {} bytes", insn.size)));
    }
    let Some(mnemonic) = assembly.split_whitespace().next() else {
        return Err(line.error("assembly text is missing"));
    };
    if let Flow::Branch(offset) | Flow::Jump(offset) = insn.flow {
        let target = wrap(address.wrapping_add_signed(offset), isa.xlen);
        let written = assembly.rsplit([' ', ',']).next().unwrap_or_default();
        if u64::from_str_radix(written, 16) != Ok(target) {
            return Err(line.error(format!("the target is {target:x}, not {written}")));
        }
    }
    Ok((address, Word { word, mnemonic: mnemonic.to_owned(), line: line.number, insn }))
}

/// Truncates an address to the width of the instruction set.
pub(crate) fn wrap(address: u64, xlen: Xlen) -> u64 {
    match xlen {
        Xlen::Rv32 => address & u64::from(u32::MAX),
        Xlen::Rv64 => address,
    }
}

impl Word {
    /// Returns its size in bytes: 2 or 4.
    pub fn size(&self) -> u8 {
        self.insn.size
    }

    /// Returns its bytes in the order of their addresses.
    pub fn bytes(&self) -> impl Iterator<Item = u8> {
        self.word.to_le_bytes().into_iter().take(self.insn.size.into())
    }

    /// The 4-bit itype of a block that ends with this instruction; `taken` for branches.
    pub(crate) fn itype(&self, taken: bool) -> IType {
        let inferable = matches!(self.insn.flow, Flow::Jump(_) | Flow::Absolute(_));
        match self.insn.flow {
            Flow::Next | Flow::Trap => IType::None,
            Flow::Branch(_) if taken => IType::Taken,
            Flow::Branch(_) => IType::NotTaken,
            Flow::TrapReturn => IType::TrapReturn,
            Flow::Jump(_) | Flow::Absolute(_) | Flow::Indirect { .. } | Flow::Memory => {
                match (self.insn.link, inferable, self.keeps_link()) {
                    (Link::Call, true, _) => IType::InferableCall,
                    (Link::Call, false, _) => IType::UninferableCall,
                    (Link::Return, ..) => IType::Return,
                    (Link::Swap, ..) => IType::CoRoutineSwap,
                    (Link::None, true, false) => IType::InferableTailCall,
                    (Link::None, false, false) => IType::UninferableTailCall,
                    (Link::None, true, true) => IType::OtherInferableJump,
                    (Link::None, false, true) => IType::OtherUninferableJump,
                }
            }
        }
    }

    /// Whether it is a jump that saves its return address; compressed ones only in a link register.
    fn keeps_link(&self) -> bool {
        self.insn.size == 4 && self.word >> 7 & 31 != 0
    }
}
