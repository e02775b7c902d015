//! The program, decoded once.

use crate::Fault;
use hartrace_decoder::Image;
use hartrace_isa::{Insn, Xlen};

/// Instructions by address, known to both sides of every scheme.
#[derive(Clone, Debug)]
pub struct Code {
    image: Image,
    xlen: Xlen,
    /// Ordered by address.
    segments: Vec<Segment>,
}

#[derive(Clone, Debug)]
struct Segment {
    start: u64,
    /// One per half-word; `None` where there is no instruction of a known length.
    insns: Vec<Option<Insn>>,
}

impl Code {
    /// Decodes every half-word of a program.
    pub fn new(image: &Image) -> Self {
        let segments = image.ranges().map(|range| {
            // Instructions are at even addresses.
            let start = range.start.wrapping_add(range.start & 1);
            let halves = range.end.wrapping_sub(start) / 2;
            let insns = (0..halves).map(|half| image.insn(start.wrapping_add(2 * half))).collect();
            Segment { start, insns }
        });
        Self { image: image.clone(), xlen: image.isa().xlen, segments: segments.collect() }
    }

    /// Returns the width of addresses.
    pub fn xlen(&self) -> Xlen {
        self.xlen
    }

    /// Returns the program as it was given.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Returns the instruction at an address.
    pub fn insn(&self, address: u64) -> Result<Insn, Fault> {
        self.cursor().insn(address)
    }

    /// Looks up many instructions that are near each other.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor { code: self, start: 0, insns: &[] }
    }
}

/// Remembers the segment of the last instruction.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    code: &'a Code,
    start: u64,
    insns: &'a [Option<Insn>],
}

impl Cursor<'_> {
    /// The instruction at an address.
    #[inline]
    pub(crate) fn insn(&mut self, address: u64) -> Result<Insn, Fault> {
        let offset = address.wrapping_sub(self.start);
        match self.insns.get((offset / 2) as usize) {
            Some(Some(insn)) if offset.is_multiple_of(2) => Ok(*insn),
            _ => self.elsewhere(address),
        }
    }

    /// The same lookup in another segment.
    #[cold]
    fn elsewhere(&mut self, address: u64) -> Result<Insn, Fault> {
        let after = self.code.segments.partition_point(|segment| segment.start <= address);
        let segment = after.checked_sub(1).and_then(|index| self.code.segments.get(index));
        let found = segment.and_then(|segment| {
            (self.start, self.insns) = (segment.start, &segment.insns);
            let offset = address - segment.start;
            let index = usize::try_from(offset / 2).ok().filter(|_| offset.is_multiple_of(2))?;
            *segment.insns.get(index)?
        });
        found.ok_or(Fault::NoCode(address))
    }
}
