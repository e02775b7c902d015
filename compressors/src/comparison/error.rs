//! Errors of a comparison.

use crate::{CompressError, UnknownScheme};
use hartrace_executions::SourceError;
use hartrace_executions::executed::ProgramError;
use hartrace_executions::qemu::QemuError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// An error that prevents a comparison.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ComparisonError {
    /// There is no such scheme.
    #[error(transparent)]
    Scheme(#[from] UnknownScheme),
    /// The scheme is not for RISC-V.
    #[error("{0} is for Arm programs, not one of these schemes")]
    ArmScheme(String),
    /// A sweep that cannot be understood.
    #[error("sweep {sweep}: {what}; try: {}", Self::SWEEP)]
    Sweep {
        /// The sweep as it was given.
        sweep: String,
        /// What is wrong with it.
        what: String,
    },
    /// A suite that cannot be used.
    #[error("suite {suite}: {what}")]
    Suite {
        /// Its name or its file.
        suite: String,
        /// What is wrong with it.
        what: String,
    },
    /// A table of the source that is not measured.
    #[error("{0}")]
    Table(String),
    /// A program cannot be executed.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A log cannot be read.
    #[error(transparent)]
    Log(#[from] SourceError),
    /// A scheme cannot express what was executed.
    #[error("{program}: {scheme}: {error}")]
    Compress {
        /// The program.
        program: String,
        /// The scheme.
        scheme: String,
        /// Why.
        error: CompressError,
    },
    /// There is no such scheme for data.
    #[error(transparent)]
    Data(CompressError),
    /// The plugin for QEMU cannot be built.
    #[error(transparent)]
    Qemu(QemuError),
    /// QEMU cannot run a program.
    #[error("{program}: {error}")]
    Run {
        /// The program.
        program: String,
        /// Why.
        error: QemuError,
    },
    /// A program cannot be read.
    #[error("{}: cannot read: {error}", .path.display())]
    Read {
        /// Its file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Figures of earlier runs cannot be read, or new ones not be written.
    #[error("{}: {error}; try: another file, which need not exist", .path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A program is not an ELF file.
    #[error("{program}: not an ELF file: {error}")]
    Elf {
        /// The program.
        program: String,
        /// What is wrong with it.
        error: elf::ParseError,
    },
    /// Programs cannot be written to files for QEMU.
    #[error(transparent)]
    Bundle(io::Error),
    /// A plot cannot be drawn.
    #[error("cannot draw: {0}")]
    Draw(String),
    /// A thread ended before its work was done.
    #[error("a thread ended early")]
    Thread,
}

impl ComparisonError {
    /// Examples of sweeps.
    pub const SWEEP: &'static str = "tmbp.entries=64..2048, or dmtf.mtf2=4,8,16";
}
