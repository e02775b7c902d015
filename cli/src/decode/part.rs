//! What was decoded from a part of a capture.

use hartrace_decoder::{Event, Fault, Leaves, Run, Sink, StreamPos};
use hartrace_encap::FrameError;

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
    Damage(FrameError),
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
    /// A frame that could not be read.
    Damage(FrameError),
}

impl Part {
    /// A frame cannot be read. The decoder may have said so already, without the cause.
    pub(crate) fn damage(&mut self, at: StreamPos, error: FrameError) {
        let said = |(pos, record): &mut (StreamPos, Record)| {
            *pos == at && matches!(record, Record::Event(Event::Gap(Fault::Frame)))
        };
        self.records.pop_if(said);
        self.records.push((at, Record::Damage(error)));
    }

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
                Record::Damage(error) => Item::Damage(error),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_takes_the_place_of_the_event_without_cause() {
        let at = StreamPos { packet: 1, byte: 7 };
        let mut part = Part::default();
        part.event(StreamPos::default(), Event::Gap(Fault::Frame));
        part.event(at, Event::Gap(Fault::Frame));
        part.damage(at, FrameError::Header(0xff));
        let items: Vec<_> = part.iter().map(|(_, item)| item).collect();
        let [Item::Event(Event::Gap(Fault::Frame)), Item::Damage(_)] = items[..] else {
            panic!("{items:?}");
        };
    }
}
