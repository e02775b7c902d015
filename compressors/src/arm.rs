//! ETMv4 and PTM: this project's models and decoder, with the same methods as the other schemes.
//!
//! They do not implement the same traits, because what an Arm core retires is not a row of a RISC-V hart.
//! Decompression returns ranges of instructions; the program turns these into instructions.

use crate::{Bits, CompressError, Compressed, DecodeError, Fault};
use hartrace_arm_decoder::{
    Capture, ElementSink, Etmv4, Event, Layout, Lost, Memory, Ptm, Range, StreamPos,
};
use hartrace_encap::coresight::{FRAME, Formatter, TraceId};
use hartrace_golden::arm::{Expected, Ranges, etmv4, ptm};
use hartrace_isa::arm::{Arch, Executed, Isa, Place};
use std::fmt;
use std::num::NonZeroU64;

/// An Arm trace unit without cycle counts, timestamps and context.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ArmScheme {
    /// ETMv4, as in Armv8 cores.
    Etmv4 {
        /// With a return stack of 16 entries.
        return_stack: bool,
    },
    /// PTM, as in Armv7 cores.
    Ptm {
        /// With a return stack of 16 entries.
        return_stack: bool,
    },
}

/// Entries of the return stack.
const DEPTH: usize = 16;

impl fmt::Display for ArmScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Etmv4 { return_stack: false } => "ETMv4",
            Self::Etmv4 { return_stack: true } => "ETMv4+rs",
            Self::Ptm { return_stack: false } => "PTM",
            Self::Ptm { return_stack: true } => "PTM+rs",
        })
    }
}

impl ArmScheme {
    /// All schemes.
    pub const ALL: [Self; 4] = [
        Self::Etmv4 { return_stack: false },
        Self::Etmv4 { return_stack: true },
        Self::Ptm { return_stack: false },
        Self::Ptm { return_stack: true },
    ];

    /// Returns whether the trace unit can trace this instruction set.
    pub const fn traces(self, isa: Isa) -> bool {
        matches!((self, isa), (Self::Etmv4 { .. }, _) | (_, Isa::A32 | Isa::T32))
    }

    fn etmv4(return_stack: bool) -> hartrace_etmv4::Config {
        hartrace_etmv4::Config { version: 0x42, commopt: true, return_stack, ..Default::default() }
    }

    fn ptm(return_stack: bool) -> hartrace_ptm::Config {
        hartrace_ptm::Config { return_stack, ..Default::default() }
    }

    /// Returns a compressor. A decompressor can start after every `sync_every` instructions.
    pub fn compressor(self, sync_every: Option<NonZeroU64>) -> ArmCompressor {
        let (branch_broadcast, return_depth, period) = (false, DEPTH, usize::MAX);
        let unit = match self {
            Self::Etmv4 { return_stack } => {
                let (cycles, combine, speculate) = (None, false, false);
                let options = etmv4::Options {
                    branch_broadcast,
                    cycles,
                    return_depth,
                    period,
                    combine,
                    speculate,
                };
                let unit = etmv4::Unit::new(&Self::etmv4(return_stack), &options, None);
                Unit::Etmv4(Box::new(unit.synchronise_every(sync_every)))
            }
            Self::Ptm { return_stack } => {
                let options = ptm::Options { branch_broadcast, return_depth, period };
                let unit = ptm::Unit::new(&Self::ptm(return_stack), &options, None);
                Unit::Ptm(Box::new(unit.synchronise_every(sync_every)))
            }
        };
        ArmCompressor { unit, ranges: Ranges::default(), instructions: 0 }
    }

