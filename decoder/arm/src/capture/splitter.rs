//! Splits frames, with the order of what is in them.

use super::Layout;
use hartrace_encap::coresight::{Deformatter, Dstream, Item, Mode, Statistics};

/// Splits a buffer that has frames, piece by piece.
pub(super) struct Splitter {
    deformatter: Deformatter,
    probe: Option<Dstream>,
    /// Number of chunks so far.
    order: u64,
}

impl Splitter {
    pub(super) fn new(layout: Layout) -> Self {
        let (mode, probe) = match layout {
            Layout::Frames(mode) => (mode, None),
            Layout::Dstream(mode) => (mode, Some(Dstream::new())),
            // Not called for it.
            Layout::Raw => (Mode::Aligned, None),
        };
        Self { deformatter: Deformatter::new(mode), probe, order: 0 }
    }

    /// Passes on what the next bytes contain, each item with the number of chunks before it.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut impl FnMut(u64, Item<'_>)) {
        let Self { deformatter, probe, order } = self;
        let mut out = |item: Item<'_>| count(order, item, out);
        match probe {
            Some(probe) => {
                probe.feed(bytes, &mut |piece| deformatter.feed(piece, &mut out));
            }
            None => deformatter.feed(bytes, &mut out),
        }
    }

    /// Ends the buffer.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(u64, Item<'_>)) {
        let Self { deformatter, order, .. } = self;
        deformatter.finish(&mut |item| count(order, item, out));
    }

    pub(super) fn statistics(&self) -> Statistics {
        self.deformatter.statistics()
    }
}

fn count(order: &mut u64, item: Item<'_>, out: &mut impl FnMut(u64, Item<'_>)) {
    out(*order, item);
    *order = order.wrapping_add(matches!(item, Item::Data(_)).into());
}
