//! Rows of a hart, as what the schemes look at: one instruction or trap after the other.

use crate::code::Cursor;
use crate::{Code, CompressError};
use hartrace_ingress::Retired;
use hartrace_isa::{Insn, Kind, Xlen};

/// What happened next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An instruction retired.
    Retired {
        pc: u64,
        insn: Insn,
        /// Where it leads; `None` where nobody saw it: at the end of the trace, or because of a trap.
        next: Option<u64>,
    },
    /// Execution goes on at `handler` instead of `epc`.
    Trap { epc: u64, handler: u64 },
}

/// Makes events of rows. An instruction is passed on when it is known where it leads, so with the row
/// behind it.
#[derive(Clone, Debug)]
pub(crate) struct Events<'a> {
    xlen: Xlen,
    code: Cursor<'a>,
    /// The instruction that has not been passed on.
    last: Option<(u64, Insn)>,
    /// A trap at this address, whose handler is not known.
    trap: Option<u64>,
    /// Traps that no instruction has followed yet: at the end they are of no consequence.
    unseen: Vec<Event>,
    /// Instructions taken.
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

    /// Instructions taken.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Takes the next row, of one instruction or of a block.
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

    /// Passes on the last instruction; nobody knows where it leads. A trap without a handler is of no
    /// consequence.
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

    /// Passes on what was last, now that it is known to lead to `next`.
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
                // Nothing in the program leads there: a reset, a debugger, a part that is missing. For the
                // schemes it is a trap, the only thing that may lead anywhere.
                take(Event::Retired { pc, insn, next: Some(natural) })?;
                self.unseen.push(Event::Trap { epc: natural, handler: next });
                Ok(())
            }
            _ => take(Event::Retired { pc, insn, next: Some(next) }),
        }
    }

    /// Where an instruction leads unless it is a branch that is taken; `None` if the code does not say.
    fn natural(&self, pc: u64, insn: Insn) -> Option<u64> {
        let xlen = self.xlen;
        match insn.kind {
            Kind::Jump { .. } | Kind::AbsoluteJump { .. } => insn.target(xlen, pc),
            _ if insn.is_uninferable() => None,
            _ => Some(insn.next(xlen, pc)),
        }
    }
}
