//! The frame stage and the frame generator against software, and against each other.

mod generator;
mod random;

pub use generator::{GeneratorReport, SYNC_FRAMES, Write};
pub use random::{damaged, frames, hostile, synchronisations, writes};

use hartrace_decoder_hdl::frame::{Config, ConfigError, stage};
use hartrace_encap::coresight::{Deformatter, Item, Mode, Statistics};
use hartrace_encoder_hdl::transport::frame_generator;
use hartrace_hdl_tools::verilate::{Input, Model, Options, Output, SimError, Simulation};
use hartrace_rtl::{Component, Module};
use std::collections::VecDeque;
use std::fmt;
use thiserror::Error;

/// The RTL of a frame stage in simulation, with a frame generator before it.
#[derive(Debug)]
pub struct FrameBench {
    model: Model,
}

/// The RTL cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FrameBenchError {
    /// There is no such stage.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

/// What leaves a frame stage, in order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A byte of a source, or of a trigger.
    Byte {
        /// The number of the source.
        id: u8,
        /// The byte.
        byte: u8,
    },
    /// A frame was incomplete.
    Error,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct FrameReport {
    /// Bytes that were sent.
    pub bytes: u64,
    /// Words that were sent, each in its own cycle.
    pub words: u64,
    /// Bytes of sources that software read.
    pub read: u64,
    /// Errors that software found.
    pub errors: u64,
    /// Differences between both.
    pub differences: u64,
    /// The first difference.
    pub first: Option<String>,
}

impl FrameReport {
    fn differs(&mut self, what: fmt::Arguments<'_>) {
        self.differences += 1;
        self.first.get_or_insert_with(|| what.to_string());
    }
}

/// Numbers of the sources of the decoders: each one has a bit that differs from the next.
const SOURCES: [u8; 3] = [0x10, 0x11, 0x6f];

/// The number of triggers.
const TRIGGER: u8 = 0x7d;

/// More cycles than a byte needs to pass.
const LATENCY: usize = 12;

impl FrameBench {
    /// Generates the RTL and builds its model.
    ///
    /// # Errors
    ///
    /// If there is no model of it.
    pub fn new(options: &Options) -> Result<Self, FrameBenchError> {
        Ok(Self { model: Model::build(&pair()?, options)? })
    }

    /// Sends the whole words of a capture through the RTL and through software, and compares every byte, its source,
    /// and where errors are between them. With `pauses`, words do not come in every cycle.
    ///
    /// # Errors
    ///
    /// If the simulator fails.
    pub fn compare(&self, capture: &[u8], pauses: Option<u64>) -> Result<FrameReport, SimError> {
        let (words, _) = capture.as_chunks::<4>();
        let mut report = FrameReport::default();
        let mut software = Software::default();
        let mut sim = self.model.start(1)?;
        let ports = Ports::new(&sim)?;
        sim.reset()?;
        sim.set(ports.sources, join(&SOURCES));
        let mut random = pauses.map(fastrand::Rng::with_seed);
        let mut words = words.iter();
        let mut seen = Statistics::default();
        let mut idle = 0;
        while idle < LATENCY {
            let pause = random.as_mut().is_some_and(|random| random.u8(..3) == 0);
            let word = if pause { None } else { words.next() };
            if let Some(word) = word {
                software.feed(word);
                report.words += 1;
            } else if !pause {
                idle += 1;
            }
            let noise = random.as_mut().map_or(0, |random| random.u32(..));
            sim.set(ports.valid, word.is_some().into());
            sim.set(ports.bytes, word.map_or(noise, |word| u32::from_le_bytes(*word)).into());
            sim.clock()?;
            ports.read(&sim, |token| software.check(token, &mut seen, &mut report));
            ports.check_lanes(&sim, &mut report);
        }
        if let Some(token) = software.expected.front() {
            report.differs(format_args!("{token:x?} never came"));
        }
        let wanted = software.deformatter.statistics();
        // Hardware does not distinguish padding from bytes of an unknown source.
        let sums = |of: &Statistics| [of.data, of.null + of.unknown, of.reserved];
        if sums(&seen) != sums(&wanted) {
            report.differs(format_args!("{seen:?}, not {wanted:?}"));
        }
        report.bytes = 4 * report.words;
        report.read = wanted.data;
        report.errors = software.errors;
        Ok(report)
    }
}

