//! Code that comes and goes, as a log says.

use crate::snapshot::{file, image};
use crate::spaces::{Clock, Holds, Log, Segment, Space, Timeline};
use hartrace_decoder::{Image, Moment};
use hartrace_etrace::Params;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Versions to keep: each uses a few bytes for every stretch of code that it has, and there may be as many
/// as the log has lines.
const KEPT: usize = 64;

/// A log, and the programs that were made of it.
#[derive(Debug)]
pub struct Changing {
    timeline: Timeline,
    /// The trace has contexts.
    contexts: bool,
    made: Mutex<Made>,
}

/// The events of a log have times, but the trace has none: the log needs positions, or the trace times.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("the events of the log have times, but the trace has none")]
pub struct NoTime;

/// By number of the program below it.
#[derive(Debug, Default)]
struct Made {
    versions: BTreeMap<(usize, Space), (usize, Image)>,
    /// How many were ever made.
    count: usize,
}

impl Changing {
    /// Reads the images that the log at `path` names: files in its folder. `holds` says what the
    /// contexts of the trace are.
    ///
    /// Also returns warnings: what of the log cannot be used.
    pub fn new(
        path: &Path,
        log: &Log,
        holds: Holds,
        params: &Params,
    ) -> Result<(Self, Vec<String>), NoTime> {
        if log.clock == Clock::Time && params.notime_p {
            return Err(NoTime);
        }
        let folder: PathBuf = path.parent().unwrap_or(Path::new("")).into();
        let name = path.display().to_string();
        let timeline = Timeline::new(log, holds, |image| {
            file(&folder, &name, &image.file).ok().and_then(image::segments)
        });
        let missing = timeline.missing.iter();
        let missing = missing.map(|what| format!("{name}: {what} cannot be read"));
        let useless = params.nocontext_p && log.events.iter().any(|(_, event)| event.pid() != 0);
        let useless = useless.then(|| {
            format!(
                "{name}: the trace has no contexts; of the log only process 0, the kernel, counts"
            )
        });
        let sources = (!log.traces.is_empty())
            .then(|| format!("{name}: define_trace is of sources of CoreSight, and ignored"));
        let warnings = missing.chain(useless).chain(sources).collect();
        Ok((Self { timeline, contexts: !params.nocontext_p, made: Mutex::default() }, warnings))
    }

    /// The code of a moment, over the `program` of this number, and its own number.
    pub(super) fn version(&self, moment: Moment, below: usize, program: &Image) -> (usize, Image) {
        let now = match self.timeline.clock() {
            Clock::Time => moment.time,
            Clock::Position => moment.byte,
        };
        let space = self.timeline.space(now, moment.context.filter(|_| self.contexts));
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((number, image)) = made.versions.get(&(below, space)) {
            return (*number, image.clone());
        }
        if made.versions.len() >= KEPT {
            made.versions.clear();
        }
        let mut image = program.clone();
        for Segment { start, code, part } in self.timeline.segments(space) {
            image.add_shared(image.isa().xlen.wrap(start), &code, part);
        }
        let number = made.count;
        made.count = number.wrapping_add(1);
        made.versions.insert((below, space), (number, image.clone()));
        (number, image)
    }
}
