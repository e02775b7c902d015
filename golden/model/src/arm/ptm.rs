//! A model of a PTM trace unit.

use crate::arm::choices::Choices;
use crate::arm::program::Program;
use crate::arm::walk::{Ids, Step};
use fastrand::Rng;
use hartrace_isa::arm::{Executed, Isa as Set, Kind, Place, Return};
use hartrace_ptm::{
    Address, Atoms, Config, EmitError, Exception, ISync, Isa, MAX_PACKET, Packet, Reason, Timestamp,
};
use std::num::NonZeroU64;

/// Behaviour of the trace unit, besides its configuration.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Whether to send the address of every branch that is taken.
    pub branch_broadcast: bool,
    /// Entries of the return stack.
    pub return_depth: usize,
    /// Number of packets from one synchronisation to the next.
    pub period: usize,
}

/// A unit without special behaviour.
impl Default for Options {
    fn default() -> Self {
        Self { branch_broadcast: false, return_depth: 16, period: 100 }
    }
}

/// Registers of a PTM 1.1 that has a return stack and virtual contexts, and sends timestamps of 64 bits.
pub const REGISTERS: hartrace_ptm::Registers =
    hartrace_ptm::Registers { cr: 0x1000_0000, idr: 0x411c_f312, ccer: 0x30c0_0000 };

/// Encodes a walk through A32 and T32 code as trace, with whims.
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
            Step::Exception { number, .. } => {
                unit.exception(number, Some(program.place(program.handler)));
            }
            Step::Time(time) => unit.timestamp(time),
            Step::Stall(cycles) => unit.stall(cycles),
            Step::Context(ids) => unit.context(ids),
            Step::Overflow => unit.overflow(),
            // PTM has no equivalent.
            Step::Unknown { .. } => {}
        }
    }
    unit.finish().unwrap_or_else(|error| panic!("{error}"))
}

/// Where exceptions go that are not traced: the high vectors.
const VECTORS: Place = Place { address: 0xffff_0000, isa: Set::A32 };

/// A trace unit.
#[derive(Debug)]
pub struct Unit {
    config: Config,
    options: Options,
    whims: Choices,
    bytes: Vec<u8>,
    failed: Option<EmitError>,
    /// Tracing is off: the next instruction starts it, for this reason.
    off: Option<Reason>,
    ids: Ids,
    packets: usize,
    every: Option<NonZeroU64>,
    /// Instructions since the last synchronisation.
    since: u64,
    /// Outcomes that have not been sent yet, with the cycles up to each.
    atoms: Vec<(bool, u32)>,
    /// Cycles since the last outcome, or since they were last reported otherwise.
    cycles: u32,
    /// The last address that was sent.
    last: (u32, Isa),
    returns: Vec<Place>,
    /// The last instruction executed since the last waypoint.
    executed: Option<Place>,
    time: u64,
}

fn isa(place: Place) -> Isa {
    if place.isa == Set::T32 { Isa::Thumb } else { Isa::Arm }
}

impl Unit {
    /// Creates a unit: with whims if `rng` is given; otherwise it sends the fewest bytes.
    pub fn new(config: &Config, options: &Options, rng: Option<Rng>) -> Self {
        Self {
            config: *config,
            options: *options,
            whims: Choices::new(rng),
            bytes: Vec::new(),
            failed: None,
            off: Some(Reason::TraceOn),
            ids: Ids::default(),
            packets: 0,
            every: None,
            since: 0,
            atoms: Vec::new(),
            cycles: 0,
            last: (0, Isa::Arm),
            returns: Vec::new(),
            executed: None,
            time: 0,
        }
    }

    /// Also synchronises after this number of instructions.
    #[must_use]
    pub fn synchronise_every(self, instructions: Option<NonZeroU64>) -> Self {
        Self { every: instructions, ..self }
    }

    /// Starts tracing before the instruction at `place`. Without this call, tracing starts at the
    /// first instruction that is executed.
    pub fn start(&mut self, place: Place) {
        let reason = self.off.take().unwrap_or(Reason::TraceOn);
        self.synchronise(place, reason);
    }

    /// Traces an instruction that was executed.
    pub fn executed(&mut self, executed: &Executed) {
        let here = Place { address: executed.address, isa: executed.isa };
        if self.off.is_some() {
            self.start(here);
        }
        self.since += 1;
        self.cycles = self.cycles.saturating_add(1);
        let insn = executed.insn;
        if insn.kind == Kind::Other {
            self.executed = Some(here);
            return;
        }
        self.executed = None;
        let indirect = insn.kind == Kind::Indirect;
        let branch = indirect || matches!(insn.kind, Kind::Direct { .. });
        let hit = indirect
            && executed.taken
            && !insn.link
            && !self.options.branch_broadcast
            && self.returns.last() == Some(&executed.next);
        if hit {
            self.returns.pop();
        }
        let told = indirect && !hit || branch && self.options.branch_broadcast;
        if executed.taken && told {
            self.flush();
            let address = self.address(executed.next, false);
            let cycles = self.cycles();
            self.send(Packet::Branch { address, exception: None, cycles });
        } else {
            let cycles = std::mem::take(&mut self.cycles);
            self.atoms.push((executed.taken, cycles));
        }
        if insn.link && executed.taken && self.config.return_stack {
            self.returns.push(Place { address: executed.end(), isa: executed.isa });
            if self.returns.len() > self.options.return_depth {
                self.returns.remove(0);
            }
        }
        if insn.returns == Return::Eret {
            self.flush();
            self.send(Packet::ExceptionReturn);
        }
        let whim = self.whims.any() && self.atoms.len() > self.whims.below(8) as usize;
        if self.atoms.len() >= 5 || whim {
            self.flush();
        }
        let due = self.every.is_some_and(|every| self.since >= every.get());
        if self.packets > self.options.period || due {
            self.flush();
            self.synchronise(executed.next, Reason::Periodic);
        }
    }

