//! History prediction: follows the program by what a predictor gets wrong.
//!
//! `docs/design/extension-mode.md` defines the mode.

use super::Tracer;
use super::state::{Latest, Reference, State};
use crate::blocks::Exit;
use crate::event::{Event, Fault, StreamPos};
use crate::run::{BlockId, NONE, Span};
use crate::sink::{Rarely, Sink};
use crate::walk::emit;
use hartrace_etrace::history::{History, JumpGuess, Records, Run, Tables};
use hartrace_etrace::{AddressReport, Payload, QualStatus, Support, Trap};
use hartrace_isa::{Kind, Link};

/// What a tracer waits for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Waits {
    /// A packet, or whatever may come between packets.
    Packet,
    /// A packet: the instruction at `pc` needs a record of it.
    Record,
    /// The far target of the jump at `pc`.
    Target,
}

/// The open run of a class.
#[derive(Copy, Clone, Debug, Default)]
struct Open {
    run: Run,
    /// Predictions until it ends; none if it is not open.
    left: u32,
    /// The last of them is wrong.
    wrong: bool,
}

/// A place in the program, and in a packet.
#[derive(Clone, Debug)]
pub(super) struct HistoryCursor {
    /// The instruction that retires next.
    pub(super) pc: u64,
    /// The one that retired last, if nothing else has happened since.
    last: Option<u64>,
    tables: Tables,
    open: [Open; History::CLASSES],
    records: Records,
    /// Bits of the records that have been read, and number of records.
    at: u32,
    count: u32,
    /// Half-words until the packet stops.
    left: Option<u32>,
    /// Half-words of the next packet that have retired already.
    ahead: u32,
    waits: Waits,
    /// The jump at `pc` was predicted wrongly; its target comes next.
    wrong: bool,
}

impl HistoryCursor {
    pub(super) fn new(hpred_size_p: u8) -> Self {
        Self {
            pc: 0,
            last: None,
            tables: Tables::new(hpred_size_p),
            open: [Open::default(); History::CLASSES],
            records: Records::EMPTY,
            at: 0,
            count: 0,
            left: None,
            ahead: 0,
            waits: Waits::Packet,
            wrong: false,
        }
    }

    /// Starts anew at a synchronisation.
    pub(super) fn start(&mut self, pc: u64) {
        self.tables.reset();
        self.open = [Open::default(); History::CLASSES];
        (self.pc, self.last, self.left, self.ahead) = (pc, None, None, 0);
        (self.waits, self.wrong) = (Waits::Packet, false);
    }

    /// Whether something other than a packet may come here.
    fn is_between_packets(&self) -> bool {
        self.waits == Waits::Packet && self.ahead == 0
    }

    /// Whether a synchronisation at this address continues what was followed.
    pub(super) fn is_at(&self, address: u64) -> bool {
        self.is_between_packets() && self.pc == address
    }

    fn take(&mut self, width: u32) -> u64 {
        let number = self.records.number(self.at, width);
        self.at = self.at.saturating_add(width);
        number
    }

    /// Goes to the next record; `false` if that is in the next packet.
    #[inline]
    fn record(&mut self) -> bool {
        if self.count >= History::RECORDS {
            self.waits = Waits::Record;
            return false;
        }
        self.count = self.count.saturating_add(1);
        true
    }

    /// Whether a prediction of this class is wrong; `None` if the next packet tells.
    #[inline]
    fn is_wrong(&mut self, class: usize) -> Option<bool> {
        let Open { run, left, .. } = *self.open.get(class)?;
        if left == 0 {
            if !self.record() {
                return None;
            }
            let wrong = self.take(1) == 0;
            let left = match wrong {
                true => (self.take(run.bits()) as u32).saturating_add(1),
                false => run.most(),
            };
            *self.open.get_mut(class)? = Open { run, left, wrong };
        }
        let open = self.open.get_mut(class)?;
        open.left = open.left.saturating_sub(1);
        if open.left > 0 {
            return Some(false);
        }
        open.run = open.run.after(open.wrong);
        Some(open.wrong)
    }

