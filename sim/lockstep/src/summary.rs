//! Results of a run.

use crate::Coverage;

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
    /// The situations that occurred.
    pub coverage: Coverage,
}
