//! What came of a run.

use hartrace_etrace::{Branch, JumpTarget, Payload};
use hartrace_golden::encoder::{Encoded, Reason};
use std::collections::BTreeMap;

/// What was compared.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Clock cycles.
    pub cycles: u64,
    /// Groups that were accepted.
    pub groups: u64,
    /// Groups that were lost.
    pub lost: u64,
    /// Times that groups were lost, one after the other.
    pub losses: u64,
    /// Rows that were accepted.
    pub rows: u64,
    /// Rows that were lost.
    pub lost_rows: u64,
    /// Cycles in which the hart had to wait.
    pub stalled: u64,
    /// Payloads.
    pub payloads: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What kinds of them there were.
    pub covered: BTreeMap<Covered, u64>,
}

/// A kind of payload, as far as coverage is concerned.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Covered {
    /// Format and subformat.
    pub format: &'static str,
    /// Why it was sent.
    pub reason: Reason,
    /// How many branches it tells, one of [`Self::BRANCHES`].
    pub branches: &'static str,
}

impl Covered {
    /// Numbers of branches that matter.
    pub const BRANCHES: [&'static str; 6] = ["0", "1", "2-29", "30", "31", "counted"];

    pub(crate) fn of(encoded: &Encoded) -> Self {
        let branches = match &encoded.payload {
            Payload::BranchCount(_) => "counted",
            Payload::JumpTarget(JumpTarget { map, .. }) | Payload::Branch(Branch { map, .. }) => {
                match map.branches() {
                    0 => "0",
                    1 => "1",
                    30 => "30",
                    31 => "31",
                    _ => "2-29",
                }
            }
            _ => "0",
        };
        Self { format: encoded.payload.format().code(), reason: encoded.reason, branches }
    }
}