    /// Ends the packet. Returns an error if something is missing, or left.
    fn end(&mut self) -> Result<(), Fault> {
        let missing = self.open.iter().any(|open| open.left > 0 && open.wrong);
        self.open.iter_mut().for_each(|open| open.left = 0);
        match !missing && self.records.ends_at(self.at) {
            true => Ok(()),
            false => Err(Fault::Records(self.pc)),
        }
    }

    /// Where the jump at `last` leads; `None` if the trace that has arrived does not tell.
    fn jump(&mut self, last: u64, guess: &JumpGuess) -> Result<Option<Target>, Fault> {
        if !self.wrong {
            match self.is_wrong(guess.class) {
                None => return Ok(None),
                Some(false) => return Ok(Some(Target::Inside(guess.target))),
                Some(true) => self.wrong = true,
            }
        }
        if !guess.returns() {
            if !self.record() {
                return Ok(None);
            }
            if self.take(1) == 1 {
                let place = self.take(self.tables.place_bits()) as u16;
                return Ok(Some(Target::Inside(self.tables.target(last, place))));
            }
        }
        if self.take(1) == 1 {
            self.waits = Waits::Target;
            return Ok(None);
        }
        let low = self.take(History::NEAR_BITS) << 1;
        let upper = History::NEAR_BITS.saturating_add(1);
        let target = last >> upper << upper | low;
        // Such a packet has no count.
        if self.left.is_some() {
            return Err(Fault::Records(last));
        }
        self.end()?;
        Ok(Some(Target::EndsPacket(target)))
    }
}

/// Where a jump leads.
enum Target {
    Inside(u64),
    EndsPacket(u64),
}

/// What the end of a block came to.
enum Left {
    /// It leads to this address, to this block if that is known.
    To(u64, BlockId),
    /// The same, and the packet ends.
    EndsPacket(u64),
    /// The trace does not tell yet.
    Waits,
}

/// Whether the return stack predicts a jump: trap returns have no link.
fn returns(link: Option<Link>) -> bool {
    link.is_none_or(Link::pops)
}

