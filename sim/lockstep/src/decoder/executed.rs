//! What a walker says against what was executed.

use super::follower::{Said, Walked};
use hartrace_decoder::block_table::Ends;
use hartrace_decoder::{Edge, Event, Fault, Image, Leaves, Run, Sink, StreamPos};
use hartrace_decoder_hdl::walker::Cause;
use hartrace_etrace::QualStatus;
use hartrace_etrace::ingress::{IType, Retired};
use hartrace_executions::executed::{Instructions, Verified, Verify};
use std::collections::BTreeMap;

/// Compares blocks with what was executed, instruction for instruction, and counts the edges between them.
///
/// A walker does not report traps: the instructions before and after them must be right, and no edge may lead over
/// them.
#[derive(Debug)]
pub struct Walks<'a> {
    image: &'a Image,
    instructions: Instructions<'a>,
    verify: Verify,
    /// Instructions that were executed.
    executed: u64,
    /// Where the last block said that the next one starts.
    next: Option<u64>,
    edges: BTreeMap<Edge, u64>,
    figures: WalkFigures,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct WalkFigures {
    /// Blocks and parts of blocks.
    pub blocks: u64,
    /// Instructions in them.
    pub instructions: u64,
    /// Places where some are missing, by cause.
    pub gaps: BTreeMap<&'static str, u64>,
    /// How often the program went from one block to another.
    pub edges: Vec<(Edge, u64)>,
    /// The first difference.
    pub difference: Option<String>,
}

impl<'a> Walks<'a> {
    /// Starts a comparison for a program.
    #[must_use]
    pub fn new(image: &'a Image) -> Self {
        Self {
            image,
            instructions: Instructions::of(image),
            verify: Verify::default(),
            executed: 0,
            next: None,
            edges: BTreeMap::new(),
            figures: WalkFigures::default(),
        }
    }

    /// Adds what was executed.
    pub fn executed(&mut self, row: &Retired) {
        if row.iretire == 0 {
            return;
        }
        self.executed += self.instructions.count(row);
        let itype = if row.itype.is_trap() { IType::None } else { row.itype };
        self.verify.executed(&Retired { itype, ..*row });
    }

    /// Marks that what was executed here is not in the trace, which says so.
    pub fn lost(&mut self) {
        self.verify.lost();
    }

    /// Compares what the walker says.
    pub fn said(&mut self, said: &Said) {
        if let Some(block) = &said.block {
            self.block(block);
        }
        if let Some(cause) = said.gap {
            *self.figures.gaps.entry(name(cause)).or_default() += 1;
            let event = match cause {
                Cause::TraceLost => Event::Off(QualStatus::TraceLost),
                // Which it is, is in the figures.
                _ => Event::Gap(Fault::NoPath),
            };
            self.verify.event(StreamPos::default(), event);
            self.next = None;
        }
    }

    fn block(&mut self, block: &Walked) {
        self.figures.blocks += 1;
        let Walked { start, last, ends, next, .. } = *block;
        if let Some(expected) = self.next.filter(|next| *next != start) {
            self.differ(format!("{expected:#x} was to come next, not {start:#x}"));
        }
        self.next = next;
        let Some((addresses, end)) = block.instructions(self.image) else {
            return self.differ(format!("{block:x?}: there is no such code"));
        };
        let offsets: Vec<u16> =
            addresses.iter().map(|address| address.wrapping_sub(start) as u16).collect();
        self.figures.instructions += offsets.len() as u64;
        let leaves = leaves(ends);
        if let Some(run) = Run::new(start, &offsets, end, leaves) {
            self.verify.run(StreamPos::default(), run);
        }
        if let Some(to) = next.filter(|_| leaves != Leaves::No) {
            *self.edges.entry(Edge { from: last, to, kind: leaves }).or_default() += 1;
        }
        let is_taken = next.is_none_or(|next| next != end) || leaves != Leaves::Branch;
        if next.is_some() && leaves != Leaves::No && is_taken != block.taken {
            // A taken branch may lead to the next instruction.
            if !(block.taken && leaves == Leaves::Branch) {
                self.differ(format!("{block:x?}: taken?"));
            }
        }
    }

    fn differ(&mut self, what: String) {
        self.figures.difference.get_or_insert(what);
    }

    /// The result so far.
    #[must_use]
    pub fn so_far(&self) -> &Verified {
        self.verify.so_far()
    }

    /// Returns the result after everything was said.
    #[must_use]
    pub fn finish(self) -> WalkFigures {
        let Self { mut figures, verify, instructions, executed, edges, .. } = self;
        figures.edges = edges.into_iter().collect();
        let verified = verify.finish();
        let idle = verified.idle_instructions(&instructions);
        figures.difference = figures.difference.or(verified.difference);
        let said = figures.instructions;
        if said + idle != executed && figures.gaps.is_empty() {
            let text = || format!("{said} instructions were reported, {executed} executed");
            figures.difference.get_or_insert_with(text);
        }
        figures
    }
}

fn leaves(ends: Ends) -> Leaves {
    match ends {
        Ends::Next | Ends::NoCode => Leaves::No,
        Ends::Branch => Leaves::Branch,
        Ends::Jump | Ends::Call => Leaves::Jump,
        Ends::Indirect | Ends::IndirectCall | Ends::Return => Leaves::Indirect,
    }
}

/// A cause, for people.
fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::Lost => "records lost",
        Cause::TraceLost => "trace lost",
        Cause::Malformed => "malformed packet",
        Cause::NotSynchronised => "not synchronised",
        Cause::NoCode => "no code",
        Cause::NoOutcome => "no outcome",
        Cause::UnexpectedJump => "unexpected jump",
        Cause::BranchesLeft => "branches left",
        Cause::NotABranch => "not a branch",
        Cause::InsideInstruction => "inside an instruction",
        Cause::NoProgress => "no progress",
        Cause::UnknownAddress => "unknown address",
        Cause::Unsupported => "packet not supported",
        Cause::NotTaken => "branch not taken",
        Cause::NoReturn => "return without a call",
    }
}
