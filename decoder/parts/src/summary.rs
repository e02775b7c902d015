//! What a table consists of, apart from its rows.

use super::plan::Sync;
use super::rows::Emit;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// What the rows of a table are, and what the tables before and after it have to fit to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The plan, by [`Plan::id`](super::Plan::id).
    pub plan: String,
    /// What the table is about.
    pub emit: Emit,
    /// The parts that it has.
    pub parts: Range<u32>,
    /// Whether nothing in it depends on other parts. Such a table needs no merging: it has all parts of the plan, or a
    /// [share](super::Share) of them.
    pub complete: bool,
    /// The sources of these parts, in order.
    pub sources: Vec<SourceSummary>,
}

impl Summary {
    /// Instructions that retired.
    pub fn instructions(&self) -> u64 {
        self.sources.iter().map(|source| source.instructions).sum()
    }

    /// Stretches that could not be followed.
    pub fn gaps(&self) -> u64 {
        self.sources.iter().map(|source| source.gaps).sum()
    }
}

impl SourceSummary {
    /// What is missing of the trace, in words, if anything is known to be.
    pub fn missing(&self) -> Option<String> {
        let source = self.source.map_or(String::new(), |id| format!(", source {id}"));
        let what = "the trace does not end: tracing was on at the last packet";
        self.unended.then(|| format!("capture {}{source}: {what}", self.capture))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: instructions {}, gaps {}", self.emit, self.instructions(), self.gaps())
    }
}

/// The same for the parts of one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceSummary {
    /// The number of its capture.
    pub capture: usize,
    /// Its number, if frames have any.
    pub source: Option<u16>,
    /// Instructions that retired.
    pub instructions: u64,
    /// Stretches that could not be followed.
    pub gaps: u64,
    /// The trace does not end: tracing was on at the last packet, or where another trace starts.
    pub unended: bool,
    /// The synchronisation at the start, as the decoder found it; nothing at the start of the trace.
    pub start: Option<Sync>,
    /// The synchronisation after the end, as the decoder found it with the modes in force at the end; nothing at the end
    /// of the trace.
    pub next: Option<Sync>,
    /// How rows continue across seams.
    pub ends: Ends,
}

/// How the rows of one part continue those of the part before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ends {
    /// They do not.
    #[default]
    Nothing,
    /// Edges: where they may lead in and out, unless nothing happened at all.
    Edges(Option<EdgeEnds>),
    /// Blocks.
    Blocks(BlockEnds),
    /// Calls: what depends on other parts, as [`Residue::to_words`](hartrace_decoder::calls::Residue::to_words).
    Calls(Vec<u64>),
}

/// Edges that may lead into a part and out of it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeEnds {
    /// The first instruction.
    pub to: Option<u64>,
    /// The last instruction, and how it leaves.
    pub from: Option<(u64, u64)>,
}

/// How the first block of a part may continue the last one of the part before it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockEnds {
    /// Something other than a context comes before the first block, so that it continues none.
    pub breaks: bool,
    /// Privilege and context that are announced before the first block; `None` if none are.
    pub first: Option<(u8, u64)>,
    /// There is no block.
    pub empty: bool,
    /// The last block may continue.
    pub open: bool,
    /// Privilege and context at the end, if known.
    pub last: Option<(u8, u64)>,
}
