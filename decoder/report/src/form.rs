//! Reports by name.

use crate::calls::{
    Callgrind, Calls, Folded, FunctionTable, Perfetto, Pprof, Speedscope, Timing, Top,
};
use crate::gaps::Gaps;
use crate::lists::{Blocks, Json, Listing, Ordered, Pcs};
use crate::source::{Autofdo, Bolt, Lcov, SourceForm, SourceReport};
use crate::tables::{Naming, Style, Tables};
use crate::{Print, Printer, Report};
use hartrace_capture::programs::Programs;
use hartrace_decoder::{Coverage, Edges};
use hartrace_isa::Xlen;
use std::fmt;
use std::io::Write;
use std::str::FromStr;
use thiserror::Error;

/// What to write of a decoded trace.
///
/// ```
/// use hartrace_report::Form;
///
/// assert_eq!("coverage".parse(), Ok(Form::Coverage));
/// assert!(Form::Coverage.is_sum());
/// assert_eq!(Form::ALL.iter().filter(|form| form.is_export()).count(), 8);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// One retired address per line.
    Pcs,
    /// The program as executed: disassembly, functions, source lines, events.
    Listing,
    /// One line per run of consecutive instructions.
    Blocks,
    /// A table of branches and jumps, taken and not taken, with counts.
    Edges,
    /// The executed ranges of code, and how much of each function was executed.
    Coverage,
    /// A table of functions: instructions alone and with everything that they called, and calls.
    Functions,
    /// Every instruction and event, one JSON object per line.
    Json,
    /// A sample profile of LLVM, for clang.
    Autofdo,
    /// Branches and jumps with counts, for llvm-bolt.
    Bolt,
    /// Instructions of functions and of their calls, for KCachegrind.
    Callgrind,
    /// Folded stacks, for flame graphs: a line for each call stack, with the instructions that its innermost function executed.
    Folded,
    /// Lines, functions and branches that were executed or not, for lcov and genhtml.
    Lcov,
    /// Every call in order, for ui.perfetto.dev.
    Perfetto,
    /// The instructions of each call stack, for pprof.
    Pprof,
    /// Every call in order, for www.speedscope.app; one source.
    Speedscope,
}

