//! Converts executed blocks into what a hart reports.
//!
//! How a block ended is known only when the next one starts, so one block is always pending.

use crate::qemu::log::{self, Line, Trap};
use crate::qemu::stop::Stop;
use crate::qemu::stream::Blocks;
use crate::qemu::table::{Block, Table, infers, size};
use crate::qemu::{Exit, Mode};
use hartrace_etrace::ingress::{CType, IType, Privilege, Retired};
use hartrace_isa::{Isa, Kind};
use hartrace_iss::Mapping;
use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

/// Cause of the timer interrupt by which an operating system lets another thread run.
const TIMER: u64 = 5;

/// Code that a Linux program executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// That of a file.
    File(Mapping),
    /// That of a block which is in no file, at its address.
    Code(u64, Vec<u8>),
}

/// Turns executed blocks into rows for `sink`.
#[derive(Debug)]
pub(crate) struct BlockRows<M, S> {
    mode: Mode,
    table: Table,
    mapped: M,
    /// Addresses that no file is mapped to.
    no_file: Vec<Range<u64>>,
    sink: S,
    /// The block that is being executed.
    current: Option<usize>,
    /// The previous block, if it continued with this one.
    before: Option<usize>,
    /// The first address, at which the hart is after a reset.
    first: Option<u64>,
    /// Everything before a block at this address is ignored.
    awaited: Option<u64>,
    /// Counters passed in `current`, unless all were.
    left: Option<u32>,
    /// Traps taken since `current` started.
    traps: VecDeque<Trap>,
    /// Translated blocks whose privilege the log has not reported yet.
    unprivileged: VecDeque<usize>,
    /// The thread that executes, and that of the last row.
    context: u64,
    reported: u64,
    instructions: u64,
    blocks: u64,
    trap_count: u64,
    unknown_outcomes: u64,
    unknown_privileges: u64,
}

impl<M: FnMut(Mapped), S: FnMut(&Retired) -> ControlFlow<()>> BlockRows<M, S> {
    pub(crate) fn new(mode: Mode, isa: Isa, awaited: Option<u64>, mapped: M, sink: S) -> Self {
        Self {
            mode,
            table: Table::new(isa),
            mapped,
            no_file: Vec::new(),
            sink,
            current: None,
            before: None,
            first: None,
            awaited,
            left: None,
            traps: VecDeque::new(),
            unprivileged: VecDeque::new(),
            context: 0,
            reported: 0,
            instructions: 0,
            blocks: 0,
            trap_count: 0,
            unknown_outcomes: 0,
            unknown_privileges: 0,
        }
    }

    /// The thread stops for others, at a system call or at `next`.
    fn suspend(&mut self, next: Option<u64>) -> Result<(), Stop> {
        let Some(current) = self.current.take() else { return Ok(()) };
        let before = self.trap_count;
        self.finish(current, next)?;
        self.before = None;
        if self.trap_count > before {
            return Ok(());
        }
        let row = self.table.blocks[current].retired;
        let epc = next.unwrap_or(row.next_address());
        let timer = Trap { interrupt: true, cause: TIMER, epc, tval: 0 };
        self.trap(&Retired { iretire: 0, ..row }, timer)
    }

    /// Ends block number `index` where a closer look is needed; `next` was executed after it.
    #[cold]
    fn finish(&mut self, index: usize, next: Option<u64>) -> Result<(), Stop> {
        let block = self.table.blocks[index].clone();
        let stopped = match self.left.take() {
            Some(passed) => Some(self.left_at(&block, passed, next)?),
            None => self.stopped_at_last(&block, next).then(|| block.len() - 1),
        };
        let trapped = match stopped {
            Some(stopped) => {
                self.before = None;
                self.part(&block, stopped, next)?;
                block.retired.privilege
            }
            None => self.whole(index, &block, next)?,
        };
        while let Some(trap) = self.traps.pop_front() {
            self.before = None;
            self.trap(&Retired { iretire: 0, privilege: trapped, ..block.retired }, trap)?;
        }
        Ok(())
    }

    /// The first instruction that did not complete, where only some counters were passed.
    fn left_at(&self, block: &Block, passed: u32, next: Option<u64>) -> Result<usize, Stop> {
        let Some(counted) = self.table.counted(block, passed) else {
            let start = block.retired.iaddr;
            return Err(Stop::report(format!("{passed} counters in the block at {start:#x}")));
        };
        // With -icount, QEMU leaves a block before an access to a device and executes that
        // instruction outside any block that plugins see.
        let successor = self.traps.front().map(|trap| trap.epc).or(next);
        let behind = self.table.code(block).nth(counted + 1).map(|(pc, _)| pc);
        // Nothing follows if that access ended the machine.
        let apart = self.mode == Mode::System
            && behind.is_some()
            && (successor.is_none() || behind == successor);
        Ok(counted + usize::from(apart))
    }

