//! Reads many packets at once, with their fields.
//!
//! The start of a packet is known only after the previous packet has been examined, and the kind of the next
//! packet cannot be predicted. Therefore nearly all packets are processed in the same way, with tables and
//! without a branch on their kind. One-byte packets, which are the majority, are found many at a time.

use crate::headers::Identity;
use crate::packet::Context;
use crate::table::{Needs, row_of};
use crate::{Fields, Headers, Reader};
use hartrace_bits::{low_bytes, septet_bytes, septets, which};

/// Bytes that are examined together: as many as a word has bits.
const BLOCK: usize = 64;

/// An upper bound for the bytes of the longest packet that is read here, an address with a context.
const LONGEST: usize = 24;

/// A block, and the bytes after it that may belong to its last packet.
const WINDOW: usize = BLOCK + LONGEST;

/// One-byte packets that are copied together, even if there are fewer.
const GROUP: usize = 4;

/// Packets of a batch, and how many a block adds at most, including those copied in excess.
const PACKETS: usize = 512;
const PER_BLOCK: usize = BLOCK + GROUP;

/// Contexts of a batch, and how many a block adds at most: a packet with one has ten bytes or more.
const CONTEXTS: usize = 64;
const CONTEXTS_PER_BLOCK: usize = 8;

/// A batch of packets with their fields.
#[derive(Clone, Debug)]
pub struct Batch {
    packets: [Fields; PACKETS],
    len: usize,
    contexts: [Identity; CONTEXTS],
    contexts_len: usize,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            packets: [Fields::NONE; PACKETS],
            len: 0,
            contexts: [Identity::NONE; CONTEXTS],
            contexts_len: 0,
        }
    }
}

impl Batch {
    /// The packets, in stream order.
    #[inline]
    pub fn packets(&self) -> &[Fields] {
        self.packets.get(..self.len).unwrap_or_default()
    }

    /// The context of one of the packets, if it is an address with context.
    #[inline]
    pub fn context(&self, packet: &Fields) -> Option<Context> {
        if !packet.is_address_context() {
            return None;
        }
        self.contexts.get(packet.context as usize).map(Identity::context)
    }
}

impl Reader {
    /// Reads packets of the frequent kinds until one of another kind or until close to the end of `bytes`;
    /// returns the number of bytes read. If that is 0, call [`Reader::next`] for the next item.
    #[inline]
    pub fn read(&self, bytes: &[u8], batch: &mut Batch) -> usize {
        (batch.len, batch.contexts_len) = (0, 0);
        if !self.is_synchronised() {
            return 0;
        }
        // Blocks are adjacent, wherever packets start: a block can be examined before the packets of the
        // block before it are known.
        let (mut base, mut at) = (0usize, 0);
        while batch.contexts_len <= CONTEXTS.wrapping_sub(CONTEXTS_PER_BLOCK)
            && let Some(window) = bytes.get(base..).and_then(<[u8]>::first_chunk)
            && self.headers().read_block(window, &mut at, batch)
        {
            base = base.wrapping_add(BLOCK);
            at = at.wrapping_sub(BLOCK);
        }
        base.wrapping_add(at)
    }
}

