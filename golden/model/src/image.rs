//! The program, as the decoder sees it.

use crate::isa::{Insn, Isa};
use std::collections::BTreeMap;

/// Code by address: the instruction words a decoder may follow.
#[derive(Clone, Debug)]
pub struct Image {
    isa: Isa,
    /// Start address to bytes; segments do not overlap.
    segments: BTreeMap<u64, Vec<u8>>,
}

impl Image {
    /// Creates an image without code.
    pub fn new(isa: Isa) -> Self {
        Self { isa, segments: BTreeMap::new() }
    }

    /// The encodings that the program uses.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Adds code. Where it overlaps code added before, the new code wins. Bytes past the end of the
    /// address space are ignored.
    pub fn add(&mut self, address: u64, bytes: &[u8]) {
        let room = usize::try_from(u64::MAX - address).unwrap_or(usize::MAX).saturating_add(1);
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return;
        }
        let end = u128::from(address) + bytes.len() as u128;
        let before: Vec<u64> = self.segments.keys().copied().collect();
        for start in before {
            let old_end = u128::from(start) + self.segments[&start].len() as u128;
            if u128::from(start) >= end || old_end <= u128::from(address) {
                continue;
            }
            let old = self.segments.remove(&start).unwrap_or_default();
            if old_end > end {
                let keep = (old_end - end) as usize;
                self.segments.insert(end as u64, old[old.len() - keep..].to_vec());
            }
            if start < address {
                let keep = (address - start) as usize;
                self.segments.insert(start, old[..keep].to_vec());
            }
        }
        self.segments.insert(address, bytes.to_vec());
    }

    /// The half-word at `address`.
    fn half(&self, address: u64) -> Option<u32> {
        let byte = |address: u64| {
            let (start, bytes) = self.segments.range(..=address).next_back()?;
            bytes.get(usize::try_from(address - start).ok()?).map(|b| u32::from(*b))
        };
        Some(byte(address)? | byte(address.wrapping_add(1))? << 8)
    }

    /// The instruction at `address`; `None` if there is no code, or no instruction of a known
    /// length.
    pub fn insn(&self, address: u64) -> Option<Insn> {
        let low = self.half(address)?;
        let word = if low & 3 == 3 { low | self.half(address.wrapping_add(2))? << 16 } else { low };
        Insn::decode(word, self.isa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Flow, Xlen};

    #[test]
    fn new_code_wins_and_the_rest_stays() {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add(0x1000, &[0x01, 0x00].repeat(8)); // c.nop
        image.add(0x1004, &[0x01, 0xa0]); // c.j .
        assert_eq!(image.insn(0x1002).map(|i| i.flow), Some(Flow::Next));
        assert_eq!(image.insn(0x1004).map(|i| i.flow), Some(Flow::Jump(0)));
        assert_eq!(image.insn(0x100e).map(|i| i.flow), Some(Flow::Next));
        assert_eq!(image.insn(0x1010), None);
        assert_eq!(image.insn(0xfff), None);
    }

    #[test]
    fn instructions_may_straddle_segments_and_the_top() {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add(0x1000, &[0x73, 0x00]);
        assert_eq!(image.insn(0x1000), None);
        image.add(0x1002, &[0x20, 0x30]);
        assert_eq!(image.insn(0x1000).map(|i| i.flow), Some(Flow::TrapReturn));
        image.add(u64::MAX - 1, &[0x01, 0x00, 0x01, 0x00]);
        assert_eq!(image.insn(0), None);
        assert_eq!(image.insn(u64::MAX - 1).map(|i| i.size), Some(2));
        assert_eq!(image.insn(u64::MAX), None);
    }
}
