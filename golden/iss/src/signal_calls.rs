//! Signals: system calls, delivery to handlers, and the return from them.
//!
//! A handler is called where the thread is in the kernel anyway: after a system call, at a fault, and at the end of its time.
//! So each call of a handler is at a trap. The frame on its stack is that of Linux, which programs look into.

use crate::abi::errno;
use crate::config::{Range, Xlen};
use crate::hart::Hart;
use crate::memory::PAGE;
use crate::privileged::cause;
use crate::signals::{Action, Disposition, From, Origin, Sent, UNBLOCKABLE, bit, signal};
use crate::stop::Exit;
use crate::threads::{INTERRUPTED, Then, Wait};

/// The page of the kernel to which handlers return, as they do to the vDSO of Linux.
pub(crate) const TRAMPOLINE: Range = Range { base: 0x7fff_f000, size: PAGE };

/// `li a7,139` and `ecall`: `rt_sigreturn`.
pub(crate) const RETURN: [u8; 8] = [0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00];

/// Flags of `sigaction`.
mod flag {
    pub(super) const ON_STACK: u64 = 0x0800_0000;
    pub(super) const RESTART: u64 = 0x1000_0000;
    pub(super) const NO_DEFER: u64 = 0x4000_0000;
    pub(super) const RESET: u64 = 0x8000_0000;
}

/// `ss_flags` of a stack that is not there, and of one that is in use.
const DISABLED: u64 = 2;
const IN_USE: u64 = 1;

/// Values of `si_code`.
mod code {
    pub(super) const USER: i32 = 0;
    pub(super) const THREAD: i32 = -6;
    pub(super) const KERNEL: i32 = 0x80;
    /// The first reason of each fault.
    pub(super) const FAULT: i32 = 1;
}

const EPERM: i64 = 1;
const ESRCH: i64 = 3;
const EAGAIN: i64 = 11;
const ENOMEM: i64 = 12;
const EFAULT: i64 = 14;
const EINVAL: i64 = 22;

/// The smallest stack of handlers.
const LEAST_STACK: u64 = 2048;

/// To whom a signal is sent.
#[derive(Copy, Clone, PartialEq, Eq)]
enum To {
    Process,
    /// The thread with this identifier.
    Thread(u64),
}

/// Where the parts of a frame are, from the stack pointer of the handler.
struct Frame {
    /// Bytes of a register.
    word: u64,
    context: u64,
    stack: u64,
    mask: u64,
    registers: u64,
    floats: u64,
    size: u64,
}

impl Frame {
    const fn of(xlen: Xlen) -> Self {
        // `siginfo_t`, then `ucontext_t`: flags, link, stack, mask with room for 1024 bits, registers, floating point.
        let (word, stack, mask, registers) = match xlen {
            Xlen::Rv64 => (8, 16, 40, 176),
            Xlen::Rv32 => (4, 8, 20, 160),
        };
        let context = 128;
        let floats = registers + 32 * word;
        Self {
            word,
            context,
            stack: context + stack,
            mask: context + mask,
            registers: context + registers,
            floats: context + floats,
            size: (context + floats + 528).next_multiple_of(16),
        }
    }
}

/// The signal of an exception.
pub(crate) const fn signal_of(code: u64) -> u64 {
    match code {
        cause::ILLEGAL => signal::ILL,
        cause::BREAKPOINT => signal::TRAP,
        0 | 4 | 6 => signal::BUS,
        _ => signal::SEGV,
    }
}

