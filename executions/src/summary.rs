//! A summary of a log.

use crate::{Format, Guesses, Source, SourceError};
use hartrace_etrace::ingress::{IType, Privilege, Retired};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

/// Counts the contents of a log.
#[derive(Debug, Default)]
pub struct Tally {
    rows: u64,
    /// Number of rows that are one instruction each.
    single: u64,
    /// Number of rows in which something retired.
    retired: u64,
    halfwords: u64,
    exceptions: u64,
    interrupts: u64,
    privilege: BTreeMap<Privilege, Level>,
    first: Option<u64>,
    last: Option<u64>,
}

/// Counts for a privilege level.
#[derive(Copy, Clone, Debug, Default, Serialize)]
pub struct Level {
    /// Half-words of instructions.
    pub halfwords: u64,
    /// Traps taken from this level.
    pub traps: u64,
}

impl Tally {
    /// Counts all of a log, and passes every row on.
    ///
    /// # Errors
    ///
    /// If the log cannot be read, and those of `pass`.
    pub fn read<R: BufRead, E: From<SourceError>>(
        log: &mut Source<R>,
        mut pass: impl FnMut(&Retired) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut tally = Self::default();
        while let Some(row) = log.next_row()? {
            tally.add(&row.retired);
            pass(&row.retired)?;
        }
        Ok(tally)
    }

    /// Adds a row.
    pub fn add(&mut self, row: &Retired) {
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

    /// Summarises a log of this name and format. `written_bytes` is the size of the trace file that was
    /// written from it.
    pub fn summary(
        self,
        input: String,
        format: Format,
        guesses: Guesses,
        written_bytes: Option<u64>,
    ) -> Summary {
        let instructions = (self.single == self.retired).then_some(self.retired);
        let per = |n: u64| (n > 0).then(|| 2.0 * self.halfwords as f64 / n as f64);
        let hex = |address: u64| format!("{address:#018x}");
        Summary {
            input,
            format: format.to_string(),
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

/// A summary of a log. The keys of its JSON form are stable; unknown values are null.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The name of the log.
    pub input: String,
    /// Its format.
    pub format: String,
    /// The number of rows.
    pub rows: u64,
    /// The number of instructions, if every row is one.
    pub instructions: Option<u64>,
    /// Half-words of instructions.
    pub halfwords: u64,
    /// The mean size of an instruction, if every row is one.
    pub bytes_per_instruction: Option<f64>,
    /// The number of exceptions.
    pub exceptions: u64,
    /// The number of interrupts.
    pub interrupts: u64,
    /// See [`Guesses::traps`].
    pub guessed_traps: u64,
    /// See [`Guesses::open_end`].
    pub open_end: bool,
    /// Counts for each privilege level.
    pub privilege: BTreeMap<String, Level>,
    /// The address of the first instruction, as text.
    pub first: Option<String>,
    /// The address of the last instruction, as text.
    pub last: Option<String>,
    /// The size of the trace file that was written from it.
    pub written_bytes: Option<u64>,
}

impl Summary {
    /// Prints one line for each figure.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rows: &[Retired]) -> String {
        let mut tally = Tally::default();
        rows.iter().for_each(|row| tally.add(row));
        let summary = tally.summary("a".into(), Format::Spike, Guesses::default(), None);
        let mut out = Vec::new();
        summary.print(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_may_be_instructions_or_blocks() {
        let trap = Retired { itype: IType::Exception, iretire: 0, ..Retired::plain(0x1004) };
        let single = text(&[Retired::plain(0x1000), trap]);
        for line in [
            "input                  a (Spike log)",
            "rows                   2",
            "instructions           1",
            "bytes per instruction  4.000",
            "exceptions             1",
            "last address           0x0000000000001000",
        ] {
            assert!(single.lines().any(|other| other == line), "{line}: {single}");
        }
        let block = text(&[Retired { iretire: 6, ..Retired::plain(0x1000) }]);
        assert!(block.contains("- (rows are blocks of them)\n"), "{block}");
        assert!(block.contains("last address           0x0000000000001008\n"), "{block}");
    }
}
