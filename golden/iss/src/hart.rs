//! The hart and its main loop.

use crate::clint::Clint;
use crate::config::{Clock, Environment, HartConfig, Misaligned, Xlen};
use crate::csr::{Csrs, interrupt, status};
use crate::decode::decode;
use crate::host::Host;
use crate::linux::Linux;
use crate::memory::{Memory, PAGE};
use crate::mmu::{Purpose, Tlb};
use crate::op::{Code, Op};
use crate::step::{Retire, Step, Trap};
use crate::trap::cause;
use hartrace_ingress::{IType, Privilege};
use std::fmt;
use std::io::Write;

/// Privilege level.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(pub(crate) u8);

impl Level {
    pub(crate) const U: Self = Self(0);
    pub(crate) const S: Self = Self(1);
    pub(crate) const M: Self = Self(3);
}

/// Why an instruction does not simply go on with the next one. The addresses are where to go on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It does not retire.
    Trap { cause: u64, tval: u64 },
    /// It retires, and interrupts or devices may have changed.
    Look(u64),
    /// They may have changed before it; it has not executed yet.
    LookFirst,
    /// It retires and jumps to itself.
    Spin(u64),
    /// It retires and waits for an interrupt.
    Wait(u64),
}

impl Stop {
    pub(crate) fn illegal(op: Op) -> Self {
        Self::Trap { cause: cause::ILLEGAL, tval: op.encoding.into() }
    }
}

/// Why [`Hart::run`] returned.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Exit {
    /// The program ended with this code.
    Exited(i32),
    /// So many steps were done; run again to go on.
    Limit,
    /// The program waits or jumps to itself, and no interrupt can change that.
    Stuck {
        /// Where.
        pc: u64,
    },
    /// An instruction this hart does not have, and no handler for it.
    Unsupported {
        /// Where.
        pc: u64,
        /// The instruction.
        encoding: u32,
    },
    /// Another exception that has no handler.
    Fault {
        /// Where.
        pc: u64,
        /// Exception code.
        cause: u64,
        /// Trap value.
        tval: u64,
    },
}

/// The registers of a hart.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    /// Address of the next instruction.
    pub pc: u64,
    /// `x0` to `x31`; those of RV32 are sign-extended.
    pub x: [u64; 32],
    /// `f0` to `f31`; singles are boxed.
    pub f: [u64; 32],
    /// `fcsr`.
    pub fcsr: u32,
    /// Privilege level.
    pub privilege: Privilege,
}

/// How a stretch of instructions ended.
enum End {
    Budget,
    Look,
    Trap,
    Spin,
    Wait,
    Exit(Exit),
}

/// One RISC-V hart with its memory and its environment.
pub struct Hart {
    /// Registers, and behind them the place for results nobody wants.
    pub(crate) x: [u64; 64],
    pub(crate) f: [u64; 32],
    pub(crate) pc: u64,
    pub(crate) level: Level,
    pub(crate) csr: Csrs,
    pub(crate) xlen: Xlen,
    /// 64 - XLEN.
    pub(crate) narrow: u32,
    /// What an address may have.
    pub(crate) mask: u64,
    pub(crate) memory: Memory,
    pub(crate) tlb: Tlb,
    /// Virtual page whose decoded page is `fetch_ops`.
    pub(crate) fetch_page: u64,
    fetch_ops: usize,
    pub(crate) data_is_physical: bool,
    pub(crate) misaligned_traps: bool,
    /// Instructions that retired; traps not counted.
    pub(crate) retired: u64,
    /// The last branch was taken.
    pub(crate) taken: bool,
    pub(crate) reservation: Option<u64>,
    pub(crate) clint: Clint,
    clock: Clock,
    /// `mtime` and the instruction count when it was last set.
    time_base: (u64, u64),
    round_left: u64,
    /// A device register was stored to.
    pub(crate) device_changed: bool,
    /// `tohost` was stored to.
    pub(crate) host_called: bool,
    pub(crate) host: Host,
    pub(crate) linux: Option<Linux>,
    pub(crate) console: Box<dyn Write + Send>,
    pub(crate) config: HartConfig,
    /// The last exception and its instruction, in case there is no handler.
    last: (Trap, u32),
}

impl fmt::Debug for Hart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hart")
            .field("registers", &self.registers())
            .field("retired", &self.retired)
            .finish_non_exhaustive()
    }
}

