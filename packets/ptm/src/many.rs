//! Many packets at once, with their fields.
//!
//! As in `hartrace-etmv4`: where a packet starts is known only once the one before has been looked at, and
//! which one it is nobody can predict. So what is done per packet is the same for all of them, by tables and
//! without a branch for their kind; and packets of one byte, most of them, are found many at a time.

use crate::{Config, Fields, Reader};
use hartrace_bits::{bit_of_each, low_bytes, septets, septets4, which};

/// Bytes of the longest packet that is read here.
const LONGEST: usize = 8;

/// Bytes that are read of a packet: a word, from its second byte on.
const READ: usize = LONGEST + 1;

/// Bytes that are looked at together: as many as there are bits in a word.
const WINDOW: usize = 64;

/// Those that packets start in which are read together; the others may belong to the last one.
const BLOCK: usize = WINDOW - READ;

/// Packets of one byte that are copied together, though fewer may be there.
const GROUP: usize = 4;

/// Packets of a batch, and how many a block adds at most, with those that are copied but not there.
const PACKETS: usize = 512;
const PER_BLOCK: usize = WINDOW + GROUP;

/// Packets that were read, with their fields.
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
    /// The packets, one behind the other.
    #[inline]
    pub fn packets(&self) -> &[Fields] {
        self.packets.get(..self.len).unwrap_or_default()
    }
}

/// What to make of the bytes of a packet.
#[derive(Copy, Clone, Debug)]
struct Layout {
    /// Bits of the value, besides those that an address of so many bytes has.
    kept: u64,
    /// The most bytes with seven bits each.
    most: u8,
    /// The lowest bits are no part of the value.
    drop: u8,
    /// From so many bytes on, bit 6 of the last one says that something follows; and bit 7 of the first byte
    /// there, if it is this, that there is a second.
    marks: u8,
    second: u8,
}

/// The tables of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    /// Packets of one byte.
    singles: [Fields; 256],
    layouts: [Layout; 256],
    /// There are no cycle counts, which belong to nearly every packet.
    there: bool,
}

/// The bits of an address: of one to four bytes, and of five by their instruction set.
const ADDRESS_BITS: [u32; 16] = {
    let five = [0x3fff_ffff, 0x7fff_ffff, u32::MAX, u32::MAX];
    let [a, b, c, d] = five;
    [0, 0x3f, 0xfff, 0x7_ffff, 0x3ff_ffff, a, b, c, d, 0, 0, 0, 0, 0, 0, 0]
};

impl Layout {
    fn of(config: &Config, header: u8) -> Self {
        let branch = Self { kept: 0, most: 5, drop: 1, marks: 2, second: 1 };
        // What goes on behind a word, or has other than seven bits in its last byte, is not read here.
        let most = if config.timestamp_64 { 7 } else { 6 };
        match header {
            _ if header & 0x81 == 0x81 => branch,
            0x72 => Self { marks: 5, second: 0, ..branch },
            0x42 | 0x46 => Self { kept: u64::MAX, most, drop: 0, marks: u8::MAX, second: 0 },
            _ => Self { most: 0, ..branch },
        }
    }
}

/// Some bits of all bytes of a window, a word each.
struct Bits {
    /// Bits 7, 6 and 0.
    more: u64,
    mark: u64,
    branch: u64,
    /// Packets of one byte, if there is a packet at it: atoms, a branch whose address has one byte, or a
    /// return from an exception.
    single: u64,
}

impl Bits {
    #[inline(always)]
    fn of(window: &[u8; WINDOW]) -> Self {
        let [more, mark, branch] = [7, 6, 0].map(|bit| bit_of_each(window, bit));
        let mut single = more ^ branch;
        let is_return = |byte: u8| byte == 0x76;
        // Not in most blocks.
        if window.iter().fold(false, |any, byte| any | is_return(*byte)) {
            single |= which(window, is_return);
        }
        // Those behind the block belong to the next one.
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

    /// Reads packets from a place in a block on, up to its end; `false` if there is one that is not read
    /// here, or no room.
    // Places in the block are below its length, and there are no more packets than bytes: the masks change
    // nothing, but no check is needed for them.
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
            // To guess that is faster, where it is right.
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

    /// Reads a packet at a place in the block. Where it ends is found in the bits of all bytes, which takes
    /// no memory access: the next packet waits for it.
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
        // Of a fifth byte, two bits tell the instruction set.
        let form = count.wrapping_add((word >> 36) as u32 & 3) as usize & 0xf;
        let bits = u64::from(*ADDRESS_BITS.get(form)?) | layout.kept;
        let value = septets(word).wrapping_shr(layout.drop.into()) & bits;
        // The last byte, and those behind it that count.
        let more = low_bytes(tail.into(), extra.wrapping_add(1) as u8) as u32;
        Some(Fields::longer([header, len as u8, count as u8, extra as u8], value, more))
    }
}

/// A branch with nothing behind its address, which has less than five bytes.
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
    /// Reads packets, as many as are of the frequent kinds and not at the end of `bytes`; returns how many
    /// bytes they have. If that is 0, [`Reader::next`] says what is there; where cycles are counted, always.
    #[inline]
    pub fn read(&self, bytes: &[u8], batch: &mut Batch) -> usize {
        batch.len = 0;
        let tables = self.tables();
        if !self.is_synchronised() || !tables.there {
            return 0;
        }
        // Blocks are side by side, wherever packets start: so what is found out of all bytes of a block need
        // not wait for the packets before.
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
