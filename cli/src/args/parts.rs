//! Arguments of `hartrace plan`, `part` and `merge`.

use clap::Args;
use hartrace_parts::{Emit, Share};
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// E-Trace captures; the description of each, CAPTURE.toml, names parameters and programs
    #[arg(required = true, value_name = "CAPTURE")]
    pub(crate) captures: Vec<PathBuf>,
    /// About how many parts to make [default: one for every 64 MiB]
    #[arg(long, value_name = "N")]
    pub(crate) parts: Option<NonZeroUsize>,
    /// The plan to write
    #[arg(short, long, value_name = "PLAN.json")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    /// The plan
    pub(crate) plan: PathBuf,
    /// Number of the part, from 0
    pub(crate) number: usize,
    /// The table to make: edges, coverage, calls, blocks, gaps or functions
    #[arg(long, value_name = "TABLE")]
    pub(crate) emit: Emit,
    /// The Parquet file to write
    #[arg(short, long, value_name = "OUT.parquet")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The plan
    pub(crate) plan: PathBuf,
    /// Tables of its parts, in any order
    #[arg(required = true, value_name = "PART.parquet")]
    pub(crate) tables: Vec<PathBuf>,
    /// Accept tables of some parts that follow each other, and make one that can be merged again
    #[arg(long)]
    pub(crate) some: bool,
    /// Merge one of N shares of the calls, K from 0, so that N processes can work at once
    #[arg(long, value_name = "K/N", conflicts_with = "some")]
    pub(crate) share: Option<Share>,
    /// The Parquet file to write
    #[arg(short, long, value_name = "OUT.parquet")]
    pub(crate) output: PathBuf,
}
