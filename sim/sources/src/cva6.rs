//! The commit log of a CVA6, as CSV.

use crate::join::{Join, Step, Summary, Trap};
use crate::lines::{Lines, hex};
use crate::{Retired, SourceError};
use hartrace_ingress::Privilege;
use hartrace_isa::{Isa, Xlen};
use std::io::BufRead;
use std::ops::ControlFlow;

const HINT: &str = "a commit log with the columns cycle,event,pc,insn,priv,taken_ex,cause,tval";

/// The columns that are needed, by place.
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

impl Columns {
    fn new(header: &str) -> Result<Self, &'static str> {
        let find = |name: &'static str| {
            header.split(',').position(|column| column.trim() == name).ok_or(name)
        };
        Ok(Self {
            cycle: find("cycle")?,
            event: find("event")?,
            pc: find("pc")?,
            insn: find("insn")?,
            privilege: find("priv")?,
            taken: find("taken_ex")?,
            cause: find("cause")?,
            tval: find("tval")?,
        })
    }
}

/// Reads the commit log of a CVA6 of 64 bits: one row for each retired instruction (`R`), exception
/// (`E`) and interrupt (`I`), numbers in hexadecimal except `cycle`, `priv` and `taken_ex`.
///
/// Everything is known: outcomes of branches are the core's own, `cycles` are those since the row
/// before. Entries to debug mode (`D`) are not supported.
///
/// `file` is for messages.
pub fn cva6(
    input: impl BufRead,
    file: &str,
    sink: impl FnMut(&Retired) -> ControlFlow<()>,
) -> Result<Summary, SourceError> {
    let mut lines = Lines::new(input, file);
    if !lines.advance()? {
        return Err(lines.error("no header", HINT));
    }
    let columns = Columns::new(lines.text())
        .map_err(|name| lines.error(format!("no column {name}"), HINT))?;
    let mut join = Join::new(Isa::new(Xlen::Rv64), sink);
    let mut cycle = None;
    while lines.advance()? {
        let row = Row::parse(lines.text(), &columns).map_err(|what| lines.error(what, HINT))?;
        let passed = row.cycle.checked_sub(cycle.unwrap_or(row.cycle.saturating_sub(1)));
        let passed = passed.ok_or_else(|| lines.error("cycle runs backwards", HINT))?;
        cycle = Some(row.cycle);
        if row.feed(passed.try_into().unwrap_or(u32::MAX), &mut join).is_break() {
            join.summary.stopped = true;
            return Ok(join.summary);
        }
    }
    join.summary.stopped = join.end().is_break();
    Ok(join.summary)
}

#[derive(Copy, Clone, Debug)]
enum Event {
    Retired,
    Exception,
    Interrupt,
}

#[derive(Copy, Clone, Debug)]
struct Row {
    cycle: u64,
    event: Event,
    pc: u64,
    insn: u32,
    privilege: Privilege,
    taken: bool,
    cause: u64,
    tval: u64,
}

impl Row {
    fn parse(text: &str, columns: &Columns) -> Result<Self, String> {
        let field = |column: usize| text.split(',').nth(column).map(str::trim).unwrap_or_default();
        let number = |name: &str, column: usize, value: Option<u64>| {
            value.ok_or_else(|| format!("{name} `{}` is not a number", field(column)))
        };
        let decimal = |name, column| number(name, column, field(column).parse().ok());
        let hexadecimal = |name, column| number(name, column, hex(field(column)));
        let event = match field(columns.event) {
            "R" => Event::Retired,
            "E" => Event::Exception,
            "I" => Event::Interrupt,
            "D" => return Err("an entry to debug mode, which is not supported".into()),
            other => return Err(format!("event `{other}` is none of R, E, I and D")),
        };
        Ok(Self {
            cycle: decimal("cycle", columns.cycle)?,
            event,
            pc: hexadecimal("pc", columns.pc)?,
            insn: hexadecimal("insn", columns.insn)? as u32,
            privilege: Privilege(decimal("priv", columns.privilege)? as u8 & 3),
            taken: decimal("taken_ex", columns.taken)? != 0,
            cause: hexadecimal("cause", columns.cause)?,
            tval: hexadecimal("tval", columns.tval)?,
        })
    }

    fn feed<S>(&self, cycles: u32, join: &mut Join<S>) -> ControlFlow<()>
    where
        S: FnMut(&Retired) -> ControlFlow<()>,
    {
        let (pc, privilege) = (self.pc, self.privilege);
        let interrupt = match self.event {
            Event::Retired => {
                let (word, taken) = (self.insn, Some(self.taken));
                return join.step(Step { pc, word, privilege, cycles, taken });
            }
            Event::Exception => false,
            Event::Interrupt => true,
        };
        join.trap(Trap {
            interrupt,
            // The highest bit says again that it is an interrupt.
            cause: self.cause & !(1 << 63),
            epc: pc,
            // On interrupts the column holds something else.
            tval: if interrupt { 0 } else { self.tval },
            privilege: Some(privilege),
            cycles,
        })
    }
}
