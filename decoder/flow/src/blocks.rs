//! Decoded code, kept as blocks: consecutive instructions, only the last of which may change the flow
//! of control.

use crate::event::Fault;
use crate::image::Image;
use crate::run::{BlockId, Leaves, NONE, Run, Span, Transfer};
use hartrace_isa::{Insn, Kind, Link};

/// Longest block, in instructions, not counting a jump that may use the constant of the last one.
const MAX_INSNS: u16 = 1 << 8;

/// Maximum number of blocks: their instructions are numbered with 32 bits.
const MAX_BLOCKS: usize = 1 << 23;

/// How a block ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// A conditional branch.
    Branch { taken: u64 },
    /// A jump whose target is in the code; `call` pushes the return address.
    Jump { target: u64, call: bool },
    /// A jump whose target is not in the code. `sequential` is the target if the instruction before
    /// it, in this block, loads its register.
    Indirect { link: Option<Link>, sequential: Option<u64> },
    /// The block was cut, or the code ends after it.
    Next,
}

impl Exit {
    pub(crate) fn leaves(&self) -> Leaves {
        match self {
            Self::Branch { .. } => Leaves::Branch,
            Self::Jump { .. } => Leaves::Jump,
            Self::Indirect { .. } => Leaves::Indirect,
            Self::Next => Leaves::No,
        }
    }

    fn transfer(&self) -> Transfer {
        match self {
            Self::Jump { call: true, .. } | Self::Indirect { link: Some(Link::Call), .. } => {
                Transfer::Call
            }
            Self::Indirect { link: Some(Link::Return), .. } => Transfer::Return,
            Self::Indirect { link: Some(Link::Swap), .. } => Transfer::Swap,
            Self::Indirect { link: None, .. } => Transfer::TrapReturn,
            _ => Transfer::None,
        }
    }
}

/// Consecutive instructions of the program, up to the first that may change the flow of control.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) start: u64,
    /// Address after the last instruction.
    pub(crate) end: u64,
    /// Address of the last instruction.
    pub(crate) last: u64,
    pub(crate) insns: u16,
    pub(crate) exit: Exit,
    /// The same, as it is reported.
    leaves: Leaves,
    transfer: Transfer,
    /// Index of the offsets of its instructions.
    first: u32,
    /// Blocks that follow, [`NONE`] until known: branch taken or jump, and fall-through.
    pub(crate) taken: BlockId,
    pub(crate) fall: BlockId,
}

/// All blocks found so far.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    image: Image,
    /// Mask of the valid address bits.
    mask: u64,
    blocks: Vec<Block>,
    /// The distance of every instruction of every block from the block's start.
    offsets: Vec<u16>,
    /// Block that starts at each half-word of each segment; empty until there is a block.
    heads: Vec<Vec<BlockId>>,
    cap: usize,
}

impl Blocks {
    pub(crate) fn new(image: Image, mask: u64, cap: usize) -> Self {
        Self {
            mask,
            blocks: Vec::new(),
            offsets: Vec::new(),
            heads: Vec::new(),
            image,
            cap: cap.min(MAX_BLOCKS),
        }
    }

