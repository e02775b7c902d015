//! How often each branch and jump was taken.

use crate::event::{Event, StreamPos};
use crate::paths::Path;
use crate::run::{Leaves, Run};
use crate::sink::Sink;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;

/// A step from one run of instructions to the next that was determined by the last instruction: a
/// branch, taken or not, or a jump.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The branch or jump.
    pub from: u64,
    /// Its destination.
    pub to: u64,
    /// Its kind.
    pub kind: Leaves,
}

/// Edges that lead into a part of the trace and out of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OpenEnds {
    /// The first instruction, if an edge from the part before may lead there.
    pub to: Option<u64>,
    /// The last instruction, if an edge to the part after it may start there.
    pub from: Option<(u64, Leaves)>,
}

/// The last instruction before an edge.
type Source = Option<(u64, Leaves)>;

/// The contribution of a path.
#[derive(Clone, Debug, Default)]
struct Learnt {
    /// How often it was taken.
    taken: u64,
    /// Its edges, including the one that leads to its start.
    edges: Range<usize>,
    end: Source,
}

/// The first item of a part of the trace.
#[derive(Copy, Clone, Debug, Default)]
enum First {
    #[default]
    Nothing,
    /// An instruction.
    Instruction(u64),
    /// An item that no edge crosses, or whose edge is already counted.
    Break,
}

/// Counts how often each edge was taken.
///
/// Traps and gaps are not edges.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    counts: Counts,
    first: First,
    last: Source,
    /// The path that was taken last, by its place in `learnt`, if nothing else has happened since; its
    /// end then replaces `last`.
    path: Option<u32>,
    epoch: u64,
    /// The place in `learnt` of each path of this epoch, from 1; 0 if it was not taken. Other sources may
    /// take most of the paths, so this is small.
    places: Vec<u32>,
    learnt: Vec<Learnt>,
    /// The edges of paths, by their numbers in `counts`.
    edges: Vec<u32>,
}

/// Entries of [`Counts::recent`].
const RECENT: usize = 1 << 12;

/// How often each edge was taken.
#[derive(Clone, Debug, Default)]
struct Counts {
    sums: Vec<(Edge, u64)>,
    /// The number of each edge: its place in `sums`.
    numbers: HashMap<Edge, u32, RandomState>,
    /// Numbers of edges that were used recently, by bits of their addresses; empty until there are any.
    recent: Vec<u32>,
}

impl Counts {
    /// The number of an edge.
    #[inline]
    fn number(&mut self, edge: Edge) -> u32 {
        // An instruction has few edges, and nearly all instructions near each other have different ones.
        let place = (edge.from >> 1 ^ edge.to.rotate_left(8)) as usize & RECENT.wrapping_sub(1);
        if let Some(number) = self.recent.get(place)
            && self.sums.get(*number as usize).is_some_and(|(known, _)| *known == edge)
        {
            return *number;
        }
        self.find(edge, place)
    }

    #[inline(never)]
    fn find(&mut self, edge: Edge, place: usize) -> u32 {
        let next = self.sums.len() as u32;
        let number = *self.numbers.entry(edge).or_insert(next);
        if number == next {
            self.sums.push((edge, 0));
        }
        self.recent.resize(RECENT, u32::MAX);
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = number;
        }
        number
    }

    #[inline]
    fn add(&mut self, number: u32, times: u64) {
        if let Some((_, sum)) = self.sums.get_mut(number as usize) {
            *sum = sum.saturating_add(times);
        }
    }
}

impl Edges {
    /// All edges in sorted order, with the number of times each was taken.
    pub fn sorted(mut self) -> Vec<(Edge, u64)> {
        self.fold();
        let mut edges = self.counts.sums;
        edges.sort_unstable();
        edges
    }

    /// Adds the edges of the part of the trace directly after this one.
    pub fn merge(&mut self, mut next: Self) {
        self.settle();
        next.settle();
        match next.first {
            First::Nothing => return,
            First::Instruction(to) => self.arrive(to, 1),
            First::Break if matches!(self.first, First::Nothing) => self.first = First::Break,
            First::Break => {}
        }
        next.fold();
        for (edge, count) in next.counts.sums {
            self.add(edge, count);
        }
        self.last = next.last;
    }

