//! Rows through both encoders.

use crate::bench::{Bench, cut};
use fastrand::Rng;
use hartrace_encoder_hdl::Overflow;
use hartrace_etrace::{Branch, Ioptions, JumpTarget, Payload};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::{
    Comparator, Condition, Encoded, EncoderConfig, Filter, Reason, Resync,
};
use hartrace_ingress::{ITypeWidth, Retired};
use hartrace_verilate::SimError;
use std::collections::{BTreeMap, VecDeque};
use thiserror::Error;

/// How the encoder is set up.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// Modes that are on.
    pub options: Ioptions,
    /// When to resynchronise: the mode and *max*, as in the control registers.
    pub resync: (u8, u8),
    /// Privilege levels that are traced; all if there are none.
    pub privileges: Vec<u8>,
    /// Addresses that are traced, first and last; all if there are none.
    pub ranges: Vec<(u64, u64)>,
}

/// How busy both sides are.
#[derive(Copy, Clone, Debug, Default)]
pub struct Traffic {
    /// Cycles in a thousand in which nothing is taken at the output.
    pub back_pressure: u32,
    /// Cycles in a thousand in which nothing retires.
    pub idle: u32,
    /// Where to start with arbitrary decisions.
    pub seed: u64,
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
    /// A payload is another one.
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
    /// There is one too many.
    #[error("payload {number} in cycle {cycle}: {got:02x?}, but nothing is to be sent")]
    Unexpected {
        /// Its number.
        number: u64,
        /// The clock cycle.
        cycle: u64,
        /// From the RTL.
        got: Vec<u8>,
    },
    /// The RTL sends nothing any more.
    #[error("nothing happens from cycle {cycle} on; {missing} payloads are missing, first {first}")]
    Stuck {
        /// The clock cycle.
        cycle: u64,
        /// Payloads that are missing.
        missing: usize,
        /// The first of them.
        first: String,
    },
}

/// What was compared.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Clock cycles.
    pub cycles: u64,
    /// Groups that were accepted and lost.
    pub groups: u64,
    /// Groups that were lost.
    pub lost: u64,
    /// Times that groups were lost, one after the other.
    pub losses: u64,
    /// Rows that were accepted.
    pub rows: u64,
    /// Cycles in which the hart had to wait.
    pub stalled: u64,
    /// Payloads.
    pub payloads: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The payloads that the RTL sent.
    pub sent: Vec<Vec<u8>>,
    /// What kinds of them there were.
    pub covered: BTreeMap<Covered, u64>,
}

/// A kind of payload, as far as coverage is concerned.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Covered {
    /// Format and subformat.
    pub format: &'static str,
    /// Why it was sent.
    pub reason: Reason,
    /// How many branches it tells, one of [`Self::BRANCHES`].
    pub branches: &'static str,
}

impl Covered {
    /// Numbers of branches that matter.
    pub const BRANCHES: [&'static str; 6] = ["0", "1", "2-29", "30", "31", "counted"];

    fn of(encoded: &Encoded) -> Self {
        let branches = match &encoded.payload {
            Payload::BranchCount(_) => "counted",
            Payload::JumpTarget(JumpTarget { map, .. }) | Payload::Branch(Branch { map, .. }) => {
                match map.branches() {
                    0 => "0",
                    1 => "1",
                    30 => "30",
                    31 => "31",
                    _ => "2-29",
                }
            }
            _ => "0",
        };
        Self { format: encoded.payload.format().code(), reason: encoded.reason, branches }
    }
}

/// Cycles after which nothing is expected to happen any more.
const PATIENCE: u64 = 5_000;

impl Bench {
    /// The golden encoder of the same configuration.
    fn golden(&self, setting: &Setting) -> Result<Encoder, Mismatch> {
        let config = &self.config;
        let period = 1 << (setting.resync.1 + 4);
        let mut filter = Filter::default();
        let mut condition = Condition::default();
        if !setting.privileges.is_empty() {
            condition.privileges = Some(setting.privileges.clone());
        }
        if setting.ranges.is_empty() {
            if condition.privileges.is_some() {
                filter.conditions.push(condition);
            }
        } else {
            for (i, (first, last)) in setting.ranges.iter().enumerate() {
                filter.comparators.push(Comparator::range(*first, *last));
                filter.conditions.push(Condition { comparators: vec![i], ..condition.clone() });
            }
        }
        Ok(Encoder::new(EncoderConfig {
            params: config.etrace,
            unit: config.unit(),
            options: setting.options,
            itype_width: if config.itype_width_p == 4 {
                ITypeWidth::Four
            } else {
                ITypeWidth::Three
            },
            resync: match setting.resync.0 {
                1 => Resync::Packets(period),
                2 => Resync::Cycles(period),
                3 => Resync::HalfWords(period),
                _ => Resync::Off,
            },
            filter,
            ..EncoderConfig::default()
        })?)
    }

