//! TMBP: the trace module and the decompressor have the same branch predictor, and only mispredictions are
//! sent.

mod numbers;
mod predictor;
#[cfg(test)]
mod tests;

pub use numbers::Widths;

use crate::compressor::{Coder, segment};
use crate::cost::{Cost, PartKind, index_bits, order_bits};
use crate::dmtf::LOW;
use crate::events::Event;
use crate::{BitSource, Bits, Code, CompressError, DecodeError, Decompressor, Fault};
use predictor::{Predicted, Predictor};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Bits of a counter of instructions or branches.
const COUNTER: u64 = 32;

/// Sizes of the predictor, and widths of the records.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tmbp {
    /// Number of two-bit counters for conditional branches, a power of two.
    pub entries: u32,
    /// Number of outcomes in the history; by default, as many as the index of the counters has bits.
    pub bhr_bits: Option<u32>,
    /// Number of return addresses.
    pub ras: u32,
    /// Number of targets of indirect branches, a power of two or 0.
    pub ibtb: u32,
    /// Ways of the target table, a power of two.
    pub ways: u32,
    /// The lowest address bit that indexes the tables.
    pub pc_shift: u32,
    /// Whether the path register takes the targets of indirect branches, not their addresses.
    pub path_targets: bool,
    /// Whether the whole target is sent if its upper bits were mispredicted, as in the source.
    pub whole_targets: bool,
    /// Whether the address of a trap handler is sent as the difference from the last one.
    pub trap_differences: bool,
    /// Widths for numbers of branches.
    pub branches: Widths,
    /// Widths for differences of targets.
    pub targets: Widths,
    /// Widths for numbers of instructions before a trap.
    pub instructions: Widths,
}

impl Tmbp {
    /// tTMBP: no table of targets.
    pub const TINY: Self = Self {
        entries: 512,
        bhr_bits: None,
        ras: 8,
        ibtb: 0,
        ways: 2,
        pc_shift: 4,
        path_targets: false,
        whole_targets: true,
        trap_differences: false,
        branches: Widths { size: 3, step: 1 },
        targets: Widths { size: 8, step: 6 },
        instructions: Widths { size: 2, step: 4 },
    };
    /// sTMBP: 32 targets.
    pub const SMALL: Self = Self { ibtb: 32, ..Self::BASE };
    /// bTMBP: 64 targets.
    pub const BASE: Self = Self {
        ibtb: 64,
        branches: Widths { size: 3, step: 2 },
        targets: Widths { size: 12, step: 4 },
        ..Self::TINY
    };

    /// The configuration of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "tTMBP" => Some(Self::TINY),
            "sTMBP" => Some(Self::SMALL),
            "bTMBP" => Some(Self::BASE),
            _ => None,
        }
    }

    pub(crate) fn history_bits(&self) -> u32 {
        self.bhr_bits.unwrap_or(self.entries.ilog2())
    }

    /// Bits of the path register: 8 for the tag of the target table, and at least 5 for its index.
    pub(crate) fn path_bits(&self) -> u32 {
        match self.ibtb {
            0 => 0,
            entries => 8 + (entries / self.ways).ilog2().max(5),
        }
    }

    /// The tables, with 19 bits per target, whose upper bits are kept separately and whose lowest bit is zero; the top of the stack
    /// and the order of the ways; the registers for history, path, upper bits, last target and last handler; and the
    /// counters of instructions and branches.
    pub(crate) fn cost(&self, xlen: u32) -> Cost {
        self.cost_of(xlen, 1)
    }

    fn cost_of(&self, xlen: u32, align: u32) -> Cost {
        let [entries, ras, ibtb, target] =
            [self.entries, self.ras, self.ibtb, LOW - align].map(u64::from);
        let handler = if self.trap_differences { xlen } else { 0 };
        let registers = self.history_bits() + self.path_bits() + (xlen - LOW) + xlen + handler;
        let order = ibtb / u64::from(self.ways) * order_bits(self.ways);
        Cost::new(xlen)
            .memory(PartKind::Tables, 2 * entries + ras * target + ibtb * (8 + target))
            .memory(PartKind::Valid, ibtb)
            .memory(PartKind::Order, u64::from(index_bits(ras)) + order)
            .memory(PartKind::Registers, u64::from(registers))
            .memory(PartKind::Counters, 2 * COUNTER)
    }

    pub(crate) fn check(&self) -> Result<(), CompressError> {
        let Self { entries, bhr_bits, ras, ibtb, ways, pc_shift, .. } = *self;
        let widths = [self.branches, self.targets, self.instructions];
        let powers = entries.is_power_of_two()
            && (ibtb == 0 || (ibtb.is_power_of_two() && ways.is_power_of_two() && ways <= ibtb));
        let sizes = entries <= 1 << 20 && ibtb <= 1 << 20 && ras <= 1 << 16;
        let history = || bhr_bits.is_none_or(|bits| bits <= entries.ilog2());
        let bits = pc_shift <= 16;
        match powers && sizes && bits && history() && widths.iter().all(Widths::is_good) {
            true => Ok(()),
            false => Err(CompressError::Config(
                "TMBP: entries, ibtb (or 0) and ways are powers of two up to 1048576, ras is up to 65536, \
                 bhr_bits null or as many as the index of entries at most, pc_shift 0 to 16, and widths have a size and step of 1 to 32"
                    .into(),
            )),
        }
    }

    pub(crate) fn coder(self, code: &Code, sync_every: Option<NonZeroU64>) -> TmbpCoder<'_> {
        let tally = Tally::default();
        TmbpCoder { config: self, code, sync_every, state: None, handler: 0, tally }
    }
}