impl Hart {
    /// Executes a system call of signals: its result, or how the program ends. `None` if it is another one.
    pub(crate) fn signal_call(&mut self, number: u64) -> Option<Result<u64, Exit>> {
        let [a0, a1, a2, a3, a4, _] = self.arguments();
        self.process.as_ref()?;
        let sender = |code| Origin { code, from: From::Process, value: 0 };
        Some(Ok(match number {
            // There is one process, in one group.
            129 if !self.is_own_process(a0) => errno(ESRCH),
            129 => self.send(To::Process, a1, sender(code::USER)),
            130 => self.send(To::Thread(a0), a1, sender(code::THREAD)),
            131 if a0 != 1 => errno(ESRCH),
            131 => self.send(To::Thread(a1), a2, sender(code::THREAD)),
            132 => self.alternate_stack(a0, a1),
            133 => self.wait_for_signal(a0),
            134 => self.change_action(a0, a1, a2, a3),
            135 => self.change_mask(a0, a1, a2, a3),
            136 => match self.process.as_ref().map(|process| {
                process.signals.pending.set() | process.threads.current.signals.pending.set()
            }) {
                Some(set) => self.give(a0, &set.to_le_bytes()),
                None => 0,
            },
            137 | 421 => self.take_signal(a0, a1, a2, number == 421),
            138 if !self.is_own_process(a0) => errno(ESRCH),
            138 => match self.origin_at(a2) {
                Some(origin) => self.send(To::Process, a1, origin),
                None => errno(EFAULT),
            },
            240 if a0 != 1 => errno(ESRCH),
            240 => match self.origin_at(a3) {
                Some(origin) => self.send(To::Thread(a1), a2, origin),
                None => errno(EFAULT),
            },
            139 => return Some(self.return_from_handler()),
            102 if a0 == 0 => self.tell_timer(a1),
            103 if a0 == 0 => self.set_timer(a1, a2),
            // A wait for nothing but time and signals: `pause`, for instance.
            73 | 414 if a1 == 0 => {
                let wide = number == 414 || self.xlen == Xlen::Rv64;
                match self.deadline(a2, false, wide) {
                    Ok(until) => self.wait_with(until, a3),
                    Err(error) => error,
                }
            }
            72 | 413 if a0 == 0 => {
                let wide = number == 413 || self.xlen == Xlen::Rv64;
                match self.deadline(a4, false, wide) {
                    Ok(until) => self.then(Then::Wait(Wait { until, ..Wait::default() })),
                    Err(error) => error,
                }
            }
            _ => return None,
        }))
    }

    /// Whether a number for `kill` means this process.
    fn is_own_process(&self, id: u64) -> bool {
        matches!(self.extend(id) as i64, -1..=1)
    }

    fn origin_at(&self, place: u64) -> Option<Origin> {
        let code = self.memory.load::<4>(place.wrapping_add(8))? as i32;
        let word = if self.xlen == Xlen::Rv64 { 8 } else { 4 };
        let at = place.wrapping_add(12_u64.next_multiple_of(word) + 8);
        let value = if word == 8 { self.memory.load::<8>(at) } else { self.memory.load::<4>(at) }?;
        Some(Origin { code, from: From::Process, value })
    }

    /// Sends a signal, which is delivered when its receiver runs next.
    fn send(&mut self, to: To, signal: u64, origin: Origin) -> u64 {
        let signal = signal & u64::from(u32::MAX);
        let Some(process) = &mut self.process else { return 0 };
        if signal > signal::MOST {
            return errno(EINVAL);
        }
        if let To::Thread(id) = to
            && process.threads.signals_of(id).is_none()
        {
            return errno(ESRCH);
        }
        let disposition = match signal {
            // Only a test whether the receiver exists.
            0 => return 0,
            signal => process.signals.disposition(signal),
        };
        let sent = Sent { signal, origin };
        let waited = process.threads.is_awaited(signal);
        if disposition == Disposition::Ignored && !waited {
            return 0;
        }
        match to {
            To::Process => process.signals.pending.add(sent),
            To::Thread(id) => {
                if let Some(signals) = process.threads.signals_of(id) {
                    signals.pending.add(sent);
                }
            }
        }
        let shared = process.signals.pending.set();
        process.threads.wake_for_signals(shared);
        0
    }

