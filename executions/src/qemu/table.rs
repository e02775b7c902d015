//! The blocks that QEMU translated, with the data needed each time they are executed.

use hartrace_etrace::ingress::{IType, Privilege, Retired};
use hartrace_isa::{Insn, Isa, Kind, decode};
use std::ops::Range;

/// No instruction has an odd address.
const NEVER: u64 = 1;

/// One translated block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The whole block; `itype` is set once it is known.
    pub(crate) retired: Retired,
    /// The next address if the block falls through, if it can.
    pub(crate) fall: u64,
    /// The target if the block jumps, if it can and the target is known.
    pub(crate) taken: u64,
    /// The itype of each case.
    pub(crate) fall_itype: IType,
    pub(crate) taken_itype: IType,
    /// Whether it may continue anywhere.
    pub(crate) anywhere: bool,
    /// Its instructions, as a range in the pool of the table.
    words: Range<usize>,
    /// Bits that mark the instructions that the plugin counts.
    counters: Range<usize>,
    pub(crate) last: Option<Insn>,
}

impl Block {
    /// Number of instructions.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }
}

/// All blocks, by the number that the plugin assigned.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) isa: Isa,
    pub(crate) blocks: Vec<Block>,
    pool: Vec<u32>,
}

impl Table {
    pub(crate) fn new(isa: Isa) -> Self {
        Self { isa, blocks: Vec::new(), pool: Vec::new() }
    }

    /// Adds a block of at least one instruction.
    pub(crate) fn add(
        &mut self,
        start: u64,
        words: &[u32],
        counters: &[u32],
        privilege: Privilege,
    ) {
        let at = self.pool.len();
        self.pool.extend_from_slice(words);
        self.pool.extend_from_slice(counters);
        let split = at + words.len();
        let bytes = words.iter().map(|&word| size(word)).sum::<u64>();
        let last_word = words.last().copied().unwrap_or_default();
        let last_bytes = size(last_word);
        let last_pc = self.isa.xlen.wrap(start.wrapping_add(bytes - last_bytes));
        let last = decode(self.isa, last_word);
        let next = self.isa.xlen.wrap(start.wrapping_add(bytes));
        let target = last.and_then(|insn| insn.target(self.isa.xlen, last_pc)).unwrap_or(NEVER);
        let kind = last.map_or(Kind::Plain, |insn| insn.kind);
        let (fall, taken) = match kind {
            Kind::Branch { .. } => (next, target),
            Kind::Jump { .. } | Kind::AbsoluteJump { .. } => (NEVER, target),
            Kind::Plain | Kind::Lui { .. } | Kind::Auipc { .. } => (next, NEVER),
            _ => (NEVER, NEVER),
        };
        let uninferable = last.is_some_and(Insn::is_uninferable);
        // The constant of a sequentially inferable jump is loaded by the previous instruction.
        let before = words.len().checked_sub(2).map(|n| words[n]);
        let sijump = before.is_some_and(|word| {
            let pc = last_pc.wrapping_sub(size(word));
            infers(self.isa, decode(self.isa, word), pc, last)
        });
        let itype = |taken| {
            let code = last.map_or(0, |insn| insn.itype(taken));
            IType::try_from(code).unwrap_or_default()
        };
        self.blocks.push(Block {
            retired: Retired {
                itype: itype(true),
                iretire: (bytes / 2) as u32,
                ilastsize: u8::from(last_bytes == 4),
                sijump,
                privilege,
                ..Retired::plain(start)
            },
            fall,
            taken,
            fall_itype: itype(false),
            taken_itype: itype(true),
            // A block with only a jump: the constant may be in the previous block.
            anywhere: uninferable && words.len() > 1,
            words: at..split,
            counters: split..self.pool.len(),
            last,
        });
    }

    /// The instructions of a block with their addresses.
    pub(crate) fn code(&self, block: &Block) -> impl Iterator<Item = (u64, u32)> {
        let mut pc = block.retired.iaddr;
        let xlen = self.isa.xlen;
        self.pool[block.words.clone()].iter().map(move |&word| {
            let here = pc;
            pc = xlen.wrap(pc.wrapping_add(size(word)));
            (here, word)
        })
    }

    /// Index of the instruction with the counter of this number, counted from 1.
    pub(crate) fn counted(&self, block: &Block, number: u32) -> Option<usize> {
        nth_set(&self.pool[block.counters.clone()], number)
    }
}

/// Index of the set bit with this number, counted from 1.
pub(crate) fn nth_set(bits: &[u32], number: u32) -> Option<usize> {
    let is_set = |index: &usize| bits[index / 32] >> (index % 32) & 1 == 1;
    (0..32 * bits.len()).filter(is_set).nth((number as usize).checked_sub(1)?)
}

/// Length in bytes. QEMU treats anything longer than 4 as an illegal instruction of 4.
pub(crate) fn size(word: u32) -> u64 {
    if word & 3 == 3 { 4 } else { 2 }
}

/// Whether `jump` leads to a constant that `before`, at `pc`, loads.
pub(crate) fn infers(isa: Isa, before: Option<Insn>, pc: u64, jump: Option<Insn>) -> bool {
    matches!((before, jump), (Some(before), Some(jump))
        if jump.sequential_target(isa.xlen, before, pc).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_isa::Xlen;

    fn block(start: u64, words: &[u32]) -> Block {
        let mut table = Table::new(Isa::new(Xlen::Rv64));
        table.add(start, words, &[0], Privilege::U);
        table.blocks.remove(0)
    }

    #[test]
    fn ends_of_blocks() {
        let branch = block(0x1000, &[0x0001, 0xfe05_1ee3]); // c.nop; bnez a0, .-4
        assert_eq!((branch.fall, branch.taken), (0x1006, 0xffe));
        assert_eq!((branch.fall_itype, branch.taken_itype), (IType::NotTaken, IType::Taken));
        assert_eq!((branch.retired.iretire, branch.retired.ilastsize), (3, 1));
        let jump = block(0x1000, &[0xa001]); // c.j .
        assert_eq!((jump.fall, jump.taken, jump.anywhere), (NEVER, 0x1000, false));
        let plain = block(0x1000, &[0x0001]);
        assert_eq!((plain.fall, plain.taken), (0x1002, NEVER));
        let ecall = block(0x1000, &[0x0000_0073]);
        assert_eq!((ecall.fall, ecall.taken, ecall.anywhere), (NEVER, NEVER, false));
        let pair = block(0x1000, &[0x0000_0317, 0x0083_0067]); // auipc t1, 0; jr 8(t1)
        assert!(pair.anywhere && pair.retired.sijump);
        assert!(!block(0x1000, &[0x0000_0317, 0x8082]).retired.sijump);
    }

    #[test]
    fn counters_are_found_by_number() {
        let mut table = Table::new(Isa::new(Xlen::Rv64));
        table.add(0, &[1; 40], &[0b100, 0b11], Privilege::U);
        let found: Vec<_> = (0..5).map(|n| table.counted(&table.blocks[0], n)).collect();
        assert_eq!(found, [None, Some(2), Some(32), Some(33), None]);
    }
}
