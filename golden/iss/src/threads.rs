//! The threads of a Linux process: which one runs, which are ready, and what the others wait for.

use crate::signals::{ThreadSignals, bit};
use std::collections::VecDeque;

/// Instructions after which another thread runs, if one is ready.
const SLICE: u64 = 20_000;

/// Threads that a program may start: their numbers are contexts of a trace, which have 16 bits.
pub(crate) const MOST_THREADS: u64 = 1 << 16;

/// Registers of a thread that does not run.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) pc: u64,
    pub(crate) x: [u64; 32],
    pub(crate) f: [u64; 32],
    /// `frm` and `fflags`.
    pub(crate) fcsr: (u8, u8),
}

/// A thread, without its registers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thread {
    /// Its number; that of the first is 0.
    pub(crate) number: u64,
    /// Where a zero is written when it ends, if anywhere.
    pub(crate) clear_at: u64,
    /// Its list of robust mutexes, if it has one.
    pub(crate) robust: u64,
    pub(crate) signals: ThreadSignals,
    /// It makes its last system call again when it goes on.
    pub(crate) repeats: bool,
}

impl Thread {
    /// What Linux calls it.
    pub(crate) const fn id(&self) -> u64 {
        self.number + 1
    }
}

/// What a system call returns that a signal has interrupted: `EINTR`.
pub(crate) const INTERRUPTED: u64 = -4_i64 as u64;

/// What a thread waits for: whatever comes first. A signal that it has to handle comes in between.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wait {
    /// The address of a futex, and the bits of which a call to wake it must have one.
    pub(crate) futex: Option<(u64, u32)>,
    /// The time.
    pub(crate) until: Option<u64>,
    /// Signals that it takes, although they may be blocked: it makes the same call again.
    pub(crate) signals: u64,
}

/// What follows a system call.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Then {
    /// The thread continues.
    #[default]
    Continue,
    /// Another thread runs first, if one is ready.
    Yield,
    /// The thread makes the same call again after others, since it cannot be finished yet.
    Again,
    Wait(Wait),
    /// The thread has ended.
    End,
}

/// Result of a wait whose time has come: `ETIMEDOUT` for a futex, `EAGAIN` for a signal, 0 for sleep.
const fn after(wait: Wait) -> u64 {
    match wait {
        Wait { futex: Some(_), .. } => -110_i64 as u64,
        Wait { signals: 0, .. } => 0,
        _ => -11_i64 as u64,
    }
}

/// All threads of a process.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// The thread whose registers the hart has.
    pub(crate) current: Thread,
    ready: VecDeque<(Thread, Saved)>,
    /// In the order in which they began to wait.
    waiting: Vec<(Wait, Thread, Saved)>,
    /// Threads that were started besides the first.
    started: u64,
    /// What follows the present system call.
    pub(crate) then: Then,
    /// Number of retired instructions at which the time of the current thread is over.
    slice_end: u64,
    /// The exit code of the first thread, if it has ended.
    pub(crate) first_code: Option<i32>,
}

impl Threads {
    /// Whether there is only one.
    pub(crate) fn is_single(&self) -> bool {
        self.ready.is_empty() && self.waiting.is_empty()
    }