    /// Sends the signal of the timer, if its time has come.
    pub(crate) fn look_at_timer(&mut self) {
        let now = self.clint.time;
        let Some(process) = &mut self.process else { return };
        let Some((due, again)) = process.signals.timer.filter(|(due, _)| *due <= now) else {
            return;
        };
        process.signals.timer = match again {
            0 => None,
            again => Some((due.saturating_add(again).max(now + 1), again)),
        };
        self.send(To::Process, signal::ALRM, Origin { code: code::KERNEL, ..Origin::default() });
    }

    /// Whether the current thread has a signal to handle.
    pub(crate) fn has_signal(&self) -> bool {
        self.process.as_ref().is_some_and(|process| {
            let own = &process.threads.current.signals;
            (own.pending.set() | process.signals.pending.set()) & !own.blocked != 0
        })
    }

    /// Delivers what the current thread has to handle. Returns how the program ends, if it does.
    pub(crate) fn deliver_signals(&mut self) -> Option<Exit> {
        let repeats = std::mem::take(&mut self.process.as_mut()?.threads.current.repeats);
        loop {
            let process = self.process.as_mut()?;
            let own = &mut process.threads.current.signals;
            let allowed = !own.blocked;
            let sent = own.pending.take(allowed).or_else(|| process.signals.pending.take(allowed));
            let Some(sent) = sent else {
                if let Some(process) = &mut self.process
                    && let Some(mask) = process.threads.current.signals.restored.take()
                {
                    process.threads.current.signals.blocked = mask;
                }
                return None;
            };
            match process.signals.disposition(sent.signal) {
                Disposition::Ignored => {}
                Disposition::Kills => return Some(Exit::Killed(sent.signal as i32)),
                Disposition::Handled(action) => {
                    if repeats && action.flags & flag::RESTART == 0 {
                        self.pc = self.pc.wrapping_add(4) & self.mask;
                        self.set(10, INTERRUPTED);
                    }
                    if let Some(exit) = self.call_handler(sent, action) {
                        return Some(exit);
                    }
                    // A second handler would interrupt the first before it has begun; it comes at the next trap.
                    return None;
                }
            }
        }
    }

    /// Delivers the signal of an exception. Returns `false` if nothing handles it, so that it ends the program.
    pub(crate) fn deliver_fault(&mut self, code: u64, tval: u64) -> bool {
        let signal = signal_of(code);
        let address = match signal {
            signal::SEGV | signal::BUS => tval,
            _ => self.pc,
        };
        let origin = Origin { code: code::FAULT, from: From::Fault(address), value: 0 };
        let Some(process) = &mut self.process else { return false };
        if process.threads.current.signals.blocked & bit(signal) != 0 {
            return false;
        }
        match process.signals.disposition(signal) {
            Disposition::Handled(action) => {
                self.call_handler(Sent { signal, origin }, action).is_none()
            }
            _ => false,
        }
    }