impl Hart {
    /// A hart in reset, in M mode, with zeros in its memory. Its console goes nowhere.
    pub fn new(config: HartConfig) -> Self {
        let mut memory = Memory::default();
        if !matches!(config.environment, Environment::Linux { .. }) {
            config.memory.iter().for_each(|&range| memory.add(range));
        }
        let rv32 = config.xlen == Xlen::Rv32;
        let mask = if rv32 { 0xffff_ffff } else { u64::MAX };
        Self {
            x: [0; 64],
            f: [0; 32],
            pc: config.reset_pc & mask,
            level: Level::M,
            csr: Csrs::default(),
            xlen: config.xlen,
            narrow: if rv32 { 32 } else { 0 },
            mask,
            memory,
            tlb: Tlb::new(),
            fetch_page: u64::MAX,
            fetch_ops: 0,
            data_is_physical: true,
            misaligned_traps: config.misaligned == Misaligned::Trap,
            retired: 0,
            taken: false,
            reservation: None,
            clint: Clint::new(match config.clock {
                Clock::Rounds { .. } => 0,
                Clock::Instructions(_) => u64::MAX,
            }),
            clock: config.clock,
            time_base: (0, 0),
            round_left: match config.clock {
                Clock::Rounds { instructions, .. } => instructions.max(1),
                Clock::Instructions(_) => 0,
            },
            device_changed: false,
            host_called: false,
            host: Host::new(&config.environment),
            linux: None,
            console: Box::new(std::io::sink()),
            config,
            last: (Trap { cause: 0, interrupt: false, tval: 0, epc: 0 }, 0),
        }
    }

    /// Where the program's output goes. A failing write is ignored.
    pub fn set_console(&mut self, console: Box<dyn Write + Send>) {
        self.console = console;
    }

    /// The registers as they are now.
    pub fn registers(&self) -> Registers {
        let mut x = [0; 32];
        x.copy_from_slice(&self.x[..32]);
        Registers {
            pc: self.pc,
            x,
            f: self.f,
            fcsr: u32::from(self.csr.frm) << 5 | u32::from(self.csr.fflags),
            privilege: Privilege(self.level.0),
        }
    }

    /// Sets register `x[number]`; `x0` and numbers above 31 are ignored.
    pub fn set_register(&mut self, number: u8, value: u64) {
        if (1..32).contains(&number) {
            self.set(number, self.extend(value));
        }
    }

    /// Continues at `pc`.
    pub fn set_pc(&mut self, pc: u64) {
        self.pc = pc & self.mask & !1;
    }

    /// Copies `bytes` to physical memory; `false` if there is not enough.
    pub fn write_memory(&mut self, address: u64, bytes: &[u8]) -> bool {
        self.memory.write(address, bytes)
    }

    /// Bytes of physical memory, if there are so many.
    pub fn read_memory(&self, address: u64, size: u64) -> Option<&[u8]> {
        self.memory.read(address, size)
    }

    /// Instructions retired so far, as `minstret` counts them.
    pub fn retired(&self) -> u64 {
        self.retired
    }

    /// Executes until the program ends, at most `limit` steps: instructions and traps.
    pub fn run<S: Retire>(&mut self, limit: u64, sink: &mut S) -> Exit {
        let mut left = limit;
        loop {
            if let Some(exit) = self.serve() {
                return exit;
            }
            if left == 0 {
                return Exit::Limit;
            }
            self.device_changed = false;
            if let Some(cause) = self.next_interrupt() {
                let (pc, privilege) = (self.pc, Privilege(self.level.0));
                let trap = Some(self.take_trap(cause, true, 0));
                self.round_left = 0;
                left -= 1;
                sink.retire(&Step {
                    kind: IType::Interrupt,
                    retires: false,
                    next_pc: self.pc,
                    trap,
                    privilege,
                    ..Step::of(pc, None)
                });
                continue;
            }
            let (pc, before) = (self.pc, self.retired);
            let end = self.stretch(left.min(self.until_event()), sink);
            let done = self.retired - before;
            left -= done;
            self.round_left = self.round_left.saturating_sub(done);
            match end {
                End::Budget | End::Look => {}
                End::Trap => {
                    left -= 1;
                    self.round_left = 0;
                }
                End::Spin if self.can_be_interrupted() => {}
                End::Spin => return Exit::Stuck { pc: self.pc },
                End::Wait => {
                    self.round_left = 0;
                    if !self.wait() {
                        return Exit::Stuck { pc };
                    }
                }
                End::Exit(exit) => return exit,
            }
        }
    }

