//! TAGE: both sides have a predictor with tagged tables for longer and longer histories, and only what it gets wrong is sent.
//!
//! `docs/design/extension-mode.md` describes the scheme to the letter.

mod branches;
mod range;
mod records;
mod runs;
mod targets;
#[cfg(test)]
mod tests;

use crate::compressor::{Coder, Coding, segment};
use crate::cost::{Cost, PartKind, index_bits};
use crate::events::Event;
use crate::{
    BitSource, Bits, Code, CompressError, Compressor, DecodeError, Decompressor, Fault, SchemeSetup,
};
use branches::{Branches, Outcome, TABLES};
use hartrace_isa::Insn;
use range::{RangeReader, RangeWriter};
use records::{Class, Layout, Read, Write};
use runs::{RunReader, RunWriter};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::num::NonZeroU64;
use targets::{LOW, PATH, TAG, Target, Targets};

/// Sizes of the predictor, and the coding of its mistakes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tage {
    /// Number of two-bit counters without history, a power of two.
    pub base: u32,
    /// Number of tagged tables.
    pub tables: u32,
    /// Number of entries of each tagged table, a power of two.
    pub entries: u32,
    /// Bits of a tag.
    pub tag: u32,
    /// Number of outcomes that the last table uses; every other one uses half as many as the next.
    pub history: u32,
    /// Number of targets of indirect jumps, a power of two.
    pub targets: u32,
    /// Number of return addresses.
    pub ras: u32,
    /// The most records in a packet, without a range coder.
    pub records: u32,
    /// The coding.
    pub coder: TageCoding,
}

/// How mistakes of the predictor are written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TageCoding {
    /// As runs of right predictions, one for each degree of confidence.
    Runs,
    /// By a binary range coder.
    Range,
}

impl Default for Tage {
    fn default() -> Self {
        Self {
            base: 256,
            tables: 4,
            entries: 32,
            tag: 8,
            history: 32,
            targets: 64,
            ras: 16,
            records: 20,
            coder: TageCoding::Runs,
        }
    }
}

impl Tage {
    /// The number of outcomes that a table uses.
    fn length(&self, table: u32) -> u32 {
        self.history >> (self.tables - 1 - table)
    }

    /// The tables, whose entries are all valid from the start; the registers for history, path and last handler; and the coder:
    /// states, runs and records, or probabilities and interval. Control folds histories and path with exclusive ors of 2.5 gates; a
    /// range coder multiplies with 16 by 16 adders of 6 gates.
    pub(crate) fn cost(&self, xlen: u32) -> Cost {
        let [base, tables, entries, tag, targets, ras, records] =
            [self.base, self.tables, self.entries, self.tag, self.targets, self.ras, self.records]
                .map(u64::from);
        let bits = |number: u64| u64::from(index_bits(number));
        let low = u64::from(LOW - 1);
        let place = bits(targets);
        let branches = 2 * base + tables * entries * (tag + 3 + 1);
        // Targets, a place for every second one by address, and with tag and trust by path.
        let jumps = targets * low + targets / 2 * place + targets * (place + u64::from(TAG) + 2);
        let coder = match self.coder {
            // State, number of right predictions, whether there is a run, and its record; for a record its bits, their number
            // and whether it is complete; instructions of the packet.
            TageCoding::Runs => {
                let longest = u64::from(runs::LONGEST);
                let run = 6 + longest + 1 + bits(records);
                Class::RUNS as u64 * run + records * (1 + longest + bits(longest + 2) + 1) + 16
            }
            // A probability in each context; carry, lower end and range, a byte and the number of those after it; instructions.
            TageCoding::Range => 16 * range::CONTEXTS as u64 + 33 + 32 + 8 + 16 + 16,
        };
        let folded: u32 = (0..self.tables).map(|table| 3 * self.length(table)).sum();
        let multiplier = if self.coder == TageCoding::Range { 16.0 * 16.0 * 6.0 } else { 0.0 };
        Cost::new(xlen)
            .memory(PartKind::Tables, branches + jumps + ras * low)
            .memory(PartKind::Order, bits(ras))
            .memory(PartKind::Registers, u64::from(self.history + PATH + xlen - 1))
            .memory(PartKind::Counters, coder)
            .logic(PartKind::Control, 2.5 * f64::from(folded + 3 * PATH) + multiplier)
    }

    pub(crate) fn check(&self) -> Result<(), CompressError> {
        let Self { base, tables, entries, tag, history, targets, ras, records, .. } = *self;
        let powers = [base, entries, targets];
        let good = powers.iter().all(|size| size.is_power_of_two() && *size <= 1 << 16)
            && targets >= 4
            && (1..=TABLES as u32).contains(&tables)
            && (2..=16).contains(&tag)
            && (1 << (tables - 1)..=128).contains(&history)
            && ras <= 1 << 16
            && (1..=1024).contains(&records);
        match good {
            true => Ok(()),
            false => Err(CompressError::Config(
                "TAGE: base, entries and targets (at least 4) are powers of two up to 65536, tables 1 to 8, tag 2 to 16, history \
                 up to 128 and at least one outcome for the first table, ras up to 65536, records 1 to 1024"
                    .into(),
            )),
        }
    }

