//! A model of an ETMv4 trace unit.

use crate::program::{Code, Does, Program};
use crate::walk::{Executed, Step, is_thumb};
use fastrand::Rng;
use hartrace_arm_isa::Isa;
use hartrace_etmv4::{
    Address, Atoms, Cancel, Config, Context, CycleCount, Exception, Form, Headers, Is, MAX_PACKET,
    Packet, Return, Timestamp, TraceInfo,
};

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

/// Turns a walk into trace.
pub fn encode(
    config: &Config,
    options: &Options,
    program: &Program,
    start: usize,
    steps: &[Step],
    rng: &mut Rng,
) -> Vec<u8> {
    let mut unit = Unit {
        headers: Headers::new(config),
        options: *options,
        bytes: Vec::new(),
        packets: 0,
        atoms: Vec::new(),
        registers: [(0, Is::Is0); 3],
        returns: Vec::new(),
        calls_count: false,
        target: None,
        returned: false,
        time: 0,
        uncommitted: 0,
        rng,
    };
    unit.synchronise();
    unit.send(Packet::TraceOn);
    unit.address_with_context(&program.code[start], 1);
    for step in steps {
        match *step {
            Step::Executed(executed) => unit.executed(program, executed),
            Step::Exception { before, number } => {
                unit.exception(program, &program.code[before], number);
            }
            Step::Time(time) => unit.timestamp(time),
        }
    }
    unit.flush();
    unit.commit();
    unit.bytes
}

struct Unit<'r> {
    headers: Headers,
    options: Options,
    bytes: Vec<u8>,
    packets: usize,
    /// Outcomes that are not sent yet.
    atoms: Vec<bool>,
    registers: [(u64, Is); 3],
    returns: Vec<(u64, Isa)>,
    /// An address was sent since the last TraceInfo.
    calls_count: bool,
    /// Where an indirect branch went, if that is not sent yet.
    target: Option<Code>,
    /// The last branch went where the return stack says. A synchronisation would empty it before
    /// that is used.
    returned: bool,
    time: u64,
    /// P0 elements that are not committed.
    uncommitted: u32,
    rng: &'r mut Rng,
}

