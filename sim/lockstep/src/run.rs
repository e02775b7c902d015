//! Sends rows through both encoders.

use crate::bench::Bench;
use crate::{Point, Setting, Summary};
use fastrand::Rng;
use hartrace_bits::mask;
use hartrace_etrace::ingress::Retired;
use hartrace_golden::Encoder;
use hartrace_golden::encoder::Encoded;
use hartrace_hdl_tools::verilate::SimError;
use std::collections::VecDeque;
use std::fmt;
use thiserror::Error;

/// How busy both sides are.
#[derive(Copy, Clone, Debug, Default)]
pub struct Traffic {
    /// Cycles per thousand in which the output is not accepted.
    pub back_pressure: u32,
    /// Cycles in a thousand in which nothing retires.
    pub idle: u32,
    /// The seed for arbitrary decisions.
    pub seed: u64,
    /// The time is the number of cycles; otherwise it is that of the rows.
    pub clock: bool,
    /// Cycles in a thousand in which something has been lost before it reached the encoder.
    pub incomplete: u32,
    /// Cycles in a thousand in which the levels that may be traced change, where the encoder can be told them. With 0, all
    /// levels may be traced all the time.
    pub permissions: u32,
}

/// The encoders differ, or the simulation failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The simulation failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The golden encoder cannot be set up like this.
    #[error("golden encoder: {0}")]
    Golden(#[from] hartrace_golden::encoder::ConfigError),
    /// The hardware has no such mode.
    #[error("the encoder has no mode {0}")]
    NoMode(hartrace_etrace::Mode),
    /// The hardware has no such filters.
    #[error("the encoder has fewer filters than that, or cannot ask for what they ask for")]
    NoFilter,
    /// A block does not fit through the port.
    #[error("row {row}: {half_words} half-words do not fit into iretire_width_p = {width}")]
    Block {
        /// The number of the row.
        row: u64,
        /// Its half-words.
        half_words: u32,
        /// Width of *iretire*.
        width: u8,
    },
    /// More blocks in a cycle than there are lanes.
    #[error("row {row}: {rows} blocks in one cycle, but there are {lanes} lanes")]
    Lanes {
        /// The number of the first row.
        row: u64,
        /// The number of blocks.
        rows: usize,
        /// Lanes of the encoder.
        lanes: u8,
    },
    /// A payload differs.
    #[error("payload {number} in cycle {cycle}: {got:02x?} instead of {expected}")]
    Payload {
        /// Its number.
        number: u64,
        /// The clock cycle.
        cycle: u64,
        /// From the RTL.
        got: Vec<u8>,
        /// From the golden encoder, with the reason.
        expected: String,
    },
    /// The RTL sends a payload too many.
    #[error("payload {number} in cycle {cycle}: {got:02x?}, but nothing is to be sent")]
    Unexpected {
        /// Its number.
        number: u64,
        /// The clock cycle.
        cycle: u64,
        /// From the RTL.
        got: Vec<u8>,
    },
    /// The RTL reports that it is empty, but is not.
    #[error("nothing is on its way in cycle {cycle}, but {expected} is still to be sent")]
    Empty {
        /// The clock cycle.
        cycle: u64,
        /// From the golden encoder, with the reason.
        expected: String,
    },
    /// The RTL no longer sends anything.
    #[error("nothing happens from cycle {cycle} on; {missing} payloads are missing, first {first}")]
    Stuck {
        /// The clock cycle.
        cycle: u64,
        /// Number of missing payloads.
        missing: usize,
        /// The first missing payload.
        first: String,
    },
}

