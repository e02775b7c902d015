//! One hart: what it executed on one side, and what its encoder received on the other.

use crate::{Commit, Event, Rows};
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::{IType, Retired};
use hartrace_hdl_tools::verilate::{Output, SimError, Simulation};
use hartrace_lockstep::{Follow, Seen};
use std::collections::VecDeque;

/// Follows a hart, its connector and its encoder.
#[derive(Debug)]
pub(crate) struct HartWatch<'a> {
    pub(crate) follow: Follow<'a>,
    rows: Rows,
    /// What was executed, but has not left the connector.
    inside: VecDeque<Retired>,
    lanes: u32,
    itype_width: u32,
    iretire_width: u32,
    stalls: bool,
    itype: Output,
    iretire: Output,
    refused: Output,
    missed: Output,
    pub(crate) pending: Output,
    queue_level: Output,
    pub(crate) instructions: u64,
    pub(crate) traps: u64,
    pub(crate) stalled: u64,
    pub(crate) peak: u64,
    /// The first block that differs from what was executed.
    pub(crate) difference: Option<String>,
}

impl<'a> HartWatch<'a> {
    pub(crate) fn new(
        sim: &Simulation,
        number: usize,
        config: &Config,
        stalls: bool,
        follow: Follow<'a>,
    ) -> Result<Self, SimError> {
        let port = |name: &str| sim.output(&format!("hart{number}_{name}_o"));
        Ok(Self {
            follow,
            rows: Rows::default(),
            inside: VecDeque::new(),
            lanes: config.lanes.into(),
            itype_width: config.itype_width_p.into(),
            iretire_width: config.iretire_width_p.into(),
            stalls,
            itype: port("itype")?,
            iretire: port("iretire")?,
            refused: port("refused")?,
            missed: port("missed")?,
            pending: port("pending")?,
            queue_level: port("queue_level")?,
            instructions: 0,
            traps: 0,
            stalled: 0,
            peak: 0,
            difference: None,
        })
    }

    pub(crate) fn commit(&mut self, commit: &Commit) {
        if commit.debug || commit.event == Event::Debug {
            // It interrupts sequences of instructions.
            let _ = self.rows.row(commit);
            return;
        }
        match commit.event {
            Event::Retired => self.instructions += 1,
            _ => self.traps += 1,
        }
        self.inside.extend(self.rows.row(commit));
    }

    /// Called after a clock cycle, with the outputs before its edge. `also` receives what the encoder received.
    pub(crate) fn cycle(&mut self, sim: &Simulation, also: &mut dyn FnMut(Seen<'_>)) {
        self.peak = self.peak.max(sim.get(self.queue_level));
        if sim.get(self.missed) == 1 {
            self.differ("the connector has lost something".to_owned());
        }
        let (itypes, counts) = (sim.get(self.itype), sim.get(self.iretire));
        let mut left = Vec::new();
        let refused = sim.get(self.refused) == 1;
        if refused && self.stalls {
            self.stalled += 1;
            return;
        }
        for lane in 0..self.lanes {
            let field = |word: u64, width: u32| word >> (lane * width) & ((1 << width) - 1);
            let itype = IType::try_from(field(itypes, self.itype_width) as u8).unwrap_or_default();
            let count = field(counts, self.iretire_width) as u32;
            self.take(count, itype, &mut left);
        }
        if !left.is_empty() {
            let seen = || if refused { Seen::Lost(&left) } else { Seen::Accepted(&left) };
            also(seen());
            self.follow.seen(seen());
        }
    }

    /// Compares the contents of a block.
    fn take(&mut self, mut half_words: u32, itype: IType, left: &mut Vec<Retired>) {
        while half_words > 0 {
            match self.inside.pop_front() {
                Some(row) if (1..=half_words).contains(&row.iretire) => {
                    half_words -= row.iretire;
                    left.push(row);
                }
                row => return self.differ(format!("{half_words} half-words, executed {row:x?}")),
            }
        }
        if itype.is_trap() {
            match self.inside.pop_front() {
                Some(row) if row.itype == itype => left.push(row),
                row => self.differ(format!("{itype:?}, executed {row:x?}")),
            }
        }
    }

    fn differ(&mut self, what: String) {
        self.difference.get_or_insert(what);
    }

    /// Checks that everything has left the connector.
    pub(crate) fn close(&mut self) {
        if let Some(row) = self.inside.front().copied() {
            self.differ(format!("the connector keeps {row:x?}"));
        }
    }
}