impl Form {
    /// All of them: those for people first, then those for other tools.
    pub const ALL: [Self; 15] = [
        Self::Pcs,
        Self::Listing,
        Self::Blocks,
        Self::Edges,
        Self::Coverage,
        Self::Functions,
        Self::Json,
        Self::Autofdo,
        Self::Bolt,
        Self::Callgrind,
        Self::Folded,
        Self::Lcov,
        Self::Perfetto,
        Self::Pprof,
        Self::Speedscope,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcs => "pcs",
            Self::Listing => "listing",
            Self::Blocks => "blocks",
            Self::Edges => "edges",
            Self::Coverage => "coverage",
            Self::Functions => "functions",
            Self::Json => "json",
            Self::Autofdo => "autofdo",
            Self::Bolt => "bolt",
            Self::Callgrind => "callgrind",
            Self::Folded => "folded",
            Self::Lcov => "lcov",
            Self::Perfetto => "perfetto",
            Self::Pprof => "pprof",
            Self::Speedscope => "speedscope",
        }
    }

    /// Another name that is accepted.
    pub const fn alias(self) -> Option<&'static str> {
        match self {
            Self::Json => Some("events"),
            Self::Autofdo => Some("sample-profile"),
            _ => None,
        }
    }

    /// What it consists of, in one sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Pcs => "One retired address per line, 16 hexadecimal digits",
            Self::Listing => {
                "The program as executed: disassembly, functions, source lines, events"
            }
            Self::Blocks => {
                "One line per run of consecutive instructions: start, end, number of instructions, how it ends, \
                 function"
            }
            Self::Edges => {
                "A table of branches and jumps at the end, taken and not taken, with counts"
            }
            Self::Coverage => {
                "The executed ranges of code at the end, and how much of each function was executed"
            }
            Self::Functions => {
                "A table of functions at the end: instructions alone (self) and with all that they called (total), calls"
            }
            Self::Json => "Every instruction and event, one JSON object per line",
            Self::Autofdo => {
                "A sample profile of LLVM, for clang -fprofile-sample-use; the program needs debug information"
            }
            Self::Bolt => "Branches and jumps with counts (fdata), for llvm-bolt --data",
            Self::Callgrind => {
                "Instructions of functions, of their lines and of their calls, for KCachegrind and callgrind_annotate"
            }
            Self::Folded => {
                "Folded stacks: a line for each call stack, with the instructions that its innermost function \
                 executed; flame graphs are drawn from it"
            }
            Self::Lcov => {
                "Lines, functions and both ways of branches, executed or not, for lcov and genhtml; the program \
                 needs debug information"
            }
            Self::Perfetto => {
                "Every call in order, for ui.perfetto.dev: a track for each source and context"
            }
            Self::Pprof => "The instructions of each call stack, by line, for `go tool pprof`",
            Self::Speedscope => {
                "Every call in order, for www.speedscope.app: a profile for each context; one source"
            }
        }
    }

    /// Returns whether other tools read it, and people do not.
    pub const fn is_export(self) -> bool {
        !matches!(
            self,
            Self::Pcs
                | Self::Listing
                | Self::Blocks
                | Self::Edges
                | Self::Coverage
                | Self::Functions
                | Self::Json
        )
    }

    /// Returns whether it is a sum that is written at the end. Large parts are decoded faster then.
    pub const fn is_sum(self) -> bool {
        matches!(
            self,
            Self::Edges
                | Self::Coverage
                | Self::Functions
                | Self::Autofdo
                | Self::Bolt
                | Self::Lcov
        )
    }

    /// Returns whether [`FormContext::json`] has an effect, or would have none since it is JSON in any case.
    pub const fn has_json(self) -> bool {
        matches!(self, Self::Blocks | Self::Edges | Self::Coverage | Self::Functions | Self::Json)
    }

    /// Returns whether it has times: [`Timing::unit`] has an effect.
    pub const fn has_clock(self) -> bool {
        matches!(self, Self::Perfetto | Self::Speedscope)
    }

    /// What prints it.
    ///
    /// # Errors
    ///
    /// If the programs have no debug information, without which the report would be empty.
    pub fn printer<'a>(
        self,
        look: &FormContext<'a>,
        out: &'a mut (dyn Write + Send),
        gaps: Gaps,
    ) -> Result<Box<dyn Print + 'a>, NoLines> {
        fn to<'a, R: Report + Send + 'a>(
            out: Out<'a>,
            gaps: Gaps,
            report: R,
        ) -> Box<dyn Print + 'a> {
            Box::new(Printer::new(report, out, gaps))
        }
        let FormContext { programs, xlen, .. } = *look;
        let headings = look.headings && !look.json;
        let style = || Style { symbols: programs.all_symbols(), xlen, json: look.json };
        Ok(match self {
            Self::Pcs => to(out, gaps, Pcs::default()),
            Self::Listing => {
                to(out, gaps, Ordered::new(Listing::new(programs, xlen)).headings(headings))
            }
            Self::Blocks => to(
                out,
                gaps,
                Ordered::new(Blocks::new(programs, xlen, look.json)).headings(headings),
            ),
            Self::Edges => to(out, gaps, Tables::<Edges>::new(style()).naming(look.naming)),
            Self::Coverage => to(out, gaps, Tables::<Coverage>::new(style()).naming(look.naming)),
            Self::Functions => {
                let form = FunctionTable::new(look.top, xlen, look.json);
                to(out, gaps, Calls::with_inlined(form, programs, xlen))
            }
            Self::Json => to(out, gaps, Ordered::new(Json::new(xlen)).headings(false)),
            Self::Autofdo => to(out, gaps, lines(Autofdo, programs)?),
            Self::Bolt => to(out, gaps, SourceReport::new(Bolt, programs)),
            Self::Lcov => to(out, gaps, lines(Lcov, programs)?),
            Self::Callgrind => to(out, gaps, Calls::with_lines(Callgrind, programs, xlen)),
            Self::Folded => to(out, gaps, Calls::with_inlined(Folded, programs, xlen)),
            Self::Perfetto => {
                let form = Perfetto::new(look.timing);
                to(out, gaps, Calls::with_inlined(form, programs, xlen))
            }
            Self::Pprof => {
                let form = Pprof::new(look.name);
                to(out, gaps, Calls::with_lines(form, programs, xlen))
            }
            Self::Speedscope => {
                let form = Speedscope::new(look.name, look.timing.unit);
                to(out, gaps, Calls::with_inlined(form, programs, xlen))
            }
        })
    }
}

/// Where a report goes.
type Out<'a> = &'a mut (dyn Write + Send);

/// A report of source lines.
fn lines<F: SourceForm>(form: F, programs: &Programs) -> Result<SourceReport<'_, F>, NoLines> {
    let report = SourceReport::new(form, programs);
    if report.sources().rows().is_empty() { Err(NoLines) } else { Ok(report) }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no form of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no form `{0}`")]
pub struct NoForm(String);

impl FromStr for Form {
    type Err = NoForm;

    fn from_str(name: &str) -> Result<Self, NoForm> {
        let is = |form: &Self| form.name() == name || form.alias() == Some(name);
        Self::ALL.into_iter().find(is).ok_or_else(|| NoForm(name.into()))
    }
}

/// What forms need to know, apart from the trace.
#[derive(Copy, Clone, Debug)]
pub struct FormContext<'a> {
    /// The code, with its names.
    pub programs: &'a Programs,
    /// The register width, which addresses are printed in.
    pub xlen: Xlen,
    /// The capture, for formats that name it.
    pub name: &'a str,
    /// JSON instead of text, for forms that have both.
    pub json: bool,
    /// Whether forms that show everything in order say which source it is from.
    pub headings: bool,
    /// Whether tables say that.
    pub naming: Naming,
    /// Times of exports.
    pub timing: Timing,
    /// What a table of functions shows.
    pub top: Top,
}

/// No program has debug information, so lines are not known.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("no program has debug information, so lines are not known")]
pub struct NoLines;
