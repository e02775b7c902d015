//! The main loop: fetches, executes and reports.

use crate::decode::decode;
use crate::hart::Hart;
use crate::memory::PAGE;
use crate::op::{Code, Op};
use crate::privileged::cause;
use crate::step::{Retire, Step, Trap};
use crate::stop::{Exit, Last, Stop};
use crate::tlb::Purpose;
use hartrace_etrace::ingress::{IType, Privilege};

/// How a stretch of instructions ended.
enum End {
    Budget,
    Look,
    Trap,
    Spin,
    /// The program waits at the instruction at this address.
    Wait(u64),
    Exit(Exit),
}

impl Hart {
    /// Executes until the program ends, for at most `limit` steps (instructions and traps).
    pub fn run<S: Retire>(&mut self, limit: u64, sink: &mut S) -> Exit {
        let mut left = limit;
        loop {
            if let Some(exit) = self.serve() {
                return exit;
            }
            if left == 0 {
                return Exit::Limit;
            }
            if self.slice_left() == 0
                && let Some((step, exit)) = self.end_slice()
            {
                left -= 1;
                sink.retire(&step);
                if let Some(exit) = exit {
                    return exit;
                }
                continue;
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
            let before = self.retired;
            let end = self.stretch(left.min(self.until_event()).min(self.slice_left()), sink);
            let done = self.retired - before;
            left -= done;
            self.round_left = self.round_left.saturating_sub(done);
            match end {
                End::Budget | End::Look => {}
                End::Trap => {
                    left -= 1;
                    self.round_left = 0;
                }
                End::Spin if self.can_be_interrupted() || !self.is_alone() => {}
                End::Spin => return Exit::Stuck { pc: self.pc },
                End::Wait(pc) => {
                    self.round_left = 0;
                    if !self.wait() {
                        return Exit::Stuck { pc };
                    }
                }
                End::Exit(exit) => return exit,
            }
        }
    }

    /// Executes at most `budget` instructions, and stops earlier at one that requires it.
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

    /// Executes an instruction that is not in the cache, or on another page than the previous one.
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
                let context = self.context;
                let mut step = Step { next_pc: next, privilege, context, ..Step::of(pc, Some(op)) };
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
                let context = self.context;
                let mut step = Step { privilege, context, ..Step::of(pc, Some(op)) };
                if S::DETAIL && !matches!(stop, Stop::Trap { .. } | Stop::LookFirst) {
                    self.add_detail(op, access, &mut step);
                }
                Some(self.stopped(stop, step, sink))
            }
        }
    }

    /// Handles and reports an instruction after which execution does not simply continue.
    #[cold]
    #[inline(never)]
    fn stopped<S: Retire>(&mut self, stop: Stop, mut step: Step, sink: &mut S) -> End {
        let (next, end) = match stop {
            Stop::Look(next) => (next, End::Look),
            Stop::Spin(next) => (next, End::Spin),
            Stop::Wait(next) => (next, End::Wait(step.pc)),
            Stop::LookFirst => return End::Look,
            Stop::Trap { cause, tval } => {
                if step.size == 0 {
                    (step.privilege, step.context) = (Privilege(self.level.0), self.context);
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
        if self.process.is_some() {
            step.trap = Some(Trap { cause: code, interrupt: false, tval, epc: step.pc });
            let exit = if calls {
                self.called(step.pc)
            } else if self.deliver_fault(code, tval) {
                None
            } else {
                Some(no_handler(&step))
            };
            step.next_pc = self.pc;
            sink.retire(&step);
            return exit.map_or(End::Trap, End::Exit);
        }
        let trap = self.take_trap(code, false, tval);
        let this = Last { trap, encoding: step.encoding, retired: self.retired };
        let previous = self.last.replace(this).filter(|last| last.retired == self.retired);
        (step.trap, step.next_pc) = (Some(trap), self.pc);
        sink.retire(&step);
        if self.pc != step.pc || step.privilege.0 != self.level.0 {
            return End::Trap;
        }
        // The first instruction of the handler traps, and will do so for ever. The trap that led to
        // the handler, if nothing else has happened since, is the one without a handler.
        let Last { trap, encoding, .. } = previous.unwrap_or(this);
        End::Exit(no_handler(&Step { pc: trap.epc, encoding, trap: Some(trap), ..step }))
    }

    /// Executes the system call at `pc`, and continues after it, in a handler or with another thread.
    fn called(&mut self, pc: u64) -> Option<Exit> {
        let exit = self.system_call();
        let process = self.process.as_mut()?;
        let returned = process.signals.returned.take();
        self.pc = returned.unwrap_or(pc.wrapping_add(4) & self.mask);
        exit.or_else(|| self.after_call(pc)).or_else(|| self.deliver_signals())
    }

    /// Fetches and decodes the instruction at `pc`, and stores it in the cache.
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
        // The second half, on another page, may change independently.
        if !crosses {
            self.memory.set_op(page, pc, op);
        }
        Ok(op)
    }
}

/// Exit of a run at a trap without a handler.
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
