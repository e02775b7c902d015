//! What the page shows, as JSON. The script of the page reads the same fields.

use super::anchors::Anchors;
use super::costs::Costs;
use super::events::Events;
use super::lanes::{Lane, Lanes};
use crate::calls::{Callee, Names};
use hartrace_capture::programs::address;
use hartrace_decoder::calls::Functions;
use hartrace_decoder::{Edge, Leaves};
use hartrace_isa::Xlen;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Edges and loops in the page; the most frequent.
const EDGES: usize = 1000;

/// Pairs of caller and callee in the page; those with most instructions.
const PAIRS: usize = 50_000;

/// Functions in the page, by their own instructions.
#[derive(Serialize)]
pub(super) struct FunctionRow {
    name: String,
    address: String,
    own: u64,
    total: u64,
    calls: u64,
    /// Start and length.
    longest: (u64, u64),
    source: Option<String>,
    /// Of an inlined function, the number of a function that has its code.
    inside: Option<usize>,
}

/// Functions, and their numbers in the page.
pub(super) struct Numbered {
    pub(super) rows: Vec<FunctionRow>,
    /// Caller, callee, calls, instructions.
    pub(super) graph: Vec<(usize, usize, u64, u64)>,
    numbers: HashMap<Callee, usize>,
    /// What they are, in their order.
    pub(super) callees: Vec<Callee>,
}

impl Numbered {
    /// The number of a function plus 1, or 0 if it has none.
    pub(super) fn number(&self, callee: Callee) -> u64 {
        self.numbers.get(&callee).map_or(0, |number| (*number as u64).saturating_add(1))
    }
}

/// Numbers functions: those that executed most come first.
pub(super) fn functions(costs: &Costs, names: &Names<'_>, xlen: Xlen) -> Numbered {
    let mut order: Vec<_> = costs.functions.iter().enumerate().collect();
    order.sort_by_key(|(_, cost)| (Reverse(cost.own), cost.callee));
    let by_place: HashMap<usize, usize> = (0..).zip(&order).map(|(n, (at, _))| (*at, n)).collect();
    let numbers = (0..).zip(&order).map(|(n, (_, cost))| (cost.callee, n)).collect();
    let entry = |callee: Callee| match callee {
        Callee::Function(start) => Some(start),
        Callee::Inlined(number) => names.call(number).map(|(entry, _)| entry),
    };
    let row = |cost: &super::costs::Cost| FunctionRow {
        name: names.name(cost.callee),
        address: entry(cost.callee).map_or_else(String::new, |entry| address(entry, xlen)),
        own: cost.own,
        total: cost.total,
        calls: cost.calls,
        longest: cost.longest,
        source: names.source(cost.callee).map(|(file, line)| format!("{file}:{line}")),
        inside: cost.inside.and_then(|place| by_place.get(&place).copied()),
    };
    let rows = order.iter().map(|(_, cost)| row(cost)).collect();
    let number = |place: &usize| by_place.get(place).copied().unwrap_or(0);
    let pairs = costs.calls.iter();
    let mut graph: Vec<_> = pairs
        .map(|((from, to), called)| (number(from), number(to), called.times, called.insns))
        .collect();
    graph.sort_unstable_by_key(|(from, to, _, insns)| (Reverse(*insns), *from, *to));
    graph.truncate(PAIRS);
    let callees = order.iter().map(|(_, cost)| cost.callee).collect();
    Numbered { rows, graph, numbers, callees }
}

/// A lane of the timeline.
#[derive(Serialize)]
pub(super) struct LaneData {
    name: String,
    /// Which of the clocks tells its time.
    clock: usize,
    /// For each span: its start after that of the one before, its length, twice its row, and the number of its function
    /// plus 1, or 0 for none. If 1 is added to twice the row, several calls are drawn together: their number, their
    /// instructions, and at least how many of these are of the function follow.
    spans: Vec<u64>,
    /// For each mark: its start after that of the one before, its length, and how many gaps it stands for.
    gaps: Vec<u64>,
}

