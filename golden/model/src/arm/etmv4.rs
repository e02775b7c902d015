//! A model of an ETMv4 trace unit.

mod address;
mod disturbances;
mod extras;

use crate::arm::choices::Choices;
use crate::arm::program::Program;
use crate::arm::walk::{Ids, Step};
use address::Registers;
use disturbances::Unknown;
use fastrand::Rng;
use hartrace_etmv4::{
    Atoms, Config, Context, EmitError, Exception, Headers, MAX_PACKET, Packet, Return, Timestamp,
    TraceInfo,
};
use hartrace_isa::arm::{Executed, Kind, Place, Return as Returns};
use std::num::NonZeroU64;

/// Behaviour of the trace unit, besides its configuration.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Whether to send the address of every branch that is taken.
    pub branch_broadcast: bool,
    /// Threshold of cycle counting; `None` if cycles are not counted.
    pub cycles: Option<u32>,
    /// Entries of the return stack.
    pub return_depth: usize,
    /// Number of packets from one synchronisation to the next.
    pub period: usize,
    /// Whether one packet reports both an exception and the branch to the instruction that it
    /// precedes.
    pub combine: bool,
    /// Whether to send elements that are later cancelled. Only with MAXSPEC above 0.
    pub speculate: bool,
}

/// A unit without special behaviour.
impl Default for Options {
    fn default() -> Self {
        Self {
            branch_broadcast: false,
            cycles: None,
            return_depth: 16,
            period: 100,
            combine: false,
            speculate: false,
        }
    }
}

/// Registers of an ETMv4.2 that has timestamps and cycle counts, a return stack, context
/// identifiers of 32 bits and virtual ones of 8, and does not speculate. TRCCONFIGR, which enables
/// these features, is 0.
pub const REGISTERS: hartrace_etmv4::Registers = hartrace_etmv4::Registers {
    configr: 0,
    idr0: 0x2800_02a0,
    idr1: 0x4100_f420,
    idr2: 0x1000_0488,
    idr8: 0,
    devarch: None,
};

/// Encodes a walk as trace, with whims.
///
/// # Panics
///
/// If there is no packet for a step, which means that the walk is not possible.
pub fn encode(
    config: &Config,
    options: &Options,
    program: &Program,
    start: usize,
    steps: &[Step],
    rng: &mut Rng,
) -> Vec<u8> {
    let mut unit = Unit::new(config, options, Some(rng.fork()));
    unit.start(program.place(start));
    for step in steps {
        match *step {
            Step::Executed(walked) => unit.executed(&program.executed(&walked)),
            Step::Exception { before, number } => {
                unit.exception(number, program.place(before), Some(program.place(program.handler)));
            }
            Step::Time(time) => unit.timestamp(time),
            Step::Stall(cycles) => unit.stall(cycles),
            Step::Context(ids) => unit.context(ids),
            Step::Overflow => unit.overflow(),
            Step::Unknown { count, counted } => unit.unknown(count, counted),
        }
    }
    unit.finish().unwrap_or_else(|error| panic!("{error}"))
}

/// Maximum number of outcomes in a packet.
const MOST: u32 = 24;

/// A trace unit.
#[derive(Debug)]
pub struct Unit {
    headers: Headers,
    options: Options,
    whims: Choices,
    bytes: Vec<u8>,
    failed: Option<EmitError>,
    /// Tracing is off: the next instruction starts it.
    off: bool,
    /// A decoder has to synchronise again.
    lost: bool,
    ids: Ids,
    /// The last context that was sent.
    context: Context,
    /// Instructions that are not reported one by one.
    unknown: Option<Unknown>,
    packets: usize,
    every: Option<NonZeroU64>,
    /// Instructions since the last synchronisation.
    since: u64,
    /// Outcomes that have not been sent yet, the oldest in the lowest bit, and their number.
    atoms: (u64, u32),
    registers: Registers,
    returns: Vec<Place>,
    /// Whether an address has been sent since the last TraceInfo.
    calls_count: bool,
    /// Target of a branch, if it has not been sent yet.
    target: Option<Place>,
    /// Where the core continues, directly after an instruction whose outcome is reported.
    next: Option<Place>,
    /// The last branch went to the address on the return stack. A synchronisation would empty the
    /// stack before that entry is used.
    returned: bool,
    time: u64,
    /// Cycles since the last count.
    cycles: u32,
    /// P0 elements that have not been committed.
    uncommitted: u32,
}

