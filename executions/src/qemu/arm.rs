//! Converts executed blocks of an Arm program into its instructions.
//!
//! As for RISC-V, how a block ended is known only when the next one starts, so one block is always
//! pending.

mod block;

use crate::qemu::stop::Stop;
use crate::qemu::stream::Blocks;
use crate::qemu::table::nth_set;
use crate::qemu::{Exit, QemuError};
use block::Block;
use hartrace_isa::arm::{Executed, Isa, Kind, Place};
use hartrace_iss::Mapping;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// What an Arm core did.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ArmStep {
    /// It executed an instruction.
    Executed {
        /// The instruction.
        executed: Executed,
        /// Its opcode; for T32 with the first half-word in the upper half.
        opcode: u32,
    },
    /// It took an exception. QEMU executes the handler, the kernel: the next step is in the program
    /// again.
    Exception {
        /// The cause.
        cause: ArmCause,
        /// The instruction to return to: after a call, otherwise the one that was not executed.
        returns: Place,
    },
}

/// The cause of an exception, as far as it is visible in user mode.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArmCause {
    /// A system call: SVC.
    Call,
    /// An instruction could not be executed.
    Fault,
    /// A signal that was unrelated to the instruction.
    Signal,
}

/// How a block ended.
enum End {
    /// Its last instruction was executed; the flag is whether it was taken.
    Whole(bool),
    /// The same, followed by a signal.
    Signal { taken: bool, returns: Place },
    /// The instruction of this number was not executed.
    Stopped(usize),
    /// It is unknown what happened to its last instruction.
    Unknown,
}

/// Turns executed blocks into steps for `sink`.
#[derive(Debug)]
pub(crate) struct ArmFollow<S> {
    wide: bool,
    blocks: Vec<Block>,
    sink: S,
    /// The block that is being executed.
    current: Option<usize>,
    first: Option<u64>,
    /// Everything before a block at this address is ignored.
    awaited: Option<u64>,
    /// Counters passed in `current`, unless all were.
    left: Option<u32>,
    /// Number of instructions at the start of `current` that are in an IT block of the previous one.
    conditional: u8,
    /// Translated blocks whose instruction set the log has not reported yet.
    untold: VecDeque<usize>,
    /// Whether the next line of the log is the first instruction of a block.
    starts: bool,
    instructions: u64,
    executed: u64,
    exceptions: u64,
    unknown_outcomes: u64,
}

impl<S: FnMut(&ArmStep) -> ControlFlow<()>> ArmFollow<S> {
    pub(crate) fn new(wide: bool, awaited: Option<u64>, sink: S) -> Self {
        Self {
            wide,
            blocks: Vec::new(),
            sink,
            current: None,
            first: None,
            awaited,
            left: None,
            conditional: 0,
            untold: VecDeque::new(),
            starts: false,
            instructions: 0,
            executed: 0,
            exceptions: 0,
            unknown_outcomes: 0,
        }
    }

    /// Ends block number `index`; `next` was executed after it.
    fn finish(&mut self, index: usize, next: Option<Place>) -> Result<(), Stop> {
        self.executed += 1;
        let end = self.how(index, next)?;
        let block = &self.blocks[index];
        let (last, from) = (block.code.len() - 1, std::mem::take(&mut self.conditional));
        let fall = Place { address: block.end(), isa: block.code[last].isa };
        let whole = match end {
            End::Stopped(stopped) => stopped,
            End::Unknown => last,
            End::Whole(_) | End::Signal { .. } => last + 1,
        };
        for at in 0..whole {
            let mut executed = self.blocks[index].code[at];
            executed.insn.conditional |= at < usize::from(from);
            if at == last {
                (executed.taken, executed.next) = match (&end, next) {
                    (End::Signal { taken, returns }, _) => (*taken, *returns),
                    (End::Whole(taken), Some(next)) if block_jumps(&executed) => (*taken, next),
                    (End::Whole(taken), _) => (*taken, fall),
                    _ => (executed.taken, executed.next),
                };
            }
            let opcode = self.blocks[index].opcodes[at];
            self.instructions += 1;
            self.step(&ArmStep::Executed { executed, opcode })?;
        }
        let block = &self.blocks[index];
        match end {
            End::Stopped(stopped) => {
                let at = block.code[stopped];
                let returns = Place { address: at.address, isa: at.isa };
                // QEMU left the block only to execute this instruction in another one.
                if next == Some(returns) {
                    self.conditional = block.conditional_from(stopped, from);
                    return Ok(());
                }
                self.exception(ArmCause::Fault, returns)
            }
            End::Signal { returns, .. } => self.exception(ArmCause::Signal, returns),
            End::Unknown => {
                self.unknown_outcomes += 1;
                Ok(())
            }
            End::Whole(_) if block.calls => self.exception(ArmCause::Call, fall),
            End::Whole(_) => {
                if next == Some(fall) {
                    self.conditional = block.conditional_from(last + 1, from);
                }
                Ok(())
            }
        }
    }

