//! The mode history prediction, instead of the flow chart.
//!
//! `docs/design/extension-mode.md` defines it; section numbers here are those of that page.

use super::state::State;
use super::step::{Previous, Step};
use super::{PayloadSink, Reason};
use crate::history::{NEAR, RECORDS, Runs, Tables};
use hartrace_etrace::ingress::IType;
use hartrace_etrace::{AddressReport, History, Payload, Records};

/// The packet that is open, and the tables.
#[derive(Debug)]
pub(crate) struct Packet {
    tables: Tables,
    /// A run knows the number of its record.
    runs: Runs<usize>,
    /// The bits of each record; those of an open run are not known yet.
    records: Vec<Vec<bool>>,
    half_words: u32,
    /// Where a decoder is.
    pc: u64,
}

impl Packet {
    pub(crate) fn new(hpred_size_p: u8) -> Self {
        let (tables, runs) = (Tables::new(hpred_size_p), Runs::new());
        Self { tables, runs, records: Vec::new(), half_words: 0, pc: 0 }
    }
}

/// Section 5: a number, its highest bit first.
fn number(value: u64, width: u32) -> impl Iterator<Item = bool> {
    (0..width).rev().map(move |bit| value >> bit & 1 != 0)
}

/// Section 8: describes `current`. `next` is `None` if it is not traced. Returns `None` if tracing
/// restarts after it.
pub(crate) fn describe(
    state: &mut State,
    previous: Option<Previous>,
    current: Step,
    next: Option<&Step>,
    out: PayloadSink<'_>,
) -> Option<Previous> {
    state.count_step(&current);
    if let Some(before) = &previous
        && current.changes_context_imprecisely(&before.step)
    {
        state.context_pending = true;
    }
    let torn = next.is_some_and(|n| n.retired && n.is_torn_from(&current));
    let next = next.filter(|_| !torn);
    // The instructions of the block before this one.
    let own = half_words(&current);
    if previous.is_some() {
        state.pass(current.half_words.saturating_sub(own), current.row, out);
    }

    let reported = state.before(previous.as_ref(), &current, next, out);
    if current.retired {
        state.execute(&current, own, next, out);
        if current.notify {
            state.stop(current.row, Reason::Notify, out);
            let address = state.address_field(current.address);
            let report = AddressReport { notify: true, ..AddressReport::new(address) };
            state.send(current.row, Payload::Address(report), Reason::Notify, out);
        }
        if next.is_none() {
            let sent = state.stop(current.row, Reason::Last, out);
            state.last_was_due = !sent;
        }
    }
    if state.context_pending {
        state.context_packet(&current, Reason::ImpreciseContext, out);
    }
    if torn {
        let status = state.end_status();
        state.support(current.row, true, status, Reason::Restart, out);
        state.clear();
        return None;
    }
    Some(Previous { reported, updiscon: false, mismatch: None, step: current })
}

/// Half-words of the instruction of a step: none for the first of a block, which the last counts.
fn half_words(step: &Step) -> u32 {
    let last = (step.link.wrapping_sub(step.address) >> 1) as u32;
    last.min(step.half_words)
}

impl State {
    /// Sends what must come before the current step. Returns whether it is a trap that has been
    /// reported.
    fn before(
        &mut self,
        previous: Option<&Previous>,
        current: &Step,
        next: Option<&Step>,
        out: PayloadSink<'_>,
    ) -> bool {
        let trapped = current.is_trap() && !current.retired;
        let due = self.resync_max().is_some_and(|max| self.resync_count() >= max);
        match previous {
            None if trapped => self.trapped(current, current, false, Reason::TrapAtStart, out),
            None => self.synchronise(current, Reason::First, out),
            Some(Previous { step, reported, .. }) if step.is_trap() => match (trapped, reported) {
                (true, true) => {
                    self.trapped(current, current, false, Reason::TrapInHandler, out);
                }
                (true, false) => {
                    self.trapped(current, step, false, Reason::TrapInHandler, out);
                    if next.is_some() {
                        return false;
                    }
                    self.trapped(current, current, false, Reason::TrapAtEnd, out);
                }
                (false, true) => self.synchronise(current, Reason::HandlerAfterReport, out),
                (false, false) => self.trapped(current, step, true, Reason::Handler, out),
            },
            Some(_) if trapped => {
                self.stop(current.row, Reason::BeforeTrap, out);
                if next.is_some() {
                    return false;
                }
                self.trapped(current, current, false, Reason::TrapAtEnd, out);
            }
            Some(Previous { step, .. }) if current.changes_from(step) => {
                self.stop(current.row, Reason::BeforeChange, out);
                let privilege = current.privilege != step.privilege;
                let reason = if privilege { Reason::Privilege } else { Reason::Context };
                self.context_packet(current, reason, out);
            }
            Some(_) if due => {
                self.stop(current.row, Reason::BeforeResync, out);
                self.synchronise(current, Reason::Resync, out);
            }
            Some(_) => {}
        }
        trapped
    }

    /// Format 3.0 resets everything.
    fn synchronise(&mut self, step: &Step, reason: Reason, out: PayloadSink<'_>) {
        self.sync(step, reason, out);
        let pc = self.masked(step.address);
        self.history = Packet { pc, ..Packet::new(self.config.params.hpred_size_p) };
    }

    /// Format 3.1 keeps the tables, and pushes the address that it interrupts.
    fn trapped(
        &mut self,
        step: &Step,
        trap: &Step,
        thaddr: bool,
        reason: Reason,
        out: PayloadSink<'_>,
    ) {
        self.trap(step, trap, thaddr, reason, out);
        self.history.tables.push(self.history.pc);
        self.history.pc = self.masked(step.address);
    }