/// An event of a run, in order.
#[derive(Copy, Clone, Debug)]
#[non_exhaustive]
pub enum Seen<'a> {
    /// Rows that retired in a cycle and were accepted.
    Accepted(&'a [Retired]),
    /// Rows that retired in a cycle and were lost.
    Lost(&'a [Retired]),
    /// Rows that retired in a cycle, at a level that may not be traced.
    Forbidden(&'a [Retired]),
    /// A payload of the RTL, and that of the golden encoder if both are compared.
    Payload(&'a [u8], Option<&'a Encoded>),
    /// A clock cycle is over.
    Cycle,
}

/// Number of cycles without an event after which none is expected any more.
const PATIENCE: u64 = 5_000;

/// Number of payloads that the RTL may send before the golden encoder can produce them: those of an end or
/// a loss, which the RTL knows when it happens and the golden encoder only with the next row.
const AHEAD: usize = 64;

/// Number of cycles after the end in which nothing may happen.
const AFTER: u64 = 16;

impl Bench {
    /// Sends rows through both encoders. Of the rows that retire in the same cycle, all but the first have
    /// `cycles` 0.
    pub fn run(
        &mut self,
        rows: &[Retired],
        setting: &Setting,
        traffic: Traffic,
    ) -> Result<Summary, Mismatch> {
        let mut nobody = |_: Seen<'_>| {};
        let mut session = self.start(setting, traffic, &mut nobody)?;
        session.push(rows)?;
        session.finish()
    }

    /// Starts a run of both encoders. `watch` receives every event.
    pub fn start<'a>(
        &'a mut self,
        setting: &Setting,
        traffic: Traffic,
        watch: &'a mut dyn FnMut(Seen<'_>),
    ) -> Result<Session<'a>, Mismatch> {
        let golden = setting.golden(&self.config)?;
        self.begin(setting, traffic, Some(golden), watch)
    }

    /// Starts a run of the RTL alone: nothing is compared.
    pub fn start_alone<'a>(
        &'a mut self,
        setting: &Setting,
        traffic: Traffic,
        watch: &'a mut dyn FnMut(Seen<'_>),
    ) -> Result<Session<'a>, Mismatch> {
        self.begin(setting, traffic, None, watch)
    }

    fn begin<'a>(
        &'a mut self,
        setting: &Setting,
        traffic: Traffic,
        golden: Option<Encoder>,
        watch: &'a mut dyn FnMut(Seen<'_>),
    ) -> Result<Session<'a>, Mismatch> {
        self.set_up(setting)?;
        self.drive(&[]);
        self.sim.set(self.ports.enable, 0);
        self.sim.set(self.ports.ready, 0);
        self.sim.reset()?;
        self.sim.set(self.ports.enable, 1);
        let mut summary = Summary::default();
        summary.coverage.modes(setting);
        Ok(Session {
            bench: self,
            setting: setting.clone(),
            traffic,
            late_halts: false,
            rng: Rng::with_seed(traffic.seed),
            golden,
            watch,
            expected: VecDeque::new(),
            sent: VecDeque::new(),
            summary,
            group: Vec::new(),
            last_group: 0,
            losing: false,
            allow: u64::MAX,
            level: 0,
            forbidden: false,
            insists: false,
            ended: false,
            draining: false,
            quiet: 0,
        })
    }
}

/// A run of both encoders, or of the RTL alone, that advances as rows are added.
pub struct Session<'a> {
    bench: &'a mut Bench,
    setting: Setting,
    traffic: Traffic,
    late_halts: bool,
    rng: Rng,
    golden: Option<Encoder>,
    watch: &'a mut dyn FnMut(Seen<'_>),
    /// Payloads of the golden encoder that the RTL has not sent yet.
    expected: VecDeque<Encoded>,
    /// Payloads of the RTL, with their cycle, that the golden encoder has not produced yet.
    sent: VecDeque<(u64, Vec<u8>)>,
    summary: Summary,
    /// The rows that are offered to the RTL.
    group: Vec<Retired>,
    /// The last cycle in which something was accepted.
    last_group: u64,
    losing: bool,
    /// Levels that may be traced, one bit each.
    allow: u64,
    /// The level of the hart.
    level: u8,
    /// It may not be traced.
    forbidden: bool,
    /// It shows the last rows once more, although it is halted or in reset.
    insists: bool,
    /// Tracing ends, and nothing else is to come.
    ended: bool,
    /// Tracing has been switched off, and rows are still to come.
    draining: bool,
    /// Number of cycles since the last event.
    quiet: u64,
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("summary", &self.summary).finish_non_exhaustive()
    }
}