impl Unit {
    /// Creates a unit: with whims if `rng` is given; otherwise it sends the fewest bytes.
    pub fn new(config: &Config, options: &Options, rng: Option<Rng>) -> Self {
        Self {
            headers: Headers::new(config),
            options: *options,
            whims: Choices::new(rng),
            bytes: Vec::new(),
            failed: None,
            off: true,
            lost: true,
            ids: Ids::default(),
            context: Context::default(),
            unknown: None,
            packets: 0,
            every: None,
            since: 0,
            atoms: (0, 0),
            registers: Registers::default(),
            returns: Vec::new(),
            calls_count: false,
            target: None,
            next: None,
            returned: false,
            time: 0,
            cycles: 0,
            uncommitted: 0,
        }
    }

    /// Also synchronises after this number of instructions, with the address, so that a decoder can
    /// start there.
    #[must_use]
    pub fn synchronise_every(self, instructions: Option<NonZeroU64>) -> Self {
        Self { every: instructions, ..self }
    }

    /// Starts tracing before the instruction at `place`. Without this call, tracing starts at the
    /// first instruction that is executed.
    pub fn start(&mut self, place: Place) {
        if std::mem::take(&mut self.lost) {
            self.synchronise();
        }
        self.off = false;
        self.send(Packet::TraceOn);
        self.returns.clear();
        let el = u8::from(self.whims.any());
        self.address_with_context(place, el);
    }

    /// Traces an instruction that was executed.
    pub fn executed(&mut self, executed: &Executed) {
        if self.off {
            self.start(Place { address: executed.address, isa: executed.isa });
        }
        self.since += 1;
        self.cycles = self.cycles.saturating_add(1);
        if self.unknown.is_some() {
            return self.unknown_one(executed);
        }
        self.tell_target();
        let insn = executed.insn;
        if insn.kind == Kind::Other {
            return;
        }
        self.next = Some(executed.next);
        if self.options.speculate {
            self.speculate();
        }
        self.outcome(executed);
        let mut told = !executed.taken;
        self.returned = false;
        match insn.kind {
            Kind::Indirect if executed.taken => {
                // A call pushes before it would pop, so its target is always reported.
                let hit = !insn.link
                    && !self.options.branch_broadcast
                    && self.returns.last() == Some(&executed.next);
                if hit {
                    self.returns.pop();
                    self.returned = true;
                    told = true;
                }
            }
            _ => told |= !self.options.branch_broadcast,
        }
        if insn.link && executed.taken && self.calls_count && self.config().return_stack {
            self.returns.push(Place { address: executed.end(), isa: executed.isa });
            if self.returns.len() > self.options.return_depth {
                self.returns.remove(0);
            }
        }
        if insn.returns == Returns::Eret {
            self.flush();
            if !told {
                self.address_with_context(executed.next, 0);
                told = true;
            }
            // With an ETE, the decoder detects it.
            if !self.config().is_ete() {
                self.send(Packet::ExceptionReturn);
            }
        }
        if !told {
            self.flush();
            self.target = Some(executed.next);
        }
        if self.atoms.1 > MOST || self.whims.any() && self.atoms.1 > self.whims.below(40) {
            self.flush_some();
        }
        if self.target.is_none() {
            self.now_and_then();
        }
        if self.every.is_some_and(|every| self.since >= every.get()) {
            self.flush();
            self.synchronise();
            // A target that the return stack or the branch implied is sent explicitly.
            self.returned = false;
            self.target = None;
            self.address_with_context(executed.next, u8::from(self.whims.any()));
        }
    }

