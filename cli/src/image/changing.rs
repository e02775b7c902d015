//! Code that comes and goes, as a log says.

use crate::args::EventsArgs;
use crate::failure::Failure;
use crate::params::Setup;
use hartrace_capture::snapshot::{file, image};
use hartrace_capture::spaces::{Clock, Segment, Space, Timeline};
use hartrace_decoder::{Image, Moment};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Versions to keep: each takes a few bytes for every stretch of code that it has, and there may be as many
/// as the log has lines.
const KEPT: usize = 64;

/// A log, and the programs that were made of it.
#[derive(Debug)]
pub(crate) struct Changing {
    timeline: Timeline,
    /// The trace has contexts.
    contexts: bool,
    made: Mutex<Made>,
}

/// By number of the program below it.
#[derive(Debug, Default)]
struct Made {
    versions: BTreeMap<(usize, Space), (usize, Image)>,
    /// How many were ever made.
    count: usize,
}

impl Changing {
    /// Reads a log, if there is one, and the images that it names: files in its folder.
    pub(crate) fn open(args: &EventsArgs, setup: &Setup) -> Result<Option<Self>, Failure> {
        let (Some(log), Some(path)) = (args.log()?, &args.events) else {
            return match args.context_id {
                Some(_) => Err(Failure::usage("--context-id is about processes of a log")
                    .hint("--events LOG, or the same without it")),
                None => Ok(None),
            };
        };
        let Some(holds) = args.holds() else {
            return Err(Failure::usage("nothing says what the context of the hart is")
                .hint("--context-id tid, if it holds a thread or process"));
        };
        if log.clock == Clock::Time && setup.params.notime_p {
            return Err(Failure::usage("the events of the log have times, but the trace has none")
                .at(path.display())
                .hint(
                    "a log with @POSITION, or notime_p = 0 and time_width_p among the parameters",
                ));
        }
        let folder: PathBuf = path.parent().unwrap_or(Path::new("")).into();
        let name = path.display().to_string();
        let timeline = Timeline::new(&log, holds, |image| {
            file(&folder, &name, &image.file).ok().and_then(image::segments)
        });
        let missing = timeline.missing.iter();
        let missing = missing.map(|what| format!("{name}: {what} cannot be read"));
        let useless =
            setup.params.nocontext_p && log.events.iter().any(|(_, event)| event.pid() != 0);
        let useless = useless.then(|| {
            format!(
                "{name}: the trace has no contexts; of the log only process 0, the kernel, counts"
            )
        });
        let sources = (!log.traces.is_empty())
            .then(|| format!("{name}: define_trace is of sources of CoreSight, and ignored"));
        for warning in missing.chain(useless).chain(sources) {
            // Nobody may be reading.
            let _ = writeln!(io::stderr(), "warning: {warning}");
        }
        Ok(Some(Self { timeline, contexts: !setup.params.nocontext_p, made: Mutex::default() }))
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
        made.count += 1;
        made.versions.insert((below, space), (number, image.clone()));
        (number, image)
    }
}