impl Unit<'_> {
    fn config(&self) -> Config {
        *self.headers.config()
    }

    fn send(&mut self, packet: Packet) {
        let mut bytes = [0; MAX_PACKET];
        let len = packet.emit(&self.headers, &mut bytes);
        let len = len.unwrap_or_else(|error| panic!("{packet:?}: {error}"));
        self.bytes.extend_from_slice(&bytes[..len]);
        self.packets += 1;
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
        self.registers = [(0, Is::Is0); 3];
        self.returns.clear();
        self.calls_count = false;
        self.time = 0;
    }

    /// P0 elements that were sent: those above MAXSPEC are committed by that.
    fn sent(&mut self, count: u32) {
        self.uncommitted = (self.uncommitted + count).min(self.config().max_speculation);
    }

    /// Outcomes that have gathered.
    fn flush(&mut self) {
        while !self.atoms.is_empty() {
            let longest = (1..=self.atoms.len().min(24)).rev().find_map(|len| {
                let bits = self.atoms[..len].iter().rev().fold(0, |b, e| b << 1 | u32::from(*e));
                Atoms::new(len as u8, bits)
            });
            let atoms = longest.expect("a single one always has a packet");
            self.atoms.drain(..usize::from(atoms.len()));
            self.send(Packet::Atoms(atoms));
            self.sent(atoms.len().into());
        }
    }

    fn commit(&mut self) {
        if self.uncommitted > 0 {
            self.send(Packet::Commit(self.uncommitted));
            self.uncommitted = 0;
        }
    }

    fn is(code: &Code) -> Is {
        if is_thumb(code.isa) { Is::Is1 } else { Is::Is0 }
    }

    /// Any form that says it; mostly the shortest.
    fn form(&mut self, code: &Code) -> Address {
        let (address, is) = (code.address, Self::is(code));
        let wide = code.isa == Isa::A64;
        let last = self.registers[0].0;
        let shift = if is == Is::Is0 { 2 } else { 1 };
        let equal_above = |bits: u32| last >> bits == address >> bits;
        let mut forms = Vec::new();
        if let Some(number) = self.registers.iter().position(|held| *held == (address, is)) {
            forms.push(Address { form: Form::Match(number as u8), is: Is::Is0, value: 0 });
        }
        for (two, bits) in [(false, 7 + shift), (true, 15 + shift)] {
            if equal_above(bits) {
                let value = address & ((1 << bits) - 1);
                forms.push(Address { form: Form::Short { two }, is, value });
            }
        }
        if !wide || equal_above(32) {
            forms.push(Address { form: Form::Long32, is, value: address & 0xffff_ffff });
        }
        if wide {
            forms.push(Address { form: Form::Long64, is, value: address });
        }
        let chosen = if self.rng.u8(0..4) == 0 { self.rng.usize(0..forms.len()) } else { 0 };
        forms[chosen]
    }

    fn moved(&mut self, code: &Code) {
        let [a, b, _] = self.registers;
        self.registers = [(code.address, Self::is(code)), a, b];
        self.calls_count = true;
    }

    fn address(&mut self, code: &Code) {
        let form = self.form(code);
        self.send(Packet::Address(form));
        self.moved(code);
    }

    fn context(code: &Code, el: u8) -> Context {
        Context { el, sf: code.isa == Isa::A64, ns: true, ..Context::default() }
    }

    fn address_with_context(&mut self, code: &Code, el: u8) {
        let form = if code.isa == Isa::A64 { Form::Long64 } else { Form::Long32 };
        let address = Address { form, is: Self::is(code), value: code.address };
        self.send(Packet::AddressContext(address, Self::context(code, el)));
        self.moved(code);
    }

    /// The target of the branch before, which can only wait for what comes next.
    fn tell_target(&mut self) {
        if let Some(code) = self.target.take() {
            self.flush();
            self.address(&code);
        }
    }

    fn executed(&mut self, program: &Program, executed: Executed) {
        self.tell_target();
        if !program.is_traced(executed.number) {
            return;
        }
        let code = program.code[executed.number];
        let next = program.code[executed.next];
        if self.options.speculate {
            self.speculate();
        }
        self.atoms.push(executed.taken);
        let link = matches!(code.does, Does::Branch { link: true, .. } | Does::Jump { link: true });
        let mut told = !executed.taken;
        self.returned = false;
        match code.does {
            Does::Jump { .. } | Does::Return | Does::ExceptionReturn if executed.taken => {
                // A call pushes before it would pop, so that its target is always told.
                let hit = !link
                    && !self.options.branch_broadcast
                    && self.returns.last() == Some(&(next.address, next.isa));
                if hit {
                    self.returns.pop();
                    self.returned = true;
                    told = true;
                }
            }
            _ => told |= !self.options.branch_broadcast,
        }
        if link && executed.taken && self.calls_count && self.config().return_stack {
            self.returns.push((code.address + u64::from(code.size), code.isa));
            if self.returns.len() > self.options.return_depth {
                self.returns.remove(0);
            }
        }
        if code.does == Does::ExceptionReturn {
            self.flush();
            if !told {
                self.address_with_context(&next, 0);
                told = true;
            }
            self.send(Packet::ExceptionReturn);
        }
        if !told {
            self.flush();
            self.target = Some(next);
        }
        if self.atoms.len() > self.rng.usize(0..40) {
            self.flush();
        }
        if self.target.is_none() {
            self.now_and_then();
        }
    }

    /// What can come between instructions.
    fn now_and_then(&mut self) {
        if self.options.cycles.is_some() && self.rng.u8(0..4) == 0 {
            self.flush();
            self.cycle_count();
        }
        if self.config().max_speculation > 0 && self.rng.u8(0..6) == 0 {
            self.flush();
            self.commit();
        }
        if self.packets > self.options.period && !self.returned {
            self.flush();
            self.packets = 0;
            self.synchronise();
        }
        if self.rng.u8(0..50) == 0 {
            self.flush();
            let event = self.rng.u8(0..4);
            self.send(Packet::Event(1 << event));
        }
    }

    fn cycle_count(&mut self) {
        let config = self.config();
        let waiting = self.uncommitted;
        let count = match self.rng.u8(0..4) {
            0 if waiting == 0 || config.commopt => CycleCount::F1 {
                commit: (!config.commopt).then_some(0),
                count: self.rng.bool().then(|| self.rng.u32(0..1 << 20)),
            },
            1 if config.commopt || (1..5).contains(&waiting) => {
                let commit = if config.commopt { 0 } else { waiting as u8 - 1 };
                CycleCount::F3 { commit, count: self.rng.u8(0..4) }
            }
            2 if config.commopt || (1..17).contains(&waiting) => {
                let commit = if config.commopt { 0 } else { waiting as u8 - 1 };
                CycleCount::F2 { far: false, commit, count: self.rng.u8(0..16) }
            }
            _ => CycleCount::F1 {
                commit: (!config.commopt).then_some(waiting),
                count: Some(self.rng.u32(0..300)),
            },
        };
        self.uncommitted -= count.commits(&config).min(self.uncommitted);
        self.send(Packet::CycleCount(count));
    }

    /// Atoms, addresses and all, of a path that was not gone after all.
    fn speculate(&mut self) {
        let room = self.config().max_speculation.saturating_sub(self.uncommitted);
        if self.rng.u8(0..8) > 0 || room < 30 {
            return;
        }
        self.flush();
        let count = self.rng.u32(1..6);
        for _ in 0..count {
            let bits = self.rng.u32(0..2);
            self.send(Packet::Atoms(Atoms::new(1, bits).expect("one")));
            if self.rng.bool() {
                let value = self.rng.u64(0..1 << 40) & !3;
                let address = Address { form: Form::Long64, is: Is::Is0, value };
                self.send(Packet::Address(address));
                let [a, b, _] = self.registers;
                self.registers = [(value, Is::Is0), a, b];
            }
        }
        // The registers keep what was sent, whatever becomes of it.
        self.send(Packet::Cancel(Cancel::F1 { count, mispredict: false }));
    }

    fn exception(&mut self, program: &Program, before: &Code, number: u16) {
        if !self.options.combine {
            self.tell_target();
        }
        self.flush();
        // If the branch before went to the return address, that is told only once.
        let returns = match self.target.take() {
            Some(_) => Return::Target,
            None => Return::Address,
        };
        self.send(Packet::Exception(Exception { number, returns, fault_pending: false }));
        self.address(before);
        self.sent(1);
        self.address_with_context(&program.code[program.handler], 1);
    }

    fn timestamp(&mut self, time: u64) {
        if self.target.is_some() {
            self.tell_target();
        }
        self.flush();
        let changed = 64 - (time ^ self.time).leading_zeros().min(63);
        let bits = match changed.div_ceil(7) * 7 {
            bits @ ..=56 => bits as u8,
            _ => 64,
        };
        let value = if bits == 64 { time } else { time & ((1 << bits) - 1) };
        let cycles = self.options.cycles.is_some().then(|| self.rng.u32(0..1 << 12));
        self.send(Packet::Timestamp(Timestamp { value, bits, cycles }));
        self.time = time;
    }
}
