//! The simulated encoder.

use crate::Mismatch;
use crate::ports::Ports;
use hartrace_encoder_hdl::{Config, encoder};
use hartrace_etrace::Ioptions;
use hartrace_ingress::Retired;
use hartrace_verilate::{Design, Model, Options, SimError, Simulation};
use thiserror::Error;

/// The RTL of a configuration, in simulation.
#[derive(Debug)]
pub struct Bench {
    pub(crate) config: Config,
    model: Model,
    pub(crate) sim: Simulation,
    pub(crate) ports: Ports,
}

/// The RTL cannot be simulated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The configuration is not legal.
    #[error(transparent)]
    Config(#[from] hartrace_encoder_hdl::ConfigError),
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

impl Bench {
    /// Generates the RTL and builds its model.
    pub fn new(config: &Config, options: &Options) -> Result<Self, BenchError> {
        let component = encoder(config)?;
        Self::of(config, &component, options)
    }

    /// Builds the model of another design with the same ports.
    pub fn of(
        config: &Config,
        design: impl Into<Design>,
        options: &Options,
    ) -> Result<Self, BenchError> {
        let model = Model::build(design, options)?;
        let sim = model.start(1)?;
        let ports = Ports::new(&sim)?;
        Ok(Self { config: config.clone(), model, sim, ports })
    }

    /// Starts anew, out of reset, with other arbitrary values where there are none.
    pub fn restart(&mut self, seed: u32) -> Result<(), SimError> {
        self.sim = self.model.start(seed)?;
        Ok(())
    }

    /// The simulation itself.
    pub fn simulation(&mut self) -> &mut Simulation {
        &mut self.sim
    }

    /// Switches modes.
    pub(crate) fn options(&mut self, options: &Ioptions) -> Result<(), Mismatch> {
        for (mode, port) in &self.ports.modes {
            let on = options.get(*mode);
            match port {
                Some(port) => self.sim.set(*port, on.into()),
                None if on => return Err(Mismatch::NoMode(mode.name())),
                None => {}
            }
        }
        Ok(())
    }

    /// Drives the rows of one cycle, or nothing.
    pub(crate) fn drive(&mut self, rows: &[Retired]) {
        let Self { config, sim, ports, .. } = self;
        let params = &config.etrace;
        if rows.is_empty() {
            // Without a block nothing else counts. A hart that is halted or in reset stays so until it
            // goes on.
            sim.set(ports.itype, 0);
            sim.set(ports.iretire, 0);
            if let Some(port) = ports.trigger {
                sim.set(port, 0);
            }
            return;
        }
        let mut itype = Lanes::new(config.itype_width_p);
        let mut iaddr = Lanes::new(params.iaddress_width_p);
        let mut iretire = Lanes::new(config.iretire_width_p);
        let (mut size, mut sijump, mut notify) = (0, 0, 0);
        let (mut on, mut off, mut halted, mut reset) = (false, false, false, false);
        for (lane, row) in rows.iter().enumerate() {
            itype.push(row.itype.raw().into());
            iaddr.push(row.iaddr);
            iretire.push(row.iretire.into());
            size |= (u64::from(row.ilastsize) & 1) << lane;
            sijump |= u64::from(row.sijump) << lane;
            notify |= u64::from(row.trigger.notify) << lane;
            on |= row.trigger.on;
            off |= row.trigger.off;
            halted |= row.halted;
            reset |= row.reset;
        }
        sim.set_wide(ports.itype, &itype.words);
        sim.set_wide(ports.iaddr, &iaddr.words);
        sim.set_wide(ports.iretire, &iretire.words);
        sim.set(ports.ilastsize, size);
        if let Some(port) = ports.sijump {
            sim.set(port, sijump);
        }
        let trap = rows.last().copied().unwrap_or(Retired::plain(0));
        sim.set(ports.cause, cut(trap.cause, params.ecause_width_p));
        sim.set(ports.tval, cut(trap.tval, params.iaddress_width_p));
        sim.set(ports.privilege, cut(trap.privilege.0.into(), params.privilege_width_p));
        if let Some((context, ctype)) = ports.context {
            sim.set(context, cut(trap.context, params.context_width_p));
            let kind = rows.first().map_or(0, |row| row.ctype as u64);
            sim.set(ctype, kind);
        }
        if let Some(port) = ports.time {
            sim.set(port, cut(trap.time, params.time_width_p));
        }
        if let Some(port) = ports.trigger {
            sim.set(port, u64::from(on) | u64::from(off) << 1 | notify << 2);
        }
        sim.set(ports.halted, halted.into());
        sim.set(ports.reset, reset.into());
    }

    /// The payload at the output.
    pub(crate) fn payload(&self) -> Vec<u8> {
        let len = self.sim.get(self.ports.len) as usize;
        let words = self.sim.get_wide(self.ports.data);
        words.iter().flat_map(|word| word.to_le_bytes()).take(len).collect()
    }
}

/// The low bits.
pub(crate) fn cut(value: u64, width: u8) -> u64 {
    if width < 64 { value & ((1 << width) - 1) } else { value }
}

/// Lanes side by side: at most four of 64 bits.
struct Lanes {
    width: u8,
    at: usize,
    words: [u64; 4],
}

impl Lanes {
    fn new(width: u8) -> Self {
        Self { width, at: 0, words: [0; 4] }
    }

    fn push(&mut self, value: u64) {
        let value = cut(value, self.width);
        let (word, bit) = (self.at / 64, self.at % 64);
        self.words[word] |= value << bit;
        if bit + usize::from(self.width) > 64 {
            self.words[word + 1] |= value >> (64 - bit);
        }
        self.at += usize::from(self.width);
    }
}