    /// Whether there are more blocks than the cap allows.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.blocks.len() > self.cap
    }

    /// Discards all blocks. Block numbers returned before are no longer valid.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.offsets.clear();
        for heads in &mut self.heads {
            heads.clear();
        }
    }

    pub(crate) fn insn(&self, address: u64) -> Result<Insn, Fault> {
        self.image.insn(address).ok_or(Fault::NoCode(address))
    }

    /// Whether the instruction at `address` is a branch.
    #[inline]
    pub(crate) fn is_branch(&mut self, address: u64) -> Result<bool, Fault> {
        let id = self.at(address)?;
        let block = self.get(id).ok_or(Fault::NoCode(address))?;
        Ok(block.insns == 1 && matches!(block.exit, Exit::Branch { .. }))
    }

    #[inline]
    pub(crate) fn get(&self, id: BlockId) -> Option<&Block> {
        self.blocks.get(id as usize)
    }

    /// The block that starts at `address`.
    #[inline]
    pub(crate) fn at(&mut self, address: u64) -> Result<BlockId, Fault> {
        let segment = self.image.segment(address).ok_or(Fault::NoCode(address))?;
        let start = self.image.segments().get(segment).map_or(0, |s| s.start);
        // Code at odd addresses is decoded each time; real code has none.
        let half = (address >> 1).wrapping_sub(start >> 1) as usize;
        let half = (address & 1 == 0).then_some(half);
        let known = half.and_then(|half| self.heads.get(segment)?.get(half)).copied();
        match known {
            Some(id) if id != NONE => Ok(id),
            _ => self.build(address, segment, half),
        }
    }

    /// Finds the block at `target` and remembers it as the successor of `id` when it jumps.
    #[cold]
    pub(crate) fn link_taken(&mut self, id: BlockId, target: u64) -> Result<BlockId, Fault> {
        let next = self.at(target)?;
        if let Some(block) = self.blocks.get_mut(id as usize) {
            block.taken = next;
        }
        Ok(next)
    }

    /// Finds the block at `target` and remembers it as the successor of `id` when it does not jump.
    #[cold]
    pub(crate) fn link_fall(&mut self, id: BlockId, target: u64) -> Result<BlockId, Fault> {
        let next = self.at(target)?;
        if let Some(block) = self.blocks.get_mut(id as usize) {
            block.fall = next;
        }
        Ok(next)
    }

    #[cold]
    fn build(&mut self, start: u64, segment: usize, half: Option<usize>) -> Result<BlockId, Fault> {
        let xlen = self.image.isa().xlen;
        let first = self.offsets.len() as u32;
        let mut last = start;
        let mut end = start;
        let mut insns = 0u16;
        let mut before: Option<(Insn, u64)> = None;
        let mut exit = Exit::Next;
        loop {
            let insn = match self.image.insn(end) {
                Some(insn) => insn,
                None if insns == 0 => return Err(Fault::NoCode(start)),
                None => break,
            };
            // Never cut between a constant and the jump that may use it.
            if insns >= MAX_INSNS && insn.is_sequential() {
                break;
            }
            self.offsets.push(end.wrapping_sub(start) as u16);
            insns = insns.wrapping_add(1);
            last = end;
            end = insn.next(xlen, last) & self.mask;
            if !insn.is_sequential() && insn.kind != Kind::EnvironmentTrap {
                let target = insn.target(xlen, last).map(|target| target & self.mask);
                exit = match (insn.kind, target) {
                    (Kind::Branch { .. }, Some(taken)) => Exit::Branch { taken },
                    (_, Some(target)) => {
                        Exit::Jump { target, call: insn.link() == Some(Link::Call) }
                    }
                    (_, None) => Exit::Indirect {
                        link: insn.link(),
                        sequential: before
                            .and_then(|(b, pc)| insn.sequential_target(xlen, b, pc))
                            .map(|target| target & self.mask),
                    },
                };
                break;
            }
            if end <= last {
                break;
            }
            before = Some((insn, last));
        }
        let id = self.blocks.len() as BlockId;
        let (leaves, transfer) = (exit.leaves(), exit.transfer());
        let (taken, fall) = (NONE, NONE);
        let block = Block { start, end, last, insns, exit, leaves, transfer, first, taken, fall };
        self.blocks.push(block);
        if self.heads.len() <= segment {
            self.heads.resize(self.image.segments().len(), Vec::new());
        }
        if let Some(heads) = self.heads.get_mut(segment) {
            if heads.is_empty() {
                let bytes = self.image.segments().get(segment).map_or(0, |s| s.bytes().len());
                heads.resize((bytes >> 1).saturating_add(1), NONE);
            }
            if let Some(head) = half.and_then(|half| heads.get_mut(half)) {
                *head = id;
            }
        }
        Ok(id)
    }

    /// The span of a whole block.
    #[inline]
    pub(crate) fn whole(&self, id: BlockId) -> Option<Span> {
        Some(Span { block: id, from: 0, insns: self.get(id)?.insns })
    }

    /// The part of block `id` after its instruction at `pc`; `None` if no instruction of it is at `pc`.
    pub(crate) fn after(&self, id: BlockId, pc: u64) -> Option<Span> {
        let whole = self.whole(id)?;
        let from = self.index(whole, pc)?.wrapping_add(1);
        Some(Span { from, insns: whole.insns.wrapping_sub(from), ..whole })
    }

    /// The instruction of block `id` at `pc`; `None` if there is none.
    pub(crate) fn only(&self, id: BlockId, pc: u64) -> Option<Span> {
        let whole = self.whole(id)?;
        Some(Span { from: self.index(whole, pc)?, insns: 1, ..whole })
    }

    /// The part of `span` before `address`; `None` if no instruction of it is at `address`.
    pub(crate) fn until(&self, span: Span, address: u64) -> Option<Span> {
        Some(Span { insns: self.index(span, address)?, ..span })
    }

    /// The distance of `address` from the start of a block, if the block contains it.
    #[inline]
    pub(crate) fn offset(&self, block: &Block, address: u64) -> Option<u64> {
        // The end may wrap, even to the start of the last instruction if all addresses have two bits. So this
        // is the distance of the last byte.
        let last = block.last.wrapping_sub(block.start);
        let byte = block.end.wrapping_sub(block.last).wrapping_sub(1) & self.mask;
        let offset = address.wrapping_sub(block.start) & self.mask;
        (offset <= last.wrapping_add(byte)).then_some(offset)
    }

    /// The part of `span` before the instruction that `address` is inside of, which is not its start;
    /// `None` if there is no such instruction.
    pub(crate) fn around(&self, span: Span, address: u64) -> Option<Span> {
        let block = self.get(span.block)?;
        let offset = self.offset(block, address)?;
        let offsets = self.offsets_of(block, span)?;
        let inside = offsets.partition_point(|start| u64::from(*start) <= offset).checked_sub(1)?;
        (offsets.get(inside).map(|start| u64::from(*start)) != Some(offset))
            .then_some(Span { insns: inside as u16, ..span })
    }

    /// The instructions of a span; `None` if there are none.
    #[inline]
    pub(crate) fn run(&self, span: Span) -> Option<Run<'_>> {
        let block = self.get(span.block)?;
        let offsets = self.offsets_of(block, span)?;
        let address = |offset: &u16| block.start.wrapping_add((*offset).into());
        let start = address(offsets.first()?);
        let next = span.from.wrapping_add(span.insns);
        let (end, leaves, transfer) = if next >= block.insns {
            (block.end, block.leaves, block.transfer)
        } else {
            let offset = self.offsets.get((block.first as usize).wrapping_add(next.into()))?;
            (address(offset), Leaves::No, Transfer::None)
        };
        Some(Run { start, end, base: block.start, leaves, transfer, offsets, span })
    }

    #[inline]
    fn offsets_of(&self, block: &Block, span: Span) -> Option<&[u16]> {
        let first = (block.first as usize).wrapping_add(span.from.into());
        self.offsets.get(first..first.wrapping_add(span.insns.into()))
    }

    /// Index in `span` of the instruction at `address`.
    #[inline]
    fn index(&self, span: Span, address: u64) -> Option<u16> {
        let block = self.get(span.block)?;
        let offsets = self.offsets_of(block, span)?;
        let offset = u16::try_from(address.wrapping_sub(block.start)).ok()?;
        // Most lookups are for the start of a span.
        match *offsets.first()? == offset {
            true => Some(0),
            false => offsets.binary_search(&offset).ok().map(|index| index as u16),
        }
    }
}
