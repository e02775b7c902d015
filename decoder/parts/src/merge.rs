//! Joins tables of parts.

use super::blocks::Block;
use super::decode::{functions, row};
use super::error::PartsError;
use super::plan::Plan;
use super::prepared::Prepared;
use super::rows::{Batch, Emit, Field, Input, Output, Writer};
use super::share::Share;
use super::summary::{EdgeEnds, Ends, SourceSummary, Summary};
use hartrace_decoder::calls::{Base, Functions, Residue};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Capture and source, as columns hold them.
type Key = [u64; 2];

/// Merges the tables of all parts of a plan in `folder`, in any order. The result is what one process would make of
/// the captures.
///
/// # Errors
///
/// If a table is not one of this plan, a part is missing or there twice, two parts do not fit together, or a table
/// cannot be read or written.
pub fn merge<I: Input>(
    plan: &Plan,
    folder: &Path,
    inputs: &mut [I],
    out: &mut dyn Output,
) -> Result<(), PartsError> {
    Merging::of_all(plan, folder, inputs)?.run(out)
}

/// Merges a share of the calls of all parts. The tables of all shares together have the rows of [`merge`]. Of the other
/// shares, only summaries are read.
///
/// # Errors
///
/// As of [`merge`], and if the tables are not of calls.
pub fn merge_share<I: Input>(
    plan: &Plan,
    folder: &Path,
    inputs: &mut [I],
    share: Share,
    out: &mut dyn Output,
) -> Result<(), PartsError> {
    let mut merging = Merging::of_all(plan, folder, inputs)?;
    if merging.emit != Emit::Calls {
        return Err(PartsError::NoShares(merging.emit));
    }
    merging.share = share.of_tables(merging.inputs.len());
    merging.run(out)
}

/// Merges tables of parts that follow each other, so that the result can be merged with those of the other parts. If
/// they are all parts, it is complete.
///
/// # Errors
///
/// As of [`merge`], except that the first and the last parts may be missing.
pub fn merge_some<I: Input>(
    plan: &Plan,
    folder: &Path,
    inputs: &mut [I],
    out: &mut dyn Output,
) -> Result<(), PartsError> {
    Merging::new(plan, folder, inputs)?.run(out)
}

/// Tables that fit together, in order.
struct Merging<'a, I> {
    plan: &'a Plan,
    folder: &'a Path,
    inputs: Vec<&'a mut I>,
    emit: Emit,
    parts: Range<u32>,
    /// The sources of all tables.
    sources: Vec<SourceSummary>,
    /// What the calls of each of them leave to other parts.
    residues: Vec<Residue>,
    /// Edges across seams.
    seams: Vec<[u64; 5]>,
    /// For each table, what to add to the rows of its first source.
    shifts: Vec<Shift>,
    /// For each source, the first table with rows of it.
    firsts: Vec<usize>,
    /// Tables whose rows are wanted.
    share: Range<usize>,
}

/// What comes before the rows of a table, of the same source.
#[derive(Clone, Debug, Default)]
struct Shift {
    key: Key,
    instructions: u64,
    /// Entries of the residue.
    segments: u64,
    /// The first block may continue the last one.
    joins: bool,
}

impl<'a, I: Input> Merging<'a, I> {
    fn new(plan: &'a Plan, folder: &'a Path, inputs: &'a mut [I]) -> Result<Self, PartsError> {
        let mut inputs: Vec<&mut I> = inputs.iter_mut().collect();
        inputs.sort_by_key(|input| (input.summary().parts.start, input.summary().parts.end));
        let Some(first) = inputs.first() else { return Err(PartsError::Missing(0)) };
        let (emit, start) = (first.summary().emit, first.summary().parts.start);
        let mut merging = Self {
            plan,
            folder,
            inputs: Vec::new(),
            emit,
            parts: start..start,
            sources: Vec::new(),
            residues: Vec::new(),
            seams: Vec::new(),
            shifts: Vec::new(),
            firsts: Vec::new(),
            share: 0..0,
        };
        let id = plan.id();
        for input in inputs {
            merging.add(&id, input)?;
        }
        merging.share = 0..merging.inputs.len();
        Ok(merging)
    }

