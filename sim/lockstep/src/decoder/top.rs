//! A decoder with everything behind it, as software uses it: set up over the bus, read over the bus and from memory.

use super::analysis::{Bus, Found, Settings, read, set_up};
use super::follower::{FollowerError, RunningFollower};
use super::memory::Memory;
use hartrace_decoder::block_table::BlockTable;
use hartrace_decoder_hdl::analysis::RECORD_BYTES;
use hartrace_decoder_hdl::top::{Config, top};
use hartrace_encoder_hdl::top::Page;
use hartrace_hdl_tools::verilate::{Model, Options, SimError, Simulation};

/// The RTL of a decoder with everything behind it.
#[derive(Debug)]
pub struct TopBench {
    config: Config,
    pages: Vec<Page>,
    model: Model,
}

/// What software sets.
#[derive(Clone, Debug)]
pub struct TopSettings<'a> {
    /// The program.
    pub table: Option<&'a BlockTable>,
    /// The srcID of packets.
    pub source: u16,
    /// The source in frames.
    pub trace_id: u8,
    /// Trap vectors by privilege.
    pub tvec: &'a [(u8, u64)],
    /// What is watched.
    pub watched: Settings,
    /// In how many cycles of a thousand memory takes nothing.
    pub stalls: u32,
}

/// Bytes of the buffer in memory.
const BUFFER: u64 = 1 << 22;

/// Cycles after which everything should be done.
const PATIENCE: u32 = 1 << 24;

/// The bit of `hartraceDeBusy`, and of `hartraceAnBusy`.
const DECODER_BUSY: u32 = 4;
const ANALYSIS_BUSY: u32 = 8;

/// The bits of `trRamEnable` and `trRamEmpty`.
const SINK_ENABLE: u32 = 2;
const SINK_EMPTY: u32 = 8;

impl TopBench {
    /// Generates the RTL and builds its model.
    ///
    /// # Errors
    ///
    /// If there is no such decoder, or no model of it.
    pub fn new(config: &Config, options: &Options) -> Result<Self, FollowerError> {
        let pages = config.pages()?.into_iter().map(|(_, page)| page).collect();
        Ok(Self { config: config.clone(), pages, model: Model::build(&top(config)?, options)? })
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Nothing is watched, and memory is always ready.
    #[must_use]
    pub fn settings(&self) -> TopSettings<'static> {
        let watched = Settings::new(&self.config.analysis);
        TopSettings { table: None, source: 0, trace_id: 0, tvec: &[], watched, stalls: 0 }
    }

    fn bus(&self, sim: &Simulation) -> Result<Bus, SimError> {
        let tables: Vec<_> = self.pages.iter().map(|page| (page.address, &page.table)).collect();
        Bus::new(sim, &tables)
    }

    /// Starts from reset, and sets everything up over the bus.
    ///
    /// # Errors
    ///
    /// If the program does not fit, or the simulator fails.
    pub fn start(&self, settings: &TopSettings<'_>) -> Result<RunningFollower, FollowerError> {
        let mut sim = self.model.start(1)?;
        let bus = self.bus(&sim)?;
        let word = self.config.memory.word_bytes;
        let memory = match self.config.analysis.blocks {
            true => Some(Memory::new(&sim, BUFFER as usize, word as usize, settings.stalls)?),
            false => None,
        };
        sim.reset()?;
        let long = |sim: &mut Simulation, name: &str, number: &str, value: u64| {
            bus.write(sim, &format!("{name}Low{number}"), value as u32)?;
            bus.write(sim, &format!("{name}High{number}"), (value >> 32) as u32)
        };
        bus.write(&mut sim, "hartraceDeControl", 1)?;
        bus.write(&mut sim, "hartraceDeSource", settings.source.into())?;
        bus.write(&mut sim, "hartraceDeTraceId", settings.trace_id.into())?;
        for (privilege, vector) in settings.tvec {
            long(&mut sim, "hartraceDeVector", &privilege.to_string(), *vector)?;
        }
        if let (Some(table), hartrace_decoder_hdl::Decoder::Follower(walker)) =
            (settings.table, &self.config.decoder)
        {
            long(&mut sim, "hartraceDeBase", "", table.base())?;
            let words = table.words(&walker.table)?;
            bus.write(&mut sim, "hartraceDeFinal", words.len() as u32 - 1)?;
            for (index, word) in (0..).zip(&words) {
                for part in 0..walker.table.width().div_ceil(32) {
                    let name = format!("hartraceDeTableWord{part}");
                    bus.write(&mut sim, &name, (word >> (32 * part)) as u32)?;
                }
                bus.write(&mut sim, "hartraceDeTableIndex", index)?;
            }
        }
        if memory.is_some() {
            bus.write(&mut sim, "trRamControl", 1)?;
            long(&mut sim, "trRamStart", "", Memory::START)?;
            long(&mut sim, "trRamLimit", "", Memory::START + BUFFER - u64::from(word))?;
            long(&mut sim, "trRamWP", "", Memory::START)?;
            bus.write(&mut sim, "trRamControl", 1 | SINK_ENABLE)?;
        }
        set_up(&bus, &mut sim, &settings.watched)?;
        bus.write(&mut sim, "hartraceDeControl", 3)?;
        Ok(RunningFollower::new(sim, self.config.decoder.unroll(), memory)?)
    }

    /// Waits until everything is counted, and reads it.
    ///
    /// # Errors
    ///
    /// If the simulator fails, or something never ends.
    pub fn finish(&self, mut following: RunningFollower) -> Result<Found, FollowerError> {
        let bus = self.bus(&following.sim)?;
        // Memory has to be ready from time to time.
        let wait = |following: &mut RunningFollower, name: &'static str, mask, wanted: u32| {
            for _ in 0..PATIENCE {
                if bus.read(&mut following.sim, name)? & mask == wanted {
                    return Ok(());
                }
                following.cycle(&[])?;
            }
            Err(FollowerError::Waits(name))
        };
        following.cycle(&[])?;
        wait(&mut following, "hartraceDeControl", DECODER_BUSY, 0)?;
        bus.write(&mut following.sim, "hartraceDeControl", 1)?;
        wait(&mut following, "hartraceAnControl", ANALYSIS_BUSY, 0)?;
        bus.write(&mut following.sim, "hartraceAnControl", 1)?;
        let mut found = Found::default();
        if following.memory.is_some() {
            bus.write(&mut following.sim, "trRamControl", 1)?;
            wait(&mut following, "trRamControl", SINK_ENABLE | SINK_EMPTY, SINK_EMPTY)?;
            let mut get = |name: &str| bus.read(&mut following.sim, name).map(u64::from);
            let (low, high) = (get("trRamWPLow")?, get("trRamWPHigh")?);
            // Words were thrown away, or written over.
            if low & 1 == 1 || get("hartraceRamStatus")? & 3 != 0 {
                return Err(FollowerError::Full);
            }
            let fill = get("hartraceRamStatus")? >> 8;
            let end = (high << 32 | low) - Memory::START;
            let word = u64::from(self.config.memory.word_bytes);
            let end = if end == 0 { 0 } else { end - word + fill };
            if let Some(memory) = &following.memory {
                found.dump.extend_from_slice(&memory.bytes[..end as usize]);
            }
            found.spills = end / u64::from(RECORD_BYTES);
        }
        read(&bus, &mut following.sim, &self.config.analysis, &mut found)?;
        Ok(found)
    }
}