impl Session<'_> {
    /// Halts or resets the hart in a cycle after that of its last block, if `late`, until all is sent;
    /// otherwise it is in the same cycle.
    #[must_use]
    pub fn halting_late(self, late: bool) -> Self {
        Self { late_halts: late, ..self }
    }

    /// Lets only these levels be traced, one bit each, until the traffic changes them.
    #[must_use]
    pub fn allowing(self, allow: u64) -> Self {
        Self { allow, ..self }
    }

    /// Retires rows. Of those in one cycle, all but the first have `cycles` 0.
    pub fn push(&mut self, rows: &[Retired]) -> Result<(), Mismatch> {
        for group in rows.chunk_by(|_, row| row.cycles == 0) {
            self.check(group)?;
            // Nothing retires before tracing has started, nor in idle cycles.
            while !self.started() || self.rng.u32(..1000) < self.traffic.idle {
                self.cycle(false)?;
            }
            self.resume()?;
            self.group.clear();
            self.group.extend_from_slice(group);
            while !self.cycle(true)? {}
            self.halt()?;
        }
        Ok(())
    }

    /// Lets a hart that was halted or in reset continue before it retires anything else, where the encoder does not trace
    /// a hart that still is. Sometimes, such a hart seems to retire something first.
    fn resume(&mut self) -> Result<(), Mismatch> {
        let (halted, reset) = halts(&self.group);
        if self.bench.config.permission && (halted || reset) {
            if !self.late_halts && !self.forbidden && self.rng.bool() {
                self.insists = true;
                self.cycle(false)?;
                self.insists = false;
            }
            self.bench.halt(false, false);
            self.cycle(false)?;
        }
        Ok(())
    }

    /// Halts or resets the hart after its last block, if it does so later than that.
    fn halt(&mut self) -> Result<(), Mismatch> {
        let (halted, reset) = halts(&self.group);
        if !self.late_halts || !(halted || reset) {
            return Ok(());
        }
        self.bench.halt(halted, reset);
        self.cover_halt(true);
        // A break is offered until there is room for it.
        loop {
            self.cycle(false)?;
            let Bench { sim, ports, .. } = &*self.bench;
            if sim.get(ports.empty) == 1 {
                return Ok(());
            }
        }
    }

    /// Stops tracing while rows that retired before are still to come, and waits for the last payload. Nothing retires
    /// after them.
    pub fn finish_behind(mut self, rows: &[Retired]) -> Result<Summary, Mismatch> {
        while !self.started() {
            self.cycle(false)?;
        }
        self.bench.sim.set(self.bench.ports.enable, 0);
        self.draining = true;
        self.push(rows)?;
        self.draining = false;
        self.finish()
    }

    /// Stops tracing and waits for the last payload.
    pub fn finish(mut self) -> Result<Summary, Mismatch> {
        while !self.started() {
            self.cycle(false)?;
        }
        if let Some(golden) = &mut self.golden {
            if self.losing {
                golden.miss(&mut |e| self.expected.push_back(e));
            }
            golden.finish(&mut |e| self.expected.push_back(e));
        }
        // The golden encoder has ended: from here on, nothing may change that it would have to be told.
        self.ended = true;
        self.bench.sim.set(self.bench.ports.enable, 0);
        let mut left = AFTER;
        while left > 0 {
            self.cycle(false)?;
            let Bench { sim, ports, .. } = &self.bench;
            if sim.get(ports.active) == 1 || sim.get(ports.empty) == 0 {
                left = AFTER;
                continue;
            }
            left -= 1;
            if let Some(expected) = self.expected.front() {
                let (cycle, expected) = (self.summary.cycles, describe(expected));
                return Err(Mismatch::Empty { cycle, expected });
            }
            if let Some((cycle, got)) = self.sent.front() {
                return self.unexpected(*cycle, got).map(|()| self.summary);
            }
        }
        self.summary.cycles -= AFTER;
        Ok(self.summary)
    }

    /// Returns the results so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    fn started(&self) -> bool {
        self.bench.sim.get(self.bench.ports.active) == 1
    }

    /// Checks that the ports of the RTL can carry what retires in a cycle.
    fn check(&self, group: &[Retired]) -> Result<(), Mismatch> {
        let row = self.summary.rows + self.summary.lost_rows;
        let (lanes, width) = (self.bench.config.lanes, self.bench.config.iretire_width_p);
        if group.len() > usize::from(lanes) {
            return Err(Mismatch::Lanes { row, rows: group.len(), lanes });
        }
        match group.iter().find(|row| row.iretire >> width != 0) {
            Some(long) => Err(Mismatch::Block { row, half_words: long.iretire, width }),
            None => Ok(()),
        }
    }

    /// Advances one cycle, in which the group retires or nothing does. Returns whether the group is
    /// complete.
    fn cycle(&mut self, retires: bool) -> Result<bool, Mismatch> {
        if retires && self.traffic.clock {
            let now = self.summary.cycles & mask(self.bench.config.etrace.time_bits());
            self.group.iter_mut().for_each(|row| row.time = now);
        }
        let bench = &mut *self.bench;
        bench.drive(if retires || self.insists { &self.group } else { &[] });
        if retires && self.late_halts {
            bench.halt(false, false);
        }
        self.permit(retires);
        let loses = self.traffic.incomplete > 0
            && self.started()
            && self.rng.u32(..1000) < self.traffic.incomplete;
        let bench = &mut *self.bench;
        if loses {
            bench.ports.hart.lose(&mut bench.sim);
        }
        if self.draining {
            bench.ports.hart.delay(&mut bench.sim);
        }
        let ready = self.rng.u32(..1000) >= self.traffic.back_pressure;
        bench.sim.set(bench.ports.ready, ready.into());
        bench.sim.step()?;
        self.summary.cycles += 1;
        self.quiet += 1;
        let offers = bench.sim.get(bench.ports.valid) == 1;
        let sends = ready && offers;
        if offers && !ready {
            self.summary.coverage.hit(Point::Waits);
        }
        if loses && !retires && !self.forbidden {
            self.lose(0);
        }
        let done = retires && self.retire();
        if sends {
            self.quiet = 0;
            let payload = self.bench.payload();
            match self.golden {
                Some(_) => self.sent.push_back((self.summary.cycles, payload)),
                None => self.count(&payload, None),
            }
        }
        self.compare()?;
        (self.watch)(Seen::Cycle);
        if self.quiet > PATIENCE {
            return Err(Mismatch::Stuck {
                cycle: self.summary.cycles,
                missing: self.expected.len(),
                first: self.expected.front().map_or_else(String::new, describe),
            });
        }
        Ok(done)
    }

    /// Chooses the levels that may be traced in this cycle, and tells both encoders.
    fn permit(&mut self, retires: bool) {
        if !self.bench.config.permission || self.ended {
            return;
        }
        let changes = self.traffic.permissions;
        if changes > 0 && self.rng.u32(..1000) < changes {
            // Mostly, all levels but one; sometimes, none.
            self.allow = [0, 1, 3].map(|level| !(1 << level))[self.rng.usize(..3)];
            match self.rng.u8(..4) {
                0 => self.allow = self.rng.u64(..),
                1 => self.allow = u64::MAX,
                _ => {}
            }
        }
        if let (true, Some(row)) = (retires, self.group.last()) {
            self.level = row.privilege.0 & ((1 << self.bench.config.etrace.privilege_width_p) - 1);
        }
        let Bench { sim, ports, .. } = &mut *self.bench;
        ports.hart.allow(sim, self.allow);
        self.forbidden = self.allow >> self.level & 1 == 0;
        if let (true, Some(golden)) = (self.forbidden && self.started(), &mut self.golden) {
            golden.forbid(&mut |e| self.expected.push_back(e));
        }
    }

    /// Handles the group in this cycle. Returns whether it is complete.
    fn retire(&mut self) -> bool {
        if self.forbidden {
            // Neither is it lost, nor has the hart to wait.
            self.quiet = 0;
            (self.watch)(Seen::Forbidden(&self.group));
            return true;
        }
        let Bench { sim, ports, .. } = &*self.bench;
        let stalled = ports.stall.is_some_and(|port| sim.get(port) == 1);
        let rows = self.group.len() as u64;
        match (stalled, sim.get(ports.lost) == 1) {
            (true, _) => {
                self.summary.stalled += 1;
                self.summary.coverage.hit(Point::Stalled);
                return false;
            }
            (false, true) => self.lose(rows),
            (false, false) => {
                let missed = std::mem::take(&mut self.losing);
                // The encoder counts cycles itself, up to 15.
                let passed = self.summary.cycles - self.last_group;
                self.last_group = self.summary.cycles;
                if let Some(first) = self.group.first_mut() {
                    first.cycles = passed.min(15) as u32;
                }
                if let Some(golden) = &mut self.golden {
                    let out = &mut |e| self.expected.push_back(e);
                    if missed {
                        golden.miss(out);
                    }
                    self.group.iter().for_each(|row| golden.retire(row, out));
                }
                self.summary.groups += 1;
                self.summary.rows += rows;
                self.summary.coverage.accepted(&self.setting, &self.group);
                if !self.late_halts {
                    self.cover_halt(false);
                }
                self.quiet = 0;
                (self.watch)(Seen::Accepted(&self.group));
            }
        }
        true
    }

    /// These rows of the group are lost.
    fn lose(&mut self, rows: u64) {
        self.summary.lost += 1;
        self.summary.lost_rows += rows;
        self.summary.losses += u64::from(!self.losing);
        self.summary.coverage.hit(Point::Lost { several: self.losing });
        self.losing = true;
        (self.watch)(Seen::Lost(&self.group[..rows as usize]));
    }

    fn cover_halt(&mut self, alone: bool) {
        let (halted, reset) = halts(&self.group);
        for (on, reset) in [(halted, false), (reset, true)] {
            if on {
                self.summary.coverage.hit(Point::Halt { reset, alone });
            }
        }
    }

    /// Compares what both have sent. Either may be ahead: the RTL is when something ends before the next
    /// row arrives.
    fn compare(&mut self) -> Result<(), Mismatch> {
        while !self.sent.is_empty() && !self.expected.is_empty() {
            let (Some((cycle, got)), Some(expected)) =
                (self.sent.pop_front(), self.expected.pop_front())
            else {
                break;
            };
            if got != expected.bytes {
                let (number, expected) = (self.summary.payloads, describe(&expected));
                return Err(Mismatch::Payload { number, cycle, got, expected });
            }
            self.count(&got, Some(&expected));
        }
        match self.sent.front() {
            Some((cycle, got)) if self.sent.len() > AHEAD => self.unexpected(*cycle, got),
            _ => Ok(()),
        }
    }

    fn unexpected(&self, cycle: u64, got: &[u8]) -> Result<(), Mismatch> {
        let (number, got) = (self.summary.payloads, got.to_vec());
        Err(Mismatch::Unexpected { number, cycle, got })
    }

    fn count(&mut self, payload: &[u8], encoded: Option<&Encoded>) {
        self.summary.payloads += 1;
        self.summary.bytes += payload.len() as u64;
        if let Some(encoded) = encoded {
            self.summary.coverage.payload(&self.bench.config, &self.setting, encoded);
        }
        (self.watch)(Seen::Payload(payload, encoded));
    }
}

/// Whether the hart is halted, and whether it is reset, after these rows.
fn halts(rows: &[Retired]) -> (bool, bool) {
    (rows.iter().any(|row| row.halted), rows.iter().any(|row| row.reset))
}

fn describe(encoded: &Encoded) -> String {
    format!(
        "{:02x?} ({:?}, {}, row {})",
        encoded.bytes, encoded.payload, encoded.reason, encoded.row
    )
}
