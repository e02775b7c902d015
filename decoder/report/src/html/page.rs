//! The page itself.

use super::code::{Code, CodeData};
use super::flames::{FlameData, flames};
use super::tables::{self, ClockData, EdgeRow, FunctionRow, GapRow, LaneData};
use super::{Html, SourceRoots, safe};
use crate::source::SourceCounts;
use crate::stats::Stats;
use hartrace_decoder::Frequencies;
use serde::Serialize;
use std::io::{self, Write};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const THEME: &str = include_str!("page/theme.js");
const SCRIPTS: [&str; 6] = [
    include_str!("page/data.js"),
    include_str!("page/timeline.js"),
    include_str!("page/flames.js"),
    include_str!("page/tables.js"),
    include_str!("page/code.js"),
    include_str!("page/main.js"),
];

/// What was traced, as far as it is not in the trace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct About {
    /// The name of the capture.
    pub capture: String,
    /// The protocol of the trace.
    pub protocol: String,
    /// The command that made the capture, if known.
    pub command: Option<String>,
    /// What part of the trace the page shows, if not all.
    pub window: Option<String>,
    /// What ended the run before the program did, if known.
    pub ended_early: Option<String>,
    /// The programs.
    pub programs: Vec<String>,
    /// Why the page may not show what was executed, in sentences: see [`doubts`](super::doubts).
    pub doubts: Vec<String>,
    /// Where their sources may be.
    #[serde(skip)]
    pub roots: SourceRoots,
}

#[derive(Serialize)]
struct Data<'a> {
    about: &'a About,
    version: &'static str,
    instructions: u64,
    /// Instructions of the longest source: the length of the timeline.
    length: u64,
    gaps: u64,
    losses: u64,
    exceptions: u64,
    interrupts: u64,
    gap_rows: Vec<GapRow>,
    /// Shorter calls are drawn together.
    threshold: u64,
    /// Calls that are not drawn.
    left_out: u64,
    /// Of each source; without readings, time is not known.
    clocks: Vec<ClockData>,
    functions: Vec<FunctionRow>,
    /// Caller, callee, calls, instructions.
    graph: Vec<(usize, usize, u64, u64)>,
    lanes: Vec<LaneData>,
    flames: Vec<FlameData>,
    /// Smaller stacks are not in the flame graph.
    finest: u64,
    edges: Vec<EdgeRow>,
    loops: Vec<EdgeRow>,
    code: CodeData,
    stats: Option<&'a Stats>,
    modes: Option<String>,
}

/// The start of a page up to its first element: title, style, and the switch between light and dark.
pub fn head(title: &str) -> String {
    let title = safe::text(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"generator\" content=\"hartrace\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n<script>\n{THEME}</script>\n</head>\n<body>\n\
         <header class=\"bar\"><h1>{title}</h1><button type=\"button\" id=\"theme\" \
         title=\"Switch between light and dark (t)\">Dark</button></header>\n"
    )
}

/// Writes a page. Returns how many source files exist, but are outside of all folders for them.
pub(super) fn write(
    html: Html<'_>,
    about: &About,
    stats: Option<&Stats>,
    out: &mut dyn Write,
) -> io::Result<usize> {
    let Html { calls, frequencies, events, programs, xlen } = html;
    let (mut graph, names, functions) = calls.into_parts();
    let threshold = graph.fit();
    let numbered = tables::functions(&graph.costs, &names, xlen);
    let mut lanes = Vec::new();
    let mut left_out = 0u64;
    for (clock, (source, own, _)) in graph.ended.iter().enumerate() {
        lanes.extend(tables::lanes(*source, clock, own, &numbered));
        left_out = left_out.saturating_add(own.left_out);
    }
    let (flames, finest) = flames(&mut graph.trees, &numbered);
    let mut all = Frequencies::default();
    for sum in frequencies.into_values() {
        all.merge(sum);
        all.interrupt();
    }
    let sources = programs.sources();
    let counts = SourceCounts::new(all, &sources, names.symbols());
    let (_, image) = programs.first();
    let code = Code {
        image: &image,
        arm: &programs.arm_code(),
        xlen,
        functions: &functions,
        names: &names,
        sources: &sources,
        counts: &counts,
        roots: &about.roots,
    };
    let code = code.data(&numbered);
    let outside = code.outside(&about.roots);
    let (edges, loops) = tables::edges(counts.edges, &functions, &numbered, &names, xlen);
    let data = Data {
        about,
        version: env!("CARGO_PKG_VERSION"),
        instructions: graph.instructions,
        length: graph.length,
        gaps: events.gaps,
        losses: events.losses,
        exceptions: events.exceptions,
        interrupts: events.interrupts,
        gap_rows: tables::gap_rows(&events),
        threshold,
        left_out,
        clocks: graph.ended.iter().map(|(_, _, anchors)| anchors.into()).collect(),
        functions: numbered.rows,
        graph: numbered.graph,
        lanes,
        flames,
        finest,
        edges,
        loops,
        code,
        stats,
        modes: stats.and_then(Stats::modes),
    };
    out.write_all(head(&format!("Trace {}", about.capture)).as_bytes())?;
    out.write_all(PAGE.as_bytes())?;
    out.write_all(b"<script type=\"application/json\" id=\"data\">")?;
    safe::json(out, &data)?;
    out.write_all(b"</script>\n")?;
    for script in SCRIPTS {
        writeln!(out, "<script>\n{script}</script>")?;
    }
    writeln!(out, "</body>\n</html>")?;
    Ok(outside)
}
