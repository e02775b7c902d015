//! Runs of right predictions, one for each class, in packets of short records.

use super::records::{Class, Layout, Read, Trap, Write, get_address, put_address};
use crate::{BitSource, Bits, DecodeError, Fault};

/// The largest state of a run.
const MOST: u8 = 43;
/// The first state of a run.
const FIRST: u8 = 4;
/// The logarithm of the longest run: the most bits of a number of right predictions.
pub(super) const LONGEST: u32 = MOST as u32 / 4;

/// What both sides know about the runs of a class.
#[derive(Copy, Clone, Debug)]
struct Run {
    /// A run has at most 2 to the power of a fourth of this many predictions.
    state: u8,
    open: Option<Open>,
}

#[derive(Copy, Clone, Debug)]
struct Open {
    /// Right predictions so far.
    right: u64,
    /// To write: the place of its record in the packet. To read: the right predictions before a wrong one, if there is one.
    record: Option<u64>,
}

impl Run {
    const NEW: Self = Self { state: FIRST, open: None };

    fn bits(&self) -> u32 {
        u32::from(self.state / 4)
    }

    /// Adds a prediction. A run ends with a wrong one, or when it cannot be longer.
    fn add(&mut self, open: Open, wrong: bool) {
        let right = open.right + u64::from(!wrong);
        let full = right == 1 << self.bits();
        self.open = None;
        match (wrong, full) {
            (true, _) => self.state = self.state.saturating_sub(1),
            (false, true) => self.state = MOST.min(self.state + 1),
            (false, false) => self.open = Some(Open { right, ..open }),
        }
    }
}

/// A record of a packet.
#[derive(Copy, Clone, Debug)]
struct Record {
    value: u64,
    width: u32,
}

/// Stands for a run without a wrong prediction.
const RIGHT: Record = Record { value: 1, width: 1 };

/// Writes packets.
#[derive(Clone, Debug)]
pub(super) struct RunWriter {
    layout: Layout,
    runs: [Run; Class::RUNS],
    /// Of the open packet, in the order in which they were started.
    records: Vec<Record>,
    /// Instructions of the open packet.
    instructions: u64,
}

impl RunWriter {
    /// Adds a record, in a new packet if this one is full.
    fn record(&mut self, record: Record, out: &mut Bits) -> u64 {
        if self.records.len() == self.layout.records as usize {
            self.close(None, out);
            // The instruction that needs the record belongs to the new packet.
            self.instructions = 1;
        }
        self.records.push(record);
        self.records.len() as u64 - 1
    }

    fn close(&mut self, trap: Option<Trap>, out: &mut Bits) {
        out.put_bool(trap.is_some());
        if let Some(trap) = trap {
            trap.put(self.layout.xlen, |value, width| out.put(value, width));
        }
        self.records.drain(..).for_each(|record| out.put(record.value, record.width));
        self.runs.iter_mut().for_each(|run| run.open = None);
        self.instructions = 0;
    }
}

impl Write for RunWriter {
    fn new(layout: Layout) -> Self {
        Self { layout, runs: [Run::NEW; Class::RUNS], records: Vec::new(), instructions: 0 }
    }

    fn start(&mut self, pc: u64, out: &mut Bits) {
        out.put(pc >> 1, self.layout.xlen - 1);
    }

    fn retire(&mut self) {
        self.instructions += 1;
    }

    fn decide(&mut self, class: Class, wrong: bool, out: &mut Bits) {
        let class = class.run();
        let open = match self.runs[class].open {
            Some(open) => open,
            None => Open { right: 0, record: Some(self.record(RIGHT, out)) },
        };
        let run = &mut self.runs[class];
        if wrong && let Some(record) = open.record.and_then(|at| self.records.get_mut(at as usize))
        {
            // A zero, and the number of right predictions before the wrong one.
            *record = Record { value: open.right, width: 1 + run.bits() };
        }
        run.add(open, wrong);
    }

