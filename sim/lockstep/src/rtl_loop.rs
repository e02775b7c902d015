//! The generated encoder, encapsulation, decoder and block walker in one loop: what comes out must be what went in.
//!
//! ```no_run
//! use hartrace_encoder_hdl::Config;
//! use hartrace_hdl_tools::verilate::Options;
//! use hartrace_lockstep::Setting;
//! use hartrace_lockstep::rtl_loop::{Loop, LoopBench, LoopConfig};
//! use hartrace_lockstep::trial::Work;
//! use hartrace_executions::executed::{Program, modes};
//!
//! let config = Config::named("full").expect("there is one");
//! let work = Work::program(Program::new("sort", std::fs::read("sort.elf")?)?, &config)?;
//! let setting = Setting::new(&config, modes::named("ir+bp+jtc")?, 6);
//! let mut bench = LoopBench::new(&LoopConfig::new(config, 4), &Options::default())?;
//! let figures = Loop::new(&setting, "ir+bp+jtc").run(&mut bench, work, |_| ())?;
//! assert_eq!(figures.difference(), None);
//! println!("{figures}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod figures;

pub use figures::LoopFigures;

use crate::decoder::analysis::Found;
use crate::decoder::{
    FollowerBench, FollowerError, RunningFollower, TopBench, TopSettings, WalkFigures, Walks,
};
use crate::trial::{TrialError, Work};
use crate::{Bench, BenchError, Mismatch, Seen, Setting, Traffic};
use hartrace_decoder::block_table::{BlockTable, WordLayout};
use hartrace_decoder_hdl::{Decoder, etrace, top, walker};
use hartrace_encap::EncapParams;
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_executions::executed::Port;
use hartrace_hdl_tools::verilate::Options;
use std::collections::VecDeque;
use std::fmt;
use thiserror::Error;

/// Which hardware is in the loop.
#[derive(Clone, Debug)]
pub struct LoopConfig {
    /// The encoder.
    pub encoder: Config,
    /// Bytes that the decoder takes per cycle, 1 to 8.
    pub unroll: u32,
    /// The fields around payloads.
    pub encap: EncapParams,
    /// Entries of the walker's table.
    pub entries: u32,
    /// Rows of the walker's FIFO.
    pub rows: u32,
    /// Everything is behind the walker, too, and the program is loaded over the bus; [`LoopFigures::found`] is what it found.
    pub analysis: bool,
}

/// Cycles after which a walker should be at rest. One packet can stand for 2^32 branches.
const RESTLESS: u64 = 1 << 34;

/// Neither sources nor times nor types.
const PLAIN: EncapParams = match EncapParams::new(0, 0, 0) {
    Ok(params) => params,
    Err(_) => panic!("no fields are possible"),
};

impl LoopConfig {
    /// An encoder with a decoder for this many bytes per cycle, and a table of 1,024 entries.
    #[must_use]
    pub fn new(encoder: Config, unroll: u32) -> Self {
        Self { encoder, unroll, encap: PLAIN, entries: 1 << 10, rows: 512, analysis: false }
    }

    /// The decoder and the walker.
    #[must_use]
    pub fn walker(&self) -> walker::Config {
        let (params, unit) = (self.encoder.etrace, self.encoder.unit());
        let (unroll, encap) = (self.unroll, self.encap);
        let decoder = etrace::Config { unroll, params, unit, encap, aligned: true };
        walker::Config { rows: self.rows, ..walker::Config::new(decoder, self.entries) }
    }
}