    /// Time, and what the program wants from the host.
    fn serve(&mut self) -> Option<Exit> {
        match self.clock {
            Clock::Instructions(_) => {
                self.look_at_clock();
                if std::mem::take(&mut self.host_called) { self.serve_host() } else { None }
            }
            Clock::Rounds { instructions, ticks } if self.round_left == 0 => {
                self.round_left = instructions.max(1);
                self.clint.set_time(self.clint.time.wrapping_add(ticks));
                self.reservation = None;
                self.host_called = false;
                self.serve_host()
            }
            Clock::Rounds { .. } => None,
        }
    }

    /// Interrupts and the host are served at once.
    pub(crate) fn is_prompt(&self) -> bool {
        matches!(self.clock, Clock::Instructions(_))
    }

    /// Brings `mtime` up to date.
    pub(crate) fn look_at_clock(&mut self) {
        if let Clock::Instructions(per_tick) = self.clock {
            let (time, at) = self.time_base;
            self.clint.set_time(time.wrapping_add((self.retired - at) / per_tick.max(1)));
        }
    }

    /// A device register was written; it may have been `mtime`.
    pub(crate) fn time_was_set(&mut self) {
        self.time_base = (self.clint.time, self.retired);
    }

    fn timer_is_armed(&self) -> bool {
        self.csr.mie >> interrupt::MTI & 1 == 1 && self.clint.compare != u64::MAX
    }

    /// Instructions until something happens without the program's doing.
    fn until_event(&self) -> u64 {
        match self.clock {
            Clock::Rounds { .. } => self.round_left,
            Clock::Instructions(per_tick) => {
                let (time, at) = self.time_base;
                let ticks = self.clint.compare.saturating_sub(time);
                let due = ticks.saturating_mul(per_tick.max(1)).saturating_add(at);
                match due.saturating_sub(self.retired) {
                    left if left > 0 && self.timer_is_armed() => left,
                    // Never, or already pending but not enabled.
                    _ => u64::MAX,
                }
            }
        }
    }

    /// Whether a jump to itself can end.
    fn can_be_interrupted(&self) -> bool {
        let enabled = self.level < Level::M || self.csr.mstatus & status::MIE != 0;
        let enabled_now = self.pending() & self.csr.mie != 0 || self.timer_is_armed();
        self.host_called || enabled && enabled_now
    }

    /// Moves time to the next interrupt; `false` if there is none.
    fn wait(&mut self) -> bool {
        if self.pending() & self.csr.mie != 0 {
            return true;
        }
        if self.timer_is_armed() && self.is_prompt() {
            self.clint.set_time(self.clint.time.max(self.clint.compare));
            self.time_was_set();
        }
        self.timer_is_armed() || self.host_called
    }

    /// At most `budget` instructions, and one that stops.
    fn stretch<S: Retire>(&mut self, budget: u64, sink: &mut S) -> End {
        let end = self.retired.saturating_add(budget);
        while self.retired < end {
            let pc = self.pc;
            let stop = if pc / PAGE == self.fetch_page {
                match *self.memory.op(self.fetch_ops, pc) {
                    Op { code: Code::Undecoded, .. } => self.first_time(pc, sink),
                    op => self.perform(op, pc, sink),
                }
            } else {
                self.first_time(pc, sink)
            };
            if let Some(end) = stop {
                return end;
            }
        }
        End::Budget
    }

    /// An instruction that is not in the cache, or on another page than the one before.
    #[cold]
    #[inline(never)]
    fn first_time<S: Retire>(&mut self, pc: u64, sink: &mut S) -> Option<End> {
        match self.fetch(pc) {
            Ok(op) => self.perform(op, pc, sink),
            Err(stop) => Some(self.stopped(stop, Step::of(pc, None), sink)),
        }
    }

