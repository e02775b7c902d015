//! `hartrace convert`: a log of any format as a trace file, and what is in it.
//!
//! JSON keys are stable: `input`, `format`, `rows`, `instructions` and `bytes_per_instruction` (null
//! if rows stand for several), `halfwords`, `exceptions`, `interrupts`, `guessed_traps`, `open_end`
//! (see [`Guesses`]), `privilege` (half-words and traps by level), `first`, `last` (addresses, null
//! without rows), `written_bytes` (null without output).

use crate::args::ConvertArgs;
use crate::failure::{Failure, Status};
use crate::files;
use crate::input;
use hartrace_ingress::{IType, ITypeWidth, Privilege, Retired};
use hartrace_isa::Xlen;
use hartrace_sources::Guesses;
use hartrace_sources::file::Writer;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Runs the command.
pub(crate) fn run(args: &ConvertArgs) -> Result<Status, Failure> {
    let xlen = args.xlen.as_deref().map(|n| if n == "32" { Xlen::Rv32 } else { Xlen::Rv64 });
    let options = input::options(&args.format, xlen, ITypeWidth::Four);
    let (mut source, bar) = input::open(&args.input, &options)?;
    let place = || args.output.as_deref().map_or(String::new(), files::output_name);
    let failed = |error: io::Error| Failure::write(place(), &error);
    let mut writer = match &args.output {
        Some(path) => {
            let output = Counted { output: files::create(path)?, bytes: 0 };
            Some(Writer::new(output).map_err(failed)?)
        }
        None => None,
    };
    let mut tally = Tally::default();
    while let Some(row) = source.next_row()? {
        tally.add(&row.retired);
        if let Some(writer) = &mut writer {
            writer.push(&row.retired).map_err(failed)?;
        }
    }
    let written = match writer {
        Some(writer) => Some(writer.finish().map_err(failed)?.bytes),
        None => None,
    };
    bar.finish_and_clear();
    if args.output.as_deref().is_some_and(files::is_standard) {
        // The trace file is there.
        return Ok(Status::Clean);
    }
    let format = source.format().to_string();
    let summary = tally.summary(files::name(&args.input), format, source.guesses(), written);
    let mut out = files::stdout();
    if args.json {
        serde_json::to_writer(&mut out, &summary).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        summary.print(&mut out)?;
    }
    out.flush()?;
    Ok(Status::Clean)
}

/// Counts what is written.
struct Counted<W> {
    output: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.output.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[derive(Debug, Default)]
struct Tally {
    rows: u64,
    /// Rows that are one instruction each.
    single: u64,
    /// Rows in which something retired.
    retired: u64,
    halfwords: u64,
    exceptions: u64,
    interrupts: u64,
    privilege: BTreeMap<Privilege, Level>,
    first: Option<u64>,
    last: Option<u64>,
}

/// What happened at a privilege level.
#[derive(Copy, Clone, Debug, Default, Serialize)]
struct Level {
    halfwords: u64,
    traps: u64,
}

impl Tally {
    fn add(&mut self, row: &Retired) {
        self.rows += 1;
        let level = self.privilege.entry(row.privilege).or_default();
        let halfwords = u64::from(row.iretire);
        level.halfwords += halfwords;
        level.traps += u64::from(row.itype.is_trap());
        self.halfwords += halfwords;
        self.exceptions += u64::from(row.itype == IType::Exception);
        self.interrupts += u64::from(row.itype == IType::Interrupt);
        if halfwords > 0 {
            self.retired += 1;
            self.single += u64::from(2 * halfwords == row.last_bytes());
            self.first = self.first.or(Some(row.iaddr));
            self.last = Some(row.last_address());
        }
    }

    fn summary(
        self,
        input: String,
        format: String,
        guesses: Guesses,
        written_bytes: Option<u64>,
    ) -> Summary {
        let instructions = (self.single == self.retired).then_some(self.retired);
        let per = |n: u64| (n > 0).then(|| 2.0 * self.halfwords as f64 / n as f64);
        let hex = |address: u64| format!("{address:#018x}");
        Summary {
            input,
            format,
            rows: self.rows,
            instructions,
            halfwords: self.halfwords,
            bytes_per_instruction: instructions.and_then(per),
            exceptions: self.exceptions,
            interrupts: self.interrupts,
            guessed_traps: guesses.traps,
            open_end: guesses.open_end,
            privilege: self.privilege.iter().map(|(p, level)| (p.to_string(), *level)).collect(),
            first: self.first.map(hex),
            last: self.last.map(hex),
            written_bytes,
        }
    }
}

#[derive(Debug, Serialize)]
struct Summary {
    input: String,
    format: String,
    rows: u64,
    instructions: Option<u64>,
    halfwords: u64,
    bytes_per_instruction: Option<f64>,
    exceptions: u64,
    interrupts: u64,
    guessed_traps: u64,
    open_end: bool,
    privilege: BTreeMap<String, Level>,
    first: Option<String>,
    last: Option<String>,
    written_bytes: Option<u64>,
}

impl Summary {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = |name: &str, text: String| writeln!(out, "{name:<22} {text}");
        let number = |n: Option<u64>| n.map_or("-".into(), |n| n.to_string());
        let text = |text: &Option<String>| text.clone().unwrap_or("-".into());
        line("input", format!("{} ({})", self.input, self.format))?;
        line("rows", self.rows.to_string())?;
        match self.instructions {
            Some(n) => line("instructions", n.to_string())?,
            None => line("instructions", "- (rows are blocks of them)".into())?,
        }
        line("half-words", self.halfwords.to_string())?;
        let bytes = self.bytes_per_instruction;
        line("bytes per instruction", bytes.map_or("-".into(), |n| format!("{n:.3}")))?;
        line("exceptions", self.exceptions.to_string())?;
        line("interrupts", self.interrupts.to_string())?;
        for (level, Level { halfwords, traps }) in &self.privilege {
            line(&format!("in {level}"), format!("{halfwords} half-words, {traps} traps"))?;
        }
        line("first address", text(&self.first))?;
        line("last address", text(&self.last))?;
        if self.written_bytes.is_some() {
            line("written", format!("{} bytes", number(self.written_bytes)))?;
        }
        if self.guessed_traps > 0 {
            let what = "traps without a cause in the log: reported as cause 0";
            line("guessed", format!("{} {what}", self.guessed_traps))?;
        }
        if self.open_end {
            let what = "the outcome of the last branch, which the log does not have: not taken";
            line("guessed", what.into())?;
        }
        Ok(())
    }
}
