//! The commit log of a CVA6, as a table.

use crate::join::{Join, Step, Trap};
use crate::table::Table;
use crate::{Guesses, Row, SourceError};
use hartrace_etrace::ingress::Privilege;
use hartrace_isa::{Isa, Xlen};
use std::io::BufRead;

const HINT: &str = "a commit log with the columns cycle,event,pc,insn,priv,taken_ex,cause,tval";

/// Positions of the columns that are needed.
#[derive(Copy, Clone, Debug)]
struct Columns {
    cycle: usize,
    event: usize,
    pc: usize,
    insn: usize,
    privilege: usize,
    taken: usize,
    cause: usize,
    tval: usize,
}

/// Reads the rows of a commit log: one line per retired instruction (`R`), exception (`E`) and
/// interrupt (`I`). Numbers are hexadecimal except `cycle`, `priv` and `taken_ex`.
///
/// The log is complete: outcomes of branches are the core's own, and `cycles` counts from the
/// previous row. Entries to debug mode (`D`) are not supported.
#[derive(Debug)]
pub(crate) struct Cva6<R> {
    table: Table<R>,
    columns: Columns,
    xlen: Xlen,
    join: Join,
    cycle: Option<u64>,
    at_end: bool,
}

impl<R: BufRead> Cva6<R> {
    pub(crate) fn new(input: R, file: &str, xlen: Xlen) -> Result<Self, SourceError> {
        let table = Table::new(input, file, HINT)?;
        let columns = Columns {
            cycle: table.need("cycle")?,
            event: table.need("event")?,
            pc: table.need("pc")?,
            insn: table.need("insn")?,
            privilege: table.need("priv")?,
            taken: table.need("taken_ex")?,
            cause: table.need("cause")?,
            tval: table.need("tval")?,
        };
        let join = Join::new(Isa::new(xlen));
        Ok(Self { table, columns, xlen, join, cycle: None, at_end: false })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Row>, SourceError> {
        loop {
            if let Some(row) = self.join.take() {
                return Ok(Some(row));
            }
            if self.at_end {
                return Ok(None);
            }
            if self.table.advance()? {
                self.take_row()?;
            } else {
                self.at_end = true;
                self.join.end();
            }
        }
    }

    pub(crate) fn guesses(&self) -> Guesses {
        self.join.guesses
    }

    /// Clock cycles since the previous row.
    fn passed(&mut self) -> Result<u32, SourceError> {
        let cycle = self.table.decimal(self.columns.cycle, u64::MAX)?;
        let before = self.cycle.unwrap_or(cycle.saturating_sub(1));
        let passed = cycle
            .checked_sub(before)
            .ok_or_else(|| self.table.wrong(self.columns.cycle, "less than in the row before"))?;
        self.cycle = Some(cycle);
        Ok(passed.try_into().unwrap_or(u32::MAX))
    }

    fn take_row(&mut self) -> Result<(), SourceError> {
        let cycles = self.passed()?;
        let (table, columns) = (&self.table, &self.columns);
        let line = table.line();
        let pc = self.xlen.wrap(table.hexadecimal(columns.pc)?);
        let word = table.hexadecimal(columns.insn)? as u32;
        let privilege = Privilege(table.decimal(columns.privilege, 3)? as u8);
        let taken = Some(table.decimal(columns.taken, 1)? != 0);
        let cause = table.hexadecimal(columns.cause)?;
        let tval = self.xlen.wrap(table.hexadecimal(columns.tval)?);
        let interrupt = match table.text(columns.event) {
            "R" => {
                let interrupted = false;
                let step = Step { line, pc, word, privilege, cycles, taken, interrupted };
                self.join.step(step);
                return Ok(());
            }
            "E" => false,
            "I" => true,
            "D" => return Err(table.error("an entry to debug mode, which is not supported", HINT)),
            _ => return Err(table.wrong(columns.event, "none of R, E, I and D")),
        };
        // The highest bit repeats that it is an interrupt.
        let highest = 1 << (self.xlen.bits() - 1);
        self.join.trap(Trap {
            line,
            interrupt,
            cause: Some(cause & !highest),
            epc: pc,
            // For interrupts the column holds something else.
            tval: if interrupt { 0 } else { tval },
            privilege: Some(privilege),
            cycles,
        });
        Ok(())
    }
}
