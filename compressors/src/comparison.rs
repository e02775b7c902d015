//! Comparison of compressors: each scheme compresses the same executions, and its output is decompressed and
//! compared from the first instruction to the last.
//!
//! [`chosen`] finds schemes by name and by sweep. A [`Comparison`] measures them on [`Workload`]s and prints
//! a table, JSON or, with the feature `plots`, a page with plots. Data traces and Arm programs have separate
//! tables.
//!
//! ```no_run
//! use hartrace_compressors::comparison::{Comparison, ComparisonError, Options, Workload, chosen};
//! use hartrace_executions::executed::Program;
//!
//! let schemes = chosen(&["bTMBP, E-Trace+ir".into()], &["tmbp.entries=64..512".into()])?;
//! let mut comparison = Comparison::new(schemes, Options::default());
//! let programs = [Program::new("sort", std::fs::read("sort.elf")?)?];
//! let open = |program: &Program| Ok::<_, ComparisonError>(Workload::execute(program, 1_000_000)?);
//! comparison.measure(&programs, open, || ())?;
//! comparison.print(&mut std::io::stdout(), false)?;
//! assert!(comparison.is_verified());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arm;
mod bundled;
mod characteristics;
mod chosen;
mod data;
mod error;
mod experiment;
mod figures;
#[cfg(feature = "plots")]
mod html;
mod journal;
#[cfg(feature = "plots")]
mod labels;
mod means;
#[cfg(feature = "plots")]
mod plots;
mod rows;
mod statistics;
mod suite;
mod table;
mod threads;
mod workload;

use crate::{DataScheme, Scheme};
pub use arm::{IsaFigures, Isas, Source, is_arm_program};
pub use bundled::SOURCES;
pub use characteristics::Characteristics;
pub use chosen::chosen;
pub use data::{DataFigures, Lookups};
pub use error::ComparisonError;
pub use experiment::{Experiment, TableFormat};
pub use figures::Figures;
use hartrace_executions::executed::Program;
use journal::Journal;
use statistics::DataStatistics;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
pub use suite::{Suite, SuiteProgram};
use threads::each;
pub use workload::Workload;

/// Options that apply to all programs and schemes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The largest number of steps per program.
    pub limit: u64,
    /// Number of instructions after which tables are emptied and whole addresses are sent; `None` for never.
    pub sync_every: Option<NonZeroU64>,
}

impl Default for Options {
    /// 3,000,000 steps, synchronised only at the start.
    fn default() -> Self {
        Self { limit: 3_000_000, sync_every: None }
    }
}

/// Schemes and their results on some programs.
#[derive(Clone, Debug)]
pub struct Comparison {
    schemes: Vec<Scheme>,
    options: Options,
    suite: Option<Suite>,
    journal: Option<Arc<Journal>>,
    /// The table to be measured, if any.
    table: Option<&'static Experiment>,
    statistics: Vec<DataStatistics>,
    /// What the programs are like.
    pub programs: Vec<Characteristics>,
    /// Figures for every program in every scheme.
    pub figures: Vec<Figures>,
    /// Figures for every program in every data scheme, if they were measured.
    pub data: Option<Vec<DataFigures>>,
    /// Figures for every Arm program and for the RISC-V programs it is compared with, if there are any.
    pub isas: Option<Isas>,
}

impl Comparison {
    /// Starts a comparison of these schemes.
    pub fn new(schemes: Vec<Scheme>, options: Options) -> Self {
        let (programs, figures) = (Vec::new(), Vec::new());
        Self {
            schemes,
            options,
            suite: None,
            journal: None,
            table: None,
            statistics: Vec::new(),
            programs,
            figures,
            data: None,
            isas: None,
        }
    }

    /// Data schemes are those of this table, if any. The other schemes are [its own](Experiment::schemes) as well.
    #[must_use]
    pub fn table(self, table: Option<&'static Experiment>) -> Self {
        Self { table, ..self }
    }

    /// The programs are those of a suite, if any: tables have its means, beside published ones, unless means say nothing.
    #[must_use]
    pub fn of(self, suite: Option<&Suite>) -> Self {
        Self { suite: suite.cloned(), ..self }
    }

    /// Uses the figures in a file, if any, and adds new ones to it as soon as they are there. Data traces and Arm programs are
    /// measured each time.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has something else in it.
    pub fn resume(mut self, file: Option<&Path>) -> Result<Self, ComparisonError> {
        self.journal = file.map(Journal::open).transpose()?.map(Arc::new);
        Ok(self)
    }

