//! What was decoded from a part of a capture.

use crate::collect::Collect;
use hartrace_decoder::{Event, Leaves, Run, Sink, StreamPos};

/// Bytes that a part may use before it is passed on: as text, it may use ten times as many.
const PART_BYTES: usize = 1 << 17;

/// Everything that was decoded, in order, independent of the decoder.
#[derive(Debug, Default)]
pub struct Part {
    /// Addresses of all instructions of all runs.
    addresses: Vec<u64>,
    records: Vec<(StreamPos, Record)>,
}

#[derive(Copy, Clone, Debug)]
enum Record {
    Run { insns: u32, end: u64, leaves: Leaves },
    Event(Event),
    Aside(Event),
}

/// Instructions that retired one after the other; at least one.
#[derive(Copy, Clone, Debug)]
pub struct Retired<'a> {
    /// Their addresses.
    pub addresses: &'a [u64],
    /// Address after the last.
    pub end: u64,
    /// How the program continues.
    pub leaves: Leaves,
}

/// An item of a part.
#[derive(Copy, Clone, Debug)]
pub enum Item<'a> {
    /// Instructions.
    Retired(Retired<'a>),
    /// Anything else.
    Event(Event),
    /// An event outside the stretch that is reported.
    Aside(Event),
}

impl Part {
    /// Removes everything from an item on, before which there are so many addresses, and returns it.
    pub(crate) fn split_off(&mut self, items: usize, addresses: usize) -> Self {
        let (all, most) = (self.records.len(), self.addresses.len());
        Self {
            addresses: self.addresses.split_off(addresses.min(most)),
            records: self.records.split_off(items.min(all)),
        }
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Drops everything from an item on, before which there are so many addresses.
    pub(crate) fn truncate(&mut self, items: usize, addresses: usize) {
        self.records.truncate(items);
        self.addresses.truncate(addresses);
    }

    /// Everything in order.
    pub fn iter(&self) -> impl Iterator<Item = (StreamPos, Item<'_>)> {
        let mut rest = self.addresses.as_slice();
        self.records.iter().map(move |(at, record)| {
            let item = match *record {
                Record::Run { insns, end, leaves } => {
                    let (addresses, later) =
                        rest.split_at_checked(insns as usize).unwrap_or((rest, &[]));
                    rest = later;
                    Item::Retired(Retired { addresses, end, leaves })
                }
                Record::Event(event) => Item::Event(event),
                Record::Aside(event) => Item::Aside(event),
            };
            (*at, item)
        })
    }
}

impl Sink for Part {
    const ORDERED: bool = true;

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        let before = self.addresses.len();
        run.addresses(|address| self.addresses.push(address));
        let insns = self.addresses.len().wrapping_sub(before) as u32;
        if insns > 0 {
            let (end, leaves) = (run.end(), run.leaves());
            self.records.push((at, Record::Run { insns, end, leaves }));
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.records.push((at, Record::Event(event)));
    }

    #[inline]
    fn is_full(&self) -> bool {
        let (addresses, records) = (&*self.addresses, &*self.records);
        size_of_val(addresses).saturating_add(size_of_val(records)) >= PART_BYTES
    }

    fn bytes(&self) -> Option<usize> {
        let addresses = self.addresses.capacity().saturating_mul(size_of::<u64>());
        let records = self.records.capacity().saturating_mul(size_of::<(StreamPos, Record)>());
        Some(addresses.saturating_add(records))
    }
}

impl Collect for Part {
    // Who takes parts as they are works on them one by one, and is slower than the decoder.
    const AHEAD: usize = 1 << 20;

    fn aside(&mut self, at: StreamPos, event: Event) {
        self.records.push((at, Record::Aside(event)));
    }
}