    fn place(&mut self, place: usize, out: &mut Bits) {
        let width = self.layout.place_bits;
        self.record(Record { value: 1 << width | place as u64, width: 1 + width }, out);
    }

    fn address(&mut self, may_be_cached: bool, pc: u64, to: u64, out: &mut Bits) {
        if may_be_cached {
            self.record(Record { value: 0, width: 1 }, out);
        }
        self.close(None, out);
        put_address(pc, to, self.layout.xlen, |value, width| out.put(value, width));
    }

    fn trap(&mut self, handler: Option<u64>, out: &mut Bits) {
        self.close(Some(Trap { instructions: self.instructions, handler }), out);
    }

    fn end(&mut self, out: &mut Bits) {
        self.close(None, out);
    }
}

/// Reads packets.
#[derive(Clone, Debug)]
pub(super) struct RunReader {
    layout: Layout,
    runs: [Run; Class::RUNS],
    /// Records of the open packet that have been read.
    records: u32,
    trap: Option<Trap>,
}

impl RunReader {
    /// Starts a packet.
    fn open(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError> {
        self.runs.iter_mut().for_each(|run| run.open = None);
        self.records = 0;
        self.trap = match from.get_bool()? {
            true => Some(Trap::get(self.layout.xlen, |width| from.get(width))?),
            false => None,
        };
        Ok(())
    }

    /// Starts a record, in a new packet if this one is full.
    fn record(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError> {
        if self.records == self.layout.records {
            self.end(from)?;
            let at = from.clone();
            self.open(from)?;
            if let Some(trap) = &mut self.trap {
                // The instruction that needs the record belongs to the new packet.
                let fault =
                    Fault::Malformed("a trap before the instruction that starts its packet");
                let left = trap.instructions.checked_sub(1).ok_or_else(|| at.error(fault))?;
                trap.instructions = left;
            }
        }
        self.records += 1;
        Ok(())
    }
}

impl Read for RunReader {
    fn start(layout: Layout, from: &mut BitSource<'_>) -> Result<(Self, u64), DecodeError> {
        let mut reader = Self { layout, runs: [Run::NEW; Class::RUNS], records: 0, trap: None };
        let pc = from.get(layout.xlen - 1)? << 1;
        reader.open(from)?;
        Ok((reader, pc))
    }

    fn trap(&mut self) -> &mut Option<Trap> {
        &mut self.trap
    }

    fn resume(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError> {
        self.trap = None;
        self.end(from)?;
        self.open(from)
    }

    fn decide(&mut self, class: Class, from: &mut BitSource<'_>) -> Result<bool, DecodeError> {
        let class = class.run();
        let open = match self.runs[class].open {
            Some(open) => open,
            None => {
                self.record(from)?;
                let wrong = !from.get_bool()?;
                let record = wrong.then(|| from.get(self.runs[class].bits())).transpose()?;
                Open { right: 0, record }
            }
        };
        let wrong = open.record == Some(open.right);
        self.runs[class].add(open, wrong);
        Ok(wrong)
    }

    fn place(&mut self, from: &mut BitSource<'_>) -> Result<Option<usize>, DecodeError> {
        self.record(from)?;
        let cached = from.get_bool()?;
        let place = cached.then(|| from.get(self.layout.place_bits)).transpose()?;
        Ok(place.map(|place| place as usize))
    }

    fn address(&mut self, pc: u64, from: &mut BitSource<'_>) -> Result<u64, DecodeError> {
        self.end(from)?;
        let to = get_address(pc, self.layout.xlen, |width| from.get(width))?;
        self.open(from)?;
        Ok(to)
    }

    fn settle(&mut self, _: &mut BitSource<'_>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn end(&self, from: &BitSource<'_>) -> Result<(), DecodeError> {
        let announced = |run: &Run| run.open.is_some_and(|open| open.record.is_some());
        if self.trap.is_some() || self.runs.iter().any(announced) {
            return Err(from.error(Fault::Malformed("a packet ends before what it announces")));
        }
        Ok(())
    }
}
