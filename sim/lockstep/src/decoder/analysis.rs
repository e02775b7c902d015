//! The analysis behind a decoder and a walker, against software.

mod bus;
mod model;
mod software;

pub use model::{Findings, find};

pub(super) use bus::Bus;
use hartrace_decoder_hdl::analysis::{Config, ConfigError, analysis};
use hartrace_encoder_hdl::registers::{self, Table};
use hartrace_hdl_tools::verilate::{Input, Model, Options, Output, SimError, Simulation};
pub(super) use software::{read, set_up};
use thiserror::Error;

/// A block of a walker.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Address of its first instruction.
    pub start: u64,
    /// Address of its last instruction.
    pub last: u64,
    /// What that is, as [`Ends`](hartrace_decoder::block_table::Ends).
    pub kind: u8,
    /// It is a jump, or a branch that was taken.
    pub taken: bool,
    /// It was not executed.
    pub faulted: bool,
    /// The address of the next instruction, if it follows.
    pub next: Option<u64>,
}

impl Block {
    /// Whether the instruction at this address was executed.
    #[must_use]
    pub fn has(&self, address: u64) -> bool {
        (self.start..=self.last).contains(&address) && !(self.faulted && address == self.last)
    }
}

/// A byte of a decoder.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Byte {
    /// A packet of this kind ends with it.
    pub ends: Option<u8>,
    /// It is an error.
    pub error: bool,
    /// A search for packets ends with it.
    pub sync: bool,
}

/// The bytes of a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// One for each lane.
    pub lanes: Vec<Option<Byte>>,
}

/// A cycle.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The block of the walker.
    pub block: Option<Block>,
    /// There is a gap after it.
    pub gap: bool,
    /// The bytes of the decoder.
    pub packets: Packets,
    /// Memory does not take what is spilled.
    pub stall: bool,
}

/// What is watched.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Property {
    /// Nothing.
    #[default]
    None,
    /// A before each B.
    Before {
        /// A.
        first: u64,
        /// B.
        second: u64,
    },
    /// B within some cycles after A.
    Within {
        /// A.
        first: u64,
        /// B.
        second: u64,
        /// The longest time from A to B.
        limit: u32,
    },
}

impl Property {
    fn addresses(self) -> Option<(u64, u64)> {
        match self {
            Self::None => None,
            Self::Before { first, second } | Self::Within { first, second, .. } => {
                Some((first, second))
            }
        }
    }

    fn limit(self) -> Option<u32> {
        match self {
            Self::Within { limit, .. } => Some(limit),
            _ => None,
        }
    }
}

/// What software sets, and what the hardware has.
#[derive(Copy, Clone, Debug)]
pub struct Settings {
    /// Where windows are kept.
    pub trigger: u64,
    /// What is watched.
    pub property: Property,
    /// Outcomes in a window.
    pub window_bits: usize,
    /// Windows that are kept.
    pub windows: usize,
    /// Kinds of packets.
    pub kinds: usize,
    /// Lengths of packets.
    pub lengths: usize,
    /// Bytes of a packet that ends a search.
    pub sync_bytes: usize,
}

impl Settings {
    /// Nothing is watched.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            trigger: 0,
            property: Property::None,
            window_bits: config.window_bits as usize,
            windows: config.windows as usize,
            kinds: config.kinds as usize,
            lengths: config.lengths as usize,
            sync_bytes: config.sync_bytes as usize,
        }
    }
}

/// What the hardware found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The same as software finds.
    pub findings: Findings,
    /// The profile as software dumps it: spilled records, then entries.
    pub dump: Vec<u8>,
    /// Records that were spilled.
    pub spills: u64,
    /// Edges that were lost.
    pub lost: u64,
}

/// The RTL of an analysis in simulation.
#[derive(Debug)]
pub struct AnalysisBench {
    config: Config,
    table: Table,
    model: Model,
}

/// The RTL cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnalysisBenchError {
    /// There is no such analysis.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

