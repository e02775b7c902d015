//! Where in a trace the time is known.

use hartrace_decoder::{Clock, Time};

/// Readings of a clock that are kept.
const MAX_READINGS: usize = 4096;

/// Readings of the clock of a source, not too close to each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Anchors {
    pub(super) clock: Clock,
    /// Numbers of instructions, and times.
    pub(super) list: Vec<(u64, u64)>,
    /// Instructions from one reading to the next.
    apart: u64,
}

impl Anchors {
    /// Takes a reading after `at` instructions.
    pub(super) fn take(&mut self, time: Time, at: u64) {
        let Some(time) = self.clock.take(time) else { return };
        if self.list.last().is_some_and(|(last, _)| at.saturating_sub(*last) < self.apart) {
            return;
        }
        self.list.push((at, time));
        if self.list.len() > MAX_READINGS {
            let first = self.list.first().map_or(0, |(at, _)| *at);
            let each = at.saturating_sub(first).checked_div(MAX_READINGS as u64).unwrap_or(0);
            self.apart = each.max(1).saturating_mul(2);
            let (mut kept, apart) = (None, self.apart);
            self.list.retain(|(at, _)| {
                let keep = kept.is_none_or(|last: u64| at.saturating_sub(last) >= apart);
                kept = if keep { Some(*at) } else { kept };
                keep
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_too_many() {
        let mut anchors = Anchors::default();
        for at in 0..100_000 {
            anchors.take(Time::Stamp { value: 3 * at, bits: 64 }, at);
            anchors.take(Time::Cycles(Some(1)), at);
            assert!(anchors.list.len() <= MAX_READINGS);
        }
        assert!(anchors.list.len() > MAX_READINGS / 4, "{}", anchors.list.len());
        assert!(anchors.list.iter().all(|(at, time)| *time == 3 * at));
    }
}
