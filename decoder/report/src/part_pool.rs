//! Memory of parts that were written, for parts that are still to be decoded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Parts whose memory is kept.
const MOST: usize = 64;

/// Empty parts with room. One thread returns what others take; without this, the system would clear new memory for each
/// part.
#[derive(Debug)]
pub(crate) struct PartPool<P>(Arc<Mutex<Vec<P>>>);

impl<P> PartPool<P> {
    fn lock(&self) -> MutexGuard<'_, Vec<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an empty part.
    pub(crate) fn take(&self) -> P
    where
        P: Default,
    {
        let spare = self.lock().pop();
        spare.unwrap_or_default()
    }

    /// Accepts a part that is empty again.
    pub(crate) fn give(&self, part: P) {
        let mut spare = self.lock();
        if spare.len() < MOST {
            spare.push(part);
        }
    }
}

impl<P> Default for PartPool<P> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<P> Clone for PartPool<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