    /// An address in the width of the encoder.
    fn masked(&self, address: u64) -> u64 {
        let width = u32::from(self.config.params.iaddress_width_p);
        if width < 64 { address & ((1 << width) - 1) } else { address }
    }

    /// Counts half-words of instructions that lead to the next one.
    fn pass(&mut self, half_words: u32, row: u64, out: PayloadSink<'_>) {
        let mut left = half_words;
        loop {
            let room = History::MOST_HALF_WORDS - self.history.half_words;
            let part = left.min(room);
            self.history.half_words += part;
            left -= part;
            if left == 0 {
                return;
            }
            self.stop(row, Reason::CountFull, out);
        }
    }

    /// The current instruction: its prediction, and what it means for the return stack.
    fn execute(&mut self, step: &Step, own: u32, next: Option<&Step>, out: PayloadSink<'_>) {
        if self.history.half_words + own > History::MOST_HALF_WORDS {
            self.stop(step.row, Reason::CountFull, out);
        }
        let pc = self.masked(step.address);
        let link = self.masked(step.link);
        let to = next.map(|next| self.masked(next.address));
        let returns =
            matches!(step.itype, IType::TrapReturn | IType::Return | IType::CoRoutineSwap);
        let calls = step.itype.is_call() || step.itype == IType::CoRoutineSwap;
        let mut addressed = false;
        self.history.pc = match step.itype {
            IType::None | IType::Exception | IType::Interrupt => link,
            IType::Taken | IType::NotTaken => {
                let taken = step.itype == IType::Taken;
                let prediction = self.history.tables.branch(pc);
                self.decide(prediction.class, taken != prediction.taken, step.row, out);
                self.history.tables.learn_branch(&prediction, taken);
                to.filter(|_| taken).unwrap_or(link)
            }
            IType::InferableCall | IType::InferableTailCall | IType::OtherInferableJump => {
                to.unwrap_or(link)
            }
            _ => {
                let prediction = self.history.tables.jump(pc, returns);
                // Section 8: a target that is not traced counts as predicted.
                let target = to.unwrap_or(prediction.target);
                let wrong = target != prediction.target;
                self.decide(prediction.class, wrong, step.row, out);
                if wrong {
                    addressed = self.target(prediction.returns(), pc, target, step.row, out);
                }
                self.history.tables.learn_jump(&prediction, target);
                target
            }
        };
        self.history.tables.link(returns, calls.then_some(link));
        // An instruction whose address ends a packet belongs to that packet.
        if !addressed {
            self.history.half_words += own;
        }
    }

    /// Section 5, rules 1 and 2.
    fn decide(&mut self, class: usize, wrong: bool, row: u64, out: PayloadSink<'_>) {
        if self.history.runs.open(class).is_none() {
            let record = self.record(row, out);
            self.history.runs.start(class, record);
        }
        let packet = &mut self.history;
        let bits = packet.runs.bits(class);
        let Some((right, record)) = packet.runs.open(class) else { return };
        if packet.runs.add(class, wrong) {
            packet.records[record] = match wrong {
                true => std::iter::once(false).chain(number(right, bits)).collect(),
                false => vec![true],
            };
        }
    }

    /// Rule 4: starts a record, in a new packet if this one is full.
    fn record(&mut self, row: u64, out: PayloadSink<'_>) -> usize {
        if self.history.records.len() == RECORDS {
            self.close(None, &[], row, Reason::RecordsFull, out);
        }
        self.history.records.push(Vec::new());
        self.history.records.len() - 1
    }

    /// Section 4.2: the target of a jump that was predicted wrongly. Returns whether it ended the
    /// packet.
    fn target(
        &mut self,
        returns: bool,
        pc: u64,
        target: u64,
        row: u64,
        out: PayloadSink<'_>,
    ) -> bool {
        if !returns {
            let record = self.record(row, out);
            let packet = &mut self.history;
            let place = packet.tables.place(target);
            if packet.tables.at(pc, place) == target {
                let place = number(place, packet.tables.place_bits());
                packet.records[record] = std::iter::once(true).chain(place).collect();
                return false;
            }
            packet.records[record] = vec![false];
        }
        let far = (pc ^ target) >> NEAR != 0;
        let address: Vec<bool> = match far {
            true => vec![true],
            false => std::iter::once(false).chain(number(target >> 1, NEAR - 1)).collect(),
        };
        self.close(None, &address, row, Reason::Updiscon, out);
        if far {
            let report = AddressReport::new(self.address_field(target));
            self.send(row, Payload::Address(report), Reason::Updiscon, out);
        }
        true
    }

    /// Ends the packet at a number of half-words, unless nothing has happened in it. Returns
    /// whether there is a payload.
    fn stop(&mut self, row: u64, reason: Reason, out: PayloadSink<'_>) -> bool {
        let half_words = self.history.half_words;
        if half_words > 0 {
            self.close(Some(half_words), &[], row, reason, out);
        }
        half_words > 0
    }

    /// Ends the packet. Rule 6: runs that are open have had no wrong prediction.
    fn close(
        &mut self,
        stop: Option<u32>,
        address: &[bool],
        row: u64,
        reason: Reason,
        out: PayloadSink<'_>,
    ) {
        let packet = &mut self.history;
        for record in packet.runs.end() {
            packet.records[record] = vec![true];
        }
        packet.half_words = 0;
        let records = std::mem::take(&mut packet.records);
        let bits = records.iter().flatten().chain(address).copied();
        let records = Records::new(bits).expect("20 records of 11 bits and an address of 20");
        self.send(row, Payload::History(History { stop, records }), reason, out);
    }
}
