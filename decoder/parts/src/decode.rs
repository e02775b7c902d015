//! Decodes a part.

use super::blocks::{Block, Joiner, number};
use super::error::PartsError;
use super::plan::{Plan, PlannedPart};
use super::prepared::Prepared;
use super::rows::{Emit, Field, Output, Writer};
use super::sinks::Runs;
use super::summary::{EdgeEnds, Ends, SourceSummary, Summary};
use hartrace_decoder::calls::{Functions, Reducer, Span, Transfers, Why};
use hartrace_decoder::stream::{self, StretchError};
use hartrace_decoder::{Count, Coverage, Edges, Endings, Event, OpenEnds, Sink, StreamPos};
use hartrace_report::decode::Noted;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// Entries of a residue that are kept for merging: hundreds of megabytes.
const MOST_LEFT: usize = 1 << 23;

/// Decodes part `number` of a plan in `folder` into a table. The table depends on nothing but the plan, the part, and
/// the files that the plan names.
///
/// # Errors
///
/// If these files are not those that the plan was made with, or the table cannot be written.
pub fn decode(
    plan: &Plan,
    folder: &Path,
    number: usize,
    emit: Emit,
    out: &mut dyn Output,
) -> Result<(), PartsError> {
    let parts = plan.parts.len();
    let part = plan.parts.get(number).ok_or(PartsError::NoPart { number, parts })?;
    let prepared = Prepared::planned_in(plan, folder, part.capture)?;
    prepared.check(plan, part)?;
    let mut job = Job {
        prepared: &prepared,
        part,
        number,
        key: [part.capture as u64, part.source.map_or(Field::NO_SOURCE, u64::from)],
        writer: Writer::start(emit, false, out)?,
        summary: SourceSummary {
            capture: part.capture,
            source: part.source,
            ..SourceSummary::default()
        },
    };
    match emit {
        Emit::Edges => job.edges()?,
        Emit::Coverage => job.coverage()?,
        Emit::Calls => job.calls()?,
        Emit::Blocks => job.blocks()?,
        Emit::Gaps => job.gaps()?,
        Emit::Functions => job.functions()?,
    }
    let parts = number as u32..(number as u32).saturating_add(1);
    let sources = vec![job.summary];
    job.writer.finish(Summary { plan: plan.id(), emit, parts, complete: false, sources })
}

/// A part to decode.
struct Job<'a> {
    prepared: &'a Prepared,
    part: &'a PlannedPart,
    number: usize,
    /// Capture and source.
    key: [u64; 2],
    writer: Writer<'a>,
    summary: SourceSummary,
}

