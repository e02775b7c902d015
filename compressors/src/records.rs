//! Where the bits of a trace go: streams by the kind of record that stands for them.

use crate::Bits;
use serde::{Deserialize, Serialize};

/// Streams that are sent in one kind of record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// The kind, such as `miss`.
    pub kind: String,
    /// Number of streams.
    pub streams: u64,
    /// Bits of their records.
    pub bits: u64,
}

/// Counts the records of a coder. Bits are those of the trace, from the last ones that were counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    kinds: Vec<Records>,
    /// Bits of the trace that have been counted.
    counted: u64,
}

impl Tally {
    pub(crate) fn new<const N: usize>(kinds: [&str; N]) -> Self {
        let records = |kind: &str| Records { kind: kind.into(), streams: 0, bits: 0 };
        Self { kinds: kinds.map(records).into(), counted: 0 }
    }

    /// Counts a stream of a kind, by its place among the kinds, and the bits since the last call.
    pub(crate) fn stream(&mut self, kind: usize, out: &Bits) {
        self.bits(kind, out);
        self.kinds[kind].streams += 1;
    }

    /// Counts the bits since the last call, which belong to streams of a kind that were counted before.
    pub(crate) fn bits(&mut self, kind: usize, out: &Bits) {
        self.kinds[kind].bits += out.len() - self.counted;
        self.counted = out.len();
    }

    pub(crate) fn records(&self) -> &[Records] {
        &self.kinds
    }
}