/// The loop cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoopError {
    /// The encoder cannot be simulated.
    #[error(transparent)]
    Encoder(#[from] BenchError),
    /// The decoder or the walker cannot be simulated, or the program does not fit into the table.
    #[error(transparent)]
    Follower(#[from] FollowerError),
    /// The program cannot be executed or traced like this.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The code of what was executed is not known.
    #[error("a log without its program: a walker needs the code")]
    NoProgram,
}

impl From<Mismatch> for LoopError {
    fn from(error: Mismatch) -> Self {
        Self::Trial(error.into())
    }
}

/// The models of the loop: one of the encoder, one of what receives its trace. They advance together.
#[derive(Debug)]
pub struct LoopBench {
    encoder: Bench,
    receiver: Receiver,
}

impl LoopBench {
    /// Generates the RTL and builds its models.
    ///
    /// # Errors
    ///
    /// If there is no such hardware, or no model of it.
    pub fn new(config: &LoopConfig, options: &Options) -> Result<Self, LoopError> {
        let receiver = Receiver::new(config, options)?;
        let encoder = Bench::framed(&config.encoder, config.encap, options)?;
        Ok(Self { encoder, receiver })
    }
}

/// The model of a decoder with a walker, or of the same with everything behind them.
#[derive(Debug)]
pub struct Receiver {
    config: walker::Config,
    model: Model,
}

#[derive(Debug)]
enum Model {
    Follower(FollowerBench),
    Top(TopBench),
}

impl Receiver {
    /// Generates the RTL and builds its model.
    ///
    /// # Errors
    ///
    /// If there is no such hardware, or no model of it.
    pub fn new(config: &LoopConfig, options: &Options) -> Result<Self, FollowerError> {
        let walker = config.walker();
        let model = match config.analysis {
            false => Model::Follower(FollowerBench::new(&walker, options)?),
            true => {
                let top = top::Config::new(Decoder::Follower(walker));
                Model::Top(TopBench::new(&top, options)?)
            }
        };
        Ok(Self { config: walker, model })
    }

    /// The parameters of the walker.
    #[must_use]
    pub fn config(&self) -> &walker::Config {
        &self.config
    }

    /// Starts from reset with the table of a program, the source to follow and the trap vectors by privilege.
    ///
    /// # Errors
    ///
    /// If the program does not fit, or the simulator fails.
    pub fn start(
        &self,
        table: &BlockTable,
        source: u16,
        tvec: &[(u8, u64)],
    ) -> Result<RunningFollower, FollowerError> {
        match &self.model {
            Model::Follower(follower) => follower.start(table, source, tvec),
            Model::Top(top) => {
                let table = Some(table);
                top.start(&TopSettings { table, source, tvec, ..top.settings() })
            }
        }
    }

    /// What was found behind the walker.
    ///
    /// # Errors
    ///
    /// If the simulator fails, or something never ends.
    pub fn finish(&self, following: RunningFollower) -> Result<Option<Found>, FollowerError> {
        match &self.model {
            Model::Follower(_) => Ok(None),
            Model::Top(top) => top.finish(following).map(Some),
        }
    }
}

/// Conditions that are the same for all programs.
#[derive(Clone, Debug)]
pub struct Loop<'a> {
    /// The settings of the encoder.
    pub setting: &'a Setting,
    /// The name of its modes.
    pub mode: &'a str,
    /// How busy the hart is. The decoder is always ready.
    pub idle: u32,
    /// The largest number of instructions that retire in one cycle; `None` for one per lane.
    pub retire: Option<u32>,
    /// The largest number of instructions and traps of each program.
    pub limit: u64,
}

impl<'a> Loop<'a> {
    /// Runs without idle cycles and without a limit.
    #[must_use]
    pub fn new(setting: &'a Setting, mode: &'a str) -> Self {
        Self { setting, mode, idle: 0, retire: None, limit: u64::MAX }
    }

