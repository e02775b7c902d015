//! Errors of a round trip.

use crate::executed::ProgramError;
use hartrace_encap::{EmitError, FrameError};
use hartrace_encoder::ConfigError;
use hartrace_etrace::ParamsError;
use std::io;
use thiserror::Error;

/// A round trip cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RoundError {
    /// The program cannot be executed.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// There is no such encoder.
    #[error(transparent)]
    Encoder(#[from] ConfigError),
    /// There is no such decoder.
    #[error(transparent)]
    Decoder(#[from] ParamsError),
    /// A payload does not fit into a frame.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// A frame that was just written cannot be read.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The output cannot be written.
    #[error("cannot write: {0}")]
    Write(io::Error),
    /// A thread ended before its work was done.
    #[error("a thread ended early")]
    Thread,
}
