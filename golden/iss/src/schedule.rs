//! Which thread of a Linux process runs: it changes when one waits, yields or ends, and after a fixed number of
//! instructions. So every run of a program is the same.

use crate::abi::errno;
use crate::hart::{Hart, Registers};
use crate::privileged::interrupt;
use crate::process::Process;
use crate::step::{Step, Trap};
use crate::stop::Exit;
use crate::threads::{INTERRUPTED, Saved, Then, Wait};
use hartrace_etrace::ingress::{IType, Privilege};

/// Threads besides the one that runs.
#[cfg(unix)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    None,
    /// All of them wait.
    Wait,
    /// One of them can run.
    Ready,
}

impl Hart {
    /// The registers of the current thread, with the address at which it continues.
    pub(crate) fn save(&self, pc: u64) -> Saved {
        let Registers { x, f, .. } = self.registers();
        Saved { pc, x, f, fcsr: (self.csr.frm, self.csr.fflags) }
    }

    /// Instructions until the kernel looks whether another thread should run.
    pub(crate) fn slice_left(&self) -> u64 {
        match &self.process {
            Some(process) if !process.threads.is_single() || process.signals.timer.is_some() => {
                process.threads.slice_left(self.retired)
            }
            _ => u64::MAX,
        }
    }

    /// What other threads do while the one that runs waits for a file.
    #[cfg(unix)]
    pub(crate) fn others(&self) -> Others {
        match &self.process {
            Some(process) if process.threads.has_ready() => Others::Ready,
            Some(process) if !process.threads.is_single() || process.signals.timer.is_some() => {
                Others::Wait
            }
            _ => Others::None,
        }
    }

    /// Whether nothing happens but what the thread that runs does itself.
    pub(crate) fn is_alone(&self) -> bool {
        self.process
            .as_ref()
            .is_none_or(|process| process.threads.is_single() && process.signals.timer.is_none())
    }

    /// Ends the slice of the current thread. If another one is ready, or it has to handle a signal, the timer interrupt
    /// that leads there is returned, with the end of the program if the signal ends it.
    pub(crate) fn end_slice(&mut self) -> Option<(Step, Option<Exit>)> {
        self.look_at_clock();
        self.look_at_timer();
        let (now, retired) = (self.clint.time, self.retired);
        let threads = &mut self.process.as_mut()?.threads;
        threads.look_at_time(now);
        threads.renew(retired);
        let others = threads.has_ready();
        if !others && !self.has_signal() {
            return None;
        }
        let (pc, context) = (self.pc, self.context);
        if others {
            let saved = self.save(pc);
            self.process.as_mut()?.threads.put_back(saved);
            self.run_next();
        }
        let exit = self.deliver_signals();
        let trap = Trap { cause: interrupt::STI, interrupt: true, tval: 0, epc: pc };
        let step = Step {
            kind: IType::Interrupt,
            retires: false,
            next_pc: self.pc,
            trap: Some(trap),
            privilege: Privilege::U,
            context,
            ..Step::of(pc, None)
        };
        Some((step, exit))
    }

    /// Continues after a system call at `call`, with the thread that made it or another one.
    pub(crate) fn after_call(&mut self, call: u64) -> Option<Exit> {
        let over = self.slice_left() == 0;
        let interrupted = self.has_signal();
        let threads = &mut self.process.as_mut()?.threads;
        let then = match std::mem::take(&mut threads.then) {
            // Another trap right after this one would be the timer's.
            Then::Continue if over => Then::Yield,
            Then::Wait(_) if interrupted => {
                self.set(10, INTERRUPTED);
                Then::Continue
            }
            then => then,
        };
        match then {
            Then::Continue => return None,
            Then::Yield => {
                self.look_at_clock();
                let (now, saved) = (self.clint.time, self.save(self.pc));
                let threads = &mut self.process.as_mut()?.threads;
                threads.look_at_time(now);
                threads.put_back(saved);
            }
            Then::Again => {
                self.look_at_clock();
                let (now, saved) = (self.clint.time, self.save(call));
                let threads = &mut self.process.as_mut()?.threads;
                threads.look_at_time(now);
                if !threads.has_ready()
                    && let Some(time) = self.next_time()
                {
                    self.set_time(time);
                }
                let threads = &mut self.process.as_mut()?.threads;
                threads.current.repeats = true;
                threads.put_back(saved);
            }
            Then::Wait(wait) => {
                let saved = self.save(self.pc);
                self.process.as_mut()?.threads.put_aside(wait, saved);
            }
            Then::End => {}
        }
        self.wait_for_thread(call)
    }

    /// Runs the next thread that is ready, and if there is none, waits until the time of one has come.
    fn wait_for_thread(&mut self, pc: u64) -> Option<Exit> {
        self.look_at_clock();
        loop {
            self.look_at_timer();
            let now = self.clint.time;
            let threads = &mut self.process.as_mut()?.threads;
            threads.look_at_time(now);
            if threads.has_ready() {
                break;
            }
            let count = threads.count() as u64;
            // The one that runs has ended or waits too.
            let Some(time) = self.next_time() else {
                return Some(Exit::Deadlock { pc, threads: count - 1 });
            };
            self.set_time(time);
        }
        self.run_next();
        None
    }

    /// The next time at which something happens to a thread that waits.
    fn next_time(&self) -> Option<u64> {
        let Process { threads, signals, .. } = self.process.as_ref()?;
        let timer = signals.timer.filter(|_| signals.timer_counts()).map(|(due, _)| due);
        threads.next_time().into_iter().chain(timer).min()
    }

    /// Gives the hart the registers of the next thread.
    fn run_next(&mut self) {
        let retired = self.retired;
        let Some(process) = &mut self.process else { return };
        process.threads.renew(retired);
        let Some(Saved { pc, x, f, fcsr }) = process.threads.next() else { return };
        self.context = process.threads.current.number;
        self.x[..32].copy_from_slice(&x);
        (self.f, self.pc, (self.csr.frm, self.csr.fflags)) = (f, pc, fcsr);
        self.reservation = None;
    }

    /// `nanosleep` and `clock_nanosleep`.
    pub(crate) fn sleep(&mut self, place: u64, absolute: bool, wide: bool) -> u64 {
        match self.deadline(place, absolute, wide) {
            Ok(until) => self.then(Then::Wait(Wait { until, ..Wait::default() })),
            Err(error) => error,
        }
    }

    /// The time that a `struct timespec` stands for, if there is one, or an error number.
    pub(crate) fn deadline(
        &mut self,
        place: u64,
        absolute: bool,
        wide: bool,
    ) -> Result<Option<u64>, u64> {
        if place == 0 {
            return Ok(None);
        }
        let [seconds, nanos] = self.pair_at(place, wide).ok_or(errno(14))?;
        if (seconds as i64) < 0 || nanos >= 1_000_000_000 {
            return Err(errno(22));
        }
        self.look_at_clock();
        let start = if absolute { 0 } else { self.clint.time };
        let ticks = seconds.saturating_mul(1_000_000).saturating_add(nanos.div_ceil(1000));
        Ok(Some(start.saturating_add(ticks)))
    }

    /// Notes what follows the present system call, which returns 0.
    pub(crate) fn then(&mut self, then: Then) -> u64 {
        if let Some(process) = &mut self.process {
            process.threads.then = then;
        }
        0
    }
}
