//! Properties of data that no scheme sends: how often addresses recur, and how much information loaded values have.

use crate::{DataStep, Reference};
use hartrace_isa::Xlen;

/// What is counted. Values of whole blocks are sorted, which takes time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) histories: bool,
    pub(super) entropies: bool,
    pub(super) sizes: bool,
}

/// Low bits of addresses that are not compared, for a history each.
pub(super) const SHIFTS: [u32; 3] = [0, 4, 8];

/// The largest number of addresses in a history.
const LONGEST: usize = 64;

/// Values in a block, and low bits that are sent as they are. The source says KB, but its figures are of so many values.
pub(super) const BLOCKS: [(usize, u32); 7] = [
    (1 << 10, 0),
    (8 << 10, 0),
    (64 << 10, 0),
    (128 << 10, 0),
    (128 << 10, 4),
    (128 << 10, 8),
    (128 << 10, 12),
];

/// Sizes in bits that values may fit in.
pub(super) const SIZES: std::ops::RangeInclusive<u32> = 4..=12;

/// The data of a program.
#[derive(Clone, Debug)]
pub(super) struct DataStatistics {
    pub(super) program: String,
    /// Loads whose value is seen.
    pub(super) loads: u64,
    wanted: Wanted,
    xlen: Xlen,
    histories: [History; SHIFTS.len()],
    blocks: Vec<Blocks>,
    /// Loads by the smallest size of [`SIZES`] that they fit in; the last are those that fit in none.
    by_size: [u64; 10],
}

impl DataStatistics {
    pub(super) fn new(program: &str, xlen: Xlen, wanted: Wanted) -> Self {
        let blocks = if wanted.entropies { &BLOCKS[..] } else { &[] };
        Self {
            program: program.into(),
            loads: 0,
            wanted,
            xlen,
            histories: SHIFTS.map(History::new),
            blocks: blocks.iter().map(|(size, mask)| Blocks::new(*size, *mask, xlen)).collect(),
            by_size: [0; 10],
        }
    }

    pub(super) fn step(&mut self, step: &DataStep) {
        let Some(reference) = &step.reference else { return };
        if self.wanted.histories {
            self.histories.iter_mut().for_each(|history| history.reference(reference.address));
        }
        let Some(value) = registered(step.encoding, reference) else { return };
        self.loads += 1;
        if self.wanted.sizes {
            let mut sizes = SIZES;
            let place = sizes.position(|size| matches!(value >> size, 0 | -1));
            self.by_size[place.unwrap_or(9)] += 1;
        }
        for blocks in &mut self.blocks {
            blocks.value(self.xlen.wrap(value as u64));
        }
    }

    /// The width of addresses.
    pub(super) fn width(&self) -> u32 {
        self.xlen.bits()
    }

    pub(super) fn finish(&mut self) {
        self.blocks.iter_mut().for_each(Blocks::finish);
    }

    /// References whose address is among the last `entries` different ones, and all of them.
    pub(super) fn hits(&self, shift: u32, entries: usize) -> Option<(u64, u64)> {
        let history = self.histories.iter().find(|history| history.shift == shift)?;
        let hits = history.hits.iter().take(entries).sum();
        Some((hits, history.references))
    }

    /// Loads whose value fits in so many bits.
    pub(super) fn fitting(&self, size: u32) -> u64 {
        SIZES
            .zip(&self.by_size)
            .take_while(|(other, _)| *other <= size)
            .map(|(_, count)| count)
            .sum()
    }

    /// The blocks of so many values; `None` if there is no value.
    pub(super) fn blocks(&self, size: usize, mask: u32) -> Option<&Blocks> {
        self.blocks.iter().find(|one| (one.size, one.mask) == (size, mask) && one.count > 0)
    }
}

/// What a register receives from a load, sign-extended; `None` if nothing is loaded. Floating-point values count as integers.
fn registered(encoding: u32, reference: &Reference) -> Option<i64> {
    let value = reference.loaded?;
    let unused = 64 - 8 * u32::from(reference.size.clamp(1, 8));
    // `lbu`, `lhu`, `lwu`; and `c.lbu`, `c.lhu`, which stand beside `c.lh`.
    let unsigned = match encoding & 0x7f {
        0x03 => encoding >> 12 & 7 >= 4,
        _ => encoding & 3 == 0 && encoding >> 13 & 7 == 4 && encoding & 0x440 != 0x440,
    };
    Some(if unsigned { value as i64 } else { (value << unused) as i64 >> unused })
}

/// The last different addresses, without their low bits, the most recent first.
#[derive(Clone, Debug)]
struct History {
    shift: u32,
    recent: Vec<u64>,
    references: u64,
    /// References by their place in the list.
    hits: [u64; LONGEST],
}

impl History {
    fn new(shift: u32) -> Self {
        Self { shift, recent: Vec::with_capacity(LONGEST), references: 0, hits: [0; LONGEST] }
    }

    fn reference(&mut self, address: u64) {
        let address = address >> self.shift;
        self.references += 1;
        let place = self.recent.iter().position(|other| *other == address);
        if let Some(place) = place {
            self.hits[place] += 1;
            self.recent[..=place].rotate_right(1);
        } else {
            self.recent.truncate(LONGEST - 1);
            self.recent.insert(0, address);
        }
    }
}

/// Entropies of order 0 of consecutive blocks of values. A block that is not full at the end counts only if it is the first.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    size: usize,
    mask: u32,
    width: f64,
    values: Vec<u64>,
    /// Number of blocks.
    count: u64,
    /// Values in a block.
    filled: f64,
    least: f64,
    most: f64,
    sum: f64,
    /// Different values, of all blocks.
    different: u64,
}