    /// Traces an exception. Its handler is traced from `handler` on, or not at all.
    pub fn exception(&mut self, number: u16, handler: Option<Place>) {
        if self.off.is_some() {
            return;
        }
        self.flush();
        // The instructions since the last waypoint.
        if let Some(place) = self.executed.take() {
            let address = self.address(place, false);
            self.send(Packet::Waypoint { address, alt_isa: None });
        }
        let address = self.address(handler.unwrap_or(VECTORS), true);
        let cycles = self.cycles();
        let exception = Exception { number, ns: true, alt_isa: false, hyp: None };
        self.send(Packet::Branch { address, exception: Some(exception), cycles });
        self.off = handler.is_none().then_some(Reason::TraceOn);
    }

    /// Switches to another process.
    pub fn context(&mut self, ids: Ids) {
        self.ids = ids;
        if self.off.is_some() {
            return;
        }
        self.flush();
        if self.config.context_id_bytes > 0 {
            self.send(Packet::ContextId(ids.context));
        }
        self.send(Packet::Vmid(ids.vmid as u8));
    }

    /// Loses what was executed since the last outcome.
    pub fn overflow(&mut self) {
        self.flush();
        self.executed = None;
        self.off = Some(Reason::Overflow);
    }

    /// Lets the core wait. Otherwise, an instruction uses one cycle.
    pub fn stall(&mut self, cycles: u32) {
        self.cycles = self.cycles.saturating_add(cycles);
    }

    /// Sets the time, which never decreases.
    pub fn timestamp(&mut self, time: u64) {
        self.flush();
        let width = if self.config.timestamp_64 { 64 } else { 48 };
        let time = if width == 64 { time } else { time & ((1 << 48) - 1) };
        let changed = 64 - (time ^ self.time).leading_zeros().min(63);
        let bits = match changed.div_ceil(7) * 7 {
            bits if bits < width && bits <= 56 => bits,
            _ => width,
        };
        let value = if bits == 64 { time } else { time & ((1 << bits) - 1) };
        let cycles = self.cycles();
        self.send(Packet::Timestamp(Timestamp {
            value,
            bits: bits as u8,
            clock_changed: false,
            cycles,
        }));
        self.time = time;
    }

    /// Returns the trace, from start to end.
    pub fn finish(mut self) -> Result<Vec<u8>, EmitError> {
        self.flush();
        self.failed.map_or(Ok(self.bytes), Err)
    }

    fn send(&mut self, packet: Packet) {
        let mut bytes = [0; MAX_PACKET];
        match packet.emit(&self.config, &mut bytes) {
            Ok(len) => self.bytes.extend_from_slice(&bytes[..len]),
            Err(error) => self.failed = self.failed.or(Some(error)),
        }
        self.packets += 1;
    }

    fn cycles(&mut self) -> Option<u32> {
        let cycles = std::mem::take(&mut self.cycles);
        self.config.cycle_accurate.then_some(cycles)
    }

    fn synchronise(&mut self, place: Place, reason: Reason) {
        self.send(Packet::Async { extra: 0 });
        let cycles = if reason == Reason::Periodic { None } else { self.cycles() };
        let id = (self.config.context_id_bytes > 0).then_some(self.ids.context);
        self.send(Packet::ISync(ISync {
            address: place.address as u32,
            isa: isa(place),
            reason,
            ns: true,
            hyp: false,
            cycles,
            context_id: id,
        }));
        self.last = (place.address as u32, isa(place));
        self.returns.clear();
        (self.packets, self.since) = (0, 0);
    }

    fn flush(&mut self) {
        while !self.atoms.is_empty() {
            if self.config.cycle_accurate {
                let (taken, cycles) = self.atoms.remove(0);
                self.send(Packet::Atom { taken, cycles });
                continue;
            }
            let len = self.atoms.len().min(5);
            let bits = self.atoms[..len].iter().rev().fold(0, |b, e| b << 1 | u8::from(e.0));
            self.atoms.drain(..len);
            if let Some(atoms) = Atoms::new(len as u8, bits) {
                self.send(Packet::Atoms(atoms));
            }
        }
    }

    /// The address in as few bytes as possible, or in more.
    fn address(&mut self, place: Place, marked: bool) -> Address {
        let (address, set) = (place.address as u32, isa(place));
        let shift = if set == Isa::Arm { 2 } else { 1 };
        let mut forms = Vec::new();
        if set == self.last.1 {
            for (bytes, bits) in [(1u8, 6u32), (2, 12), (3, 19), (4, 26)] {
                let equal = self.last.0 >> (bits + shift) == address >> (bits + shift);
                // A single byte has no room for the mark.
                if equal && !(marked && bytes == 1) {
                    let raw = (address >> shift) & ((1 << bits) - 1);
                    forms.push(Address { raw, bytes, isa: None });
                }
            }
        }
        forms.push(Address { raw: address >> shift, bytes: 5, isa: Some(set) });
        self.last = (address, set);
        self.whims.choose(&forms)
    }
}
