//! A trace buffer of a system, with its sources.

use super::{BindError, NoFrames, Origin, Portions, System, bind, layout_of};
use crate::snapshot::{Error, Protocol};
use hartrace_arm_decoder::{Capture, Layout};
use hartrace_encap::coresight::Mode;
use hartrace_spaces::Log;
use thiserror::Error as ThisError;

/// A trace buffer that was taken apart, and what is known of its sources.
#[derive(Debug)]
pub struct Opened<'s> {
    /// The name of the buffer.
    pub name: &'s str,
    /// Its streams.
    pub capture: Capture,
    /// What changed while the system was traced, if that is known.
    pub log: Option<Log>,
    /// What is wrong with the buffer.
    pub gaps: Vec<String>,
    /// What is left out.
    pub warnings: Vec<String>,
    origins: Vec<Origin<'s>>,
    raw: bool,
}

/// Why a buffer cannot be opened.
#[derive(Debug, ThisError)]
pub enum OpenError {
    /// A file is missing or wrong.
    #[error(transparent)]
    Files(#[from] Error),
    /// It has no frames, but is said to have some.
    #[error(transparent)]
    Frames(#[from] NoFrames),
}

impl System {
    /// Opens a buffer; without a name, the first one. Frames are found according to its format, unless `frames`
    /// says how. `log` replaces that of the system.
    ///
    /// # Errors
    ///
    /// If there is no such buffer, a file cannot be read, or there are no frames.
    pub fn open_buffer(
        &self,
        name: Option<&str>,
        frames: Option<Mode>,
        log: Option<Log>,
    ) -> Result<Opened<'_>, OpenError> {
        let buffer = self.buffer(name)?;
        let origins = self.origins(buffer)?;
        let layout = layout_of(buffer.format, frames)?;
        let capture = Capture::open(layout, self.bytes(buffer)).map_err(Error::of_read)?;
        let gaps = |fault| format!("trace buffer {}: {fault}", buffer.name);
        let gaps = capture.faults.iter().map(gaps).collect();
        let mut warnings = Vec::new();
        for origin in origins.iter().filter(|origin| !origin.is_read()) {
            // O2.
            if let Protocol::Other(kind) = origin.protocol() {
                warnings.push(format!("the trace of {} is not read: {kind}", origin.name()));
            }
        }
        let log = match log {
            Some(log) => Some(log),
            None => self.log()?,
        };
        let raw = layout == Layout::Raw;
        if raw && log.as_ref().is_some_and(|log| !log.traces.is_empty()) {
            let what = "define_trace is ignored: without frames, sources cannot be distinguished";
            warnings.push(what.into());
        }
        Ok(Opened { name: &buffer.name, capture, log, gaps, warnings, origins, raw })
    }
}

impl<'s> Opened<'s> {
    /// Returns the sources with what each has traced, and what has no source.
    ///
    /// # Errors
    ///
    /// If the log names sources that do not exist.
    pub fn sources(&self) -> Result<(Vec<Portions<'_, 's>>, Vec<String>), BindError> {
        let mut nobody = Vec::new();
        let sources =
            bind(&self.capture, &self.origins, self.raw, self.log.as_ref(), |id, bytes| {
                let what = "which has no source at that time (define_trace)";
                nobody.push(format!("{bytes} bytes of {id:#x}, {what}"));
            })?;
        Ok((sources, nobody))
    }
}
