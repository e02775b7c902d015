//! Results of a run.

use hartrace_etrace::{Branch, JumpTarget, Payload};
use hartrace_golden::encoder::{Encoded, Reason};
use std::collections::BTreeMap;

/// Counts of what was compared.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Number of clock cycles.
    pub cycles: u64,
    /// Number of accepted groups.
    pub groups: u64,
    /// Number of lost groups.
    pub lost: u64,
    /// Number of sequences of consecutive lost groups.
    pub losses: u64,
    /// Number of accepted rows.
    pub rows: u64,
    /// Number of lost rows.
    pub lost_rows: u64,
    /// Number of cycles in which the hart had to wait.
    pub stalled: u64,
    /// Number of payloads.
    pub payloads: u64,
    /// Number of payload bytes.
    pub bytes: u64,
    /// Number of payloads of each kind.
    pub covered: BTreeMap<Covered, u64>,
}

/// A kind of payload, for coverage.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Covered {
    /// Format and subformat.
    pub format: &'static str,
    /// Why it was sent.
    pub reason: Reason,
    /// The number of its branches, one of [`Self::BRANCHES`].
    pub branches: &'static str,
}

impl Covered {
    /// The relevant numbers of branches.
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