    /// Makes the current thread continue in a handler. Without room for its frame, the program ends.
    fn call_handler(&mut self, sent: Sent, action: Action) -> Option<Exit> {
        let Sent { signal, origin } = sent;
        let frame = Frame::of(self.xlen);
        let sp = self.x[2] & self.mask;
        let process = self.process.as_mut()?;
        let own = &mut process.threads.current.signals;
        let stack = own.stack.filter(|_| action.flags & flag::ON_STACK != 0);
        let on_it = |(start, size): (u64, u64)| sp > start && sp - start <= size;
        let top = match stack {
            Some((start, size)) if !on_it((start, size)) => start.wrapping_add(size),
            _ => sp,
        };
        let start = top.wrapping_sub(frame.size) & !15 & self.mask;
        let blocked = own.restored.take().unwrap_or(own.blocked);
        let kept = own.stack;
        own.blocked |=
            action.mask | if action.flags & flag::NO_DEFER == 0 { bit(signal) } else { 0 };
        own.blocked &= !UNBLOCKABLE;
        if action.flags & flag::RESET != 0 {
            process.signals.set_action(signal, Action::default());
        }
        process.signals.handled = true;
        if self.memory.read(start, frame.size).is_none() {
            return Some(Exit::Killed(signal::SEGV as i32));
        }
        self.memory.write(start, &vec![0; frame.size as usize]);
        self.memory.write(start, &(signal as u32).to_le_bytes());
        self.memory.write(start + 8, &origin.code.to_le_bytes());
        let union = start + 12_u64.next_multiple_of(frame.word);
        match origin.from {
            From::Kernel => {}
            From::Process => {
                self.memory.write(union, &1_u32.to_le_bytes());
                self.memory.write(union + 4, &1000_u32.to_le_bytes());
                self.write_word(union + 8, origin.value);
            }
            From::Fault(address) => self.write_word(union, address),
        }
        if let Some((base, size)) = kept {
            self.write_word(start + frame.stack, base);
            self.write_word(start + frame.stack + 2 * frame.word, size);
        }
        self.memory.write(start + frame.mask, &blocked.to_le_bytes());
        self.write_word(start + frame.registers, self.pc);
        for register in 1..32 {
            let value = self.x[register as usize];
            self.write_word(start + frame.registers + register * frame.word, value);
        }
        for register in 0..32 {
            let value = self.f[register as usize];
            self.memory.write(start + frame.floats + 8 * register, &value.to_le_bytes());
        }
        let fcsr = u32::from(self.csr.frm) << 5 | u32::from(self.csr.fflags);
        self.memory.write(start + frame.floats + 256, &fcsr.to_le_bytes());
        self.set(1, TRAMPOLINE.base);
        self.set(2, self.extend(start));
        self.set(10, signal);
        self.set(11, self.extend(start));
        self.set(12, self.extend(start + frame.context));
        self.pc = action.handler & self.mask & !1;
        self.reservation = None;
        None
    }

    fn write_word(&mut self, place: u64, value: u64) {
        match self.xlen {
            Xlen::Rv64 => self.memory.write(place, &value.to_le_bytes()),
            Xlen::Rv32 => self.memory.write(place, &(value as u32).to_le_bytes()),
        };
    }

    fn read_word(&self, place: u64) -> Option<u64> {
        match self.xlen {
            Xlen::Rv64 => self.memory.load::<8>(place),
            Xlen::Rv32 => self.memory.load::<4>(place).map(|word| self.extend(word)),
        }
    }

    /// `rt_sigreturn`: continues where the frame on the stack says.
    fn return_from_handler(&mut self) -> Result<u64, Exit> {
        let (frame, start) = (Frame::of(self.xlen), self.x[2] & self.mask);
        let killed = Exit::Killed(signal::SEGV as i32);
        if self.memory.read(start, frame.size).is_none() {
            return Err(killed);
        }
        let word = |number: u64| self.read_word(start + frame.registers + number * frame.word);
        let registers: Option<Vec<u64>> = (0..32).map(word).collect();
        let float = |number: u64| self.memory.load::<8>(start + frame.floats + 8 * number);
        let floats: Option<Vec<u64>> = (0..32).map(float).collect();
        let fcsr = self.memory.load::<4>(start + frame.floats + 256);
        let mask = self.memory.load::<8>(start + frame.mask);
        let (Some(registers), Some(floats), Some(fcsr), Some(mask)) =
            (registers, floats, fcsr, mask)
        else {
            return Err(killed);
        };
        for (number, value) in (1..32).zip(registers.iter().skip(1)) {
            self.set(number, *value);
        }
        self.f.copy_from_slice(&floats);
        (self.csr.frm, self.csr.fflags) = ((fcsr >> 5 & 7) as u8, (fcsr & 31) as u8);
        if let Some(process) = &mut self.process {
            process.threads.current.signals.blocked = mask & !UNBLOCKABLE;
            process.signals.returned = registers.first().map(|pc| pc & self.mask & !1);
        }
        self.reservation = None;
        // The result of the call that the handler interrupted.
        Ok(self.x[10])
    }

