//! The instructions in the code of an ELF file.

use super::tables;
use elf::ElfBytes;
use elf::abi::{EM_AARCH64, EM_ARM, EM_RISCV};
use elf::endian::LittleEndian;
use hartrace_isa::arm::{self, Arch, Kind, Rules, is_wide};
use hartrace_isa::{Isa, decode};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// A conditional branch whose target is in the code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its address.
    pub address: u64,
    /// The instruction after it, where the program continues if it is not taken.
    pub next: u64,
    /// Where the program continues if it is taken.
    pub target: u64,
}

/// What the bytes from an address on are, as mapping symbols say.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Content {
    RiscV,
    Arm(arm::Isa),
    Data,
}

/// The rules only matter for what ends blocks of a trace.
const RULES: Rules = Rules { arch: Arch::Later, barriers: false, wfx: false };

/// An instruction of Arm code.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ArmInsn {
    /// Its address.
    pub address: u64,
    /// Its instruction set.
    pub isa: arm::Isa,
    /// Its encoding; the first half-word of T32 is in the upper half.
    pub opcode: u32,
    /// What it does to the flow of control.
    pub insn: arm::Insn,
}

/// An executable section.
struct Section<'a> {
    address: u64,
    bytes: &'a [u8],
}

/// The code of an ELF file.
pub(super) struct Code<'a> {
    /// What it is where no mapping symbol says anything else.
    usual: Content,
    marks: BTreeMap<u64, Content>,
    sections: Vec<Section<'a>>,
}

impl<'a> Code<'a> {
    /// Finds the code of a file of this size; `None` if it is of another processor.
    pub(super) fn new(file: &ElfBytes<'a, LittleEndian>, size: usize) -> Option<Self> {
        let usual = match file.ehdr.e_machine {
            EM_RISCV => Content::RiscV,
            EM_AARCH64 => Content::Arm(arm::Isa::A64),
            EM_ARM => Content::Arm(arm::Isa::A32),
            _ => return None,
        };
        let marks = marks(file, usual).unwrap_or_default();
        let sections = tables::code_bytes(file, size).into_iter();
        let sections = sections.map(|(address, bytes)| Section { address, bytes }).collect();
        Some(Self { usual, marks, sections })
    }

    /// The branches by address in the file, from the first section on.
    pub(super) fn branches(&self, isa: Isa) -> Vec<Branch> {
        let mut list = Vec::new();
        for section in &self.sections {
            let end = section.address.saturating_add(section.bytes.len() as u64);
            self.walk(section, section.address..end, |address, content, word| {
                let (size, target) = match content {
                    Content::Data => (2, None),
                    Content::RiscV => riscv_branch(isa, address, word),
                    Content::Arm(set) => arm_branch(&arm_insn(set, address, word)),
                };
                let next = address.wrapping_add(size);
                list.extend(target.map(|target| Branch { address, next, target }));
                size
            });
        }
        list
    }

    /// The instructions of Arm code in a range of addresses in the file. Data within it is left out.
    pub(super) fn arm(&self, range: &Range<u64>) -> Vec<ArmInsn> {
        let mut list = Vec::new();
        for section in &self.sections {
            self.walk(section, range.clone(), |address, content, word| {
                let Content::Arm(set) = content else { return 2 };
                let insn = arm_insn(set, address, word);
                list.push(insn);
                insn.insn.size.into()
            });
        }
        list
    }

    /// Calls `visit` with each address in a range, what is there, and the word there. It returns the number of bytes to
    /// go on.
    fn walk(
        &self,
        section: &Section<'a>,
        range: Range<u64>,
        mut visit: impl FnMut(u64, Content, u32) -> u64,
    ) {
        let Section { address: start, bytes } = *section;
        let mut address = range.start.max(start);
        let before = self.marks.range(start..=address).next_back();
        let mut content = before.map_or(self.usual, |(_, content)| *content);
        let mut changes = self.marks.range(address..).peekable();
        while address < range.end
            && let Ok(at) = usize::try_from(address.saturating_sub(start))
            && let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= 2)
        {
            while let Some((_, next)) = changes.next_if(|(start, _)| **start <= address) {
                content = *next;
            }
            let mut word = [0; 4];
            word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            address = address.saturating_add(visit(address, content, u32::from_le_bytes(word)));
        }
    }
}

/// The size of an instruction, and its target if it is a conditional branch.
fn riscv_branch(isa: Isa, address: u64, word: u32) -> (u64, Option<u64>) {
    match decode(isa, word) {
        Some(insn) => {
            let target = insn.target(isa.xlen, address).filter(|_| insn.is_branch());
            (insn.size.into(), target)
        }
        None => (2, None),
    }
}

/// The same for Arm.
fn arm_branch(found: &ArmInsn) -> (u64, Option<u64>) {
    let target = match found.insn.kind {
        Kind::Direct { target, .. } if found.insn.conditional => Some(target),
        _ => None,
    };
    (found.insn.size.into(), target)
}

fn arm_insn(isa: arm::Isa, address: u64, word: u32) -> ArmInsn {
    let opcode = match isa {
        arm::Isa::A64 | arm::Isa::A32 => word,
        arm::Isa::T32 if is_wide(word as u16) => word.rotate_left(16),
        arm::Isa::T32 => word.wrapping_shl(16),
    };
    ArmInsn { address, isa, opcode, insn: arm::decode(isa, &RULES, address, opcode) }
}

/// The Arm code of several files; the file that was added first counts where several have code.
#[derive(Default)]
pub struct ArmCode<'a> {
    /// With what is added to its addresses.
    files: Vec<(Code<'a>, u64)>,
}

impl<'a> ArmCode<'a> {
    pub(super) fn add_elf(&mut self, bytes: &'a [u8], bias: u64) {
        if let Ok(file) = ElfBytes::minimal_parse(bytes)
            && let Some(code) = Code::new(&file, bytes.len())
        {
            self.files.push((code, bias));
        }
    }

    /// The instructions in a range of addresses; none if there is no Arm code.
    pub fn instructions(&self, range: &Range<u64>) -> Vec<ArmInsn> {
        let lists = self.files.iter().map(|(code, bias)| {
            let place = |address: u64| address.wrapping_sub(*bias);
            let mut list = code.arm(&(place(range.start)..place(range.end)));
            for found in &mut list {
                found.address = found.address.wrapping_add(*bias);
                if let Kind::Direct { target, .. } = &mut found.insn.kind {
                    *target = target.wrapping_add(*bias);
                }
            }
            list
        });
        lists.into_iter().find(|list| !list.is_empty()).unwrap_or_default()
    }
}

impl fmt::Debug for ArmCode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArmCode").field("files", &self.files.len()).finish()
    }
}

/// Where code and data start: `$x`, `$a`, `$t` and `$d`, each possibly with a suffix.
fn marks(file: &ElfBytes<'_, LittleEndian>, usual: Content) -> Option<BTreeMap<u64, Content>> {
    let mut marks = BTreeMap::new();
    for (symbol, name) in tables::symbols(file)? {
        let content = match name {
            [b'$', b'd', ..] => Content::Data,
            [b'$', b'x', ..] => usual,
            [b'$', b'a', ..] if usual != Content::RiscV => Content::Arm(arm::Isa::A32),
            [b'$', b't', ..] => Content::Arm(arm::Isa::T32),
            _ => continue,
        };
        marks.insert(symbol.st_value, content);
    }
    Some(marks)
}
