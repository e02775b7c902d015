//! Signals of a Linux process: what handles them, and which wait to be delivered.

use std::collections::VecDeque;

/// Numbers of signals.
pub(crate) mod signal {
    pub(crate) const ILL: u64 = 4;
    pub(crate) const TRAP: u64 = 5;
    pub(crate) const BUS: u64 = 7;
    pub(crate) const KILL: u64 = 9;
    pub(crate) const SEGV: u64 = 11;
    pub(crate) const ALRM: u64 = 14;
    pub(crate) const CHLD: u64 = 17;
    pub(crate) const CONT: u64 = 18;
    pub(crate) const STOP: u64 = 19;
    pub(crate) const URG: u64 = 23;
    pub(crate) const WINCH: u64 = 28;
    /// The last.
    pub(crate) const MOST: u64 = 64;
    /// From here on, each that is sent is delivered.
    pub(crate) const REAL_TIME: u64 = 32;
}

/// Handlers that are no address.
const DEFAULT: u64 = 0;
const IGNORE: u64 = 1;

/// Real-time signals that may wait.
const MOST_QUEUED: usize = 1 << 12;

/// The bit of a signal in a set.
pub(crate) const fn bit(signal: u64) -> u64 {
    1 << ((signal - 1) & 63)
}

/// What cannot be blocked.
pub(crate) const UNBLOCKABLE: u64 = bit(signal::KILL) | bit(signal::STOP);

/// What a program has asked for when a signal is delivered.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Action {
    /// The address of the handler, or one of two small numbers.
    pub(crate) handler: u64,
    pub(crate) flags: u64,
    /// Signals that are blocked meanwhile.
    pub(crate) mask: u64,
}

/// What is done with a signal.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Disposition {
    Ignored,
    Kills,
    Handled(Action),
}

/// Where a signal comes from: `siginfo_t` after `si_signo`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// `si_code`.
    pub(crate) code: i32,
    /// `si_addr` of a fault; of others, `si_pid` and `si_uid`.
    pub(crate) from: From,
    /// `si_value`, of those that have one.
    pub(crate) value: u64,
}

/// Who or what causes a signal.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum From {
    #[default]
    Kernel,
    /// The process itself: there is no other.
    Process,
    /// An instruction, because of this address.
    Fault(u64),
}

/// A signal that has been sent, and not delivered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) signal: u64,
    pub(crate) origin: Origin,
}

/// Signals that wait, of a thread or of the process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending(VecDeque<Sent>);

impl Pending {
    /// Those that wait, as a set.
    pub(crate) fn set(&self) -> u64 {
        self.0.iter().fold(0, |set, sent| set | bit(sent.signal))
    }

    /// Adds one; of signals that are not for real time, one of each kind.
    pub(crate) fn add(&mut self, sent: Sent) {
        let known = self.set() & bit(sent.signal) != 0;
        if !known || sent.signal >= signal::REAL_TIME && self.0.len() < MOST_QUEUED {
            self.0.push_back(sent);
        }
    }

    /// Takes the next that is in a set, the lowest number first.
    pub(crate) fn take(&mut self, set: u64) -> Option<Sent> {
        let wanted = self.0.iter().enumerate().filter(|(_, sent)| set & bit(sent.signal) != 0);
        let (place, _) = wanted.min_by_key(|(place, sent)| (sent.signal, *place))?;
        self.0.remove(place)
    }

    /// Forgets a signal that is ignored from now on.
    pub(crate) fn forget(&mut self, signal: u64) {
        self.0.retain(|sent| sent.signal != signal);
    }
}

/// The signals of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadSignals {
    pub(crate) blocked: u64,
    pub(crate) pending: Pending,
    /// What is blocked again once a handler has run: the thread waits for a signal with another set.
    pub(crate) restored: Option<u64>,
    /// The stack of handlers: address and size, if there is one.
    pub(crate) stack: Option<(u64, u64)>,
}

/// The signals of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    actions: Vec<(u64, Action)>,
    pub(crate) pending: Pending,
    /// When the timer sends `SIGALRM`, and how long after that again.
    pub(crate) timer: Option<(u64, u64)>,
    /// Whether a handler has been called, whose return leads to code of the kernel.
    pub(crate) handled: bool,
    /// Where the thread continues after `rt_sigreturn`.
    pub(crate) returned: Option<u64>,
}

impl Signals {
    pub(crate) fn action(&self, signal: u64) -> Action {
        let known = self.actions.iter().find(|(other, _)| *other == signal);
        known.map_or_else(Action::default, |(_, action)| *action)
    }

    pub(crate) fn set_action(&mut self, signal: u64, action: Action) {
        self.actions.retain(|(other, _)| *other != signal);
        self.actions.push((signal, action));
    }

    /// Whether it matters that the timer runs: its signal is not ignored, and not already there.
    pub(crate) fn timer_counts(&self) -> bool {
        let waits = self.pending.set() & bit(signal::ALRM) != 0;
        !waits && self.disposition(signal::ALRM) != Disposition::Ignored
    }

    pub(crate) fn disposition(&self, signal: u64) -> Disposition {
        let action = self.action(signal);
        match (action.handler, signal) {
            (IGNORE, _) => Disposition::Ignored,
            (DEFAULT, signal::CHLD | signal::CONT | signal::URG | signal::WINCH) => {
                Disposition::Ignored
            }
            (DEFAULT, _) => Disposition::Kills,
            _ => Disposition::Handled(action),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_each_kind_waits_and_all_for_real_time() {
        let mut pending = Pending::default();
        let sent = |signal| Sent { signal, origin: Origin::default() };
        for signal in [40, 12, 10, 10, 40] {
            pending.add(sent(signal));
        }
        assert_eq!(pending.set(), bit(10) | bit(12) | bit(40));
        let order: Vec<_> = std::iter::from_fn(|| pending.take(!bit(12))).collect();
        assert_eq!(order, [10, 40, 40].map(sent));
        pending.forget(12);
        assert_eq!((pending.take(!0), pending.set()), (None, 0));
        for _ in 0..2 * MOST_QUEUED {
            pending.add(sent(50));
        }
        assert_eq!(pending.0.len(), MOST_QUEUED);
    }

    #[test]
    fn what_a_signal_does() {
        let mut signals = Signals::default();
        assert_eq!(signals.disposition(signal::SEGV), Disposition::Kills);
        assert_eq!(signals.disposition(signal::CHLD), Disposition::Ignored);
        let action = Action { handler: 0x1000, flags: 4, mask: 1 };
        signals.set_action(signal::SEGV, action);
        assert_eq!(signals.disposition(signal::SEGV), Disposition::Handled(action));
        signals.set_action(signal::SEGV, Action { handler: IGNORE, ..action });
        assert_eq!(signals.disposition(signal::SEGV), Disposition::Ignored);
    }
}
