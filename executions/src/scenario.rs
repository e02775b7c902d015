//! Scenario files: each describes one named situation, with code, the steps of the hart, the
//! expected packets and the expected trace of a decoder.
//!
//! ```text
//! # What situation this is and why it matters.
//! params: iaddress_width_p=64 bpred_size_p=3
//! options: branch_prediction unit=hartrace resync=packets:4 tvec=3:80000200 filter=priv:0
//! --- code
//! 80000000: 00000013  nop
//! 80000004: fe050ee3  beqz a0,80000000
//! --- steps
//! 80000000 priv=0
//! 80000004 taken
//! 80000000
//! exception 80000004 cause=2 tval=0
//! --- packets
//! 3.3 support ienable=1 qual_status=no_change ioptions=delta  ; tracing enabled (7.5.1)
//! --- trace
//! 80000000
//! trap exception cause=2 epc=80000004 tval=0
//! ```
//!
//! Addresses and trap values are hexadecimal without prefix, other numbers are decimal. Text after
//! `#` is a comment in every section except the last two. `params` and `options` are optional; see
//! [`Setup`] for their keys.
//!
//! **code**: address, instruction word, assembly text. The meaning of the text is not checked,
//! except for the targets of direct jumps, which are checked here, and for mnemonics, which a test compares
//! with those of a disassembler.
//!
//! **steps**: one row of the ingress port per line, or a call of the encoder.
//!
//! | line | meaning |
//! |---|---|
//! | `80000004 taken` | an instruction retires; branches are marked `taken` or `not-taken` |
//! | `block 80000000 +12` | a block of 12 half-words retires |
//! | `exception 80000004 cause=2 tval=0` | nothing retires: the named instruction traps |
//! | `interrupt 80000004 cause=7` | likewise, before the named instruction |
//! | `lose`, `recover` | the output has no room; it has room again |
//! | `options implicit_return` | the modes are switched (`-`: none) |
//! | `repeat 40`, `end` | the lines between them, 40 times |
//!
//! Further words of a row: `priv=`, `context=`, `time=` (which also apply to the following rows),
//! `ctype=`, `cycles=`, `notify`, `on`, `off`, `halted`, `reset`, `sijump`, `then-exception` and
//! `then-interrupt` (a retiring row that also traps, with `cause=` and `tval=`), `untraced` (the row
//! must not be in the trace) and `x31` (31 times). Steps must follow the code: a row that cannot
//! follow the previous one is an error.
//!
//! **packets**: each [`Payload`](hartrace_etrace::Payload) as it is displayed, its bytes after `|`
//! if the options include `bytes`, and its [reason](hartrace_golden::encoder::Reason) after `;`. A
//! rejected configuration is the line `refused: ` and the reason.
//!
//! **trace**: one line per decoder event; repetitions are folded as in steps.
//!
//! A file may have **stream** instead of steps: `hex 73 00` lines, one payload each. Its packets are
//! the results of the production parser, or `malformed: ` and the reason.
//!
//! [`BUNDLED`] contains all scenarios of the project. [`Scenario::run`] encodes and decodes one with the golden
//! models; its payloads and events serve to test other encoders and decoders.

mod bundled;
mod capture;
mod code;
mod compare;
mod elf;
mod kit;
mod line;
mod parse;
mod path;
mod run;
mod setup;
mod steps;

pub use bundled::BUNDLED;
pub use code::{Code, Word};
pub use kit::{Entry, Left, Summary, Written, write as write_kit};
pub use path::Row;
pub use run::Run;
pub use setup::Setup;
pub use steps::Action;

use std::fmt;

/// The input of the models.
#[derive(Clone, Debug)]
pub enum Source {
    /// The steps of the hart; the golden encoder makes the payloads.
    Steps(Vec<Action>),
    /// The payloads themselves.
    Stream(Vec<Vec<u8>>),
}

/// One scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name: that of its file, without extension.
    pub name: String,
    /// Its text up to the packets section.
    pub head: String,
    /// Parameters and options.
    pub setup: Setup,
    /// The program.
    pub code: Code,
    /// The input: steps or a stream.
    pub source: Source,
    /// Expected payloads, as text.
    pub packets: Vec<String>,
    /// Expected trace, as text.
    pub trace: Vec<String>,
}

/// An error in a line of a scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// Line number, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub text: String,
}

impl LineError {
    fn new(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.text)
    }
}

impl std::error::Error for LineError {}

impl Scenario {
    /// Parses the text of a scenario.
    ///
    /// # Errors
    ///
    /// The first line that is wrong, and what is wrong in it.
    pub fn parse(name: &str, text: &str) -> Result<Self, LineError> {
        parse::parse(name, text)
    }

    /// Returns what the comment at the start of the file says, as one line.
    pub fn about(&self) -> String {
        let lines = self.head.lines().map_while(|line| line.strip_prefix('#'));
        lines.map(str::trim).collect::<Vec<_>>().join(" ")
    }

    /// Encodes and decodes the scenario with the golden models.
    ///
    /// # Errors
    ///
    /// If the production codec does not agree with the golden models on a payload.
    pub fn run(&self) -> Result<Run, String> {
        Run::of(self)
    }

    /// Checks that a run had the packets and the trace that the file states, and that the trace corresponds
    /// to the steps.
    ///
    /// # Errors
    ///
    /// A description of what does not hold.
    pub fn check(&self, run: &Run) -> Result<(), String> {
        compare::same("packets", &self.packets, &run.packets)?;
        compare::same("trace", &self.trace, &run.trace)?;
        self.check_trace(run)
    }

    /// Checks that the trace of a run corresponds to the steps, unless the scenario is marked as `lossy`.
    ///
    /// # Errors
    ///
    /// A description of the first difference.
    pub fn check_trace(&self, run: &Run) -> Result<(), String> {
        if self.setup.lossy { Ok(()) } else { run.check_trace(self) }
    }
}
