//! A module around a block.

use hartrace_rtl::{Component, Direction, Expr, Module, Outputs, lit, zero};
use std::cell::Cell;
use std::collections::BTreeMap;

/// A block whose inputs are all free, and its signals by name.
#[derive(Debug)]
pub struct Rig {
    /// The module `rig`, for registers, assumptions and assertions around the block.
    pub m: Module,
    inputs: BTreeMap<String, Expr>,
    outputs: Outputs,
    names: Vec<String>,
    /// Number of signals within the block that were requested.
    inner: Cell<u32>,
}

/// Inputs of a rig with this prefix are not free, but signals within its block; their comment contains
/// the path.
pub(crate) const INNER: &str = "inner_";

/// A stream at the ports of a block. The sender drives `valid`, the receiver drives `ready`.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Port of the sender.
    pub valid: &'static str,
    /// Port of the receiver.
    pub ready: &'static str,
    /// Ports that carry the data.
    pub data: &'static [&'static str],
}

impl Rig {
    /// Creates a rig for a block, without claims.
    #[must_use]
    pub fn new(block: &Component) -> Self {
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
        Self { m, inputs, outputs, names, inner: Cell::new(0) }
    }

    /// Returns an input or output of the block.
    ///
    /// # Panics
    ///
    /// If there is no port of this name.
    #[must_use]
    #[track_caller]
    pub fn port(&self, name: &str) -> Expr {
        self.inputs.get(name).unwrap_or_else(|| &self.outputs[name]).clone()
    }

    /// Returns a port that not every block has.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Expr> {
        let output = || self.names.iter().any(|n| n == name).then(|| self.outputs[name].clone());
        self.inputs.get(name).cloned().or_else(output)
    }

    /// Returns a signal within the block, for invariants. The path names the instances from the block
    /// inwards and the signal, as in `i_builder.open_q`. A word of a memory is `i_fifo.mem[0]`. The proof
    /// fails if there is no such signal, or if it has another width.
    #[must_use]
    pub fn inner(&self, path: &str, width: u32) -> Expr {
        let number = self.inner.replace(self.inner.get() + 1);
        let signal = self.m.input(&format!("{INNER}{number}"), width, path);
        self.m.unused(&signal);
        signal
    }

    /// Returns whether a transfer takes place at the end of this cycle.
    #[must_use]
    pub fn moves(&self, stream: Stream) -> Expr {
        self.port(stream.valid) & self.port(stream.ready)
    }

    /// Returns the value of the previous cycle.
    #[must_use]
    pub fn past(&self, name: &str, value: &Expr) -> Expr {
        let past = self.m.reg(name, zero(value.width()));
        self.m.assign(&past.d, value);
        past.q
    }

    /// Returns a register that `step` updates.
    #[must_use]
    pub fn count(&self, name: &str, width: u32, step: impl Fn(&Expr) -> Expr) -> Expr {
        let count = self.m.reg(name, zero(width));
        self.m.assign(&count.d, step(&count.q));
        count.q
    }

    /// Returns whether data that was offered but not accepted is still offered.
    #[must_use]
    pub fn kept(&self, stream: Stream) -> Expr {
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

    /// Assumes that a stream into the block keeps what it offers.
    pub fn assume_kept(&self, stream: Stream) {
        self.m.assume_always(&format!("{}_kept", stream.valid), self.kept(stream));
    }

    /// Claims that a stream out of the block keeps what it offers.
    pub fn assert_kept(&self, stream: Stream) {
        self.m.assert_always(&format!("{}_kept", stream.valid), self.kept(stream));
    }

    /// Returns the rig with all its claims.
    #[must_use]
    pub fn finish(self) -> Component {
        for name in &self.names {
            self.m.unused(&self.outputs[name.as_str()]);
        }
        self.m.finish()
    }
}

/// Returns a number as wide as `like`.
#[must_use]
pub fn num(like: &Expr, value: u32) -> Expr {
    lit(like.width(), value.into())
}
