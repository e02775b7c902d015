//! The generated E-Trace decoder against software.

use super::etmv4::{Comparison, Lanes, slice};
use hartrace_decoder_hdl::etrace::{Config, ConfigError, Field, decoder, latency, record};
use hartrace_hdl_tools::verilate::{Input, Model, Options, Output, SimError, Simulation};
use std::collections::VecDeque;
use std::fmt;
use thiserror::Error;

pub mod random;
mod records;

pub use records::{EtraceEnded, EtraceRecord, EtraceRecords};

/// The RTL of a decoder in simulation.
#[derive(Debug)]
pub struct EtraceBench {
    config: Config,
    fields: Vec<Field>,
    model: Model,
}

/// The RTL cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EtraceBenchError {
    /// There is no such decoder.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct EtraceReport {
    /// Bytes that were sent.
    pub bytes: u64,
    /// Cycles in which they were sent.
    pub cycles: u64,
    /// Records of the software, by format, then those of packets that cannot be decoded.
    pub records: [u64; 9],
    /// Records with an address that is known.
    pub known: u64,
    /// Differences between both.
    pub differences: u64,
    /// The first difference.
    pub first: Option<String>,
}

impl EtraceReport {
    /// Bytes per cycle.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.bytes as f64 / self.cycles.max(1) as f64
    }

    /// The same without formats.
    #[must_use]
    pub fn comparison(&self) -> Comparison {
        Comparison {
            bytes: self.bytes,
            cycles: self.cycles,
            records: self.records.iter().sum(),
            errors: self.records.last().copied().unwrap_or(0),
            differences: self.differences,
            first: self.first.clone(),
        }
    }

    fn count(&mut self, record: &EtraceRecord) {
        let format = if record.get("error") == 0 { record.get("format") as usize } else { 8 };
        self.records.iter_mut().skip(format).take(1).for_each(|count| *count += 1);
        self.known += record.get("known");
    }

    fn differs(&mut self, what: fmt::Arguments<'_>) {
        self.differences += 1;
        self.first.get_or_insert_with(|| what.to_string());
    }
}

impl EtraceBench {
    /// Generates the RTL and builds its model.
    ///
    /// # Errors
    ///
    /// If there is no such decoder, or no model of it.
    pub fn new(config: &Config, options: &Options) -> Result<Self, EtraceBenchError> {
        let model = Model::build(&decoder(config)?, options)?;
        Ok(Self { config: *config, fields: record(config)?, model })
    }

    /// Sends bytes through the RTL and through software, and compares every record of one source.
    ///
    /// # Errors
    ///
    /// If the simulator fails.
    pub fn compare(
        &self,
        bytes: &[u8],
        source: u16,
        lanes: Lanes,
    ) -> Result<EtraceReport, EtraceBenchError> {
        let u = self.config.unroll;
        let latency = latency(&self.config)? as usize;
        let mut report = EtraceReport::default();
        let mut sim = self.model.start(1)?;
        let ports = Ports::new(&sim, &self.fields, u)?;
        if let Ok(port) = sim.input("source_i") {
            sim.set(port, source.into());
        }
        sim.reset()?;
        let mut software = EtraceRecords::new(&self.config, source)?;
        let mut expected: VecDeque<EtraceEnded> = VecDeque::new();
        // For each cycle on the way, the number of its first byte and which are valid.
        let mut on_the_way: VecDeque<(u64, u64)> = VecDeque::new();
        let mut random = match lanes {
            Lanes::Full => None,
            Lanes::Holes(seed) => Some(fastrand::Rng::with_seed(seed)),
        };
        let mut sent = 0;
        while sent < bytes.len() || on_the_way.iter().any(|(_, valid)| *valid != 0) {
            let rest = bytes.get(sent..).unwrap_or_default();
            let mut word = [0u8; 8];
            let (mut valid, mut count) = (0u64, 0);
            for (lane, to) in (0..u).zip(&mut word) {
                *to = random.as_mut().map_or(0, |random| random.u8(..));
                let hole = random.as_mut().is_some_and(|random| random.u8(..4) == 0);
                if let (false, Some(byte)) = (hole, rest.get(count)) {
                    *to = *byte;
                    valid |= 1 << lane;
                    count += 1;
                }
            }
            report.cycles += u64::from(!rest.is_empty());
            software.push(&rest[..count], |ended| expected.push_back(ended));
            on_the_way.push_back((sent as u64, valid));
            sent += count;
            sim.set(ports.valid, valid);
            sim.set(ports.bytes, u64::from_le_bytes(word) & (u64::MAX >> (64 - 8 * u)));
            sim.clock()?;
            if on_the_way.len() < latency {
                continue;
            }
            let Some((first, valid)) = on_the_way.pop_front() else { continue };
            self.check(&ports, &sim, first, valid, &mut expected, &mut report);
        }
        if let Some(ended) = expected.front() {
            report.differs(format_args!("{ended:x?} never came"));
        }
        report.bytes = sent as u64;
        Ok(report)
    }

