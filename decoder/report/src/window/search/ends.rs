//! Where the start and the end of a window are, of all the places where they may be.

use super::Wanted;
use std::collections::HashMap;

/// Number of the start, and of the end, of a window.
pub(super) const FROM: usize = 0;
pub(super) const TO: usize = 1;

/// Turns of a loop, all alike.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Turns {
    /// Instructions before the first.
    pub(super) start: u64,
    pub(super) times: u64,
    /// Instructions of one.
    pub(super) period: u64,
}

/// It happens once.
pub(super) const ONCE: Turns = Turns { start: 0, times: 1, period: 0 };

/// An end may be here.
#[derive(Copy, Clone, Debug)]
pub(super) struct Hit {
    /// Instructions before it, the first time.
    pub(super) at: u64,
    pub(super) end: usize,
    pub(super) turns: Turns,
}

/// The ends so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) ends: [Option<u64>; 2],
    pub(super) seen: [u64; 2],
    /// Up to where turns of a loop go that may contain the end of the window, while its start is not known.
    pub(super) passed: u64,
    /// What is looked for is in turns that are only counted.
    pub(super) unsure: bool,
}

impl Found {
    /// Takes hits in the order of the trace; those of the first turn stand for all turns.
    pub(super) fn take(&mut self, wanted: &Wanted, hits: &[Hit]) {
        let mut groups: Vec<Vec<Hit>> = Vec::new();
        let mut open: HashMap<Turns, usize> = HashMap::new();
        for hit in hits {
            let next = groups.len();
            let group =
                if hit.turns == ONCE { next } else { *open.entry(hit.turns).or_insert(next) };
            match groups.get_mut(group) {
                Some(group) => group.push(*hit),
                None => groups.push(vec![*hit]),
            }
        }
        for group in groups {
            for end in [FROM, TO] {
                let hits: Vec<Hit> = group.iter().copied().filter(|hit| hit.end == end).collect();
                if let Some(first) = hits.first() {
                    self.group(wanted, *first, &hits);
                }
            }
        }
    }

    /// Takes hits of one end in the same turns.
    fn group(&mut self, wanted: &Wanted, first: Hit, hits: &[Hit]) {
        let Hit { at, end, turns } = first;
        let last = at.saturating_add(turns.times.saturating_sub(1).saturating_mul(turns.period));
        let Some(Some((_, nth))) = wanted.ends.get(end) else { return };
        if self.ends.get(end).is_none_or(Option::is_some) {
            return;
        }
        // Without a number, it is the first time after the start.
        let is_relative = end == TO && nth.is_none();
        if is_relative && let Some(start) = self.ends[FROM] {
            if at <= start {
                self.unsure |= last > start;
                return;
            }
        } else if is_relative && wanted.ends[FROM].is_some() {
            self.passed = self.passed.max(last);
            return;
        }
        let Some(seen) = self.seen.get_mut(end) else { return };
        let each = hits.len() as u64;
        let all = each.saturating_mul(turns.times);
        let left = nth.unwrap_or(1).saturating_sub(*seen);
        *seen = seen.saturating_add(all);
        if left == 0 || left > all {
            return;
        }
        let before = left.saturating_sub(1);
        let turn = before.checked_div(each).unwrap_or(0);
        let index = before.checked_rem(each).unwrap_or(0) as usize;
        let at = hits.get(index).map_or(at, |hit| hit.at);
        let at = at.saturating_add(turn.saturating_mul(turns.period));
        if let Some(found) = self.ends.get_mut(end) {
            *found = Some(at);
        }
        // The end may have been in turns that have been passed.
        self.unsure |= end == FROM && self.passed > at;
    }
}
