use super::records::{Ended, Record, Records};
use hartrace_decoder_hdl::etmv4::{Config, ConfigError, LATENCY, decoder};
use hartrace_hdl_tools::verilate::{Input, Model, Options, Output, SimError, Simulation};
use std::collections::VecDeque;
use std::fmt;
use std::ops::RangeInclusive;
use thiserror::Error;

/// The RTL of a decoder in simulation.
#[derive(Debug)]
pub struct Etmv4Bench {
    config: Config,
    model: Model,
}

/// The RTL cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Etmv4BenchError {
    /// There is no such decoder.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

/// Which bytes of a cycle are valid.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// All of them.
    Full,
    /// Any of them, as this number determines.
    Holes(u64),
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Bytes that were sent.
    pub bytes: u64,
    /// Cycles in which they were sent.
    pub cycles: u64,
    /// Records of the software, errors included.
    pub records: u64,
    /// Errors among them.
    pub errors: u64,
    /// Differences between both.
    pub differences: u64,
    /// The first difference.
    pub first: Option<String>,
}

impl Comparison {
    /// Bytes per cycle.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.cycles.max(1) as f64
    }

    fn differs(&mut self, what: fmt::Arguments<'_>) {
        self.differences += 1;
        self.first.get_or_insert_with(|| what.to_string());
    }
}

/// Headers of packets of events.
const EVENTS: RangeInclusive<u16> = 0x71..=0x7f;

impl Etmv4Bench {
    /// Generates the RTL and builds its model.
    ///
    /// # Errors
    ///
    /// If there is no such decoder, or no model of it.
    pub fn new(config: &Config, options: &Options) -> Result<Self, Etmv4BenchError> {
        Ok(Self { config: *config, model: Model::build(&decoder(config)?, options)? })
    }

    /// Sends bytes through the RTL and through software, and compares every record.
    ///
    /// # Errors
    ///
    /// If the simulator fails.
    pub fn compare(&self, bytes: &[u8], lanes: Lanes) -> Result<Comparison, SimError> {
        let mut report = Comparison::default();
        let mut sim = self.model.start(1)?;
        let ports = Ports::new(&sim, &self.config)?;
        sim.reset()?;
        let mut software = Records::new(&self.config);
        let mut expected: VecDeque<Ended> = VecDeque::new();
        // For each cycle on the way, the number of its first byte and which are valid.
        let mut on_the_way: VecDeque<(u64, u64)> = VecDeque::new();
        let mut random = match lanes {
            Lanes::Full => None,
            Lanes::Holes(seed) => Some(fastrand::Rng::with_seed(seed)),
        };
        let mut sent = 0;
        let mut word = [0u8; 8];
        while sent < bytes.len() || on_the_way.iter().any(|(_, valid)| *valid != 0) {
            let rest = bytes.get(sent..).unwrap_or_default();
            let mut valid = 0u64;
            let mut count = 0;
            for lane in 0..self.config.unroll {
                word[lane as usize] = random.as_mut().map_or(0, |random| random.u8(..));
                let hole = random.as_mut().is_some_and(|random| random.u8(..4) == 0);
                if let (false, Some(byte)) = (hole, rest.get(count)) {
                    word[lane as usize] = *byte;
                    valid |= 1 << lane;
                    count += 1;
                }
            }
            if count > 0 || !rest.is_empty() {
                report.cycles += 1;
            }
            software.push(&rest[..count], |ended| expected.push_back(ended));
            on_the_way.push_back((sent as u64, valid));
            sent += count;
            sim.set(ports.valid, valid);
            sim.set(ports.bytes, u64::from_le_bytes(word) & ones(8 * self.config.unroll));
            sim.clock()?;
            if on_the_way.len() < LATENCY as usize {
                continue;
            }
            let Some((first, valid)) = on_the_way.pop_front() else { continue };
            let mut at = first;
            let records = sim.get(ports.record_valid);
            for lane in 0..self.config.unroll {
                let is_byte = valid >> lane & 1 == 1;
                let record = (records >> lane & 1 == 1).then(|| ports.record(&sim, lane));
                let wanted = match expected.front() {
                    Some(ended) if is_byte && ended.at == at => expected.pop_front(),
                    _ => None,
                };
                if let Some(ended) = &wanted {
                    report.records += 1;
                    report.errors += u64::from(ended.record.error);
                }
                match (record, wanted.map(|ended| ended.record)) {
                    (None, None) => {}
                    (Some(found), Some(wanted)) if found == wanted => {}
                    (Some(found), Some(wanted)) => {
                        report.differs(format_args!("byte {at}: {found:x?}, not {wanted:x?}"))
                    }
                    (Some(found), None) => {
                        report
                            .differs(format_args!("byte {at}: {found:x?}, but nothing ends there"));
                    }
                    (None, Some(wanted)) => {
                        report.differs(format_args!(
                            "byte {at}: nothing, but {wanted:x?} ends there"
                        ));
                    }
                }
                at += u64::from(is_byte);
            }
        }
        if let Some(ended) = expected.front() {
            report.differs(format_args!("{ended:x?} never came"));
        }
        report.bytes = sent as u64;
        Ok(report)
    }
}

/// The ports of the decoder.
struct Ports {
    valid: Input,
    bytes: Input,
    record_valid: Output,
    fields: Vec<(&'static str, Output, u32)>,
}

impl Ports {
    fn new(sim: &Simulation, config: &Config) -> Result<Self, SimError> {
        let mut fields = Vec::new();
        for (name, _) in hartrace_decoder_hdl::etmv4::RECORD {
            // Not every configuration has identifiers.
            if let Ok(output) = sim.output(&format!("{name}_o")) {
                fields.push((name, output, output.width() / config.unroll));
            }
        }
        Ok(Self {
            valid: sim.input("valid_i")?,
            bytes: sim.input("bytes_i")?,
            record_valid: sim.output("valid_o")?,
            fields,
        })
    }

    fn record(&self, sim: &Simulation, lane: u32) -> Record {
        let mut record = Record::default();
        for (name, output, width) in &self.fields {
            let value = slice(sim.get_wide(*output), lane * width, *width);
            match *name {
                "error" => record.error = value != 0,
                "header" => record.header = value as u16,
                "address" => record.address = value,
                "returns" => record.returns = value != 0,
                "atoms" => record.atoms = value as u8,
                "outcomes" => record.outcomes = value as u32,
                "events" => record.events = value as u8,
                "context" => record.context = value as u8,
                "vmid" => record.vmid = value as u32,
                "context_id" => record.context_id = value as u32,
                "timestamp" => record.timestamp = value,
                "cycles" => record.cycles = value,
                "exception" => record.exception = value as u16,
                "count" => record.count = value as u32,
                _ => {}
            }
        }
        // Outcomes above the number of atoms have no meaning, neither have events of other packets, and what
        // the packet of an error is.
        record.outcomes &= ones(record.atoms.into()) as u32;
        if !EVENTS.contains(&record.header) {
            record.events = 0;
        }
        if record.error {
            (record.header, record.returns, record.events) = (0, false, 0);
        }
        record
    }
}

fn ones(bits: u32) -> u64 {
    1u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
}

/// Bits of a wide value.
pub(super) fn slice(words: &[u64], lo: u32, width: u32) -> u64 {
    let (word, bit) = ((lo / 64) as usize, lo % 64);
    let low = words.get(word).copied().unwrap_or(0) >> bit;
    let high = words.get(word + 1).copied().unwrap_or(0);
    let high = if bit == 0 { 0 } else { high << (64 - bit) };
    (low | high) & ones(width)
}