impl Default for Tmbp {
    fn default() -> Self {
        Self::BASE
    }
}

/// Event counts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Branches that are counted.
    pub(crate) branches: u64,
    /// Branches up to and including the last misprediction or trap.
    pub(crate) reported: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct TmbpCoder<'a> {
    config: Tmbp,
    code: &'a Code,
    sync_every: Option<NonZeroU64>,
    /// Present from the first instruction on.
    state: Option<State>,
    /// Where the last trap or synchronisation led.
    handler: u64,
    pub(crate) tally: Tally,
}

#[derive(Clone, Debug)]
struct State {
    predictor: Predictor,
    /// Instructions since the last record.
    instructions: u64,
    /// Counted branches since the last record.
    branches: u64,
    /// Target of the last mispredicted indirect branch.
    target: u64,
}

impl State {
    fn new(config: Tmbp, code: &Code) -> Self {
        let predictor = Predictor::new(config, code.xlen());
        Self { predictor, instructions: 0, branches: 0, target: 0 }
    }
}

impl TmbpCoder<'_> {
    /// Branches since the last record.
    #[cfg(test)]
    pub(crate) fn tail(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| state.branches)
    }

    fn xlen(&self) -> u32 {
        self.code.xlen().bits()
    }

    /// Writes that execution continues elsewhere. A decompressor can start at an address that is sent whole.
    fn put_trap(&mut self, instructions: u64, to: u64, whole: bool, out: &mut Bits) {
        let xlen = self.xlen();
        self.config.branches.put(0, out);
        self.config.instructions.put(instructions, out);
        match self.config.trap_differences {
            true => self.config.targets.put_target(to, self.handler, whole, xlen, out),
            false => out.put(to, xlen),
        }
        self.handler = to;
    }
}

impl Coder for TmbpCoder<'_> {
    fn event(&mut self, event: &Event, out: &mut Bits) -> Result<(), CompressError> {
        if self.state.is_none() {
            // The start of the program is encoded like a trap.
            let (Event::Retired { pc: start, .. } | Event::Trap { epc: start, .. }) = *event;
            self.put_trap(0, start, true, out);
            self.state = Some(State::new(self.config, self.code));
        }
        let (config, xlen) = (self.config, self.xlen());
        let Some(state) = &mut self.state else { return Ok(()) };
        match *event {
            Event::Retired { pc, insn, next } => {
                state.instructions += 1;
                if insn.is_sequential() {
                    return Ok(());
                }
                let predicted = state.predictor.predict(pc, insn);
                self.tally.branches += u64::from(predicted.is_some());
                state.branches += u64::from(predicted.is_some());
                let (mut taken, mut target, mut wrong) = (false, 0, false);
                match predicted {
                    Some(Predicted::Outcome(expected)) => {
                        let width = self.code.xlen();
                        let leaves =
                            insn.target(width, pc).filter(|to| *to != insn.next(width, pc));
                        taken = next.map_or(expected, |next| Some(next) == leaves);
                        wrong = taken != expected;
                        if wrong {
                            config.branches.put(state.branches, out);
                        }
                    }
                    Some(Predicted::Target(expected)) => {
                        target = next.unwrap_or(expected);
                        wrong = target != expected;
                        if wrong {
                            config.branches.put(state.branches, out);
                            let whole = config.whole_targets && !state.predictor.is_near(target);
                            config.targets.put_target(target, state.target, whole, xlen, out);
                            state.target = target;
                        }
                    }
                    None => {}
                }
                if wrong {
                    self.tally.reported += state.branches;
                    (state.instructions, state.branches) = (0, 0);
                }
                state.predictor.update(pc, insn, taken, target);
            }
            Event::Trap { handler, .. } => {
                let instructions = std::mem::take(&mut state.instructions);
                self.tally.reported += std::mem::take(&mut state.branches);
                self.put_trap(instructions, handler, false, out);
            }
        }
        Ok(())
    }

    fn sync(&mut self, next: u64, out: &mut Bits) -> Result<(), CompressError> {
        let instructions = self.state.as_ref().map_or(0, |state| state.instructions);
        self.put_trap(instructions, next, true, out);
        self.state = Some(State::new(self.config, self.code));
        Ok(())
    }

    fn finish(&mut self, _: &mut Bits) -> Result<(), CompressError> {
        Ok(())
    }
}

