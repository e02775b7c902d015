//! Cores with memory and devices around them.

use crate::axi::{Axi, Latency};
use crate::bus::Bus;
use crate::commit::{Commit, Probe};
use crate::map::{RAM, RAM_SIZE};
use crate::ports::{AxiPorts, HartPorts};
use crate::{Cva6Error, Poke};
use hartrace_hdl_tools::verilate::{Input, Model, SimError, Simulation};
use hartrace_iss::{Environment, Hart, HartConfig, Range, Xlen};

/// Clock cycles of reset.
pub(crate) const RESET: u64 = 10;

/// The configuration of a platform.
#[derive(Clone, Debug)]
pub struct Config {
    /// The latency of memory.
    pub latency: Latency,
    /// The seed for random values.
    pub seed: u64,
    /// External stimuli; sorted by cycle when the platform is set up.
    pub pokes: Vec<Poke>,
    /// The number of harts.
    pub harts: usize,
    /// The width of the core.
    pub xlen: Xlen,
    /// Whether slices are between cores and memory, as cores need whose clocks may stop.
    pub sliced: bool,
}

impl Default for Config {
    /// One hart of 64 bits, memory that responds after 2 cycles, and no external stimuli.
    fn default() -> Self {
        Self {
            latency: Latency::default(),
            seed: 0,
            pokes: Vec::new(),
            harts: 1,
            xlen: Xlen::Rv64,
            sliced: false,
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

    /// Called before each clock cycle, including those of reset, to set inputs that do not belong to the platform.
    ///
    /// # Errors
    ///
    /// If a model fails.
    fn inputs(&mut self, _cores: &mut [Simulation]) -> Result<(), SimError> {
        Ok(())
    }

    /// Called after each clock cycle, including those of reset. Outputs are those before its edge.
    ///
    /// # Errors
    ///
    /// If a model fails.
    fn cycle(&mut self, _cores: &[Simulation]) -> Result<(), SimError> {
        Ok(())
    }
}

impl<F: FnMut(&Commit)> Observe for F {
    fn commit(&mut self, commit: &Commit) {
        self(commit);
    }
}

#[derive(Debug)]
struct Attached {
    reset: Input,
    ports: HartPorts,
    memory: AxiPorts,
    axi: Axi,
    probe: Probe,
}

/// Cores with memory, devices and a program.
#[derive(Debug)]
pub struct Platform {
    /// One for each hart.
    cores: Vec<Simulation>,
    harts: Vec<Attached>,
    bus: Bus,
    /// The remaining stimuli, the next one last.
    pokes: Vec<Poke>,
    cycle: u64,
    instructions: u64,
}

impl Platform {
    /// Loads a program and holds the cores in reset.
    ///
    /// The program ends with a store to [`map::EXIT`](crate::map::EXIT), or with a store of `2 * code + 1` to
    /// the symbol `tohost` if it has one.
    ///
    /// # Errors
    ///
    /// If the program does not fit, or the model lacks ports.
    pub fn new(model: &Model, elf: &[u8], config: &Config) -> Result<Self, Cva6Error> {
        let (mut cores, mut harts) = (Vec::new(), Vec::new());
        for number in 0..config.harts {
            let mut core = model.start(config.seed as u32)?;
            let sliced = core.input("sliced_i")?;
            core.set(sliced, config.sliced.into());
            harts.push(Attached {
                reset: core.input("rst_ni")?,
                ports: HartPorts::new(&mut core, number, RAM)?,
                memory: AxiPorts::new(&core)?,
                axi: Axi::new(number, config.latency, config.seed),
                probe: Probe::new(&core, number as u8)?,
            });
            cores.push(core);
        }
        let mut pokes = config.pokes.clone();
        pokes.sort_by_key(|poke| std::cmp::Reverse(poke.cycle));
        Ok(Self {
            cores,
            bus: load(elf, config.xlen, harts.len())?,
            harts,
            pokes,
            cycle: 0,
            instructions: 0,
        })
    }

    /// Returns the simulation of each core.
    pub fn cores(&mut self) -> &mut [Simulation] {
        &mut self.cores
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

    /// Returns how often a core, or its slice, withdrew or changed a request that memory had not accepted, which AXI forbids.
    #[must_use]
    pub fn withdrawn(&self) -> u64 {
        self.harts.iter().map(|hart| hart.axi.withdrawn).sum()
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
        let Self { cores, harts, bus, instructions, .. } = self;
        let now = self.cycle;
        let running = now.checked_sub(RESET);
        if let Some(since) = running {
            while let Some(poke) = self.pokes.pop_if(|poke| poke.cycle <= since) {
                bus.write(poke.address, poke.value, 0xff);
            }
        }
        for ((core, hart), lines) in cores.iter_mut().zip(&mut *harts).zip(&mut bus.lines) {
            core.set(hart.reset, running.is_some().into());
            let offers = if running.is_some() { hart.axi.offer(now) } else { Default::default() };
            hart.memory.set_offers(core, &offers);
            hart.ports.set_lines(core, lines, bus.time);
            lines.debug = lines.debug.saturating_sub(1);
        }
        observer.inputs(cores)?;
        cores.iter_mut().try_for_each(Simulation::step)?;
        if let Some(since) = running {
            for (core, hart) in cores.iter().zip(harts) {
                hart.probe.commits(core, since, |commit| {
                    *instructions += u64::from(commit.event == crate::Event::Retired);
                    observer.commit(&commit);
                });
                hart.axi.request(now, &hart.memory.requests(core), bus);
            }
        }
        bus.tick();
        self.cycle += 1;
        observer.cycle(cores)?;
        Ok(())
    }
}

/// Loads a program into memory.
pub(crate) fn load(elf: &[u8], xlen: Xlen, harts: usize) -> Result<Bus, Cva6Error> {
    // The instruction set simulator can load a program.
    let mut loader = Hart::new(HartConfig {
        memory: vec![Range { base: RAM, size: RAM_SIZE }],
        environment: Environment::Bare,
        xlen,
        ..HartConfig::default()
    });
    let entry = loader.load_elf(elf)?;
    if entry.pc != RAM {
        return Err(Cva6Error::Entry { entry: entry.pc, boot: RAM });
    }
    let ram = loader.read_memory(RAM, RAM_SIZE).unwrap_or_default().to_vec();
    Ok(Bus::new(ram, entry.tohost, harts))
}
