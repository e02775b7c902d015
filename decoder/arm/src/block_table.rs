//! Arm code for a [table of blocks](hartrace_decoder::block_table), which a walker in hardware follows.
//!
//! A block ends with the first instruction that is an element of the trace (P0): a branch, an ISB, and what [`Rules`] add.
//!
//! The table does not have the instruction set of a block: code at an address is of one instruction set only. For an ELF
//! file, that is what its mapping symbols say (`$x`, `$a`, `$t`; `$d` is data); otherwise, it is what the caller says.

use crate::Memory;
use crate::memory::opcode;
use crate::program::{ProgramError, segments};
use elf::ElfBytes;
use elf::abi::{EM_AARCH64, EM_ARM, PF_X, PT_LOAD};
use elf::endian::AnyEndian;
use hartrace_decoder::block_table::{self, BlockTable, Ends, Step};
use hartrace_isa::arm::{Insn, Isa, Kind, Return, Rules, decode};
use std::ops::Range;
use thiserror::Error;

/// Code, each piece of one instruction set.
#[derive(Clone, Debug)]
pub struct Code {
    rules: Rules,
    /// By address, without overlaps.
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
struct Piece {
    start: u64,
    bytes: Vec<u8>,
    isa: Isa,
}

impl Piece {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.bytes.len() as u64)
    }
}

/// Why the code of a program is not known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CodeError {
    /// It is no program, or cannot be loaded.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Nothing says what is A32 and what is T32.
    #[error("no mapping symbols ($a, $t), so that nothing says which code is A32 and which is T32")]
    InstructionSets,
    /// The bytes of opcodes are in another order.
    #[error("a big-endian program")]
    BigEndian,
}

impl Code {
    /// No code yet.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { rules, pieces: Vec::new() }
    }

    /// Adds code. Where there is some already, that stays.
    pub fn add(&mut self, start: u64, bytes: &[u8], isa: Isa) {
        let end = start.saturating_add(bytes.len() as u64);
        let mut next = self.pieces.partition_point(|piece| piece.end() <= start);
        let mut at = start;
        while at < end {
            let there = self.pieces.get(next).map(|piece| piece.start..piece.end());
            let until = there.as_ref().map_or(end, |piece| piece.start.min(end));
            let place = |address: u64| usize::try_from(address.saturating_sub(start)).ok();
            let free = place(at).zip(place(until)).and_then(|(from, to)| bytes.get(from..to));
            if let Some(free) = free.filter(|free| !free.is_empty()) {
                self.pieces.insert(next, Piece { start: at, bytes: free.to_vec(), isa });
                next = next.saturating_add(1);
            }
            at = there.map_or(end, |piece| piece.end);
            next = next.saturating_add(1);
        }
    }

    /// Adds all code in a memory, whatever its address space.
    pub fn add_memory(&mut self, memory: &Memory, isa: Isa) {
        memory.segments().for_each(|(start, bytes)| self.add(start, bytes, isa));
    }

    /// Adds the code of an ELF file: of its segments that can be executed, what mapping symbols say is code. Without
    /// mapping symbols, all of an AArch64 program is code.
    ///
    /// # Errors
    ///
    /// If it is no program, or nothing says which of its code is A32 and which is T32.
    pub fn add_elf(&mut self, bytes: &[u8], bias: u64) -> Result<(), CodeError> {
        segments(bytes)?;
        let file = ElfBytes::<AnyEndian>::minimal_parse(bytes).map_err(ProgramError::from)?;
        if file.ehdr.endianness != AnyEndian::Little {
            return Err(CodeError::BigEndian);
        }
        let marks = marks(&file);
        let wide = file.ehdr.e_machine == EM_AARCH64;
        if file.ehdr.e_machine == EM_ARM && !marks.iter().any(|(_, isa)| isa.is_some()) {
            return Err(CodeError::InstructionSets);
        }
        for segment in file.segments().iter().flat_map(|table| table.iter()) {
            if segment.p_type != PT_LOAD || segment.p_flags & PF_X == 0 {
                continue;
            }
            let data = file.segment_data(&segment).map_err(ProgramError::from)?;
            let end = segment.p_vaddr.saturating_add(data.len() as u64);
            let first =
                (segment.p_vaddr, if marks.is_empty() && wide { Some(Isa::A64) } else { None });
            let place = |address: u64| marks.partition_point(|(at, _)| *at < address);
            let inside = marks.get(place(segment.p_vaddr)..place(end)).unwrap_or_default();
            let starts: Vec<(u64, Option<Isa>)> = [first].iter().chain(inside).copied().collect();
            let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([end]);
            for ((start, isa), end) in starts.iter().zip(ends) {
                let place = |at: u64| usize::try_from(at.saturating_sub(segment.p_vaddr)).ok();
                let code = place(*start).zip(place(end)).and_then(|(from, to)| data.get(from..to));
                if let (Some(isa), Some(code)) = (isa, code) {
                    self.add(start.wrapping_add(bias), code, *isa);
                }
            }
        }
        Ok(())
    }

    /// The instruction at an address, and its instruction set.
    #[must_use]
    pub fn insn(&self, address: u64) -> Option<(Insn, Isa)> {
        let at = self.pieces.partition_point(|piece| piece.start <= address).checked_sub(1)?;
        let Piece { start, bytes, isa } = self.pieces.get(at)?;
        let rest = bytes.get(usize::try_from(address.wrapping_sub(*start)).ok()?..)?;
        let aligned = match isa {
            Isa::A64 | Isa::A32 => address & 3 == 0,
            Isa::T32 => address & 1 == 0,
        };
        // A short instruction may be the last one.
        let padded = || opcode(*isa, &[rest, &[0; 2]].concat());
        let opcode = match (rest.len(), isa) {
            (4.., _) => opcode(*isa, rest),
            (2 | 3, Isa::T32) => padded(),
            _ => None,
        };
        let insn = decode(*isa, &self.rules, address, opcode.filter(|_| aligned)?);
        (usize::from(insn.size) <= rest.len()).then_some((insn, *isa))
    }

    /// The table of blocks, which are cut where a span has no more bits. `roots` are addresses of instructions.
    #[must_use]
    pub fn table(&self, roots: &[u64], span_bits: u32) -> BlockTable {
        BlockTable::build(self, roots, span_bits)
    }
}

