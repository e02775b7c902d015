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

    /// What was generated.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
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
        self.ports.hart.drive(&mut self.sim, &self.config, rows);
    }

    /// The payload at the output.
    pub(crate) fn payload(&self) -> Vec<u8> {
        let len = self.sim.get(self.ports.len) as usize;
        let words = self.sim.get_wide(self.ports.data);
        words.iter().flat_map(|word| word.to_le_bytes()).take(len).collect()
    }
}
