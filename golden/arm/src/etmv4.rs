//! A model of an ETMv4 trace unit.

mod address;
mod disturbances;
mod extras;

use crate::program::Program;
use crate::walk::{Ids, Step};
use crate::whims::Whims;
use address::Registers;
use disturbances::Unknown;
use fastrand::Rng;
use hartrace_etmv4::{
    Atoms, Config, Context, EmitError, Exception, Headers, MAX_PACKET, Packet, Return, Timestamp,
    TraceInfo,
};
use hartrace_isa::arm::{Executed, Kind, Place, Return as Returns};
use std::num::NonZeroU64;

/// What the trace unit does, besides its configuration.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Every branch that is taken has its address sent.
    pub branch_broadcast: bool,
    /// Cycles are counted, from this threshold on.
    pub cycles: Option<u32>,
    /// Entries of the return stack.
    pub return_depth: usize,
    /// Packets from one synchronisation to the next.
    pub period: usize,
    /// An exception at the target of a branch tells both at once.
    pub combine: bool,
    /// Elements are sent that are taken back. Only with MAXSPEC above 0.
    pub speculate: bool,
}

/// A unit with nothing special.
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

/// Registers of an ETMv4.2 that has timestamps and cycle counts, a return stack, contexts of 32 bits and
/// virtual contexts of 8, and does not speculate. TRCCONFIGR, which says what of it is in use, is 0.
pub const REGISTERS: hartrace_etmv4::Registers = hartrace_etmv4::Registers {
    configr: 0,
    idr0: 0x2800_02a0,
    idr1: 0x4100_f420,
    idr2: 0x1000_0488,
    idr8: 0,
    devarch: None,
};

/// Turns a walk into trace, with whims.
///
/// # Panics
///
/// If there is no packet for something: the walk cannot be.
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

/// Outcomes that a packet holds at most.
const MOST: u32 = 24;

/// A trace unit.
#[derive(Debug)]
pub struct Unit {
    headers: Headers,
    options: Options,
    whims: Whims,
    bytes: Vec<u8>,
    failed: Option<EmitError>,
    /// Nothing is traced: the next instruction starts it.
    off: bool,
    /// A decoder has to synchronise anew.
    lost: bool,
    ids: Ids,
    /// The last context that was sent.
    context: Context,
    /// Instructions that are not told one by one.
    unknown: Option<Unknown>,
    packets: usize,
    every: Option<NonZeroU64>,
    /// Instructions since the last synchronisation.
    since: u64,
    /// Outcomes that are not sent yet, the oldest in the lowest bit, and how many.
    atoms: (u64, u32),
    registers: Registers,
    returns: Vec<Place>,
    /// An address was sent since the last TraceInfo.
    calls_count: bool,
    /// Where a branch went, if that is not sent yet.
    target: Option<Place>,
    /// Where the core goes on, right behind an instruction whose outcome is told.
    next: Option<Place>,
    /// The last branch went where the return stack says. A synchronisation would empty it before
    /// that is used.
    returned: bool,
    time: u64,
    /// Cycles since the last count.
    cycles: u32,
    /// P0 elements that are not committed.
    uncommitted: u32,
}

impl Unit {
    /// With whims if there is `rng`; without, the fewest bytes are sent.
    pub fn new(config: &Config, options: &Options, rng: Option<Rng>) -> Self {
        Self {
            headers: Headers::new(config),
            options: *options,
            whims: Whims::new(rng),
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

    /// Synchronises after so many instructions as well, with the address: a decoder can start there.
    #[must_use]
    pub fn synchronise_every(self, instructions: Option<NonZeroU64>) -> Self {
        Self { every: instructions, ..self }
    }

    /// Tracing starts before the instruction at `place`. Without this it starts at the first that is
    /// executed.
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

    /// An instruction was executed.
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
                // A call pushes before it would pop, so that its target is always told.
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
            // An ETE leaves it to the decoder to see.
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
            // What the return stack or the branch tells is told anew.
            self.returned = false;
            self.target = None;
            self.address_with_context(executed.next, u8::from(self.whims.any()));
        }
    }

    /// An exception was taken, before the instruction at `returns`. What handles it is traced from
    /// `handler` on, or not at all.
    pub fn exception(&mut self, number: u16, returns: Place, handler: Option<Place>) {
        if self.off {
            return;
        }
        if !self.options.combine {
            self.tell_target();
        }
        self.flush();
        // If the branch before went to the return address, that is told only once.
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

    /// The core waits. An instruction takes one cycle without this.
    pub fn stall(&mut self, cycles: u32) {
        self.cycles = self.cycles.saturating_add(cycles);
    }

    /// Time, which grows.
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

    /// The trace, from start to end. An indirect branch at the end has its target told.
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

    /// Whether there is a packet for it.
    fn fits(&self, packet: &Packet) -> bool {
        packet.emit(&self.headers, &mut [0; MAX_PACKET]).is_ok()
    }

    /// Alignment and TraceInfo: compression starts anew.
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

    /// P0 elements that were sent: those above MAXSPEC are committed by that.
    fn sent(&mut self, count: u32) {
        self.uncommitted = (self.uncommitted + count).min(self.config().max_speculation);
    }

    fn atom(&mut self, taken: bool) {
        let (bits, count) = self.atoms;
        self.atoms = (bits | u64::from(taken) << count, count + 1);
    }

    /// The longest packet that the oldest outcomes make.
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

    /// Outcomes that have gathered.
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
