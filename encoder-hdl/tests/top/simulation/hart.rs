//! A hart that runs all the time, and the output of the golden encoder for the part that is
//! traced.

use fastrand::Rng;
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::Retired;
use hartrace_golden::Encoder;
use hartrace_golden::walk::generate;
use hartrace_hdl_tools::verilate::{Output, Simulation};
use hartrace_lockstep::{HartPorts, Setting, random};
use libtest_mimic::Failed;
use std::collections::VecDeque;

/// A hart, the ports of its encoder and its expected output.
pub(crate) struct Hart {
    config: Config,
    ports: HartPorts,
    stall: Option<Output>,
    loses: Output,
    groups: VecDeque<Vec<Retired>>,
    /// Cycles out of a thousand in which nothing retires.
    pub(crate) idle: u32,
    offered: Option<Vec<Retired>>,
    /// Cycles out of a thousand in which the levels change that may be traced. If not 0, the hart retires nothing while it
    /// is not traced, so that its level stays.
    pub(crate) permissions: u32,
    /// Levels that may be traced, one bit each, and the level of the hart.
    pub(crate) allow: u64,
    level: u8,
    /// It was halted or reset by the last rows.
    halted: bool,
    /// The setting of the registers, and whether the core follows it.
    enable: bool,
    active: bool,
    golden: Option<Encoder>,
    /// Whether triggers count.
    triggers: bool,
    /// Whether tracing is on, after triggers.
    pub(crate) on: bool,
    losing: bool,
    last_group: u64,
    pub(crate) expected: Vec<Vec<u8>>,
    /// Rows that were traced, groups that were lost, cycles in which the hart had to wait.
    pub(crate) traced: u64,
    pub(crate) lost: u64,
    pub(crate) stalled: u64,
    /// Rows that might not be traced.
    pub(crate) forbidden: u64,
}

impl Hart {
    pub(crate) fn new(sim: &Simulation, config: &Config, number: u32) -> Result<Self, Failed> {
        let output = |name: &str| sim.output(&format!("hart{number}_{name}_o"));
        Ok(Self {
            config: config.clone(),
            ports: HartPorts::new(sim, &format!("hart{number}_"))?,
            stall: config.may_stall().then(|| output("stall")).transpose()?,
            loses: output("lost")?,
            groups: VecDeque::new(),
            idle: 0,
            offered: None,
            permissions: 0,
            allow: u64::MAX,
            level: 0,
            halted: false,
            enable: false,
            active: false,
            golden: None,
            triggers: false,
            on: true,
            losing: false,
            last_group: 0,
            expected: Vec::new(),
            traced: 0,
            lost: 0,
            stalled: 0,
            forbidden: 0,
        })
    }

    /// Loads another program, and returns what it retires.
    pub(crate) fn load(&mut self, rng: &mut Rng, steps: usize) -> Vec<Retired> {
        let seed = rng.u64(..);
        let walk = generate(seed, &random::shape(rng, &self.config, seed, steps));
        let half_words = (1 << self.config.iretire_width_p) - 1;
        let rows = walk.blocks_within(rng.u64(..), self.config.lanes.into(), half_words);
        self.execute(&rows);
        rows
    }

    /// Executes these rows next. Of those in one cycle, all but the first have `cycles` 0.
    pub(crate) fn execute(&mut self, rows: &[Retired]) {
        self.groups = rows.chunk_by(|_, row| row.cycles == 0).map(<[Retired]>::to_vec).collect();
    }

    /// Call after writing the registers: tracing begins two cycles later, since nothing is
    /// inside.
    pub(crate) fn start(&mut self, setting: &Setting, triggers: bool) -> Result<(), Failed> {
        self.golden = Some(setting.golden(&self.config)?);
        (self.enable, self.triggers, self.on) = (true, triggers, !setting.initially_off);
        Ok(())
    }

    /// The trace that has just started says that an earlier one is incomplete.
    pub(crate) fn reports_loss(&mut self) {
        self.losing = true;
    }

    /// Call after writing the registers: nothing that retires from here on is traced.
    pub(crate) fn stop(&mut self) {
        self.enable = false;
        let Some(mut golden) = self.golden.take() else { return };
        let expected = &mut self.expected;
        if std::mem::take(&mut self.losing) {
            golden.miss(&mut |encoded| expected.push(encoded.bytes));
        }
        golden.finish(&mut |encoded| expected.push(encoded.bytes));
    }

    /// Before a clock edge.
    pub(crate) fn drive(&mut self, sim: &mut Simulation, rng: &mut Rng) {
        let waits = self.permissions > 0 && !self.enable;
        // Where some levels may not be traced, a hart has to continue before it retires something else.
        let continues = std::mem::take(&mut self.halted) && self.config.permission;
        if self.offered.is_none() && !waits && !continues && rng.u32(..1000) >= self.idle {
            self.offered = self.groups.pop_front();
        }
        let rows = self.offered.as_deref().unwrap_or_default();
        self.ports.drive(sim, &self.config, rows);
        if continues && rows.is_empty() {
            self.ports.halt(sim, false, false);
        }
        self.halted = rows.iter().any(|row| row.halted || row.reset);
        if let Some(row) = rows.last() {
            self.level = row.privilege.0 & ((1 << self.config.etrace.privilege_width_p) - 1);
        }
        if self.permissions > 0 && !waits && rng.u32(..1000) < self.permissions {
            self.allow = rng.u64(..);
        }
        self.ports.allow(sim, self.allow);
    }

    /// At a clock edge: retired blocks are traced, lost or wait.
    pub(crate) fn observe(&mut self, sim: &Simulation, time: u64) {
        let cycle = sim.cycle() + 1;
        let traced = self.active && self.enable;
        let stalled = self.stall.is_some_and(|output| sim.get(output) == 1);
        // The core starts in the cycle after the write.
        self.active = self.enable;
        if !traced {
            self.offered = None;
            return;
        }
        if self.config.permission && self.allow >> self.level & 1 == 0 {
            let rows = self.offered.take().unwrap_or_default();
            self.forbidden += rows.len() as u64;
            if let Some(golden) = &mut self.golden {
                golden.forbid(&mut |encoded| self.expected.push(encoded.bytes));
            }
            return;
        }
        let Some(mut group) = self.offered.take() else { return };
        match (stalled, sim.get(self.loses) == 1) {
            (true, _) => {
                self.stalled += 1;
                self.offered = Some(group);
            }
            (false, true) => {
                self.lost += 1;
                self.losing = true;
            }
            (false, false) => {
                // The encoder counts cycles up to 15.
                let passed = (cycle - self.last_group).min(15) as u32;
                self.last_group = cycle;
                self.retire(&mut group, passed, time);
            }
        }
    }

    fn retire(&mut self, group: &mut [Retired], passed: u32, time: u64) {
        let Self { golden: Some(golden), expected, config, .. } = self else { return };
        if std::mem::take(&mut self.losing) {
            golden.miss(&mut |encoded| expected.push(encoded.bytes));
        }
        for (i, row) in group.iter_mut().enumerate() {
            row.cycles = if i == 0 { passed } else { 0 };
            if config.etrace.time_bits() > 0 {
                row.time = time & (u64::MAX >> (64 - config.etrace.time_bits()));
            }
            if !self.triggers {
                (row.trigger.on, row.trigger.off) = (false, false);
            }
            self.on = (self.on | row.trigger.on) & !row.trigger.off;
            golden.retire(row, &mut |encoded| expected.push(encoded.bytes));
            self.traced += 1;
        }
    }
}
