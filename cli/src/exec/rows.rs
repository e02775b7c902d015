//! What a hart reports step by step, as rows of the ingress port: one per block.

use hartrace_ingress::{IType, Retired};
use hartrace_isa::{Isa, decode};
use hartrace_iss::Step;

/// Half-words after which a block is passed on even if nothing ends it.
const LONGEST: u32 = 1 << 10;

/// Makes blocks of steps.
pub(crate) struct Rows {
    isa: Isa,
    open: Option<Retired>,
    /// The step before, if an instruction retired in it.
    before: Option<Step>,
    /// Complete blocks.
    pub(crate) rows: Vec<Retired>,
    /// Instructions in them, and in the open one.
    pub(crate) instructions: u64,
}

impl Rows {
    pub(crate) fn new(isa: Isa) -> Self {
        Self { isa, open: None, before: None, rows: Vec::new(), instructions: 0 }
    }

    pub(crate) fn push(&mut self, step: &Step) {
        let mut row = step.retired();
        self.instructions += u64::from(row.iretire > 0);
        row.sijump = self.is_sequential(step);
        self.before = Some(*step).filter(|step| step.retires);
        match &mut self.open {
            Some(open)
                if row.iretire > 0
                    && open.next_address() == row.iaddr
                    && open.privilege == row.privilege =>
            {
                let (iaddr, iretire) = (open.iaddr, open.iretire + row.iretire);
                *open = Retired { iaddr, iretire, ..row };
            }
            _ => {
                self.close();
                self.open = Some(row);
            }
        }
        // A trap or jump ends its block; what traps instead of retiring is one by itself.
        let ends = row.itype != IType::None || row.iretire == 0;
        if ends || self.open.is_some_and(|open| open.iretire >= LONGEST) {
            self.close();
        }
    }

    /// Whether the step is a jump through a register that the instruction before it has loaded with
    /// a constant.
    fn is_sequential(&self, step: &Step) -> bool {
        let Some(before) = self.before.filter(|before| before.next_pc == step.pc) else {
            return false;
        };
        let constant = decode(self.isa, before.encoding);
        let jump = decode(self.isa, step.encoding);
        constant.zip(jump).is_some_and(|(constant, jump)| {
            before.pc + u64::from(before.size) == step.pc
                && jump.sequential_target(self.isa.xlen, constant, before.pc).is_some()
        })
    }

    /// Ends the open block.
    pub(crate) fn close(&mut self) {
        self.rows.extend(self.open.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_isa::Xlen;
    use hartrace_iss::{Hart, HartConfig, Range};

    /// The blocks of a program at 0x80000000.
    fn blocks(code: &[u32]) -> Rows {
        let memory = vec![Range { base: 0x8000_0000, size: 0x1000 }];
        let mut hart =
            Hart::new(HartConfig { reset_pc: 0x8000_0000, memory, ..Default::default() });
        let code: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(hart.write_memory(0x8000_0000, &code));
        let mut rows = Rows::new(Isa::new(Xlen::Rv64));
        hart.run(100, &mut |step: &Step| rows.push(step));
        rows.close();
        rows
    }

    #[test]
    fn a_block_ends_where_the_program_may_turn() {
        // nop, nop, beq x0,x0,.+8, (nop), auipc t0,0, jr t0+8, j .
        let rows = blocks(&[0x13, 0x13, 0x0000_0463, 0x13, 0x297, 0x0082_8067, 0x6f]);
        let found: Vec<_> = rows.rows.iter().map(|r| (r.iaddr, r.iretire, r.sijump)).collect();
        assert_eq!(
            found,
            [(0x8000_0000, 6, false), (0x8000_0010, 4, true), (0x8000_0018, 2, false)]
        );
        assert_eq!(rows.instructions, 6);
    }
}
