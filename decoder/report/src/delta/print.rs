//! Differences of two traces, for people and for scripts.

use super::{Delta, Later, Piece, Stretch};
use crate::listing::describe;
use hartrace_capture::programs::{Symbols, address};
use hartrace_decoder::{Event, StreamPos};
use hartrace_isa::Xlen;
use serde_json::{Value, json};
use std::io::{self, Write};

/// How differences are shown.
pub struct Style<'a> {
    /// Names of functions.
    pub symbols: Symbols<'a>,
    /// Width of addresses.
    pub xlen: Xlen,
    /// The names of both captures.
    pub names: [&'a str; 2],
    /// How many rows of a table are printed.
    pub rows: usize,
}

impl std::fmt::Debug for Style<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Style").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Style<'_> {
    /// An address with its function and source line.
    fn place(&self, pc: u64) -> String {
        let mut text = address(pc, self.xlen);
        if let Some(place) = self.symbols.place(pc) {
            text += &format!(" <{place}>");
        }
        if let Some(source) = self.symbols.source(pc) {
            text += &format!(" {source}");
        }
        text
    }

    /// The name of a function, or its address.
    fn function(&self, pc: u64) -> String {
        let place = self.symbols.place(pc);
        place.map_or_else(|| address(pc, self.xlen), |place| place.to_string())
    }

    fn piece(&self, piece: Option<&Piece>) -> String {
        match piece {
            Some(Piece::Code { start, .. }) => format!("continues at {}", self.place(*start)),
            Some(Piece::Other(Event::Off(status))) => {
                format!("is switched off ({})", status.name())
            }
            Some(Piece::Other(event)) => format!("has {}", describe(event, self.xlen)),
            None => "has ended".to_owned(),
        }
    }
}

impl Delta {
    /// Whether both traces have the same instructions and traps.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Prints the first difference with its context, further ones, and what each trace has more of.
    pub fn print(&self, out: &mut dyn Write, style: &Style<'_>) -> io::Result<()> {
        let mut following = "";
        if let Some(StreamPos { byte, packet }) = self.skipped {
            writeln!(
                out,
                "the first {byte} bytes, {packet} packets, are the same, and were not decoded"
            )?;
            following = "following ";
        }
        let Later { stretches, packets, bytes } = self.later;
        if stretches > 0 {
            let stretches =
                if stretches == 1 { "1 stretch" } else { &format!("{stretches} stretches") };
            writeln!(
                out,
                "{stretches} of {bytes} bytes, {packets} packets, after a difference are the same, too, and were not \
                 decoded"
            )?;
        }
        let Some(first) = self.stretches.first() else {
            let insns = self.insns[0];
            return writeln!(out, "both traces have the same {insns} {following}instructions");
        };
        writeln!(out, "the first {} {following}instructions are the same", first.before[0])?;
        if let Some(last) = self.last {
            writeln!(out, "the last of them is {}", style.place(last))?;
        }
        for (name, (piece, at)) in style.names.iter().zip(first.first.iter().zip(first.at)) {
            let (packet, byte) = (at.packet, at.byte);
            writeln!(out, "{name}: {}, packet {packet}, byte {byte}", style.piece(piece.as_ref()))?;
        }
        if !self.stack.is_empty() {
            let names = self.stack.iter().rev().map(|frame| style.function(frame.function));
            writeln!(out, "in {}", names.collect::<Vec<_>>().join(", called by "))?;
        }
        let [a, b] = self.alone;
        let stretches =
            if self.count == 1 { "1 stretch" } else { &format!("{} stretches", self.count) };
        writeln!(out, "\n{stretches} with {a} and {b} instructions that only one trace has:")?;
        // Instructions are not counted where they are not decoded.
        let by_bytes = self.later.stretches > 0;
        let unit = if by_bytes { "byte" } else { "instruction" };
        writeln!(out, "{unit:>12} {unit:>12} {:>10} {:>10}  at", "alone", "alone")?;
        for Stretch { before, at, insns, first } in self.stretches.iter().take(style.rows) {
            let starts = first.iter().flatten().filter_map(Piece::start);
            let names: Vec<_> = starts.map(|start| style.function(start)).collect();
            let [at_a, at_b] = if by_bytes { at.map(|at| at.byte) } else { *before };
            let [alone_a, alone_b] = insns;
            writeln!(
                out,
                "{at_a:12} {at_b:12} {alone_a:10} {alone_b:10}  {}",
                names.join(" and ")
            )?;
        }
        self.table(out, style, "function", |style| {
            let rows = self.counts.functions();
            rows.into_iter().map(|(function, counts)| (style.function(function), counts)).collect()
        })?;
        self.table(out, style, "edge", |style| {
            let rows = self.counts.edges().into_iter();
            let edge = |(from, to)| format!("{} -> {}", style.function(from), style.function(to));
            rows.map(|(key, counts)| (edge(key), counts)).collect()
        })
    }

    fn table(
        &self,
        out: &mut dyn Write,
        style: &Style<'_>,
        what: &str,
        rows: impl Fn(&Style<'_>) -> Vec<(String, [u64; 2])>,
    ) -> io::Result<()> {
        let rows = rows(style);
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{:>12} {:>12}  {what}", "first", "second")?;
        for (name, [a, b]) in rows.iter().take(style.rows) {
            writeln!(out, "{a:12} {b:12}  {name}")?;
        }
        match rows.len().saturating_sub(style.rows) {
            0 => Ok(()),
            more => writeln!(out, "{:>25}  and {more} more", ""),
        }
    }

    /// The same as one JSON object.
    pub fn json(&self, out: &mut dyn Write, style: &Style<'_>) -> io::Result<()> {
        let hex = |pc: u64| address(pc, style.xlen);
        let piece = |piece: &Option<Piece>| match piece {
            Some(Piece::Code { start, .. }) => json!({ "iaddr": hex(*start) }),
            Some(Piece::Other(event)) => json!({ "event": describe(event, style.xlen) }),
            None => Value::Null,
        };
        let stretch = |stretch: &Stretch| {
            let side = |i: usize| {
                let (at, first) = (stretch.at.get(i)?, stretch.first.get(i)?);
                Some(json!({
                    "instruction": stretch.before.get(i)?, "packet": at.packet, "byte": at.byte,
                    "first": piece(first), "instructions": stretch.insns.get(i)?,
                }))
            };
            json!([side(0), side(1)])
        };
        let functions = self.counts.functions().into_iter().map(
            |(function, counts)| json!({ "function": style.function(function), "instructions": counts }),
        );
        let edges = self.counts.edges().into_iter().map(
            |((from, to), counts)| json!({ "from": hex(from), "to": hex(to), "count": counts }),
        );
        let all = json!({
            "captures": style.names,
            "skipped": self.skipped.map(|at| json!({ "packet": at.packet, "byte": at.byte })),
            "skipped_later": {
                "stretches": self.later.stretches, "packets": self.later.packets, "bytes": self.later.bytes,
            },
            "instructions": self.insns,
            "alone": self.alone,
            "stretches": self.count,
            "last": self.last.map(hex),
            "stack": self.stack.iter().map(|frame| style.function(frame.function)).collect::<Vec<_>>(),
            "first": self.stretches.iter().map(stretch).collect::<Vec<_>>(),
            "functions": functions.collect::<Vec<_>>(),
            "edges": edges.collect::<Vec<_>>(),
        });
        serde_json::to_writer(&mut *out, &all)?;
        writeln!(out)
    }
}
