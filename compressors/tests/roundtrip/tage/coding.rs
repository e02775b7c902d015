//! Sections 5 to 7: what is sent of predictions and of traps.

use super::predictor::{Parameters, Report, Sent, State, bits_of};

/// Section 7.1: the fields of a trap.
pub(super) fn trap_fields(instructions: u64, handler: Option<u64>, xlen: u32) -> Vec<u64> {
    let mut groups = vec![];
    let mut left = instructions;
    loop {
        groups.push(left % 16);
        left /= 16;
        if left == 0 {
            break;
        }
    }
    let mut bits = Vec::new();
    let last = groups.len() - 1;
    for (number, group) in groups.into_iter().enumerate() {
        if number < 15 {
            bits.push(u64::from(number < last));
        }
        bits.extend((0..4).rev().map(|bit| group >> bit & 1));
    }
    bits.push(u64::from(handler.is_some()));
    bits.extend(
        handler.into_iter().flat_map(|handler| (1..xlen).rev().map(move |bit| handler >> bit & 1)),
    );
    bits
}

/// Section 5: all packets, as records that are complete when the packet ends.
#[derive(Default)]
pub(super) struct Packets {
    pub(super) out: Vec<u64>,
    pub(super) s: [u32; 8],
    /// Right predictions of the open run, and its record.
    pub(super) open: [Option<(u64, usize)>; 8],
    pub(super) records: Vec<Vec<u64>>,
    pub(super) instructions: u64,
    /// The records of each packet that has ended, with a near address or the bit of a far one.
    pub(super) ended: Vec<Vec<u64>>,
}

impl Packets {
    pub(super) fn end(&mut self, trap: Option<Vec<u64>>) {
        self.out.push(u64::from(trap.is_some()));
        self.out.extend(trap.unwrap_or_default());
        let records: Vec<u64> = self.records.drain(..).flatten().collect();
        self.out.extend(&records);
        // As a mode, a packet in which nothing retires is not sent.
        if self.instructions > 0 {
            self.ended.push(records);
        }
        self.open = [None; 8];
        self.instructions = 0;
    }

    pub(super) fn start_record(&mut self, most: usize, bits: Vec<u64>) -> usize {
        if self.records.len() == most {
            self.end(None);
            self.instructions = 1;
        }
        self.records.push(bits);
        self.records.len() - 1
    }

    pub(super) fn report(&mut self, p: &Parameters, report: Report) {
        let class = report.class;
        let width = self.s[class] >> 2;
        let (right, record) = match self.open[class] {
            Some(open) => open,
            None => (0, self.start_record(p.records, vec![1])),
        };
        if report.wrong {
            self.records[record] = vec![0];
            self.records[record].extend((0..width).rev().map(|bit| right >> bit & 1));
            self.open[class] = None;
            self.s[class] = self.s[class].saturating_sub(1);
        } else if right + 1 == 1 << width {
            self.open[class] = None;
            self.s[class] = (self.s[class] + 1).min(43);
        } else {
            self.open[class] = Some((right + 1, record));
        }
        match report.target {
            Some(Sent::Place(place)) => {
                let mut bits = vec![1];
                bits.extend((0..p.targets.trailing_zeros()).rev().map(|bit| place >> bit & 1));
                self.start_record(p.records, bits);
            }
            Some(Sent::Address(address, could_be_place)) => {
                if could_be_place {
                    self.start_record(p.records, vec![0]);
                }
                self.end(None);
                self.out.extend(&address);
                let far = address[0] == 1;
                let bits = if far { &address[..1] } else { &address };
                self.ended.last_mut().expect("the packet").extend(bits);
            }
            None => {}
        }
    }
}

/// Section 6.
pub(super) struct Ranges {
    pub(super) out: Vec<u8>,
    pub(super) low: u64,
    pub(super) range: u64,
    pub(super) z: [u64; 28],
    pub(super) instructions: u64,
}

impl Ranges {
    pub(super) fn add(&mut self, more: u64) {
        self.low += more;
        if self.low >> 32 != 0 {
            self.low &= 0xffff_ffff;
            // The carry goes into what is out already.
            for byte in self.out.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }

    pub(super) fn widen(&mut self) {
        while self.range < 1 << 24 {
            self.out.push((self.low >> 24) as u8);
            self.low = self.low << 8 & 0xffff_ffff;
            self.range <<= 8;
        }
    }

    pub(super) fn bit(&mut self, context: usize, one: bool) {
        let y = (self.range >> 16) * self.z[context];
        let r = if context == 26 { 4 } else { 5 };
        if one {
            self.add(y);
            self.range -= y;
            self.z[context] -= self.z[context] >> r;
        } else {
            self.range = y;
            self.z[context] += (65_536 - self.z[context]) >> r;
        }
        self.widen();
    }

    pub(super) fn plain(&mut self, bits: Vec<u64>) {
        for bit in bits {
            self.range >>= 1;
            if bit != 0 {
                self.add(self.range);
            }
            self.widen();
        }
    }

    pub(super) fn report(&mut self, p: &Parameters, report: Report) {
        self.bit(26, false);
        self.bit(report.context, report.wrong);
        self.instructions = 0;
        match report.target {
            Some(Sent::Place(place)) => {
                self.bit(27, false);
                let width = p.targets.trailing_zeros();
                self.plain((0..width).rev().map(|bit| place >> bit & 1).collect());
            }
            Some(Sent::Address(address, could_be_place)) => {
                if could_be_place {
                    self.bit(27, true);
                }
                self.plain(address);
            }
            None => {}
        }
    }
}

pub(super) enum Coder {
    Packets(Packets),
    Ranges(Ranges),
}

impl Coder {
    pub(super) fn retire(&mut self) {
        match self {
            Self::Packets(packets) => packets.instructions += 1,
            Self::Ranges(ranges) => ranges.instructions += 1,
        }
    }

    pub(super) fn report(&mut self, p: &Parameters, report: Report) {
        match self {
            Self::Packets(packets) => packets.report(p, report),
            Self::Ranges(ranges) => ranges.report(p, report),
        }
    }

    /// Section 7.1: `at` is the address of the instruction that did not retire.
    pub(super) fn trap(&mut self, state: &mut State, at: u64, handler: u64, xlen: u32) {
        let other = Some(handler).filter(|handler| *handler != state.handler);
        match self {
            Self::Packets(packets) => {
                let fields = trap_fields(packets.instructions, other, xlen);
                packets.end(Some(fields));
            }
            Self::Ranges(ranges) => {
                ranges.bit(26, true);
                ranges.plain(trap_fields(ranges.instructions, other, xlen));
                ranges.instructions = 0;
            }
        }
        state.push(at);
        state.handler = handler;
    }

    /// All bits; and for section 5 the records of each packet.
    pub(super) fn end(self) -> (Vec<u64>, Vec<Vec<u64>>) {
        match self {
            Self::Packets(mut packets) => {
                packets.end(None);
                (packets.out, packets.ended)
            }
            Self::Ranges(mut ranges) => {
                ranges.bit(26, false);
                let low = ranges.low as u32;
                ranges.out.extend(low.to_be_bytes());
                let bits = |byte: &u8| bits_of(u64::from(*byte), 8).into_iter().rev();
                (ranges.out.iter().flat_map(bits).collect(), Vec::new())
            }
        }
    }
}
