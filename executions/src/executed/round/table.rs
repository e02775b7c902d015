//! Results as a table or as JSON.

use super::{Figures, Line};
use hartrace_etrace::Format;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// A line for scripts; keys are stable.
#[derive(Serialize)]
struct Record<'a> {
    program: &'a str,
    mode: &'a str,
    instructions: u64,
    idle_instructions: u64,
    packets: u64,
    packets_by_format: BTreeMap<&'static str, u64>,
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
    /// Of the program, as a shell would have it.
    exit_status: u8,
    /// Where the trace is, if it was written.
    trace: Option<&'a Path>,
    /// Whether the execution was cut by the limit.
    cut: bool,
}

/// Prints lines as they come.
#[derive(Debug)]
pub struct Table<W> {
    json: bool,
    /// Whether the last header has a column for the extension; `None` before the first.
    header: Option<bool>,
    out: W,
}

impl<W: Write> Table<W> {
    /// Starts a table, or with `json` one JSON object per line.
    pub fn new(out: W, json: bool) -> Self {
        Self { json, header: None, out }
    }

    /// Prints some lines, and returns whether every instruction was recovered. How programs ended makes no
    /// difference to that.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn print(&mut self, lines: &[Line]) -> io::Result<bool> {
        let mut good = true;
        for line in lines {
            if self.json {
                self.record(line)?
            } else {
                self.row(line)?
            }
            good &= line.is_verified();
        }
        self.out.flush()?;
        Ok(good)
    }

    fn row(&mut self, line: &Line) -> io::Result<()> {
        let shown = |format: Format, extended| extended || Format::STANDARD.contains(&format);
        let history = line.figures.formats.get(Format::History as usize);
        let extended = history.is_some_and(|count| *count > 0);
        if self.header.replace(extended) != Some(extended) {
            write!(self.out, "{:15} {:40} {:>12}", "program", "mode", "instructions")?;
            for format in Format::ALL.into_iter().filter(|format| shown(*format, extended)) {
                write!(self.out, " {:>7}", format.code())?;
            }
            writeln!(
                self.out,
                " {:>9} {:>9} {:>10}  verified",
                "bytes", "bits/insn", "compressed"
            )?;
        }
        let Figures { formats, bytes, .. } = &line.figures;
        write!(self.out, "{:15} {:40} {:12}", line.program, line.mode, line.instructions)?;
        for (format, count) in Format::ALL.into_iter().zip(formats) {
            if shown(format, extended) {
                write!(self.out, " {count:>7}")?;
            }
        }
        let verdict = match (&line.figures.difference, &line.ended) {
            (Some(difference), _) => format!("NO: {difference}"),
            (None, _) if !line.is_verified() => "NO: another number of instructions".into(),
            (None, complaint) => {
                let cut = if line.is_cut() { ", up to the limit" } else { "" };
                let idle = match line.figures.idle {
                    0 => String::new(),
                    idle => format!(
                        ", but for {idle} in loops without branches, whose turns no trace tells"
                    ),
                };
                let ended = match complaint {
                    None => String::new(),
                    Some(complaint) if line.is_stuck() => format!("; the program {complaint}"),
                    Some(complaint) => format!("; the program ended with {complaint}"),
                };
                format!("yes{cut}{idle}{ended}")
            }
        };
        let (bits, rate) = (line.bits_per_instruction(), 100.0 * line.compression());
        writeln!(self.out, " {bytes:9} {bits:9.3} {rate:9.2}%  {verdict}")?;
        Ok(())
    }

    fn record(&mut self, line: &Line) -> io::Result<()> {
        let figures = &line.figures;
        let record = Record {
            program: &line.program,
            mode: &line.mode,
            instructions: line.instructions,
            idle_instructions: figures.idle,
            packets: figures.packets,
            packets_by_format: Format::ALL
                .into_iter()
                .zip(figures.formats)
                .filter(|(format, count)| *count > 0 || Format::STANDARD.contains(format))
                .map(|(format, count)| (format.code(), count))
                .collect(),
            bytes: figures.bytes,
            bits_per_instruction: line.bits_per_instruction(),
            compression_rate: line.compression(),
            executed_per_second: line.rate(line.execution),
            encoded_per_second: line.rate(figures.encoding),
            decoded_per_second: line.rate(figures.decoding),
            verified: line.is_verified(),
            difference: figures.difference.as_deref(),
            ended: line.ended.as_deref(),
            exit_status: line.status,
            trace: line.trace.as_deref(),
            cut: line.is_cut(),
        };
        serde_json::to_writer(&mut self.out, &record).map_err(io::Error::from)?;
        writeln!(self.out)?;
        Ok(())
    }

    /// Explains the columns, and reports the speed of each stage of some lines.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn finish(mut self, timed: &[Line]) -> io::Result<()> {
        if !self.json {
            writeln!(
                self.out,
                "\n0.0 to 3.3: packets of each format; bytes: payloads without frames; compressed: \
                 1 - bits / (32 * instructions);\nverified: decoded = executed, first to last."
            )?;
            for (i, line) in timed.iter().enumerate() {
                if i == 0 {
                    writeln!(self.out, "\nmillion instructions per second, one thread per stage:")?;
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