    /// Traces an exception that was taken before the instruction at `returns`. Its handler is
    /// traced from `handler` on, or not at all.
    pub fn exception(&mut self, number: u16, returns: Place, handler: Option<Place>) {
        if self.off {
            return;
        }
        if !self.options.combine {
            self.tell_target();
        }
        self.flush();
        // If the preceding branch went to the return address, that address is sent only once.
        let what = match self.target.take() {
            Some(_) => Return::Target,
            None => Return::Address,
        };
        self.send(Packet::Exception(Exception { number, returns: what, fault_pending: false }));
        self.address(returns);
        self.sent(1);
        self.next = handler;
        match handler {
            Some(handler) => self.address_with_context(handler, 1),
            None => self.off = true,
        }
    }

    /// Lets the core wait. Otherwise, an instruction uses one cycle.
    pub fn stall(&mut self, cycles: u32) {
        self.cycles = self.cycles.saturating_add(cycles);
    }

    /// Sets the time, which never decreases.
    pub fn timestamp(&mut self, time: u64) {
        self.tell_target();
        self.flush();
        let changed = 64 - (time ^ self.time).leading_zeros().min(63);
        let bits = match changed.div_ceil(7) * 7 {
            bits @ ..=56 => bits as u8,
            _ => 64,
        };
        let value = if bits == 64 { time } else { time & ((1 << bits) - 1) };
        let cycles = self
            .options
            .cycles
            .is_some()
            .then_some(self.cycles.min(self.config().cycle_count_mask()));
        self.send(Packet::Timestamp(Timestamp { value, bits, cycles }));
        self.time = time;
    }

    /// Returns the trace, from start to end. If it ends with an indirect branch, the target is
    /// sent.
    pub fn finish(mut self) -> Result<Vec<u8>, EmitError> {
        self.tell_target();
        self.flush();
        self.commit();
        self.failed.map_or(Ok(self.bytes), Err)
    }

    fn config(&self) -> Config {
        *self.headers.config()
    }

    fn send(&mut self, packet: Packet) {
        let mut bytes = [0; MAX_PACKET];
        match packet.emit(&self.headers, &mut bytes) {
            Ok(len) => self.bytes.extend_from_slice(&bytes[..len]),
            Err(error) => self.failed = self.failed.or(Some(error)),
        }
        self.packets += 1;
    }

    /// Whether a packet of this form exists.
    fn fits(&self, packet: &Packet) -> bool {
        packet.emit(&self.headers, &mut [0; MAX_PACKET]).is_ok()
    }

    /// Sends Alignment and TraceInfo; compression restarts.
    fn synchronise(&mut self) {
        self.send(Packet::Async);
        let waiting = (self.uncommitted > 0).then_some(self.uncommitted);
        self.send(Packet::TraceInfo(TraceInfo {
            info: Some(u32::from(self.options.cycles.is_some())),
            threshold: self.options.cycles,
            speculation: waiting,
            ..TraceInfo::default()
        }));
        self.registers = Registers::default();
        self.returns.clear();
        self.calls_count = false;
        self.time = 0;
        (self.packets, self.since) = (0, 0);
    }

    /// Counts P0 elements that were sent, which commits those above MAXSPEC.
    fn sent(&mut self, count: u32) {
        self.uncommitted = (self.uncommitted + count).min(self.config().max_speculation);
    }

    fn atom(&mut self, taken: bool) {
        let (bits, count) = self.atoms;
        self.atoms = (bits | u64::from(taken) << count, count + 1);
    }

    /// Sends the longest packet that the oldest outcomes can form.
    fn flush_some(&mut self) {
        let (bits, count) = self.atoms;
        let longest = (1..=count.min(MOST))
            .rev()
            .find_map(|len| Atoms::new(len as u8, bits as u32 & ((1 << len) - 1)));
        if let Some(atoms) = longest {
            let len = u32::from(atoms.len());
            self.atoms = (bits >> len, count - len);
            self.send(Packet::Atoms(atoms));
            self.sent(len);
        }
    }

    /// Sends all outcomes that have accumulated.
    fn flush(&mut self) {
        while self.atoms.1 > 0 {
            self.flush_some();
        }
    }

    fn commit(&mut self) {
        if self.uncommitted > 0 {
            self.send(Packet::Commit(self.uncommitted));
            self.uncommitted = 0;
        }
    }
}
