//! What was decoded from a part of a capture.

use crate::follow::ROOM;
use hartrace_decoder::{Event, Leaves, Run, Sink, StreamPos};

/// Everything that was decoded, in order, without the decoder.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Of all instructions of all runs.
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
pub(crate) struct Retired<'a> {
    pub(crate) addresses: &'a [u64],
    /// Address after the last.
    pub(crate) end: u64,
    pub(crate) leaves: Leaves,
}

/// What a part is made of.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Item<'a> {
    Retired(Retired<'a>),
    Event(Event),
    /// Not to be printed.
    Aside(Event),
}

impl Part {
    /// Everything in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (StreamPos, Item<'_>)> {
        let mut rest = &self.addresses[..];
        self.records.iter().map(move |(at, record)| {
            let item = match *record {
                Record::Run { insns, end, leaves } => {
                    let (addresses, later) = rest.split_at(insns as usize);
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
        let insns = (self.addresses.len() - before) as u32;
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
        size_of_val(&self.addresses[..]) + size_of_val(&self.records[..]) >= ROOM
    }
}

impl Part {
    /// Takes an event that is not to be printed.
    pub(crate) fn aside(&mut self, at: StreamPos, event: Event) {
        self.records.push((at, Record::Aside(event)));
    }
}
