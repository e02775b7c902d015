//! The simulated encoder.

use crate::ports::Ports;
use hartrace_encoder_hdl::{Config, encoder};
use hartrace_etrace::Ioptions;
use hartrace_ingress::Retired;
use hartrace_verilate::{Model, Options, SimError, Simulation};
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
        let model = Model::build(&encoder(config)?, options)?;
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
    pub(crate) fn options(&mut self, options: &Ioptions) {
        for (mode, port) in &self.ports.modes {
            if let Some(port) = port {
                self.sim.set(*port, options.get(*mode).into());
            }
        }
    }

    /// Drives the rows of one cycle, or nothing.
    pub(crate) fn drive(&mut self, rows: &[Retired]) {
        let Self { config, sim, ports, .. } = self;
        let params = &config.etrace;
        let mut itype = Lanes::new(config.itype_width_p);
        let mut iaddr = Lanes::new(params.iaddress_width_p);
        let mut iretire = Lanes::new(config.iretire_width_p);
        let (mut size, mut sijump, mut notify) = (Lanes::new(1), Lanes::new(1), Lanes::new(1));
        for row in rows {
            itype.push(row.itype.raw().into());
            iaddr.push(row.iaddr);
            iretire.push(row.iretire.into());
            size.push(row.ilastsize.into());
            sijump.push(row.sijump.into());
            notify.push(row.trigger.notify.into());
        }
        sim.set_wide(ports.itype, &itype.words);
        sim.set_wide(ports.iaddr, &iaddr.words);
        sim.set_wide(ports.iretire, &iretire.words);
        sim.set_wide(ports.ilastsize, &size.words);
        if let Some(port) = ports.sijump {
            sim.set_wide(port, &sijump.words);
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
            let on = rows.iter().any(|row| row.trigger.on);
            let off = rows.iter().any(|row| row.trigger.off);
            let notify = notify.words.first().copied().unwrap_or_default();
            sim.set(port, u64::from(on) | u64::from(off) << 1 | notify << 2);
        }
        sim.set(ports.halted, rows.iter().any(|row| row.halted).into());
        sim.set(ports.reset, rows.iter().any(|row| row.reset).into());
    }
}

/// The low bits.
pub(crate) fn cut(value: u64, width: u8) -> u64 {
    if width < 64 { value & ((1 << width) - 1) } else { value }
}

/// Lanes side by side.
struct Lanes {
    width: u8,
    at: usize,
    words: Vec<u64>,
}

impl Lanes {
    fn new(width: u8) -> Self {
        Self { width, at: 0, words: vec![0; 4] }
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
