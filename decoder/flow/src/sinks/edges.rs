use crate::{Event, Leaves, Path, Run, Sink, StreamPos};
use std::collections::HashMap;

/// A step from one run of instructions to the next that the last instruction decided on: a branch,
/// taken or not, or a jump.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The branch or jump.
    pub from: u64,
    /// Where it led.
    pub to: u64,
    /// What it is.
    pub kind: Leaves,
}

/// The last instruction before an edge.
type Source = Option<(u64, Leaves)>;

/// A path that has been gone.
#[derive(Clone, Debug, Default)]
struct Gone {
    times: u64,
    /// Its edges, the one that leads to its start among them.
    edges: Vec<Edge>,
    end: Source,
}

/// What came first.
#[derive(Copy, Clone, Debug, Default)]
enum First {
    #[default]
    Nothing,
    /// An instruction.
    Instruction(u64),
    /// Something that no edge leads across.
    Break,
}

/// Counts how often each edge was taken.
///
/// A trap is no edge, nor is what lies on both sides of a gap.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    counts: HashMap<Edge, u64>,
    first: First,
    last: Source,
    epoch: u32,
    gone: Vec<Gone>,
}

impl Edges {
    /// All edges, with the number of times each was taken; in the order of the edges.
    pub fn sorted(mut self) -> Vec<(Edge, u64)> {
        self.fold();
        let mut edges: Vec<_> = self.counts.into_iter().collect();
        edges.sort_unstable();
        edges
    }

    /// Adds what follows in the trace: `next` has seen the part right after this one.
    pub fn merge(&mut self, mut next: Self) {
        match next.first {
            First::Nothing => return,
            First::Instruction(to) => self.arrive(to),
            First::Break => {}
        }
        next.fold();
        for (edge, count) in next.counts {
            self.add(edge, count);
        }
        self.last = next.last;
    }

    fn add(&mut self, edge: Edge, count: u64) {
        let sum = self.counts.entry(edge).or_default();
        *sum = sum.saturating_add(count);
    }

    /// The edge to an instruction that retires next.
    fn edge(&mut self, to: u64) -> Option<Edge> {
        if matches!(self.first, First::Nothing) {
            self.first = First::Instruction(to);
        }
        self.last.map(|(from, kind)| Edge { from, to, kind })
    }

    fn arrive(&mut self, to: u64) {
        if let Some(edge) = self.edge(to) {
            self.add(edge, 1);
        }
    }

    /// Adds up the paths.
    fn fold(&mut self) {
        for gone in std::mem::take(&mut self.gone) {
            for edge in gone.edges {
                self.add(edge, gone.times);
            }
        }
    }

    #[cold]
    fn learn(&mut self, path: Path<'_>) {
        let id = path.id();
        if id.epoch != self.epoch {
            self.fold();
            self.epoch = id.epoch;
        }
        let mut gone = Gone { times: 1, edges: Vec::new(), end: None };
        for run in path.runs() {
            gone.edges.extend(self.edge(run.start()));
            self.last = source(&run);
        }
        gone.end = self.last;
        let index = id.index as usize;
        let len = self.gone.len().max(index.saturating_add(1));
        self.gone.resize_with(len, Gone::default);
        if let Some(slot) = self.gone.get_mut(index) {
            *slot = gone;
        }
    }
}

fn source(run: &Run<'_>) -> Source {
    (run.leaves() != Leaves::No).then(|| (run.last(), run.leaves()))
}

impl Sink for Edges {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.arrive(run.start());
        self.last = source(&run);
    }

    #[inline]
    fn path(&mut self, _: StreamPos, path: Path<'_>) {
        let id = path.id();
        match self.gone.get_mut(id.index as usize) {
            Some(gone) if gone.times > 0 && id.epoch == self.epoch => {
                gone.times = gone.times.wrapping_add(1);
                self.last = gone.end;
            }
            _ => self.learn(path),
        }
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        if !matches!(event, Event::Context { .. }) {
            self.last = None;
            if matches!(self.first, First::Nothing) {
                self.first = First::Break;
            }
        }
    }
}