    /// Executes and reports one instruction.
    #[inline(always)]
    fn perform<S: Retire>(&mut self, op: Op, pc: u64, sink: &mut S) -> Option<End> {
        let privilege = Privilege(self.level.0);
        let access = if S::DETAIL { self.access_before(op) } else { None };
        match self.execute(op, pc) {
            Ok(next) => {
                self.pc = next;
                self.retired += 1;
                let mut step = Step { next_pc: next, privilege, ..Step::of(pc, Some(op)) };
                if op.kind == IType::NotTaken && self.taken {
                    step.kind = IType::Taken;
                }
                if S::DETAIL {
                    self.add_detail(op, access, &mut step);
                }
                sink.retire(&step);
                None
            }
            Err(stop) => {
                let mut step = Step { privilege, ..Step::of(pc, Some(op)) };
                if S::DETAIL && !matches!(stop, Stop::Trap { .. } | Stop::LookFirst) {
                    self.add_detail(op, access, &mut step);
                }
                Some(self.stopped(stop, step, sink))
            }
        }
    }

    /// An instruction that does not simply go on; reports it.
    #[cold]
    #[inline(never)]
    fn stopped<S: Retire>(&mut self, stop: Stop, mut step: Step, sink: &mut S) -> End {
        let (next, end) = match stop {
            Stop::Look(next) => (next, End::Look),
            Stop::Spin(next) => (next, End::Spin),
            Stop::Wait(next) => (next, End::Wait),
            Stop::LookFirst => return End::Look,
            Stop::Trap { cause, tval } => {
                if step.size == 0 {
                    step.privilege = Privilege(self.level.0);
                }
                return self.trapped(cause, tval, step, sink);
            }
        };
        self.pc = next;
        self.retired += 1;
        step.next_pc = next;
        sink.retire(&step);
        end
    }

    fn trapped<S: Retire>(&mut self, code: u64, tval: u64, mut step: Step, sink: &mut S) -> End {
        step.kind = IType::Exception;
        let calls = (8..=11).contains(&code);
        step.retires = calls || code == cause::BREAKPOINT;
        if self.linux.is_some() {
            step.trap = Some(Trap { cause: code, interrupt: false, tval, epc: step.pc });
            let exit = if calls { self.system_call() } else { Some(no_handler(&step)) };
            self.pc = step.pc.wrapping_add(if calls { 4 } else { 0 });
            step.next_pc = self.pc;
            sink.retire(&step);
            return exit.map_or(End::Trap, End::Exit);
        }
        let previous = self.last;
        let trap = self.take_trap(code, false, tval);
        self.last = (trap, step.encoding);
        (step.trap, step.next_pc) = (Some(trap), self.pc);
        sink.retire(&step);
        if self.pc != step.pc {
            return End::Trap;
        }
        // The first instruction of the handler traps: so it will for ever. What came before it is
        // what the program has no handler for.
        let (trap, encoding) = previous;
        End::Exit(no_handler(&Step { pc: trap.epc, encoding, trap: Some(trap), ..step }))
    }

    /// The instruction at `pc`, decoded and kept.
    fn fetch(&mut self, pc: u64) -> Result<Op, Stop> {
        let fault = |tval| Stop::Trap { cause: cause::FETCH_ACCESS, tval };
        let physical = self.translate(pc, Purpose::Fetch)?;
        let page = self.memory.code_page(physical).ok_or_else(|| fault(pc))?;
        (self.fetch_page, self.fetch_ops) = (pc / PAGE, page);
        let low = self.memory.load::<2>(physical).ok_or_else(|| fault(pc))?;
        if low & 3 != 3 {
            let op = decode(low as u32, self.xlen);
            self.memory.set_op(page, pc, op);
            return Ok(op);
        }
        let second = pc.wrapping_add(2) & self.mask;
        let crosses = second / PAGE != pc / PAGE;
        let physical = if crosses { self.translate(second, Purpose::Fetch)? } else { physical + 2 };
        let high = self.memory.load::<2>(physical).ok_or_else(|| fault(second))?;
        let op = decode((high << 16 | low) as u32, self.xlen);
        // The second half on another page may change on its own.
        if !crosses {
            self.memory.set_op(page, pc, op);
        }
        Ok(op)
    }
}

/// How a run ends at a trap that nobody handles.
fn no_handler(step: &Step) -> Exit {
    match step.trap {
        Some(Trap { cause: cause::ILLEGAL, .. }) => {
            Exit::Unsupported { pc: step.pc, encoding: step.encoding }
        }
        trap => {
            let (cause, tval) = trap.map_or((0, 0), |trap| (trap.cause, trap.tval));
            Exit::Fault { pc: step.pc, cause, tval }
        }
    }
}