    fn layout(&self, xlen: u32) -> Layout {
        Layout { xlen, records: self.records, place_bits: self.targets.ilog2() }
    }

    pub(crate) fn compressor<'a>(self, setup: &SchemeSetup<'a>) -> Box<dyn Compressor + 'a> {
        match self.coder {
            TageCoding::Runs => self.writes::<RunWriter>(setup),
            TageCoding::Range => self.writes::<RangeWriter>(setup),
        }
    }

    fn writes<'a, W: Write + 'a>(self, setup: &SchemeSetup<'a>) -> Box<dyn Compressor + 'a> {
        let writer = TageWriter::<W> { config: self, code: setup.code, part: None };
        Box::new(Coding::new(setup.code, writer, setup.sync_every))
    }

    pub(crate) fn decompressor<'a>(self, setup: &SchemeSetup<'a>) -> Box<dyn Decompressor + 'a> {
        let SchemeSetup { code, sync_every, .. } = *setup;
        match self.coder {
            TageCoding::Runs => Box::new(TageReader {
                config: self,
                code,
                sync_every,
                coding: PhantomData::<RunReader>,
            }),
            TageCoding::Range => Box::new(TageReader {
                config: self,
                code,
                sync_every,
                coding: PhantomData::<RangeReader>,
            }),
        }
    }
}

/// Everything that both sides know: the same predictor, trained on the same instructions.
#[derive(Clone, Debug)]
struct Predictor {
    branches: Branches,
    targets: Targets,
    /// The handler of the last trap.
    handler: u64,
}

enum Predicted {
    Outcome(Outcome),
    Target(Target),
}

impl Predictor {
    fn new(config: &Tage, code: &Code) -> Self {
        let (branches, targets) = (Branches::new(config), Targets::new(config, code.xlen()));
        Self { branches, targets, handler: 0 }
    }

    /// Predicts a conditional branch or an indirect jump; `None` for all other instructions.
    fn predict(&self, pc: u64, insn: Insn) -> Option<Predicted> {
        match () {
            () if insn.is_branch() => Some(Predicted::Outcome(self.branches.predict(pc))),
            () if insn.is_uninferable() => Some(Predicted::Target(self.targets.predict(pc, insn))),
            () => None,
        }
    }

    /// Learns the target of an indirect jump.
    fn jump(&mut self, predicted: &Target, target: u64) {
        self.targets.update(predicted, target);
        if predicted.may_be_cached() {
            let hash = target >> 1 ^ target >> 3 ^ target >> 5 ^ target >> 7;
            self.branches.push(hash & 1 != 0);
            self.branches.push(hash & 2 != 0);
        }
    }

    /// Learns of a trap.
    fn trap(&mut self, epc: u64, handler: u64) {
        self.targets.push(epc);
        self.handler = handler;
    }
}

#[derive(Debug)]
struct TageWriter<'a, W> {
    config: Tage,
    code: &'a Code,
    /// Present from the first instruction on.
    part: Option<Part<W>>,
}

/// What follows a synchronisation.
#[derive(Debug)]
struct Part<W> {
    predictor: Predictor,
    writer: W,
    /// Where a reader is.
    pc: u64,
}

impl<W: Write> TageWriter<'_, W> {
    fn start(&mut self, pc: u64, out: &mut Bits) {
        let mut writer = W::new(self.config.layout(self.code.xlen().bits()));
        writer.start(pc, out);
        let predictor = Predictor::new(&self.config, self.code);
        self.part = Some(Part { predictor, writer, pc });
    }
}

