//! The mode history prediction, in place of the flow chart.
//!
//! `docs/design/extension-mode.md` defines it.

use crate::Encoded;
use crate::state::State;
use crate::step::{Left, Previous, Step, Trap};
use hartrace_etrace::encoder::Reason;
use hartrace_etrace::history::{JumpGuess, Run, Tables};
use hartrace_etrace::ingress::IType;
use hartrace_etrace::{AddressReport, History, Payload, Records};

/// A number of so many bits, sent with its highest bit first.
#[derive(Copy, Clone, Debug, Default)]
struct Bits {
    value: u64,
    width: u32,
}

impl Bits {
    const ZERO: Self = Self { value: 0, width: 1 };
    const ONE: Self = Self { value: 1, width: 1 };

    /// The number after a bit.
    fn after(bit: bool, value: u64, width: u32) -> Self {
        Self { value: u64::from(bit) << width | value & !(u64::MAX << width), width: width + 1 }
    }

    fn each(self) -> impl Iterator<Item = bool> {
        (0..self.width).rev().map(move |bit| self.value >> bit & 1 != 0)
    }
}

/// The run of a class.
#[derive(Copy, Clone, Debug, Default)]
struct Open {
    run: Run,
    right: u32,
    /// Number of its record, if it is open.
    record: Option<usize>,
}

/// The packet that has not been sent yet, and the tables.
#[derive(Debug)]
pub(crate) struct Packet {
    tables: Tables,
    open: [Open; History::CLASSES],
    records: Vec<Bits>,
    half_words: u32,
    /// Where a decoder is after it.
    pc: u64,
}

impl Packet {
    pub(crate) fn new(hpred_size_p: u8) -> Self {
        Self {
            tables: Tables::new(hpred_size_p),
            open: [Open::default(); History::CLASSES],
            records: Vec::new(),
            half_words: 0,
            pc: 0,
        }
    }

    fn restart(&mut self, pc: u64) {
        self.tables.reset();
        self.open = [Open::default(); History::CLASSES];
        self.records.clear();
        (self.half_words, self.pc) = (0, pc);
    }

    /// Adds a prediction to the run of its class, which has a record.
    fn predicted(&mut self, class: usize, wrong: bool) {
        let Some(open) = self.open.get_mut(class) else { return };
        let run = open.run;
        let full = !wrong && open.right + 1 == run.most();
        if !wrong && !full {
            open.right += 1;
            return;
        }
        let record = open.record.and_then(|record| self.records.get_mut(record));
        if let (Some(record), true) = (record, wrong) {
            *record = Bits::after(false, open.right.into(), run.bits());
        }
        *open = Open { run: run.after(wrong), ..Open::default() };
    }
}

/// Describes `current`. `next` is `None` if it is not traced. Returns `None` if tracing restarts
/// after it.
pub(crate) fn describe<S: FnMut(Encoded<'_>)>(
    state: &mut State,
    previous: Option<&Previous>,
    current: &Step,
    next: Option<&Step>,
    out: &mut S,
) -> Option<Previous> {
    state.resync.step(current.cycles, current.half_words);
    if previous.is_some_and(|before| current.changes_context_imprecisely(before.context)) {
        state.context_pending = true;
    }
    let torn = next.is_some_and(|n| n.retired && n.is_torn_from(current.context));
    let next = next.filter(|_| !torn);
    // Of a block, only the last step counts half-words: its own, and those before it.
    let own =
        (current.link.wrapping_sub(current.address) >> 1).min(current.half_words.into()) as u32;
    if previous.is_some() {
        state.count(current.half_words - own, current.row, out);
    }
    let reported = state.introduce(previous, current, next, out);
    if current.retired {
        state.execute(current, own, next.map(|next| next.address), out);
        if current.notify {
            state.stop(current.row, Reason::Notify, out);
            state.far(current.row, current.address, true, Reason::Notify, out);
        }
        if next.is_none() {
            state.last_was_due = !state.stop(current.row, Reason::Last, out);
        }
    }
    if state.context_pending {
        state.context_packet(current, Reason::ImpreciseContext, out);
    }
    if torn {
        state.end_trace(current.row, Reason::Restart, out);
        return None;
    }
    Some(current.described(reported, Left::default()))
}

