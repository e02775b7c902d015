//! What a part of a trace is decoded into while a window is looked for.

use super::What;
use super::ends::{Hit, ONCE, Turns};
use crate::collect::Collect;
use hartrace_decoder::calls::Transfers;
use hartrace_decoder::{Event, Path, Run, Sink, StreamPos};

/// What a part of the trace is decoded into.
#[derive(Debug)]
pub struct SearchPart {
    pub(super) transfers: Transfers,
    pub(super) addresses: Vec<(usize, u64)>,
    /// Ends that are packets or bytes, as long as they are ahead.
    pub(super) ahead: Vec<(usize, What)>,
    pub(super) hits: Vec<Hit>,
    pub(super) insns: u64,
    /// Where the turn that is repeated starts: hits and instructions so far, and how often it is taken.
    pub(super) turn: Option<(usize, u64, u64)>,
}

impl SearchPart {
    fn reach(&mut self, at: StreamPos) {
        let (hits, insns) = (&mut self.hits, self.insns);
        self.ahead.retain(|(end, what)| {
            let reached = match what {
                What::Packet(number) => at.packet >= *number,
                What::Byte(number) => at.byte >= *number,
                _ => false,
            };
            if reached {
                hits.push(Hit { at: insns, end: *end, turns: ONCE });
            }
            !reached
        });
    }

    fn look(&mut self, at: StreamPos, run: &Run<'_>) {
        if !self.ahead.is_empty() {
            self.reach(at);
        }
        for (end, address) in &self.addresses {
            if (run.start()..run.end()).contains(address) {
                let mut at = self.insns;
                run.addresses(|pc| {
                    if pc == *address {
                        self.hits.push(Hit { at, end: *end, turns: ONCE });
                    }
                    at = at.saturating_add(1);
                });
            }
        }
        self.insns = self.insns.saturating_add(run.insns().into());
    }
}

impl Sink for SearchPart {
    const ORDERED: bool = Transfers::ORDERED;
    const REPEATS: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.look(at, &run);
        self.transfers.run(at, run);
    }

    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        match self.addresses.is_empty() && self.ahead.is_empty() {
            true => self.insns = self.insns.saturating_add(path.insns()),
            false => path.runs().for_each(|run| self.look(at, &run)),
        }
        self.transfers.path(at, path);
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        self.turn.get_or_insert((self.hits.len(), self.insns, times));
        self.look(at, &run);
        self.transfers.repeat(at, run, times);
    }

    fn end_turn(&mut self) {
        self.transfers.end_turn();
        let Some((hits, insns, times)) = self.turn.take() else { return };
        let period = self.insns.saturating_sub(insns);
        for hit in self.hits.iter_mut().skip(hits) {
            hit.turns = Turns { start: insns, times, period };
        }
        let again = times.saturating_sub(1);
        self.insns = self.insns.saturating_add(again.saturating_mul(period));
    }

    fn is_full(&self) -> bool {
        self.transfers.is_full() || self.hits.len() >= 1 << 16
    }

    fn bytes(&self) -> Option<usize> {
        let hits = self.hits.capacity().saturating_mul(size_of::<Hit>());
        Some(self.transfers.bytes()?.saturating_add(hits))
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.transfers.event(at, event);
    }
}

impl Collect for SearchPart {}
