//! The program, decoded once.

use crate::Fault;
use hartrace_decoder::Image;
use hartrace_isa::{Insn, Xlen};

/// Instructions by address: what both sides of every scheme know.
#[derive(Clone, Debug)]
pub struct Code {
    image: Image,
    xlen: Xlen,
    /// By address.
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

    /// Width of addresses.
    pub fn xlen(&self) -> Xlen {
        self.xlen
    }

    /// The program as it was given.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The instruction at an address.
    #[inline]
    pub fn insn(&self, address: u64) -> Result<Insn, Fault> {
        let found = match self.segments.as_slice() {
            [only] => Some(only),
            all => {
                let after = all.partition_point(|segment| segment.start <= address);
                after.checked_sub(1).and_then(|index| all.get(index))
            }
        };
        found
            .and_then(|segment| {
                let offset = address.wrapping_sub(segment.start);
                let index = usize::try_from(offset / 2).ok().filter(|_| offset % 2 == 0)?;
                *segment.insns.get(index)?
            })
            .ok_or(Fault::NoCode(address))
    }
}
