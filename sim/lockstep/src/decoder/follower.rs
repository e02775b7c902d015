//! The generated decoder and block walker in simulation.

use super::memory::Memory;
use crate::setup::place;
use hartrace_decoder::Image;
use hartrace_decoder::block_table::{BlockTable, Ends, TableError, WordLayout};
use hartrace_decoder_hdl::DecoderError;
use hartrace_decoder_hdl::walker::{Cause, Config, ConfigError, etmv4, follower};
use hartrace_etrace::Params;
use hartrace_hdl_tools::verilate::{Input, Model, Options, Output, SimError, Simulation};
use thiserror::Error;

/// The RTL of a decoder with a walker behind it.
#[derive(Debug)]
pub struct FollowerBench {
    table: WordLayout,
    unroll: u32,
    /// Of E-Trace.
    params: Option<Params>,
    model: Model,
}

/// The RTL cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FollowerError {
    /// There is no such walker.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no such walker for ETMv4.
    #[error(transparent)]
    Etmv4(#[from] etmv4::ConfigError),
    /// The program does not fit into the table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// There is no decoder with everything behind it like this.
    #[error(transparent)]
    Decoder(#[from] DecoderError),
    /// A register does not change.
    #[error("{0} never says that it is done")]
    Waits(&'static str),
    /// The buffer in memory is too small.
    #[error("more was spilled than the buffer in memory holds")]
    Full,
    /// The RTL says something that it never should.
    #[error("the walker never comes to rest")]
    Restless,
}

/// Instructions that were executed, and whether some are missing after them.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The instructions.
    pub block: Option<Walked>,
    /// Why some are missing.
    pub gap: Option<Cause>,
}

/// Instructions at consecutive addresses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Walked {
    /// Address of the first one.
    pub start: u64,
    /// Address of the last one.
    pub last: u64,
    /// What the last one is.
    pub ends: Ends,
    /// It is a jump, or a branch that was taken.
    pub taken: bool,
    /// It was not executed.
    pub faulted: bool,
    /// Where the program continues, unless a trap, a gap or the end of tracing follows.
    pub next: Option<u64>,
}

/// More instructions than any block has.
const MOST: usize = 1 << 15;

impl Walked {
    /// The addresses of the instructions that were executed, and the address after them; `None` if there is no such code.
    #[must_use]
    pub fn instructions(&self, image: &Image) -> Option<(Vec<u64>, u64)> {
        let xlen = image.isa().xlen;
        let (mut addresses, mut at) = (Vec::new(), self.start);
        while addresses.len() < MOST {
            let insn = image.insn(at)?;
            if at == self.last && self.faulted {
                return Some((addresses, at));
            }
            addresses.push(at);
            let next = insn.next(xlen, at);
            if at == self.last {
                return Some((addresses, next));
            }
            at = next;
        }
        None
    }
}

impl FollowerBench {
    /// Generates the RTL for E-Trace and builds its model.
    ///
    /// # Errors
    ///
    /// If there is no such walker, or no model of it.
    pub fn new(config: &Config, options: &Options) -> Result<Self, FollowerError> {
        let (table, unroll) = (config.table, config.decoder.unroll);
        let params = Some(config.decoder.params);
        Ok(Self { table, unroll, params, model: Model::build(&follower(config)?, options)? })
    }

    /// Generates the RTL for ETMv4 and builds its model.
    ///
    /// # Errors
    ///
    /// If there is no such walker, or no model of it.
    pub fn etmv4(config: &etmv4::Config, options: &Options) -> Result<Self, FollowerError> {
        let (table, unroll) = (config.table, config.decoder.unroll);
        let model = Model::build(&etmv4::follower(config)?, options)?;
        Ok(Self { table, unroll, params: None, model })
    }

    /// Starts from reset with the table of a program, and for E-Trace the source to follow and the trap vectors by
    /// privilege.
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
        let words = table.words(&self.table)?;
        let mut sim = self.model.start(1)?;
        if let Ok(port) = sim.input("source_i") {
            sim.set(port, source.into());
        }
        let [write, index, word, base, last] =
            ["write_i", "write_index_i", "write_word_i", "base_i", "final_i"]
                .map(|name| sim.input(name));
        let (write, index, word) = (write?, index?, word?);
        sim.set(base?, table.base());
        sim.set(last?, words.len() as u64 - 1);
        if let Some(params) = &self.params {
            let vectors = sim.input("vectors_i")?;
            let mut words_of = vec![0u64; vectors.width().div_ceil(64) as usize];
            for (privilege, vector) in
                tvec.iter().filter(|(level, _)| level >> params.privilege_width_p == 0)
            {
                let bits = u32::from(params.iaddress_width_p);
                place(&mut words_of, u32::from(*privilege) * bits, bits, *vector);
            }
            sim.set_wide(vectors, &words_of);
        }
        sim.reset()?;
        sim.set(write, 1);
        for (number, value) in (0..).zip(&words) {
            sim.set(index, number);
            let halves = [*value as u64, (value >> 64) as u64];
            let used = if self.table.width() > 64 { 2 } else { 1 };
            sim.set_wide(word, &halves[..used]);
            sim.clock()?;
        }
        sim.set(write, 0);
        Ok(RunningFollower::new(sim, self.unroll, None)?)
    }
}

