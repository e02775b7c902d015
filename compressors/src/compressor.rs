//! The interface of every scheme.

use crate::events::{Event, Events};
use crate::{Bits, Code, CompressError, DecodeError, Records};
use hartrace_etrace::ingress::Retired;
use std::fmt::Debug;
use std::num::NonZeroU64;

/// Compresses what a hart retires.
pub trait Compressor: Debug {
    /// Adds what retired next: an instruction, a block of instructions, or a trap.
    fn retire(&mut self, row: &Retired) -> Result<(), CompressError>;

    /// Bits written so far. Some of what has retired may not be among them yet.
    fn bits(&self) -> u64;

    /// Ends the trace.
    fn finish(self: Box<Self>) -> Result<Compressed, CompressError>;
}

/// Recovers what has retired from bits and the program.
pub trait Decompressor: Debug {
    /// Passes on the address of every instruction, and reports where the bits cannot be right. The number
    /// of instructions is not part of the trace.
    fn decompress(
        &self,
        bits: &Bits,
        instructions: u64,
        take: &mut dyn FnMut(u64),
    ) -> Result<(), DecodeError>;
}

/// A compressed trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// The input of the decompressor.
    pub bits: Bits,
    /// Bits that the scheme emitted: records or payloads, without framing.
    pub payload_bits: u64,
    /// The same to the bit, where a scheme emits whole bytes; without the lengths that a reader would need then.
    pub exact_bits: u64,
    /// Bits of the same in packets of the standard encapsulation, as a trace port would send them.
    pub framed_bits: u64,
    /// Instructions that retired.
    pub instructions: u64,
    /// What the bits are spent on, for schemes that have tables of streams.
    pub records: Vec<Records>,
}

/// Bytes of payload that a packet of the standard encapsulation can hold.
const PACKET: u64 = 31;

impl Compressed {
    /// A bit stream cut into packets without regard to its contents.
    pub(crate) fn bare(bits: Bits, instructions: u64) -> Self {
        let (payload_bits, bytes) = (bits.len(), bits.len().div_ceil(8));
        let framed_bits = 8 * (bytes + bytes.div_ceil(PACKET));
        let (exact_bits, records) = (payload_bits, Vec::new());
        Self { bits, payload_bits, exact_bits, framed_bits, instructions, records }
    }
}

/// The core of most schemes, which turns events into bits.
pub(crate) trait Coder: Debug {
    /// Encodes what happened next.
    fn event(&mut self, event: &Event, out: &mut Bits) -> Result<(), CompressError>;

    /// Writes what is pending and clears all state, so that a decompressor can start here. Execution
    /// continues at `next`.
    fn sync(&mut self, next: u64, out: &mut Bits) -> Result<(), CompressError>;

    /// Writes what is pending.
    fn finish(&mut self, out: &mut Bits) -> Result<(), CompressError>;

    /// What the bits were spent on, if that is counted.
    fn records(&mut self) -> Vec<Records> {
        Vec::new()
    }
}

/// A compressor with a [`Coder`].
#[derive(Debug)]
pub(crate) struct Coding<'a, C> {
    events: Events<'a>,
    inner: Inner<C>,
}

#[derive(Debug)]
struct Inner<C> {
    coder: C,
    out: Bits,
    sync_every: Option<NonZeroU64>,
    /// Instructions since the last synchronisation.
    since: u64,
}

impl<'a, C: Coder> Coding<'a, C> {
    pub(crate) fn new(code: &'a Code, coder: C, sync_every: Option<NonZeroU64>) -> Self {
        let inner = Inner { coder, out: Bits::default(), sync_every, since: 0 };
        Self { events: Events::new(code), inner }
    }
}

impl<C: Coder> Inner<C> {
    fn take(&mut self, event: Event) -> Result<(), CompressError> {
        if self.sync_every.is_some_and(|every| self.since == every.get()) {
            let next = match event {
                Event::Retired { pc, .. } => pc,
                Event::Trap { epc, .. } => epc,
            };
            self.coder.sync(next, &mut self.out)?;
            self.since = 0;
        }
        self.since += u64::from(matches!(event, Event::Retired { .. }));
        self.coder.event(&event, &mut self.out)
    }
}

impl<C: Coder> Compressor for Coding<'_, C> {
    fn retire(&mut self, row: &Retired) -> Result<(), CompressError> {
        let Self { events, inner } = self;
        events.push(row, &mut |event| inner.take(event))
    }

    fn bits(&self) -> u64 {
        self.inner.out.len()
    }

    fn finish(mut self: Box<Self>) -> Result<Compressed, CompressError> {
        let Self { events, inner } = &mut *self;
        events.close(&mut |event| inner.take(event))?;
        inner.coder.finish(&mut inner.out)?;
        let instructions = events.count();
        let records = inner.coder.records();
        Ok(Compressed { records, ..Compressed::bare(std::mem::take(&mut inner.out), instructions) })
    }
}

/// The number of instructions up to the next synchronisation.
pub(crate) fn segment(left: u64, sync_every: Option<NonZeroU64>) -> u64 {
    sync_every.map_or(left, |every| left.min(every.get()))
}
