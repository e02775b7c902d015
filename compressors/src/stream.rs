//! Streams: instructions from the target of a jump up to the next taken branch.
//!
//! Direct jumps do not end a stream, since the program determines their targets. A stream is therefore
//! identified by the address of its first instruction and the number of instructions along its path.

use crate::code::Cursor;
use crate::compressor::{Coder, segment};
use crate::events::Event;
use crate::records::{Records, Tally};
use crate::{BitSource, Bits, Code, CompressError, DecodeError, Decompressor, Fault};
use hartrace_isa::Xlen;
use std::fmt::Debug;
use std::num::NonZeroU64;

/// The largest number of instructions in a stream.
const LONGEST: u8 = 254;
/// Represents a length where a stream was cut after [`LONGEST`] instructions.
const CUT: u8 = 255;
/// Represents a length where a trap ended the stream.
const TRAP: u8 = 0;

/// A stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    /// Address of its first instruction.
    pub(crate) start: u64,
    /// Whether the decompressor knows the address from the previous stream.
    pub(crate) known: bool,
    /// How it ends.
    pub(crate) end: End,
}

/// How a stream ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With a taken branch or jump, after this many instructions.
    Natural(u8),
    /// After [`LONGEST`] instructions, none of which ends it.
    Cut,
    /// By a trap, after this many instructions.
    Trap { retired: u8, handler: u64 },
}

impl Stream {
    /// The value that is sent as the length.
    pub(crate) fn length(&self) -> u8 {
        match self.end {
            End::Natural(length) => length,
            End::Cut => CUT,
            End::Trap { .. } => TRAP,
        }
    }

    /// The address that determines whether the upper bits of the next stream repeat.
    pub(crate) fn last_address(&self) -> u64 {
        match self.end {
            End::Trap { handler, .. } => handler,
            _ => self.start,
        }
    }

    pub(crate) fn is_trap(&self) -> bool {
        matches!(self.end, End::Trap { .. })
    }

    /// Writes the length and, for a trap, the fields that follow it.
    pub(crate) fn put_end(&self, xlen: u32, out: &mut Bits) {
        out.put(self.length().into(), 8);
        if let End::Trap { retired, handler } = self.end {
            out.put(retired.into(), 8);
            out.put(handler, xlen);
        }
    }
}

impl End {
    /// The end that a length represents, other than a trap.
    pub(crate) fn of_length(length: u8) -> Self {
        if length == CUT { Self::Cut } else { Self::Natural(length) }
    }

    /// Reads what [`Stream::put_end`] writes.
    pub(crate) fn get(xlen: u32, from: &mut BitSource<'_>) -> Result<Self, DecodeError> {
        Self::read(|symbol| match symbol {
            Symbol::Byte => from.get(8),
            Symbol::Address => from.get(xlen),
        })
    }

    /// The same, with a source for the fields.
    pub(crate) fn read<E>(mut field: impl FnMut(Symbol) -> Result<u64, E>) -> Result<Self, E> {
        match field(Symbol::Byte)? as u8 {
            TRAP => {
                let retired = field(Symbol::Byte)? as u8;
                Ok(Self::Trap { retired, handler: field(Symbol::Address)? })
            }
            length => Ok(Self::of_length(length)),
        }
    }
}

/// Fields of a descriptor.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Symbol {
    Byte,
    Address,
}

/// Writes and reads streams. One coder writes and another one reads; both see the same streams, and so
/// have the same tables.
pub(crate) trait StreamCoder: Clone + Debug {
    /// Low bits of addresses that are not sent.
    fn align(&self) -> u32 {
        0
    }

    /// Writes a stream.
    fn encode(&mut self, stream: &Stream, out: &mut Bits);

    /// Writes what is pending.
    fn flush(&mut self, _: &mut Bits) -> Result<(), CompressError> {
        Ok(())
    }

    /// Reads a stream, which starts at `known` if the previous stream determines it.
    fn decode(
        &mut self,
        known: Option<u64>,
        from: &mut BitSource<'_>,
    ) -> Result<Stream, DecodeError>;

    /// Streams that have been read but not yet returned.
    fn pending(&self) -> u64 {
        0
    }

    /// What has been written, if it is counted by kinds of records.
    fn tally(&mut self) -> Option<&mut Tally> {
        None
    }
}

/// Finds the streams of a program and passes them to a coder.
#[derive(Clone, Debug)]
pub(crate) struct Streams<'a, C> {
    code: &'a Code,
    /// With empty tables.
    pristine: C,
    coder: C,
    /// The stream that has not ended.
    open: Option<Open>,
    /// Whether the previous stream determines the address of the next one.
    known: bool,
    sync_every: Option<NonZeroU64>,
}

#[derive(Copy, Clone, Debug)]
struct Open {
    start: u64,
    known: bool,
    length: u8,
}

impl<'a, C: StreamCoder> Streams<'a, C> {
    pub(crate) fn new(code: &'a Code, coder: C, sync_every: Option<NonZeroU64>) -> Self {
        let pristine = coder.clone();
        Self { code, pristine, coder, open: None, known: false, sync_every }
    }

    #[cfg(test)]
    pub(crate) fn into_coder(self) -> C {
        self.coder
    }

