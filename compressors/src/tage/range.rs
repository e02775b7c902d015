//! A binary range coder: every prediction costs as much as it is surprising for the state of its counters.

use super::records::{Class, Layout, Read, Trap, Write, get_address, put_address};
use crate::{BitSource, Bits, DecodeError, Fault};

/// Contexts for predictions, then one for traps and one for targets that are not in the cache.
pub(super) const CONTEXTS: usize = Class::CONTEXTS + 2;
const TRAP: usize = Class::CONTEXTS;
const ABSENT: usize = Class::CONTEXTS + 1;
/// The probability of a zero before anything is known, of 65,536.
const FIRST: u32 = 0xe000;

/// The probabilities of a zero in each context.
#[derive(Clone, Debug)]
struct Model([u32; CONTEXTS]);

impl Model {
    const NEW: Self = Self([FIRST; CONTEXTS]);

    /// The part of an interval for a zero.
    fn zero(&self, context: usize, range: u32) -> u32 {
        (range >> 16) * self.0[context]
    }

    fn learn(&mut self, context: usize, one: bool) {
        // Traps are rarer than anything else, and come together.
        let shift = if context == TRAP { 4 } else { 5 };
        let zero = &mut self.0[context];
        *zero = if one { *zero - (*zero >> shift) } else { *zero + ((0x1_0000 - *zero) >> shift) };
    }
}

/// Below this an interval is made wider.
const NARROW: u32 = 1 << 24;

/// Writes a part of a trace.
#[derive(Clone, Debug)]
pub(super) struct RangeWriter {
    layout: Layout,
    model: Model,
    /// The lower end of the interval: a carry and 32 bits.
    low: u64,
    range: u32,
    /// A byte that a carry may still change, and the number of bytes of ones after it.
    held: Option<u8>,
    ones: u64,
    /// Instructions since the last prediction or trap.
    instructions: u64,
}

impl RangeWriter {
    fn bit(&mut self, context: usize, one: bool, out: &mut Bits) {
        let zero = self.model.zero(context, self.range);
        self.model.learn(context, one);
        if one {
            self.low += u64::from(zero);
            self.range -= zero;
        } else {
            self.range = zero;
        }
        self.widen(out);
    }

    /// Writes bits that are as often one as zero.
    fn bits(&mut self, value: u64, width: u32, out: &mut Bits) {
        for at in (0..width).rev() {
            self.range >>= 1;
            if value >> at & 1 != 0 {
                self.low += u64::from(self.range);
            }
            self.widen(out);
        }
    }

    fn widen(&mut self, out: &mut Bits) {
        while self.range < NARROW {
            self.range <<= 8;
            self.shift(out);
        }
    }

    /// Moves the highest byte out.
    fn shift(&mut self, out: &mut Bits) {
        let (carry, highest) = ((self.low >> 32) as u8, (self.low >> 24) as u8);
        if carry == 0 && highest == 0xff {
            self.ones += 1;
        } else {
            if let Some(held) = self.held {
                out.put(held.wrapping_add(carry).into(), 8);
            }
            let after = 0xff_u8.wrapping_add(carry);
            (0..std::mem::take(&mut self.ones)).for_each(|_| out.put(after.into(), 8));
            self.held = Some(highest);
        }
        self.low = (self.low & 0xff_ffff) << 8;
    }
}

impl Write for RangeWriter {
    fn new(layout: Layout) -> Self {
        let (low, range, held, ones, instructions) = (0, u32::MAX, None, 0, 0);
        Self { layout, model: Model::NEW, low, range, held, ones, instructions }
    }

    fn start(&mut self, pc: u64, out: &mut Bits) {
        self.bits(pc >> 1, self.layout.xlen - 1, out);
    }

    fn retire(&mut self) {
        self.instructions += 1;
    }

    fn decide(&mut self, class: Class, wrong: bool, out: &mut Bits) {
        self.bit(TRAP, false, out);
        self.bit(class.context(), wrong, out);
        self.instructions = 0;
    }

    fn place(&mut self, place: usize, out: &mut Bits) {
        self.bit(ABSENT, false, out);
        self.bits(place as u64, self.layout.place_bits, out);
    }