    /// Whether the last instruction did not complete, where all counters were passed.
    fn stopped_at_last(&self, block: &Block, next: Option<u64>) -> bool {
        let environment = block.last.is_some_and(|insn| insn.kind == Kind::EnvironmentTrap);
        let sequential = block.last.is_none_or(|insn| insn.is_sequential());
        match (self.mode, self.traps.front()) {
            (Mode::User, _) => environment || sequential && next != Some(block.fall),
            (Mode::System, None) => environment,
            (Mode::System, Some(trap)) => {
                let at_last = trap.epc == block.retired.last_address();
                environment || at_last && !trap.interrupt && !trap.is_fetch()
            }
        }
    }

    /// Reports the instructions before number `stopped`, and its trap.
    fn part(&mut self, block: &Block, stopped: usize, next: Option<u64>) -> Result<(), Stop> {
        let (mut bytes, mut last_bytes, mut at) = (0, 2, (block.retired.iaddr, 0));
        for (n, (pc, word)) in self.table.code(block).take(stopped + 1).enumerate() {
            at = (pc, word);
            if n < stopped {
                last_bytes = size(word);
                bytes += last_bytes;
            }
        }
        let (pc, word) = at;
        self.instructions += stopped as u64;
        let row = Retired {
            itype: IType::None,
            iretire: (bytes / 2) as u32,
            ilastsize: u8::from(last_bytes == 4),
            sijump: false,
            ..block.retired
        };
        let environment = matches!(word, 0x73 | 0x0010_0073 | 0x9002);
        let trap = match (self.mode, self.traps.pop_front()) {
            (_, Some(trap)) if trap.epc == pc => trap,
            (_, Some(trap)) => {
                return Err(Stop::report(format!("trap at {:#x}, but left at {pc:#x}", trap.epc)));
            }
            // QEMU left the block only to execute this instruction in another one.
            (_, None) if next == Some(pc) && !environment => return self.some(&row),
            (Mode::System, None) if next.is_none() || !environment => return self.some(&row),
            (_, None) => Trap { interrupt: false, cause: cause(word), epc: pc, tval: 0 },
        };
        self.trap(&row, trap)
    }

    /// Reports the whole block and what followed it. Returns the privilege after it.
    fn whole(&mut self, index: usize, block: &Block, next: Option<u64>) -> Result<Privilege, Stop> {
        let start = block.retired.iaddr;
        let successor = self.traps.front().map(|trap| trap.epc).or(next);
        let mut row = block.retired;
        if block.len() == 1 && block.last.is_some_and(|insn| insn.is_uninferable()) {
            row.sijump =
                self.before.map(|before| &self.table.blocks[before]).is_some_and(|before| {
                    let pc = before.retired.last_address();
                    before.fall == start && infers(self.table.isa, before.last, pc, block.last)
                });
        }
        let known = block.last.is_none_or(|insn| insn.is_sequential() || insn.is_uninferable());
        row.itype = match successor {
            Some(address) if address == block.fall => block.fall_itype,
            Some(address) if address == block.taken => block.taken_itype,
            Some(_) if !known && self.mode == Mode::User => {
                // A signal: the address of its handler does not reveal where it came from.
                self.unknown_outcomes += u64::from(row.itype.is_branch());
                let epc = if row.itype.is_branch() { block.fall } else { block.taken };
                self.traps.push_back(Trap { interrupt: true, cause: 0, epc, tval: 0 });
                block.fall_itype
            }
            Some(address) if !known || block.fall & 1 == 0 => {
                if self.first != Some(address) {
                    let what = format!("{address:#x} follows the block at {start:#x} unexplained");
                    return Err(Stop::report(what));
                }
                row.reset = true;
                block.fall_itype
            }
            None => {
                self.unknown_outcomes += u64::from(row.itype.is_branch());
                block.fall_itype
            }
            Some(_) => block.taken_itype,
        };
        self.instructions += block.len() as u64;
        self.before = Some(index);
        self.emit(&row)?;
        if !self.traps.is_empty() && row.itype == IType::TrapReturn {
            // The return address was never executed, so its privilege was never reported.
            self.unknown_privileges += 1;
        }
        Ok(row.privilege)
    }

    /// Reports a trap after the instructions of `row`, or alone.
    fn trap(&mut self, row: &Retired, trap: Trap) -> Result<(), Stop> {
        self.trap_count += 1;
        let itype = if trap.interrupt { IType::Interrupt } else { IType::Exception };
        let iaddr = if row.iretire == 0 { trap.epc } else { row.iaddr };
        let (cause, tval) = (trap.cause, trap.tval);
        self.emit(&Retired { itype, iaddr, cause, tval, sijump: false, ..*row })
    }

    /// Reports instructions without a trap, if there are any.
    fn some(&mut self, row: &Retired) -> Result<(), Stop> {
        if row.iretire == 0 { Ok(()) } else { self.emit(row) }
    }