    fn emit(&mut self, open: Open, end: End, out: &mut Bits) -> Result<(), CompressError> {
        let Open { start, known, .. } = open;
        let align = self.coder.align();
        if start & ((1 << align) - 1) != 0 {
            return Err(CompressError::Unaligned { address: start, align });
        }
        self.coder.encode(&Stream { start, known, end }, out);
        Ok(())
    }
}

impl<C: StreamCoder> Coder for Streams<'_, C> {
    fn event(&mut self, event: &Event, out: &mut Bits) -> Result<(), CompressError> {
        let known = self.known;
        match *event {
            Event::Retired { pc, insn, next } => {
                let mut open = self.open.take().unwrap_or(Open { start: pc, known, length: 0 });
                open.length += 1;
                // The fast path: most instructions are sequential.
                if insn.is_sequential() && open.length < LONGEST {
                    self.open = Some(open);
                    return Ok(());
                }
                let xlen = self.code.xlen();
                let taken = insn.is_branch()
                    && next == insn.target(xlen, pc)
                    && next != Some(insn.next(xlen, pc));
                if taken || insn.is_uninferable() {
                    self.known = taken;
                    self.emit(open, End::Natural(open.length), out)
                } else if open.length == LONGEST {
                    self.known = true;
                    self.emit(open, End::Cut, out)
                } else {
                    self.open = Some(open);
                    Ok(())
                }
            }
            Event::Trap { epc, handler } => {
                let open = self.open.take().unwrap_or(Open { start: epc, known, length: 0 });
                self.known = true;
                self.emit(open, End::Trap { retired: open.length, handler }, out)
            }
        }
    }

    fn sync(&mut self, _: u64, out: &mut Bits) -> Result<(), CompressError> {
        self.finish(out)?;
        let mut before = std::mem::replace(&mut self.coder, self.pristine.clone());
        if let (Some(now), Some(before)) = (self.coder.tally(), before.tally()) {
            *now = std::mem::take(before);
        }
        self.known = false;
        Ok(())
    }

    fn finish(&mut self, out: &mut Bits) -> Result<(), CompressError> {
        // The reader stops where the trace ends, whether there is a branch or not.
        if let Some(open) = self.open.take() {
            self.emit(open, End::Natural(open.length), out)?;
        }
        self.coder.flush(out)
    }

    fn records(&mut self) -> Vec<Records> {
        self.coder.tally().map_or(Vec::new(), |tally| tally.records().to_vec())
    }
}

impl<C: StreamCoder> Decompressor for Streams<'_, C> {
    fn decompress(
        &self,
        bits: &Bits,
        instructions: u64,
        take: &mut dyn FnMut(u64),
    ) -> Result<(), DecodeError> {
        let mut from = BitSource::new(bits);
        let mut left = instructions;
        let mut code = self.code.cursor();
        while left > 0 {
            let mut here = segment(left, self.sync_every);
            left -= here;
            let mut coder = self.pristine.clone();
            let mut known = None;
            while here > 0 {
                let at = from.position();
                let stream = coder.decode(known, &mut from)?;
                let replayed = known
                    .filter(|expected| *expected != stream.start)
                    .map_or(Ok(()), |expected| {
                        Err(Fault::Elsewhere { expected, found: stream.start })
                    })
                    .and_then(|()| replay(self.code.xlen(), &mut code, &stream, &mut here, take));
                known = replayed.map_err(|fault| DecodeError { bit: at, fault })?;
            }
            if coder.pending() > 0 {
                let fault = Fault::Malformed("a run or match goes past the end of the trace");
                return Err(from.error(fault));
            }
        }
        match from.left() {
            0 => Ok(()),
            left => Err(from.error(Fault::LeftOver(left))),
        }
    }
}

/// Passes on the instructions of a stream, and returns where the next one starts, if the program
/// determines it.
fn replay(
    xlen: Xlen,
    code: &mut Cursor<'_>,
    stream: &Stream,
    left: &mut u64,
    take: &mut dyn FnMut(u64),
) -> Result<Option<u64>, Fault> {
    let count = match stream.end {
        End::Natural(count) => count,
        End::Cut => LONGEST,
        End::Trap { retired, .. } => retired,
    };
    *left = left
        .checked_sub(count.into())
        .ok_or(Fault::Malformed("a stream is longer than what is left of the trace"))?;
    let mut pc = stream.start;
    for number in 1..=count {
        let insn = code.insn(pc)?;
        take(pc);
        if number < count && insn.is_sequential() {
            pc = insn.next(xlen, pc);
            continue;
        }
        let target = insn.target(xlen, pc);
        if number == count && matches!(stream.end, End::Natural(_)) {
            return match () {
                () if insn.is_branch() => Ok(target),
                () if insn.is_uninferable() || *left == 0 => Ok(None),
                () => Err(Fault::NoBranch(pc)),
            };
        }
        if insn.is_uninferable() {
            return Err(Fault::PastJump(pc));
        }
        pc = target.filter(|_| !insn.is_branch()).unwrap_or_else(|| insn.next(xlen, pc));
    }
    Ok(Some(match stream.end {
        End::Trap { handler, .. } => handler,
        _ => pc,
    }))
}