impl<'a> Job<'a> {
    /// Decodes the part into sinks. `join` gets them in order, with the gaps and where decoding resumed.
    fn run<S: Sink>(
        &mut self,
        make: impl Fn() -> S,
        mut join: impl FnMut(&mut Writer<'a>, S, Vec<(StreamPos, Event)>) -> Result<(), PartsError>,
    ) -> Result<(), PartsError> {
        let path = &self.prepared.path;
        let mut file = hartrace_capture::input::open(path).map_err(PartsError::file(path))?;
        file.seek(SeekFrom::Start(self.part.start)).map_err(PartsError::file(path))?;
        let decode = self.prepared.decode_part(self.part);
        let (mut total, writer) = (Count::default(), &mut self.writer);
        let (source, mut endings) = (self.part.source, Endings::default());
        if self.part.sync.is_some() {
            // The part before has switched it on.
            endings.event(source, StreamPos::default(), &Event::On);
        }
        let outcome = decode.run_stretch(
            &mut file,
            &self.part.stretch()?,
            &|| Noted::new(make(), false),
            &mut |noted| {
                total.instructions = total.instructions.wrapping_add(noted.instructions());
                let (sink, gaps) = noted.into_parts();
                for (at, event) in &gaps {
                    total.event(*at, *event);
                    endings.event(source, *at, event);
                }
                join(writer, sink, gaps)
            },
        );
        let part = self.number;
        let stream::Ends { first, next } = outcome.map_err(|error| match error {
            StretchError::Join(error) => error,
            StretchError::Input(error) => PartsError::File { path: path.clone(), error },
            error => PartsError::Capture { part, what: error.to_string() },
        })?;
        let start = first.map(Into::into);
        if start != self.part.sync {
            let what = format!("another synchronisation at byte {} than planned", self.part.start);
            return Err(PartsError::Capture { part, what });
        }
        (self.summary.start, self.summary.next) = (start, next.map(Into::into));
        (self.summary.instructions, self.summary.gaps) = (total.instructions, total.gaps);
        let open = self.part.end.is_none() && endings.on().next().is_some();
        self.summary.unended = self.prepared.follow.setup.tells_its_end()
            && (open || endings.cut_short().next().is_some());
        Ok(())
    }

    fn edges(&mut self) -> Result<(), PartsError> {
        let mut edges = Edges::default();
        self.run(Edges::default, |_, next, _| {
            edges.merge(next);
            Ok(())
        })?;
        let ends = edges.open_ends().map(|OpenEnds { to, from }| EdgeEnds {
            to,
            from: from.map(|(address, leaves)| (address, number(leaves))),
        });
        self.summary.ends = Ends::Edges(ends);
        let [capture, source] = self.key;
        for (edge, count) in edges.sorted() {
            let kind = number(edge.kind);
            self.writer.batch.push([capture, source, edge.from, edge.to, kind, count]);
            self.writer.flush_full()?;
        }
        Ok(())
    }

    fn coverage(&mut self) -> Result<(), PartsError> {
        let mut coverage = Coverage::default();
        self.run(Coverage::default, |_, next, _| {
            coverage.merge(&next);
            Ok(())
        })?;
        let [capture, source] = self.key;
        for range in coverage.ranges() {
            self.writer.batch.push([capture, source, range.start, range.end]);
            self.writer.flush_full()?;
        }
        Ok(())
    }

    fn calls(&mut self) -> Result<(), PartsError> {
        let functions = Arc::new(functions(self.prepared));
        let mut reducer = Reducer::default();
        let (key, part) = (self.key, self.number);
        self.run(
            || Transfers::new(Arc::clone(&functions)),
            |writer, piece, _| {
                let (mut piece, mut more) = (piece.unrolled(), true);
                while more {
                    more = reducer.take(&mut piece, &mut |span| {
                        let segment = span.segment;
                        writer.batch.push(row(key, segment, span.depth, &span));
                    });
                    let left = reducer.left();
                    if left > MOST_LEFT {
                        return Err(PartsError::TooOpen { part, left });
                    }
                    writer.flush_full()?;
                }
                Ok(())
            },
        )?;
        self.summary.ends = Ends::Calls(reducer.finish().to_words());
        Ok(())
    }

    fn blocks(&mut self) -> Result<(), PartsError> {
        let mut joiner = Joiner::default();
        let [capture, source] = self.key;
        let push = |writer: &mut Writer<'_>, block: Block| {
            let Block { first, start, end, insns, leaves } = block;
            writer.batch.push([capture, source, first, start, end, insns, leaves]);
        };
        self.run(Runs::default, |writer, runs, _| {
            for item in runs.0 {
                joiner.take(item, &mut |block| push(writer, block));
            }
            writer.flush_full()
        })?;
        let writer = &mut self.writer;
        self.summary.ends = Ends::Blocks(joiner.finish(&mut |block| push(writer, block)));
        Ok(())
    }

    fn gaps(&mut self) -> Result<(), PartsError> {
        let [capture, source] = self.key;
        self.run(Count::default, |writer, _, events| {
            for (at, event) in events {
                let (event, cause) = match event {
                    Event::Gap(fault) => (0, fault.to_string()),
                    Event::On => (1, String::new()),
                    _ => continue,
                };
                let cause = writer.batch.text(cause);
                writer.batch.push([capture, source, at.byte, event, cause]);
            }
            writer.flush_full()
        })
    }

    fn functions(&mut self) -> Result<(), PartsError> {
        let symbols = self.prepared.follow.programs.all_symbols();
        for function in symbols.functions() {
            let name = self.writer.batch.text(function.name.into());
            let [capture, _] = self.key;
            self.writer.batch.push([capture, function.range.start, function.range.end, name]);
            self.writer.flush_full()?;
        }
        // Every part has all of them, so that seams have nothing to check.
        self.summary.start = self.part.sync.clone();
        Ok(())
    }
}

/// The functions of a capture's programs.
pub(super) fn functions(prepared: &Prepared) -> Functions {
    let symbols = prepared.follow.programs.all_symbols();
    Functions::new(symbols.functions().into_iter().map(|function| function.range))
}

/// A row of calls.
pub(super) fn row(key: [u64; 2], place: u64, depth: u32, span: &Span) -> [u64; 8] {
    let why = match span.why {
        Why::Unknown => 0,
        Why::Call | Why::Inlined(_) => 1,
        Why::TailCall => 2,
        Why::Trap { interrupt: false, .. } => 3,
        Why::Trap { interrupt: true, .. } => 4,
    };
    let [capture, source] = key;
    [capture, source, place, span.function, depth.into(), span.enter, span.leave, why]
}
