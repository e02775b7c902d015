//! Sends programs and logs through both encoders and decodes the result.

mod report;
mod work;

use crate::{Bench, Mismatch, RoundTripCheck, Seen, Setting, Traffic};
use hartrace_encap::{FrameHeader, Framing, MAX_FRAME};
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Format, ParamsError};
use hartrace_executions::SourceError;
use hartrace_executions::executed::{Port, ProgramError};
use hartrace_isa::Xlen;
pub use report::{Figures, Report};
use std::io::{self, Write};
use std::time::Instant;
use thiserror::Error;
pub use work::{Work, xlen};

/// Conditions that are the same for all programs.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// The settings of the encoder.
    pub setting: &'a Setting,
    /// The name of its modes.
    pub mode: &'a str,
    /// How busy both sides are.
    pub traffic: Traffic,
    /// The largest number of instructions that retire in one cycle; `None` for one per lane.
    pub retire: Option<u32>,
    /// The largest number of instructions and traps of each program.
    pub limit: u64,
}

/// A program or log cannot be sent through the encoders.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The program cannot be executed.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] SourceError),
    /// The encoder is for harts of another width.
    #[error("a program for RV{}, but the encoder has iaddress_width_p = {width}", .xlen.bits())]
    Width {
        /// The width that the program is for.
        xlen: Xlen,
        /// The width of the encoder's addresses.
        width: u8,
    },
    /// A mode requires the trap vectors.
    #[error("implicit exceptions need the trap vectors, which are not known here")]
    TrapVectors,
    /// There is no decoder with these parameters.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The trace cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    /// The encoder cannot be set up like this, or the simulation failed.
    #[error(transparent)]
    Run(#[from] Mismatch),
}

impl TrialError {
    /// Whether the program or log was given in a way that cannot be traced, rather than being unreadable.
    pub fn is_usage(&self) -> bool {
        let run = matches!(self, Self::Run(Mismatch::NoMode(_) | Mismatch::Golden(_)));
        run || matches!(self, Self::Width { .. } | Self::TrapVectors | Self::Params(_))
    }

    /// What may help.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Width { .. } => {
                Some("--config micro for RV32, small, full or cva6 for RV64, or a file")
            }
            Self::TrapVectors => Some("modes without `ie`, or a bare-metal program"),
            Self::Run(Mismatch::NoMode(_) | Mismatch::Golden(_)) => {
                Some("another --encode, or --config full")
            }
            Self::Run(Mismatch::Block { .. }) => {
                Some("--elf PROG, with which blocks can be split, or a wider iretire_width_p")
            }
            _ => None,
        }
    }
}

impl<'a> Trial<'a> {
    /// Creates a trial without idle cycles and without a limit.
    pub fn new(setting: &'a Setting, mode: &'a str) -> Self {
        Self { setting, mode, traffic: Traffic::default(), retire: None, limit: u64::MAX }
    }

    /// Sends what was executed through both encoders, decodes it if the program is known, and compares.
    /// `tvec` is the result of [`Work::trap_vectors`]. The output of the RTL is written to
    /// `output`, in frames of the reference flow; `progress` receives its input.
    ///
    /// # Errors
    ///
    /// If the program cannot be executed or traced in this way, or `output` not be written. A difference is not an error: the figures
    /// report it.
    pub fn run(
        &self,
        bench: &mut Bench,
        mut work: Work,
        tvec: Vec<(u8, u64)>,
        mut output: Option<&mut dyn Write>,
        mut progress: impl FnMut(&[Retired]),
    ) -> Result<Figures, TrialError> {
        let config = bench.config().clone();
        let image = work.image();
        let mut follow =
            image.as_ref().map(|image| RoundTripCheck::new(&config, image, tvec)).transpose()?;
        let port = Port {
            lanes: config.lanes,
            half_words: (1 << config.iretire_width_p) - 1,
            rows: self.retire.unwrap_or(config.lanes.into()),
            itype_width: match config.itype_width_p {
                3 => ITypeWidth::Three,
                _ => ITypeWidth::Four,
            },
        };
        let mut formats = [0; Format::STANDARD.len()];
        let mut written = Ok(());
        let start = Instant::now();
        let mut watch = |seen: Seen<'_>| {
            if let Some(follow) = &mut follow {
                follow.seen(seen);
            }
            if let Seen::Payload(bytes, encoded) = seen {
                if let (Some(out), Ok(())) = (&mut output, &written) {
                    written = frame(bytes, out);
                }
                let format = encoded.map(|encoded| encoded.payload.format());
                let index = Format::STANDARD.iter().position(|other| Some(*other) == format);
                if let Some(count) = index.and_then(|index| formats.get_mut(index)) {
                    *count += 1;
                }
            }
        };
        let mut session = bench.start(self.setting, self.traffic, &mut watch)?;
        let mut differs = None;
        let instructions = work.execute(port, self.limit, |rows| {
            progress(rows);
            session.push(rows).or_else(|error| difference(error, &mut differs))?;
            Ok(differs.is_none())
        })?;
        let mut summary = session.summary().clone();
        if differs.is_none() {
            match session.finish() {
                Ok(whole) => summary = whole,
                Err(error) => difference(error, &mut differs)?,
            }
        }
        let time = start.elapsed();
        written?;
        let lost = follow.as_ref().map_or(0, |follow| follow.lost);
        Ok(Figures {
            program: work.name().into(),
            mode: self.mode.into(),
            instructions,
            summary,
            formats,
            lost,
            verified: follow.map(RoundTripCheck::finish),
            mismatch: differs,
            time,
        })
    }
}

/// Writes a payload in its frame.
fn frame(payload: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut frame = [0; MAX_FRAME];
    let len = Framing::Reference.emit(&FrameHeader::default(), payload, &mut frame);
    let frame = frame.get(..len.map_err(io::Error::other)?);
    frame.map_or(Ok(()), |frame| out.write_all(frame))
}

/// A difference is what a trial is meant to find; any other error prevents it.
fn difference(error: Mismatch, text: &mut Option<String>) -> Result<(), Mismatch> {
    match error {
        Mismatch::Payload { .. }
        | Mismatch::Unexpected { .. }
        | Mismatch::Empty { .. }
        | Mismatch::Stuck { .. } => {
            *text = Some(error.to_string());
            Ok(())
        }
        error => Err(error),
    }
}