    fn set_up(&mut self, setting: &Setting) {
        self.options(&setting.options);
        let all = (0..8).collect();
        let levels = if setting.privileges.is_empty() { &all } else { &setting.privileges };
        let mask = levels.iter().fold(0u64, |mask, level| mask | 1 << level);
        let width = self.ports.privileges.width() as u8;
        self.sim.set(self.ports.privileges, cut(mask, width));
        self.sim.set(self.ports.resync_mode, setting.resync.0.into());
        self.sim.set(self.ports.resync_max, setting.resync.1.into());
        if let Some(port) = self.ports.initially_on {
            self.sim.set(port, 1);
        }
        if let Some([ranges, low, high]) = self.ports.ranges {
            let params = &self.config.etrace;
            let (mut lows, mut highs) = (vec![0u64; 16], vec![0u64; 16]);
            let width = u32::from(params.iaddress_width_p - params.iaddress_lsb_p);
            for (i, (first, last)) in (0u32..).zip(&setting.ranges) {
                place(&mut lows, i * width, width, first >> params.iaddress_lsb_p);
                place(&mut highs, i * width, width, last >> params.iaddress_lsb_p);
            }
            let words = low.width().div_ceil(64) as usize;
            self.sim.set(ranges, (1 << setting.ranges.len()) - 1);
            self.sim.set_wide(low, &lows[..words]);
            self.sim.set_wide(high, &highs[..words]);
        }
    }

