//! Results as a table or as JSON.

use crate::Exit;
use crate::soc::{Delay, HartOutcome, Outcome, Survey};
use serde::Serialize;
use std::io::{self, Write};

/// Prints the results of programs as they arrive.
#[derive(Debug)]
pub struct Report<'a, W> {
    encoder: &'a str,
    lanes: u8,
    mode: &'a str,
    json: bool,
    started: bool,
    out: W,
}

/// A line for scripts; keys are stable.
#[derive(Serialize)]
struct Record<'a> {
    program: &'a str,
    hart: usize,
    encoder: &'a str,
    lanes: u8,
    mode: &'a str,
    exit_code: Option<u64>,
    cycles: u64,
    cycles_without_tracing: u64,
    ipc: f64,
    instructions: u64,
    traps: u64,
    packets: u64,
    bytes: u64,
    stream_bytes: usize,
    bits_per_instruction: f64,
    compression_rate: f64,
    peak_queue: u64,
    peak_fifo: u64,
    stalled_cycles: u64,
    lost_instructions: u64,
    idle_instructions: u64,
    decoded_instructions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_delay: Option<Delay>,
    verified: bool,
    difference: Option<&'a str>,
}

impl<'a, W: Write> Report<'a, W> {
    /// Starts a table, or with `json` one JSON object per line, with the names of the encoder and of its modes.
    pub fn new(out: W, json: bool, encoder: &'a str, lanes: u8, mode: &'a str) -> Self {
        Self { encoder, lanes, mode, json, started: false, out }
    }

    /// Prints a line for each hart.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn print(&mut self, name: &str, survey: &Survey, outcome: &Outcome) -> io::Result<()> {
        for (number, hart) in outcome.harts.iter().enumerate() {
            if self.json {
                self.record(name, number, hart, survey, outcome)?;
            } else {
                self.row(name, number, hart, outcome)?;
            }
        }
        self.out.flush()
    }

    fn row(
        &mut self,
        name: &str,
        number: usize,
        hart: &HartOutcome,
        outcome: &Outcome,
    ) -> io::Result<()> {
        if !std::mem::replace(&mut self.started, true) {
            writeln!(
                self.out,
                "{:12} {:>9} {:>5} {:>12} {:>6} {:>8} {:>8} {:>9} {:>7} {:>5} {:>5} {:>7} {:>6}  verified",
                "program",
                "cycles",
                "IPC",
                "instructions",
                "traps",
                "packets",
                "bytes",
                "bits/insn",
                "rate",
                "queue",
                "FIFO",
                "stalled",
                "lost"
            )?;
        }
        let figures = Figures::new(hart, outcome);
        let name = match outcome.harts.len() {
            1 => name.to_owned(),
            _ => format!("{name}/{number}"),
        };
        let times =
            hart.delay.map_or(String::new(), |Delay { synchronisations, min, max, .. }| {
                format!("; {synchronisations} times, {min} to {max} cycles late")
            });
        let verdict = match &hart.verified.difference {
            Some(difference) => format!("NO: {difference}"),
            None => format!("{} of {}{times}", hart.verified.decoded, figures.told),
        };
        writeln!(
            self.out,
            "{name:12} {:9} {:5.2} {:12} {:6} {:8} {:8} {:9.3} {:6.2}% {:5} {:5} {:7} {:6}  {verdict}",
            outcome.run.cycles,
            figures.ipc,
            hart.instructions,
            hart.traps,
            hart.packets,
            hart.payload_bytes,
            figures.bits,
            100.0 * figures.rate,
            hart.peak_queue,
            outcome.peak_fifo,
            hart.stalled,
            hart.lost,
        )?;
        Ok(())
    }

    fn record(
        &mut self,
        program: &str,
        number: usize,
        hart: &HartOutcome,
        survey: &Survey,
        outcome: &Outcome,
    ) -> io::Result<()> {
        let figures = Figures::new(hart, outcome);
        let record = Record {
            program,
            hart: number,
            encoder: self.encoder,
            lanes: self.lanes,
            mode: self.mode,
            exit_code: match outcome.run.exit {
                Exit::Exited(code) => Some(code),
                Exit::Limit => None,
            },
            cycles: outcome.run.cycles,
            cycles_without_tracing: survey.run.cycles,
            ipc: figures.ipc,
            instructions: hart.instructions,
            traps: hart.traps,
            packets: hart.packets,
            bytes: hart.payload_bytes,
            stream_bytes: outcome.bytes.len(),
            bits_per_instruction: figures.bits,
            compression_rate: figures.rate,
            peak_queue: hart.peak_queue,
            peak_fifo: outcome.peak_fifo,
            stalled_cycles: hart.stalled,
            lost_instructions: hart.lost,
            idle_instructions: hart.idle,
            decoded_instructions: hart.verified.decoded,
            time_delay: hart.delay,
            verified: hart.verified.difference.is_none(),
            difference: hart.verified.difference.as_deref(),
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
                "\nbytes: payloads without frames; rate: 1 - 8 bytes / 32 instructions; queue, FIFO: the most \
                 entries\nin use, in front of the encoder and behind it; stalled: cycles the core waited; verified: \
                 decoded = what\nthe core executed, first to last, without what was lost and without turns of an \
                 empty loop at the end."
            )?;
        }
        self.out.flush()
    }
}

/// Figures computed from the outcome of a hart.
struct Figures {
    ipc: f64,
    bits: f64,
    rate: f64,
    /// Instructions that the trace has to report.
    told: u64,
}

impl Figures {
    fn new(hart: &HartOutcome, outcome: &Outcome) -> Self {
        let traced = hart.instructions.saturating_sub(hart.lost).max(1) as f64;
        let bits = 8.0 * hart.payload_bytes as f64 / traced;
        Self {
            ipc: hart.instructions as f64 / outcome.run.cycles.max(1) as f64,
            bits,
            rate: 1.0 - bits / 32.0,
            told: hart.instructions.saturating_sub(hart.lost + hart.idle),
        }
    }
}