    /// Compares the records of one cycle.
    fn check(
        &self,
        ports: &Ports<'_>,
        sim: &Simulation,
        first: u64,
        valid: u64,
        expected: &mut VecDeque<EtraceEnded>,
        report: &mut EtraceReport,
    ) {
        let u = self.config.unroll;
        // The number of the byte in a lane.
        let at = |lane: u32| first + u64::from((valid & ((1 << lane) - 1)).count_ones());
        for slot in 0..u.div_ceil(2) {
            let here = |ended: &EtraceEnded| {
                (2 * slot..(2 * slot + 2).min(u))
                    .any(|lane| valid >> lane & 1 == 1 && at(lane) == ended.at)
            };
            let ended = match expected.front() {
                Some(ended) if here(ended) => expected.pop_front(),
                _ => None,
            };
            if let Some(ended) = &ended {
                report.count(&ended.record);
            }
            let found = ports.record(sim, slot).map(|(second, record)| {
                let lane = 2 * slot + u32::from(second);
                let is_byte = lane < u && valid >> lane & 1 == 1;
                (is_byte.then(|| at(lane)), record)
            });
            match (found, ended) {
                (None, None) => {}
                (Some((at, found)), Some(ended))
                    if at == Some(ended.at) && found == ended.record => {}
                (found, ended) => report.differs(format_args!(
                    "bytes from {first} on, record {slot}: {found:x?}, not {ended:x?}"
                )),
            }
        }
    }
}

/// The ports of the decoder.
struct Ports<'a> {
    valid: Input,
    bytes: Input,
    fields: Vec<(&'a Field, Output)>,
    record_valid: Output,
    second: Output,
}

impl<'a> Ports<'a> {
    fn new(sim: &Simulation, fields: &'a [Field], unroll: u32) -> Result<Self, SimError> {
        let mut outputs = Vec::new();
        for field in fields.iter().filter(|field| !["valid", "second"].contains(&field.name)) {
            let output = sim.output(&format!("{}_o", field.name))?;
            assert_eq!(output.width(), field.width * unroll.div_ceil(2), "{}", field.name);
            outputs.push((field, output));
        }
        Ok(Self {
            valid: sim.input("valid_i")?,
            bytes: sim.input("bytes_i")?,
            fields: outputs,
            record_valid: sim.output("valid_o")?,
            second: sim.output("second_o")?,
        })
    }

    /// Whether the record ends with the second byte of its two, and the record.
    fn record(&self, sim: &Simulation, slot: u32) -> Option<(bool, EtraceRecord)> {
        if sim.get(self.record_valid) >> slot & 1 == 0 {
            return None;
        }
        let mut record = EtraceRecord::default();
        for (field, output) in &self.fields {
            let value = slice(sim.get_wide(*output), slot * field.width, field.width);
            record.set(field.name, value);
        }
        Some((sim.get(self.second) >> slot & 1 == 1, record.meaningful()))
    }
}
