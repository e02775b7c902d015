//! A module around a block.

use hartrace_rtl::{Component, Direction, Expr, Module, Outputs, lit, zero};
use std::collections::BTreeMap;

/// A block whose inputs are all free, and its signals by name.
pub(crate) struct Rig {
    pub(crate) m: Module,
    inputs: BTreeMap<String, Expr>,
    outputs: Outputs,
    names: Vec<String>,
}

/// A stream at the ports of a block. `valid` is at the side that sends, `ready` at the other.
#[derive(Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) valid: &'static str,
    pub(crate) ready: &'static str,
    pub(crate) data: &'static [&'static str],
}

impl Rig {
    pub(crate) fn new(block: &Component) -> Self {
        let m = Module::new("rig", "").clocked();
        let mut inputs = BTreeMap::new();
        let mut names = Vec::new();
        for port in block.ports() {
            let name = port.name.clone();
            match port.direction {
                Direction::Output => names.push(name),
                Direction::Input if name == "clk_i" || name == "rst_ni" => {}
                Direction::Input => {
                    let input = m.input(&name, port.width, "");
                    inputs.insert(name, input);
                }
            }
        }
        let connections: Vec<(&str, &Expr)> =
            inputs.iter().map(|(name, expr)| (name.as_str(), expr)).collect();
        let outputs = m.inst("i_block", block, &connections);
        Self { m, inputs, outputs, names }
    }

    /// An input or output of the block.
    pub(crate) fn port(&self, name: &str) -> Expr {
        self.inputs.get(name).unwrap_or_else(|| &self.outputs[name]).clone()
    }

    /// An output that not every block has.
    pub(crate) fn output(&self, name: &str) -> Option<Expr> {
        self.names.iter().any(|n| n == name).then(|| self.outputs[name].clone())
    }

    /// What moves at the end of this cycle.
    pub(crate) fn moves(&self, stream: Stream) -> Expr {
        self.port(stream.valid) & self.port(stream.ready)
    }

    /// The value of a cycle ago.
    pub(crate) fn past(&self, name: &str, value: &Expr) -> Expr {
        let past = self.m.reg(name, zero(value.width()));
        self.m.assign(&past.d, value);
        past.q
    }

    /// A register that `step` changes.
    pub(crate) fn count(&self, name: &str, width: u32, step: impl Fn(&Expr) -> Expr) -> Expr {
        let count = self.m.reg(name, zero(width));
        self.m.assign(&count.d, step(&count.q));
        count.q
    }

    /// Whether what a stream offered and nobody took is still there.
    pub(crate) fn kept(&self, stream: Stream) -> Expr {
        let valid = self.port(stream.valid);
        let waits = &valid & !self.port(stream.ready);
        let waited = self.past(&format!("{}_waited", stream.valid), &waits);
        let mut kept = valid;
        for name in stream.data {
            let now = self.port(name);
            kept = kept & now.eq(self.past(&format!("{name}_past"), &now));
        }
        !waited | kept
    }

    /// Takes for granted that a stream into the block keeps what it offers.
    pub(crate) fn assume_kept(&self, stream: Stream) {
        self.m.assume_always(&format!("{}_kept", stream.valid), self.kept(stream));
    }

    pub(crate) fn assert_kept(&self, stream: Stream) {
        self.m.assert_always(&format!("{}_kept", stream.valid), self.kept(stream));
    }

    pub(crate) fn finish(self) -> Component {
        for name in &self.names {
            self.m.unused(&self.outputs[name.as_str()]);
        }
        self.m.finish()
    }
}

/// A number as wide as `like`.
pub(crate) fn num(like: &Expr, value: u32) -> Expr {
    lit(like.width(), value.into())
}
