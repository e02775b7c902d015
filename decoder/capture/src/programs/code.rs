//! The conditional branches in the code of an ELF file.

use elf::ElfBytes;
use elf::abi::{EM_AARCH64, EM_ARM, EM_RISCV, SHF_EXECINSTR, SHT_NOBITS};
use elf::endian::LittleEndian;
use hartrace_isa::arm::{self, Arch, Kind, Rules, is_wide};
use hartrace_isa::{Isa, decode};
use std::collections::BTreeMap;

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

/// The branches by address in the file, from the first section on.
pub(super) fn branches(file: &ElfBytes<'_, LittleEndian>, isa: Isa) -> Vec<Branch> {
    let usual = match file.ehdr.e_machine {
        EM_RISCV => Content::RiscV,
        EM_AARCH64 => Content::Arm(arm::Isa::A64),
        EM_ARM => Content::Arm(arm::Isa::A32),
        _ => return Vec::new(),
    };
    let marks = marks(file, usual).unwrap_or_default();
    let mut list = Vec::new();
    for header in file.section_headers().into_iter().flatten() {
        let code = header.sh_flags & u64::from(SHF_EXECINSTR) != 0;
        let (true, Ok((bytes, None))) =
            (code && header.sh_type != SHT_NOBITS, file.section_data(&header))
        else {
            continue;
        };
        let mut changes = marks.range(header.sh_addr..).peekable();
        let (mut content, mut at) = (usual, 0usize);
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= 2) {
            let address = header.sh_addr.wrapping_add(at as u64);
            while let Some((_, next)) = changes.next_if(|(start, _)| **start <= address) {
                content = *next;
            }
            let (size, target) = insn(content, isa, address, rest);
            let next = address.wrapping_add(size);
            list.extend(target.map(|target| Branch { address, next, target }));
            at = at.saturating_add(size as usize);
        }
    }
    list
}

/// The size of an instruction, and its target if it is a conditional branch.
fn insn(content: Content, isa: Isa, address: u64, bytes: &[u8]) -> (u64, Option<u64>) {
    let mut word = [0; 4];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let word = u32::from_le_bytes(word);
    match content {
        Content::Data => (2, None),
        Content::RiscV => match decode(isa, word) {
            Some(insn) => {
                let target = insn.target(isa.xlen, address).filter(|_| insn.is_branch());
                (insn.size.into(), target)
            }
            None => (2, None),
        },
        Content::Arm(set) => {
            let opcode = match set {
                arm::Isa::A64 | arm::Isa::A32 => word,
                arm::Isa::T32 if is_wide(word as u16) => word.rotate_left(16),
                arm::Isa::T32 => word.wrapping_shl(16),
            };
            let insn = arm::decode(set, &RULES, address, opcode);
            let target = match insn.kind {
                Kind::Direct { target, .. } if insn.conditional => Some(target),
                _ => None,
            };
            (insn.size.into(), target)
        }
    }
}

/// Where code and data start: `$x`, `$a`, `$t` and `$d`, each possibly with a suffix.
fn marks(file: &ElfBytes<'_, LittleEndian>, usual: Content) -> Option<BTreeMap<u64, Content>> {
    let (table, names) = file.symbol_table().ok()??;
    let mut marks = BTreeMap::new();
    for symbol in table.iter() {
        let Ok(name) = names.get(symbol.st_name as usize) else { continue };
        let content = match name.as_bytes() {
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
