//! What is written and read, in either coding: predictions that are wrong, targets, addresses and traps.

use super::branches::Sureness;
use super::targets::{From, LOW};
use crate::{BitSource, Bits, DecodeError};
use std::fmt::Debug;

/// Widths and limits of fields.
#[derive(Copy, Clone, Debug)]
pub(super) struct Layout {
    pub(super) xlen: u32,
    /// The most records in a packet.
    pub(super) records: u32,
    /// Bits of a place in the target cache.
    pub(super) place_bits: u32,
}

/// Predictions that are wrong about equally often.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Branch(Sureness),
    Jump(From),
}

impl Class {
    /// The number of runs that are counted at the same time.
    pub(super) const RUNS: usize = 8;
    /// The number of contexts of the range coder.
    pub(super) const CONTEXTS: usize = 26;

    /// The run that counts the prediction.
    pub(super) fn run(self) -> usize {
        match self {
            Self::Branch(Sureness::Base { strong, .. }) => usize::from(strong),
            Self::Branch(Sureness::Tagged { strength: 0, .. }) => 2,
            Self::Branch(Sureness::Tagged { strength: 1 | 2, .. }) => 3,
            Self::Branch(Sureness::Tagged { .. }) => 4,
            Self::Jump(From::Stack) => 5,
            Self::Jump(From::Base) => 6,
            Self::Jump(From::Path(_)) => 7,
        }
    }

    /// The context of the prediction.
    pub(super) fn context(self) -> usize {
        match self {
            Self::Branch(Sureness::Base { strong, doubted }) => {
                usize::from(strong) + 2 * usize::from(doubted)
            }
            Self::Branch(Sureness::Tagged { strength, useful, agreed }) => {
                4 + 4 * usize::from(strength) + 2 * usize::from(useful) + usize::from(agreed)
            }
            Self::Jump(From::Stack) => 20,
            Self::Jump(From::Base) => 21,
            Self::Jump(From::Path(trust)) => 22 + usize::from(trust),
        }
    }
}

/// A trap that comes after some instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Trap {
    pub(super) instructions: u64,
    /// `None` if it is the handler of the last trap.
    pub(super) handler: Option<u64>,
}

/// Writes a part of a trace: what follows a synchronisation.
pub(super) trait Write: Debug {
    fn new(layout: Layout) -> Self;

    /// The address of the first instruction.
    fn start(&mut self, pc: u64, out: &mut Bits);

    /// An instruction retires.
    fn retire(&mut self);

    /// It was predicted, rightly or wrongly.
    fn decide(&mut self, class: Class, wrong: bool, out: &mut Bits);

    /// It jumps elsewhere, to a place in the target cache.
    fn place(&mut self, place: usize, out: &mut Bits);

    /// It jumps elsewhere; `cached` says whether the place would have been written otherwise.
    fn address(&mut self, may_be_cached: bool, pc: u64, to: u64, out: &mut Bits);

    /// A trap follows the last instruction.
    fn trap(&mut self, handler: Option<u64>, out: &mut Bits);

    /// The part ends.
    fn end(&mut self, out: &mut Bits);
}

/// Reads a part of a trace.
pub(super) trait Read: Debug + Sized {
    /// Reads the address of the first instruction.
    fn start(layout: Layout, from: &mut BitSource<'_>) -> Result<(Self, u64), DecodeError>;

    /// The next trap, if one has been announced.
    fn trap(&mut self) -> &mut Option<Trap>;

    /// Continues after a trap.
    fn resume(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError>;

    /// Whether the prediction of the last instruction is wrong.
    fn decide(&mut self, class: Class, from: &mut BitSource<'_>) -> Result<bool, DecodeError>;

    /// The place of its target in the cache, unless its address follows.
    fn place(&mut self, from: &mut BitSource<'_>) -> Result<Option<usize>, DecodeError>;

    /// The address of its target.
    fn address(&mut self, pc: u64, from: &mut BitSource<'_>) -> Result<u64, DecodeError>;

    /// Where the last instruction leads is known.
    fn settle(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError>;

    /// The part ends, and nothing that has been announced may be missing.
    fn end(&self, from: &BitSource<'_>) -> Result<(), DecodeError>;
}

/// Groups of a number.
const GROUPS: u32 = 16;

impl Trap {
    /// Writes the number of instructions in groups of 4 bits, the lowest first, each but the sixteenth after a bit that says
    /// whether more follow; then the handler, if it is another one.
    pub(super) fn put(&self, xlen: u32, mut put: impl FnMut(u64, u32)) {
        let mut left = self.instructions;
        for group in 1..=GROUPS {
            let (low, more) = (left & 15, left > 15);
            left >>= 4;
            if group < GROUPS {
                put(more.into(), 1);
            }
            put(low, 4);
            if !more {
                break;
            }
        }
        put(self.handler.is_some().into(), 1);
        if let Some(handler) = self.handler {
            put(handler >> 1, xlen - 1);
        }
    }

    pub(super) fn get<E>(xlen: u32, mut get: impl FnMut(u32) -> Result<u64, E>) -> Result<Self, E> {
        let mut instructions = 0;
        for group in 1..=GROUPS {
            let more = group < GROUPS && get(1)? != 0;
            instructions |= get(4)? << (4 * (group - 1));
            if !more {
                break;
            }
        }
        let other = get(1)? != 0;
        let handler = if other { Some(get(xlen - 1)? << 1) } else { None };
        Ok(Self { instructions, handler })
    }
}

/// Writes the target of a jump at `pc`: its low bits if the upper ones are those of the jump, or all bits.
pub(super) fn put_address(pc: u64, to: u64, xlen: u32, mut put: impl FnMut(u64, u32)) {
    let far = (pc ^ to) >> LOW != 0;
    put(far.into(), 1);
    put(to >> 1, if far { xlen } else { LOW } - 1);
}

pub(super) fn get_address<E>(
    pc: u64,
    xlen: u32,
    mut get: impl FnMut(u32) -> Result<u64, E>,
) -> Result<u64, E> {
    Ok(match get(1)? != 0 {
        true => get(xlen - 1)? << 1,
        false => pc >> LOW << LOW | get(LOW - 1)? << 1,
    })
}
