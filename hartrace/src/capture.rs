//! Captures that are open, and what can be asked of them.

use crate::error::{Error, OpenError};
use crate::files::Files;
use crate::options::Options;
use crate::steps::{Blocks, CallSteps, Events, Instructions, Steps};
use hartrace_arm_decoder::Mark;
use hartrace_capture::decode::{CaptureDecoder, Filling};
use hartrace_capture::described::Described;
use hartrace_capture::description::Description;
use hartrace_capture::perf::Recording;
use hartrace_capture::programs::Programs;
use hartrace_capture::system::Traced;
use hartrace_decoder::stream::StreamError;
use hartrace_isa::Xlen;
use hartrace_report::arm::{self, How};
use hartrace_report::calls::{Calls, FunctionTotal, FunctionTotals, Timing, Top};
use hartrace_report::decode::{LARGE, Origin, SMALL};
use hartrace_report::gaps::{Gaps, Note};
use hartrace_report::tables::{Naming, Sum, Total};
use hartrace_report::{Form, FormContext, Print, Printer, Report};
use std::fmt;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// Notes that are kept. A damaged capture may have any number of gaps.
const NOTES: usize = 1000;

/// A capture, ready to be decoded as often as needed. Copies are cheap.
#[derive(Clone)]
pub struct Capture {
    trace: Arc<Trace>,
    cancel: Arc<AtomicBool>,
}

/// What it takes to decode a capture.
#[derive(Debug)]
#[non_exhaustive]
pub enum Trace {
    /// E-Trace.
    Etrace(Box<Etrace>),
    /// ETMv4, ETE and PTM.
    Arm(Box<Arm>),
}

/// What it takes to decode E-Trace.
#[non_exhaustive]
pub struct Etrace {
    /// How to follow it.
    pub follow: CaptureDecoder,
    /// The capture, and its description.
    pub described: Described,
    /// The recording of perf that it is in.
    pub recording: Option<Recording>,
    /// The names of the programs.
    pub names: Vec<String>,
    /// Their files; those in a bundle have none.
    pub files: Vec<PathBuf>,
    /// What can be done without.
    pub warnings: Vec<String>,
    /// Why the rest of the trace may be missing.
    pub cut: Option<String>,
    pub(crate) stream: Option<Mutex<Option<Box<dyn Read + Send>>>>,
    pub(crate) files_of: Arc<dyn Files>,
}

/// What it takes to decode the sources of an Arm system.
#[derive(Debug)]
#[non_exhaustive]
pub struct Arm {
    /// The capture, for messages.
    pub name: String,
    /// The sources.
    pub sources: Vec<Traced<'static>>,
    /// Triggers and flushes in frames.
    pub marks: Vec<Mark>,
    /// The names of the code.
    pub programs: Programs,
    /// The names of the programs that were given.
    pub names: Vec<String>,
    /// Their files.
    pub files: Vec<PathBuf>,
    /// What can be done without.
    pub warnings: Vec<String>,
    /// What is missing apart from the traces of sources.
    pub losses: Vec<String>,
    /// Trace buffers that nobody asked for.
    pub unread: Vec<String>,
    /// Threads to decode on.
    pub threads: NonZeroUsize,
}

/// What was decoded, and what is missing in it.
#[derive(Clone, Debug)]
#[must_use = "part of the trace may be missing: see `complete`"]
pub struct Decoded<T> {
    /// The result.
    pub value: T,
    /// What is missing: the first thousand.
    pub notes: Vec<Note>,
    /// How many more there are.
    pub omitted: u64,
    /// What else is missing or doubtful: what the capture lacks, and its [`warnings`](Capture::warnings).
    pub losses: Vec<String>,
}

impl<T> Decoded<T> {
    /// Returns the result if nothing is missing or doubtful.
    ///
    /// # Errors
    ///
    /// The first thing that is missing.
    pub fn complete(self) -> Result<T, Error> {
        match (self.losses.into_iter().next(), self.notes.into_iter().next()) {
            (Some(loss), _) => Err(Error::Incomplete(loss)),
            (None, Some(note)) => Err(Error::Incomplete(note.to_string())),
            (None, None) => Ok(self.value),
        }
    }
}

