//! What one process makes of a capture.

use hartrace_capture::decode::CaptureDecoder;
use hartrace_decoder::calls::{CallStack, Frame, Functions, Note, Transfers, Visit, Why};
use hartrace_decoder::{Count, Coverage, Edges, Event, Leaves};
#[cfg(feature = "parquet")]
use hartrace_parts::Input;
use hartrace_parts::{Emit, Field, Kind, Table};
use hartrace_report::Report;
use hartrace_report::decode::Noted;
use hartrace_report::lists::{Blocks, Ordered};
use hartrace_tests::captures::follow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// A row as text, without the capture.
pub(crate) type Row = String;

/// Everything about a capture, by kind of table.
pub(crate) struct Whole {
    rows: BTreeMap<&'static str, Vec<Row>>,
    pub(crate) instructions: u64,
    pub(crate) gaps: u64,
}

impl Whole {
    pub(crate) fn rows(&self, emit: Emit) -> Vec<Row> {
        self.rows.get(emit.name()).cloned().unwrap_or_default()
    }
}

/// The rows of a table. Those of calls are in no particular order.
pub(crate) fn rows(emit: Emit, table: &Table) -> Vec<Row> {
    let fields = emit.fields(true);
    let mut rows = Vec::new();
    for batch in &table.batches {
        for row in 0..batch.len() {
            let cell = |(field, column): (&Field, &Vec<u64>)| match (field.kind, column[row]) {
                (Kind::Source, Field::NO_SOURCE) => "-".into(),
                (Kind::Word(words), value) => words[value as usize].into(),
                (Kind::Text, value) => batch.texts[value as usize].clone(),
                (_, value) => value.to_string(),
            };
            let cells: Vec<String> = fields.iter().zip(&batch.columns).skip(1).map(cell).collect();
            rows.push(cells.join(" "));
        }
    }
    if emit == Emit::Calls {
        rows.sort();
    }
    rows
}

/// Copies a table.
#[cfg(feature = "parquet")]
pub(crate) fn copy(from: &mut impl Input, to: &mut Table) {
    to.summary = from.summary().clone();
    let mut batches = Vec::new();
    from.read(&mut |batch| {
        batches.push(batch);
        Ok(())
    })
    .expect("it can be read");
    to.batches = batches;
}

