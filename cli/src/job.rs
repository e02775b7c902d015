//! What to make of a capture: the job of `decode`, `export` and `report`.

use crate::args::{CapturedArgs, Emit};
use crate::failure::Failure;
use crate::files;
use hartrace_capture::output::Output;
use hartrace_report::calls::{Timing, Top};
use hartrace_report::limits::{Limits, Position};
use hartrace_report::window::{Place, Window};
use std::path::{Path, PathBuf};

/// What to decode, what to make of it, and where to write that.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) captured: &'a CapturedArgs,
    pub(crate) product: Product<'a>,
    /// Without one, it is standard output.
    pub(crate) output: Option<&'a Path>,
    /// The most bytes to write.
    pub(crate) most: Option<u64>,
    /// JSON instead of text, where there is a choice.
    pub(crate) json: bool,
    /// The part of the trace.
    pub(crate) window: Window,
    /// Whether instructions have numbers.
    pub(crate) numbers: bool,
    pub(crate) timing: Timing,
    /// What a table of functions shows.
    pub(crate) top: Top,
}

/// What to make of a trace.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Product<'a> {
    /// What `decode` and `export` print.
    Text(Emit),
    /// A page for browsers, which may hold sources below these folders.
    Page(&'a [PathBuf]),
}

impl<'a> Job<'a> {
    /// All of a capture, in one form.
    pub(crate) fn new(captured: &'a CapturedArgs, product: Product<'a>) -> Self {
        let (output, json, window) = (None, false, Window::default());
        let (timing, top) = (Timing::default(), Top::default());
        Self { captured, product, output, most: None, json, window, numbers: false, timing, top }
    }

    /// Where to write.
    pub(crate) fn out(&self) -> Result<Output, Failure> {
        let out = files::create(self.output.unwrap_or(Path::new("-")))?;
        Ok(match self.most {
            Some(most) => out.at_most(most),
            None => out,
        })
    }

    /// Whether the part of the trace has to be looked for.
    pub(crate) fn is_searched(&self) -> bool {
        let place = |place: &Option<Place>| place.as_ref().and_then(Place::position);
        let start = place(&self.window.from);
        // Which number an instruction behind a packet has is known only after all instructions before it.
        let unknown = matches!(start, Some(Position::Packet(_) | Position::Byte(_)));
        self.window.is_searched() || unknown && self.numbers
    }

    /// Whether a gap is an error.
    pub(crate) fn is_strict(&self) -> bool {
        self.captured.follow.strict
    }

    /// Whether this is what to print.
    pub(crate) fn emits(&self, emit: Emit) -> bool {
        self.product == Product::Text(emit)
    }

    /// What part of a trace to print, as far as that is known without a search.
    pub(crate) fn limits(&self) -> Result<Option<Limits>, Failure> {
        if self.window.to.as_ref().and_then(Place::position).is_some_and(Position::is_start) {
            return Err(Failure::usage("nothing comes before --to 0, which itself is not printed")
                .hint("a --to of 1 or more"));
        }
        self.window.limits().map_err(|error| {
            Failure::usage(error).hint("a --to after --from; --to itself is not printed")
        })
    }
}
