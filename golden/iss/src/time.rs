//! Time: the timer, when to check devices, and waiting.

use crate::config::Clock;
use crate::hart::Hart;
use crate::privileged::{Level, interrupt, status};
use crate::stop::Exit;

impl Hart {
    /// Sets `mtime`. With [`Clock::Instructions`] of `u64::MAX`, only this function and `wfi`
    /// advance the time, so the caller decides where timer interrupts are taken, for instance to
    /// repeat the run of another hart.
    pub fn set_time(&mut self, time: u64) {
        self.clint.set_time(time);
        self.time_was_set();
    }

    /// Updates the time and handles requests to the host.
    pub(crate) fn serve(&mut self) -> Option<Exit> {
        match self.clock {
            Clock::Instructions(_) => {
                self.look_at_clock();
                if !self.host_called || self.retired < self.host_due {
                    return None;
                }
                self.host_called = false;
                self.serve_host()
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

    /// Whether interrupts and the host are served at once.
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

    /// Notes that `mtime` was set to another value.
    pub(crate) fn time_was_set(&mut self) {
        self.time_base = (self.clint.time, self.retired);
    }

    fn timer_is_armed(&self) -> bool {
        self.csr.mie >> interrupt::MTI & 1 == 1 && self.clint.compare != u64::MAX
    }

    /// Number of instructions until something happens that the program does not cause.
    pub(crate) fn until_event(&self) -> u64 {
        match self.clock {
            Clock::Rounds { .. } => self.round_left,
            Clock::Instructions(per_tick) => {
                let (time, at) = self.time_base;
                let ticks = self.clint.compare.saturating_sub(time);
                let due = ticks.saturating_mul(per_tick.max(1)).saturating_add(at);
                let timer = match due.saturating_sub(self.retired) {
                    left if left > 0 && self.timer_is_armed() => left,
                    // Never, or already pending but not enabled.
                    _ => u64::MAX,
                };
                let host = self.host_due.saturating_sub(self.retired).max(1);
                if self.host_called { timer.min(host) } else { timer }
            }
        }
    }

    /// Whether a jump to itself can be interrupted.
    pub(crate) fn can_be_interrupted(&self) -> bool {
        let enabled = self.level < Level::M || self.csr.mstatus & status::MIE != 0;
        self.host_called || self.next_interrupt().is_some() || enabled && self.timer_is_armed()
    }

    /// Advances the time to the next interrupt. Returns `false` if there is none.
    pub(crate) fn wait(&mut self) -> bool {
        if self.pending() & self.csr.mie != 0 {
            return true;
        }
        if self.timer_is_armed() && self.is_prompt() {
            self.clint.set_time(self.clint.time.max(self.clint.compare));
            self.time_was_set();
        }
        self.timer_is_armed() || self.host_called
    }
}
