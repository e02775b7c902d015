//! What holds within the connector that takes one instruction after the other.

use crate::follow::Follow;

/// Asserts it.
pub(crate) fn invariants(_follow: &Follow) {}
