//! What came of runs, as a table or as JSON.

use super::program::complaint;
use super::round::Figures;
use crate::failure::{Failure, Status};
use crate::files;
use hartrace_etrace::Format;
use hartrace_iss::Exit;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// A program in a mode.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) program: String,
    pub(crate) mode: String,
    pub(crate) instructions: u64,
    /// Time spent executing, for all modes of the program together.
    pub(crate) execution: Duration,
    pub(crate) figures: Figures,
    /// How the program ended.
    pub(crate) exit: Exit,
}

/// The same for scripts; keys are stable.
#[derive(Serialize)]
struct Record<'a> {
    program: &'a str,
    mode: &'a str,
    instructions: u64,
    packets: u64,
    packets_by_format: std::collections::BTreeMap<&'static str, u64>,
    bytes: u64,
    bits_per_instruction: f64,
    compression_rate: f64,
    /// Instructions per second.
    executed_per_second: f64,
    encoded_per_second: f64,
    decoded_per_second: f64,
    verified: bool,
    difference: Option<&'a str>,
    ended: Option<&'a str>,
}

impl Line {
    fn verified(&self) -> bool {
        self.figures.difference.is_none() && self.figures.decoded == self.instructions
    }

    fn bits(&self) -> f64 {
        8.0 * self.figures.bytes as f64 / (self.instructions.max(1)) as f64
    }

    /// Spec: what a packet saves of the instructions it stands for, four bytes each.
    fn compression(&self) -> f64 {
        1.0 - self.bits() / 32.0
    }

    /// Instructions per second.
    fn rate(&self, time: Duration) -> f64 {
        self.instructions as f64 / time.as_secs_f64().max(1e-9)
    }
}

/// Prints lines as they come.
pub(crate) struct Table {
    json: bool,
    started: bool,
    out: Box<dyn Write>,
}

const FORMATS: [&str; Format::ALL.len()] = ["0.0", "0.1", "1", "2", "3.0", "3.1", "3.2", "3.3"];

impl Table {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, started: false, out: Box::new(files::stdout()) }
    }

    /// Prints some lines. The status is [`Status::Different`] if one is not as it should be.
    pub(crate) fn print(&mut self, lines: &[Line]) -> Result<Status, Failure> {
        let mut status = Status::Clean;
        for line in lines {
            if self.json {
                self.record(line)?
            } else {
                self.row(line)?
            }
            if !line.verified() || complaint(line.exit).is_some() {
                status = Status::Different;
            }
        }
        self.out.flush()?;
        Ok(status)
    }

    fn row(&mut self, line: &Line) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.started, true) {
            write!(self.out, "{:15} {:40} {:>12}", "program", "mode", "instructions")?;
            for format in FORMATS {
                write!(self.out, " {format:>7}")?;
            }
            writeln!(
                self.out,
                " {:>9} {:>9} {:>10}  verified",
                "bytes", "bits/insn", "compressed"
            )?;
        }
        let Figures { formats, bytes, .. } = &line.figures;
        write!(self.out, "{:15} {:40} {:12}", line.program, line.mode, line.instructions)?;
        for count in formats {
            write!(self.out, " {count:>7}")?;
        }
        let verdict = match (&line.figures.difference, complaint(line.exit)) {
            (Some(difference), _) => format!("NO: {difference}"),
            (None, _) if !line.verified() => "NO: another number of instructions".into(),
            (None, Some(complaint)) => format!("yes, but the program ended with {complaint}"),
            (None, None) => "yes".into(),
        };
        let (bits, rate) = (line.bits(), 100.0 * line.compression());
        writeln!(self.out, " {bytes:9} {bits:9.3} {rate:9.2}%  {verdict}")?;
        Ok(())
    }

    fn record(&mut self, line: &Line) -> Result<(), Failure> {
        let figures = &line.figures;
        let ended = complaint(line.exit);
        let record = Record {
            program: &line.program,
            mode: &line.mode,
            instructions: line.instructions,
            packets: figures.packets,
            packets_by_format: FORMATS.into_iter().zip(figures.formats).collect(),
            bytes: figures.bytes,
            bits_per_instruction: line.bits(),
            compression_rate: line.compression(),
            executed_per_second: line.rate(line.execution),
            encoded_per_second: line.rate(figures.encoding),
            decoded_per_second: line.rate(figures.decoding),
            verified: line.verified(),
            difference: figures.difference.as_deref(),
            ended: ended.as_deref(),
        };
        serde_json::to_writer(&mut self.out, &record).map_err(std::io::Error::from)?;
        writeln!(self.out)?;
        Ok(())
    }

    /// Explains the columns, and says how fast each stage was.
    pub(crate) fn finish(mut self, timed: &[Line]) -> Result<(), Failure> {
        if !self.json {
            writeln!(
                self.out,
                "\n0.0 to 3.3: packets of each format; bytes: payloads without frames; compressed: \
                 1 - bits / (32 * instructions);\nverified: decoded = executed, first to last."
            )?;
            for (i, line) in timed.iter().enumerate() {
                if i == 0 {
                    writeln!(self.out, "\nmillion instructions per second, one thread a stage:")?;
                    let rate = line.rate(line.execution) / 1e6;
                    writeln!(self.out, "{:40} executed {rate:7.1}", line.program)?;
                }
                let encoded = line.rate(line.figures.encoding) / 1e6;
                let decoded = line.rate(line.figures.decoding) / 1e6;
                let mode = &line.mode;
                writeln!(
                    self.out,
                    "{mode:40} encoded {encoded:8.1}  decoded and compared {decoded:8.1}"
                )?;
            }
        }
        self.out.flush()?;
        Ok(())
    }
}
