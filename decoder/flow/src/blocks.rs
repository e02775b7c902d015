//! Decoded code, kept: runs of instructions that end where the trace must say how to go on.

use crate::{Fault, Image};
use hartrace_isa::{Insn, Kind, Link};

/// Number of a block.
pub(crate) type BlockId = u32;

/// No block.
pub(crate) const NONE: BlockId = u32::MAX;

/// Longest block, in instructions.
const MAX_INSNS: u32 = 1 << 12;

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
    /// The block was cut, or continues where there is no code.
    Next,
}

/// A run of instructions.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) start: u64,
    /// Address after the last instruction.
    pub(crate) end: u64,
    /// Address of the last instruction.
    pub(crate) last: u64,
    pub(crate) insns: u32,
    pub(crate) exit: Exit,
    /// Where its instruction sizes are.
    sizes: usize,
    /// Blocks that follow, [`NONE`] until known: branch taken or jump, and fall-through.
    pub(crate) taken: BlockId,
    pub(crate) fall: BlockId,
}

/// Which instructions of a run are 4 bytes long, and where it is.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) insns: u32,
    /// First bit of the sizes.
    pub(crate) sizes: usize,
}

/// All blocks found so far.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<'a> {
    image: &'a Image,
    /// Addresses wrap to this.
    mask: u64,
    blocks: Vec<Block>,
    /// One bit per instruction: 4 bytes instead of 2.
    sizes: Vec<u64>,
    size_bits: usize,
    /// Block that starts at each half-word of each segment.
    heads: Vec<Vec<BlockId>>,
    cap: usize,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(image: &'a Image, mask: u64, cap: usize) -> Self {
        Self {
            image,
            mask,
            blocks: Vec::new(),
            sizes: Vec::new(),
            size_bits: 0,
            heads: vec![Vec::new(); image.segments().len()],
            cap,
        }
    }

    /// Forgets everything if there is more than the cap allows. Numbers given out before are void.
    pub(crate) fn trim(&mut self) {
        if self.blocks.len() > self.cap {
            self.blocks.clear();
            self.sizes.clear();
            self.size_bits = 0;
            for heads in &mut self.heads {
                heads.clear();
            }
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

    /// Address after the instruction at `pc`, which is in block `id`.
    #[inline]
    pub(crate) fn end_of(&self, id: BlockId, pc: u64) -> u64 {
        let wide = match self.get(id) {
            Some(block) if block.start == pc => self.is_wide(block.sizes),
            _ => self.image.insn(pc).is_some_and(|insn| insn.size == 4),
        };
        pc.wrapping_add(if wide { 4 } else { 2 })
    }

    #[inline]
    pub(crate) fn get(&self, id: BlockId) -> Option<&Block> {
        self.blocks.get(id as usize)
    }

    /// Sizes of instructions, one bit each.
    #[inline]
    pub(crate) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    #[inline]
    fn is_wide(&self, bit: usize) -> bool {
        self.sizes.get(bit >> 6).is_some_and(|word| word.wrapping_shr(bit as u32 & 63) & 1 != 0)
    }

    /// The block that starts at `address`.
    #[inline]
    pub(crate) fn at(&mut self, address: u64) -> Result<BlockId, Fault> {
        let segment = self.image.segment(address).ok_or(Fault::NoCode(address))?;
        let start = self.image.segments().get(segment).map_or(0, |s| s.start);
        let offset = address.wrapping_sub(start);
        // Code at odd offsets is decoded each time; real code has none.
        let half = (offset & 1 == 0).then_some((offset >> 1) as usize);
        let known = half.and_then(|half| self.heads.get(segment)?.get(half)).copied();
        match known {
            Some(id) if id != NONE => Ok(id),
            _ => self.build(address, segment, half),
        }
    }

    /// Finds the block at `target` and remembers it as what follows `id` if it jumps there.
    #[cold]
    pub(crate) fn link_taken(&mut self, id: BlockId, target: u64) -> Result<BlockId, Fault> {
        let next = self.at(target)?;
        if let Some(block) = self.blocks.get_mut(id as usize) {
            block.taken = next;
        }
        Ok(next)
    }

    /// Finds the block at `target` and remembers it as what follows `id` if it does not jump.
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
        let sizes = self.size_bits;
        let mut last = start;
        let mut end = start;
        let mut insns = 0u32;
        let mut before: Option<(Insn, u64)> = None;
        let mut exit = Exit::Next;
        loop {
            let insn = match self.image.insn(end) {
                Some(insn) => insn,
                None if insns == 0 => return Err(Fault::NoCode(start)),
                None => break,
            };
            self.push_size(insn.size == 4);
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
            // Never between a constant and the jump that may use it.
            let constant = insn.constant(xlen, last).is_some();
            if (insns >= MAX_INSNS && !constant) || end <= last {
                break;
            }
            before = Some((insn, last));
        }
        let id = self.blocks.len() as BlockId;
        self.blocks.push(Block { start, end, last, insns, exit, sizes, taken: NONE, fall: NONE });
        if let Some(heads) = self.heads.get_mut(segment) {
            if heads.is_empty() {
                let bytes = self.image.segments().get(segment).map_or(0, |s| s.bytes.len());
                heads.resize(bytes.div_ceil(2), NONE);
            }
            if let Some(head) = half.and_then(|half| heads.get_mut(half)) {
                *head = id;
            }
        }
        Ok(id)
    }

    fn push_size(&mut self, wide: bool) {
        let bit = self.size_bits & 63;
        if bit == 0 {
            self.sizes.push(0);
        }
        if let Some(word) = self.sizes.last_mut() {
            *word |= u64::from(wide).wrapping_shl(bit as u32);
        }
        self.size_bits = self.size_bits.wrapping_add(1);
    }

    /// The whole block as a span.
    #[inline]
    pub(crate) fn span(block: &Block) -> Span {
        Span { start: block.start, end: block.end, insns: block.insns, sizes: block.sizes }
    }

    /// What of `block` comes after its instruction at `pc`; `None` if `pc` is no instruction of it.
    pub(crate) fn after(&self, block: &Block, pc: u64) -> Option<Span> {
        if pc == block.last {
            let sizes = block.sizes.wrapping_add(block.insns as usize);
            return Some(Span { start: block.end, end: block.end, insns: 0, sizes });
        }
        let before = self.until(Self::span(block), pc)?;
        let wide = self.is_wide(block.sizes.wrapping_add(before.insns as usize));
        Some(Span {
            start: pc.wrapping_add(if wide { 4 } else { 2 }) & self.mask,
            end: block.end,
            insns: block.insns.wrapping_sub(before.insns).wrapping_sub(1),
            sizes: block.sizes.wrapping_add(before.insns as usize).wrapping_add(1),
        })
    }

    /// The part of `span` before `address`; `None` if `address` is no instruction of it.
    pub(crate) fn until(&self, span: Span, address: u64) -> Option<Span> {
        let mut at = span.start;
        for index in 0..span.insns {
            if at == address {
                return Some(Span { end: at, insns: index, ..span });
            }
            let wide = self.is_wide(span.sizes.wrapping_add(index as usize));
            at = at.wrapping_add(if wide { 4 } else { 2 });
        }
        None
    }
}