impl Blocks {
    fn new(size: usize, mask: u32, xlen: Xlen) -> Self {
        let (values, width) = (Vec::with_capacity(size), f64::from(xlen.bits()));
        let (least, most) = (f64::INFINITY, 0.0);
        Self {
            size,
            mask,
            width,
            values,
            count: 0,
            filled: 0.0,
            least,
            most,
            sum: 0.0,
            different: 0,
        }
    }

    fn value(&mut self, value: u64) {
        self.values.push(value >> self.mask);
        if self.values.len() == self.size {
            self.block();
        }
    }

    fn finish(&mut self) {
        if self.count == 0 && !self.values.is_empty() {
            self.block();
        }
    }

    fn block(&mut self) {
        self.values.sort_unstable();
        let (mut different, mut sum) = (0, 0.0);
        for equal in self.values.chunk_by(|a, b| a == b) {
            different += 1;
            let count = equal.len() as f64;
            sum += count * count.log2();
        }
        self.filled = self.values.len() as f64;
        let entropy = self.filled.log2() - sum / self.filled;
        self.count += 1;
        self.least = self.least.min(entropy);
        self.most = self.most.max(entropy);
        self.sum += entropy;
        self.different += different;
        self.values.clear();
    }

    pub(super) fn least(&self) -> f64 {
        self.least
    }

    pub(super) fn most(&self) -> f64 {
        self.most
    }

    /// The mean entropy.
    pub(super) fn average(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Different values in a block, on average.
    pub(super) fn different(&self) -> f64 {
        self.different as f64 / self.count as f64
    }

    /// Uncompressed over compressed, as the source computes it: a value is sent whole when it is the first of its kind in a block, and
    /// otherwise in as many bits as the mean entropy says, and the low bits.
    pub(super) fn ratio(&self) -> f64 {
        let again = self.filled - self.different();
        let bits = again * (self.average() + f64::from(self.mask)) + self.width * self.different();
        self.width * self.filled / bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(encoding: u32, size: u8, value: u64) -> DataStep {
        let reference = Reference { address: 0, size, loaded: Some(value), stored: None };
        DataStep { pc: 0, encoding, reference: Some(reference), succeeded: None }
    }

    /// Half of the values of a block are 0, the others differ: the entropy is 0.5 + 0.5 * log2 N.
    #[test]
    fn entropy_of_a_known_distribution() {
        let mut blocks = Blocks::new(1 << 10, 0, Xlen::Rv32);
        (0..1024_u64).for_each(|number| blocks.value(number % 2 * number));
        // A second one of which all are equal.
        (0..1024).for_each(|_| blocks.value(7));
        blocks.value(9);
        blocks.finish();
        let entropy = 0.5 + 0.5 * 10.0;
        assert!((blocks.most() - entropy).abs() < 1e-9 && blocks.least() == 0.0);
        assert!((blocks.average() - entropy / 2.0).abs() < 1e-9 && blocks.count == 2);
        assert_eq!(blocks.different(), (513.0 + 1.0) / 2.0);
    }

    /// The ratios of the source follow from its entropies and numbers of values: adpcm_c with blocks of 1K, and of 128K with 4 low bits.
    #[test]
    fn ratios_of_the_source() {
        let ratio = |size, mask, average: f64, different| {
            let mut blocks = Blocks::new(size, mask, Xlen::Rv32);
            (blocks.filled, blocks.count, blocks.sum) = (size as f64, 1, average);
            blocks.different = different;
            blocks.ratio()
        };
        assert!((ratio(1 << 10, 0, 5.2, 174) - 3.28).abs() < 0.01);
        assert!((ratio(128 << 10, 4, 4.4, 93) - 3.82).abs() < 0.02);
    }

    /// Characters fit in 7 bits and -1 in any number; a byte that is not sign-extended needs 8.
    #[test]
    fn values_fit_as_in_registers() {
        let wanted = Wanted { sizes: true, ..Wanted::default() };
        let mut found = DataStatistics::new("any", Xlen::Rv64, wanted);
        let (lb, lbu, lw) = (0x0003, 0x4003, 0x2003);
        let clbu = 0x8000;
        for step in [
            loaded(lbu, 1, 0x7f),
            loaded(lb, 1, 0xff),
            loaded(lbu, 1, 0xff),
            loaded(clbu, 1, 0xff),
            loaded(lw, 4, 0xffff_ffff),
            loaded(lw, 4, 0x7fff_ffff),
        ] {
            found.step(&step);
        }
        let fitting: Vec<u64> = SIZES.map(|size| found.fitting(size)).collect();
        assert_eq!((found.loads, fitting), (6, vec![2, 2, 2, 3, 5, 5, 5, 5, 5]));
    }

    #[test]
    fn addresses_that_recur() {
        let wanted = Wanted { histories: true, ..Wanted::default() };
        let mut found = DataStatistics::new("any", Xlen::Rv64, wanted);
        // Round and round over 20 addresses, 8 bytes apart: in the last 32, but not in the last 16.
        for number in 0..200 {
            let mut step = loaded(0x3003, 8, 0);
            step.reference.as_mut().unwrap().address = 0x1000 + 8 * (number % 20);
            found.step(&step);
        }
        assert_eq!(found.hits(0, 16), Some((0, 200)));
        assert_eq!(found.hits(0, 32), Some((180, 200)));
        // Two of 16 bytes, of 10 lines in all.
        assert_eq!(found.hits(4, 16), Some((190, 200)));
        assert_eq!(found.hits(5, 16), None);
    }
}
