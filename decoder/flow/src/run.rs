//! Instructions that retired together, and their position in the decoded code.

use std::ops::Range;

/// Number of a decoded block.
pub(crate) type BlockId = u32;

/// No block.
pub(crate) const NONE: BlockId = u32::MAX;

/// Consecutive instructions of a decoded block, by number.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Span {
    pub(crate) block: BlockId,
    /// Index of the first of them.
    pub(crate) from: u16,
    pub(crate) insns: u16,
}

/// How the program continues after a run of instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leaves {
    /// With the next instruction.
    No,
    /// The last instruction is a conditional branch.
    Branch,
    /// The last instruction is a jump whose target is in the code.
    Jump,
    /// The last instruction is a jump whose target is not in the code, or a trap return.
    Indirect,
}

impl Leaves {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::No => "-",
            Self::Branch => "branch",
            Self::Jump => "jump",
            Self::Indirect => "indirect",
        }
    }
}

/// What the last instruction of a run does to the call stack.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Transfer {
    /// Nothing: the program continues in the same function, or enters another one without leaving a way back (a tail
    /// call).
    #[default]
    None,
    /// It calls a function, which returns to the address after the run.
    Call,
    /// It returns from a function.
    Return,
    /// It leaves one co-routine for another: a return and a call at once.
    Swap,
    /// It returns from a trap.
    TrapReturn,
}

/// Instructions that retired one after the other, at consecutive addresses: all or part of a block.
#[derive(Copy, Clone, Debug)]
pub struct Run<'a> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) leaves: Leaves,
    pub(crate) transfer: Transfer,
    /// The address that `offsets` count from.
    pub(crate) base: u64,
    pub(crate) offsets: &'a [u16],
    pub(crate) span: Span,
}

impl<'a> Run<'a> {
    /// Creates a run of the instructions at these offsets from `base`, for decoders of other
    /// protocols; `None` if there are no instructions.
    pub fn new(base: u64, offsets: &'a [u16], end: u64, leaves: Leaves) -> Option<Self> {
        let start = base.wrapping_add(u64::from(*offsets.first()?));
        let span = Span { block: NONE, from: 0, insns: offsets.len() as u16 };
        Some(Self { start, end, leaves, transfer: Transfer::None, base, offsets, span })
    }

    /// The same run, with what its last instruction does to the call stack.
    #[must_use]
    pub fn with_transfer(self, transfer: Transfer) -> Self {
        Self { transfer, ..self }
    }

    /// Address of the first instruction.
    #[inline]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Address of the last instruction.
    #[inline]
    pub fn last(&self) -> u64 {
        self.base.wrapping_add(self.offsets.last().copied().unwrap_or(0).into())
    }

    /// Address after the last instruction.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Number of instructions, at least one.
    #[inline]
    pub fn insns(&self) -> u32 {
        self.offsets.len() as u32
    }

    /// How the program continues after the last instruction. The next run starts at the target.
    #[inline]
    pub fn leaves(&self) -> Leaves {
        self.leaves
    }

    /// What the last instruction does to the call stack.
    #[inline]
    pub fn transfer(&self) -> Transfer {
        self.transfer
    }

    /// A part of the run, by instruction numbers; `None` if it has no instructions with these
    /// numbers.
    pub fn cut(&self, range: Range<usize>) -> Option<Self> {
        let offsets = self.offsets.get(range.clone())?;
        let address = |offset: &u16| self.base.wrapping_add(u64::from(*offset));
        let start = address(offsets.first()?);
        let span = Span {
            from: self.span.from.wrapping_add(range.start as u16),
            insns: offsets.len() as u16,
            ..self.span
        };
        let (end, leaves, transfer) = match self.offsets.get(range.end) {
            Some(next) => (address(next), Leaves::No, Transfer::None),
            None => (self.end, self.leaves, self.transfer),
        };
        Some(Self { start, end, leaves, transfer, offsets, span, ..*self })
    }

    /// Calls `visit` with the address of every instruction.
    #[inline]
    pub fn addresses(&self, mut visit: impl FnMut(u64)) {
        for offset in self.offsets {
            visit(self.base.wrapping_add(u64::from(*offset)));
        }
    }
}