    /// The open ends of this part of the trace; `None` if nothing happened in it.
    pub fn open_ends(&mut self) -> Option<OpenEnds> {
        self.settle();
        let to = match self.first {
            First::Nothing => return None,
            First::Instruction(to) => Some(to),
            First::Break => None,
        };
        Some(OpenEnds { to, from: self.last })
    }

    /// Ends the trace of a source: no edge leads from here to what is merged next.
    pub fn interrupt(&mut self) {
        self.settle();
        self.last = None;
        if matches!(self.first, First::Nothing) {
            self.first = First::Break;
        }
    }

    /// Adds an edge that was counted elsewhere.
    pub fn count(&mut self, edge: Edge, times: u64) {
        if matches!(self.first, First::Nothing) {
            self.first = First::Break;
        }
        self.add(edge, times);
    }

    fn add(&mut self, edge: Edge, count: u64) {
        let number = self.counts.number(edge);
        self.counts.add(number, count);
    }

    /// The edge to the next instruction that retires.
    fn edge(&mut self, to: u64) -> Option<Edge> {
        if matches!(self.first, First::Nothing) {
            self.first = First::Instruction(to);
        }
        self.last.map(|(from, kind)| Edge { from, to, kind })
    }

    fn arrive(&mut self, to: u64, times: u64) {
        if let Some(edge) = self.edge(to) {
            self.add(edge, times);
        }
    }

    /// Updates `last` to the end of `path`.
    #[inline]
    fn settle(&mut self) {
        if let Some(path) = self.path.take() {
            self.last = self.learnt.get(path as usize).and_then(|learnt| learnt.end);
        }
    }

    /// Adds up the paths.
    fn fold(&mut self) {
        self.places.clear();
        let (learnt, edges) = (std::mem::take(&mut self.learnt), std::mem::take(&mut self.edges));
        for Learnt { taken, edges: range, .. } in learnt {
            for number in edges.get(range).unwrap_or_default() {
                self.counts.add(*number, taken);
            }
        }
    }

    #[cold]
    fn learn(&mut self, path: Path<'_>) {
        self.settle();
        let id = path.id();
        if id.epoch != self.epoch {
            self.fold();
            self.epoch = id.epoch;
        }
        // Another sink may have received what came before.
        self.last = source(path.entry());
        if matches!(self.first, First::Nothing) {
            self.first = First::Break;
        }
        let first = self.edges.len();
        for run in path.runs() {
            if let Some(edge) = self.edge(run.start()) {
                self.edges.push(self.counts.number(edge));
            }
            self.last = source((run.last(), run.leaves()));
        }
        let index = id.index as usize;
        let len = self.places.len().max(index.saturating_add(1));
        self.places.resize(len, 0);
        self.learnt.push(Learnt { taken: 1, edges: first..self.edges.len(), end: self.last });
        if let Some(place) = self.places.get_mut(index) {
            *place = self.learnt.len() as u32;
        }
    }
}

/// The instruction, if it determines where the program continues.
fn source(last: (u64, Leaves)) -> Source {
    (last.1 != Leaves::No).then_some(last)
}

impl Sink for Edges {
    const REPEATS: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.repeat(at, run, 1);
    }

    fn repeat(&mut self, _: StreamPos, run: Run<'_>, times: u64) {
        self.settle();
        self.arrive(run.start(), times);
        self.last = source((run.last(), run.leaves()));
    }

    #[inline]
    fn path(&mut self, _: StreamPos, path: Path<'_>) {
        let id = path.id();
        let place = self.places.get(id.index as usize).map_or(0, |place| *place).wrapping_sub(1);
        match self.learnt.get_mut(place as usize) {
            Some(learnt) if id.epoch == self.epoch => {
                learnt.taken = learnt.taken.wrapping_add(1);
                self.path = Some(place);
            }
            _ => self.learn(path),
        }
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        if !matches!(event, Event::Context { .. } | Event::Time(_) | Event::Trigger) {
            self.interrupt();
        }
    }
}
