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
        self.ports.hart.drive(&mut self.sim, &self.config, rows);
    }
}