/// Decodes a capture on one thread, once for each kind of table.
pub(crate) fn whole(capture: &Path) -> Whole {
    let mut follow = follow(capture);
    follow.threads = NonZeroUsize::MIN;
    let bytes = std::fs::read(capture).expect("it is there");
    let xlen = follow.setup.xlen;
    let mut rows: BTreeMap<&str, Vec<Row>> = BTreeMap::new();

    let mut edges: BTreeMap<Option<u16>, Edges> = BTreeMap::new();
    run(&follow, &bytes, Edges::default, |source, next| {
        edges.entry(source).or_default().merge(next);
    });
    for (source, edges) in edges {
        let row = |(edge, count): (hartrace_decoder::Edge, u64)| {
            format!("{} {} {} {} {count}", name(source), edge.from, edge.to, leaves(edge.kind))
        };
        rows.entry("edges").or_default().extend(edges.sorted().into_iter().map(row));
    }

    let mut coverage: BTreeMap<Option<u16>, Coverage> = BTreeMap::new();
    run(&follow, &bytes, Coverage::default, |source, next| {
        coverage.entry(source).or_default().merge(&next);
    });
    for (source, coverage) in coverage {
        let ranges = coverage.ranges().into_iter();
        let row =
            |range: std::ops::Range<u64>| format!("{} {} {}", name(source), range.start, range.end);
        rows.entry("coverage").or_default().extend(ranges.map(row));
    }

    let symbols = follow.programs.all_symbols();
    let ranges = symbols.functions().into_iter().map(|f| f.range);
    let functions = Arc::new(Functions::new(ranges));
    let mut stacks: BTreeMap<Option<u16>, CallStack<Log>> = BTreeMap::new();
    let make = || Transfers::new(Arc::clone(&functions));
    run(&follow, &bytes, make, |source, next| {
        let start = || CallStack::new(Arc::clone(&functions), Log::default());
        stacks.entry(source).or_insert_with(start).replay(&next);
    });
    for (source, stack) in stacks {
        let found = stack.finish().rows.into_iter();
        let found = found.map(|row| format!("{} {row}", name(source)));
        rows.entry("calls").or_default().extend(found);
    }
    rows.entry("calls").or_default().sort();

    // Of one source at a time, since a report of several splits blocks where another source follows.
    let (mut total, mut gaps) = (Count::default(), Vec::new());
    let mut sources: Vec<Option<u16>> = Vec::new();
    run(
        &follow,
        &bytes,
        || Noted::new(Count::default(), false),
        |source, noted| {
            let (count, events) = noted.into_parts();
            total.instructions += count.instructions;
            total.gaps += count.gaps;
            sources.push(source);
            for (at, event) in events {
                let row = match event {
                    Event::Gap(fault) => format!("{} {} gap {fault}", name(source), at.byte),
                    Event::On => format!("{} {} on ", name(source), at.byte),
                    _ => continue,
                };
                gaps.push((source, row));
            }
        },
    );
    sources.sort();
    sources.dedup();
    for source in &sources {
        let own = gaps.iter().filter(|(other, _)| other == source).map(|(_, row)| row.clone());
        rows.entry("gaps").or_default().extend(own);
    }
    for source in sources {
        let mut blocks = Ordered::new(Blocks::new(&follow.programs, xlen, true));
        let (make, mut out) = (blocks.maker(), Vec::new());
        run(&follow, &bytes, make, |other, part| {
            if other == source {
                blocks.join(source, part, &mut out).expect("memory");
            }
        });
        blocks.finish(&mut out).expect("memory");
        let mut first = 0;
        for line in String::from_utf8(out).expect("JSON").lines() {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let address = |key: &str| {
                let text = value[key].as_str().expect("an address").trim_start_matches("0x");
                u64::from_str_radix(text, 16).expect("digits")
            };
            let insns = value["insns"].as_u64().expect("a number");
            let leaves = value["leaves"].as_str().unwrap_or("-");
            let (start, end) = (address("start"), address("end"));
            let row = format!("{} {first} {start} {end} {insns} {leaves}", name(source));
            rows.entry("blocks").or_default().push(row);
            first += insns;
        }
    }

    let symbols = follow.programs.all_symbols();
    let mut functions: Vec<_> =
        symbols.functions().into_iter().map(|f| (f.range.start, f.range.end, f.name)).collect();
    functions.sort();
    functions.dedup();
    let functions = functions.iter().map(|(start, end, name)| format!("{start} {end} {name}"));
    rows.insert("functions", functions.collect());
    Whole { rows, instructions: total.instructions, gaps: total.gaps }
}

fn run<S: hartrace_decoder::Sink + Send>(
    follow: &CaptureDecoder,
    bytes: &[u8],
    make: impl Fn() -> S + Sync,
    mut join: impl FnMut(Option<u16>, S) + Send,
) {
    let flow = follow.run(bytes, 1 << 16, make, |decoded| {
        decoded.sinks.into_iter().for_each(|(source, sink)| join(source, sink));
        Ok::<_, Infallible>(ControlFlow::Continue(()))
    });
    let _ = flow.expect("nothing fails");
}

fn name(source: Option<u16>) -> String {
    source.map_or("-".into(), |source| source.to_string())
}

fn leaves(leaves: Leaves) -> &'static str {
    match leaves {
        Leaves::No => "-",
        Leaves::Branch => "branch",
        Leaves::Jump => "jump",
        Leaves::Indirect => "indirect",
    }
}

/// Functions that were active.
#[derive(Default)]
struct Log {
    open: Vec<u64>,
    context: u64,
    rows: Vec<String>,
}

impl Visit for Log {
    fn enter(&mut self, _: &Frame, at: u64) {
        self.open.push(at);
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        let enter = self.open.pop().expect("it was entered");
        let why = match frame.why {
            Why::Unknown => "unknown",
            Why::Call => "call",
            Why::TailCall => "tail call",
            Why::Trap { interrupt: true, .. } => "interrupt",
            Why::Trap { .. } => "exception",
            Why::Inlined(_) => unreachable!("nothing is inlined"),
        };
        let (context, depth, function) = (self.context, self.open.len(), frame.function);
        self.rows.push(format!("{context} {function} {depth} {enter} {at} {why}"));
    }

    fn suspend(&mut self, _: &Frame, _: u64) -> Note {
        [self.open.pop().expect("it was entered"), 0]
    }

    fn resume(&mut self, _: &Frame, at: u64, note: Option<Note>) {
        self.open.push(note.map_or(at, |[enter, _]| enter));
    }

    fn context(&mut self, context: u64, _: u64) {
        self.context = context;
    }
}
