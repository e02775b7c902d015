//! A running simulation.

use crate::verilate::design::Design;
use crate::verilate::ffi::{DEAD, FAILED, FINISHED, Instance, Run};
use crate::verilate::model::{Handle, Input, Model, Output};
use crate::verilate::{Options, SimError};
use hartrace_rtl::Bits;
use std::ffi::CString;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Clock edges during a reset: enough for registers that are reset one cycle later than others.
const RESET_CYCLES: u32 = 2;

/// An instance of a [`Model`], with its own state and its own time.
///
/// Inputs are initially zero, and nothing is evaluated before the first call that evaluates. A clocked
/// design usually starts with [`Simulation::reset`]. A cycle is then either
///
/// - [`Simulation::set`] inputs, [`Simulation::settle`], [`Simulation::get`] outputs (which correspond to
///   the present state and these inputs), perhaps set more inputs that depend on them and settle again,
///   then [`Simulation::clock`];
/// - or [`Simulation::set`] inputs, [`Simulation::step`], [`Simulation::get`]: the same in one call, where
///   the outputs are those before the clock edge, which a register at the output would capture.
#[derive(Debug)]
pub struct Simulation {
    instance: Instance,
    model: Model,
    /// Clock edges since the last reset, and since the start.
    cycle: u64,
    edges: u64,
    finished: bool,
    /// Why it cannot continue.
    stopped: Option<(String, u64)>,
    /// Waves to be started at this edge.
    waves_from: Option<(u64, PathBuf)>,
}

impl Simulation {
    /// Builds a model and starts a simulation of it; combines [`Model::build`] and [`Model::start`].
    ///
    /// # Errors
    ///
    /// Those of the two.
    pub fn build(design: impl Into<Design>, options: &Options) -> Result<Self, SimError> {
        Model::build(design, options)?.start(options.seed)
    }

    pub(crate) fn new(model: Model, seed: u32) -> Result<Self, SimError> {
        let path = model.library().to_owned();
        let load = |why: &str| SimError::Load { path, why: why.to_owned() };
        let Some(mut instance) = model.0.shim.instance(seed) else {
            return Err(load("no instance could be made"));
        };
        let words =
            |ports: &[crate::verilate::ModelPort]| ports.iter().map(|p| p.words()).sum::<usize>();
        if instance.inputs().len() != words(model.inputs())
            || instance.outputs().len() != words(model.outputs())
        {
            return Err(load("its ports are not those of its manifest"));
        }
        Ok(Self {
            instance,
            model,
            cycle: 0,
            edges: 0,
            finished: false,
            stopped: None,
            waves_from: None,
        })
    }

    /// Returns its model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// See [`Model::input`].
    ///
    /// # Errors
    ///
    /// If there is no such input.
    pub fn input(&self, name: &str) -> Result<Input, SimError> {
        self.model.input(name)
    }

    /// See [`Model::output`].
    ///
    /// # Errors
    ///
    /// If there is no such output.
    pub fn output(&self, name: &str) -> Result<Output, SimError> {
        self.model.output(name)
    }

    /// Sets an input. It takes effect with the next [`Simulation::settle`], [`Simulation::clock`] or
    /// [`Simulation::step`]. Bits of a wide input above the lowest 64 become zero.
    ///
    /// # Panics
    ///
    /// If the value does not fit, or the input belongs to another model.
    #[inline]
    #[track_caller]
    pub fn set(&mut self, input: Input, value: u64) {
        let words = self.words_mut(input.0);
        let (first, rest) = words.split_at_mut(1);
        first[0] = value;
        rest.fill(0);
        check_fits(words, input.0.width);
    }

    /// Sets a wide input, least significant word first; missing words are zero.
    ///
    /// # Panics
    ///
    /// As [`Simulation::set`].
    #[track_caller]
    pub fn set_wide(&mut self, input: Input, value: &[u64]) {
        let words = self.words_mut(input.0);
        let (low, excess) = value.split_at(value.len().min(words.len()));
        assert!(excess.iter().all(|word| *word == 0), "value of more than {} bits", input.width());
        words[..low.len()].copy_from_slice(low);
        words[low.len()..].fill(0);
        check_fits(words, input.0.width);
    }

