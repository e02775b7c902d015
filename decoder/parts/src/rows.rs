//! Rows of tables.

use super::error::PartsError;
use super::summary::Summary;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a table is about; see [`parts`](crate).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Emit {
    /// Branches and jumps.
    #[default]
    Edges,
    /// Ranges of code.
    Coverage,
    /// Active functions.
    Calls,
    /// Consecutive instructions.
    Blocks,
    /// Gaps.
    Gaps,
    /// Functions of the programs.
    Functions,
}

/// What a column holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers of 64 bits.
    U64,
    /// Numbers of 32 bits.
    U32,
    /// A source: a number, or nothing, which is [`Field::NO_SOURCE`].
    Source,
    /// One of these words, by its index.
    Word(&'static [&'static str]),
    /// An index into [`Batch::texts`].
    Text,
}

/// A column.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

impl Field {
    /// In a column of sources: there is none.
    pub const NO_SOURCE: u64 = u64::MAX;

    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind }
    }
}

/// How a run of instructions ends.
pub(super) const LEAVES: [&str; 4] = ["-", "branch", "jump", "indirect"];
/// Why a function is active.
pub(super) const WHY: [&str; 5] = ["unknown", "call", "tail call", "exception", "interrupt"];
/// What happened at a gap.
pub(super) const GAP: [&str; 2] = ["gap", "on"];

const CAPTURE: Field = Field::new("capture", Kind::U32);
const SOURCE: Field = Field::new("source", Kind::Source);

impl Emit {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Edges, Self::Coverage, Self::Calls, Self::Blocks, Self::Gaps, Self::Functions];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Edges => "edges",
            Self::Coverage => "coverage",
            Self::Calls => "calls",
            Self::Blocks => "blocks",
            Self::Gaps => "gaps",
            Self::Functions => "functions",
        }
    }

    /// The columns of a table. Calls of a table that is not complete yet have a `segment` instead of a `context`.
    pub fn fields(self, complete: bool) -> Vec<Field> {
        let number = |name| Field::new(name, Kind::U64);
        let leaves = |name| Field::new(name, Kind::Word(&LEAVES));
        let rest = match self {
            Self::Edges => {
                vec![SOURCE, number("from"), number("to"), leaves("kind"), number("count")]
            }
            Self::Coverage => vec![SOURCE, number("start"), number("end")],
            Self::Calls => vec![
                SOURCE,
                number(if complete { "context" } else { "segment" }),
                number("function"),
                Field::new("depth", Kind::U32),
                number("enter"),
                number("leave"),
                Field::new("why", Kind::Word(&WHY)),
            ],
            Self::Blocks => vec![
                SOURCE,
                number("first"),
                number("start"),
                number("end"),
                number("insns"),
                leaves("leaves"),
            ],
            Self::Gaps => vec![
                SOURCE,
                number("byte"),
                Field::new("event", Kind::Word(&GAP)),
                Field::new("cause", Kind::Text),
            ],
            Self::Functions => {
                vec![number("start"), number("end"), Field::new("name", Kind::Text)]
            }
        };
        [CAPTURE].into_iter().chain(rest).collect()
    }
}

impl fmt::Display for Emit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Emit {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|emit| emit.name() == name);
        found.ok_or_else(|| format!("there is no table `{name}`, only {all}"))
    }
}

/// Rows of a table, by columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The columns, all equally long, as [`Emit::fields`] lists them.
    pub columns: Vec<Vec<u64>>,
    /// What the column of texts refers to.
    pub texts: Vec<String>,
}

impl Batch {
    /// Rows after which a batch is passed on.
    pub const FULL: usize = 1 << 17;

    pub(super) fn new(columns: usize) -> Self {
        Self { columns: vec![Vec::new(); columns], texts: Vec::new() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(super) fn push<const N: usize>(&mut self, row: [u64; N]) {
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
    }

    /// A text, as the value of a column.
    pub(super) fn text(&mut self, text: String) -> u64 {
        self.texts.push(text);
        self.texts.len().saturating_sub(1) as u64
    }

    /// The values of a row.
    pub(super) fn row<const N: usize>(&self, row: usize) -> [u64; N] {
        let value = |column: usize| Some(*self.columns.get(column)?.get(row)?);
        std::array::from_fn(|column| value(column).unwrap_or(0))
    }
}

/// A table that can be read.
pub trait Input {
    /// Its name, for messages.
    fn name(&self) -> String;

    /// What its rows are.
    fn summary(&self) -> &Summary;

    /// Reads all rows, in order.
    ///
    /// # Errors
    ///
    /// If they cannot be read, and those of `each`.
    fn read(
        &mut self,
        each: &mut dyn FnMut(Batch) -> Result<(), PartsError>,
    ) -> Result<(), PartsError>;
}

/// A table that can be written.
pub trait Output {
    /// Starts a table. Called once, before all rows.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn start(&mut self, emit: Emit, complete: bool) -> Result<(), PartsError>;

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    fn write(&mut self, batch: Batch) -> Result<(), PartsError>;

    /// Ends the table.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn finish(&mut self, summary: Summary) -> Result<(), PartsError>;
}

/// A table in memory.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What its rows are.
    pub summary: Summary,
    /// The rows.
    pub batches: Vec<Batch>,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(Batch::len).sum()
    }
}

impl Input for Table {
    fn name(&self) -> String {
        format!("the table of parts {}..{}", self.summary.parts.start, self.summary.parts.end)
    }

    fn summary(&self) -> &Summary {
        &self.summary
    }

    fn read(
        &mut self,
        each: &mut dyn FnMut(Batch) -> Result<(), PartsError>,
    ) -> Result<(), PartsError> {
        self.batches.iter().cloned().try_for_each(each)
    }
}

impl Output for Table {
    fn start(&mut self, _: Emit, _: bool) -> Result<(), PartsError> {
        Ok(())
    }

    fn write(&mut self, batch: Batch) -> Result<(), PartsError> {
        self.batches.push(batch);
        Ok(())
    }

    fn finish(&mut self, summary: Summary) -> Result<(), PartsError> {
        self.summary = summary;
        Ok(())
    }
}

/// Collects rows, and passes them on when there are many.
pub(super) struct Writer<'o> {
    pub(super) batch: Batch,
    out: &'o mut dyn Output,
}

impl<'o> Writer<'o> {
    pub(super) fn start(
        emit: Emit,
        complete: bool,
        out: &'o mut dyn Output,
    ) -> Result<Self, PartsError> {
        out.start(emit, complete)?;
        Ok(Self { batch: Batch::new(emit.fields(complete).len()), out })
    }

    /// Passes rows on, if there are enough.
    pub(super) fn flush_full(&mut self) -> Result<(), PartsError> {
        if self.batch.len() >= Batch::FULL { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), PartsError> {
        let empty = Batch::new(self.batch.columns.len());
        let batch = std::mem::replace(&mut self.batch, empty);
        if batch.is_empty() { Ok(()) } else { self.out.write(batch) }
    }

    pub(super) fn finish(mut self, summary: Summary) -> Result<(), PartsError> {
        self.flush()?;
        self.out.finish(summary)
    }
}
