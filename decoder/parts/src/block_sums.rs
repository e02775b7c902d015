//! Checksums of captures: what has changed since it was planned is not decoded.

use flate2::Crc;

/// The CRC-32 of every [`BLOCK`](Self::BLOCK) bytes of a capture, so that a part of it can be checked.
#[derive(Debug, Default)]
pub(super) struct BlockSums {
    crc: Crc,
    sums: Vec<u32>,
}

impl BlockSums {
    /// Bytes of a block. A part is read together with the rest of its first and last block.
    pub(super) const BLOCK: u64 = 1 << 22;

    /// Adds the next bytes.
    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = Self::BLOCK.saturating_sub(self.crc.amount().into());
            let room = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
            let (block, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.crc.update(block);
            bytes = rest;
            if u64::from(self.crc.amount()) >= Self::BLOCK {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        self.sums.push(self.crc.sum());
        self.crc.reset();
    }

    /// The sums of all blocks; the last one may be shorter.
    pub(super) fn finish(mut self) -> Vec<u32> {
        if self.crc.amount() > 0 {
            self.end_block();
        }
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_depend_on_pieces() {
        let bytes = vec![5; BlockSums::BLOCK as usize + 3];
        let sums = |piece: usize| {
            let mut sums = BlockSums::default();
            bytes.chunks(piece).for_each(|piece| sums.add(piece));
            sums.finish()
        };
        assert_eq!(sums(bytes.len()), sums(1_000_003));
        assert_eq!(sums(bytes.len()).len(), 2);
        assert!(BlockSums::default().finish().is_empty());
    }
}
