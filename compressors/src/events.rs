//! Converts the rows of a hart into the events that schemes use: one instruction or trap at a time.

use crate::code::Cursor;
use crate::{Code, CompressError};
use hartrace_etrace::ingress::Retired;
use hartrace_isa::{Insn, Kind, Xlen};

/// What happened next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An instruction retired.
    Retired {
        pc: u64,
        insn: Insn,
        /// Where it leads; `None` if unknown: at the end of the trace, or because of a trap.
        next: Option<u64>,
    },
    /// Execution continues at `handler` instead of `epc`.
    Trap { epc: u64, handler: u64 },
}

/// Converts rows into events. An instruction is passed on once its successor is known, that is, with the
/// next row.
#[derive(Clone, Debug)]
pub(crate) struct Events<'a> {
    xlen: Xlen,
    code: Cursor<'a>,
    /// The instruction that has not been passed on yet.
    last: Option<(u64, Insn)>,
    /// A trap at this address, whose handler is not known.
    trap: Option<u64>,
    /// Traps that no instruction has followed yet; at the end they have no effect.
    unseen: Vec<Event>,
    /// Number of instructions.
    count: u64,
}

impl<'a> Events<'a> {
    pub(crate) fn new(code: &'a Code) -> Self {
        Self {
            xlen: code.xlen(),
            code: code.cursor(),
            last: None,
            trap: None,
            unseen: Vec::new(),
            count: 0,
        }
    }

    /// Number of instructions.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Adds the next row: one instruction or a block.
    pub(crate) fn push(
        &mut self,
        row: &Retired,
        take: &mut impl FnMut(Event) -> Result<(), CompressError>,
    ) -> Result<(), CompressError> {
        let is_trap = row.itype.is_trap();
        if row.iretire == 0 && !is_trap {
            return Ok(());
        }
        let xlen = self.xlen;
        let (mut pc, end) = (xlen.wrap(row.iaddr), xlen.wrap(row.next_address()));
        self.lead_to(pc, take)?;
        let mut left = row.iretire;
        while left > 0 {
            for trap in self.unseen.drain(..) {
                take(trap)?;
            }
            let insn = self
                .code
                .insn(pc)
                .map_err(|_| CompressError::NoCode { instruction: self.count, address: pc })?;
            left = left
                .checked_sub(u32::from(insn.size / 2))
                .filter(|_| insn.size >= 2)
                .ok_or(CompressError::OtherCode { instruction: self.count, address: pc })?;
            self.count += 1;
            let next = insn.next(xlen, pc);
            if left > 0 && insn.is_sequential() {
                take(Event::Retired { pc, insn, next: Some(next) })?;
            } else {
                self.last = Some((pc, insn));
                if left > 0 {
                    self.lead_to(next, take)?;
                }
            }
            pc = next;
        }
        if is_trap {
            self.close(take)?;
            self.trap = Some(end);
        }
        Ok(())
    }

    /// Passes on the last instruction, whose successor is unknown. A trap without a handler has no effect.
    pub(crate) fn close(
        &mut self,
        take: &mut impl FnMut(Event) -> Result<(), CompressError>,
    ) -> Result<(), CompressError> {
        match self.last.take() {
            Some((pc, insn)) => {
                let next = match insn.kind {
                    Kind::Branch { .. } => None,
                    _ => self.natural(pc, insn),
                };
                take(Event::Retired { pc, insn, next })
            }
            None => Ok(()),
        }
    }

    /// Passes on the last instruction, now that it is known to lead to `next`.
    fn lead_to(
        &mut self,
        next: u64,
        take: &mut impl FnMut(Event) -> Result<(), CompressError>,
    ) -> Result<(), CompressError> {
        if let Some(epc) = self.trap.take() {
            self.unseen.push(Event::Trap { epc, handler: next });
            return Ok(());
        }
        let Some((pc, insn)) = self.last.take() else { return Ok(()) };
        let xlen = self.xlen;
        let taken = insn.is_branch() && insn.target(xlen, pc) == Some(next);
        match self.natural(pc, insn) {
            Some(natural) if natural != next && !taken => {
                // The program cannot lead there: a reset, a debugger, or a missing part. The schemes treat
                // this as a trap, the only event that can lead anywhere.
                take(Event::Retired { pc, insn, next: Some(natural) })?;
                self.unseen.push(Event::Trap { epc: natural, handler: next });
                Ok(())
            }
            _ => take(Event::Retired { pc, insn, next: Some(next) }),
        }
    }

    /// Where an instruction leads unless it is a taken branch; `None` if the code does not determine it.
    fn natural(&self, pc: u64, insn: Insn) -> Option<u64> {
        let xlen = self.xlen;
        match insn.kind {
            Kind::Jump { .. } | Kind::AbsoluteJump { .. } => insn.target(xlen, pc),
            _ if insn.is_uninferable() => None,
            _ => Some(insn.next(xlen, pc)),
        }
    }
}