/// Where code of an instruction set, or data, starts.
fn marks(file: &ElfBytes<'_, AnyEndian>) -> Vec<(u64, Option<Isa>)> {
    let Some((table, names)) = file.symbol_table().ok().flatten() else { return Vec::new() };
    let mark = |value: u64, name: &str| {
        let isa = match name.split('.').next()? {
            "$x" => Some(Isa::A64),
            "$a" => Some(Isa::A32),
            "$t" => Some(Isa::T32),
            "$d" => None,
            _ => return None,
        };
        Some((value, isa))
    };
    let named = table
        .iter()
        .filter_map(|symbol| mark(symbol.st_value, names.get(symbol.st_name as usize).ok()?));
    let mut marks: Vec<_> = named.collect();
    // Of two at one address, the one that names code counts.
    marks.sort_by_key(|(at, isa)| (*at, isa.is_none()));
    marks.dedup_by_key(|(at, _)| *at);
    marks
}

impl block_table::Code for Code {
    fn ranges(&self) -> Vec<Range<u64>> {
        self.pieces.iter().map(|piece| piece.start..piece.end()).collect()
    }

    fn step(&self, address: u64, _: Option<u64>) -> Option<Step> {
        let (insn, isa) = self.insn(address)?;
        let target = match insn.kind {
            Kind::Direct { target, .. } => Some(target),
            _ => None,
        };
        let ends = ends(&insn);
        // Every instruction of T32 may be in an IT block (O19).
        let conditional = match ends {
            Ends::Next => insn.ends_block(),
            Ends::Branch => false,
            _ => insn.conditional || isa == Isa::T32,
        };
        let leaves = matches!(ends, Ends::Jump | Ends::Indirect | Ends::Return);
        Some(Step {
            wide: insn.size == 4,
            next: address.wrapping_add(insn.size.into()),
            ends,
            sequential: false,
            conditional,
            target,
            goes_on: !leaves || conditional,
        })
    }
}

