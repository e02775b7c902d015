//! What was decoded from a part of a capture.

use hartrace_decoder::{Event, Leaves, Run, Sink, StreamPos};

/// Instructions after which a part is full.
const FULL: usize = 1 << 16;

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
}

impl Part {
    /// It is time to print.
    pub(crate) fn is_full(&self) -> bool {
        self.addresses.len().max(self.records.len()) >= FULL
    }

    pub(crate) fn clear(&mut self) {
        self.addresses.clear();
        self.records.clear();
    }

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
            };
            (*at, item)
        })
    }
}

impl Sink for Part {
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
}
