//! Decoded code.

use crate::code::{Code, Place};
use crate::memory::opcode;
use foldhash::{HashMap, HashMapExt};
use hartrace_isa::arm::{Insn, Isa, Kind, Rules, Spaces, decode};
use hartrace_spaces::Timeline;

/// Consecutive instructions, up to one that ends a block.
// Exactly one aligned cache line: a walk through a large program is a walk through its blocks.
#[derive(Copy, Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Block {
    pub end: u64,
    pub count: u32,
    /// The last instruction; its address is `end` minus its size.
    pub last: Insn,
    pub exit: Exit,
    /// Index of the offsets of its instructions.
    first: u32,
    /// The next address if the last instruction is taken; otherwise it is `end`. The target of an indirect
    /// branch is not known.
    to: u64,
    /// The blocks that follow: not taken, taken.
    next: [u32; 2],
    /// Whether following them changes only the address: no call, no indirect branch, and no change of the
    /// instruction set.
    plain: [bool; 2],
}

impl Block {
    /// The next address and block, if only the address changes and the block is known.
    #[inline]
    pub(crate) fn plain(&self, taken: bool) -> Option<(u64, u32)> {
        let (side, [plain, plain_taken]) = (usize::from(taken), self.plain);
        let next = *self.next.get(side)?;
        let to = if taken { self.to } else { self.end };
        ((if taken { plain_taken } else { plain }) && next != UNKNOWN).then_some((to, next))
    }

    /// Sets the successors, once the last instruction is known.
    fn ends(&mut self, isa: Isa) {
        let (last, falls_through) = (&self.last, !self.leaves_always(isa));
        self.exit = Exit::Last;
        self.plain = [falls_through, !last.link && last.kind != Kind::Indirect];
        self.to = self.end;
        if let Kind::Direct { target, isa: other } = last.kind {
            self.to = target;
            self.plain = [falls_through, !last.link && other == isa];
        }
    }

    /// Whether the last instruction is a branch that is always taken, so that the program cannot be right if
    /// the trace reports otherwise (O19). An instruction of T32 may be in an IT block that is not known, and
    /// some trace units report a branch to the next instruction as not taken.
    pub(crate) fn leaves_always(&self, isa: Isa) -> bool {
        let elsewhere = match self.last.kind {
            Kind::Direct { target, .. } => target != self.end,
            Kind::Indirect => true,
            _ => false,
        };
        elsewhere && !self.last.conditional && isa != Isa::T32
    }
}

/// Why a block ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// With an instruction that changes the flow of control.
    Last,
    /// At a page boundary, where another block continues. Long code that is entered at many places is
    /// therefore decoded only once.
    Page,
    /// There is no code after it; the block may be empty.
    Missing,
}

const _: () = assert!(size_of::<Block>() == 64);

/// No block yet.
const UNKNOWN: u32 = u32::MAX;

/// Blocks are cut at multiples of this.
const PAGE: u64 = 0x1000;

/// Maximum number of blocks that are kept.
const MOST: usize = 1 << 20;

type Key = (u64, Place, Isa);

/// Number of entries of the short index, and the content of an empty one.
const RECENT: usize = 1 << 11;
const NOWHERE: (Key, u32) =
    ((u64::MAX, Place { spaces: Spaces::ALL, space: None }, Isa::A64), UNKNOWN);

/// All blocks decoded so far.
#[derive(Debug)]
pub(crate) struct Blocks<'m> {
    code: Code<'m>,
    rules: Rules,
    /// Instructions in an IT block count as conditional.
    it_blocks: bool,
    blocks: Vec<Block>,
    /// Offsets of the instructions of all blocks, each from the start of its block.
    offsets: Vec<u16>,
    index: HashMap<Key, u32>,
    /// A cache of the index, by the low bits of the address: most jumps repeat an earlier target.
    recent: Vec<(Key, u32)>,
    /// How often all blocks were discarded.
    generation: u64,
}

impl<'m> Blocks<'m> {
    pub(crate) fn new(code: Code<'m>, rules: Rules, it_blocks: bool) -> Self {
        Self {
            code,
            rules,
            it_blocks,
            blocks: Vec::new(),
            offsets: Vec::new(),
            index: HashMap::new(),
            recent: vec![NOWHERE; RECENT],
            generation: 0,
        }
    }