    /// Measures every workload in every scheme. Workloads run in parallel on all cores; if there are fewer
    /// workloads than cores, their schemes do as well. `open` makes the workload of an input; `done` is
    /// called after every scheme.
    ///
    /// # Errors
    ///
    /// Those of `open`, and if a scheme cannot express what was executed. An instruction that is not
    /// recovered is not an error: the figures report it.
    pub fn measure<I: Sync, E: From<ComparisonError> + Send>(
        &mut self,
        inputs: &[I],
        open: impl Fn(&I) -> Result<Workload, E> + Sync,
        done: impl Fn() + Sync,
    ) -> Result<(), E> {
        let Self { schemes, options, journal, .. } = &*self;
        // A table about data or gates needs no instruction trace.
        if schemes.is_empty() && !self.table.is_some_and(Experiment::is_of_programs) {
            return Ok(());
        }
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let outer = cores.min(inputs.len()).max(1);
        let found = each(inputs, outer, |input| {
            let workload = open(input)?;
            let journal = journal.as_ref().map(|journal| (journal, workload.digest()));
            let figures = each(schemes, cores / outer, |scheme| {
                let how = (scheme, options.sync_every);
                let measure = || figures::measure(&workload, scheme, options.sync_every);
                let figures = match &journal {
                    Some((journal, execution)) => {
                        journal.figures(&workload, execution, how, measure)
                    }
                    None => measure(),
                };
                done();
                Ok::<_, E>(figures?)
            })?;
            Ok::<_, E>((Characteristics::of(&workload)?, figures))
        })?;
        for (program, figures) in found {
            self.programs.push(program);
            self.figures.extend(figures.into_iter().flatten());
        }
        Ok(())
    }

    /// Measures the data traces of programs. `open` returns the program of an input and its limit, or `None` if it is not one;
    /// `done` is called after every input.
    ///
    /// # Errors
    ///
    /// Those of `open`, and if a program cannot be executed.
    pub fn measure_data<I: Sync, E: From<ComparisonError> + Send>(
        &mut self,
        inputs: &[I],
        open: impl Fn(&I) -> Result<Option<(Program, u64)>, E> + Sync,
        done: impl Fn() + Sync,
    ) -> Result<(), E> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let defaults = || DataScheme::defaults().into_iter().map(|(name, it)| (name.into(), it));
        let (schemes, wanted) = match self.table {
            Some(table) => (table.data_schemes(), table.statistics()),
            None => (defaults().collect(), statistics::Wanted::default()),
        };
        let found = each(inputs, cores, |input| -> Result<_, E> {
            let measure =
                |(program, limit): (Program, u64)| data::measure(&program, limit, &schemes, wanted);
            let found = open(input)?.map(measure).transpose();
            done();
            Ok(found?)
        })?;
        for (figures, statistics) in found.into_iter().flatten() {
            self.data.get_or_insert_default().extend(figures);
            self.statistics.push(statistics);
        }
        self.data.get_or_insert_default();
        Ok(())
    }

    /// Measures E-Trace, ETMv4 and PTM on sources that were compiled for several instruction sets and on any
    /// Arm programs. QEMU runs the Arm programs; without QEMU, [`Isas::notes`] states what is missing.
    ///
    /// # Errors
    ///
    /// If a program cannot be executed.
    pub fn measure_arm(
        &mut self,
        sources: &[Source],
        programs: &[PathBuf],
    ) -> Result<(), ComparisonError> {
        self.isas = Some(arm::measure(sources, programs, &self.options)?);
        Ok(())
    }

    /// Returns whether every instruction and every access was recovered.
    pub fn is_verified(&self) -> bool {
        self.figures.iter().all(|one| one.verified)
            && self.data.iter().flatten().all(|one| one.verified)
            && self.isas.iter().flat_map(|isas| &isas.rows).all(|row| row.verified)
    }

    /// Prints tables; with `brief`, only the means.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn print(&self, out: &mut impl Write, brief: bool) -> io::Result<()> {
        // With Arm programs alone there is nothing to compress.
        if !self.figures.is_empty() || self.isas.is_none() {
            self.print_schemes(out, brief)?;
            self.print_means(out)?;
            if !brief {
                self.print_characteristics(out)?;
            }
        }
        if let Some(figures) = &self.data {
            data::print(out, figures, brief)?;
        }
        self.isas.as_ref().map_or(Ok(()), |isas| arm::print(out, isas, brief))
    }
}
