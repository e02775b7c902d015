//! Compact storage of executed rows: every distinct block once, and the order of blocks.

use hartrace_etrace::ingress::Retired;
use std::collections::HashMap;

/// Rows in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    distinct: Vec<Retired>,
    /// Indices into `distinct`.
    order: Vec<u32>,
    /// The index of each distinct row.
    places: HashMap<Retired, u32>,
}

impl Rows {
    /// Adds the next row without its time and duration: no scheme uses them, and they would make all rows
    /// distinct.
    pub(super) fn push(&mut self, row: &Retired) {
        let row = Retired { time: 0, cycles: 0, ..*row };
        let next = self.distinct.len() as u32;
        let place = *self.places.entry(row).or_insert(next);
        if place == next {
            self.distinct.push(row);
        }
        self.order.push(place);
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Every row once.
    pub(super) fn distinct(&self) -> &[Retired] {
        &self.distinct
    }

    /// The order of rows, as indices into [`distinct`](Self::distinct).
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The rows in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Retired> {
        self.order.iter().filter_map(|place| self.distinct.get(*place as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_comes_back() {
        let [a, b] = [0x1000, 0x2000].map(|pc| Retired { cycles: 0, ..Retired::plain(pc) });
        let late = Retired { time: 7, cycles: 3, ..a };
        let mut rows = Rows::default();
        [a, b, late, late, b].iter().for_each(|row| rows.push(row));
        assert_eq!(rows.iter().copied().collect::<Vec<_>>(), [a, b, a, a, b]);
        assert_eq!((rows.len(), rows.distinct.len()), (5, 2));
    }
}
