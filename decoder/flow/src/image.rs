//! The code of a program.

use hartrace_isa::{Insn, Isa};
use std::ops::Range;
use std::sync::Arc;

/// A program: code by address. Cloning is cheap, since clones share the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    isa: Isa,
    /// By address, not overlapping.
    segments: Arc<Vec<Segment>>,
    overlaps: Arc<Vec<Range<u64>>>,
}

/// A range of code. Code that several images share is in memory once.
#[derive(Clone, Debug, Eq)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    code: Arc<[u8]>,
    /// The part of the code in this segment; never empty.
    part: Range<usize>,
}

/// The same code at the same addresses.
impl PartialEq for Segment {
    fn eq(&self, other: &Self) -> bool {
        self.start == other.start && self.bytes() == other.bytes()
    }
}

impl Segment {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.code.get(self.part.clone()).unwrap_or_default()
    }

    /// `length` bytes at `address`, if the segment contains all of them.
    fn at(&self, address: u64, length: usize) -> Option<&[u8]> {
        let from = self.offset(address)?;
        self.bytes().get(from..from.saturating_add(length))
    }

    /// The offset of `address`, if it is in the segment.
    #[inline]
    pub(crate) fn offset(&self, address: u64) -> Option<usize> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        (offset < self.part.len()).then_some(offset)
    }

    /// Address after the last byte; wider than an address, since it may be 2^64.
    fn end(&self) -> u128 {
        u128::from(self.start).saturating_add(self.part.len() as u128)
    }

    /// The part before an address, unless it is empty.
    fn before(&self, address: u64) -> Option<Self> {
        let length = self.offset(address).filter(|length| *length > 0)?;
        let part = self.part.start..self.part.start.saturating_add(length);
        Some(Self { part, ..self.clone() })
    }

    /// The part from an address on, unless it is empty.
    fn from(&self, address: u128) -> Option<Self> {
        let start = u64::try_from(address).ok()?;
        let from = self.part.start.saturating_add(self.offset(start)?);
        Some(Self { start, part: from..self.part.end, ..self.clone() })
    }
}

impl Image {
    /// An image without code.
    pub fn new(isa: Isa) -> Self {
        Self { isa, segments: Arc::default(), overlaps: Arc::default() }
    }

    /// The encodings that the program uses.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Changes the encodings that the program uses. The register width stays the same.
    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = Isa::new(self.isa.xlen).with_zcmp(isa.zcmp).with_zcmt(isa.zcmt);
    }

    /// Adds code at `address`. New code replaces code that was added before; if the two differ,
    /// [`Image::overlaps`] lists the range. Code past the end of the address space is left out.
    pub fn add(&mut self, address: u64, bytes: &[u8]) {
        self.add_shared(address, &bytes.into(), 0..bytes.len());
    }

    /// Like [`Image::add`], with a part of `code`, which is not copied.
    pub fn add_shared(&mut self, address: u64, code: &Arc<[u8]>, part: Range<usize>) {
        let room =
            usize::try_from(u64::MAX.wrapping_sub(address)).unwrap_or(usize::MAX).saturating_add(1);
        let end = part.end.min(part.start.saturating_add(room)).min(code.len());
        if end <= part.start {
            return;
        }
        let new = Segment { start: address, code: code.clone(), part: part.start..end };
        let from = self.segments.partition_point(|old| old.end() <= u128::from(new.start));
        let to = self.segments.partition_point(|old| u128::from(old.start) < new.end());
        let covered = self.segments.get(from..to).unwrap_or_default();
        let mut differing = covered.iter().filter_map(|old| differing(old, &new)).peekable();
        if differing.peek().is_some() {
            Arc::make_mut(&mut self.overlaps).extend(differing);
        }
        let head = covered.first().and_then(|old| old.before(new.start));
        let tail = covered.last().and_then(|old| old.from(new.end()));
        let segments = head.into_iter().chain([new]).chain(tail);
        Arc::make_mut(&mut self.segments).splice(from..to, segments);
    }

    /// The ranges that were added more than once, with different code.
    pub fn overlaps(&self) -> &[Range<u64>] {
        &self.overlaps
    }

    /// The ranges that have code, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.segments.iter().map(|s| s.start..s.start.wrapping_add(s.part.len() as u64))
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The segment that holds `address`.
    pub(crate) fn segment(&self, address: u64) -> Option<usize> {
        let index = self.segments.partition_point(|s| s.start <= address).checked_sub(1)?;
        self.segments.get(index)?.offset(address).map(|_| index)
    }

    fn half(&self, address: u64) -> Option<u32> {
        let byte = |address: u64| {
            let segment = self.segments.get(self.segment(address)?)?;
            segment.bytes().get(segment.offset(address)?).map(|b| u32::from(*b))
        };
        Some(byte(address)? | byte(address.wrapping_add(1))?.wrapping_shl(8))
    }

    /// The 16 or 32 bits of the encoding at `address`; `None` if there is no code.
    pub fn encoding(&self, address: u64) -> Option<u32> {
        let low = self.half(address)?;
        Some(match low & 3 {
            3 => low | self.half(address.wrapping_add(2))?.wrapping_shl(16),
            _ => low,
        })
    }

    /// The instruction at `address`; `None` if there is no code, or if its length is not supported.
    pub fn insn(&self, address: u64) -> Option<Insn> {
        hartrace_isa::decode(self.isa, self.encoding(address)?)
    }
}

/// The range where two segments overlap, if they differ there.
fn differing(old: &Segment, new: &Segment) -> Option<Range<u64>> {
    let start = old.start.max(new.start);
    let end = old.end().min(new.end());
    let len = usize::try_from(end.saturating_sub(u128::from(start))).ok()?;
    (old.at(start, len) != new.at(start, len)).then_some(start..start.wrapping_add(len as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_isa::Xlen;

    #[test]
    fn new_code_wins_and_the_rest_stays() {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add(0x1000, &[0x01, 0x00].repeat(8)); // c.nop
        image.add(0x1004, &[0x01, 0xa0]); // c.j .
        assert!(image.insn(0x1002).is_some_and(Insn::is_sequential));
        assert!(image.insn(0x1004).is_some_and(|i| !i.is_sequential()));
        assert!(image.insn(0x1006).is_some_and(Insn::is_sequential));
        assert_eq!(image.insn(0x1010), None);
        assert_eq!(image.overlaps().to_vec(), std::iter::once(0x1004..0x1006).collect::<Vec<_>>());
        assert_eq!(
            image.ranges().collect::<Vec<_>>(),
            [0x1000..0x1004, 0x1004..0x1006, 0x1006..0x1010]
        );
    }

    #[test]
    fn the_same_code_twice_is_no_overlap() {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add(0x1000, &[0x01, 0x00, 0x01, 0x00]);
        image.add(0x1002, &[0x01, 0x00]);
        assert!(image.overlaps().is_empty());
    }

    #[test]
    fn the_end_of_the_address_space() {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add(u64::MAX - 1, &[0x01, 0x00, 0x01, 0x00]);
        assert!(image.insn(u64::MAX - 1).is_some());
        assert_eq!(image.insn(0), None);
        image.add(u64::MAX - 3, &[0x01, 0x00, 0x01, 0xa0]);
        assert!(image.insn(u64::MAX - 1).is_some_and(|i| !i.is_sequential()));
    }
}