/// How a block ends with this instruction.
fn ends(insn: &Insn) -> Ends {
    match insn.kind {
        Kind::Direct { .. } if insn.link => Ends::Call,
        Kind::Direct { .. } if insn.conditional => Ends::Branch,
        Kind::Direct { .. } => Ends::Jump,
        Kind::Indirect if insn.link => Ends::IndirectCall,
        Kind::Indirect if matches!(insn.returns, Return::Ret | Return::Implied) => Ends::Return,
        Kind::Indirect => Ends::Indirect,
        _ => Ends::Next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_decoder::block_table::WordLayout;
    use hartrace_isa::arm::Arch;
    use std::path::Path;

    const RULES: Rules = Rules { arch: Arch::Later, barriers: false, wfx: false };

    /// Start, span, end, whether it may go on, and target of every entry.
    fn rows(code: &Code, span_bits: u32) -> Vec<(u64, u32, Ends, bool, u32)> {
        let table = code.table(&[], span_bits);
        let entries = table.entries().iter();
        entries.map(|e| (e.start, e.span, e.ends, e.conditional, e.target)).collect()
    }

    #[test]
    fn an_entry_ends_with_every_element_of_the_trace() {
        let mut code = Code::new(RULES);
        let a64: [u32; 8] = [
            0xd503_201f, // nop
            0xd503_3fdf, // isb
            0x5400_0060, // b.eq 14
            0x97ff_fffd, // bl 0
            0xd63f_0060, // blr x3
            0xd65f_03c0, // ret
            0xd69f_03e0, // eret
            0x17ff_ffff, // b 18
        ];
        code.add(0x1000, &a64.map(u32::to_le_bytes).concat(), Isa::A64);
        use Ends::{Branch, Call, Indirect, IndirectCall, Jump, Next, NoCode, Return};
        let expected = [
            (0x1000, 2, Next, true, 0),
            (0x1008, 0, Branch, false, 4),
            (0x100c, 0, Call, false, 0),
            (0x1010, 0, IndirectCall, false, 0),
            (0x1014, 0, Return, false, 0),
            (0x1018, 0, Indirect, false, 0),
            (0x101c, 0, Jump, false, 5),
            (0x1020, 0, NoCode, false, 0),
        ];
        assert_eq!(rows(&code, 6), expected);
    }

    #[test]
    fn jumps_with_conditions_may_go_on() {
        let mut code = Code::new(RULES);
        // bxeq lr, bleq .+8, bx lr
        let a32 = [0x012f_ff1e_u32, 0x0b00_0000, 0xe12f_ff1e];
        code.add(0x2000, &a32.map(u32::to_le_bytes).concat(), Isa::A32);
        // bx lr, b .+4: either may be in an IT block.
        code.add(0x200c, &[0x4770_u16, 0xe000].map(u16::to_le_bytes).concat(), Isa::T32);
        let found: Vec<_> = rows(&code, 6).into_iter().map(|row| (row.2, row.3)).collect();
        use Ends::{Call, Jump, NoCode, Return};
        let expected =
            [(Return, true), (Call, true), (Return, false), (Return, true), (Jump, true)];
        assert_eq!(found, [&expected[..], &[(NoCode, false)]].concat());
    }

    #[test]
    fn what_was_added_first_stays() {
        let mut code = Code::new(RULES);
        let nops = |count: usize| [0x1f, 0x20, 0x03, 0xd5].repeat(count);
        code.add(0x1008, &nops(2), Isa::A64);
        code.add(0x1010, &0xd65f_03c0_u32.to_le_bytes(), Isa::A64);
        code.add(0x1000, &[0u8; 0x18], Isa::T32);
        let sets = [0x1000, 0x1004, 0x1008, 0x100c, 0x1010, 0x1014].map(|at| code.insn(at));
        let sets = sets.map(|insn| insn.map(|(_, isa)| isa));
        use Isa::{A64, T32};
        assert_eq!(sets, [T32, T32, A64, A64, A64, T32].map(Some));
        assert_eq!(code.insn(0x1018), None);
        assert_eq!(code.insn(0xffe), None);
    }

    /// Mapping symbols of real programs: functions of each instruction set, and no data.
    #[test]
    fn programs_have_the_code_that_their_symbols_say() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/elf/arm");
        for (name, sets) in [
            ("a64/sort", &[Isa::A64][..]),
            ("long-a32", &[Isa::A32]),
            ("t32/sort", &[Isa::T32]),
            ("long-mixed", &[Isa::A32, Isa::T32]),
        ] {
            let elf = std::fs::read(folder.join(format!("{name}.elf"))).unwrap();
            let mut code = Code::new(RULES);
            code.add_elf(&elf, 0).unwrap();
            let mut found: Vec<Isa> = code.pieces.iter().map(|piece| piece.isa).collect();
            found.sort();
            found.dedup();
            assert!(sets.iter().all(|isa| found.contains(isa)), "{name}: {found:?}");
            let table = code.table(&[], WordLayout::SPAN_BITS);
            assert!(table.entries().len() > 50, "{name}");
            for entry in table.entries().iter().filter(|entry| entry.ends != Ends::NoCode) {
                let (insn, _) = code.insn(entry.last()).unwrap();
                assert_eq!(ends(&insn), entry.ends, "{name}: {entry:x?}");
                if let Kind::Direct { target, .. } = insn.kind {
                    let to = table.entries()[entry.target as usize];
                    assert_eq!(to.start, target, "{name}: {entry:x?}");
                }
            }
        }
    }

    #[test]
    fn programs_without_symbols_are_refused_by_name() {
        let path = "../../tests/programs/elf/arm/t32/sort.elf";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let mut elf = std::fs::read(path).unwrap();
        // No section table, so no symbols.
        elf[32..36].fill(0);
        elf[48..50].fill(0);
        let mut code = Code::new(RULES);
        assert_eq!(code.add_elf(&elf, 0), Err(CodeError::InstructionSets));
        assert!(matches!(code.add_elf(b"no", 0), Err(CodeError::Program(_))));
    }
}
