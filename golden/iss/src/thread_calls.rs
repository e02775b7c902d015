//! System calls of threads: `clone`, `futex`, sleep, and the end of a thread.

use crate::abi::errno;
use crate::config::Xlen;
use crate::hart::Hart;
use crate::memory::Stored;
use crate::stop::Exit;
use crate::threads::{Then, Wait};

/// Flags of `clone`.
mod clone {
    pub(super) const VM: u64 = 0x100;
    pub(super) const SIGHAND: u64 = 0x800;
    pub(super) const THREAD: u64 = 0x1_0000;
    pub(super) const SETTLS: u64 = 0x8_0000;
    pub(super) const PARENT_SETTID: u64 = 0x10_0000;
    pub(super) const CHILD_CLEARTID: u64 = 0x20_0000;
    pub(super) const CHILD_SETTID: u64 = 0x100_0000;
}

/// Operations of `futex`.
mod operation {
    pub(super) const WAIT: u64 = 0;
    pub(super) const WAKE: u64 = 1;
    pub(super) const REQUEUE: u64 = 3;
    pub(super) const CMP_REQUEUE: u64 = 4;
    pub(super) const WAKE_OP: u64 = 5;
    pub(super) const WAIT_BITSET: u64 = 9;
    pub(super) const WAKE_BITSET: u64 = 10;
    /// Without the bits for private futexes and for the clock: there is one process, and one clock.
    pub(super) const MASK: u64 = 0x7f;
}

/// Any bit.
const ALL: u32 = !0;

/// Entries of a list of robust mutexes that are looked at, as in Linux.
const ROBUST: usize = 2048;

/// What a new thread gets.
struct NewThread {
    flags: u64,
    /// Its stack pointer; 0 if it is that of the thread that starts it.
    stack: u64,
    tls: u64,
    /// Where its identifier is written for the one that starts it, and for itself.
    parent: u64,
    child: u64,
}

impl Hart {
    /// Executes a system call of threads: its result, or how the program ends. `None` if it is another one.
    pub(crate) fn thread_call(&mut self, number: u64) -> Option<Result<u64, Exit>> {
        let [a0, a1, a2, a3, a4] = self.arguments();
        let wide = self.xlen == Xlen::Rv64;
        const ABSOLUTE: u64 = 1;
        let current = &mut self.process.as_mut()?.threads.current;
        Some(Ok(match number {
            93 => return Some(self.end_thread((a0 & 0xff) as i32)),
            96 => {
                current.clear_at = a0;
                current.id()
            }
            // RV32 has only the call with 64 bits of time.
            98 if wide => self.futex(true),
            422 => self.futex(true),
            99 => {
                current.robust = a0;
                0
            }
            101 => self.sleep(a0, false, wide),
            115 => self.sleep(a2, a1 & ABSOLUTE != 0, wide),
            407 => self.sleep(a2, a1 & ABSOLUTE != 0, true),
            // One processor.
            123 if a1 < 8 => errno(22),
            123 => match self.give(a2, &1_u64.to_le_bytes()) {
                0 => 8,
                error => error,
            },
            124 => self.then(Then::Yield),
            178 => current.id(),
            220 => {
                let new = NewThread { flags: a0, stack: a1, parent: a2, tls: a3, child: a4 };
                return Some(self.start_thread(&new));
            }
            435 => match self.new_thread_at(a0, a1) {
                Ok(new) => return Some(self.start_thread(&new)),
                Err(error) => error,
            },
            _ => return None,
        }))
    }

    pub(crate) fn arguments<const N: usize>(&self) -> [u64; N] {
        std::array::from_fn(|index| self.x[10 + index] & self.mask)
    }

    /// `struct clone_args`.
    fn new_thread_at(&mut self, place: u64, size: u64) -> Result<NewThread, u64> {
        if size < 64 {
            return Err(errno(22));
        }
        let word =
            |index: u64| self.memory.load::<8>(place.wrapping_add(8 * index)).ok_or(errno(14));
        // Here the stack is given by its lowest address.
        let (stack, size) = (word(5)?, word(6)?);
        Ok(NewThread {
            flags: word(0)?,
            stack: stack.wrapping_add(size) & self.mask,
            tls: word(7)?,
            parent: word(3)?,
            child: word(2)?,
        })
    }

    /// Starts a thread. There is no other process, so the program ends if it wants one.
    fn start_thread(&mut self, new: &NewThread) -> Result<u64, Exit> {
        const THREAD: u64 = clone::VM | clone::SIGHAND | clone::THREAD;
        if new.flags & THREAD != THREAD {
            return Err(Exit::NewProcess { pc: self.pc });
        }
        let has = |flag: u64| new.flags & flag != 0;
        let mut saved = self.save(self.pc.wrapping_add(4) & self.mask);
        saved.x[10] = 0;
        if new.stack != 0 {
            saved.x[2] = self.extend(new.stack);
        }
        if has(clone::SETTLS) {
            saved.x[4] = self.extend(new.tls);
        }
        let clear_at = if has(clone::CHILD_CLEARTID) { new.child } else { 0 };
        let retired = self.retired;
        let Some(process) = &mut self.process else { return Ok(errno(38)) };
        if process.threads.is_single() {
            process.threads.renew(retired);
        }
        let Some(id) = process.threads.start(saved, clear_at).map(|thread| thread.id()) else {
            return Ok(errno(11));
        };
        for (flag, place) in [(clone::PARENT_SETTID, new.parent), (clone::CHILD_SETTID, new.child)]
        {
            if has(flag) {
                self.store_word(place, id as u32);
            }
        }
        Ok(id)
    }

