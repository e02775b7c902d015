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
//! except for the targets of direct jumps, which are checked here, and mnemonics, which [`objdump`]
//! checks.
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
//! With `HARTRACE_BLESS=1` in the environment, the last two sections are rewritten with the actual
//! results. Read them before believing them.

mod code;
mod compare;
mod line;
pub mod objdump;
mod parse;
mod path;
mod run;
mod setup;
mod steps;

pub use code::Code;
pub use setup::Setup;
pub use steps::Action;

use std::fmt;
use std::path::{Path, PathBuf};

/// The input of the models.
#[derive(Clone, Debug)]
pub enum Source {
    /// The steps of the hart; the golden encoder makes the payloads.
    Steps(Vec<Action>),
    /// The payloads themselves.
    Stream(Vec<Vec<u8>>),
}

/// One scenario file.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file.
    pub path: PathBuf,
    /// Its text up to the packets section.
    head: String,
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

/// Returns the scenario files in `folder`, sorted by name.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "htt") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl Scenario {
    /// Reads and parses a file.
    ///
    /// # Errors
    ///
    /// `file:line: what is wrong`.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|err| format!("{}: cannot be read: {err}", path.display()))?;
        parse::parse(path, &text).map_err(|err| format!("{}:{err}", path.display()))
    }

    /// Runs the scenario; with `bless`, rewrites its packets and trace instead of comparing them.
    ///
    /// # Errors
    ///
    /// A description of what does not hold.
    pub fn check(&self, bless: bool) -> Result<(), String> {
        let run = run::Run::of(self)?;
        if bless {
            let mut text = self.head.clone();
            for (section, lines) in [("packets", &run.packets), ("trace", &run.trace)] {
                text += &format!("--- {section}\n");
                for line in lines {
                    text += line;
                    text.push('\n');
                }
            }
            std::fs::write(&self.path, text).map_err(|err| err.to_string())?;
        } else {
            compare::same("packets", &self.packets, &run.packets)?;
            compare::same("trace", &self.trace, &run.trace)?;
        }
        if self.setup.lossy { Ok(()) } else { run.check_trace(self) }
    }
}
