//! Groups of signals between two modules, named once.

use crate::config::Config;
use hartrace_rtl::{Expr, Module};
use std::collections::BTreeMap;
use std::ops::Index;

/// Starts a module that has vectors of lanes. The comment above it says where each lane is, if there are several.
#[track_caller]
pub(crate) fn module_of_lanes(config: &Config, name: &str, doc: &str) -> Module {
    let order = match config.n() {
        1 => "",
        _ => "\nVectors of lanes have lane 0, the oldest, in their lowest bits.",
    };
    Module::new(name, &format!("{doc}{order}")).clocked()
}

/// One signal of a bundle.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    pub(crate) name: &'static str,
    pub(crate) width: u32,
    pub(crate) doc: &'static str,
}

impl Wire {
    pub(crate) fn new(name: &'static str, width: u32, doc: &'static str) -> Self {
        Self { name, width, doc }
    }
}

/// The signals of a bundle inside a module, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bundle(BTreeMap<&'static str, Expr>);

impl Index<&str> for Bundle {
    type Output = Expr;

    /// # Panics
    ///
    /// If there is no such signal.
    #[track_caller]
    fn index(&self, name: &str) -> &Expr {
        match self.0.get(name) {
            Some(expr) => expr,
            None => panic!("no signal {name}"),
        }
    }
}

impl Bundle {
    /// The wires as inputs of a module, `name_i`.
    pub(crate) fn inputs(m: &Module, wires: &[Wire]) -> Self {
        let input = |w: &Wire| (w.name, m.input(&format!("{}_i", w.name), w.width, w.doc));
        Self(wires.iter().map(input).collect())
    }

    /// The wires as outputs of a module, `name_o`.
    pub(crate) fn outputs(m: &Module, wires: &[Wire]) -> Self {
        let output = |w: &Wire| (w.name, m.output(&format!("{}_o", w.name), w.width, w.doc));
        Self(wires.iter().map(output).collect())
    }

    /// A bundle of any named signals.
    pub(crate) fn of(signals: impl IntoIterator<Item = (&'static str, Expr)>) -> Self {
        Self(signals.into_iter().collect())
    }

    /// The signal, if there is one.
    pub(crate) fn get(&self, name: &str) -> Option<&Expr> {
        self.0.get(name)
    }
}