    /// Sends what was executed through the loop, and compares it with what comes out. `progress` receives the input.
    ///
    /// # Errors
    ///
    /// If the program cannot be executed or traced in this way. A difference is not an error: the figures report it.
    pub fn run(
        &self,
        bench: &mut LoopBench,
        mut work: Work,
        mut progress: impl FnMut(&[Retired]),
    ) -> Result<LoopFigures, LoopError> {
        let image = work.image().ok_or(LoopError::NoProgram)?;
        let tvec = work.trap_vectors(&self.setting.options, self.limit)?;
        let table = BlockTable::build(&image, &[], WordLayout::SPAN_BITS);
        let layout = bench.receiver.config().table;
        let following = bench.receiver.start(&table, 0, &tvec)?;
        let config = bench.encoder.config();
        let port = Port {
            lanes: config.lanes,
            half_words: (1 << config.iretire_width_p) - 1,
            rows: self.retire.unwrap_or(config.lanes.into()),
            itype_width: match config.itype_width_p {
                3 => ITypeWidth::Three,
                _ => ITypeWidth::Four,
            },
        };
        let mut behind = DecoderSide::new(following, Walks::new(&image));
        let traffic = Traffic { idle: self.idle, ..Traffic::default() };
        let mut watch = |seen: Seen<'_>| behind.seen(seen);
        let mut session = bench.encoder.start_alone(self.setting, traffic, &mut watch)?;
        let executed = work.execute(port, self.limit, |rows| {
            progress(rows);
            session.push(rows)?;
            Ok(true)
        })?;
        let encoder = session.finish()?;
        let ((walked, lost, waiting), following) = behind.finish()?;
        let worked = following.worked();
        let found = bench.receiver.finish(following)?;
        Ok(LoopFigures {
            program: work.name().into(),
            mode: self.mode.into(),
            unroll: bench.receiver.config().decoder.unroll,
            executed,
            encoder,
            waiting,
            table: table.summary(&layout),
            walked,
            lost,
            worked,
            found,
        })
    }
}

/// The part of the loop behind the encoder: a decoder and a walker, and what they are compared with.
pub struct DecoderSide<'a> {
    following: RunningFollower,
    walks: Walks<'a>,
    bytes: VecDeque<u8>,
    waiting: usize,
    losing: bool,
    failed: Option<FollowerError>,
}

impl<'a> DecoderSide<'a> {
    /// Starts with what was executed and sent still to come.
    #[must_use]
    pub fn new(following: RunningFollower, walks: Walks<'a>) -> Self {
        let bytes = VecDeque::new();
        Self { following, walks, bytes, waiting: 0, losing: false, failed: None }
    }

    /// Takes what the encoder received, the bytes that it sent, and the end of each cycle.
    pub fn seen(&mut self, seen: Seen<'_>) {
        match seen {
            Seen::Accepted(rows) => {
                self.losing = false;
                rows.iter().for_each(|row| self.walks.executed(row));
            }
            Seen::Lost(_) => {
                // Consecutive losses are one loss.
                if !std::mem::replace(&mut self.losing, true) {
                    self.walks.lost();
                }
            }
            Seen::Payload(packet, _) => {
                self.bytes.extend(packet);
                self.waiting = self.waiting.max(self.bytes.len());
            }
            // It is not part of the trace, and says so nowhere.
            Seen::Forbidden(_) => {}
            Seen::Cycle => {
                if self.failed.is_none() {
                    self.failed = self.cycle().err();
                }
            }
        }
    }

    fn cycle(&mut self) -> Result<(), FollowerError> {
        let mut word = [0; 8];
        let count = self.bytes.len().min(self.following.unroll());
        word.iter_mut().zip(self.bytes.drain(..count)).for_each(|(to, from)| *to = from);
        let said = self.following.cycle(&word[..count])?;
        said.iter().for_each(|said| self.walks.said(said));
        Ok(())
    }

    /// The result, the records that were lost, and the most bytes that waited; and the hardware, at rest.
    ///
    /// # Errors
    ///
    /// If the simulator has failed.
    pub fn finish(mut self) -> Result<((WalkFigures, u64, usize), RunningFollower), FollowerError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        while !self.bytes.is_empty() {
            self.cycle()?;
        }
        let Self { mut following, mut walks, waiting, .. } = self;
        following.rest(RESTLESS, |said| walks.said(&said))?;
        Ok(((walks.finish(), following.lost(), waiting), following))
    }
}

impl fmt::Debug for DecoderSide<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecoderSide").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}