    #[inline]
    fn emit(&mut self, row: &Retired) -> Result<(), Stop> {
        self.blocks += 1;
        let context = self.context;
        let changed = std::mem::replace(&mut self.reported, context) != context;
        let ctype = if changed { CType::Precise } else { CType::Unreported };
        match (self.sink)(&Retired { context, ctype, ..*row }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stop::Sink),
        }
    }
}

impl<M: FnMut(Mapped), S: FnMut(&Retired) -> ControlFlow<()>> Blocks for BlockRows<M, S> {
    fn translated(&mut self, start: u64, words: &[u32], counters: &[u32]) {
        let privilege = match self.mode {
            Mode::User => Privilege::U,
            Mode::System => {
                self.unprivileged.push_back(self.table.blocks.len());
                Privilege::M
            }
        };
        if self.no_file.iter().any(|range| range.contains(&start)) {
            let bytes = words
                .iter()
                .flat_map(|word| word.to_le_bytes().into_iter().take(size(*word) as usize));
            (self.mapped)(Mapped::Code(start, bytes.collect()));
        }
        self.table.add(start, words, counters, privilege);
    }

    fn first_address(&self) -> Option<u64> {
        self.first
    }

    fn newest(&self) -> u64 {
        self.table.blocks.last().map_or(0, |block| block.retired.iaddr)
    }

    fn logged(&mut self, line: &str) -> Result<(), Stop> {
        match log::line(line) {
            None => {}
            Some(Line::Trap(trap)) => self.traps.push_back(trap),
            Some(Line::Privilege(privilege)) => {
                let block = self.unprivileged.pop_front();
                let block = block.ok_or_else(|| Stop::report("more privileges than blocks".into()));
                self.table.blocks[block?].retired.privilege = privilege;
            }
        }
        Ok(())
    }

    fn left(&mut self, passed: u32) {
        self.left = Some(passed);
    }

    #[inline]
    fn executed(&mut self, next: usize) -> Result<(), Stop> {
        let Some(start) = self.table.blocks.get(next).map(|block| block.retired.iaddr) else {
            return Err(Stop::report(format!("no block {next}")));
        };
        self.first.get_or_insert(start);
        if self.awaited.take_if(|awaited| *awaited == start).is_none() && self.awaited.is_some() {
            self.left = None;
            self.traps.clear();
            return Ok(());
        }
        let Some(current) = self.current.replace(next) else { return Ok(()) };
        let block = &self.table.blocks[current];
        if self.left.is_none() && self.traps.is_empty() {
            let itype = if start == block.fall {
                Some(block.fall_itype)
            } else if start == block.taken || block.anywhere {
                Some(block.taken_itype)
            } else {
                None
            };
            if let Some(itype) = itype {
                self.instructions += block.len() as u64;
                self.before = Some(current);
                let row = Retired { itype, ..block.retired };
                return self.emit(&row);
            }
        }
        self.finish(current, Some(start))
    }

    fn thread(&mut self, number: u64) -> Result<(), Stop> {
        self.suspend(None)?;
        self.context = number;
        Ok(())
    }

    fn yields(&mut self, next: usize) -> Result<(), Stop> {
        let block = self.table.blocks.get(next);
        let next = block.ok_or_else(|| Stop::report(format!("no block {next}")))?;
        self.suspend(Some(next.retired.iaddr))
    }

    fn mapped(&mut self, mapping: Mapping) {
        let end = mapping.address.saturating_add(mapping.size);
        self.no_file.retain(|known| known.end <= mapping.address || end <= known.start);
        match mapping.file.is_empty() {
            true => self.no_file.push(mapping.address..end),
            false => (self.mapped)(Mapped::File(mapping)),
        }
    }

    fn end(&mut self) -> Result<(), Stop> {
        match self.current.take() {
            Some(current) => self.finish(current, None),
            None => Ok(()),
        }
    }

    fn exit(&self, code: Option<i32>) -> Exit {
        Exit {
            code,
            instructions: self.instructions,
            rows: self.blocks,
            traps: self.trap_count,
            unknown_outcomes: self.unknown_outcomes,
            unknown_privileges: self.unknown_privileges,
        }
    }
}

/// The likely cause of an exception of this instruction in user mode, where QEMU does not report it.
fn cause(word: u32) -> u64 {
    let narrow_store = matches!(word & 3, 0 | 2) && word >> 15 & 1 == 1;
    match (word & 3, word & 0x7f) {
        _ if word == 0x73 => 8,
        _ if word == 0x0010_0073 || word == 0x9002 => 3,
        (3, 0x03 | 0x07) => 13,
        (3, 0x23 | 0x27 | 0x2f) => 15,
        (0 | 2, _) if narrow_store => 15,
        (0 | 2, _) if word & 0xe000 != 0 => 13,
        _ => 2,
    }
}
