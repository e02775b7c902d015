//! One hart: what it executed on one side, and what its encoder received on the other.

use crate::soc::SocConfig;
use crate::{Commit, Event, Rows};
use hartrace_etrace::ingress::{IType, Retired};
use hartrace_hdl_tools::verilate::{Output, SimError, Simulation};
use hartrace_lockstep::{RoundTripCheck, Seen};
use serde::Serialize;
use std::collections::VecDeque;

/// Follows a hart, its connector and its encoder.
#[derive(Debug)]
pub(crate) struct HartWatch<'a> {
    pub(crate) follow: RoundTripCheck<'a>,
    rows: Rows,
    /// What was executed in this cycle.
    fresh: Vec<(Retired, u64)>,
    /// What was executed while it was traced, but has not left the connector, and in which cycle.
    inside: VecDeque<(Retired, u64)>,
    /// The cycles of instructions that the encoder accepted, if it has an internal clock.
    pub(crate) clock: Option<Clock>,
    lanes: u32,
    itype_width: u32,
    iretire_width: u32,
    itype: Output,
    iretire: Output,
    held: Output,
    lost: Output,
    traces: Output,
    missed: Output,
    queue_level: Output,
    pub(crate) instructions: u64,
    pub(crate) traps: u64,
    pub(crate) stalled: u64,
    pub(crate) peak: u64,
    /// The first block that differs from what was executed.
    pub(crate) difference: Option<String>,
}

/// The internal clock of an encoder, as the simulator sees it.
#[derive(Debug)]
pub(crate) struct Clock {
    /// The cycle in which it starts with 0.
    start: u64,
    /// The cycles in which instructions were committed, and the last instructions of their blocks.
    commits: Vec<(u64, u64)>,
}

/// How late the decoded times of synchronisations are, in cycles: from the commit of the last instruction of a block, when the
/// connector can pass it on, to the cycle in which the encoder received it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delay {
    /// Number of synchronisations.
    pub synchronisations: u64,
    /// The smallest delay; negative if a time is too early.
    pub min: i64,
    /// The largest delay.
    pub max: i64,
    /// The largest delay since the commit of the first instruction of a block, which is the one that synchronises.
    pub since_first: i64,
}

impl Clock {
    pub(crate) fn new(start: u64) -> Self {
        Self { start, commits: Vec::new() }
    }

    /// Compares the times of synchronisations, which have `bits` bits, with the commits of their instructions.
    pub(crate) fn delay(&self, times: &[(u64, u64)], bits: u32) -> Option<Delay> {
        let above = 64 - bits;
        let delays = times.iter().filter_map(|(before, time)| {
            let (first, last) = self.commits.get(*before as usize)?;
            let since = |commit: &u64| {
                let delay = time.wrapping_sub(commit.wrapping_sub(self.start));
                (delay << above) as i64 >> above
            };
            Some((since(first), since(last)))
        });
        delays.fold(None, |all: Option<Delay>, (first, last)| {
            let all = all.unwrap_or(Delay {
                synchronisations: 0,
                min: last,
                max: last,
                since_first: first,
            });
            Some(Delay {
                synchronisations: all.synchronisations + 1,
                min: all.min.min(last),
                max: all.max.max(last),
                since_first: all.since_first.max(first),
            })
        })
    }
}

impl<'a> HartWatch<'a> {
    pub(crate) fn new(
        sim: &Simulation,
        number: usize,
        soc: &SocConfig,
        follow: RoundTripCheck<'a>,
    ) -> Result<Self, SimError> {
        let config = &soc.top.encoder;
        let port = |name: &str| sim.output(&format!("hart{number}_{name}_o"));
        Ok(Self {
            follow,
            rows: Rows::new(soc.xlen()),
            fresh: Vec::new(),
            inside: VecDeque::new(),
            clock: None,
            lanes: config.lanes.into(),
            itype_width: config.itype_width_p.into(),
            iretire_width: config.iretire_width_p.into(),
            itype: port("itype")?,
            iretire: port("iretire")?,
            held: port("held")?,
            lost: port("lost")?,
            traces: port("traces")?,
            missed: port("missed")?,
            queue_level: port("queue_level")?,
            instructions: 0,
            traps: 0,
            stalled: 0,
            peak: 0,
            difference: None,
        })
    }

    /// Something was committed in a cycle.
    pub(crate) fn commit(&mut self, commit: &Commit, cycle: u64) {
        if commit.debug || commit.event == Event::Debug {
            // It interrupts sequences of instructions.
            let _ = self.rows.row(commit);
            return;
        }
        match commit.event {
            Event::Retired => self.instructions += 1,
            _ => self.traps += 1,
        }
        self.fresh.extend(self.rows.row(commit).into_iter().map(|row| (row, cycle)));
    }

    /// Called after a clock cycle, with the outputs before its edge. `also` receives what the encoder received.
    pub(crate) fn cycle(&mut self, sim: &Simulation, also: &mut dyn FnMut(Seen<'_>)) {
        self.peak = self.peak.max(sim.get(self.queue_level));
        if sim.get(self.traces) == 1 {
            self.inside.append(&mut self.fresh.drain(..).collect());
        }
        self.fresh.clear();
        if sim.get(self.missed) == 1 {
            self.differ("the connector has lost something".to_owned());
        }
        let (itypes, counts) = (sim.get(self.itype), sim.get(self.iretire));
        let mut left: Vec<(Retired, u64)> = Vec::new();
        if sim.get(self.held) == 1 {
            self.stalled += 1;
            return;
        }
        let refused = sim.get(self.lost) == 1;
        for lane in 0..self.lanes {
            let field = |word: u64, width: u32| word >> (lane * width) & ((1 << width) - 1);
            let itype = IType::try_from(field(itypes, self.itype_width) as u8).unwrap_or_default();
            let count = field(counts, self.iretire_width) as u32;
            let before = left.len();
            self.take(count, itype, &mut left);
            if let Some(clock) = self.clock.as_mut().filter(|_| !refused) {
                let block = left[before..].iter().filter(|(row, _)| row.iretire > 0);
                let last = block.clone().map(|(_, cycle)| *cycle).next_back().unwrap_or(0);
                clock.commits.extend(block.map(|(_, cycle)| (*cycle, last)));
            }
        }
        if !left.is_empty() {
            let left: Vec<Retired> = left.into_iter().map(|(row, _)| row).collect();
            let seen = || if refused { Seen::Lost(&left) } else { Seen::Accepted(&left) };
            also(seen());
            self.follow.seen(seen());
        }
    }

    /// Compares the contents of a block.
    fn take(&mut self, mut half_words: u32, itype: IType, left: &mut Vec<(Retired, u64)>) {
        while half_words > 0 {
            match self.inside.pop_front() {
                Some(row) if (1..=half_words).contains(&row.0.iretire) => {
                    half_words -= row.0.iretire;
                    left.push(row);
                }
                row => return self.differ(format!("{half_words} half-words, executed {row:x?}")),
            }
        }
        if itype.is_trap() {
            match self.inside.pop_front() {
                Some(row) if row.0.itype == itype => left.push(row),
                row => self.differ(format!("{itype:?}, executed {row:x?}")),
            }
        }
    }

    fn differ(&mut self, what: String) {
        self.difference.get_or_insert(what);
    }

    /// Checks that everything has left the connector.
    pub(crate) fn close(&mut self) {
        if let Some((row, _)) = self.inside.front().copied() {
            self.differ(format!("the connector keeps {row:x?}"));
        }
    }
}