    /// The same if no part is missing.
    fn of_all(plan: &'a Plan, folder: &'a Path, inputs: &'a mut [I]) -> Result<Self, PartsError> {
        let merging = Self::new(plan, folder, inputs)?;
        if merging.parts != (0..plan.parts.len() as u32) {
            let missing = if merging.parts.start > 0 { 0 } else { merging.parts.end };
            return Err(PartsError::Missing(missing));
        }
        Ok(merging)
    }

    /// Adds the next table.
    fn add(&mut self, id: &str, input: &'a mut I) -> Result<(), PartsError> {
        let (name, summary) = (input.name(), input.summary());
        let Summary { plan, emit, parts, complete, sources } = summary.clone();
        let wrong = |what: &str| PartsError::NoTable { name: name.clone(), what: what.into() };
        if plan != id {
            return Err(PartsError::OtherPlan { name });
        }
        if emit != self.emit {
            return Err(PartsError::OtherEmit { name, found: emit, expected: self.emit });
        }
        if complete {
            return Err(wrong("it is complete, and needs no merging"));
        }
        if parts.start < self.parts.end {
            return Err(PartsError::Twice { part: parts.start, name });
        }
        if parts.start > self.parts.end {
            return Err(PartsError::Missing(self.parts.end));
        }
        let planned = self.plan.parts.get(parts.start as usize..parts.end as usize);
        let mut planned: Vec<_> = planned
            .filter(|parts| !parts.is_empty())
            .ok_or_else(|| wrong("the plan has no such parts"))?
            .iter()
            .map(|part| (part.capture, part.source))
            .collect();
        planned.dedup();
        if !planned.into_iter().eq(sources.iter().map(|source| (source.capture, source.source))) {
            return Err(wrong("its sources are not those of its parts"));
        }
        let mut shift = Shift::default();
        for (index, next) in sources.into_iter().enumerate() {
            let residue = match &next.ends {
                Ends::Calls(words) => Residue::from_words(words),
                _ => Some(Residue::default()),
            };
            let residue = residue.ok_or_else(|| wrong("its open calls cannot be read"))?;
            let last = self.sources.last().filter(|last| index == 0 && key(last) == key(&next));
            let Some(last) = last else {
                self.sources.push(next);
                self.residues.push(residue);
                self.firsts.push(self.inputs.len());
                continue;
            };
            let fits = last.next.is_some() && last.next == next.start;
            if !fits && self.emit != Emit::Functions {
                return Err(PartsError::Seam(parts.start));
            }
            let joined = self.join(next, residue);
            shift = joined.ok_or_else(|| wrong("its ends are not those of such a table"))?;
        }
        self.parts.end = parts.end;
        self.shifts.push(shift);
        self.inputs.push(input);
        Ok(())
    }

    /// Adds the next parts of the last source; returns what comes before their rows.
    fn join(&mut self, next: SourceSummary, residue: Residue) -> Option<Shift> {
        let (last, left) = (self.sources.last_mut()?, self.residues.last_mut()?);
        let key @ [capture, source] = key(last);
        let (instructions, segments) = (last.instructions, left.len());
        let mut shift = Shift { key, instructions, segments, joins: false };
        last.ends = match (std::mem::take(&mut last.ends), next.ends) {
            (Ends::Nothing, Ends::Nothing) => Ends::Nothing,
            (Ends::Edges(ends), Ends::Edges(None)) => Ends::Edges(ends),
            (Ends::Edges(None), Ends::Edges(ends)) => Ends::Edges(ends),
            (Ends::Edges(Some(ends)), Ends::Edges(Some(next))) => {
                let across = ends.from.zip(next.to);
                let edge = across.map(|((from, kind), to)| [capture, source, from, to, kind]);
                self.seams.extend(edge);
                Ends::Edges(Some(EdgeEnds { to: ends.to, from: next.from }))
            }
            (Ends::Blocks(ends), Ends::Blocks(next)) => {
                shift.joins = ends.leads_to(&next);
                Ends::Blocks(ends.followed_by(next))
            }
            // The residue has everything.
            (Ends::Calls(_), Ends::Calls(_)) => Ends::Calls(Vec::new()),
            _ => return None,
        };
        left.append(residue);
        last.instructions = last.instructions.wrapping_add(next.instructions);
        last.gaps = last.gaps.wrapping_add(next.gaps);
        last.unended |= next.unended;
        last.next = next.next;
        Some(shift)
    }

