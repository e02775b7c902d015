//! Reads many packets at once, with their fields.
//!
//! As in `hartrace-etmv4`, the start of a packet is known only after the previous packet has been examined,
//! and the kind of the next packet cannot be predicted. Therefore all packets are processed in the same way,
//! with tables and without a branch on their kind. One-byte packets, which are the majority, are found many
//! at a time.

use crate::{Config, Fields, Reader};
use hartrace_bits::{bit_of_each, low_bytes, septets, septets4, which};

/// Bytes of the longest packet that is read here.
const LONGEST: usize = 8;

/// Bytes that are read for a packet: the first, and a word that starts at the second.
const READ: usize = LONGEST + 1;

/// Bytes that are examined together: as many as a word has bits.
const WINDOW: usize = 64;

/// Bytes in which the packets of one step start; the rest of the window may belong to the last packet.
const BLOCK: usize = WINDOW - READ;

/// One-byte packets that are copied together, even if there are fewer.
const GROUP: usize = 4;

/// Packets of a batch, and how many a block adds at most, including those copied in excess.
const PACKETS: usize = 512;
const PER_BLOCK: usize = WINDOW + GROUP;

/// A batch of packets with their fields.
#[derive(Clone, Debug)]
pub struct Batch {
    packets: [Fields; PACKETS],
    len: usize,
    /// Nearly all longer packets of the last block were branches with nothing but an address.
    mostly_plain: bool,
}

impl Default for Batch {
    fn default() -> Self {
        Self { packets: [Fields::NONE; PACKETS], len: 0, mostly_plain: false }
    }
}

impl Batch {
    /// The packets, in stream order.
    #[inline]
    pub fn packets(&self) -> &[Fields] {
        self.packets.get(..self.len).unwrap_or_default()
    }
}

/// How to read the bytes of a packet.
#[derive(Copy, Clone, Debug)]
struct Layout {
    /// Bits of the value, in addition to those of an address of the same length.
    kept: u64,
    /// The maximum number of bytes with seven bits each.
    most: u8,
    /// Number of low bits that are not part of the value.
    drop: u8,
    /// From this many bytes on, bit 6 of the last byte announces another byte. If `second` is 1, bit 7 of
    /// that byte announces a second one.
    marks: u8,
    second: u8,
}

/// The tables of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    /// Packets of one byte.
    singles: [Fields; 256],
    layouts: [Layout; 256],
    /// There are no cycle counts, which nearly every packet would contain.
    there: bool,
}

/// The bits of an address of one to four bytes, and of five bytes for each instruction set.
const ADDRESS_BITS: [u32; 16] = {
    let five = [0x3fff_ffff, 0x7fff_ffff, u32::MAX, u32::MAX];
    let [a, b, c, d] = five;
    [0, 0x3f, 0xfff, 0x7_ffff, 0x3ff_ffff, a, b, c, d, 0, 0, 0, 0, 0, 0, 0]
};

impl Layout {
    fn of(config: &Config, header: u8) -> Self {
        let branch = Self { kept: 0, most: 5, drop: 1, marks: 2, second: 1 };
        // Timestamps longer than a word, or without seven bits in the last byte, are not read here.
        let most = if config.timestamp_64 { 7 } else { 6 };
        match header {
            _ if header & 0x81 == 0x81 => branch,
            0x72 => Self { marks: 5, second: 0, ..branch },
            0x42 | 0x46 => Self { kept: u64::MAX, most, drop: 0, marks: u8::MAX, second: 0 },
            _ => Self { most: 0, ..branch },
        }
    }
}

/// Selected bits of all bytes of a window, one word per bit.
struct Bits {
    /// Bits 7, 6 and 0.
    more: u64,
    mark: u64,
    branch: u64,
    /// Bytes that are a one-byte packet if a packet starts there: atoms, a branch whose address has one
    /// byte, or a return from an exception.
    single: u64,
}

impl Bits {
    #[inline(always)]
    fn of(window: &[u8; WINDOW]) -> Self {
        let [more, mark, branch] = [7, 6, 0].map(|bit| bit_of_each(window, bit));
        let mut single = more ^ branch;
        let is_return = |byte: u8| byte == 0x76;
        // Most blocks contain none.
        if window.iter().fold(false, |any, byte| any | is_return(*byte)) {
            single |= which(window, is_return);
        }
        // Bytes after the block belong to the next one.
        let single = single & (u64::MAX >> READ);
        Self { more, mark, branch, single }
    }
}

impl Tables {
    pub(crate) fn new(config: &Config) -> Self {
        let mut singles = [Fields::NONE; 256];
        let mut layouts = [Layout::of(config, 0); 256];
        for ((single, layout), header) in singles.iter_mut().zip(&mut layouts).zip(0..=u8::MAX) {
            *single = Fields::single(header);
            *layout = Layout::of(config, header);
        }
        Self { singles, layouts, there: !config.cycle_accurate }
    }