/// The next record, as far as it has been read.
#[derive(Copy, Clone, Debug)]
enum Record {
    /// There is none: all predictions are right.
    None,
    /// This many branches until a misprediction.
    Wrong(u64),
    /// This many instructions until execution continues elsewhere.
    Trap { instructions: u64, to: u64 },
}

impl Decompressor for TmbpCoder<'_> {
    fn decompress(
        &self,
        bits: &Bits,
        instructions: u64,
        take: &mut dyn FnMut(u64),
    ) -> Result<(), DecodeError> {
        let mut from = BitSource::new(bits);
        let mut left = instructions;
        let mut reader =
            Reader { of: self, from: &mut from, record: Record::None, pc: 0, at: 0, handler: 0 };
        if left > 0 {
            reader.next()?;
            if !matches!(reader.record, Record::Trap { instructions: 0, .. }) {
                let fault = Fault::Malformed("the trace does not say where the program starts");
                return Err(DecodeError { bit: 0, fault });
            }
        }
        while left > 0 {
            let here = segment(left, self.sync_every);
            reader.segment(here, take)?;
            left -= here;
            // The record that ends a part states where the next one starts.
            if left > 0 && !matches!(reader.record, Record::Trap { instructions: 0, .. }) {
                let fault = Fault::Malformed("no synchronisation where there must be one");
                return Err(DecodeError { bit: reader.at, fault });
            }
        }
        match (reader.record, reader.at) {
            (Record::None, _) if from.left() == 0 => Ok(()),
            (_, bit) => Err(DecodeError { bit, fault: Fault::LeftOver(bits.len() - bit) }),
        }
    }
}

struct Reader<'r, 'a, 'b> {
    of: &'r TmbpCoder<'a>,
    from: &'r mut BitSource<'b>,
    record: Record,
    /// Where the record starts.
    at: u64,
    pc: u64,
    /// Where the last trap or synchronisation led.
    handler: u64,
}

impl Reader<'_, '_, '_> {
    fn next(&mut self) -> Result<(), DecodeError> {
        let (config, xlen) = (self.of.config, self.of.xlen());
        self.at = self.from.position();
        self.record = match self.from.left() {
            0 => Record::None,
            _ => match config.branches.get(self.from)? {
                0 => {
                    let instructions = config.instructions.get(self.from)?;
                    self.handler = match config.trap_differences {
                        true => config.targets.get_target(self.handler, xlen, self.from)?,
                        false => self.from.get(xlen)?,
                    };
                    Record::Trap { instructions, to: self.handler }
                }
                branches => Record::Wrong(branches),
            },
        };
        Ok(())
    }

    /// Follows this many instructions, starting with an untrained predictor.
    fn segment(&mut self, mut left: u64, take: &mut dyn FnMut(u64)) -> Result<(), DecodeError> {
        let code = self.of.code;
        let (xlen, width) = (code.xlen(), self.of.xlen());
        let mut cursor = code.cursor();
        let mut state = State::new(self.of.config, code);
        while left > 0 {
            if let Record::Trap { instructions: 0, to } = self.record {
                self.pc = to;
                self.next()?;
                continue;
            }
            let pc = self.pc;
            let insn = cursor.insn(pc).map_err(|fault| DecodeError { bit: self.at, fault })?;
            take(pc);
            left -= 1;
            if let Record::Trap { instructions, .. } = &mut self.record {
                *instructions -= 1;
            }
            if insn.is_sequential() {
                self.pc = insn.next(xlen, pc);
                continue;
            }
            let predicted = state.predictor.predict(pc, insn);
            let mut wrong = false;
            if let (Record::Wrong(branches), Some(_)) = (&mut self.record, predicted) {
                *branches -= 1;
                wrong = *branches == 0;
            }
            let (mut taken, mut target) = (false, 0);
            self.pc = match predicted {
                Some(Predicted::Outcome(expected)) => {
                    taken = expected != wrong;
                    let to = insn.target(xlen, pc).filter(|_| taken);
                    to.unwrap_or_else(|| insn.next(xlen, pc))
                }
                Some(Predicted::Target(expected)) => {
                    target = expected;
                    if wrong {
                        let widths = self.of.config.targets;
                        target = widths.get_target(state.target, width, self.from)?;
                        state.target = target;
                    }
                    target
                }
                None => insn.target(xlen, pc).unwrap_or_else(|| insn.next(xlen, pc)),
            };
            state.predictor.update(pc, insn, taken, target);
            if wrong {
                self.next()?;
            }
        }
        Ok(())
    }
}
