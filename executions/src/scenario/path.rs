//! Rows of the ingress port, and a check that they follow the code.

use super::code::{Code, wrap};
use hartrace_etrace::ingress::{CType, IType, Retired};
use hartrace_golden::isa::Flow;

/// A row of the ingress port.
#[derive(Clone, Debug)]
pub struct Row {
    /// The row itself.
    pub retired: Retired,
    /// The instructions that retire with it.
    pub instructions: Vec<u64>,
    /// For a trap, the instruction that does not retire, if the row contains it.
    pub epc: Option<u64>,
    /// Whether it must be in the trace.
    pub traced: bool,
}

/// The possible positions of the hart.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Next {
    Anywhere,
    At { from: u64, to: u64 },
}

/// Follows the rows of a scenario and rejects those that no hart can produce.
pub(crate) struct Path<'a> {
    code: &'a Code,
    next: Next,
    /// The instruction before the last one, for sequentially inferable jumps.
    before: Option<u64>,
}

impl<'a> Path<'a> {
    pub(crate) fn new(code: &'a Code) -> Self {
        Self { code, next: Next::Anywhere, before: None }
    }

    /// Follows the next row; an error states why it cannot occur here.
    pub(crate) fn step(&mut self, row: &Row) -> Result<(), String> {
        let retired = &row.retired;
        if retired.ctype == CType::AsynchronousDiscontinuity {
            self.next = Next::Anywhere;
        }
        if let Next::At { from, to } = self.next
            && to != retired.iaddr
        {
            return Err(format!("{from:x} is followed by {to:x}, not by {:x}", retired.iaddr));
        }
        self.next = Next::Anywhere;
        for address in &row.instructions {
            self.next = self.after(*address, retired.itype == IType::Taken, retired.sijump)?;
            self.before = Some(*address);
        }
        // A handler, or the debugger, may continue anywhere.
        if retired.itype.is_trap() || retired.halted || retired.reset {
            self.next = Next::Anywhere;
            self.before = None;
        }
        Ok(())
    }

    fn after(&self, from: u64, taken: bool, sijump: bool) -> Result<Next, String> {
        let Some(word) = self.code.get(from) else { return Ok(Next::Anywhere) };
        let insn = &word.insn;
        let sequence = from.wrapping_add(insn.size.into());
        let to = match insn.flow {
            Flow::Next => sequence,
            Flow::Branch(_) if !taken => sequence,
            Flow::Branch(offset) | Flow::Jump(offset) => from.wrapping_add_signed(offset),
            Flow::Absolute(address) => address as u64 & !1,
            Flow::Indirect { rs1, offset } if sijump => {
                let before = self.before.and_then(|a| Some((a, self.code.get(a)?)));
                match before.and_then(|(a, word)| Some((a, word.insn.constant?))) {
                    Some((at, constant)) if constant.rd == rs1 => {
                        let base = if constant.pc_relative { at } else { 0 };
                        base.wrapping_add_signed(constant.value).wrapping_add_signed(offset) & !1
                    }
                    _ => return Err(format!("{from:x} is not sequentially inferable")),
                }
            }
            Flow::Indirect { .. } | Flow::Memory | Flow::TrapReturn | Flow::Trap => {
                return Ok(Next::Anywhere);
            }
        };
        Ok(Next::At { from, to: wrap(to, self.code.xlen()) })
    }
}