    fn change_action(&mut self, number: u64, new: u64, old: u64, size: u64) -> u64 {
        if !(1..=signal::MOST).contains(&number) || size != 8 {
            return errno(EINVAL);
        }
        let word = Frame::of(self.xlen).word;
        let Some(process) = &self.process else { return 0 };
        let Action { handler, flags, mask } = process.signals.action(number);
        let action = match new {
            0 => None,
            _ if bit(number) & UNBLOCKABLE != 0 => return errno(EINVAL),
            new => {
                let words = (
                    self.read_word(new),
                    self.read_word(new.wrapping_add(word)),
                    self.memory.load::<8>(new.wrapping_add(2 * word)),
                );
                let (Some(handler), Some(flags), Some(mask)) = words else { return errno(EFAULT) };
                let mask = mask & !UNBLOCKABLE;
                Some(Action { handler: handler & self.mask, flags: flags & self.mask, mask })
            }
        };
        if old != 0 {
            if self.memory.read(old, 2 * word + 8).is_none() {
                return errno(EFAULT);
            }
            self.write_word(old, handler);
            self.write_word(old.wrapping_add(word), flags);
            self.memory.write(old.wrapping_add(2 * word), &mask.to_le_bytes());
        }
        if let (Some(action), Some(process)) = (action, &mut self.process) {
            process.signals.set_action(number, action);
            if process.signals.disposition(number) == Disposition::Ignored {
                process.signals.pending.forget(number);
                process.threads.forget_signal(number);
            }
        }
        0
    }

    fn change_mask(&mut self, how: u64, new: u64, old: u64, size: u64) -> u64 {
        if size != 8 {
            return errno(EINVAL);
        }
        let Some(process) = &self.process else { return 0 };
        let blocked = process.threads.current.signals.blocked;
        let next = match new {
            0 => None,
            new => match (self.memory.load::<8>(new), how) {
                (None, _) => return errno(EFAULT),
                (Some(set), 0) => Some(blocked | set),
                (Some(set), 1) => Some(blocked & !set),
                (Some(set), 2) => Some(set),
                _ => return errno(EINVAL),
            },
        };
        if old != 0 && self.give(old, &blocked.to_le_bytes()) != 0 {
            return errno(EFAULT);
        }
        if let (Some(next), Some(process)) = (next, &mut self.process) {
            process.threads.current.signals.blocked = next & !UNBLOCKABLE;
        }
        0
    }

    /// `sigaltstack`.
    fn alternate_stack(&mut self, new: u64, old: u64) -> u64 {
        let (word, sp) = (Frame::of(self.xlen).word, self.x[2] & self.mask);
        let Some(process) = &self.process else { return 0 };
        let present = process.threads.current.signals.stack;
        let in_use = present.is_some_and(|(start, size)| sp > start && sp - start <= size);
        let next = match new {
            0 => present,
            _ if in_use => return errno(EPERM),
            new => {
                let parts = (
                    self.read_word(new),
                    self.memory.load::<4>(new.wrapping_add(word)),
                    self.read_word(new.wrapping_add(2 * word)),
                );
                match parts {
                    (Some(_), Some(flags), Some(_)) if flags & DISABLED != 0 => None,
                    (Some(_), Some(_), Some(size)) if size & self.mask < LEAST_STACK => {
                        return errno(ENOMEM);
                    }
                    (Some(start), Some(_), Some(size)) => {
                        Some((start & self.mask, size & self.mask))
                    }
                    _ => return errno(EFAULT),
                }
            }
        };
        if old != 0 {
            if self.memory.read(old, 3 * word).is_none() {
                return errno(EFAULT);
            }
            let (start, size) = present.unwrap_or_default();
            let flags = match (present, in_use) {
                (None, _) => DISABLED,
                (Some(_), true) => IN_USE,
                (Some(_), false) => 0,
            };
            self.write_word(old, start);
            self.memory.write(old.wrapping_add(word), &(flags as u32).to_le_bytes());
            self.write_word(old.wrapping_add(2 * word), size);
        }
        if let Some(process) = &mut self.process {
            process.threads.current.signals.stack = next;
        }
        0
    }

