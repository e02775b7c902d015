//! What to make of a capture: the job of `decode`, `export` and `report`.

use crate::args::{CapturedArgs, Emit};
use crate::failure::Failure;
use crate::files;
use hartrace_capture::output::Output;
use hartrace_report::calls::{Timing, Top};
use hartrace_report::limits::{Limits, Position};
use std::path::{Path, PathBuf};

/// What to decode, what to make of it, and where to write that.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) captured: &'a CapturedArgs,
    pub(crate) product: Product<'a>,
    /// Without one, it is standard output.
    pub(crate) output: Option<&'a Path>,
    /// JSON instead of text, where there is a choice.
    pub(crate) json: bool,
    pub(crate) from: Option<Position>,
    pub(crate) to: Option<Position>,
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
        let (output, json, from, to) = (None, false, None, None);
        let (timing, top) = (Timing::default(), Top::default());
        Self { captured, product, output, json, from, to, timing, top }
    }

    /// Where to write.
    pub(crate) fn out(&self) -> Result<Output, Failure> {
        files::create(self.output.unwrap_or(Path::new("-")))
    }

    /// Whether a gap is an error.
    pub(crate) fn is_strict(&self) -> bool {
        self.captured.follow.strict
    }

    /// Whether this is what to print.
    pub(crate) fn emits(&self, emit: Emit) -> bool {
        self.product == Product::Text(emit)
    }

    /// What part of a trace is shown, in words, if it is not all.
    pub(crate) fn window(&self) -> Option<String> {
        let place = |what: &str, position: Option<Position>| {
            position.map(|position| match position {
                Position::Insn(number) => format!("{what} instruction {number}"),
                Position::Packet(number) => format!("{what} packet {number}"),
                Position::Byte(number) => format!("{what} byte {number}"),
            })
        };
        let ends = [place("from", self.from), place("up to", self.to)];
        let words: Vec<String> = ends.into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// What part of a trace to print.
    pub(crate) fn limits(&self) -> Result<Option<Limits>, Failure> {
        if let Some(Position::Insn(0) | Position::Packet(0) | Position::Byte(0)) = self.to {
            return Err(Failure::usage("nothing comes before --to 0, which itself is not printed")
                .hint("a --to of 1 or more"));
        }
        Limits::new(self.from, self.to).map_err(|error| {
            Failure::usage(error).hint("a --to after --from; --to itself is not printed")
        })
    }
}
