use hartrace_isa::{Insn, Isa};
use std::ops::Range;

/// The program: code by address.
#[derive(Clone, Debug)]
pub struct Image {
    isa: Isa,
    /// By address, not overlapping.
    segments: Vec<Segment>,
    overlaps: Vec<Range<u64>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Segment {
    /// The offset of `address`, if it is in the segment.
    #[inline]
    pub(crate) fn offset(&self, address: u64) -> Option<usize> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        (offset < self.bytes.len()).then_some(offset)
    }

    /// Address after the last byte; wide, since it may be 2^64.
    fn end(&self) -> u128 {
        u128::from(self.start).saturating_add(self.bytes.len() as u128)
    }
}

impl Image {
    /// An image without code.
    pub fn new(isa: Isa) -> Self {
        Self { isa, segments: Vec::new(), overlaps: Vec::new() }
    }

    /// Which encodings the program uses.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Adds code at `address`. Where code was added before, the new code wins, and the stretch is
    /// listed by [`Image::overlaps`] if the two differ. What would lie past the end of the address
    /// space is left out.
    pub fn add(&mut self, address: u64, bytes: &[u8]) {
        let room =
            usize::try_from(u64::MAX.wrapping_sub(address)).unwrap_or(usize::MAX).saturating_add(1);
        let bytes = bytes.get(..room).unwrap_or(bytes);
        if bytes.is_empty() {
            return;
        }
        let new = Segment { start: address, bytes: bytes.to_vec() };
        let mut kept = Vec::with_capacity(self.segments.len().saturating_add(2));
        for old in self.segments.drain(..) {
            if u128::from(old.start) >= new.end() || old.end() <= u128::from(new.start) {
                kept.push(old);
                continue;
            }
            if let Some(range) = differing(&old, &new) {
                self.overlaps.push(range);
            }
            if let Some(head) = old.offset(new.start).and_then(|n| old.bytes.get(..n))
                && !head.is_empty()
            {
                kept.push(Segment { start: old.start, bytes: head.to_vec() });
            }
            if let Ok(end) = u64::try_from(new.end())
                && let Some(tail) = old.offset(end).and_then(|n| old.bytes.get(n..))
            {
                kept.push(Segment { start: end, bytes: tail.to_vec() });
            }
        }
        kept.push(new);
        kept.sort_by_key(|segment| segment.start);
        self.segments = kept;
    }

    /// Stretches that were added twice, with different code.
    pub fn overlaps(&self) -> &[Range<u64>] {
        &self.overlaps
    }

    /// The stretches that have code, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.segments.iter().map(|s| s.start..s.start.wrapping_add(s.bytes.len() as u64))
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
            segment.bytes.get(segment.offset(address)?).map(|b| u32::from(*b))
        };
        Some(byte(address)? | byte(address.wrapping_add(1))?.wrapping_shl(8))
    }

    /// The encoding at `address`, 16 bits of it or 32; `None` where there is no code.
    pub fn encoding(&self, address: u64) -> Option<u32> {
        let low = self.half(address)?;
        Some(match low & 3 {
            3 => low | self.half(address.wrapping_add(2))?.wrapping_shl(16),
            _ => low,
        })
    }

    /// The instruction at `address`; `None` where there is no code, or none of a known length.
    pub fn insn(&self, address: u64) -> Option<Insn> {
        hartrace_isa::decode(self.isa, self.encoding(address)?)
    }
}

/// Where two segments overlap, if they differ there.
fn differing(old: &Segment, new: &Segment) -> Option<Range<u64>> {
    let start = old.start.max(new.start);
    let end = old.end().min(new.end());
    let len = usize::try_from(end.saturating_sub(u128::from(start))).ok()?;
    let part = |s: &Segment| {
        let from = s.offset(start)?;
        s.bytes.get(from..from.saturating_add(len)).map(<[u8]>::to_vec)
    };
    (part(old) != part(new)).then_some(start..start.wrapping_add(len as u64))
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