    fn run(self, out: &mut dyn Output) -> Result<(), PartsError> {
        let complete = self.parts == (0..self.plan.parts.len() as u32);
        let mut writer = Writer::start(self.emit, complete, out)?;
        let mut summary = self.summary(complete);
        let Self {
            plan,
            folder,
            inputs,
            emit,
            sources,
            residues,
            seams,
            shifts,
            firsts,
            share,
            ..
        } = self;
        let tables = inputs.into_iter().zip(shifts).skip(share.start).take(share.len());
        let tables = Tables(tables.collect());
        match emit {
            Emit::Edges => tables.edges(&seams, &mut writer)?,
            Emit::Coverage => tables.coverage(&mut writer)?,
            Emit::Blocks => tables.blocks(&mut writer)?,
            Emit::Gaps => tables.gaps(&mut writer)?,
            Emit::Functions => tables.functions(&mut writer)?,
            Emit::Calls if complete => {
                let open = firsts.into_iter().map(|first| share.contains(&first));
                let sources = sources.iter().zip(residues).zip(open);
                let bases = replay(plan, folder, sources, &mut writer)?;
                tables.calls(Some(&bases), &mut writer)?;
            }
            Emit::Calls => {
                for (source, residue) in summary.sources.iter_mut().zip(&residues) {
                    source.ends = Ends::Calls(residue.to_words());
                }
                tables.calls(None, &mut writer)?;
            }
        }
        writer.finish(summary)
    }

    /// What the result is.
    fn summary(&self, complete: bool) -> Summary {
        let Self { plan, emit, parts, sources, inputs, share, .. } = self;
        let mut summary = Summary {
            plan: plan.id(),
            emit: *emit,
            parts: parts.clone(),
            complete,
            sources: sources.clone(),
        };
        if share.len() < inputs.len() {
            let shared = inputs.get(share.clone()).unwrap_or_default();
            let all = shared.iter().map(|input| input.summary());
            let end = all.clone().next_back().map_or(parts.start, |last| last.parts.end);
            summary.parts = all.clone().next().map_or(end, |first| first.parts.start)..end;
            summary.sources = all.flat_map(|table| table.sources.clone()).collect();
        }
        if complete {
            summary.sources.iter_mut().for_each(|source| source.ends = Ends::Nothing);
        }
        summary
    }
}

fn key(source: &SourceSummary) -> Key {
    [source.capture as u64, source.source.map_or(Field::NO_SOURCE, u64::from)]
}

/// Follows what parts have left open, of which the rows may be wanted; returns what the spans of each source are relative to.
fn replay<'s>(
    plan: &Plan,
    folder: &Path,
    sources: impl Iterator<Item = ((&'s SourceSummary, Residue), bool)>,
    writer: &mut Writer<'_>,
) -> Result<BTreeMap<Key, Vec<Base>>, PartsError> {
    let mut bases = BTreeMap::new();
    let mut known: Option<(usize, Arc<Functions>)> = None;
    for ((source, residue), wanted) in sources {
        let functions = match &known {
            Some((capture, functions)) if *capture == source.capture => Arc::clone(functions),
            _ => Arc::new(functions(&Prepared::planned_in(plan, folder, source.capture)?)),
        };
        known = Some((source.capture, Arc::clone(&functions)));
        let key = key(source);
        let relative = residue.replay(functions, |span, context| {
            if wanted {
                writer.batch.push(row(key, context, span.depth, &span));
            }
        });
        writer.flush_full()?;
        bases.insert(key, relative);
    }
    Ok(bases)
}

/// Tables to merge, in order, with what comes before them.
struct Tables<'a, I>(Vec<(&'a mut I, Shift)>);

