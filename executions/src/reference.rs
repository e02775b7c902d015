//! Encoder input of the reference flow: a table of the signals at the ingress port.

use crate::table::Table;
use crate::{Hint, Row, SourceError};
use hartrace_etrace::ingress::{Block, CType, Cycle, Flavour, IType, Privilege};
use hartrace_isa::Xlen;
use std::collections::VecDeque;
use std::io::BufRead;

/// The largest number of lanes in a row.
const LANES: usize = 4;

const HINT: &str = "a header row such as itype_0,cause,tval,priv,iaddr_0,iretire_0,ilastsize_0, and \
                    numbers below it";

/// How to interpret the columns.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Meaning {
    pub(crate) flavour: Flavour,
    pub(crate) xlen: Xlen,
}

/// Columns of one lane.
#[derive(Copy, Clone, Debug)]
struct Lane {
    itype: usize,
    iaddr: usize,
    iretire: usize,
    ilastsize: usize,
    sijump: Option<usize>,
}

/// Columns that all lanes share.
#[derive(Copy, Clone, Debug)]
struct Shared {
    cause: usize,
    tval: usize,
    privilege: usize,
    context: Option<usize>,
    ctype: Option<usize>,
    time: Option<usize>,
    trigger: Option<usize>,
    halted: Option<usize>,
    reset: Option<usize>,
    cycles: Option<usize>,
}

/// Reads the rows of a table, one at a time. Columns are found by name:
///
/// - for each lane `itype_0`, `iretire_0`, `ilastsize_0` (decimal), `iaddr_0` (hexadecimal) and
///   optionally `sijump_0`; up to `_3`,
/// - for all lanes `cause`, `priv` (decimal), `tval` (hexadecimal) and, optional and decimal,
///   `context`, `ctype`, `time`, `trigger` (bit 0 on, 1 off, 2+lane notify), `halted`, `reset`
///   (levels) and `cycles` (since the previous row).
#[derive(Debug)]
pub(crate) struct Reference<R> {
    table: Table<R>,
    lanes: Vec<Lane>,
    shared: Shared,
    meaning: Meaning,
    /// Blocks that were read but not returned: the last one waits for an idle row after it that may
    /// report that the hart halted.
    queue: VecDeque<Row>,
    at_end: bool,
    /// Cycles of idle rows, to be added to the next block.
    idle_cycles: u32,
    /// Whether an idle row switched tracing on.
    idle_on: bool,
}

impl<R: BufRead> Reference<R> {
    /// Reads the header row.
    pub(crate) fn new(input: R, file: &str, meaning: Meaning) -> Result<Self, SourceError> {
        let table = Table::new(input, file, HINT)?;
        let mut lanes = Vec::new();
        for lane in 0..LANES {
            if lane > 0 && table.find(&format!("itype_{lane}")).is_none() {
                break;
            }
            lanes.push(Lane {
                itype: table.need(&format!("itype_{lane}"))?,
                iaddr: table.need(&format!("iaddr_{lane}"))?,
                iretire: table.need(&format!("iretire_{lane}"))?,
                ilastsize: table.need(&format!("ilastsize_{lane}"))?,
                sijump: table.find(&format!("sijump_{lane}")),
            });
        }
        if table.find(&format!("itype_{LANES}")).is_some() {
            return Err(table.error(format_args!("more than {LANES} lanes"), HINT));
        }
        let shared = Shared {
            cause: table.need("cause")?,
            tval: table.need("tval")?,
            privilege: table.need("priv")?,
            context: table.find("context"),
            ctype: table.find("ctype"),
            time: table.find("time"),
            trigger: table.find("trigger"),
            halted: table.find("halted"),
            reset: table.find("reset"),
            cycles: table.find("cycles"),
        };
        Ok(Self {
            table,
            lanes,
            shared,
            meaning,
            queue: VecDeque::new(),
            at_end: false,
            idle_cycles: 0,
            idle_on: false,
        })
    }

