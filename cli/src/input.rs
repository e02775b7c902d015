//! Encoder input: rows of a CSV file, as a stream.

use crate::failure::Failure;
use hartrace_ingress::{Block, CType, Cycle, Flavour, IType, ITypeWidth, Privilege, Retired};
use hartrace_isa::Xlen;
use std::collections::VecDeque;
use std::io::Read;

/// The most lanes a row may have.
const LANES: usize = 4;

/// How to understand the columns.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Meaning {
    pub(crate) flavour: Flavour,
    pub(crate) itype_width: ITypeWidth,
    pub(crate) xlen: Xlen,
}

/// One block of a row.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Line of the file, 1 for the header.
    pub(crate) line: u64,
    pub(crate) retired: Retired,
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

/// Columns all lanes share.
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

/// The rows of a file, one at a time.
pub(crate) struct Rows<R> {
    reader: csv::Reader<R>,
    record: csv::ByteRecord,
    names: Vec<String>,
    lanes: Vec<Lane>,
    shared: Shared,
    meaning: Meaning,
    file: String,
    /// Blocks read but not handed out: the last one waits for an idle row behind it that says that
    /// the hart halted.
    queue: VecDeque<Row>,
    at_end: bool,
    /// Cycles of idle rows, to be counted with the next block.
    idle_cycles: u32,
    /// An idle row switched tracing on.
    idle_on: bool,
}