impl Tracer<'_> {
    /// Formats 0, 1 and 2.
    pub(super) fn history(
        &mut self,
        at: StreamPos,
        payload: &Payload,
        sink: &mut Rarely<'_>,
    ) -> Result<(), Fault> {
        let following = &mut self.history;
        match payload {
            Payload::History(p) if following.waits != Waits::Target => {
                following.waits = Waits::Packet;
                (following.records, following.at, following.count) = (p.records, 0, 0);
                let ahead = std::mem::take(&mut following.ahead);
                following.left = p.stop.map(|half_words| half_words.saturating_sub(ahead));
                self.walk.is_told();
                self.follow_records(at, sink)
            }
            Payload::Address(report) => self.history_address(at, report, sink),
            _ => Err(Fault::Records(following.pc)),
        }
    }

    /// Follows the program to the end of the packet.
    fn follow_records(&mut self, at: StreamPos, sink: &mut Rarely<'_>) -> Result<(), Fault> {
        let mut id = NONE;
        loop {
            if self.history.left == Some(0) {
                return self.history.end();
            }
            let pc = self.history.pc;
            self.walk.spend(pc)?;
            let code = &mut self.programs.code;
            if code.blocks.is_full() {
                code.forget();
                id = NONE;
            }
            if id == NONE {
                id = code.blocks.at(pc)?;
            }
            let Some(whole) = code.blocks.whole(id) else { return Err(Fault::NoCode(pc)) };
            if self.stop_inside(at, whole, sink) {
                continue;
            }
            let left = self.execute_last(id);
            let blocks = &self.programs.code.blocks;
            let Some(block) = blocks.get(id) else { return Err(Fault::NoCode(pc)) };
            let last = block.last;
            let (to, next, ends) = match left {
                Ok(Left::To(to, next)) => (to, next, false),
                Ok(Left::EndsPacket(to)) => (to, NONE, true),
                Ok(Left::Waits) | Err(_) => {
                    // Everything but the last instruction has retired.
                    let before = Span { insns: whole.insns.saturating_sub(1), ..whole };
                    emit(blocks, at, before, sink);
                    self.history.pc = last;
                    left?;
                    // Where a packet stops, its count says so, not a record that is missing.
                    let stops = self.history.left.is_some();
                    self.history.end()?;
                    return if stops { Err(Fault::Records(last)) } else { Ok(()) };
                }
            };
            emit(blocks, at, whole, sink);
            let half_words = (block.end.wrapping_sub(block.start) & self.mask) >> 1;
            let following = &mut self.history;
            if let Some(left) = &mut following.left {
                following.ahead = (half_words as u32).saturating_sub(*left);
                *left = left.saturating_sub(half_words as u32);
            }
            (following.pc, following.last) = (to, Some(last));
            id = next;
            if ends {
                return Ok(());
            }
        }
    }

    /// Retires the instructions of a block up to the end of the packet, if that is before its last.
    fn stop_inside(&mut self, at: StreamPos, whole: Span, sink: &mut Rarely<'_>) -> bool {
        let blocks = &self.programs.code.blocks;
        let (Some(left), Some(run)) = (self.history.left, blocks.run(whole)) else { return false };
        let offset = |address: u64| (address.wrapping_sub(run.start()) >> 1) as u32;
        if offset(run.last()) < left {
            return false;
        }
        // Instructions that start before the end, and the first that does not.
        let (mut insns, mut last, mut end) = (0u16, run.start(), None);
        run.addresses(|address| match offset(address) < left {
            true => (insns, last) = (insns.saturating_add(1), address),
            false => end = end.or(Some(address)),
        });
        let end = end.unwrap_or(last);
        emit(blocks, at, Span { insns, ..whole }, sink);
        let following = &mut self.history;
        following.ahead = offset(end).saturating_sub(left);
        (following.pc, following.last, following.left) = (end, Some(last), Some(0));
        true
    }

    /// Executes the last instruction of a block.
    fn execute_last(&mut self, id: BlockId) -> Result<Left, Fault> {
        let blocks = &mut self.programs.code.blocks;
        let block = blocks.get(id).ok_or(Fault::NoCode(self.history.pc))?;
        let (last, end, exit) = (block.last, block.end, block.exit);
        let (on_taken, on_fall) = (block.taken, block.fall);
        let following = &mut self.history;
        let (to, next) = match exit {
            Exit::Branch { taken: target } => {
                self.walk.is_told();
                let guess = following.tables.branch(last);
                let Some(wrong) = following.is_wrong(guess.class) else { return Ok(Left::Waits) };
                let taken = guess.taken != wrong;
                following.tables.learn_branch(&guess, taken);
                if taken { (target, on_taken) } else { (end, on_fall) }
            }
            Exit::Jump { target, call } => {
                following.tables.link(false, call.then_some(end));
                (target, on_taken)
            }
            Exit::Next => (end, on_fall),
            Exit::Indirect { link, .. } => {
                self.walk.is_told();
                let guess = following.tables.jump(last, returns(link));
                let target = following.jump(last, &guess)?;
                let Some(target) = target else { return Ok(Left::Waits) };
                let (Target::Inside(to) | Target::EndsPacket(to)) = target;
                let to = self.land(last, end, link, to);
                return Ok(match target {
                    Target::Inside(_) => Left::To(to, NONE),
                    Target::EndsPacket(_) => Left::EndsPacket(to),
                });
            }
        };
        if self.history.left.is_none() && !matches!(exit, Exit::Branch { .. }) {
            self.walk.pass_on(to, last)?;
        }
        // A block without code after it is a fault only once that is reached.
        let next = match (next, exit) {
            (NONE, Exit::Jump { .. }) => blocks.link_taken(id, to).unwrap_or(NONE),
            (NONE, Exit::Branch { .. }) if to != end => blocks.link_taken(id, to).unwrap_or(NONE),
            (NONE, _) => blocks.link_fall(id, to).unwrap_or(NONE),
            (next, _) => next,
        };
        Ok(Left::To(to, next))
    }

    /// The jump at `last` leads to `to`. Returns the address in the width of the hart.
    fn land(&mut self, last: u64, end: u64, link: Option<Link>, to: u64) -> u64 {
        let to = to & self.mask;
        let tables = &mut self.history.tables;
        let guess = tables.jump(last, returns(link));
        tables.learn_jump(&guess, to);
        tables.link(returns(link), link.is_some_and(Link::pushes).then_some(end));
        self.history.wrong = false;
        to
    }

    /// Format 2: a far target, or a notify trigger at the last instruction.
    fn history_address(
        &mut self,
        at: StreamPos,
        report: &AddressReport,
        sink: &mut Rarely<'_>,
    ) -> Result<(), Fault> {
        let address = self.absolute(report.address);
        let pc = self.history.pc;
        if self.history.waits == Waits::Target {
            let id = self.programs.code.blocks.at(pc)?;
            let blocks = &self.programs.code.blocks;
            let block = blocks.get(id).ok_or(Fault::NoCode(pc))?;
            let Exit::Indirect { link, .. } = block.exit else { return Err(Fault::Records(pc)) };
            let end = block.end;
            if let Some(whole) = blocks.whole(id) {
                emit(blocks, at, whole, sink);
            }
            let to = self.land(pc, end, link, address);
            let following = &mut self.history;
            (following.pc, following.last) = (to, Some(pc));
            following.waits = Waits::Packet;
        } else if !self.history.is_between_packets() || self.history.last != Some(address) {
            return Err(Fault::Records(pc));
        }
        self.reference = Reference::Known(address);
        Ok(())
    }

    /// Format 3.1: keeps the tables, so that it does not synchronise a tracer that is lost.
    pub(super) fn trap_with_history(
        &mut self,
        at: StreamPos,
        p: &Trap,
        address: Option<u64>,
        sink: &mut Rarely<'_>,
    ) -> Result<(), Fault> {
        let between = self.history.is_between_packets();
        let epc = match self.state {
            State::On if self.latest == Latest::Retired && between => {
                Some(self.history_epc(p.interrupt))
            }
            State::Off if !p.thaddr => address,
            _ => None,
        };
        let (cause, interrupt, tval) = (p.ecause, p.interrupt, p.tval);
        sink.event(at, Event::Trap { cause, interrupt, tval, epc });
        if p.thaddr {
            self.enter(at, p.context, p.time);
            self.context(at, (p.privilege, p.context, p.time), sink);
        }
        if self.state != State::On {
            return Ok(());
        }
        let following = &mut self.history;
        if !between {
            return Err(Fault::Records(following.pc));
        }
        let address = address.ok_or(Fault::NoVector(p.privilege))?;
        following.tables.push(following.pc);
        (following.pc, following.last) = (address, None);
        self.reference = Reference::Known(address);
        self.latest = if p.thaddr { Latest::Retired } else { Latest::Trapped };
        Ok(())
    }

    /// The instruction that a trap interrupted: encoders may count ecall and ebreak as retired (D13).
    fn history_epc(&self, interrupt: bool) -> u64 {
        let insn = |address: &u64| self.programs.code.image.insn(*address);
        let environment = |address: &u64| {
            !interrupt && insn(address).is_some_and(|insn| insn.kind == Kind::EnvironmentTrap)
        };
        self.history.last.filter(environment).unwrap_or(self.history.pc)
    }

    /// Format 3.3: tracing may only end between packets, and a change of the mode needs a synchronisation.
    pub(super) fn leave_history(&mut self, at: StreamPos, p: &Support, sink: &mut Rarely<'_>) {
        if self.state != State::On {
            return;
        }
        let ended = matches!(p.qual_status, QualStatus::EndedRep | QualStatus::EndedNtr);
        let on = self.options.history_prediction;
        if ended && on && !self.history.is_between_packets() {
            self.fault(at, Fault::Records(self.history.pc), sink);
        } else if p.ioptions.history_prediction != on {
            self.forget();
            self.state = State::Off;
        }
    }
}