    fn address(&mut self, may_be_cached: bool, pc: u64, to: u64, out: &mut Bits) {
        if may_be_cached {
            self.bit(ABSENT, true, out);
        }
        put_address(pc, to, self.layout.xlen, |value, width| self.bits(value, width, out));
    }

    fn trap(&mut self, handler: Option<u64>, out: &mut Bits) {
        self.bit(TRAP, true, out);
        let trap = Trap { instructions: self.instructions, handler };
        trap.put(self.layout.xlen, |value, width| self.bits(value, width, out));
        self.instructions = 0;
    }

    /// No trap follows, and the four bytes of the lower end determine the interval.
    fn end(&mut self, out: &mut Bits) {
        self.bit(TRAP, false, out);
        (0..5).for_each(|_| self.shift(out));
    }
}

/// Reads a part of a trace.
#[derive(Clone, Debug)]
pub(super) struct RangeReader {
    layout: Layout,
    model: Model,
    range: u32,
    /// The distance of the value from the lower end of the interval.
    value: u32,
    trap: Option<Trap>,
}

impl RangeReader {
    fn bit(&mut self, context: usize, from: &mut BitSource<'_>) -> Result<bool, DecodeError> {
        let zero = self.model.zero(context, self.range);
        let one = self.value >= zero;
        self.model.learn(context, one);
        if one {
            self.value -= zero;
            self.range -= zero;
        } else {
            self.range = zero;
        }
        self.widen(from)?;
        Ok(one)
    }

    fn bits(&mut self, width: u32, from: &mut BitSource<'_>) -> Result<u64, DecodeError> {
        let mut bits = 0;
        for _ in 0..width {
            self.range >>= 1;
            let one = self.value >= self.range;
            if one {
                self.value -= self.range;
            }
            bits = bits << 1 | u64::from(one);
            self.widen(from)?;
        }
        Ok(bits)
    }

    fn widen(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError> {
        if self.value >= self.range {
            return Err(from.error(Fault::Malformed("a value is outside of its interval")));
        }
        while self.range < NARROW {
            self.range <<= 8;
            self.value = self.value << 8 | from.get(8)? as u32;
        }
        Ok(())
    }
}

impl Read for RangeReader {
    fn start(layout: Layout, from: &mut BitSource<'_>) -> Result<(Self, u64), DecodeError> {
        let value = from.get(32)? as u32;
        let mut reader = Self { layout, model: Model::NEW, range: u32::MAX, value, trap: None };
        let pc = reader.bits(layout.xlen - 1, from)? << 1;
        reader.settle(from)?;
        Ok((reader, pc))
    }

    fn trap(&mut self) -> &mut Option<Trap> {
        &mut self.trap
    }

    fn resume(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError> {
        self.settle(from)
    }

    fn decide(&mut self, class: Class, from: &mut BitSource<'_>) -> Result<bool, DecodeError> {
        self.end(from)?;
        self.bit(class.context(), from)
    }

    fn place(&mut self, from: &mut BitSource<'_>) -> Result<Option<usize>, DecodeError> {
        if self.bit(ABSENT, from)? {
            return Ok(None);
        }
        Ok(Some(self.bits(self.layout.place_bits, from)? as usize))
    }

    fn address(&mut self, pc: u64, from: &mut BitSource<'_>) -> Result<u64, DecodeError> {
        get_address(pc, self.layout.xlen, |width| self.bits(width, from))
    }

    /// Reads whether a trap comes before the next prediction.
    fn settle(&mut self, from: &mut BitSource<'_>) -> Result<(), DecodeError> {
        self.trap = match self.bit(TRAP, from)? {
            true => {
                let xlen = self.layout.xlen;
                Some(Trap::get(xlen, |width| self.bits(width, from))?)
            }
            false => None,
        };
        Ok(())
    }

    fn end(&self, from: &BitSource<'_>) -> Result<(), DecodeError> {
        match self.trap {
            Some(_) => Err(from.error(Fault::Malformed("a trap does not come where it must"))),
            None => Ok(()),
        }
    }
}