impl State {
    /// Sends what a decoder must know before the current step. Returns whether that is a trap that has
    /// been reported.
    fn introduce<S: FnMut(Encoded<'_>)>(
        &mut self,
        previous: Option<&Previous>,
        current: &Step,
        next: Option<&Step>,
        out: &mut S,
    ) -> bool {
        let trap = current.trap().filter(|_| !current.retired);
        let earlier = previous.and_then(|previous| previous.trap);
        let told = previous.is_some_and(|previous| previous.reported);
        let row = current.row;
        if let Some(trap) = trap {
            let reason = match (previous, earlier) {
                (None, _) => Reason::TrapAtStart,
                (Some(_), Some(_)) if told => Reason::TrapInHandler,
                (Some(_), Some(earlier)) => {
                    self.interrupt(current, earlier, false, Reason::TrapInHandler, out);
                    Reason::TrapAtEnd
                }
                (Some(_), None) => {
                    self.stop(row, Reason::BeforeTrap, out);
                    Reason::TrapAtEnd
                }
            };
            // With its handler, where that follows.
            if reason == Reason::TrapAtEnd && next.is_some() {
                return false;
            }
            self.interrupt(current, trap, false, reason, out);
            return true;
        }
        match (previous, earlier) {
            (None, _) => self.synchronise(current, Reason::First, out),
            (Some(_), Some(_)) if told => {
                self.synchronise(current, Reason::HandlerAfterReport, out);
            }
            (Some(_), Some(earlier)) => {
                self.interrupt(current, earlier, true, Reason::Handler, out);
            }
            (Some(before), None) if current.changes_from(before.privilege, before.context) => {
                self.stop(row, Reason::BeforeChange, out);
                let privilege = current.privilege != before.privilege;
                let reason = if privilege { Reason::Privilege } else { Reason::Context };
                self.context_packet(current, reason, out);
            }
            (Some(_), None) if self.resync.is_due() => {
                self.stop(row, Reason::BeforeResync, out);
                self.synchronise(current, Reason::Resync, out);
            }
            (Some(_), None) => {}
        }
        false
    }

    /// Format 3.0: everything starts anew.
    fn synchronise<S: FnMut(Encoded<'_>)>(&mut self, step: &Step, reason: Reason, out: &mut S) {
        self.sync(step, reason, out);
        self.history.restart(step.address & self.address_mask);
    }

    /// Format 3.1: the tables are kept, and what was interrupted is pushed.
    fn interrupt<S: FnMut(Encoded<'_>)>(
        &mut self,
        step: &Step,
        trap: Trap,
        thaddr: bool,
        reason: Reason,
        out: &mut S,
    ) {
        self.trap(step, trap, thaddr, reason, out);
        let packet = &mut self.history;
        packet.tables.push(packet.pc);
        packet.pc = step.address & self.address_mask;
    }

    /// Counts half-words, and ends packets that have no room for more.
    fn count<S: FnMut(Encoded<'_>)>(&mut self, mut half_words: u32, row: u64, out: &mut S) {
        loop {
            let packet = &mut self.history;
            let part = half_words.min(History::MOST_HALF_WORDS.saturating_sub(packet.half_words));
            packet.half_words += part;
            half_words -= part;
            if half_words == 0 {
                return;
            }
            self.stop(row, Reason::CountFull, out);
        }
    }

    /// Executes the instruction of a step, which leads `to` an address if that is traced.
    fn execute<S: FnMut(Encoded<'_>)>(
        &mut self,
        step: &Step,
        own: u32,
        to: Option<u64>,
        out: &mut S,
    ) {
        if self.history.half_words + own > History::MOST_HALF_WORDS {
            self.stop(step.row, Reason::CountFull, out);
        }
        let [pc, link] = [step.address, step.link].map(|address| address & self.address_mask);
        let to = to.map(|to| to & self.address_mask);
        let itype = step.itype;
        let returns = matches!(itype, IType::TrapReturn | IType::Return | IType::CoRoutineSwap);
        let calls = itype.is_call() || itype == IType::CoRoutineSwap;
        let mut own = own;
        let next = match (step.taken(), itype) {
            (Some(taken), _) => {
                let guess = self.history.tables.branch(pc);
                self.predict(guess.class, guess.taken != taken, step.row, out);
                self.history.tables.learn_branch(&guess, taken);
                to.filter(|_| taken).unwrap_or(link)
            }
            (None, IType::None | IType::Exception | IType::Interrupt) => link,
            (None, IType::InferableCall | IType::InferableTailCall | IType::OtherInferableJump) => {
                to.unwrap_or(link)
            }
            (None, _) => {
                let guess = self.history.tables.jump(pc, returns);
                let target = to.unwrap_or(guess.target);
                self.predict(guess.class, target != guess.target, step.row, out);
                if target != guess.target && self.target(&guess, pc, target, step.row, out) {
                    // It belongs to the packet that its address has ended.
                    own = 0;
                }
                self.history.tables.learn_jump(&guess, target);
                target
            }
        };
        self.history.tables.link(returns, calls.then_some(link));
        self.history.half_words += own;
        self.history.pc = next;
    }