impl Capture {
    /// Opens a capture of any kind that needs no [`Options`].
    ///
    /// # Errors
    ///
    /// If it cannot be read, or if something that is needed to decode it is missing or wrong.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Options::default().open(path)
    }

    /// The same capture, of which any decoding ends with [`Error::Cancelled`] soon after `cancel` is set: when the parts are
    /// done that are being decoded, each of a megabyte at most as a rule.
    #[must_use]
    pub fn cancelled_by(&self, cancel: Arc<AtomicBool>) -> Self {
        Self { trace: Arc::clone(&self.trace), cancel }
    }

    /// What it takes to decode it, for those who do that themselves.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// Its name, for messages.
    pub fn name(&self) -> &str {
        self.trace.name()
    }

    /// What its trace is: `E-Trace`, or `CoreSight`, whose sources may have different protocols.
    pub fn protocol(&self) -> &'static str {
        match &*self.trace {
            Trace::Etrace(_) => "E-Trace",
            Trace::Arm(_) => "CoreSight",
        }
    }

    /// Its description, if it has one.
    pub fn description(&self) -> Option<&Description> {
        match &*self.trace {
            Trace::Etrace(etrace) => etrace.described.description.as_ref(),
            Trace::Arm(_) => None,
        }
    }

    /// The code that was traced, with the names of functions and source lines.
    pub fn programs(&self) -> &Programs {
        self.trace.programs()
    }

    /// The names of the files of these programs.
    pub fn program_names(&self) -> &[String] {
        match &*self.trace {
            Trace::Etrace(etrace) => &etrace.names,
            Trace::Arm(arm) => &arm.names,
        }
    }

    /// The files of these programs; those in a bundle have none.
    pub fn program_files(&self) -> &[PathBuf] {
        match &*self.trace {
            Trace::Etrace(etrace) => &etrace.files,
            Trace::Arm(arm) => &arm.files,
        }
    }

    /// The width that addresses are printed in: 64 bits for any Arm core.
    pub fn xlen(&self) -> Xlen {
        self.trace.xlen()
    }

    /// The function at an address, and the distance from its start: `main+4`.
    pub fn function_at(&self, address: u64) -> Option<String> {
        let symbols = self.programs().all_symbols();
        symbols.place(address).map(|place| place.to_string())
    }

    /// What was noticed when it was opened, and can be done without.
    pub fn warnings(&self) -> &[String] {
        self.trace.warnings()
    }

    /// Everything that was executed, in order: blocks of instructions, and events between them.
    ///
    /// Where the trace cannot be followed, there is an error, and the iterator continues after it. If part of the trace may be
    /// missing at the end, the last item is an error.
    pub fn steps(&self) -> Steps {
        Steps::new(self)
    }

    /// Every instruction in order. Errors are as those of [`steps`](Self::steps).
    ///
    /// ```no_run
    /// for instruction in hartrace::open("firmware.trace")?.instructions() {
    ///     println!("{:#x}", instruction?.address);
    /// }
    /// # Ok::<(), hartrace::Error>(())
    /// ```
    pub fn instructions(&self) -> Instructions {
        Instructions::new(self.steps())
    }

    /// Runs of consecutive instructions in order. Errors are as those of [`steps`](Self::steps).
    pub fn blocks(&self) -> Blocks {
        Blocks::new(self.steps())
    }

    /// What happened between instructions, in order: traps, contexts, times, starts and ends of traces. Errors are as those of
    /// [`steps`](Self::steps).
    pub fn events(&self) -> Events {
        Events::new(self.steps())
    }

    /// Which functions were entered and left, in order, inlined ones among them. Errors are as those of
    /// [`steps`](Self::steps), but come at the end.
    pub fn calls(&self) -> CallSteps {
        CallSteps::new(self)
    }

    /// What each function has executed, those with the most instructions of their own first.
    ///
    /// # Errors
    ///
    /// If the capture cannot be read.
    pub fn functions(&self) -> Result<Decoded<Vec<FunctionTotal>>, Error> {
        let report = Calls::with_inlined(FunctionTotals::default(), self.programs(), self.xlen());
        let decoded = self.report(report, io::sink(), LARGE)?;
        Ok(decoded.map(|(report, _)| report.form().functions.clone()))
    }

    /// Adds something up over all sources: [`Count`](crate::Count) of instructions, [`Edges`](crate::Edges) or
    /// [`Coverage`](crate::Coverage), or a sum of your own.
    ///
    /// # Errors
    ///
    /// If the capture cannot be read.
    pub fn sum<S: Sum>(&self) -> Result<Decoded<S>, Error> {
        let decoded = self.report(Total::<S>::default(), io::sink(), LARGE)?;
        Ok(decoded.map(|(report, _)| report.sum))
    }

    /// Writes a report, as `hartrace decode` and `hartrace export` do. Returns where it was written.
    ///
    /// # Errors
    ///
    /// If the capture cannot be read, the report cannot be written, or needs debug information that no program has.
    pub fn write<W: Write + Send>(&self, form: Form, mut out: W) -> Result<Decoded<W>, Error> {
        let notes = Notes::default();
        let gaps = notes.gaps(self);
        if let (Trace::Arm(arm), Form::Listing) = (&*self.trace, form) {
            let mut printer = Printer::new(arm::Listing::default(), out, gaps);
            arm::listing(&mut printer, arm.how(), &arm.sources, &arm.programs)?;
            return Ok(self.decoded(&printer.gaps, notes).map(|()| printer.out));
        }
        let is_arm = matches!(&*self.trace, Trace::Arm(_));
        let look = FormContext {
            programs: self.programs(),
            xlen: self.xlen(),
            name: self.name(),
            json: false,
            headings: self.trace.is_several(),
            naming: match (is_arm, self.trace.is_several()) {
                (false, _) => Naming::Several,
                (true, true) => Naming::Always,
                (true, false) => Naming::Never,
            },
            timing: Timing::default(),
            top: Top::default(),
        };
        let size = if form.is_sum() { LARGE } else { SMALL };
        let mut printer = form.printer(&look, &mut out, gaps)?;
        self.trace.print(&mut *printer, size)?;
        let decoded = self.decoded(printer.gaps(), notes);
        drop(printer);
        Ok(decoded.map(|()| out))
    }

    /// Decodes all of it into any [`Report`]: a sink for each part, on several threads, and a function that joins parts in
    /// order. Returns the report, and where it was written. Parts have about `size` bytes: [`LARGE`](crate::LARGE) where only the end
    /// matters, [`SMALL`](crate::SMALL) where results are written as they come.
    ///
    /// # Errors
    ///
    /// If the capture cannot be read, or the report cannot be written.
    pub fn report<R: Report + Send, W: Write + Send>(
        &self,
        report: R,
        out: W,
        size: usize,
    ) -> Result<Decoded<(R, W)>, Error> {
        let notes = Notes::default();
        let mut printer = Printer::new(report, out, notes.gaps(self));
        self.trace.print(&mut printer, size)?;
        let decoded = self.decoded(&printer.gaps, notes);
        Ok(decoded.map(|()| (printer.report, printer.out)))
    }

    /// Gaps of which `tell` is told.
    pub(crate) fn gaps(&self, tell: impl FnMut(&Note) + Send + 'static) -> Gaps {
        Gaps::new(self.name(), tell).cancelled_by(Arc::clone(&self.cancel))
    }

    /// What is missing in what was decoded.
    fn decoded(&self, gaps: &Gaps, notes: Notes) -> Decoded<()> {
        let (notes, omitted) = notes.take();
        let mut losses = self.trace.losses();
        if !gaps.has_started() && gaps.count() == 0 && notes.is_empty() {
            losses.push(self.trace.nothing());
        }
        Decoded { value: (), notes, omitted, losses }
    }
}