    /// `rt_sigsuspend`: waits with another set of blocked signals.
    fn wait_for_signal(&mut self, set: u64) -> u64 {
        self.wait_with(None, set)
    }

    /// Waits, with another set of blocked signals if one is given.
    fn wait_with(&mut self, until: Option<u64>, set: u64) -> u64 {
        if set != 0 {
            let Some(blocked) = self.memory.load::<8>(set) else { return errno(EFAULT) };
            if let Some(process) = &mut self.process {
                let own = &mut process.threads.current.signals;
                own.restored = Some(own.blocked);
                own.blocked = blocked & !UNBLOCKABLE;
            }
        }
        self.then(Then::Wait(Wait { until, ..Wait::default() }))
    }

    /// `rt_sigtimedwait`: takes a signal that is blocked, or waits for one.
    fn take_signal(&mut self, set: u64, info: u64, time: u64, wide: bool) -> u64 {
        let Some(set) = self.memory.load::<8>(set) else { return errno(EFAULT) };
        let wide = wide || self.xlen == Xlen::Rv64;
        let until = match self.deadline(time, false, wide) {
            Ok(until) => until,
            Err(error) => return error,
        };
        let Some(process) = &mut self.process else { return 0 };
        let own = &mut process.threads.current.signals;
        let taken = own.pending.take(set).or_else(|| process.signals.pending.take(set));
        if let Some(Sent { signal, origin }) = taken {
            if info != 0 {
                self.memory.write(info, &(signal as u32).to_le_bytes());
                self.memory.write(info.wrapping_add(8), &origin.code.to_le_bytes());
            }
            return signal;
        }
        self.look_at_clock();
        match until.is_some_and(|until| until <= self.clint.time) {
            true => errno(EAGAIN),
            // The call is made again when there is something to take, or its time is over.
            false => {
                self.then(Then::Wait(Wait { until, signals: set, ..Wait::default() }));
                self.x[10]
            }
        }
    }

    /// `getitimer`.
    fn tell_timer(&mut self, place: u64) -> u64 {
        self.look_at_clock();
        let now = self.clint.time;
        let Some(process) = &self.process else { return 0 };
        let (left, again) = process
            .signals
            .timer
            .map_or((0, 0), |(due, again)| (due.saturating_sub(now).max(1), again));
        let word = Frame::of(self.xlen).word;
        if self.memory.read(place, 4 * word).is_none() {
            return errno(EFAULT);
        }
        for (index, value) in [again, left].into_iter().enumerate() {
            let at = place.wrapping_add(2 * word * index as u64);
            self.write_word(at, value / 1_000_000);
            self.write_word(at.wrapping_add(word), value % 1_000_000);
        }
        0
    }

    /// `setitimer`, of the timer that counts real time.
    fn set_timer(&mut self, new: u64, old: u64) -> u64 {
        let word = Frame::of(self.xlen).word;
        let (Some(again), Some(left)) =
            (self.pair_at(new, false), self.pair_at(new.wrapping_add(2 * word), false))
        else {
            return errno(EFAULT);
        };
        if [again, left].iter().any(|[_, micros]| *micros >= 1_000_000) {
            return errno(EINVAL);
        }
        if old != 0 && self.tell_timer(old) != 0 {
            return errno(EFAULT);
        }
        self.look_at_clock();
        let ticks = |[seconds, micros]: [u64; 2]| seconds.saturating_mul(1_000_000) + micros;
        let (now, retired) = (self.clint.time, self.retired);
        if let Some(process) = &mut self.process {
            let due = Some(ticks(left)).filter(|left| *left > 0);
            process.signals.timer = due.map(|left| (now.saturating_add(left), ticks(again)));
            process.threads.renew(retired);
        }
        0
    }
}