impl<I: Input> Tables<'_, I> {
    /// Reads all rows, in order. Rows of a source that the table before has, too, come with the shift; the first of
    /// them is marked.
    fn read<const N: usize>(
        self,
        mut each: impl FnMut([u64; N], &Batch, &Shift, bool) -> Result<(), PartsError>,
    ) -> Result<(), PartsError> {
        let nothing = Shift::default();
        for (input, shift) in self.0 {
            let mut first = true;
            input.read(&mut |batch| {
                (0..batch.len()).try_for_each(|index| {
                    let row = batch.row(index);
                    let same = row.first_chunk() == Some(&shift.key);
                    let shift = if same { &shift } else { &nothing };
                    each(row, &batch, shift, std::mem::take(&mut first))
                })
            })?;
        }
        Ok(())
    }

    fn edges(self, seams: &[[u64; 5]], writer: &mut Writer<'_>) -> Result<(), PartsError> {
        let mut counts: BTreeMap<[u64; 5], u64> = BTreeMap::new();
        for edge in seams {
            let count = counts.entry(*edge).or_default();
            *count = count.saturating_add(1);
        }
        self.read(|[capture, source, from, to, kind, more], _, _, _| {
            let count = counts.entry([capture, source, from, to, kind]).or_default();
            *count = count.saturating_add(more);
            Ok(())
        })?;
        for ([capture, source, from, to, kind], count) in counts {
            writer.batch.push([capture, source, from, to, kind, count]);
            writer.flush_full()?;
        }
        Ok(())
    }

    fn coverage(self, writer: &mut Writer<'_>) -> Result<(), PartsError> {
        let mut ranges: BTreeSet<[u64; 4]> = BTreeSet::new();
        self.read(|row, _, _, _| {
            ranges.insert(row);
            Ok(())
        })?;
        let mut united: Option<[u64; 4]> = None;
        for next @ [capture, source, start, end] in ranges {
            match &mut united {
                Some([c, s, _, last]) if (*c, *s) == (capture, source) && start <= *last => {
                    *last = end.max(*last);
                }
                _ => united.replace(next).into_iter().for_each(|row| writer.batch.push(row)),
            }
            writer.flush_full()?;
        }
        united.into_iter().for_each(|row| writer.batch.push(row));
        Ok(())
    }

    fn blocks(self, writer: &mut Writer<'_>) -> Result<(), PartsError> {
        let mut held: Option<(Key, Block)> = None;
        let push = |writer: &mut Writer<'_>, held: Option<(Key, Block)>| {
            if let Some(([capture, source], Block { first, start, end, insns, leaves })) = held {
                writer.batch.push([capture, source, first, start, end, insns, leaves]);
            }
            writer.flush_full()
        };
        self.read(|[capture, source, first, start, end, insns, leaves], _, shift, is_first| {
            let (key, first) = ([capture, source], first.wrapping_add(shift.instructions));
            let next = Block { first, start, end, insns, leaves };
            let last = held.as_mut().filter(|(last, _)| is_first && shift.joins && *last == key);
            match last.is_some_and(|(_, block)| block.join(&next)) {
                true => Ok(()),
                false => push(writer, held.replace((key, next))),
            }
        })?;
        push(writer, held)
    }

    fn gaps(self, writer: &mut Writer<'_>) -> Result<(), PartsError> {
        self.read(|[capture, source, byte, event, cause], batch, _, _| {
            let cause = batch.texts.get(cause as usize).cloned().unwrap_or_default();
            let cause = writer.batch.text(cause);
            writer.batch.push([capture, source, byte, event, cause]);
            writer.flush_full()
        })
    }

    fn functions(self, writer: &mut Writer<'_>) -> Result<(), PartsError> {
        let mut functions = BTreeSet::new();
        self.read(|[capture, start, end, name], batch, _, _| {
            let name = batch.texts.get(name as usize).cloned().unwrap_or_default();
            functions.insert((capture, start, end, name));
            Ok(())
        })?;
        for (capture, start, end, name) in functions {
            let name = writer.batch.text(name);
            writer.batch.push([capture, start, end, name]);
            writer.flush_full()?;
        }
        Ok(())
    }

    fn calls(
        self,
        bases: Option<&BTreeMap<Key, Vec<Base>>>,
        writer: &mut Writer<'_>,
    ) -> Result<(), PartsError> {
        self.read(|row: [u64; 8], _, shift, _| {
            let [capture, source, segment, function, depth, enter, leave, why] = row;
            let segment = segment.wrapping_add(shift.segments);
            let [enter, leave] = [enter, leave].map(|at| at.wrapping_add(shift.instructions));
            let (place, depth) = match bases {
                None => (segment, depth),
                Some(bases) => {
                    let known = bases.get(&[capture, source]);
                    let base = known.and_then(|known| known.get(usize::try_from(segment).ok()?));
                    // Calls that are too deep are only counted.
                    let Some((base, depth)) = base
                        .and_then(|base| Some((base, base.depth_of(u32::try_from(depth).ok()?)?)))
                    else {
                        return Ok(());
                    };
                    (base.context, depth.into())
                }
            };
            writer.batch.push([capture, source, place, function, depth, enter, leave, why]);
            writer.flush_full()
        })
    }
}