    /// How a block that `next` followed has ended.
    fn how(&self, index: usize, next: Option<Place>) -> Result<End, Stop> {
        let block = &self.blocks[index];
        let last = block.code.len() - 1;
        if let Some(passed) = self.left {
            let counted = nth_set(&block.counters, passed).filter(|at| *at <= last);
            let wrong =
                || Stop::report(format!("{passed} counters in the block at {:#x}", block.start));
            return counted.map(End::Stopped).ok_or_else(wrong);
        }
        let Executed { insn, isa, .. } = block.code[last];
        let conditional = insn.conditional || last < usize::from(self.conditional);
        let fall = Place { address: block.end(), isa };
        Ok(match (insn.kind, next) {
            (Kind::Direct { .. } | Kind::Indirect, None) => End::Unknown,
            (Kind::Direct { .. } | Kind::Indirect, Some(next)) if conditional && next == fall => {
                End::Whole(false)
            }
            (Kind::Indirect, Some(_)) => End::Whole(true),
            (Kind::Direct { target, isa }, Some(next)) => {
                let target = Place { address: target, isa };
                match (next == target, conditional) {
                    (true, _) => End::Whole(true),
                    (false, false) => End::Signal { taken: true, returns: target },
                    // A signal: the address of its handler does not reveal where it came from.
                    (false, true) => End::Signal { taken: false, returns: fall },
                }
            }
            _ if block.calls => End::Whole(true),
            _ if next == Some(fall) => End::Whole(true),
            _ => End::Stopped(last),
        })
    }

    fn exception(&mut self, cause: ArmCause, returns: Place) -> Result<(), Stop> {
        self.exceptions += 1;
        if cause == ArmCause::Signal {
            self.unknown_outcomes += 1;
        }
        self.step(&ArmStep::Exception { cause, returns })
    }

    #[inline]
    fn step(&mut self, step: &ArmStep) -> Result<(), Stop> {
        match (self.sink)(step) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stop::Sink),
        }
    }
}

/// Whether it can continue elsewhere than at the next instruction.
fn block_jumps(executed: &Executed) -> bool {
    matches!(executed.insn.kind, Kind::Direct { .. } | Kind::Indirect)
}

impl<S: FnMut(&ArmStep) -> ControlFlow<()>> Blocks for ArmFollow<S> {
    fn translated(&mut self, start: u64, words: &[u32], counters: &[u32]) {
        let mut block = Block::new(start, words, counters);
        if self.wide {
            block.decode(Isa::A64);
        } else {
            self.untold.push_back(self.blocks.len());
        }
        self.blocks.push(block);
    }

    /// Handles a line of the log. A block is logged as `IN: symbol`, then a line for each instruction
    /// with its address and opcode; T32 opcodes are written as half-words.
    fn logged(&mut self, line: &str) -> Result<(), Stop> {
        if line.starts_with("IN:") {
            self.starts = true;
            return Ok(());
        }
        let Some((address, rest)) = line.strip_prefix("0x").and_then(|line| line.split_once(':'))
        else {
            return Ok(());
        };
        if !std::mem::take(&mut self.starts) {
            return Ok(());
        }
        let digits = rest.trim_start().bytes().take_while(u8::is_ascii_hexdigit).count();
        let isa = match digits {
            8 => Isa::A32,
            4 => Isa::T32,
            _ => return Ok(()),
        };
        let Ok(address) = u64::from_str_radix(address, 16) else { return Ok(()) };
        // A forked child logs into the same file.
        let place = self.untold.iter().position(|block| self.blocks[*block].start == address);
        if let Some(index) = place.and_then(|place| self.untold.remove(place)) {
            self.blocks[index].decode(isa);
        }
        Ok(())
    }

    fn left(&mut self, passed: u32) {
        self.left = Some(passed);
    }

    #[inline]
    fn executed(&mut self, next: usize) -> Result<(), Stop> {
        let Some(block) = self.blocks.get(next) else {
            return Err(Stop::report(format!("no block {next}")));
        };
        let start = block.start;
        let Some(isa) = block.code.first().map(|first| first.isa) else {
            return Err(Stop::error(QemuError::NoInstructionSet { address: start }));
        };
        if let Some(what) = &block.contradiction {
            return Err(Stop::report(what.clone()));
        }
        self.first.get_or_insert(start);
        if self.awaited.take_if(|awaited| *awaited == start).is_none() && self.awaited.is_some() {
            self.left = None;
            return Ok(());
        }
        let Some(current) = self.current.replace(next) else { return Ok(()) };
        let finished = self.finish(current, Some(Place { address: start, isa }));
        self.left = None;
        finished
    }

    fn thread(&mut self, _: u64) -> Result<(), Stop> {
        Ok(())
    }

    fn yields(&mut self, _: usize) -> Result<(), Stop> {
        Ok(())
    }

    fn mapped(&mut self, _: Mapping) {}

    fn end(&mut self) -> Result<(), Stop> {
        match self.current.take() {
            Some(current) => self.finish(current, None),
            None => Ok(()),
        }
    }

    fn first_address(&self) -> Option<u64> {
        self.first
    }

    fn newest(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.start)
    }

    fn exit(&self, code: Option<i32>) -> Exit {
        Exit {
            code,
            instructions: self.instructions,
            rows: self.executed,
            traps: self.exceptions,
            unknown_outcomes: self.unknown_outcomes,
            unknown_privileges: 0,
        }
    }
}
