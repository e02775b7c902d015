//! A model of a PTM trace unit.

use crate::program::{Code, Does, Program};
use crate::walk::{Executed, Step};
use fastrand::Rng;
use hartrace_arm_isa::Isa as Set;
use hartrace_ptm::{
    Address, Atoms, Config, Exception, ISync, Isa, MAX_PACKET, Packet, Reason, Timestamp,
};

/// What the trace unit does, besides its configuration.
#[derive(Copy, Clone, Debug)]
pub struct Options {
    /// Every branch that is taken has its address sent.
    pub branch_broadcast: bool,
    /// Entries of the return stack.
    pub return_depth: usize,
    /// Packets from one synchronisation to the next.
    pub period: usize,
}

/// Turns a walk through A32 and T32 code into trace.
pub fn encode(
    config: &Config,
    options: &Options,
    program: &Program,
    start: usize,
    steps: &[Step],
    rng: &mut Rng,
) -> Vec<u8> {
    let first = program.code[start];
    let mut unit = Unit {
        config: *config,
        options: *options,
        bytes: Vec::new(),
        packets: 0,
        atoms: Vec::new(),
        last: (0, Isa::Arm),
        returns: Vec::new(),
        executed: None,
        time: 0,
        rng,
    };
    unit.synchronise(&first, Reason::TraceOn);
    for step in steps {
        match *step {
            Step::Executed(executed) => unit.executed(program, executed),
            Step::Exception { number, .. } => unit.exception(program, number),
            Step::Time(time) => unit.timestamp(time),
        }
    }
    unit.flush();
    unit.bytes
}

struct Unit<'r> {
    config: Config,
    options: Options,
    bytes: Vec<u8>,
    packets: usize,
    /// Outcomes that are not sent yet.
    atoms: Vec<bool>,
    /// The last address that was sent.
    last: (u32, Isa),
    returns: Vec<(u64, Set)>,
    /// The last instruction executed since the last waypoint.
    executed: Option<Code>,
    time: u64,
    rng: &'r mut Rng,
}

fn isa(code: &Code) -> Isa {
    if code.isa == Set::T32 { Isa::Thumb } else { Isa::Arm }
}

impl Unit<'_> {
    fn send(&mut self, packet: Packet) {
        let mut bytes = [0; MAX_PACKET];
        let len = packet.emit(&self.config, &mut bytes);
        let len = len.unwrap_or_else(|error| panic!("{packet:?}: {error}"));
        self.bytes.extend_from_slice(&bytes[..len]);
        self.packets += 1;
    }

    fn cycles(&mut self) -> Option<u32> {
        let bits = self.rng.u32(1..20);
        self.config.cycle_accurate.then(|| self.rng.u32(0..1 << bits))
    }

    fn synchronise(&mut self, code: &Code, reason: Reason) {
        self.send(Packet::Async { extra: 0 });
        let cycles = if reason == Reason::Periodic { None } else { self.cycles() };
        let id = (self.config.context_id_bytes > 0).then_some(7);
        self.send(Packet::ISync(ISync {
            address: code.address as u32,
            isa: isa(code),
            reason,
            ns: true,
            hyp: false,
            cycles,
            context_id: id,
        }));
        self.last = (code.address as u32, isa(code));
        self.returns.clear();
        self.packets = 0;
    }

    fn flush(&mut self) {
        while !self.atoms.is_empty() {
            if self.config.cycle_accurate {
                let taken = self.atoms.remove(0);
                let cycles = self.cycles().unwrap_or(0);
                self.send(Packet::Atom { taken, cycles });
                continue;
            }
            let len = self.atoms.len().min(5);
            let bits = self.atoms[..len].iter().rev().fold(0, |b, e| b << 1 | u8::from(*e));
            self.atoms.drain(..len);
            self.send(Packet::Atoms(Atoms::new(len as u8, bits).expect("one to five")));
        }
    }

    /// As few bytes as say it, or more.
    fn address(&mut self, code: &Code, marked: bool) -> Address {
        let (address, set) = (code.address as u32, isa(code));
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
        let chosen = if self.rng.u8(0..4) == 0 { self.rng.usize(0..forms.len()) } else { 0 };
        self.last = (address, set);
        forms[chosen]
    }

    fn executed(&mut self, program: &Program, executed: Executed) {
        let code = program.code[executed.number];
        if !program.is_traced(executed.number) {
            self.executed = Some(code);
            return;
        }
        self.executed = None;
        let next = program.code[executed.next];
        let link = matches!(code.does, Does::Branch { link: true, .. } | Does::Jump { link: true });
        let indirect =
            matches!(code.does, Does::Jump { .. } | Does::Return | Does::ExceptionReturn);
        let branch = code.does != Does::Isb;
        let hit = indirect
            && !link
            && !self.options.branch_broadcast
            && self.returns.last() == Some(&(next.address, next.isa));
        if hit {
            self.returns.pop();
        }
        let told = indirect && !hit || branch && self.options.branch_broadcast;
        if executed.taken && told {
            self.flush();
            let address = self.address(&next, false);
            let cycles = self.cycles();
            self.send(Packet::Branch { address, exception: None, cycles });
        } else {
            self.atoms.push(executed.taken);
        }
        if link && executed.taken && self.config.return_stack {
            self.returns.push((code.address + u64::from(code.size), code.isa));
            if self.returns.len() > self.options.return_depth {
                self.returns.remove(0);
            }
        }
        if self.atoms.len() > self.rng.usize(0..8) {
            self.flush();
        }
        if self.packets > self.options.period {
            self.flush();
            self.synchronise(&next, Reason::Periodic);
        }
    }

    fn exception(&mut self, program: &Program, number: u16) {
        self.flush();
        // What was executed since the last waypoint.
        if let Some(code) = self.executed.take() {
            let address = self.address(&code, false);
            self.send(Packet::Waypoint { address, alt_isa: None });
        }
        let handler = program.code[program.handler];
        let address = self.address(&handler, true);
        let cycles = self.cycles();
        let exception = Exception { number, ns: true, alt_isa: false, hyp: None };
        self.send(Packet::Branch { address, exception: Some(exception), cycles });
    }

    fn timestamp(&mut self, time: u64) {
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
}
