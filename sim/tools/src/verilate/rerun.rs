//! Waves of failing tests.

use crate::verilate::{Design, Model, Options, SimError, Simulation};
use std::fmt;
use std::path::{Path, PathBuf};

/// Number of cycles before a failure that its waves contain.
const WINDOW: u64 = 10_000;

/// A failure, and its waves.
#[derive(Debug)]
pub struct Failure<E> {
    /// What failed.
    pub error: E,
    /// The file with the waves of its last cycles, or why there is none.
    pub waves: Result<PathBuf, String>,
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = &self.error;
        match &self.waves {
            Ok(path) => write!(f, "{error}\nwaves: {}", path.display()),
            Err(why) => write!(f, "{error}\nno waves: {why}"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for Failure<E> {}

/// Runs `test` on a simulation of the design. If it fails, it runs again and writes waves of the last
/// cycles to the file `waves`, so that tests are fast as long as they pass.
///
/// `test` has to behave the same both times.
///
/// # Errors
///
/// The error of `test`, and the location of the waves.
pub fn with_waves_of_failure<E: From<SimError>>(
    design: impl Into<Design>,
    options: &Options,
    waves: &Path,
    test: impl Fn(&mut Simulation) -> Result<(), E>,
) -> Result<(), Failure<E>> {
    let design = design.into();
    let mut edges = 0;
    let first = Simulation::build(&design, options).map_err(E::from).and_then(|mut simulation| {
        let result = test(&mut simulation);
        edges = simulation.edges();
        result
    });
    let Err(error) = first else { return Ok(()) };
    let options = Options { waves: true, ..options.clone() };
    let again = || -> Result<bool, SimError> {
        let mut simulation = Model::build(&design, &options)?.start(options.seed)?;
        simulation.waves_from(edges.saturating_sub(WINDOW), waves)?;
        Ok(test(&mut simulation).is_ok())
    };
    let waves = match again() {
        Ok(false) => Ok(waves.to_owned()),
        Ok(true) => Err("the second run did not fail".to_owned()),
        Err(why) => Err(why.to_string()),
    };
    Err(Failure { error, waves })
}