/// What gaps tell.
#[derive(Default)]
struct Notes(Arc<Mutex<(Vec<Note>, u64)>>);

impl Notes {
    /// Gaps that are noted here.
    fn gaps(&self, capture: &Capture) -> Gaps {
        let kept = Arc::clone(&self.0);
        capture.gaps(move |note: &Note| {
            let mut notes = kept.lock().unwrap_or_else(PoisonError::into_inner);
            match notes.0.len() < NOTES {
                true => notes.0.push(note.clone()),
                false => notes.1 = notes.1.saturating_add(1),
            }
        })
    }

    fn take(self) -> (Vec<Note>, u64) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Decoded<T> {
    fn map<U>(self, value: impl FnOnce(T) -> U) -> Decoded<U> {
        let Self { notes, omitted, losses, .. } = self;
        Decoded { value: value(self.value), notes, omitted, losses }
    }
}

impl Trace {
    /// What is missing if nothing was decoded at all.
    pub(crate) fn nothing(&self) -> String {
        format!("{}: no synchronisation in any trace", self.name())
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Etrace(etrace) => &etrace.described.name,
            Self::Arm(arm) => &arm.name,
        }
    }

    pub(crate) fn programs(&self) -> &Programs {
        match self {
            Self::Etrace(etrace) => &etrace.follow.programs,
            Self::Arm(arm) => &arm.programs,
        }
    }