    /// Sets an input of any width.
    ///
    /// # Panics
    ///
    /// If the widths differ, or the input belongs to another model.
    #[track_caller]
    pub fn set_bits(&mut self, input: Input, value: &Bits) {
        let (width, given) = (input.width(), value.width());
        assert!(given == width, "value of {given} bits for an input of {width}");
        let words: Vec<u64> = value
            .as_slice()
            .chunks(64)
            .map(|bits| bits.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit)))
            .collect();
        self.set_wide(input, &words);
    }

    /// Returns an output of up to 64 bits, as it was last evaluated.
    ///
    /// # Panics
    ///
    /// If the output is wider, or belongs to another model.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn get(&self, output: Output) -> u64 {
        match self.get_wide(output) {
            [word] => *word,
            _ => panic!("an output of {} bits; see get_wide", output.width()),
        }
    }

    /// Returns an output of any width, least significant word first.
    ///
    /// # Panics
    ///
    /// If the output belongs to another model.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn get_wide(&self, output: Output) -> &[u64] {
        check_model(output.0, &self.model);
        &self.instance.outputs()[output.0.at..output.0.at + output.0.words]
    }

    /// Returns an output of any width.
    ///
    /// # Panics
    ///
    /// If the output belongs to another model.
    #[must_use]
    #[track_caller]
    pub fn get_bits(&self, output: Output) -> Bits {
        let words = self.get_wide(output);
        let bit = |i: u32| words[(i / 64) as usize] >> (i % 64) & 1 == 1;
        Bits::from_bits(&(0..output.width()).map(bit).collect::<Vec<_>>())
    }

    /// Applies the inputs and lets combinational logic settle; outputs then correspond to the present
    /// state and these inputs. The clock stays low.
    ///
    /// # Errors
    ///
    /// If the model reports a failure; see [`SimError::Failed`] and [`SimError::Stopped`].
    #[inline]
    pub fn settle(&mut self) -> Result<(), SimError> {
        let status = self.instance.run(Run::Settle);
        self.check(status)
    }

    /// Applies the inputs and advances one clock cycle; outputs then correspond to the new state and the
    /// same inputs.
    ///
    /// # Errors
    ///
    /// As [`Simulation::settle`], and if there is no clock.
    #[inline]
    pub fn clock(&mut self) -> Result<(), SimError> {
        self.cycle_of(Run::Clock)
    }

    /// Applies the inputs and advances one clock cycle; outputs are those before the clock edge.
    ///
    /// # Errors
    ///
    /// As [`Simulation::clock`].
    #[inline]
    pub fn step(&mut self) -> Result<(), SimError> {
        self.cycle_of(Run::Step)
    }

    #[inline]
    fn cycle_of(&mut self, what: Run) -> Result<(), SimError> {
        if self.model.0.ports.clock.is_none() {
            return Err(SimError::NoClock(self.model.0.top.clone()));
        }
        if self.waves_from.is_some() {
            self.start_waves()?;
        }
        let status = self.instance.run(what);
        let result = self.check(status);
        self.cycle += 1;
        self.edges += 1;
        result
    }

    /// Resets the design: the reset is active for some clock edges, then inactive and settled. Other
    /// inputs keep their values. Cycles are counted from here.
    ///
    /// # Errors
    ///
    /// As [`Simulation::clock`], and if there is no reset.
    pub fn reset(&mut self) -> Result<(), SimError> {
        let Some(reset) = self.model.0.reset.clone() else {
            return Err(SimError::NoReset(self.model.0.top.clone()));
        };
        let input = self.input(&reset.input)?;
        self.set(input, u64::from(reset.active));
        for _ in 0..RESET_CYCLES {
            self.clock()?;
        }
        self.set(input, u64::from(!reset.active));
        self.cycle = 0;
        self.settle()
    }

    /// Returns the clock cycles since the last reset, or since the start if there was none.
    #[must_use]
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Clock cycles since the start.
    pub(crate) fn edges(&self) -> u64 {
        self.edges
    }

    /// Returns whether the model has called `$finish`. It can continue all the same.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Returns what the model printed since the last call. Up to a mebibyte is kept; the rest is only
    /// counted.
    pub fn printed(&mut self) -> String {
        self.instance.printed()
    }

    /// Writes waves in the FST format to this file, from now until the simulation is dropped or another
    /// file is named.
    ///
    /// # Errors
    ///
    /// If the model was built without waves, or the file cannot be written.
    pub fn waves(&mut self, path: &Path) -> Result<(), SimError> {
        // The writer does not check whether it could open its file.
        File::create(path).map_err(SimError::io("create", path))?;
        let text = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|e| SimError::io("create", path)(e.into()))?;
        if !self.instance.waves(&text) {
            return Err(SimError::NoWaves(self.model.0.top.clone()));
        }
        Ok(())
    }

    /// Like [`Simulation::waves`], from a later edge on.
    pub(crate) fn waves_from(&mut self, edge: u64, path: &Path) -> Result<(), SimError> {
        self.waves_from = Some((edge, path.to_owned()));
        self.start_waves()
    }

    #[cold]
    fn start_waves(&mut self) -> Result<(), SimError> {
        match self.waves_from.take_if(|(from, _)| *from <= self.edges) {
            Some((_, path)) => self.waves(&path),
            None => Ok(()),
        }
    }

    #[inline]
    fn check(&mut self, status: u32) -> Result<(), SimError> {
        if status == 0 { Ok(()) } else { self.explain(status) }
    }

    #[cold]
    fn explain(&mut self, status: u32) -> Result<(), SimError> {
        self.finished |= status & FINISHED != 0;
        let cycle = self.cycle;
        if status & DEAD != 0 {
            if self.stopped.is_none() {
                self.stopped = Some((self.instance.failure(), cycle));
            }
            let (message, cycle) = self.stopped.clone().unwrap_or_default();
            return Err(SimError::Stopped { message, cycle });
        }
        if status & FAILED != 0 {
            let (name, message) = assertion(&self.instance.failure());
            return Err(SimError::Failed { name, message, cycle });
        }
        Ok(())
    }

    #[inline]
    #[track_caller]
    fn words_mut(&mut self, handle: Handle) -> &mut [u64] {
        check_model(handle, &self.model);
        &mut self.instance.inputs()[handle.at..handle.at + handle.words]
    }
}

#[inline]
#[track_caller]
fn check_model(handle: Handle, model: &Model) {
    assert!(handle.model == model.0.id, "a port of another model, not of {}", model.0.top);
}

/// The model would see bits above the width.
#[inline]
#[track_caller]
fn check_fits(words: &[u64], width: u32) {
    let used = width % 64;
    let last = words.last().copied().unwrap_or(0);
    assert!(used == 0 || last >> used == 0, "value of more than {width} bits");
}

/// Name and message of a failure. Verilator writes `[10] %Error: fifo.sv:12: Assertion failed in
/// TOP.fifo.no_overflow: 'assert' failed.`, and the shim adds a line with the location.
fn assertion(text: &str) -> (String, String) {
    let (line, place) = text.trim_end().rsplit_once('\n').unwrap_or((text, ""));
    let line = line.trim();
    let parsed =
        line.split_once("Assertion failed in ").and_then(|(_, rest)| rest.split_once(": "));
    let (name, message) = match parsed {
        Some((name, message)) => (name.strip_prefix("TOP.").unwrap_or(name), message),
        None => ("$stop", line.split_once("%Error: ").map_or(line, |(_, rest)| rest)),
    };
    (name.to_owned(), format!("{message} ({place})"))
}