    /// Number of threads.
    pub(crate) fn count(&self) -> usize {
        1 + self.ready.len() + self.waiting.len()
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Instructions that the current thread has left.
    pub(crate) fn slice_left(&self, retired: u64) -> u64 {
        self.slice_end.saturating_sub(retired)
    }

    /// Starts a new slice.
    pub(crate) fn renew(&mut self, retired: u64) {
        self.slice_end = retired + SLICE;
    }

    /// Adds a thread that is ready, and returns it; `None` if there were too many.
    pub(crate) fn start(&mut self, saved: Saved, clear_at: u64) -> Option<&Thread> {
        let number = self.started + 1;
        if number >= MOST_THREADS {
            return None;
        }
        self.started = number;
        let blocked = self.current.signals.blocked;
        let signals = ThreadSignals { blocked, ..ThreadSignals::default() };
        let thread = Thread { number, clear_at, signals, ..Thread::default() };
        self.ready.push_back((thread, saved));
        self.ready.back().map(|(thread, _)| thread)
    }

    /// The current thread is ready, but others come first.
    pub(crate) fn put_back(&mut self, saved: Saved) {
        self.ready.push_back((self.current.clone(), saved));
    }

    /// The current thread waits.
    pub(crate) fn put_aside(&mut self, wait: Wait, saved: Saved) {
        self.waiting.push((wait, self.current.clone(), saved));
    }

    /// Makes the thread current that has been ready for longest, and returns its registers.
    pub(crate) fn next(&mut self) -> Option<Saved> {
        let (thread, saved) = self.ready.pop_front()?;
        self.current = thread;
        Some(saved)
    }

    /// The signals of the thread with an identifier, if there is one.
    pub(crate) fn signals_of(&mut self, id: u64) -> Option<&mut ThreadSignals> {
        let Self { current, ready, waiting, .. } = self;
        let ready = ready.iter_mut().map(|(thread, _)| thread);
        let waiting = waiting.iter_mut().map(|(_, thread, _)| thread);
        let mut all = [current].into_iter().chain(ready).chain(waiting);
        all.find(|thread| thread.id() == id).map(|thread| &mut thread.signals)
    }

    /// Whether a thread waits to take a signal.
    pub(crate) fn is_awaited(&self, signal: u64) -> bool {
        self.waiting.iter().any(|(wait, ..)| wait.signals & bit(signal) != 0)
    }

    /// Forgets a signal that is ignored from now on.
    pub(crate) fn forget_signal(&mut self, signal: u64) {
        self.current.signals.pending.forget(signal);
        self.ready.iter_mut().for_each(|(thread, _)| thread.signals.pending.forget(signal));
        self.waiting.iter_mut().for_each(|(_, thread, _)| thread.signals.pending.forget(signal));
    }

    /// Makes threads ready that wait and have a signal to take or to handle. Of those that are sent to the process, and
    /// wait as the set `shared`, each is for one thread.
    pub(crate) fn wake_for_signals(&mut self, shared: u64) {
        let (mut shared, mut index) = (shared, 0);
        while let Some((wait, thread, _)) = self.waiting.get(index) {
            let waits = thread.signals.pending.set() | shared;
            let (taken, handled) = (waits & wait.signals, waits & !thread.signals.blocked);
            if taken | handled == 0 {
                index += 1;
                continue;
            }
            shared &= !(taken | handled);
            let (_, thread, mut saved) = self.waiting.remove(index);
            match taken {
                0 => saved.x[10] = INTERRUPTED,
                _ => saved.pc = saved.pc.wrapping_sub(4),
            }
            self.ready.push_back((thread, saved));
        }
    }

    /// The next time at which a thread stops waiting.
    pub(crate) fn next_time(&self) -> Option<u64> {
        self.waiting.iter().filter_map(|(wait, ..)| wait.until).min()
    }

    /// Makes those ready whose time has come.
    pub(crate) fn look_at_time(&mut self, now: u64) {
        self.wake(usize::MAX, |wait| wait.until.is_some_and(|until| until <= now), after);
    }

    /// Makes up to `count` threads ready that wait for a futex with one of `bits`. Returns their number.
    pub(crate) fn wake_futex(&mut self, count: usize, address: u64, bits: u32) -> u64 {
        let waits =
            |wait: &Wait| wait.futex.is_some_and(|(at, own)| at == address && own & bits != 0);
        self.wake(count, waits, |_| 0)
    }

    /// Lets up to `count` threads that wait for a futex wait for another. Returns their number.
    pub(crate) fn requeue(&mut self, count: usize, from: u64, to: u64) -> u64 {
        let futexes = self.waiting.iter_mut().filter_map(|(wait, ..)| wait.futex.as_mut());
        let moved = futexes.filter(|(at, _)| *at == from).take(count);
        moved.map(|(at, _)| *at = to).count() as u64
    }

    fn wake(
        &mut self,
        count: usize,
        which: impl Fn(&Wait) -> bool,
        result: impl Fn(Wait) -> u64,
    ) -> u64 {
        let (mut woken, mut index) = (0, 0);
        while let Some((wait, ..)) = self.waiting.get(index)
            && woken < count
        {
            if !which(wait) {
                index += 1;
                continue;
            }
            let (wait, thread, mut saved) = self.waiting.remove(index);
            saved.x[10] = result(wait);
            self.ready.push_back((thread, saved));
            woken += 1;
        }
        woken as u64
    }
}
