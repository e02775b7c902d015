//! The core with memory and devices around it.

use crate::axi::{Axi, Latency};
use crate::bus::Bus;
use crate::commit::{Commit, Probe};
use crate::map::{RAM, RAM_SIZE};
use crate::ports::Ports;
use crate::{Cva6Error, Poke};
use hartrace_hdl_tools::verilate::{Input, Model, Simulation};
use hartrace_iss::{Environment, Hart, HartConfig, Range, Xlen};

/// Clock cycles of reset.
const RESET: u64 = 10;

/// The configuration of a platform.
#[derive(Clone, Debug)]
pub struct Config {
    /// The latency of memory.
    pub latency: Latency,
    /// The seed for random values.
    pub seed: u64,
    /// External stimuli; sorted by cycle when the platform is set up.
    pub pokes: Vec<Poke>,
    /// For each hart, the prefix of the names of its ports in the model.
    pub harts: Vec<String>,
    /// The width of the core.
    pub xlen: Xlen,
}

impl Default for Config {
    /// One hart of 64 bits, memory that responds after 2 cycles, and no external stimuli.
    fn default() -> Self {
        Self {
            latency: Latency::default(),
            seed: 0,
            pokes: Vec::new(),
            harts: vec![String::new()],
            xlen: Xlen::Rv64,
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The program ended with this code.
    Exited(u64),
    /// The cycle limit was reached; run again to continue.
    Limit,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// How it ended.
    pub exit: Exit,
    /// Clock cycles since the start, including reset.
    pub cycles: u64,
    /// Instructions that retired in all runs so far, including debug mode.
    pub instructions: u64,
}

/// Watches a run.
pub trait Observe {
    /// Called after something was committed.
    fn commit(&mut self, commit: &Commit);

    /// Called after each clock cycle, including those of reset. Outputs are those before its edge; inputs are
    /// for the next cycle.
    fn cycle(&mut self, _cycle: u64, _simulation: &mut Simulation) {}
}

impl<F: FnMut(&Commit)> Observe for F {
    fn commit(&mut self, commit: &Commit) {
        self(commit);
    }
}

#[derive(Debug)]
struct Attached {
    ports: Ports,
    axi: Axi,
    probe: Probe,
}

/// A model of the core with memory, devices and a program.
#[derive(Debug)]
pub struct Platform {
    simulation: Simulation,
    reset: Input,
    harts: Vec<Attached>,
    bus: Bus,
    /// The remaining stimuli, the next one last.
    pokes: Vec<Poke>,
    cycle: u64,
    instructions: u64,
}

impl Platform {
    /// Loads a program and holds the core in reset.
    ///
    /// The program ends with a store to [`map::EXIT`](crate::map::EXIT), or with a store of `2 * code + 1` to
    /// the symbol `tohost` if it has one.
    ///
    /// # Errors
    ///
    /// If the program does not fit, or the model lacks ports.
    pub fn new(model: &Model, elf: &[u8], config: &Config) -> Result<Self, Cva6Error> {
        // The instruction set simulator can load a program.
        let mut loader = Hart::new(HartConfig {
            memory: vec![Range { base: RAM, size: RAM_SIZE }],
            environment: Environment::Bare,
            xlen: config.xlen,
            ..HartConfig::default()
        });
        let entry = loader.load_elf(elf)?;
        if entry.pc != RAM {
            return Err(Cva6Error::Entry { entry: entry.pc, boot: RAM });
        }
        let ram = loader.read_memory(RAM, RAM_SIZE).unwrap_or_default().to_vec();

        let mut simulation = model.start(config.seed as u32)?;
        let mut harts = Vec::new();
        for (number, prefix) in config.harts.iter().enumerate() {
            harts.push(Attached {
                ports: Ports::new(&mut simulation, prefix, number, RAM)?,
                axi: Axi::new(number, config.latency, config.seed),
                probe: Probe::new(&simulation, prefix, number as u8)?,
            });
        }
        let mut pokes = config.pokes.clone();
        pokes.sort_by_key(|poke| std::cmp::Reverse(poke.cycle));
        Ok(Self {
            reset: simulation.input("rst_ni")?,
            simulation,
            bus: Bus::new(ram, entry.tohost, harts.len()),
            harts,
            pokes,
            cycle: 0,
            instructions: 0,
        })
    }

    /// Returns the simulation, for inputs that do not belong to the core.
    pub fn simulation(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// Copies bytes to memory, in addition to the program; `false` if they do not fit. The core's caches are
    /// not informed, so this must precede the first run.
    pub fn write_memory(&mut self, address: u64, bytes: &[u8]) -> bool {
        self.bus.load(address, bytes)
    }

    /// Returns bytes of memory, if the range exists. Stores arrive some cycles after they have retired.
    #[must_use]
    pub fn read_memory(&self, address: u64, size: u64) -> Option<&[u8]> {
        self.bus.bytes(address, size)
    }

    /// Returns what the program has printed.
    #[must_use]
    pub fn console(&self) -> &[u8] {
        &self.bus.console
    }

    /// Runs until the program ends or this many cycles have passed.
    ///
    /// # Errors
    ///
    /// If the model fails.
    pub fn run(&mut self, limit: u64, observer: &mut impl Observe) -> Result<Run, Cva6Error> {
        let end = self.cycle.saturating_add(limit);
        while self.bus.exit.is_none() && self.cycle < end {
            self.step(observer)?;
        }
        let exit = self.bus.exit.map_or(Exit::Limit, Exit::Exited);
        Ok(Run { exit, cycles: self.cycle, instructions: self.instructions })
    }

    fn step(&mut self, observer: &mut impl Observe) -> Result<(), Cva6Error> {
        let Self { simulation, harts, bus, instructions, .. } = self;
        let now = self.cycle;
        let running = now.checked_sub(RESET);
        if let Some(since) = running {
            while let Some(poke) = self.pokes.pop_if(|poke| poke.cycle <= since) {
                bus.write(poke.address, poke.value, 0xff);
            }
        }
        simulation.set(self.reset, running.is_some().into());
        for (hart, lines) in harts.iter_mut().zip(&mut bus.lines) {
            let offers = if running.is_some() { hart.axi.offer(now) } else { Default::default() };
            hart.ports.set_offers(simulation, &offers);
            hart.ports.set_lines(simulation, lines, bus.time);
            lines.debug = lines.debug.saturating_sub(1);
        }
        simulation.step()?;
        if let Some(since) = running {
            for hart in harts {
                hart.probe.commits(simulation, since, |commit| {
                    *instructions += u64::from(commit.event == crate::Event::Retired);
                    observer.commit(&commit);
                });
                hart.axi.request(now, &hart.ports.requests(simulation), bus);
            }
        }
        bus.tick();
        self.cycle += 1;
        observer.cycle(now, simulation);
        Ok(())
    }
}
