//! Follows the program in the mode history prediction.
//!
//! `docs/design/extension-mode.md` defines it; section numbers here are those of that page.

use super::{Decoder, Event, EventSink, Fault, Mode, Position};
use crate::history::{NEAR, RECORDS, Runs, Tables, near};
use crate::isa::{Flow, Insn, Link};
use hartrace_etrace::{AddressReport, History, Payload, Records};

/// What the decoder needs to go on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Needs {
    /// A packet, or anything else that may come between two packets.
    Packet,
    /// A packet: the instruction at `pc` needs a record.
    Record,
    /// The target of the jump at `pc`, which is far away.
    Target,
}

/// The packet that is being read, and the tables.
#[derive(Debug)]
pub(crate) struct Reader {
    tables: Tables,
    /// A run knows how many right predictions come before a wrong one, if there is one.
    runs: Runs<Option<u64>>,
    records: Records,
    /// Bits of the records that have been read.
    at: u32,
    /// Records that have been read.
    count: usize,
    /// Half-words until the packet stops. The last instruction may have one more.
    left: Option<i64>,
    /// Half-words of the next packet that have retired already.
    ahead: i64,
    needs: Needs,
    /// The jump at `pc` is known to have been predicted wrongly.
    wrong: bool,
}

impl Reader {
    pub(crate) fn new(hpred_size_p: u8) -> Self {
        Self {
            tables: Tables::new(hpred_size_p),
            runs: Runs::new(),
            records: Records::EMPTY,
            at: 0,
            count: 0,
            left: None,
            ahead: 0,
            needs: Needs::Packet,
            wrong: false,
        }
    }

    /// Section 5: a number, its highest bit first.
    fn take(&mut self, width: u32) -> u64 {
        let bits = self.at..self.at + width;
        self.at += width;
        bits.fold(0, |value, at| value << 1 | u64::from(self.records.bit(at)))
    }

    /// Rule 4: reads on at a record; `false` if it is in the next packet.
    fn record(&mut self) -> bool {
        if self.count == RECORDS {
            self.needs = Needs::Record;
            return false;
        }
        self.count += 1;
        true
    }

    /// Whether nothing is missing where the packet ends, and nothing is left.
    fn ends(&mut self) -> bool {
        let missing = self.runs.end().iter().any(Option::is_some);
        let last = self.at.checked_sub(1).is_some_and(|last| self.records.bit(last));
        !missing && (self.at..History::RECORD_BITS).all(|at| self.records.bit(at) == last)
    }
}

/// What became of an instruction.
enum Executed {
    /// It leads to this address.
    To(u64),
    /// It leads to this address, which ends the packet.
    EndsPacket(u64),
    /// More of the trace is needed.
    Waits,
}