    /// Reads packets from a position in a block to its end; `false` if it meets a packet that is not read
    /// here, or if there is no room.
    // Positions in the block are below its length, and there are no more packets than bytes: the masks
    // change nothing, but they save the bounds checks.
    #[inline(always)]
    fn read_block(&self, window: &[u8; WINDOW], start: &mut usize, batch: &mut Batch) -> bool {
        const IN_BLOCK: usize = WINDOW - 1;
        let bits = Bits::of(window);
        let packets = batch.packets.get_mut(batch.len..);
        let Some(packets) = packets.and_then(<[_]>::first_chunk_mut::<PER_BLOCK>) else {
            return false;
        };
        let (mut at, mut count) = (*start, 0usize);
        let (mut longer, mut plain) = (0u32, 0u32);
        let whole = loop {
            let run = (!bits.single.wrapping_shr(at as u32)).trailing_zeros() as usize;
            let mut copied = 0;
            loop {
                let from = window.get(at.wrapping_add(copied) & IN_BLOCK..);
                let to = packets.get_mut(count.wrapping_add(copied) & IN_BLOCK..);
                if let Some(from) = from.and_then(<[u8]>::first_chunk::<GROUP>)
                    && let Some(to) = to.and_then(<[_]>::first_chunk_mut::<GROUP>)
                {
                    for (header, to) in from.iter().zip(to) {
                        *to = self.singles.get(usize::from(*header)).copied().unwrap_or(*to);
                    }
                }
                copied = copied.wrapping_add(GROUP);
                if copied >= run {
                    break;
                }
            }
            at = at.wrapping_add(run);
            count = count.wrapping_add(run);
            if at >= BLOCK {
                break true;
            }
            let Some(rest) = window.get(at..).and_then(<[u8]>::first_chunk) else { break false };
            // A correct guess is faster.
            let guess = match batch.mostly_plain {
                true => plain_branch(rest, &bits, at as u32),
                false => None,
            };
            let Some(packet) = guess.or_else(|| self.read_one(rest, &bits, at as u32)) else {
                break false;
            };
            longer = longer.wrapping_add(1);
            plain = plain.wrapping_add(packet.is_plain_branch().into());
            if let Some(to) = packets.get_mut(count & IN_BLOCK) {
                *to = packet;
            }
            at = at.wrapping_add(packet.len());
            count = count.wrapping_add(1);
            if at >= BLOCK {
                break true;
            }
        };
        batch.mostly_plain = longer.wrapping_sub(plain).wrapping_mul(4) <= longer;
        *start = at;
        batch.len = batch.len.wrapping_add(count);
        whole
    }

    /// Reads a packet at a position in the block. Its end is found in the bits of all bytes, without a
    /// memory access, since the next packet waits for it.
    #[inline(always)]
    fn read_one(&self, bytes: &[u8; READ], bits: &Bits, at: u32) -> Option<Fields> {
        let [header, ..] = *bytes;
        let layout = self.layouts.get(usize::from(header))?;
        // The header of a branch is the first byte of its address.
        let fixed = !bits.branch.wrapping_shr(at) as u32 & 1;
        let at = at.wrapping_add(fixed);
        let count = (!bits.more.wrapping_shr(at)).trailing_zeros().wrapping_add(1);
        if count > layout.most.into() {
            return None;
        }
        let last = at.wrapping_add(count).wrapping_sub(1);
        let marked = bits.mark.wrapping_shr(last) as u32 & u32::from(count >= layout.marks.into());
        let second = bits.more.wrapping_shr(last) >> 1;
        let extra = marked.wrapping_add(marked & second as u32 & u32::from(layout.second));
        let len = fixed.wrapping_add(count).wrapping_add(extra);

        let word = u64::from_le_bytes(*bytes.get(fixed as usize..)?.first_chunk()?);
        let tail = word.wrapping_shr(count.wrapping_sub(1).wrapping_mul(8)) as u32;
        let word = low_bytes(word, count as u8);
        // Two bits of a fifth byte determine the instruction set.
        let form = count.wrapping_add((word >> 36) as u32 & 3) as usize & 0xf;
        let bits = u64::from(*ADDRESS_BITS.get(form)?) | layout.kept;
        let value = septets(word).wrapping_shr(layout.drop.into()) & bits;
        // The last byte, and those after it that count.
        let more = low_bytes(tail.into(), extra.wrapping_add(1) as u8) as u32;
        Some(Fields::longer([header, len as u8, count as u8, extra as u8], value, more))
    }
}

/// Reads a branch with nothing after its address, which has fewer than five bytes.
#[inline(always)]
fn plain_branch(bytes: &[u8; READ], bits: &Bits, at: u32) -> Option<Fields> {
    let [header, b1, b2, b3, ..] = *bytes;
    let more = (!bits.more.wrapping_shr(at)).trailing_zeros();
    let plain = bits.branch & !bits.mark.wrapping_shr(more) & u64::from(more < 4).wrapping_shl(at);
    if plain == 0 {
        return None;
    }
    let count = more.wrapping_add(1) as u8;
    let word = low_bytes(u32::from_le_bytes([header, b1, b2, b3]).into(), count);
    let value = septets4(word as u32) >> 1;
    Some(Fields::longer([header, count, count, 0], value.into(), 0))
}

impl Reader {
    /// Reads packets of the frequent kinds until one of another kind or until close to the end of `bytes`;
    /// returns the number of bytes read. If that is 0, call [`Reader::next`] for the next item. It is always
    /// 0 if cycles are counted.
    #[inline]
    pub fn read(&self, bytes: &[u8], batch: &mut Batch) -> usize {
        batch.len = 0;
        let tables = self.tables();
        if !self.is_synchronised() || !tables.there {
            return 0;
        }
        // Blocks are adjacent, wherever packets start: a block can be examined before the packets of the
        // block before it are known.
        let (mut base, mut at) = (0usize, 0);
        while let Some(window) = bytes.get(base..).and_then(<[u8]>::first_chunk)
            && tables.read_block(window, &mut at, batch)
        {
            base = base.wrapping_add(BLOCK);
            at = at.wrapping_sub(BLOCK);
        }
        base.wrapping_add(at)
    }
}
