//! The simulated encoder.

use crate::Mismatch;
use crate::ports::{CONTROLS, Ports};
use hartrace_encoder_hdl::{Config, encoder};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::Retired;
use hartrace_hdl_tools::verilate::{Design, Model, Options, SimError, Simulation};
use hartrace_rtl::{Component, Direction, Expr, Module, lit};
use thiserror::Error;

/// The RTL of a configuration in simulation.
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
    /// The configuration is not valid.
    #[error(transparent)]
    Config(#[from] hartrace_encoder_hdl::ConfigError),
    /// The simulator failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

impl Bench {
    /// Generates the RTL and builds its model.
    pub fn new(config: &Config, options: &Options) -> Result<Self, BenchError> {
        let component = held(&encoder(config)?);
        Self::of(config, &component, options)
    }

    /// Builds the model of any design with the same ports.
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

    /// Restarts from reset, with other arbitrary values where none are defined.
    pub fn restart(&mut self, seed: u32) -> Result<(), SimError> {
        self.sim = self.model.start(seed)?;
        Ok(())
    }

    /// Returns the configuration that was generated.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the simulation itself.
    pub fn simulation(&mut self) -> &mut Simulation {
        &mut self.sim
    }

    /// Switches modes.
    pub(crate) fn options(&mut self, options: &Ioptions) -> Result<(), Mismatch> {
        for (mode, port) in &self.ports.modes {
            let on = options.get(*mode);
            match port {
                Some(port) => self.sim.set(*port, on.into()),
                None if on => return Err(Mismatch::NoMode(*mode)),
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

/// The encoder with registers before the controls, where they also come from in a system.
///
/// The controls reach most of its logic. A simulator evaluates everything that depends on an input in every
/// evaluation, even if the input never changes: without the registers, a cycle takes 43 % more instructions.
fn held(encoder: &Component) -> Component {
    let m = Module::new("te_held", "An encoder whose controls come from registers.").clocked();
    let ports = encoder.ports().iter();
    let (inputs, outputs): (Vec<_>, Vec<_>) = ports
        .filter(|port| port.name != "clk_i" && port.name != "rst_ni")
        .partition(|port| port.direction == Direction::Input);
    let inputs: Vec<(&str, Expr)> = inputs
        .into_iter()
        .map(|port| {
            let value = m.input(&port.name, port.width, "");
            if !CONTROLS.contains(&port.name.as_str()) {
                return (port.name.as_str(), value);
            }
            let held = m.reg_data(&format!("held_{}", port.name), port.width, lit(1, 1));
            m.assign(&held.d, value);
            (port.name.as_str(), held.q)
        })
        .collect();
    let connections: Vec<(&str, &Expr)> =
        inputs.iter().map(|(name, value)| (*name, value)).collect();
    let results = m.inst("i_core", encoder, &connections);
    for port in outputs {
        m.assign(&m.output(&port.name, port.width, ""), &results[port.name.as_str()]);
    }
    m.finish()
}
