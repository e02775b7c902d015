//! Ports that pass through several levels.

use hartrace_rtl::{Component, Direction, Expr, Module, Outputs, Port};

/// The bus of the control registers below the split; the width of outputs is given by the module.
pub(crate) const APB: [&str; 6] =
    ["psel_i", "penable_i", "pwrite_i", "paddr_i", "pwdata_i", "pstrb_i"];

pub(crate) const APB_ANSWER: [&str; 3] = ["pready_o", "prdata_o", "pslverr_o"];

/// Whether there is a port of this name.
pub(crate) fn has(of: &Component, name: &str) -> bool {
    of.ports().iter().any(|port| port.name == name)
}

/// Connections of an instance, some of which are ports of the enclosing module.
#[derive(Debug)]
pub struct Wiring<'a> {
    m: &'a Module,
    of: Component,
    made: Vec<(String, Expr)>,
}

impl<'a> Wiring<'a> {
    /// Starts without connections.
    #[must_use]
    pub fn new(m: &'a Module, of: Component) -> Self {
        Self { m, of, made: Vec::new() }
    }

    /// Connects a port.
    #[must_use]
    pub fn wire(mut self, port: &str, signal: &Expr) -> Self {
        self.made.push((port.into(), signal.clone()));
        self
    }

    /// Connects a port, if there is one.
    #[must_use]
    pub fn wire_if(self, port: &str, signal: impl FnOnce() -> Expr) -> Self {
        if has(&self.of, port) { self.wire(port, &signal()) } else { self }
    }

    /// Connects inputs to the outputs of the same name of another instance, if it has them.
    #[must_use]
    pub fn told_by(mut self, other: &Component, outputs: &Outputs) -> Self {
        for port in self.open().filter(|port| port.direction == Direction::Input) {
            let name = format!("{}_o", port.name.trim_end_matches("_i"));
            if has(other, &name) {
                self.made.push((port.name, outputs[&name].clone()));
            }
        }
        self
    }

    /// Turns some ports that are not connected yet into ports of the enclosing module, with a
    /// prefix.
    #[must_use]
    pub fn ports(mut self, prefix: &str, wanted: impl Fn(&Port) -> bool) -> Self {
        for port in self.open().filter(wanted) {
            let name = format!("{prefix}{}", port.name);
            let signal = match port.direction {
                Direction::Input => self.m.input(&name, port.width, &port.doc),
                Direction::Output => self.m.output(&name, port.width, &port.doc),
            };
            self.made.push((port.name, signal));
        }
        self
    }

    /// Creates the instance.
    pub fn inst(self, name: &str) -> Outputs {
        let ports: Vec<(&str, &Expr)> =
            self.made.iter().map(|(port, signal)| (port.as_str(), signal)).collect();
        self.m.inst(name, &self.of, &ports)
    }

    /// Ports that are not connected yet.
    fn open(&self) -> impl Iterator<Item = Port> + use<> {
        let clock = |port: &Port| ["clk_i", "rst_ni"].contains(&port.name.as_str());
        let made = |port: &Port| self.made.iter().any(|(name, _)| *name == port.name);
        let open = self.of.ports().iter().filter(|port| !clock(port) && !made(port));
        open.cloned().collect::<Vec<_>>().into_iter()
    }
}
