//! Rows from the steps of a simulated hart.

use hartrace_etrace::ingress::{CType, Retired};
use hartrace_isa::{Isa, decode};
use hartrace_iss::Step;

/// Converts each step into a row.
#[derive(Clone, Debug)]
pub struct Steps {
    isa: Isa,
    /// The previous step, if an instruction retired in it.
    before: Option<Step>,
    context: u64,
}

impl Steps {
    /// Creates a converter before the first step.
    pub fn new(isa: Isa) -> Self {
        Self { isa, before: None, context: 0 }
    }

    /// Converts the next step into a row, which includes whether it is a sequentially inferable
    /// jump.
    pub fn row(&mut self, step: &Step) -> Retired {
        let sijump = self.is_sequential(step);
        self.before = Some(*step).filter(|step| step.retires);
        let changed = std::mem::replace(&mut self.context, step.context) != step.context;
        let ctype = if changed { CType::Precise } else { CType::Unreported };
        Retired { sijump, ctype, ..step.retired() }
    }

    /// Whether the step is a jump through a register that the previous instruction loaded with a
    /// constant.
    fn is_sequential(&self, step: &Step) -> bool {
        let Some(before) = self.before.filter(|before| before.next_pc == step.pc) else {
            return false;
        };
        let constant = decode(self.isa, before.encoding);
        let jump = decode(self.isa, step.encoding);
        constant.zip(jump).is_some_and(|(constant, jump)| {
            before.pc.wrapping_add(before.size.into()) == step.pc
                && jump.sequential_target(self.isa.xlen, constant, before.pc).is_some()
        })
    }
}

/// Returns the half-words that `rows` retire, a measure of progress.
pub fn half_words(rows: &[Retired]) -> u64 {
    rows.iter().map(|row| u64::from(row.iretire)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executed::Port;
    use hartrace_isa::Xlen;
    use hartrace_iss::{Hart, HartConfig, Range};

    #[test]
    fn a_block_ends_where_the_program_may_turn() {
        // nop, nop, beq x0,x0,.+8, (nop), auipc t0,0, jr t0+8, j .
        let code = [0x13, 0x13, 0x0000_0463, 0x13, 0x297, 0x0082_8067, 0x6f_u32];
        let memory = vec![Range { base: 0x8000_0000, size: 0x1000 }];
        let mut hart =
            Hart::new(HartConfig { reset_pc: 0x8000_0000, memory, ..Default::default() });
        let code: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(hart.write_memory(0x8000_0000, &code));
        let mut steps = Steps::new(Isa::new(Xlen::Rv64));
        let mut cycles = Port::blocks(1 << 10).cycles();
        let mut count = 0;
        hart.run(100, &mut |step: &Step| {
            count += 1;
            cycles.push(&steps.row(step));
        });
        cycles.close();
        let found: Vec<_> = cycles.rows.iter().map(|r| (r.iaddr, r.iretire, r.sijump)).collect();
        assert_eq!(
            found,
            [(0x8000_0000, 6, false), (0x8000_0010, 4, true), (0x8000_0018, 2, false)]
        );
        assert_eq!(count, 6);
    }
}