impl Decoder<'_> {
    /// Formats 0 to 2.
    pub(crate) fn history(
        &mut self,
        at: Position,
        payload: &Payload,
        out: EventSink<'_>,
    ) -> Result<(), Fault> {
        match payload {
            Payload::History(p) => self.packet(at, p, out),
            Payload::Address(report) => self.history_address(at, report, out),
            _ => Err(Fault::Records(self.pc)),
        }
    }

    /// Whether a trap, a synchronisation or the end may come here.
    pub(crate) fn between_packets(&self) -> bool {
        self.reader.needs == Needs::Packet && self.reader.ahead == 0
    }

    /// Section 8.4: a trap keeps the tables.
    pub(crate) fn history_trap(&mut self, address: u64) {
        self.reader.tables.push(self.pc);
        self.pc = address;
        self.address = address;
        self.last = None;
    }

    /// The instruction that a trap interrupted: encoders may count ecall and ebreak as retired (E8).
    pub(crate) fn history_epc(&self, interrupt: bool) -> u64 {
        match self.last {
            Some((address, insn)) if insn.flow == Flow::Trap && !interrupt => address,
            _ => self.pc,
        }
    }

    fn packet(&mut self, at: Position, p: &History, out: EventSink<'_>) -> Result<(), Fault> {
        let reader = &mut self.reader;
        if reader.needs == Needs::Target {
            return Err(Fault::Records(self.pc));
        }
        reader.needs = Needs::Packet;
        (reader.records, reader.at, reader.count) = (p.records, 0, 0);
        reader.left = p.stop.map(|half_words| i64::from(half_words) - reader.ahead);
        // What is ahead counts for a packet that stops, and one of the others has no count.
        reader.ahead = 0;
        self.walk(at, out)
    }

    fn walk(&mut self, at: Position, out: EventSink<'_>) -> Result<(), Fault> {
        let mut steps = 0;
        // As long as nothing is predicted the path is a function of the address: Brent's algorithm.
        let (mut mark, mut distance, mut power) = (None, 0, 1);
        loop {
            let reader = &mut self.reader;
            if let Some(left) = reader.left
                && left <= 0
            {
                reader.ahead = -left;
                return if reader.ends() { Ok(()) } else { Err(Fault::Records(self.pc)) };
            }
            steps += 1;
            if steps > self.config.max_steps {
                return Err(Fault::TooLong(self.pc));
            }
            let (pc, insn) = (self.pc, self.insn(self.pc)?);
            let predicted = insn.is_branch() || insn.is_uninferable();
            match self.execute(pc, insn)? {
                Executed::To(to) => {
                    self.retire(at, insn, to, out);
                }
                Executed::EndsPacket(to) => {
                    self.retire(at, insn, to, out);
                    return Ok(());
                }
                Executed::Waits => {
                    let stops = self.reader.left.is_some();
                    // Where a packet stops, the count says so, not a record that is missing.
                    let fits = !stops && self.reader.ends();
                    return if fits { Ok(()) } else { Err(Fault::Records(pc)) };
                }
            }
            if predicted || self.reader.left.is_some() {
                (mark, distance, power) = (None, 0, 1);
            } else if mark == Some(self.pc) {
                return Err(Fault::NoProgress(self.pc));
            } else {
                distance += 1;
                if distance == power {
                    (mark, distance, power) = (Some(self.pc), 0, power * 2);
                }
            }
        }
    }

    fn retire(&mut self, at: Position, insn: Insn, to: u64, out: EventSink<'_>) {
        out(at, Event::Retired(self.pc));
        self.last = Some((self.pc, insn));
        self.pc = to;
        if let Some(left) = &mut self.reader.left {
            *left -= i64::from(insn.size / 2);
        }
    }

    fn execute(&mut self, pc: u64, insn: Insn) -> Result<Executed, Fault> {
        let next = self.wrap(pc.wrapping_add(insn.size.into()));
        let relative = |offset: i64| pc.wrapping_add_signed(offset);
        let to = match insn.flow {
            Flow::Next | Flow::Trap => next,
            Flow::Jump(offset) => self.wrap(relative(offset)),
            Flow::Absolute(address) => self.wrap(address as u64 & !1),
            Flow::Branch(offset) => {
                let prediction = self.reader.tables.branch(pc);
                let Some(wrong) = self.is_wrong(prediction.class) else {
                    return Ok(Executed::Waits);
                };
                let taken = prediction.taken != wrong;
                self.reader.tables.learn_branch(&prediction, taken);
                if taken { self.wrap(relative(offset)) } else { next }
            }
            Flow::Indirect { .. } | Flow::Memory | Flow::TrapReturn => {
                return self.jump(pc, insn);
            }
        };
        self.link(insn, next);
        Ok(Executed::To(to))
    }

    fn link(&mut self, insn: Insn, next: u64) {
        let calls = matches!(insn.link, Link::Call | Link::Swap);
        self.reader.tables.link(returns(insn), calls.then_some(next));
    }

    /// Rules 1 and 2: whether the prediction is wrong; `None` if that is in the next packet.
    fn is_wrong(&mut self, class: usize) -> Option<bool> {
        let reader = &mut self.reader;
        if reader.runs.open(class).is_none() {
            if !reader.record() {
                return None;
            }
            let wrong = reader.take(1) == 0;
            let bits = reader.runs.bits(class);
            let before = wrong.then(|| reader.take(bits));
            reader.runs.start(class, before);
        }
        let (right, before) = reader.runs.open(class)?;
        let wrong = before == Some(right);
        reader.runs.add(class, wrong);
        Some(wrong)
    }

    /// Section 4.
    fn jump(&mut self, pc: u64, insn: Insn) -> Result<Executed, Fault> {
        let prediction = self.reader.tables.jump(pc, returns(insn));
        let mut wrong = self.reader.wrong;
        if !wrong {
            let Some(decided) = self.is_wrong(prediction.class) else { return Ok(Executed::Waits) };
            wrong = decided;
        }
        if !wrong {
            return Ok(Executed::To(self.land(pc, insn, prediction.target)));
        }
        let reader = &mut self.reader;
        reader.wrong = true;
        if !prediction.returns() {
            if !reader.record() {
                return Ok(Executed::Waits);
            }
            if reader.take(1) == 1 {
                let place = reader.take(reader.tables.place_bits());
                let target = reader.tables.at(pc, place);
                return Ok(Executed::To(self.land(pc, insn, target)));
            }
        }
        if reader.take(1) == 1 {
            reader.needs = Needs::Target;
            return Ok(Executed::Waits);
        }
        let target = near(pc, reader.take(NEAR - 1) << 1);
        if reader.left.is_some() || !reader.ends() {
            return Err(Fault::Records(pc));
        }
        Ok(Executed::EndsPacket(self.land(pc, insn, target)))
    }

    /// The jump at `pc` leads to `target`.
    fn land(&mut self, pc: u64, insn: Insn, target: u64) -> u64 {
        self.reader.wrong = false;
        let prediction = self.reader.tables.jump(pc, returns(insn));
        let target = self.wrap(target);
        self.reader.tables.learn_jump(&prediction, target);
        self.link(insn, self.wrap(pc.wrapping_add(insn.size.into())));
        target
    }

    /// Format 2: a far target, or the last instruction because of a notify trigger.
    fn history_address(
        &mut self,
        at: Position,
        report: &AddressReport,
        out: EventSink<'_>,
    ) -> Result<(), Fault> {
        let address = self.absolute(report.address);
        if self.reader.needs == Needs::Target {
            let (pc, insn) = (self.pc, self.insn(self.pc)?);
            self.reader.needs = Needs::Packet;
            let to = self.land(pc, insn, address);
            self.retire(at, insn, to, out);
        } else if !self.between_packets() || self.last.is_none_or(|(last, _)| last != address) {
            return Err(Fault::Records(self.pc));
        }
        self.address = address;
        Ok(())
    }

    /// Format 3.0: everything starts anew.
    pub(crate) fn history_start(&mut self) {
        self.reader = Reader::new(self.config.params.hpred_size_p);
    }

    /// Whether the decoder knows where it is.
    pub(crate) fn follows_history(&self) -> bool {
        self.options.history_prediction && self.mode == Mode::On
    }
}

/// Section 4.1: whether the return stack predicts a jump.
fn returns(insn: Insn) -> bool {
    insn.flow == Flow::TrapReturn || matches!(insn.link, Link::Return | Link::Swap)
}