impl Headers {
    /// Reads packets from a position in a block to its end; `false` if it meets a packet that is not read
    /// here, or if there is no room.
    // Positions in the block are below its length, and there are no more packets than bytes: the masks change
    // nothing, but they save the bounds checks.
    #[inline(always)]
    fn read_block(&self, window: &[u8; WINDOW], start: &mut usize, batch: &mut Batch) -> bool {
        const IN_BLOCK: usize = BLOCK - 1;
        let Some(block) = window.first_chunk() else { return false };
        // Where a packet, if one starts there, has one byte. Other kinds are read one by one.
        let exception_return = self.exception_return();
        let single = which(block, |header| single(header, exception_return));
        let packets = batch.packets.get_mut(batch.len..);
        let Some(packets) = packets.and_then(<[_]>::first_chunk_mut::<PER_BLOCK>) else {
            return false;
        };
        let (mut at, mut count, mut contexts) = (*start, 0usize, batch.contexts_len);
        let whole = loop {
            let run = (!single.wrapping_shr(at as u32)).trailing_zeros() as usize;
            let mut copied = 0;
            loop {
                let from = window.get(at.wrapping_add(copied) & IN_BLOCK..);
                let to = packets.get_mut(count.wrapping_add(copied) & IN_BLOCK..);
                if let Some(from) = from.and_then(<[u8]>::first_chunk)
                    && let Some(to) = to.and_then(<[_]>::first_chunk_mut)
                {
                    self.copy(from, to);
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
            let context = batch.contexts.get_mut(contexts & (CONTEXTS - 1));
            let packet = match (rest, context) {
                (Some(rest), Some(context)) => self.read_one(rest, contexts, context),
                _ => None,
            };
            let Some((packet, has_context)) = packet else { break false };
            if let Some(to) = packets.get_mut(count & IN_BLOCK) {
                *to = packet;
            }
            contexts = contexts.wrapping_add(has_context);
            at = at.wrapping_add(packet.len());
            count = count.wrapping_add(1);
            if at >= BLOCK {
                break true;
            }
        };
        *start = at;
        batch.len = batch.len.wrapping_add(count);
        batch.contexts_len = contexts;
        whole
    }

    /// Copies the fields of one-byte packets.
    #[inline(always)]
    fn copy(&self, headers: &[u8; GROUP], to: &mut [Fields; GROUP]) {
        for (header, to) in headers.iter().zip(to) {
            *to = self.template(*header);
        }
    }

    /// Reads a packet; returns it with the number of its contexts, 0 or 1.
    #[inline(always)]
    fn read_one(
        &self,
        bytes: &[u8; LONGEST],
        number: usize,
        context: &mut Identity,
    ) -> Option<(Fields, usize)> {
        let [header, payload @ ..] = bytes;
        let gather = self.gather(*header);
        let word = u64::from_le_bytes(*payload.first_chunk()?);
        let run = septet_bytes(word);
        if run > gather.plain {
            return None;
        }
        // The context is read even if there is none: waiting for the answer takes longer.
        let [info, behind @ ..] = payload.last_chunk::<15>()?;
        let identifiers = self.identifiers();
        *context = identifiers.read(*info, u64::from_le_bytes(*behind.first_chunk()?));
        let length = identifiers.length(*info) & gather.context;
        let fixed = gather.fixed.wrapping_add(run.min(gather.most));
        let word = low_bytes(word, fixed.wrapping_sub(1));
        let low = word & 0x7f | (word & u64::from(gather.second)) >> 1;
        let mut value = low.wrapping_mul(gather.scale.into()) | word & gather.kept;
        if fixed > gather.more {
            value = septets(word);
        }
        let packet = Fields::longer(*header, fixed.wrapping_add(length), value, number as u32);
        Some((packet, usize::from(gather.context & 1)))
    }
}

/// Headers that are complete packets in every configuration: the first of adjacent ones, and their
/// number.
// Runs of fewer than three are not worth it: this is checked for every byte.
const SINGLES: [(u8, u8); 5] = {
    let mut all = [(0, 0); 5];
    let mut rest: &mut [(u8, u8)] = &mut all;
    let (mut header, mut run) = (0u16, 0u8);
    while header < 0x101 {
        let single = header < 0x100
            && match row_of(header as u8) {
                Some(row) => row.sections.is_empty() && matches!(row.needs, Needs::Nothing),
                None => false,
            };
        if single {
            run = run.wrapping_add(1);
        } else {
            if run > 2
                && let [first, others @ ..] = rest
            {
                *first = ((header as u8).wrapping_sub(run), run);
                rest = others;
            }
            run = 0;
        }
        header = header.wrapping_add(1);
    }
    all
};

/// Whether a header byte is a complete packet: one that is so in every configuration, or a return from an
/// exception. It does not recognise all of them.
#[inline(always)]
pub(crate) fn single(header: u8, exception_return: u8) -> bool {
    let [a, b, c, d, e] = SINGLES.map(|(first, count)| header.wrapping_sub(first) < count);
    a | b | c | d | e | (header == exception_return)
}
