//! How often each instruction was executed.

use super::edges::{Edge, Edges};
use super::halves::Halves;
use crate::event::{Event, StreamPos};
use crate::paths::Path;
use crate::run::{Run, Transfer};
use crate::sink::Sink;
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// An instruction that was executed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Frequency {
    /// Its address.
    pub address: u64,
    /// How often it was executed, at least once.
    pub times: u64,
    /// What it does to the call stack.
    pub transfer: Transfer,
}

/// How often the instructions between two addresses retired together.
#[derive(Clone, Debug)]
struct Stretch {
    start: u64,
    end: u64,
    transfer: Transfer,
    insns: u32,
    times: u64,
}

/// The contribution of a path.
#[derive(Clone, Debug, Default)]
struct Learnt {
    /// How often it was taken.
    taken: u64,
    /// Its runs, by their places in `path_runs`.
    runs: Range<usize>,
}

/// Counts how often each instruction was executed, and each edge taken. Costs are per run and path, not per instruction.
///
/// Its memory depends on how many different runs there are. Code that was executed at two alignments, so that one
/// instruction is inside another, counts for both.
#[derive(Clone, Debug, Default)]
pub struct Frequencies {
    edges: Edges,
    /// The place of each run in `runs`, by its first address, the one after the last, and what it does to the call stack:
    /// a conditional call may do something or not.
    places: HashMap<(u64, u64, Transfer), u32, RandomState>,
    runs: Vec<Stretch>,
    /// Where instructions start.
    starts: Halves,
    /// Instructions that change the call stack.
    transfers: BTreeMap<u64, Transfer>,
    epoch: u64,
    /// The place in `learnt` of each path of this epoch, from 1; 0 if it was not taken.
    paths: Vec<u32>,
    learnt: Vec<Learnt>,
    path_runs: Vec<u32>,
}

impl Frequencies {
    /// Number of instructions that were executed.
    pub fn instructions(&mut self) -> u64 {
        self.fold();
        self.runs.iter().fold(0, |sum: u64, run| {
            sum.saturating_add(u64::from(run.insns).saturating_mul(run.times))
        })
    }

    /// The instructions by address, and the edges in sorted order with the number of times that each was taken.
    pub fn sorted(mut self) -> (Vec<Frequency>, Vec<(Edge, u64)>) {
        self.fold();
        // Where the number of executions changes, and by how much.
        let mut changes: BTreeMap<u64, u64> = BTreeMap::new();
        for run in &self.runs {
            let up = changes.entry(run.start).or_default();
            *up = up.wrapping_add(run.times);
            // At the end of the address space nothing comes after it.
            if run.end > run.start {
                let down = changes.entry(run.end).or_default();
                *down = down.wrapping_sub(run.times);
            }
        }
        let mut changes = changes.into_iter().peekable();
        let (mut list, mut times) = (Vec::new(), 0u64);
        for address in self.starts.ranges().flat_map(|range| range.step_by(2)) {
            while let Some((_, change)) = changes.next_if(|(at, _)| *at <= address) {
                times = times.wrapping_add(change);
            }
            let transfer = self.transfers.get(&address).copied().unwrap_or_default();
            list.push(Frequency { address, times, transfer });
        }
        (list, self.edges.sorted())
    }

    /// Adds the frequencies of the part of the trace directly after this one.
    pub fn merge(&mut self, mut next: Self) {
        next.fold();
        for run in next.runs {
            let (place, _) = self.place(run.start, run.end, run.transfer, run.insns);
            self.add(place, run.times);
        }
        self.starts.merge(&next.starts);
        self.transfers.append(&mut next.transfers);
        self.edges.merge(next.edges);
    }

    /// Ends the trace of a source: no edge leads from here to what is merged next.
    pub fn interrupt(&mut self) {
        self.edges.interrupt();
    }

    /// The place of a run, and whether it is new.
    fn place(&mut self, start: u64, end: u64, transfer: Transfer, insns: u32) -> (u32, bool) {
        let next = self.runs.len() as u32;
        let place = *self.places.entry((start, end, transfer)).or_insert(next);
        if place == next {
            self.runs.push(Stretch { start, end, transfer, insns, times: 0 });
        }
        (place, place == next)
    }

    fn add(&mut self, place: u32, times: u64) {
        if let Some(run) = self.runs.get_mut(place as usize) {
            run.times = run.times.saturating_add(times);
        }
    }

    /// The place of a run, which is examined if it is new.
    fn examine(&mut self, run: Run<'_>) -> u32 {
        let (place, new) = self.place(run.start(), run.end(), run.transfer(), run.insns());
        if new {
            run.addresses(|pc| self.starts.insert(pc, pc.wrapping_add(2)));
            if run.transfer() != Transfer::None {
                self.transfers.insert(run.last(), run.transfer());
            }
        }
        place
    }

    /// Adds up the paths.
    fn fold(&mut self) {
        self.paths.clear();
        let runs = std::mem::take(&mut self.path_runs);
        for Learnt { taken, runs: range } in std::mem::take(&mut self.learnt) {
            for place in runs.get(range).unwrap_or_default() {
                self.add(*place, taken);
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
        let first = self.path_runs.len();
        for run in path.runs() {
            let place = self.examine(run);
            self.path_runs.push(place);
        }
        let index = id.index as usize;
        let len = self.paths.len().max(index.saturating_add(1));
        self.paths.resize(len, 0);
        self.learnt.push(Learnt { taken: 1, runs: first..self.path_runs.len() });
        if let Some(place) = self.paths.get_mut(index) {
            *place = self.learnt.len() as u32;
        }
    }
}

impl Sink for Frequencies {
    const REPEATS: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.repeat(at, run, 1);
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        let place = self.examine(run);
        self.add(place, times);
        self.edges.repeat(at, run, times);
    }

    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        let id = path.id();
        let place = self.paths.get(id.index as usize).map_or(0, |place| *place).wrapping_sub(1);
        match self.learnt.get_mut(place as usize) {
            Some(learnt) if id.epoch == self.epoch => learnt.taken = learnt.taken.wrapping_add(1),
            _ => self.learn(path),
        }
        self.edges.path(at, path);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.edges.event(at, event);
    }
}
