//! Many packets at once, with their fields.
//!
//! As in `hartrace-etmv4`: where a packet starts is known only once the one before has been looked at, and
//! which one it is nobody can predict. So what is done per packet is the same for all of them, by tables and
//! without a branch for their kind; and packets of one byte, most of them, are found many at a time.

use crate::{Config, Fields, Reader};
use hartrace_bits::{low_bytes, septet_bytes, septets, which};

/// Bytes that are looked at together: as many as there are bits in a word.
const BLOCK: usize = 64;

/// Bytes of the longest packet that is read here.
const LONGEST: usize = 8;

/// A block, and what may belong to its last packet.
const WINDOW: usize = BLOCK + LONGEST;

/// Packets of one byte that are copied together, though fewer may be there.
const GROUP: usize = 4;

/// Packets of a batch, and how many a block adds at most, with those that are copied but not there.
const PACKETS: usize = 512;
const PER_BLOCK: usize = BLOCK + GROUP;

/// Packets that were read, with their fields.
#[derive(Clone, Debug)]
pub struct Batch {
    packets: [Fields; PACKETS],
    len: usize,
}

impl Default for Batch {
    fn default() -> Self {
        Self { packets: [Fields::NONE; PACKETS], len: 0 }
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
    /// Bytes before those with seven bits each.
    fixed: u8,
    /// The most of those, and the most of which the length is told here.
    most: u8,
    plain: u8,
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
        let branch =
            Self { kept: 0, fixed: 0, most: 5, plain: u8::MAX, drop: 1, marks: 2, second: 1 };
        // What goes on behind a word, or has other than seven bits in its last byte, is not read here.
        let plain = if config.timestamp_64 { 7 } else { 6 };
        match header {
            _ if header & 0x81 == 0x81 => branch,
            0x72 => Self { fixed: 1, marks: 5, second: 0, ..branch },
            0x42 | 0x46 => Self {
                kept: u64::MAX,
                fixed: 1,
                most: 7,
                plain,
                drop: 0,
                marks: u8::MAX,
                second: 0,
            },
            _ => Self { plain: 0, ..branch },
        }
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
        const IN_BLOCK: usize = BLOCK - 1;
        let Some(block) = window.first_chunk() else { return false };
        let single = which(block, single);
        let packets = batch.packets.get_mut(batch.len..);
        let Some(packets) = packets.and_then(<[_]>::first_chunk_mut::<PER_BLOCK>) else {
            return false;
        };
        let (mut at, mut count) = (*start, 0usize);
        let whole = loop {
            let run = (!single.wrapping_shr(at as u32)).trailing_zeros() as usize;
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
            let rest = window.get(at & IN_BLOCK..).and_then(<[u8]>::first_chunk);
            let Some(packet) = rest.and_then(|rest| self.read_one(rest)) else { break false };
            if let Some(to) = packets.get_mut(count & IN_BLOCK) {
                *to = packet;
            }
            at = at.wrapping_add(packet.len());
            count = count.wrapping_add(1);
            if at >= BLOCK {
                break true;
            }
        };
        *start = at;
        batch.len = batch.len.wrapping_add(count);
        whole
    }

    /// Reads a packet.
    #[inline(always)]
    fn read_one(&self, bytes: &[u8; LONGEST]) -> Option<Fields> {
        let [header, ..] = *bytes;
        let layout = self.layouts.get(usize::from(header))?;
        let word = u64::from_le_bytes(*bytes).wrapping_shr(u32::from(layout.fixed).wrapping_mul(8));
        let run = septet_bytes(word);
        if run > layout.plain {
            return None;
        }
        let count = run.min(layout.most);
        let shift = u32::from(count).wrapping_mul(8);
        let last = word.wrapping_shr(shift.wrapping_sub(8)) as u8;
        let behind = word.wrapping_shr(shift) as u32;
        let marked = (last >> 6) & 1 & u8::from(count >= layout.marks);
        let extra = marked.wrapping_mul(((behind >> 7) as u8 & layout.second).wrapping_add(1));
        let len = layout.fixed.wrapping_add(count).wrapping_add(extra);

        let word = low_bytes(word, count);
        // Of a fifth byte, two bits tell the instruction set.
        let form = u32::from(count).wrapping_add((word >> 36) as u32 & 3) as usize & 0xf;
        let bits = u64::from(*ADDRESS_BITS.get(form)?) | layout.kept;
        let value = septets(word).wrapping_shr(layout.drop.into()) & bits;
        let behind = behind & 1u32.wrapping_shl(u32::from(extra).wrapping_mul(8)).wrapping_sub(1);
        let more = behind | u32::from(last) << 16;
        Some(Fields::longer([header, len, count, extra], value, more))
    }
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

/// Whether a header byte is a packet of its own: atoms, a branch whose address has one byte, or a return from
/// an exception.
#[inline(always)]
pub(crate) const fn single(header: u8) -> bool {
    (header ^ header << 7) & 0x80 != 0 || header == 0x76
}
