//! The simulated encoder.

use crate::Mismatch;
use crate::ports::{Ports, is_control};
use hartrace_encap::EncapParams;
use hartrace_encoder_hdl::transport::{Frame, encapsulator};
use hartrace_encoder_hdl::{Config, encoder};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::Retired;
use hartrace_hdl_tools::verilate::{Design, Model, Options, SimError, Simulation};
use hartrace_rtl::{Component, Direction, Expr, Module, lit, zero};
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

    /// Like [`Bench::new`], with hardware behind the encoder that encapsulates its payloads: what leaves it are packets.
    /// They cannot be compared with those of the golden encoder.
    pub fn framed(
        config: &Config,
        encap: EncapParams,
        options: &Options,
    ) -> Result<Self, BenchError> {
        let component = held(&framed(&encoder(config)?, encap));
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

    /// Halts or resets the hart, or lets it continue.
    pub(crate) fn halt(&mut self, halted: bool, reset: bool) {
        self.ports.hart.halt(&mut self.sim, halted, reset);
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
            if !is_control(&port.name) {
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

/// The encoder with an encapsulator behind it, and the same ports. Packets have source and time 0.
fn framed(encoder: &Component, encap: EncapParams) -> Component {
    let m = Module::new("te_framed", "An encoder whose payloads are encapsulated.").clocked();
    let ports: Vec<_> = encoder
        .ports()
        .iter()
        .filter(|port| !["clk_i", "rst_ni"].contains(&port.name.as_str()))
        .collect();
    let inputs: Vec<(&str, Expr)> = ports
        .iter()
        .filter(|port| port.direction == Direction::Input)
        .map(|port| (port.name.as_str(), m.input(&port.name, port.width, "")))
        .collect();
    let connections: Vec<(&str, &Expr)> =
        inputs.iter().map(|(name, value)| (*name, value)).collect();
    let payloads = m.inst("i_encoder", encoder, &connections);
    let frame = encapsulator(Frame::Encap(encap), payloads["data_o"].width() / 8);
    // Its handshake has no state, so the encoder has the same one.
    let values: Vec<(&str, Expr)> = frame
        .ports()
        .iter()
        .filter(|port| port.direction == Direction::Input)
        .filter(|port| !["clk_i", "rst_ni"].contains(&port.name.as_str()))
        .map(|port| {
            let value = match port.name.as_str() {
                "valid_i" => payloads["valid_o"].clone(),
                "data_i" => payloads["data_o"].clone(),
                // Payloads of some encoders are shorter than the longest that there may be.
                "len_i" => payloads["len_o"].trunc(port.width),
                "ready_i" => lit(1, 1),
                _ => zero(port.width),
            };
            (port.name.as_str(), value)
        })
        .collect();
    let connections: Vec<(&str, &Expr)> =
        values.iter().map(|(name, value)| (*name, value)).collect();
    let packets = m.inst("i_encapsulator", &frame, &connections);
    m.unused(&payloads["len_o"]);
    m.unused(&packets["valid_o"]);
    m.unused(&packets["ready_o"]);
    for port in ports.iter().filter(|port| port.direction == Direction::Output) {
        let value = match port.name.as_str() {
            name @ ("data_o" | "len_o") => &packets[name],
            name => &payloads[name],
        };
        m.assign(&m.output(&port.name, value.width(), ""), value);
    }
    m.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_of_every_named_encoder_are_encapsulated() {
        let encap = EncapParams::new(0, 0, 0).unwrap();
        for (name, config) in Config::all_named() {
            let component = framed(&encoder(&config).unwrap(), encap);
            assert!(component.ports().iter().any(|port| port.name == "data_o"), "{name}");
        }
    }
}
