//! Captures larger than one machine: plan, part, merge.
//!
//! A [`Plan`] cuts captures at synchronisations into parts that stand alone. [`decode`] makes a table of one part, on any
//! machine, in any order; it depends on nothing but the plan and the files that it names. [`merge`] joins tables of parts
//! that follow each other, in any grouping, and checks every seam. Once all parts are there, the table is that of one
//! process that decodes everything.
//!
//! ```no_run
//! use hartrace_parts::{Emit, Plan, Table, decode, merge};
//! use std::path::Path;
//!
//! let folder = Path::new(".");
//! let plan = Plan::new(&["trace.te".into()], folder, Some(8), &mut |_| ())?;
//! let mut tables = Vec::new();
//! for number in 0..plan.parts.len() {
//!     let mut table = Table::default();
//!     decode(&plan, folder, number, Emit::Edges, &mut table)?;
//!     tables.push(table);
//! }
//! let mut edges = Table::default();
//! merge(&plan, folder, &mut tables, &mut edges)?;
//! println!("{} edges, {} instructions", edges.rows(), edges.summary.instructions());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | [`Emit`] | a row is | how parts are joined |
//! | --- | --- | --- |
//! | `edges` | a branch or jump, with its count | counts are added; the edge across a seam is counted |
//! | `coverage` | a range of code that was executed | ranges are united |
//! | `calls` | a function that was active from one instruction to another | stacks are joined: returns of one part leave calls of those before it |
//! | `blocks` | consecutive instructions | one after the other; what only the seam splits is joined |
//! | `gaps` | where a trace could not be followed, or resumed | one after the other |
//! | `functions` | a function of the programs | the same in all parts |
//!
//! Every table has the columns `capture` (its number in the plan) and `source` (null if frames have none), except that
//! functions have no source. Instructions are numbered from 0, for each source.
//!
//! Plans and files of tables carry checksums: one that was damaged, or belongs to another plan, is refused by its name. So is
//! a capture that has changed.
//!
//! Only E-Trace is cut. Captures of ETMv4, ETE and PTM, recordings of perf, bundles and compressed files are refused.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod block_sums;
mod blocks;
mod decode;
mod error;
mod files;
mod merge;
#[cfg(feature = "parquet")]
mod parquet;
mod plan;
mod prepared;
#[cfg(feature = "parquet")]
mod row_sum;
mod rows;
mod share;
mod sinks;
mod summary;

pub use self::decode::decode;
pub use error::PartsError;
pub use files::{Extent, HAS_FILES, decode_to_file, merge_files, plan_of_file, plan_to_file};
pub use merge::{merge, merge_share, merge_some};
#[cfg(feature = "parquet")]
pub use parquet::{ParquetInput, ParquetOutput};
pub use plan::{Plan, PlannedCapture, PlannedPart, Sync};
pub use rows::{Batch, Emit, Field, Input, Kind, Output, Table};
pub use share::Share;
pub use summary::{BlockEnds, EdgeEnds, Ends, SourceSummary, Summary};
