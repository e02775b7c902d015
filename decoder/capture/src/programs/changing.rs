//! Code that changes over time, according to a log.

use crate::snapshot::{file, image};
use hartrace_decoder::{Image, Moment};
use hartrace_etrace::Params;
use hartrace_spaces::{Clock, Holds, Loaded, Log, Segment, Space, Timeline};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Versions to keep. Each uses a few bytes for every range of code, and there may be as many versions as
/// the log has lines.
const KEPT: usize = 64;

/// A log, and the programs that were made from it.
#[derive(Debug)]
pub struct Changing {
    timeline: Timeline,
    /// Whether the trace has contexts.
    contexts: bool,
    made: Mutex<Made>,
}

/// The events of a log have times, but the trace has none. Either the log needs positions, or the trace
/// needs times.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("the events of the log have times, but the trace has none")]
pub struct NoTime;

/// The versions that were made.
#[derive(Debug, Default)]
struct Made {
    /// By number of the program that they are based on, and by address space.
    versions: BTreeMap<(usize, Space), (usize, Image)>,
    /// Number of versions made so far, including those that were dropped.
    count: usize,
    /// For a recording, the time of the piece, and its thread if that is known.
    moment: (u64, Option<u64>),
}

impl Changing {
    /// Reads the images that the log at `path` names, which are files in its folder. `holds` is what the
    /// contexts of the trace hold.
    ///
    /// Also returns warnings about parts of the log that cannot be used.
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
        let timeline = Timeline::new(log, holds, |image| match file(&folder, &name, &image.file) {
            Ok(bytes) => image::load(image, bytes),
            Err(_) => Loaded::Missing,
        });
        let missing = timeline.missing.iter().chain(&timeline.wrong);
        let missing = missing.map(|what| format!("{name}: {what}"));
        let useless = params.nocontext_p && log.events.iter().any(|(_, event)| event.pid() != 0);
        let useless = useless.then(|| {
            format!(
                "{name}: the trace has no contexts; only process 0 of the log, the kernel, counts"
            )
        });
        let sources = (!log.traces.is_empty())
            .then(|| format!("{name}: define_trace is for sources of CoreSight, and ignored"));
        let warnings = missing.chain(useless).chain(sources).collect();
        let contexts = !params.nocontext_p;
        Ok((Self { timeline, contexts, made: Mutex::default() }, warnings))
    }

    /// Uses what a recording tells. It has no code before [`Programs::set_moment`](super::Programs::set_moment).
    pub fn recorded(timeline: Timeline, params: &Params) -> Self {
        let contexts = !params.nocontext_p;
        Self { timeline, contexts, made: Mutex::default() }
    }

    pub(super) fn set_moment(&self, time: u64, thread: Option<u64>) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).moment = (time, thread);
    }

    /// Returns the code at a moment, based on `program`, whose number is `below`, and its own number.
    pub(super) fn version(&self, moment: Moment, below: usize, program: &Image) -> (usize, Image) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let now = match self.timeline.clock() {
            Clock::Time => moment.time,
            Clock::Position => moment.byte,
            Clock::Recorded => made.moment.0,
        };
        let context = moment.context.filter(|_| self.contexts).or(made.moment.1);
        let space = self.timeline.space(now, context);
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
