//! Calls, as a timeline and as costs of functions.

use super::SPANS;
use super::anchors::Anchors;
use super::costs::Costs;
use super::lanes::{Lanes, higher};
use crate::calls::{CallForm, Names, TURNS_DRAWN, Tree};
use hartrace_decoder::Time;
use hartrace_decoder::calls::{CallStack, Frame, Note, Transfers, Visit, Why};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

/// The calls of all sources.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Sources so far.
    known: BTreeSet<Option<u16>>,
    /// Sources that have ended.
    pub(super) ended: Vec<(Option<u16>, Lanes, Anchors)>,
    pub(super) costs: Costs,
    /// The call stacks of each source, and the number of its instructions.
    pub(super) trees: Vec<(Option<u16>, Tree, u64)>,
    pub(super) instructions: u64,
    /// Instructions of the longest source.
    pub(super) length: u64,
}

impl Graph {
    /// Joins short calls so that all sources together fit into a page. Returns the shortest that are not joined.
    pub(super) fn fit(&mut self) -> u64 {
        let mut threshold = 0;
        for (_, lanes, _) in &self.ended {
            threshold = threshold.max(lanes.threshold());
        }
        loop {
            self.ended.iter_mut().for_each(|(_, lanes, _)| lanes.join(threshold));
            let add = |sum: usize, (_, lanes, _): &(_, Lanes, _)| sum.saturating_add(lanes.len());
            let spans = self.ended.iter().fold(0, add);
            if spans <= SPANS || threshold > self.length {
                return threshold;
            }
            threshold = higher(threshold);
        }
    }
}

/// The calls of a source.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    lanes: Lanes,
    costs: Costs,
    tree: Tree,
    anchors: Anchors,
    /// For each inlined copy of a function, the one that stands for all of them.
    ones: Arc<[u32]>,
}

impl Drawn {
    /// The frame, with the same number for all inlined copies of a function.
    fn one(&self, frame: &Frame) -> Frame {
        match frame.why {
            Why::Inlined(number) => {
                let one = self.ones.get(number as usize).copied().unwrap_or(number);
                Frame { why: Why::Inlined(one), ..*frame }
            }
            _ => *frame,
        }
    }
}

impl Visit for Drawn {
    const ONE_BY_ONE: u64 = TURNS_DRAWN;

    fn enter(&mut self, frame: &Frame, at: u64) {
        let frame = self.one(frame);
        self.lanes.enter(&frame, at);
        self.costs.enter(&frame, at);
        self.tree.enter(&frame, at);
    }

    fn leave(&mut self, frame: &Frame, at: u64) {
        self.lanes.leave(frame, at);
        self.costs.leave(frame, at);
        self.tree.leave(frame, at);
    }

    fn suspend(&mut self, frame: &Frame, at: u64) -> Note {
        self.lanes.suspend(frame, at);
        self.tree.suspend(frame, at);
        self.costs.suspend(frame, at)
    }

    fn resume(&mut self, frame: &Frame, at: u64, note: Option<Note>) {
        let frame = self.one(frame);
        self.lanes.resume(&frame, at, note);
        self.costs.resume(&frame, at, note);
        self.tree.resume(&frame, at, note);
    }

    fn begin_turns(&mut self, at: u64, times: u64, more: u64) {
        self.lanes.begin_turns(at, times, more);
        self.costs.begin_turns(at, times, more);
        self.tree.begin_turns(at, times, more);
    }

    fn end_turns(&mut self, at: u64) {
        self.lanes.end_turns(at);
        self.costs.end_turns(at);
        self.tree.end_turns(at);
    }

    fn context(&mut self, context: u64, at: u64) {
        self.lanes.context(context, at);
    }

    fn time(&mut self, time: Time, at: u64) {
        self.anchors.take(time, at);
    }

    fn gap(&mut self, at: u64) {
        self.lanes.gap(at);
    }
}

impl CallForm for Graph {
    type Calls = Drawn;

    fn calls(&self, _: Option<u16>, names: &Names<'_>) -> Drawn {
        Drawn { ones: names.ones(), ..Drawn::default() }
    }

    #[inline(never)]
    fn replay(stack: &mut CallStack<Drawn>, part: &Transfers) {
        stack.replay(part);
    }

    /// Writes nothing, but keeps what is kept of a source small.
    fn write(
        &mut self,
        source: Option<u16>,
        calls: &mut Drawn,
        _: &Names<'_>,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        self.known.insert(source);
        let room = SPANS.checked_div(self.known.len()).unwrap_or(SPANS);
        // Twice as many, so that not every part leads to another pass over all of them.
        if calls.lanes.len() > room.saturating_mul(2) {
            calls.lanes.fit(room);
        }
        Ok(())
    }

    fn end(
        &mut self,
        all: Vec<(Option<u16>, Drawn, u64)>,
        _: &Names<'_>,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        for (source, calls, instructions) in all {
            self.ended.push((source, calls.lanes, calls.anchors));
            self.costs.merge(&calls.costs);
            self.trees.push((source, calls.tree, instructions));
            self.instructions = self.instructions.saturating_add(instructions);
            self.length = self.length.max(instructions);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tests::{changes, follow, trace};
    use hartrace_tests::case::Dice;
    use std::collections::BTreeMap;

    #[test]
    fn counted_turns_cost_as_much_as_turns() {
        for seed in 0..200 {
            let most = if seed % 30 == 0 { 6000 } else { 300 };
            let trace = trace(&mut Dice::new(seed), most);
            let [each, counted] = [false, true].map(|counted| {
                let (_, mut graph) = follow(Graph::default(), &trace, counted);
                let stacks: Vec<_> =
                    graph.trees.iter_mut().map(|(_, tree, insns)| tree.totals(*insns)).collect();
                let calls: BTreeMap<_, _> = graph.costs.calls.clone().into_iter().collect();
                let sums = (graph.costs.functions, calls, stacks, graph.instructions);
                (sums, format!("{:?}", graph.ended))
            });
            assert_eq!(each.0, counted.0, "seed {seed}: {trace:?}");
            if changes(&trace) <= TURNS_DRAWN {
                assert_eq!(each.1, counted.1, "seed {seed}: {trace:?}");
            }
        }
    }
}