    /// `exit`: ends the current thread, and the process with its last.
    fn end_thread(&mut self, code: i32) -> Result<u64, Exit> {
        let Some(process) = &mut self.process else { return Err(Exit::Exited(code)) };
        let thread = process.threads.current.clone();
        if thread.number == 0 {
            process.threads.first_code = Some(code);
        }
        if process.threads.is_single() {
            return Err(Exit::Exited(process.threads.first_code.unwrap_or(code)));
        }
        self.release_robust(thread.robust, thread.id());
        if thread.clear_at != 0 && self.store_word(thread.clear_at, 0) {
            self.wake(1, thread.clear_at, ALL);
        }
        Ok(self.then(Then::End))
    }

    /// Marks the mutexes that a thread still holds when it ends.
    fn release_robust(&mut self, list: u64, id: u64) {
        const DIED: u32 = 1 << 30;
        const WAITERS: u32 = 1 << 31;
        let Some([first, offset]) = self.pair_at(list, false).filter(|_| list != 0) else { return };
        let mut entry = first;
        for _ in 0..ROBUST {
            if entry == list {
                break;
            }
            let Some([next, _]) = self.pair_at(entry, false) else { break };
            let futex = entry.wrapping_add(offset) & self.mask;
            if let Some(word) =
                self.word_at(futex).filter(|word| u64::from(word & !(DIED | WAITERS)) == id)
            {
                self.store_word(futex, word & WAITERS | DIED);
                self.wake(1, futex, ALL);
            }
            entry = next;
        }
    }

    /// `futex`; a time has 64 bits if it is `wide`.
    fn futex(&mut self, wide: bool) -> u64 {
        let [address, call, value, fourth, second, last]: [u64; 6] = self.arguments();
        let Some(word) = self.word_at(address) else {
            return errno(14);
        };
        if !address.is_multiple_of(4) {
            return errno(22);
        }
        let bits = last as u32;
        match call & operation::MASK {
            operation::WAIT | operation::WAIT_BITSET => {
                let absolute = call & operation::MASK == operation::WAIT_BITSET;
                let bits = if absolute { bits } else { ALL };
                if bits == 0 {
                    return errno(22);
                }
                if word != value as u32 {
                    return errno(11);
                }
                match self.deadline(fourth, absolute, wide) {
                    Ok(until) => {
                        let futex = Some((address, bits));
                        self.then(Then::Wait(Wait { futex, until, ..Wait::default() }))
                    }
                    Err(error) => error,
                }
            }
            operation::WAKE => self.wake(value, address, ALL),
            operation::WAKE_BITSET if bits == 0 => errno(22),
            operation::WAKE_BITSET => self.wake(value, address, bits),
            operation::CMP_REQUEUE if word != bits => errno(11),
            command @ (operation::REQUEUE | operation::CMP_REQUEUE) => {
                let woken = self.wake(value, address, ALL);
                let moved = self
                    .process
                    .as_mut()
                    .map_or(0, |process| process.threads.requeue(number(fourth), address, second));
                woken + if command == operation::CMP_REQUEUE { moved } else { 0 }
            }
            operation::WAKE_OP => self.wake_with(address, value, second, fourth, bits),
            _ => errno(38),
        }
    }

    /// `FUTEX_WAKE_OP`: changes the word at `second`, and wakes those that wait for it too if its old value compares.
    fn wake_with(&mut self, first: u64, value: u64, second: u64, more: u64, how: u32) -> u64 {
        let Some(old) = self.word_at(second) else { return errno(14) };
        let sign = |value: u32| ((value << 20) as i32 >> 20) as u32;
        let (operand, compared) = (sign(how >> 12), sign(how));
        let operand = if how >> 31 == 1 { 1_u32.wrapping_shl(operand) } else { operand };
        let new = match how >> 28 & 7 {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old | operand,
            3 => old & !operand,
            4 => old ^ operand,
            _ => return errno(38),
        };
        let (a, b) = (old as i32, compared as i32);
        let wakes = match how >> 24 & 15 {
            0 => a == b,
            1 => a != b,
            2 => a < b,
            3 => a <= b,
            4 => a > b,
            5 => a >= b,
            _ => return errno(38),
        };
        self.store_word(second, new);
        let woken = self.wake(value, first, ALL);
        woken + if wakes { self.wake(more, second, ALL) } else { 0 }
    }

    fn wake(&mut self, count: u64, address: u64, bits: u32) -> u64 {
        let process = self.process.as_mut();
        process.map_or(0, |process| process.threads.wake_futex(number(count), address, bits))
    }

    fn word_at(&self, address: u64) -> Option<u32> {
        self.memory.load::<4>(address).map(|word| word as u32)
    }

    fn store_word(&mut self, address: u64, word: u32) -> bool {
        self.memory.store::<4>(address, word.into()) != Stored::Nowhere
    }

    /// Two words of the program: registers, or 64 bits if they are `wide`.
    pub(crate) fn pair_at(&self, place: u64, wide: bool) -> Option<[u64; 2]> {
        match wide || self.xlen == Xlen::Rv64 {
            true => {
                Some([self.memory.load::<8>(place)?, self.memory.load::<8>(place.wrapping_add(8))?])
            }
            false => {
                let word = |at| self.memory.load::<4>(at).map(|word| word as i32 as u64);
                Some([word(place)?, word(place.wrapping_add(4))? & self.mask])
            }
        }
    }
}

/// How many threads an `int` stands for.
fn number(count: u64) -> usize {
    usize::try_from(count as i32).unwrap_or(0)
}