/// The lanes of a source.
pub(super) fn lanes(
    source: Option<u16>,
    clock: usize,
    lanes: &Lanes,
    numbered: &Numbered,
) -> Vec<LaneData> {
    let name = |context: u64| match (source, context, lanes.lanes.len() > 1) {
        (None, 0, false) => "hart".to_owned(),
        (None, context, _) => format!("context {context:#x}"),
        (Some(id), 0, false) => format!("source {id}"),
        (Some(id), context, _) => format!("source {id}, context {context:#x}"),
    };
    let gaps = gaps(&lanes.gaps);
    let lane = |(context, lane): (&u64, &Lane)| LaneData {
        name: name(*context),
        clock,
        spans: spans(lane, numbered),
        gaps: gaps.clone(),
    };
    let mut all: Vec<LaneData> = lanes.lanes.iter().map(lane).collect();
    if all.is_empty() && !gaps.is_empty() {
        all.push(LaneData { name: name(0), clock, spans: Vec::new(), gaps });
    }
    all
}

/// The clock of a source.
#[derive(Serialize)]
pub(super) struct ClockData {
    unit: &'static str,
    /// Numbers of instructions, and times.
    anchors: Vec<(u64, u64)>,
}

impl From<&Anchors> for ClockData {
    fn from(anchors: &Anchors) -> Self {
        let unit = anchors.clock.unit().unwrap_or_default().name();
        Self { unit, anchors: anchors.list.clone() }
    }
}

fn spans(lane: &Lane, numbered: &Numbered) -> Vec<u64> {
    let (mut flat, mut before) = (Vec::new(), 0);
    for span in &lane.spans {
        let function = span.function.map_or(0, |function| numbered.number(function));
        let joined = u64::from(span.calls > 1);
        let length = span.end.saturating_sub(span.start);
        let row = u64::from(span.row) << 1 | joined;
        flat.extend([span.start.saturating_sub(before), length, row, function]);
        if joined == 1 {
            flat.extend([span.calls, span.busy, span.most]);
        }
        before = span.start;
    }
    flat
}

fn gaps(lane: &Lane) -> Vec<u64> {
    let (mut flat, mut before) = (Vec::new(), 0);
    for span in &lane.spans {
        let length = span.end.saturating_sub(span.start);
        flat.extend([span.start.saturating_sub(before), length, span.calls]);
        before = span.start;
    }
    flat
}

/// A gap in words.
#[derive(Serialize)]
pub(super) struct GapRow {
    source: Option<u16>,
    byte: u64,
    packet: u64,
    insns: u64,
    cause: String,
}

/// The gaps that are described.
pub(super) fn gap_rows(events: &Events) -> Vec<GapRow> {
    let row = |gap: &super::events::Gap| GapRow {
        source: gap.source,
        byte: gap.at.byte,
        packet: gap.at.packet,
        insns: gap.insns,
        cause: gap.cause.to_string(),
    };
    events.described.iter().map(row).collect()
}

/// A branch or jump, with the places it leads from and to.
#[derive(Serialize)]
pub(super) struct EdgeRow {
    from: String,
    to: String,
    kind: &'static str,
    count: u64,
    from_place: String,
    to_place: String,
    /// The number of the function it is in.
    function: Option<usize>,
}

/// The most frequent edges and loops.
pub(super) fn edges(
    mut list: Vec<(Edge, u64)>,
    functions: &Functions,
    numbered: &Numbered,
    names: &Names<'_>,
    xlen: Xlen,
) -> (Vec<EdgeRow>, Vec<EdgeRow>) {
    list.sort_by_key(|(_, count)| Reverse(*count));
    let row = |(edge, count): &(Edge, u64)| {
        let function = functions.containing(edge.from).map(|range| range.start);
        EdgeRow {
            from: address(edge.from, xlen),
            to: address(edge.to, xlen),
            kind: edge.kind.name(),
            count: *count,
            from_place: names.name(edge.from),
            to_place: names.name(edge.to),
            function: function.and_then(|start| numbered.numbers.get(&start.into()).copied()),
        }
    };
    // The same function goes on further up.
    let is_loop = |edge: &Edge| {
        edge.to <= edge.from
            && matches!(edge.kind, Leaves::Branch | Leaves::Jump)
            && functions.containing(edge.from).is_some_and(|range| range.contains(&edge.to))
    };
    let loops = list.iter().filter(|(edge, _)| is_loop(edge)).take(EDGES).map(row).collect();
    (list.iter().take(EDGES).map(row).collect(), loops)
}