impl<W: Write> Coder for TageWriter<'_, W> {
    fn event(&mut self, event: &Event, out: &mut Bits) -> Result<(), CompressError> {
        let xlen = self.code.xlen();
        if self.part.is_none() {
            let (Event::Retired { pc: start, .. } | Event::Trap { epc: start, .. }) = *event;
            self.start(start, out);
        }
        let Some(part) = &mut self.part else { return Ok(()) };
        let Part { predictor, writer, .. } = part;
        match *event {
            Event::Retired { pc, insn, next } => {
                writer.retire();
                let after = insn.next(xlen, pc);
                if insn.is_sequential() {
                    part.pc = after;
                    return Ok(());
                }
                part.pc = match predictor.predict(pc, insn) {
                    Some(Predicted::Outcome(predicted)) => {
                        let leaves = insn.target(xlen, pc).filter(|to| *to != after);
                        let taken = next.map_or(predicted.taken, |next| Some(next) == leaves);
                        let class = Class::Branch(predicted.sure);
                        writer.decide(class, taken != predicted.taken, out);
                        predictor.branches.update(&predicted, taken);
                        leaves.filter(|_| taken).unwrap_or(after)
                    }
                    Some(Predicted::Target(predicted)) => {
                        let target = next.unwrap_or(predicted.address);
                        let wrong = target != predicted.address;
                        writer.decide(Class::Jump(predicted.from), wrong, out);
                        if wrong {
                            let may_be_cached = predicted.may_be_cached();
                            if may_be_cached && predictor.targets.has(pc, target) {
                                writer.place(predictor.targets.place(target), out);
                            } else {
                                writer.address(may_be_cached, pc, target, out);
                            }
                        }
                        predictor.jump(&predicted, target);
                        target
                    }
                    None => insn.target(xlen, pc).unwrap_or(after),
                };
                predictor.targets.link(pc, insn);
            }
            Event::Trap { handler, .. } => {
                writer.trap(Some(handler).filter(|handler| *handler != predictor.handler), out);
                // The address of the trap may be another one than what was predicted, which no reader knows.
                predictor.trap(part.pc, handler);
                part.pc = handler;
            }
        }
        Ok(())
    }

    fn sync(&mut self, next: u64, out: &mut Bits) -> Result<(), CompressError> {
        self.finish(out)?;
        self.start(next, out);
        Ok(())
    }

    fn finish(&mut self, out: &mut Bits) -> Result<(), CompressError> {
        if let Some(part) = &mut self.part {
            part.writer.end(out);
        }
        Ok(())
    }
}

#[derive(Debug)]
struct TageReader<'a, R> {
    config: Tage,
    code: &'a Code,
    sync_every: Option<NonZeroU64>,
    coding: PhantomData<R>,
}

impl<R: Read> Decompressor for TageReader<'_, R> {
    fn decompress(
        &self,
        bits: &Bits,
        instructions: u64,
        take: &mut dyn FnMut(u64),
    ) -> Result<(), DecodeError> {
        let mut from = BitSource::new(bits);
        let mut left = instructions;
        while left > 0 {
            let here = segment(left, self.sync_every);
            self.part(here, &mut from, take)?;
            left -= here;
        }
        match from.left() {
            0 => Ok(()),
            left => Err(from.error(Fault::LeftOver(left))),
        }
    }
}

impl<R: Read> TageReader<'_, R> {
    /// Follows this many instructions, starting with an untrained predictor.
    fn part(
        &self,
        mut left: u64,
        from: &mut BitSource<'_>,
        take: &mut dyn FnMut(u64),
    ) -> Result<(), DecodeError> {
        let xlen = self.code.xlen();
        let (mut reader, mut pc) = R::start(self.config.layout(xlen.bits()), from)?;
        let mut predictor = Predictor::new(&self.config, self.code);
        let mut cursor = self.code.cursor();
        loop {
            if left == 0 {
                return reader.end(from);
            }
            if let Some(trap) = reader.trap()
                && trap.instructions == 0
            {
                let handler = trap.handler.unwrap_or(predictor.handler);
                predictor.trap(pc, handler);
                pc = handler;
                reader.resume(from)?;
                continue;
            }
            let insn = cursor.insn(pc).map_err(|fault| from.error(fault))?;
            take(pc);
            left -= 1;
            if let Some(trap) = reader.trap() {
                trap.instructions -= 1;
            }
            if insn.is_sequential() {
                pc = insn.next(xlen, pc);
                continue;
            }
            let next = match predictor.predict(pc, insn) {
                Some(Predicted::Outcome(predicted)) => {
                    let wrong = reader.decide(Class::Branch(predicted.sure), from)?;
                    let taken = predicted.taken != wrong;
                    predictor.branches.update(&predicted, taken);
                    reader.settle(from)?;
                    let to = insn.target(xlen, pc).filter(|_| taken);
                    to.unwrap_or_else(|| insn.next(xlen, pc))
                }
                Some(Predicted::Target(predicted)) => {
                    let mut target = predicted.address;
                    if reader.decide(Class::Jump(predicted.from), from)? {
                        let cached = predicted.may_be_cached();
                        let place = if cached { reader.place(from)? } else { None };
                        target = match place {
                            Some(place) => predictor.targets.at(pc, place),
                            None => reader.address(pc, from)?,
                        };
                    }
                    predictor.jump(&predicted, target);
                    reader.settle(from)?;
                    target
                }
                None => insn.target(xlen, pc).unwrap_or_else(|| insn.next(xlen, pc)),
            };
            predictor.targets.link(pc, insn);
            pc = next;
        }
    }
}