impl<R: Read> Rows<R> {
    /// Reads the header row of `file`.
    pub(crate) fn new(reader: R, file: String, meaning: Meaning) -> Result<Self, Failure> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(reader);
        let names: Vec<String> = match reader.byte_headers() {
            Ok(header) => header.iter().map(|n| String::from_utf8_lossy(n).into_owned()).collect(),
            Err(error) => return Err(broken(&file, &error)),
        };
        let find = |name: &str| names.iter().position(|n| n == name);
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                Failure::input(format_args!("no column {name}")).at(format_args!("{file}:1")).hint(
                    "a header row such as itype_0,cause,tval,priv,iaddr_0,iretire_0,ilastsize_0",
                )
            })
        };
        let mut lanes = Vec::new();
        for lane in 0..LANES {
            if lane > 0 && find(&format!("itype_{lane}")).is_none() {
                break;
            }
            lanes.push(Lane {
                itype: need(&format!("itype_{lane}"))?,
                iaddr: need(&format!("iaddr_{lane}"))?,
                iretire: need(&format!("iretire_{lane}"))?,
                ilastsize: need(&format!("ilastsize_{lane}"))?,
                sijump: find(&format!("sijump_{lane}")),
            });
        }
        if find(&format!("itype_{LANES}")).is_some() {
            return Err(Failure::input(format_args!("more than {LANES} lanes")).at(file));
        }
        let shared = Shared {
            cause: need("cause")?,
            tval: need("tval")?,
            privilege: need("priv")?,
            context: find("context"),
            ctype: find("ctype"),
            time: find("time"),
            trigger: find("trigger"),
            halted: find("halted"),
            reset: find("reset"),
            cycles: find("cycles"),
        };
        Ok(Self {
            reader,
            record: csv::ByteRecord::new(),
            names,
            lanes,
            shared,
            meaning,
            file,
            queue: VecDeque::new(),
            at_end: false,
            idle_cycles: 0,
            idle_on: false,
        })
    }

    /// The next block; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, Failure> {
        while self.queue.len() < 2 && !self.at_end {
            let more = self.reader.read_byte_record(&mut self.record);
            if more.map_err(|error| broken(&self.file, &error))? {
                self.take_record()?;
            } else {
                self.at_end = true;
            }
        }
        Ok(self.queue.pop_front())
    }

    /// Queues the blocks of the current record.
    fn take_record(&mut self) -> Result<(), Failure> {
        let line = self.record.position().map_or(0, csv::Position::line);
        let cycle = self.cycle()?;
        cycle.check().map_err(|error| {
            let failure = Failure::input(error).at(format_args!("{}:{line}", self.file));
            match self.meaning.flavour {
                Flavour::Single => failure.hint("--retirement block, if iretire counts half-words"),
                Flavour::Block => failure.hint("--retirement single, if iretire is 0 or 1"),
            }
        })?;
        let cycles = match self.shared.cycles {
            Some(column) => self.decimal(column, u32::MAX.into())? as u32,
            None => 1,
        };
        self.idle_cycles = self.idle_cycles.saturating_add(cycles);
        let mut blocks = cycle.blocks().peekable();
        if blocks.peek().is_none() {
            // Nothing retired: what the hart says concerns the block before, or the next one.
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
            self.queue.push_back(Row { line, retired });
        }
        Ok(())
    }

    fn cycle(&self) -> Result<Cycle<LANES>, Failure> {
        let shared = &self.shared;
        let optional = |column: Option<usize>, max| match column {
            Some(column) => self.decimal(column, max),
            None => Ok(0),
        };
        let trigger = optional(shared.trigger, u64::MAX)?;
        let mut blocks = [Block::default(); LANES];
        for (lane, (block, columns)) in blocks.iter_mut().zip(&self.lanes).enumerate() {
            let code = self.decimal(columns.itype, u8::MAX.into())? as u8;
            let itype = IType::try_from(code).map_err(|error| self.wrong(columns.itype, error))?;
            *block = Block {
                itype: match self.meaning.itype_width {
                    ITypeWidth::Three => itype.narrow(),
                    ITypeWidth::Four => itype,
                },
                iaddr: self.address(columns.iaddr)?,
                iretire: self.decimal(columns.iretire, u32::MAX.into())? as u32,
                // Two bits: an instruction has at most 2^3 half-words.
                ilastsize: self.decimal(columns.ilastsize, 3)? as u8,
                sijump: optional(columns.sijump, 1)? == 1,
                notify: trigger >> (2 + lane) & 1 == 1,
            };
        }
        Ok(Cycle {
            flavour: self.meaning.flavour,
            blocks,
            cause: self.decimal(shared.cause, u64::MAX)?,
            tval: self.address(shared.tval)?,
            privilege: Privilege(self.decimal(shared.privilege, u8::MAX.into())? as u8),
            context: optional(shared.context, u64::MAX)?,
            ctype: CType::from_raw(optional(shared.ctype, 3)? as u8),
            time: optional(shared.time, u64::MAX)?,
            trigger_on: trigger & 1 == 1,
            trigger_off: trigger >> 1 & 1 == 1,
            halted: optional(shared.halted, 1)? == 1,
            reset: optional(shared.reset, 1)? == 1,
        })
    }

    fn text(&self, column: usize) -> &str {
        let field = self.record.get(column).unwrap_or_default();
        std::str::from_utf8(field).unwrap_or("?")
    }

    fn decimal(&self, column: usize, max: u64) -> Result<u64, Failure> {
        match self.text(column).parse() {
            Ok(value) if value <= max => Ok(value),
            Ok(_) => Err(self.wrong(column, format_args!("more than {max}"))),
            Err(_) => Err(self.wrong(column, "not a decimal number")),
        }
    }

    /// A hexadecimal address or trap value. For RV32 it may be sign-extended to 64 bits.
    fn address(&self, column: usize) -> Result<u64, Failure> {
        let text = self.text(column);
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let value = u64::from_str_radix(digits, 16)
            .map_err(|_| self.wrong(column, "not a hexadecimal number"))?;
        let low = u64::from(value as u32);
        match self.meaning.xlen {
            Xlen::Rv32 if value == low || value == value as i32 as u64 => Ok(low),
            Xlen::Rv32 => {
                let failure = self.wrong(column, "more than 32 bits");
                Err(failure.hint("--xlen 64, if this is an RV64 run"))
            }
            Xlen::Rv64 => Ok(value),
        }
    }

    /// A field that is not what its column needs.
    fn wrong(&self, column: usize, why: impl std::fmt::Display) -> Failure {
        let line = self.record.position().map_or(0, csv::Position::line);
        let name = self.names.get(column).map_or("?", String::as_str);
        Failure::input(format_args!("{name} `{}`: {why}", self.text(column))).at(format_args!(
            "{}:{line}, column {}",
            self.file,
            column + 1
        ))
    }
}

