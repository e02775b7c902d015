//! Results as a table or as JSON.

use crate::Summary;
use hartrace_etrace::Format;
use hartrace_executions::executed::Verified;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

/// The results of a program.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The name of the program, or of the log.
    pub program: String,
    /// The name of the modes.
    pub mode: String,
    /// Instructions that were executed, or rows of a log without its program.
    pub instructions: u64,
    /// The counts of both encoders.
    pub summary: Summary,
    /// Packets of each format, in the order of [`Format::STANDARD`].
    pub formats: [u64; Format::STANDARD.len()],
    /// Instructions that were lost.
    pub lost: u64,
    /// The result of decoding, if the program is known.
    pub verified: Option<Verified>,
    /// The difference between the encoders, if any.
    pub mismatch: Option<String>,
    /// The duration of the trial.
    pub time: Duration,
}

/// A line for scripts; keys are stable.
#[derive(Serialize)]
struct Record<'a> {
    program: &'a str,
    mode: &'a str,
    cycles: u64,
    instructions: u64,
    packets: u64,
    packets_by_format: BTreeMap<&'static str, u64>,
    bytes: u64,
    bits_per_instruction: f64,
    lost_stretches: u64,
    lost_instructions: u64,
    stalled_cycles: u64,
    decoded_instructions: Option<u64>,
    cycles_per_second: f64,
    verified: bool,
    difference: Option<&'a str>,
}

impl Figures {
    /// Returns the first difference, between the encoders or between what was decoded and executed.
    pub fn difference(&self) -> Option<&str> {
        let decoded = self.verified.as_ref().and_then(|verified| verified.difference.as_deref());
        self.mismatch.as_deref().or(decoded)
    }

    fn bits(&self) -> f64 {
        8.0 * self.summary.bytes as f64 / self.instructions.saturating_sub(self.lost).max(1) as f64
    }

    fn speed(&self) -> f64 {
        self.summary.cycles as f64 / self.time.as_secs_f64().max(1e-9)
    }

    fn verdict(&self) -> String {
        match (self.difference(), &self.verified) {
            (Some(difference), _) => format!("NO: {difference}"),
            (None, None) => format!("{0} of {0} packets; no program", self.summary.payloads),
            (None, Some(Verified { decoded, .. })) => {
                let accepted = self.instructions - self.lost;
                format!("{0} of {0} packets, {decoded} of {accepted} insns", self.summary.payloads)
            }
        }
    }
}

/// Prints figures as they arrive.
#[derive(Debug)]
pub struct Report<W> {
    json: bool,
    started: bool,
    out: W,
}

impl<W: Write> Report<W> {
    /// Starts a table, or with `json` one JSON object per line.
    pub fn new(out: W, json: bool) -> Self {
        Self { json, started: false, out }
    }

    /// Prints a line.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn print(&mut self, figures: &Figures) -> io::Result<()> {
        if self.json {
            self.record(figures)?;
        } else {
            self.row(figures)?;
        }
        self.out.flush()
    }

    fn row(&mut self, figures: &Figures) -> io::Result<()> {
        if !std::mem::replace(&mut self.started, true) {
            write!(self.out, "{:15} {:>9} {:>12}", "program", "cycles", "instructions")?;
            for format in Format::STANDARD {
                write!(self.out, " {:>6}", format.code())?;
            }
            writeln!(
                self.out,
                " {:>8} {:>9} {:>6} {:>8} {:>8} {:>9}  verified",
                "bytes", "bits/insn", "losses", "lost", "stalled", "kcycles/s"
            )?;
        }
        let Figures { program, instructions, summary, formats, lost, .. } = figures;
        write!(self.out, "{program:15} {:9} {instructions:12}", summary.cycles)?;
        for count in formats {
            write!(self.out, " {count:>6}")?;
        }
        let Summary { bytes, losses, stalled, .. } = summary;
        let (bits, speed, verdict) = (figures.bits(), figures.speed() / 1e3, figures.verdict());
        writeln!(
            self.out,
            " {bytes:8} {bits:9.3} {losses:6} {lost:8} {stalled:8} {speed:9.0}  {verdict}"
        )?;
        Ok(())
    }

    fn record(&mut self, figures: &Figures) -> io::Result<()> {
        let Figures { summary, .. } = figures;
        let record = Record {
            program: &figures.program,
            mode: &figures.mode,
            cycles: summary.cycles,
            instructions: figures.instructions,
            packets: summary.payloads,
            packets_by_format: Format::STANDARD
                .map(Format::code)
                .into_iter()
                .zip(figures.formats)
                .collect(),
            bytes: summary.bytes,
            bits_per_instruction: figures.bits(),
            lost_stretches: summary.losses,
            lost_instructions: figures.lost,
            stalled_cycles: summary.stalled,
            decoded_instructions: figures.verified.as_ref().map(|verified| verified.decoded),
            cycles_per_second: figures.speed(),
            verified: figures.difference().is_none(),
            difference: figures.difference(),
        };
        serde_json::to_writer(&mut self.out, &record).map_err(io::Error::from)?;
        writeln!(self.out)?;
        Ok(())
    }

    /// Explains the columns.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.json {
            writeln!(
                self.out,
                "\n0.0 to 3.3: packets of each format; bytes: payloads without frames; losses: \
                 stretches that did not fit,\nlost: instructions in them; stalled: cycles the hart \
                 waited; kcycles/s: with golden encoder and decoder;\nverified: payloads = those of \
                 the golden encoder, decoded = executed without what was lost, first to last."
            )?;
        }
        self.out.flush()
    }
}