    fn predict<S: FnMut(Encoded<'_>)>(&mut self, class: usize, wrong: bool, row: u64, out: &mut S) {
        if self.history.open.get(class).is_some_and(|open| open.record.is_none()) {
            // A run without a wrong prediction, unless there is one.
            let record = self.start_record(Bits::ONE, row, out);
            if let Some(open) = self.history.open.get_mut(class) {
                open.record = Some(record);
            }
        }
        self.history.predicted(class, wrong);
    }

    /// Adds a record, to a new packet if this one is full. Returns its number.
    fn start_record<S: FnMut(Encoded<'_>)>(&mut self, bits: Bits, row: u64, out: &mut S) -> usize {
        if self.history.records.len() >= History::RECORDS as usize {
            self.close(None, Bits::default(), row, Reason::RecordsFull, out);
        }
        self.history.records.push(bits);
        self.history.records.len() - 1
    }

    /// Reports the target of a jump that was predicted wrongly. Returns whether that ended the packet.
    fn target<S: FnMut(Encoded<'_>)>(
        &mut self,
        guess: &JumpGuess,
        pc: u64,
        target: u64,
        row: u64,
        out: &mut S,
    ) -> bool {
        let tables = &self.history.tables;
        let place = tables.place(target);
        let cached = !guess.returns() && tables.target(pc, place) == target;
        if cached {
            let bits = Bits::after(true, place.into(), tables.place_bits());
            self.start_record(bits, row, out);
            return false;
        }
        if !guess.returns() {
            self.start_record(Bits::ZERO, row, out);
        }
        let far = (pc ^ target) >> (History::NEAR_BITS + 1) != 0;
        let address = match far {
            true => Bits::ONE,
            false => Bits::after(false, target >> 1, History::NEAR_BITS),
        };
        self.close(None, address, row, Reason::Updiscon, out);
        if far {
            self.far(row, target, false, Reason::Updiscon, out);
        }
        true
    }

    /// Format 2.
    fn far<S: FnMut(Encoded<'_>)>(
        &mut self,
        row: u64,
        address: u64,
        notify: bool,
        reason: Reason,
        out: &mut S,
    ) {
        let base = if self.options.full_address { 0 } else { self.last_address };
        self.last_address = address;
        let field = self.shifted(address.wrapping_sub(base));
        let report = AddressReport { notify, ..AddressReport::new(field) };
        self.send(row, Payload::Address(report), reason, out);
    }

    /// Ends the packet where it is, unless nothing has retired in it. Returns whether something had.
    fn stop<S: FnMut(Encoded<'_>)>(&mut self, row: u64, reason: Reason, out: &mut S) -> bool {
        let half_words = self.history.half_words;
        if half_words > 0 {
            self.close(Some(half_words), Bits::default(), row, reason, out);
        }
        half_words > 0
    }

    fn close<S: FnMut(Encoded<'_>)>(
        &mut self,
        stop: Option<u32>,
        address: Bits,
        row: u64,
        reason: Reason,
        out: &mut S,
    ) {
        let packet = &mut self.history;
        let bits = packet.records.iter().copied().chain([address]).flat_map(Bits::each);
        let records = Records::new(bits);
        packet.records.clear();
        packet.half_words = 0;
        for open in &mut packet.open {
            *open = Open { run: open.run, ..Open::default() };
        }
        match records {
            Some(records) => {
                self.send(row, Payload::History(History { stop, records }), reason, out);
            }
            // Twenty records and an address always fit. If they did not, a decoder would have to know
            // that a payload is missing.
            None => self.announce_loss = true,
        }
    }
}
