//! A built and loaded model.

use crate::verilate::compile::compile;
use crate::verilate::design::{Design, Reset};
use crate::verilate::ffi::Shim;
use crate::verilate::ports::{ModelPort, Ports, no_port};
use crate::verilate::{Options, SimError, Simulation};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A built and loaded design, from which simulations are started. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Model(pub(crate) Arc<Loaded>);

#[derive(Debug)]
pub(crate) struct Loaded {
    /// Distinguishes handles of this model from those of others.
    pub(crate) id: u64,
    pub(crate) top: String,
    pub(crate) ports: Ports,
    pub(crate) reset: Option<Reset>,
    pub(crate) shim: Shim,
    library: PathBuf,
    cached: bool,
}

/// An input of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Input(pub(crate) Handle);

/// An output of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Output(pub(crate) Handle);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Handle {
    pub(crate) model: u64,
    pub(crate) at: usize,
    pub(crate) words: usize,
    pub(crate) width: u32,
}

impl Input {
    /// Returns its width in bits.
    #[must_use]
    pub fn width(self) -> u32 {
        self.0.width
    }
}

impl Output {
    /// Returns its width in bits.
    #[must_use]
    pub fn width(self) -> u32 {
        self.0.width
    }
}

impl Model {
    /// Builds the model of a design, or finds it in the cache, and loads it.
    ///
    /// # Errors
    ///
    /// If a tool is missing or rejects the design, if files cannot be written, or if a port cannot
    /// be driven.
    pub fn build(design: impl Into<Design>, options: &Options) -> Result<Self, SimError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let design = design.into();
        let compiled = compile(&design, options)?;
        Ok(Self(Arc::new(Loaded {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            top: design.top,
            ports: compiled.ports,
            reset: design.reset,
            shim: Shim::load(&compiled.library)?,
            library: compiled.library,
            cached: compiled.cached,
        })))
    }

    /// Starts a simulation; see [`Options::seed`].
    ///
    /// # Errors
    ///
    /// If the model cannot be instantiated for lack of memory or threads.
    pub fn start(&self, seed: u32) -> Result<Simulation, SimError> {
        Simulation::new(self.clone(), seed)
    }

    /// Returns whether it was already in the cache.
    #[must_use]
    pub fn cached(&self) -> bool {
        self.0.cached
    }

    /// Returns the shared library from which it was loaded.
    #[must_use]
    pub fn library(&self) -> &Path {
        &self.0.library
    }

    /// Returns the inputs, without the clock.
    #[must_use]
    pub fn inputs(&self) -> &[ModelPort] {
        &self.0.ports.inputs
    }

    /// Returns the outputs.
    #[must_use]
    pub fn outputs(&self) -> &[ModelPort] {
        &self.0.ports.outputs
    }

    /// Returns the input of this name. The clock is not among them: [`Simulation::clock`] and
    /// [`Simulation::step`] drive it.
    ///
    /// # Errors
    ///
    /// If there is no such input.
    pub fn input(&self, name: &str) -> Result<Input, SimError> {
        self.handle("input", name, &self.0.ports.inputs).map(Input)
    }

    /// Returns the output of this name.
    ///
    /// # Errors
    ///
    /// If there is no such output.
    pub fn output(&self, name: &str) -> Result<Output, SimError> {
        self.handle("output", name, &self.0.ports.outputs).map(Output)
    }

    fn handle(
        &self,
        direction: &'static str,
        name: &str,
        ports: &[ModelPort],
    ) -> Result<Handle, SimError> {
        let port = ports.iter().find(|port| port.name == name);
        let port = port.ok_or_else(|| no_port(&self.0.top, direction, name, ports))?;
        Ok(Handle { model: self.0.id, at: port.at, words: port.words(), width: port.width })
    }
}