/// A decoder and a walker that run.
#[derive(Debug)]
pub struct RunningFollower {
    pub(super) sim: Simulation,
    lanes: [Input; 2],
    walker: Option<Ports>,
    /// What is behind them writes here.
    pub(super) memory: Option<Memory>,
    unroll: u32,
    worked: u64,
}

/// Cycles that a byte may take through the decoder.
const PIPELINE: u64 = 64;

impl RunningFollower {
    /// Finds the ports; there may be no walker.
    pub(super) fn new(
        sim: Simulation,
        unroll: u32,
        memory: Option<Memory>,
    ) -> Result<Self, SimError> {
        let lanes = [sim.input("valid_i")?, sim.input("bytes_i")?];
        let walker = match sim.output("gap_o") {
            Ok(_) => Some(Ports::new(&sim)?),
            Err(_) => None,
        };
        Ok(Self { sim, lanes, walker, memory, unroll, worked: 0 })
    }

    /// Bytes that are taken in a cycle.
    #[must_use]
    pub fn unroll(&self) -> usize {
        self.unroll as usize
    }

    /// Advances by one cycle, with the first bytes of `bytes`; returns what is said in it.
    ///
    /// # Errors
    ///
    /// If the simulator fails.
    pub fn cycle(&mut self, bytes: &[u8]) -> Result<Option<Said>, FollowerError> {
        let mut word = [0u8; 8];
        let count = bytes.len().min(self.unroll());
        word.iter_mut().zip(bytes).take(count).for_each(|(to, from)| *to = *from);
        // A word of a trace port is valid as a whole.
        let [valid, lanes] = self.lanes;
        let all = (1 << valid.width()) - 1;
        self.sim.set(valid, ((1 << count) - 1) & all);
        self.sim.set(lanes, u64::from_le_bytes(word));
        match &mut self.memory {
            Some(memory) => memory.clock(&mut self.sim)?,
            None => self.sim.clock()?,
        }
        self.worked += u64::from(self.busy());
        Ok(self.walker.as_ref().and_then(|walker| walker.said(&self.sim)))
    }

    /// Sends bytes, as many per cycle as possible, and passes on what is said.
    ///
    /// # Errors
    ///
    /// If the simulator fails.
    pub fn send(&mut self, bytes: &[u8], mut see: impl FnMut(Said)) -> Result<(), FollowerError> {
        for bytes in bytes.chunks(self.unroll()) {
            self.cycle(bytes)?.into_iter().for_each(&mut see);
        }
        Ok(())
    }

    /// Waits until everything is said.
    ///
    /// # Errors
    ///
    /// If the simulator fails, or that takes more than `most` cycles.
    pub fn rest(&mut self, most: u64, mut see: impl FnMut(Said)) -> Result<(), FollowerError> {
        let (mut quiet, mut cycles) = (0, 0);
        while quiet < PIPELINE {
            self.cycle(&[])?.into_iter().for_each(&mut see);
            quiet = if self.busy() { 0 } else { quiet + 1 };
            cycles += 1;
            if cycles > most {
                return Err(FollowerError::Restless);
            }
        }
        Ok(())
    }

    /// Whether records wait, or one is followed.
    #[must_use]
    pub fn busy(&self) -> bool {
        self.walker.as_ref().is_some_and(|walker| self.sim.get(walker.busy) == 1)
    }

    /// Cycles in which the walker had something to do.
    #[must_use]
    pub fn worked(&self) -> u64 {
        self.worked
    }

    /// Records that found the FIFO full.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.walker.as_ref().map_or(0, |walker| self.sim.get(walker.lost))
    }
}

#[derive(Debug)]
struct Ports {
    block: Output,
    start: Output,
    last: Output,
    ends: Output,
    taken: Output,
    faulted: Output,
    next_valid: Output,
    next: Output,
    gap: Output,
    cause: Output,
    busy: Output,
    lost: Output,
}

impl Ports {
    fn new(sim: &Simulation) -> Result<Self, SimError> {
        Ok(Self {
            block: sim.output("valid_o")?,
            start: sim.output("start_o")?,
            last: sim.output("last_o")?,
            ends: sim.output("ends_o")?,
            taken: sim.output("taken_o")?,
            faulted: sim.output("faulted_o")?,
            next_valid: sim.output("next_valid_o")?,
            next: sim.output("next_o")?,
            gap: sim.output("gap_o")?,
            cause: sim.output("cause_o")?,
            busy: sim.output("busy_o")?,
            lost: sim.output("lost_o")?,
        })
    }

    fn said(&self, sim: &Simulation) -> Option<Said> {
        let bit = |output| sim.get(output) == 1;
        let block = bit(self.block).then(|| Walked {
            start: sim.get(self.start),
            last: sim.get(self.last),
            ends: Ends::ALL[sim.get(self.ends) as usize & 7],
            taken: bit(self.taken),
            faulted: bit(self.faulted),
            next: bit(self.next_valid).then(|| sim.get(self.next)),
        });
        let gap = bit(self.gap).then(|| {
            let code = sim.get(self.cause);
            let cause = Cause::ALL.into_iter().find(|cause| *cause as u64 == code);
            cause.unwrap_or_else(|| panic!("there is no cause {code}"))
        });
        (block.is_some() || gap.is_some()).then_some(Said { block, gap })
    }
}