    pub(crate) fn xlen(&self) -> Xlen {
        match self {
            Self::Etrace(etrace) => etrace.follow.setup.xlen,
            Self::Arm(_) => Xlen::Rv64,
        }
    }

    /// What is missing or doubtful apart from the traces of sources.
    pub(crate) fn losses(&self) -> Vec<String> {
        let mut losses = match self {
            Self::Etrace(etrace) => {
                let missing = etrace.recording.iter().flat_map(|recording| &recording.missing);
                let missing = missing.map(ToString::to_string);
                missing.chain(etrace.cut.clone()).collect::<Vec<_>>()
            }
            Self::Arm(arm) => arm.losses.iter().chain(&arm.unread).cloned().collect(),
        };
        let name = self.name();
        losses.extend(self.warnings().iter().map(|warning| match warning.starts_with(name) {
            true => warning.clone(),
            false => format!("{name}: {warning}"),
        }));
        losses
    }

    pub(crate) fn warnings(&self) -> &[String] {
        match self {
            Self::Etrace(etrace) => &etrace.warnings,
            Self::Arm(arm) => &arm.warnings,
        }
    }

    /// Whether there may be several sources.
    fn is_several(&self) -> bool {
        match self {
            Self::Etrace(etrace) => etrace.follow.setup.transport.source.is_none(),
            Self::Arm(arm) => arm.sources.len() > 1,
        }
    }

    /// Decodes all of it, and finishes the report.
    pub(crate) fn print(&self, printer: &mut dyn Print, size: usize) -> Result<(), Error> {
        let etrace = match self {
            Self::Etrace(etrace) => etrace,
            Self::Arm(arm) => return Ok(printer.arm(arm.how(), &arm.sources)?),
        };
        let mut origin = match &etrace.recording {
            Some(recording) => Origin::Recording(recording),
            // Those who want nothing before the end work better on large pieces.
            None if size >= LARGE => {
                let input: Box<dyn Read + Send> = Box::new(Filling(etrace.input()?));
                Origin::Capture(input)
            }
            None => Origin::Capture(etrace.input()?),
        };
        let outcome = printer.follow(&etrace.follow, origin.as_dyn(), size, None, &mut |_| ());
        outcome.map_err(|error| match error {
            StreamError::Join(error) => error.into(),
            StreamError::Params(error) => error.into(),
            StreamError::Input(error) => Error::Read { name: self.name().into(), error },
        })
    }
}

impl Arm {
    fn how(&self) -> How {
        How { threads: self.threads, limits: None, named: false }
    }
}

impl From<Trace> for Capture {
    fn from(trace: Trace) -> Self {
        Self { trace: Arc::new(trace), cancel: Arc::default() }
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Etrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etrace").field("follow", &self.follow).finish_non_exhaustive()
    }
}