impl AnalysisBench {
    /// Generates the RTL and builds its model.
    ///
    /// # Errors
    ///
    /// If there is no such analysis, or no model of it.
    pub fn new(config: &Config, options: &Options) -> Result<Self, AnalysisBenchError> {
        let table = registers::analysis(&config.registers()).map_err(ConfigError::from)?;
        Ok(Self { config: *config, table, model: Model::build(&analysis(config)?, options)? })
    }

    /// The settings with nothing to watch.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings::new(&self.config)
    }

    /// Sets everything up over the bus, gives the steps, and reads the results over the bus.
    ///
    /// # Errors
    ///
    /// If the simulator fails.
    pub fn run(&self, steps: &[Step], settings: &Settings) -> Result<Found, SimError> {
        let mut sim = self.model.start(1)?;
        let ports = Ports::new(&sim)?;
        let bus = Bus::new(&sim, &[(0, &self.table)])?;
        sim.reset()?;
        ports.set(&mut sim, &Step::default());
        sim.set(ports.ready, 1);
        set_up(&bus, &mut sim, settings)?;
        let mut found = Found::default();
        for step in steps {
            ports.set(&mut sim, step);
            sim.settle()?;
            ports.spilled(&sim, !step.stall, &mut found);
            sim.clock()?;
        }
        ports.set(&mut sim, &Step::default());
        // The last write of the bus comes two cycles later; what waits is still spilled.
        for _ in 0..self.config.spills + 4 {
            sim.settle()?;
            ports.spilled(&sim, true, &mut found);
            sim.clock()?;
        }
        bus.write(&mut sim, "hartraceAnControl", 1)?;
        read(&bus, &mut sim, &self.config, &mut found)?;
        Ok(found)
    }
}

/// The ports but for the bus.
struct Ports {
    block: [Input; 9],
    lanes: [Input; 5],
    ready: Input,
    valid: Output,
    spill: Output,
}

impl Ports {
    fn new(sim: &Simulation) -> Result<Self, SimError> {
        let block = hartrace_decoder_hdl::analysis::BLOCK;
        let all = |names: &[&str], prefix: &str| -> Result<Vec<Input>, SimError> {
            names.iter().map(|name| sim.input(&format!("{prefix}{name}_i"))).collect()
        };
        let lanes = ["byte", "ends", "error", "sync", "kind"];
        let (block, lanes) = (all(&block, "")?, all(&lanes, "packet_")?);
        Ok(Self {
            block: std::array::from_fn(|i| block[i]),
            lanes: std::array::from_fn(|i| lanes[i]),
            ready: sim.input("spill_ready_i")?,
            valid: sim.output("spill_valid_o")?,
            spill: sim.output("spill_o")?,
        })
    }

    fn set(&self, sim: &mut Simulation, step: &Step) {
        let block = step.block.unwrap_or_default();
        let values = [
            step.block.is_some().into(),
            block.start,
            block.last,
            block.kind.into(),
            block.taken.into(),
            block.faulted.into(),
            block.next.is_some().into(),
            block.next.unwrap_or(0),
            step.gap.into(),
        ];
        self.block.iter().zip(values).for_each(|(port, value)| sim.set(*port, value));
        let bits = self.lanes[4].width() / self.lanes[0].width();
        let mut values = [0u64; 5];
        for (lane, byte) in step.packets.lanes.iter().enumerate() {
            let Some(byte) = byte else { continue };
            let set = [true, byte.ends.is_some(), byte.error, byte.sync];
            for (value, set) in values.iter_mut().zip(set) {
                *value |= u64::from(set) << lane;
            }
            values[4] |= u64::from(byte.ends.unwrap_or(0)) << (bits * lane as u32);
        }
        self.lanes.iter().zip(values).for_each(|(port, value)| sim.set(*port, value));
        sim.set(self.ready, (!step.stall).into());
    }

    /// Takes what is spilled in this cycle.
    fn spilled(&self, sim: &Simulation, ready: bool, found: &mut Found) {
        if ready && sim.get(self.valid) != 0 {
            found.dump.extend(sim.get_wide(self.spill).iter().flat_map(|word| word.to_le_bytes()));
            found.spills += 1;
        }
    }
}