/// A frame generator and a frame stage, whose words come from outside or from the generator.
fn pair() -> Result<Component, ConfigError> {
    let stage = stage(&Config { decoders: SOURCES.len() as u32 })?;
    let generator = frame_generator(SYNC_FRAMES);
    let m = Module::new("frames", "A frame generator and a frame stage.").clocked();
    let valid_i = m.input("valid_i", 1, "");
    let bytes_i = m.input("bytes_i", 32, "");
    let sources_i = m.input("sources_i", 7 * SOURCES.len() as u32, "");
    let inputs = [("valid_i", 1), ("data_i", 16), ("len_i", 2), ("last_i", 1), ("id_i", 7)];
    let inputs = inputs.map(|(name, width)| (name, m.input(&format!("word_{name}"), width, "")));
    let tready_i = m.input("tready_i", 1, "");
    let outputs = ["ready_o", "tvalid_o", "tdata_o", "tkeep_o", "tlast_o"].map(|name| {
        let width = generator.ports().iter().find(|port| port.name == name).map_or(1, |p| p.width);
        (name, m.output(name, width, ""))
    });
    let mut ports: Vec<_> = inputs.iter().chain(&outputs).map(|(name, e)| (*name, e)).collect();
    ports.push(("tready_i", &tready_i));
    m.inst("i_generator", &generator, &ports);
    let [_, (_, tvalid), (_, tdata), (_, tkeep), _] = &outputs;
    let sent = tvalid & &tready_i & tkeep.all();
    let (valid, bytes) = (&valid_i | sent, valid_i.mux(bytes_i, tdata));
    let mut ports = vec![("valid_i", &valid), ("bytes_i", &bytes), ("sources_i", &sources_i)];
    let outputs: Vec<_> = stage.ports().iter().filter(|port| port.name.ends_with("_o")).collect();
    let outputs: Vec<_> = outputs
        .iter()
        .map(|port| (port.name.as_str(), m.output(&format!("stage_{}", port.name), port.width, "")))
        .collect();
    ports.extend(outputs.iter().map(|(name, output)| (*name, output)));
    m.inst("i_stage", &stage, &ports);
    Ok(m.finish())
}

/// What software reads.
struct Software {
    deformatter: Deformatter,
    expected: VecDeque<Token>,
    errors: u64,
    compared: u64,
}

impl Default for Software {
    fn default() -> Self {
        let deformatter = Deformatter::new(Mode::FsyncHsync);
        Self { deformatter, expected: VecDeque::new(), errors: 0, compared: 0 }
    }
}

impl Software {
    fn feed(&mut self, word: &[u8]) {
        let Self { deformatter, expected, errors, .. } = self;
        deformatter.feed(word, &mut |item| match item {
            Item::Data(chunk) => {
                let id = chunk.id.get();
                expected.extend(chunk.bytes.iter().map(|&byte| Token::Byte { id, byte }));
            }
            Item::Trigger { bytes, .. } => {
                expected.extend(bytes.iter().map(|&byte| Token::Byte { id: TRIGGER, byte }));
            }
            Item::Fault(_) => {
                *errors += 1;
                expected.push_back(Token::Error);
            }
            // The bytes of a flush have no meaning; there are no resets at a port.
            Item::Flush { .. } | Item::Reset => {}
        });
    }

    /// Compares what leaves the RTL.
    fn check(&mut self, token: Token, seen: &mut Statistics, report: &mut FrameReport) {
        if let Token::Byte { id, .. } = token {
            match id {
                0 => seen.null += 1,
                1..=0x6f => seen.data += 1,
                TRIGGER | 0x7b => {}
                _ => seen.reserved += 1,
            }
            if !matches!(id, 1..=0x6f | TRIGGER) {
                return;
            }
        }
        let wanted = self.expected.pop_front();
        if wanted != Some(token) {
            report.differs(format_args!("{token:x?}, not {wanted:x?}, after {}", self.compared));
        }
        self.compared += 1;
    }
}

/// The ports of the stage.
struct Ports {
    valid: Input,
    bytes: Input,
    sources: Input,
    lanes: Output,
    data: Output,
    ids: Output,
    all: Output,
    error: Output,
}

impl Ports {
    fn new(sim: &Simulation) -> Result<Self, SimError> {
        Ok(Self {
            valid: sim.input("valid_i")?,
            bytes: sim.input("bytes_i")?,
            sources: sim.input("sources_i")?,
            lanes: sim.output("stage_valid_o")?,
            data: sim.output("stage_bytes_o")?,
            ids: sim.output("stage_ids_o")?,
            all: sim.output("stage_all_o")?,
            error: sim.output("stage_error_o")?,
        })
    }

    /// What leaves in this cycle.
    fn read(&self, sim: &Simulation, mut out: impl FnMut(Token)) {
        if sim.get(self.error) != 0 {
            out(Token::Error);
        }
        let (data, ids, all) = (sim.get(self.data), sim.get(self.ids), sim.get(self.all));
        for lane in (0..4).filter(|lane| all >> lane & 1 == 1) {
            let id = (ids >> (7 * lane) & 0x7f) as u8;
            out(Token::Byte { id, byte: (data >> (8 * lane)) as u8 });
        }
    }

    /// Each decoder gets the bytes of its source, and no others.
    fn check_lanes(&self, sim: &Simulation, report: &mut FrameReport) {
        let (lanes, ids, all) = (sim.get(self.lanes), sim.get(self.ids), sim.get(self.all));
        let mut wanted = 0;
        for (decoder, source) in SOURCES.iter().enumerate() {
            for lane in 0..4 {
                let here = (ids >> (7 * lane) & 0x7f) as u8 == *source && all >> lane & 1 == 1;
                wanted |= u64::from(here) << (4 * decoder + lane);
            }
        }
        if lanes != wanted {
            report.differs(format_args!("lanes {lanes:03x}, not {wanted:03x}"));
        }
    }
}

/// Numbers of sources, the first one lowest.
fn join(sources: &[u8]) -> u64 {
    sources.iter().rev().fold(0, |all, source| all << 7 | u64::from(*source))
}