    /// Passes every range of instructions to `take`, and reports where the bits cannot be right.
    pub fn decompress(
        self,
        memory: &Memory,
        bits: &Bits,
        instructions: u64,
        take: &mut dyn FnMut(Expected),
    ) -> Result<(), DecodeError> {
        let capture = Capture::split(Layout::Raw, bits.bytes());
        let mut pass = Pass { take, left: instructions, failed: None };
        for stream in &capture.streams {
            match self {
                Self::Etmv4 { return_stack } => {
                    let config = Self::etmv4(return_stack);
                    Etmv4::new(config, Arch::Later, memory).decode(stream, &mut pass);
                }
                Self::Ptm { return_stack } => {
                    Ptm::new(Self::ptm(return_stack), Arch::V7, memory).decode(stream, &mut pass);
                }
            }
        }
        match (pass.failed, pass.left) {
            (Some(failed), _) => Err(failed),
            (None, 0) => Ok(()),
            (None, _) => Err(DecodeError { bit: bits.len(), fault: Fault::Truncated }),
        }
    }
}

#[derive(Debug)]
enum Unit {
    Etmv4(Box<etmv4::Unit>),
    Ptm(Box<ptm::Unit>),
}

/// Compresses what an Arm core executed.
#[derive(Debug)]
pub struct ArmCompressor {
    unit: Unit,
    ranges: Ranges,
    /// Instructions that the trace covers: those after the last branch are not included.
    instructions: u64,
}

impl ArmCompressor {
    /// Traces an instruction.
    pub fn retire(&mut self, executed: &Executed) {
        match &mut self.unit {
            Unit::Etmv4(unit) => unit.executed(executed),
            Unit::Ptm(unit) => unit.executed(executed),
        }
        let range = self.ranges.executed(executed);
        self.instructions += range.map_or(0, |range| range.2.into());
    }

    /// Traces an exception whose handler is not traced: a system call, or any other.
    pub fn exception(&mut self, call: bool, returns: Place) {
        match &mut self.unit {
            Unit::Etmv4(unit) => unit.exception(if call { 2 } else { 12 }, returns, None),
            Unit::Ptm(unit) => unit.exception(if call { 10 } else { 12 }, None),
        }
        self.instructions += self.ranges.exception().map_or(0, |range| range.2.into());
    }

    /// Ends the trace.
    pub fn finish(self) -> Result<Compressed, CompressError> {
        let bytes = match self.unit {
            Unit::Etmv4(unit) => unit.finish().map_err(|e| CompressError::Config(e.to_string()))?,
            Unit::Ptm(unit) => unit.finish().map_err(|e| CompressError::Config(e.to_string()))?,
        };
        let framed_bits = framed_bits(&bytes);
        let bits = Bits::of_bytes(bytes);
        let (payload_bits, instructions) = (bits.len(), self.instructions);
        let (exact_bits, records) = (payload_bits, Vec::new());
        Ok(Compressed { bits, payload_bits, exact_bits, framed_bits, instructions, records })
    }
}

/// The size of the same bytes in CoreSight frames that carry nothing else.
fn framed_bits(bytes: &[u8]) -> u64 {
    let (mut formatter, mut frames) = (Formatter::new(), 0);
    if let Some(id) = TraceId::new(1) {
        formatter.write(id, bytes, &mut |_| frames += 1);
    }
    formatter.finish(&mut |_| frames += 1);
    8 * FRAME as u64 * frames
}

/// Passes ranges on, up to the last one or the first that cannot be right.
struct Pass<'t> {
    take: &'t mut dyn FnMut(Expected),
    left: u64,
    failed: Option<DecodeError>,
}

impl ElementSink for Pass<'_> {
    fn range(&mut self, at: StreamPos, range: &Range) {
        if self.failed.is_some() {
            return;
        }
        match self.left.checked_sub(range.count.into()) {
            Some(left) => {
                self.left = left;
                (self.take)((range.start, range.end, range.count, range.taken));
            }
            None => {
                let fault = Fault::Malformed("more instructions are decoded than there are");
                self.failed = Some(DecodeError { bit: at.byte.saturating_mul(8), fault });
            }
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        let wrong = match event {
            Event::Fault(_) | Event::NotAccessible { .. } => true,
            Event::NoSync(lost) => lost != Lost::Start,
            _ => false,
        };
        if wrong && self.failed.is_none() {
            let fault = Fault::Packed(format!("{event:x?}"));
            self.failed = Some(DecodeError { bit: at.byte.saturating_mul(8), fault });
        }
    }
}

#[cfg(test)]
mod tests;
