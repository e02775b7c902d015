//! What a scheme costs in hardware. Every scheme is charged for the same list of parts, with the constants of the source.

use serde::Serialize;

/// A part of a trace module.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// What is collected until a record can be made: the current stream; for E-Trace the last step, its trap and the branch map.
    Input,
    /// Streams that wait while the one before is looked up.
    Queue,
    /// Contents of tables, with their tags.
    Tables,
    /// Whether entries are valid.
    Valid,
    /// The order in which entries are replaced, and where stacks end.
    Order,
    /// Histories, last addresses and upper bits.
    Registers,
    /// Counters of events.
    Counters,
    /// The output buffer.
    Output,
    /// The writer of records, comparators and control.
    Control,
}

/// Bits and gates of a part.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Which part.
    pub part: PartKind,
    /// Its bits of memory.
    pub bits: u64,
    /// Its gates.
    pub gates: f64,
}

/// The parts of a scheme, each at most once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Cost {
    parts: Vec<Part>,
}

/// Gates for a bit of memory.
const MEMORY: f64 = 1.5;
/// Gates for a bit of a table that is searched by its contents.
const SEARCHED: f64 = 3.0;
/// Gates for a bit that is compared with one other.
const COMPARED: f64 = 5.0;
/// Gates for a bit of an ordered list: latch, comparator and driver.
const LISTED: f64 = 5.5;
/// Gates of the writer and of control: what the source's 2,800 for tTMBP leave open once its tables, registers, counters and
/// buffer are counted. The source has no such figure for any other scheme, so that each is charged as much.
const CONTROL: f64 = 664.0;

impl Cost {
    /// The parts that every scheme has: an output buffer of four addresses, which are the 128 bits that the source needs for
    /// TMBP, and control.
    pub(crate) fn new(xlen: u32) -> Self {
        let cost = Self { parts: Vec::new() };
        cost.memory(PartKind::Output, 4 * u64::from(xlen)).logic(PartKind::Control, CONTROL)
    }

    pub(crate) fn memory(self, part: PartKind, bits: u64) -> Self {
        self.add(part, bits, MEMORY)
    }

    pub(crate) fn searched(self, part: PartKind, bits: u64) -> Self {
        self.add(part, bits, SEARCHED)
    }

    pub(crate) fn compared(self, part: PartKind, bits: u64) -> Self {
        self.add(part, bits, COMPARED)
    }

    pub(crate) fn listed(self, part: PartKind, bits: u64) -> Self {
        self.add(part, bits, LISTED)
    }

    pub(crate) fn logic(mut self, part: PartKind, gates: f64) -> Self {
        self.part(part).gates += gates;
        self
    }

    fn add(mut self, part: PartKind, bits: u64, gates: f64) -> Self {
        if bits > 0 {
            let place = self.part(part);
            place.bits += bits;
            place.gates += gates * bits as f64;
        }
        self
    }

    fn part(&mut self, part: PartKind) -> &mut Part {
        let at = self.parts.iter().position(|other| other.part == part);
        let at = at.unwrap_or_else(|| {
            self.parts.push(Part { part, bits: 0, gates: 0.0 });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    /// Returns the parts that the scheme has.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the bits of memory.
    pub fn bits(&self) -> u64 {
        self.parts.iter().map(|part| part.bits).sum()
    }

    /// Returns the gates.
    pub fn gates(&self) -> f64 {
        self.parts.iter().map(|part| part.gates).sum()
    }

    #[cfg(test)]
    pub(crate) fn bits_of(&self, part: PartKind) -> u64 {
        self.parts.iter().filter(|other| other.part == part).map(|part| part.bits).sum()
    }

    #[cfg(test)]
    pub(crate) fn gates_of(&self, part: PartKind) -> f64 {
        self.parts.iter().filter(|other| other.part == part).map(|part| part.gates).sum()
    }
}

/// Bits of the order of ways of a set, from the most recently used to the least.
pub(crate) fn order_bits(ways: u32) -> u64 {
    (2..=ways).map(|count| u64::from(index_bits(count.into()))).sum()
}

/// Bits of an index into this many entries.
pub(crate) fn index_bits(entries: u64) -> u32 {
    entries.max(1).next_power_of_two().ilog2()
}