    pub(crate) fn code(&self) -> &Code<'m> {
        &self.code
    }

    /// Sets a timeline. Call it before anything is decoded.
    pub(crate) fn set_timeline(&mut self, timeline: &'m Timeline) {
        self.code.set_timeline(timeline);
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&Block> {
        self.blocks.get(id as usize)
    }

    /// The block at an address.
    #[inline]
    pub(crate) fn at(&mut self, address: u64, isa: Isa, place: Place) -> u32 {
        let key = (address, place, isa);
        let slot = (address >> 1) as usize & RECENT.wrapping_sub(1);
        match self.recent.get(slot) {
            Some((recent, id)) if *recent == key => *id,
            _ => {
                let id = self.find(key);
                if let Some(recent) = self.recent.get_mut(slot) {
                    *recent = (key, id);
                }
                id
            }
        }
    }

    fn find(&mut self, key: Key) -> u32 {
        let (address, place, isa) = key;
        if let Some(id) = self.index.get(&key) {
            return *id;
        }
        if self.blocks.len() >= MOST {
            // Rare; the links between blocks make it hard to discard only some.
            self.blocks.clear();
            self.offsets.clear();
            self.index.clear();
            self.recent.fill(NOWHERE);
            self.generation = self.generation.wrapping_add(1);
        }
        let id = self.blocks.len() as u32;
        let block = self.decode(address, isa, place);
        self.blocks.push(block);
        self.index.insert(key, id);
        id
    }

    /// The offsets of the instructions of a block from its start.
    pub(crate) fn offsets(&self, block: &Block) -> &[u16] {
        let first = block.first as usize;
        self.offsets.get(first..first.saturating_add(block.count as usize)).unwrap_or_default()
    }

    /// The block that follows another one, if it is known.
    #[inline]
    pub(crate) fn after(&self, id: u32, taken: bool) -> Option<u32> {
        let [not_taken, other] = self.get(id)?.next;
        let next = if taken { other } else { not_taken };
        (next != UNKNOWN).then_some(next)
    }

    /// Returns the block at an address and remembers it as the successor of another.
    pub(crate) fn at_after(
        &mut self,
        id: u32,
        taken: bool,
        (address, isa, place): (u64, Isa, Place),
    ) -> u32 {
        let before = self.generation;
        let next = self.at(address, isa, place);
        // If all blocks were discarded, the number now belongs to another block.
        if self.generation == before
            && let Some(block) = self.blocks.get_mut(id as usize)
            && let Some(to) = block.next.get_mut(usize::from(taken))
        {
            *to = next;
        }
        next
    }

    fn decode(&mut self, start: u64, isa: Isa, place: Place) -> Block {
        let mut block = Block {
            end: start,
            count: 0,
            last: decode(isa, &self.rules, start, 0),
            exit: Exit::Missing,
            first: self.offsets.len() as u32,
            to: start,
            next: [UNKNOWN; 2],
            plain: [false; 2],
        };
        let mut conditional = 0u8;
        let mut bytes: &[u8] = &[];
        loop {
            let opcode = match opcode(isa, bytes) {
                Some(opcode) => opcode,
                // Another range of code may continue where this one ends.
                None => match self.code.opcode(isa, block.end, place) {
                    Some((opcode, more)) => {
                        bytes = more;
                        opcode
                    }
                    None => return block,
                },
            };
            let mut insn = decode(isa, &self.rules, block.end, opcode);
            if conditional > 0 {
                conditional = conditional.saturating_sub(1);
                insn.conditional = true;
            } else if self.it_blocks {
                conditional = insn.it;
            }
            bytes = bytes.get(insn.size.into()..).unwrap_or_default();
            // A block is shorter than a page plus an instruction.
            self.offsets.push(block.end.wrapping_sub(start) as u16);
            block.end = block.end.wrapping_add(insn.size.into());
            block.count = block.count.saturating_add(1);
            block.last = insn;
            if insn.ends_block() {
                block.ends(isa);
                return block;
            }
            if block.end & PAGE.wrapping_sub(1) < insn.size.into() {
                block.exit = Exit::Page;
                return block;
            }
        }
    }
}