    /// Returns the next block, or `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, SourceError> {
        while self.queue.len() < 2 && !self.at_end {
            if self.table.advance()? {
                self.take_row()?;
            } else {
                self.at_end = true;
            }
        }
        Ok(self.queue.pop_front())
    }

    /// Queues the blocks of the current row.
    fn take_row(&mut self) -> Result<(), SourceError> {
        let cycle = self.cycle()?;
        cycle.check().map_err(|error| {
            let other = match self.meaning.flavour {
                Flavour::Single => Flavour::Block,
                Flavour::Block => Flavour::Single,
            };
            self.table.error(error, Hint::Flavour(other))
        })?;
        let cycles = match self.shared.cycles {
            Some(column) => self.table.decimal(column, u32::MAX.into())? as u32,
            None => 1,
        };
        self.idle_cycles = self.idle_cycles.saturating_add(cycles);
        let mut blocks = cycle.blocks().peekable();
        if blocks.peek().is_none() {
            // Nothing retired: the signals apply to the previous block, or to the next one.
            if let Some(last) = self.queue.back_mut() {
                last.retired.halted |= cycle.halted;
                last.retired.reset |= cycle.reset;
                last.retired.trigger.off |= cycle.trigger_off;
            }
            self.idle_on = (self.idle_on || cycle.trigger_on) && !cycle.trigger_off;
            return Ok(());
        }
        for (index, mut retired) in blocks.enumerate() {
            retired.cycles = if index == 0 { std::mem::take(&mut self.idle_cycles) } else { 0 };
            retired.trigger.on |= index == 0 && std::mem::take(&mut self.idle_on);
            self.queue.push_back(Row::at(self.table.line(), retired));
        }
        Ok(())
    }

    fn cycle(&self) -> Result<Cycle<LANES>, SourceError> {
        let (table, shared) = (&self.table, &self.shared);
        let optional = |column: Option<usize>, max| match column {
            Some(column) => table.decimal(column, max),
            None => Ok(0),
        };
        let trigger = optional(shared.trigger, u64::MAX)?;
        let mut blocks = [Block::default(); LANES];
        for (lane, (block, columns)) in blocks.iter_mut().zip(&self.lanes).enumerate() {
            let code = table.decimal(columns.itype, u8::MAX.into())? as u8;
            let itype = IType::try_from(code).map_err(|error| table.wrong(columns.itype, error))?;
            *block = Block {
                itype,
                iaddr: self.address(columns.iaddr)?,
                iretire: table.decimal(columns.iretire, u32::MAX.into())? as u32,
                // Two bits: an instruction has at most 2^3 half-words.
                ilastsize: table.decimal(columns.ilastsize, 3)? as u8,
                sijump: optional(columns.sijump, 1)? == 1,
                notify: trigger >> (2 + lane) & 1 == 1,
            };
        }
        Ok(Cycle {
            flavour: self.meaning.flavour,
            blocks,
            cause: table.decimal(shared.cause, u64::MAX)?,
            tval: self.address(shared.tval)?,
            privilege: Privilege(table.decimal(shared.privilege, u8::MAX.into())? as u8),
            context: optional(shared.context, u64::MAX)?,
            ctype: CType::from_raw(optional(shared.ctype, 3)? as u8),
            time: optional(shared.time, u64::MAX)?,
            trigger_on: trigger & 1 == 1,
            trigger_off: trigger >> 1 & 1 == 1,
            halted: optional(shared.halted, 1)? == 1,
            reset: optional(shared.reset, 1)? == 1,
        })
    }

    /// Parses a hexadecimal address or trap value. For RV32 it may be sign-extended to 64 bits.
    fn address(&self, column: usize) -> Result<u64, SourceError> {
        let value = self.table.hexadecimal(column)?;
        let low = u64::from(value as u32);
        match self.meaning.xlen {
            Xlen::Rv32 if value == low || value == value as i32 as u64 => Ok(low),
            Xlen::Rv32 => {
                let error = self.table.wrong(column, "more than 32 bits");
                Err(SourceError { hint: Hint::Xlen(Xlen::Rv64), ..error })
            }
            Xlen::Rv64 => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_etrace::ingress::{Retired, Trigger};

    const SINGLE: Meaning = Meaning { flavour: Flavour::Single, xlen: Xlen::Rv64 };

    fn rows(text: &str, meaning: Meaning) -> Result<Vec<Row>, String> {
        let list = || {
            let mut rows = Reference::new(text.as_bytes(), "t.csv", meaning)?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(row);
            }
            Ok(all)
        };
        list().map_err(|error: SourceError| error.to_string())
    }

    fn error(text: &str, meaning: Meaning) -> String {
        rows(text, meaning).unwrap_err()
    }

    #[test]
    fn the_vectors_columns() {
        let text = "itype_0,cause,tval,priv,iaddr_0,context,ctype,sijump_0,iretire_0,ilastsize_0\n\
                    0,0,0,3,1000,0,0,0,1,1\n\
                    \n\
                    15,0,0,1, ffffffc0000002e8 ,7,2,1,1,0\r\n\
                    1,2,7b002073,3,80000042,0,0,0,0,1\n";
        let rows = rows(text, SINGLE).unwrap();
        assert_eq!(rows[0], Row::at(2, Retired::plain(0x1000)));
        let expected = Retired {
            itype: IType::OtherInferableJump,
            iretire: 1,
            ilastsize: 0,
            sijump: true,
            privilege: Privilege::S,
            context: 7,
            ctype: CType::Precise,
            ..Retired::plain(0xffff_ffc0_0000_02e8)
        };
        assert_eq!(rows[1], Row::at(4, expected));
        let trap = rows[2].retired;
        assert_eq!((trap.itype, trap.iretire), (IType::Exception, 0));
        assert_eq!((trap.cause, trap.tval), (2, 0x7b00_2073));
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn lanes_and_half_words() {
        let block = Meaning { flavour: Flavour::Block, ..SINGLE };
        let text = "itype_0,iaddr_0,iretire_0,ilastsize_0,itype_1,iaddr_1,iretire_1,ilastsize_1,\
                    cause,tval,priv,trigger\n\
                    0,1000,6,1,5,2000,2,1,0,0,3,8\n\
                    0,100c,2,1,0,0,0,0,0,0,3,0\n";
        let rows = rows(text, block).unwrap();
        let found: Vec<_> = rows
            .iter()
            .map(|row| (row.line, row.retired.iaddr, row.retired.iretire, row.retired.cycles))
            .collect();
        let expected = [(Some(2), 0x1000, 6, 1), (Some(2), 0x2000, 2, 0), (Some(3), 0x100c, 2, 1)];
        assert_eq!(found, expected);
        assert!(rows[1].retired.trigger.notify && !rows[0].retired.trigger.notify);
    }

    #[test]
    fn idle_rows_belong_to_their_neighbours() {
        let text = "itype_0,iaddr_0,iretire_0,ilastsize_0,cause,tval,priv,halted,trigger,cycles\n\
                    0,1000,1,1,0,0,3,0,0,1\n\
                    0,0,0,0,0,0,3,1,0,5\n\
                    0,0,0,0,0,0,3,0,1,5\n\
                    0,2000,1,1,0,0,3,0,0,2\n";
        let rows = rows(text, SINGLE).unwrap();
        assert_eq!(rows.len(), 2);
        assert!(rows[0].retired.halted && !rows[1].retired.halted);
        assert_eq!(rows[1].retired.trigger, Trigger { on: true, off: false, notify: false });
        assert_eq!((rows[0].retired.cycles, rows[1].retired.cycles), (1, 12));
    }

    #[test]
    fn narrow_addresses() {
        let text = "itype_0,iaddr_0,iretire_0,ilastsize_0,cause,tval,priv\n\
                    8,ffffffff80000000,1,1,0,0xffffffff,3\n";
        let meaning = Meaning { xlen: Xlen::Rv32, ..SINGLE };
        let row = rows(text, meaning).unwrap()[0].retired;
        assert_eq!((row.iaddr, row.tval), (0x8000_0000, 0xffff_ffff));
        let wide = "itype_0,iaddr_0,iretire_0,ilastsize_0,cause,tval,priv\n0,100000000,1,1,0,0,3\n";
        let error = error(wide, meaning);
        assert!(error.contains("more than 32 bits; try: RV64, if this is an RV64 run"), "{error}");
    }

    #[test]
    fn errors_say_where() {
        let header = "itype_0,iaddr_0,iretire_0,ilastsize_0,cause,tval,priv\n";
        let with = |row: &str| error(&format!("{header}0,1000,1,1,0,0,3\n{row}"), SINGLE);
        let text = with("0,10x0,1,1,0,0,3\n");
        let start = "t.csv:3, column 2: iaddr_0 `10x0`: not a hexadecimal number; try: ";
        assert!(text.starts_with(start), "{text}");
        assert!(with("7,0,1,1,0,0,3\n").contains("t.csv:3, column 1: itype_0 `7`: itype 7 is"));
        assert!(with("0,0,2,1,0,0,3\n").contains("try: block retirement"));
        assert!(with("0,0,1\n").contains("t.csv:3: 3 fields in a row, but 7 in the header"));
        assert!(with("0,0,1,4,0,0,3\n").contains("ilastsize_0 `4`: more than 3"));
        assert!(with("0,+10,1,1,0,0,3\n").contains("iaddr_0 `+10`: not a hexadecimal number"));
        assert!(with("0,0,+1,1,0,0,3\n").contains("iretire_0 `+1`: not a decimal number"));
        // The length of the last number is unknown.
        assert!(with("0,1000,1,1,0,0,3").contains("t.csv:3: ends within a line"));
        assert!(error("", SINGLE).contains("no column itype_0"));
        assert!(error("itype_0,iaddr_0\n", SINGLE).contains("no column iretire_0"));
    }
}
