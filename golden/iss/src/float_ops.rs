//! Floating-point instructions: registers, boxing, rounding modes and flags around [`crate::float`].

use crate::float::{self, DOUBLE, Format, Int, Round, SINGLE};
use crate::hart::Hart;
use crate::integer::word;
use crate::op::{FloatOp, Op};
use crate::privileged::status;
use crate::stop::Stop;

/// The upper half of a register that holds a single.
const BOX: u64 = 0xffff_ffff_0000_0000;

impl Hart {
    pub(crate) fn set_single(&mut self, rd: u8, value: u64) {
        self.set_double(rd, BOX | value);
    }

    pub(crate) fn set_double(&mut self, rd: u8, value: u64) {
        self.f[(rd & 31) as usize] = value;
        self.csr.mstatus |= status::FS;
    }

    /// An operand; a single that is not boxed counts as NaN.
    fn operand(&self, register: u8, format: Format) -> u64 {
        let value = self.f[(register & 31) as usize];
        match value & BOX {
            _ if format == DOUBLE => value,
            BOX => value & !BOX,
            _ => format.nan(),
        }
    }

    /// The rounding mode of an instruction; `None` if it is reserved.
    fn rounding(&self, op: Op) -> Option<Round> {
        match (op.encoding >> 12 & 7) as u8 {
            7 => Round::from_raw(self.csr.frm),
            raw => Round::from_raw(raw),
        }
    }

    pub(crate) fn float_operation(
        &mut self,
        which: FloatOp,
        double: bool,
        op: Op,
    ) -> Result<(), Stop> {
        use FloatOp::*;
        let format = if double { DOUBLE } else { SINGLE };
        let (a, b) = (self.operand(op.rs1, format), self.operand(op.rs2, format));
        let c = self.operand((op.encoding >> 27) as u8, format);
        let sign = format.sign();
        let mut flags = 0;
        let rounding = || self.rounding(op).ok_or_else(|| Stop::illegal(op));
        let raw = self.f[(op.rs1 & 31) as usize];
        let integer = Int { bits: if op.rs2 < 2 { 32 } else { 64 }, signed: op.rs2 & 1 == 0 };
        let result = match which {
            Add => float::add(format, a, b, rounding()?, &mut flags),
            Sub => {
                // Changing its sign leaves a NaN a NaN.
                float::add(format, a, b ^ sign, rounding()?, &mut flags)
            }
            Mul => float::mul(format, a, b, rounding()?, &mut flags),
            Div => float::div(format, a, b, rounding()?, &mut flags),
            Sqrt => float::sqrt(format, a, rounding()?, &mut flags),
            MulAdd => float::mul_add(format, [a, b, c], rounding()?, &mut flags),
            MulSub => float::mul_add(format, [a, b, c ^ sign], rounding()?, &mut flags),
            NegMulSub => float::mul_add(format, [a ^ sign, b, c], rounding()?, &mut flags),
            NegMulAdd => float::mul_add(format, [a ^ sign, b, c ^ sign], rounding()?, &mut flags),
            SignCopy => a & !sign | b & sign,
            SignNot => a & !sign | !b & sign,
            SignXor => a ^ b & sign,
            Min => float::min(format, a, b, &mut flags),
            Max => float::max(format, a, b, &mut flags),
            Resize => {
                let from = if double { SINGLE } else { DOUBLE };
                let source = self.operand(op.rs1, from);
                float::resize(from, format, source, rounding()?, &mut flags)
            }
            FromInt => {
                let round = rounding()?;
                float::from_int(format, self.reg(op.rs1), integer, round, &mut flags)
            }
            MoveFromInt if double => self.reg(op.rs1),
            MoveFromInt => self.reg(op.rs1) & !BOX,
            Equal => float::equal(format, a, b, &mut flags).into(),
            Less => float::less(format, a, b, false, &mut flags).into(),
            LessEqual => float::less(format, a, b, true, &mut flags).into(),
            Class => float::classify(format, a),
            ToInt => float::to_int(format, a, integer, rounding()?, &mut flags),
            MoveToInt if double => raw,
            MoveToInt => word(raw),
        };
        if flags != 0 {
            self.csr.fflags |= flags;
            self.csr.mstatus |= status::FS;
        }
        match which {
            Equal | Less | LessEqual | Class | ToInt | MoveToInt => self.set(op.rd, result),
            _ if double => self.set_double(op.rd, result),
            _ => self.set_single(op.rd, result),
        }
        Ok(())
    }
}