fn broken(file: &str, error: &csv::Error) -> Failure {
    let what = match error.kind() {
        csv::ErrorKind::Io(error) => format!("cannot read: {error}"),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields in a row, but {expected_len} in the header")
        }
        _ => error.to_string(),
    };
    match error.position() {
        Some(position) => Failure::input(what).at(format_args!("{file}:{}", position.line())),
        None => Failure::input(what).at(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_ingress::Trigger;

    const SINGLE: Meaning =
        Meaning { flavour: Flavour::Single, itype_width: ITypeWidth::Four, xlen: Xlen::Rv64 };

    fn rows(text: &str, meaning: Meaning) -> Result<Vec<Row>, Failure> {
        let mut rows = Rows::new(text.as_bytes(), "t.csv".into(), meaning)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(row);
        }
        Ok(all)
    }

    fn error(text: &str, meaning: Meaning) -> String {
        let failure = rows(text, meaning).unwrap_err();
        assert_eq!(failure.status(), 3);
        failure.to_string()
    }

    #[test]
    fn the_vectors_columns() {
        let text = "itype_0,cause,tval,priv,iaddr_0,context,ctype,sijump_0,iretire_0,ilastsize_0\n\
                    0,0,0,3,1000,0,0,0,1,1\n\
                    15,0,0,1,ffffffc0000002e8,7,2,1,1,0\n\
                    1,2,7b002073,3,80000042,0,0,0,0,1\n";
        let rows = rows(text, SINGLE).unwrap();
        assert_eq!(rows[0], Row { line: 2, retired: Retired::plain(0x1000) });
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
        assert_eq!(rows[1], Row { line: 3, retired: expected });
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
        assert_eq!(found, [(2, 0x1000, 6, 1), (2, 0x2000, 2, 0), (3, 0x100c, 2, 1)]);
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
    fn narrow_codes_and_addresses() {
        let text = "itype_0,iaddr_0,iretire_0,ilastsize_0,cause,tval,priv\n\
                    8,ffffffff80000000,1,1,0,0xffffffff,3\n";
        let meaning = Meaning { itype_width: ITypeWidth::Three, xlen: Xlen::Rv32, ..SINGLE };
        let row = rows(text, meaning).unwrap()[0].retired;
        assert_eq!((row.itype, row.iaddr), (IType::UninferableJump, 0x8000_0000));
        assert_eq!(row.tval, 0xffff_ffff);
        let wide = "itype_0,iaddr_0,iretire_0,ilastsize_0,cause,tval,priv\n0,100000000,1,1,0,0,3\n";
        assert!(error(wide, meaning).contains("more than 32 bits"));
    }

    #[test]
    fn errors_say_where() {
        let header = "itype_0,iaddr_0,iretire_0,ilastsize_0,cause,tval,priv\n";
        let with = |row: &str| error(&format!("{header}0,1000,1,1,0,0,3\n{row}\n"), SINGLE);
        assert_eq!(
            with("0,10x0,1,1,0,0,3"),
            "error: t.csv:3, column 2: iaddr_0 `10x0`: not a hexadecimal number"
        );
        assert!(with("7,0,1,1,0,0,3").contains("t.csv:3, column 1: itype_0 `7`: itype 7 is"));
        assert!(with("0,0,2,1,0,0,3").contains("try: --retirement block"));
        assert!(with("0,0,1").contains("t.csv:3: 3 fields in a row, but 7 in the header"));
        assert!(with("0,0,1,4,0,0,3").contains("ilastsize_0 `4`: more than 3"));
        assert!(error("", SINGLE).contains("no column itype_0"));
        assert!(error("itype_0,iaddr_0\n", SINGLE).contains("no column iretire_0"));
    }
}
