//! The results of a loop.

use crate::Summary;
use crate::decoder::WalkFigures;
use crate::decoder::analysis::Found;
use hartrace_decoder::block_table;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

/// The results of a program.
#[derive(Clone, Debug)]
pub struct LoopFigures {
    /// The name of the program.
    pub program: String,
    /// The name of the modes.
    pub mode: String,
    /// Bytes that the decoder takes per cycle.
    pub unroll: u32,
    /// Instructions that were executed.
    pub executed: u64,
    /// The counts of the encoder; its bytes are those of encapsulated packets.
    pub encoder: Summary,
    /// Most bytes that waited in front of the decoder.
    pub waiting: usize,
    /// The size of the table.
    pub table: block_table::Summary,
    /// What the walker reported.
    pub walked: WalkFigures,
    /// Records that the walker lost.
    pub lost: u64,
    /// Cycles in which it had something to do.
    pub worked: u64,
    /// What the analysis behind the walker found, if there is one.
    pub found: Option<Found>,
}

impl LoopFigures {
    /// The first difference between what was executed and what was reported.
    #[must_use]
    pub fn difference(&self) -> Option<&str> {
        self.walked.difference.as_deref()
    }

    /// Bytes of trace per cycle.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.encoder.bytes as f64 / self.encoder.cycles.max(1) as f64
    }

    /// Blocks per cycle of the hart.
    #[must_use]
    pub fn block_rate(&self) -> f64 {
        self.walked.blocks as f64 / self.encoder.cycles.max(1) as f64
    }

    /// Blocks per cycle in which the walker had something to do: one at most.
    #[must_use]
    pub fn step_rate(&self) -> f64 {
        self.walked.blocks as f64 / self.worked.max(1) as f64
    }

    /// Writes the figures on a line: as text, or as a JSON object whose keys are stable.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn print(&self, out: &mut dyn Write, json: bool) -> io::Result<()> {
        match json {
            true => writeln!(out, "{}", serde_json::json!(self.record()))?,
            false => writeln!(out, "{self}")?,
        }
        out.flush()
    }

    /// The figures for scripts; keys are stable.
    #[must_use]
    pub fn record(&self) -> impl Serialize + use<> {
        Record {
            program: self.program.clone(),
            mode: self.mode.clone(),
            unroll: self.unroll,
            cycles: self.encoder.cycles,
            packets: self.encoder.payloads,
            bytes: self.encoder.bytes,
            bytes_per_cycle: self.rate(),
            most_bytes_waiting: self.waiting,
            executed_instructions: self.executed,
            reported_instructions: self.walked.instructions,
            blocks: self.walked.blocks,
            blocks_per_cycle: self.block_rate(),
            walker_cycles: self.worked,
            steps_per_walker_cycle: self.step_rate(),
            lost_records: self.lost,
            lost_stretches: self.encoder.losses,
            gaps: self.walked.gaps.clone(),
            table_entries: self.table.entries,
            table_width: self.table.width,
            table_depth: self.table.depth,
            table_block_rams: self.table.block_rams,
            difference: self.walked.difference.clone(),
        }
    }
}

#[derive(Serialize)]
struct Record {
    program: String,
    mode: String,
    unroll: u32,
    cycles: u64,
    packets: u64,
    bytes: u64,
    bytes_per_cycle: f64,
    most_bytes_waiting: usize,
    executed_instructions: u64,
    reported_instructions: u64,
    blocks: u64,
    blocks_per_cycle: f64,
    walker_cycles: u64,
    steps_per_walker_cycle: f64,
    lost_records: u64,
    lost_stretches: u64,
    gaps: BTreeMap<&'static str, u64>,
    table_entries: usize,
    table_width: u32,
    table_depth: u32,
    table_block_rams: u32,
    difference: Option<String>,
}

impl fmt::Display for LoopFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, mode, executed, encoder, walked, lost, .. } = self;
        write!(
            f,
            "{program:12} {mode:16} {:9} of {executed} instructions {:9} cycles {:7} bytes {:.3} bytes/cycle {:8} blocks \
             {:.3} blocks/cycle, {:.3} steps/cycle of work; losses: encoder {}, walker {lost}; ",
            walked.instructions,
            encoder.cycles,
            encoder.bytes,
            self.rate(),
            walked.blocks,
            self.block_rate(),
            self.step_rate(),
            encoder.losses
        )?;
        match self.difference() {
            None => f.write_str("differences 0"),
            Some(difference) => write!(f, "NO: {difference}"),
        }
    }
}