    /// Sends rows through both encoders; rows that retire in the same cycle have `cycles` 0 but the
    /// first.
    pub fn run(
        &mut self,
        rows: &[Retired],
        setting: &Setting,
        traffic: Traffic,
    ) -> Result<Summary, Mismatch> {
        let mut golden = self.golden(setting)?;
        let mut expected: VecDeque<Encoded> = VecDeque::new();
        let mut sent: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
        let mut rng = Rng::with_seed(traffic.seed);
        let mut summary = Summary::default();
        self.set_up(setting);
        self.drive(&[]);
        self.sim.set(self.ports.enable, 0);
        self.sim.set(self.ports.ready, 0);
        self.sim.reset()?;
        self.sim.set(self.ports.enable, 1);

        let mut groups =
            rows.chunk_by(|_, row| row.cycles == 0).map(<[Retired]>::to_vec).peekable();
        let mut offered: Option<Vec<Retired>> = None;
        let (mut last_group, mut losing, mut ended) = (None::<u64>, false, false);
        let mut quiet = 0;
        loop {
            let started = self.sim.get(self.ports.active) == 1;
            if offered.is_none() && started && rng.u32(..1000) >= traffic.idle {
                offered = groups.next();
            }
            if offered.is_none() && groups.peek().is_none() && started && !ended {
                ended = true;
                if losing {
                    golden.miss(&mut |e| expected.push_back(e));
                }
                golden.finish(&mut |e| expected.push_back(e));
                self.sim.set(self.ports.enable, 0);
            }
            self.drive(offered.as_deref().unwrap_or_default());
            let ready = rng.u32(..1000) >= traffic.back_pressure;
            self.sim.set(self.ports.ready, ready.into());
            self.sim.step()?;
            summary.cycles += 1;
            quiet += 1;

            if let Some(group) = &mut offered {
                let port = match self.config.overflow {
                    Overflow::Stall => self.ports.stall,
                    Overflow::Drop => self.ports.lost,
                };
                let refused = port.is_some_and(|port| self.sim.get(port) == 1);
                match (self.config.overflow, refused) {
                    (Overflow::Stall, true) => summary.stalled += 1,
                    (Overflow::Drop, true) => {
                        summary.lost += 1;
                        summary.losses += u64::from(!losing);
                        losing = true;
                        offered = None;
                    }
                    (_, false) => {
                        if std::mem::take(&mut losing) {
                            golden.miss(&mut |e| expected.push_back(e));
                        }
                        // Cycles are counted by the encoder itself, up to 15.
                        let now = summary.cycles;
                        let passed = now - last_group.unwrap_or(0);
                        last_group = Some(now);
                        if let Some(first) = group.first_mut() {
                            first.cycles = passed.min(15) as u32;
                        }
                        for row in group.iter() {
                            golden.retire(row, &mut |e| expected.push_back(e));
                        }
                        summary.groups += 1;
                        summary.rows += group.len() as u64;
                        offered = None;
                        quiet = 0;
                    }
                }
            }
            if ready && self.sim.get(self.ports.valid) == 1 {
                quiet = 0;
                sent.push_back((summary.cycles, self.payload()));
            }
            // Either side may be ahead: the RTL where something ends before the next row is there.
            while let (Some(_), Some(_)) = (sent.front(), expected.front()) {
                compare(sent.pop_front(), expected.pop_front(), &mut summary)?;
            }
            let done = ended
                && self.sim.get(self.ports.active) == 0
                && self.sim.get(self.ports.empty) == 1;
            if done && expected.is_empty() {
                return match sent.pop_front() {
                    None => Ok(summary),
                    more => compare(more, None, &mut summary).map(|()| summary),
                };
            }
            if quiet > PATIENCE {
                return Err(Mismatch::Stuck {
                    cycle: summary.cycles,
                    missing: expected.len(),
                    first: expected.front().map_or_else(String::new, describe),
                });
            }
        }
    }

    fn payload(&self) -> Vec<u8> {
        let len = self.sim.get(self.ports.len) as usize;
        let words = self.sim.get_wide(self.ports.data);
        words.iter().flat_map(|word| word.to_le_bytes()).take(len).collect()
    }
}

fn describe(encoded: &Encoded) -> String {
    format!(
        "{:02x?} ({:?}, {}, row {})",
        encoded.bytes, encoded.payload, encoded.reason, encoded.row
    )
}

fn compare(
    sent: Option<(u64, Vec<u8>)>,
    expected: Option<Encoded>,
    summary: &mut Summary,
) -> Result<(), Mismatch> {
    let number = summary.payloads;
    let Some((cycle, got)) = sent else { return Ok(()) };
    let Some(expected) = expected else {
        return Err(Mismatch::Unexpected { number, cycle, got });
    };
    if got != expected.bytes {
        let expected = describe(&expected);
        return Err(Mismatch::Payload { number, cycle, got, expected });
    }
    summary.payloads += 1;
    summary.bytes += got.len() as u64;
    summary.sent.push(got);
    *summary.covered.entry(Covered::of(&expected)).or_default() += 1;
    Ok(())
}

/// Puts a value into a vector of words.
fn place(words: &mut [u64], at: u32, width: u32, value: u64) {
    for bit in 0..width {
        let (word, shift) = ((at + bit) / 64, (at + bit) % 64);
        words[word as usize] |= (value >> bit & 1) << shift;
    }
}
