//! What the walker says of a stream.

use super::damaged::BEYOND;
use crate::RESTLESS;
use hartrace_arm_decoder::block_table::Code;
use hartrace_decoder::block_table::{Ends, WordLayout};
use hartrace_decoder::{Edge, Leaves};
use hartrace_decoder_hdl::walker::Cause;
use hartrace_lockstep::decoder::{FollowerBench, Said, Walked};
use libtest_mimic::Failed;
use std::collections::BTreeMap;

/// The addresses of the instructions that were executed; `None` if there is no such code.
pub(super) fn expand(code: &Code, block: &Walked) -> Option<Vec<u64>> {
    let (mut addresses, mut at) = (Vec::new(), block.start);
    loop {
        if block.faulted && at == block.last {
            return Some(addresses);
        }
        let (insn, _) = code.insn(at)?;
        addresses.push(at);
        if at == block.last {
            return Some(addresses);
        }
        at += u64::from(insn.size);
    }
}

/// What the walker says of a stream.
#[derive(Default)]
pub(super) struct Walk {
    pub(super) addresses: Vec<u64>,
    pub(super) gaps: Vec<Cause>,
    pub(super) edges: BTreeMap<Edge, u64>,
    pub(super) lost: u64,
    pub(super) wrong: Option<String>,
    /// Instructions since the last one that is an element of the trace.
    pub(super) straight: usize,
    /// Instructions before the first gap after which software goes on.
    pub(super) before: Option<usize>,
    pub(super) next: Option<u64>,
}

/// Tracing starts: the walker says what it still has.
pub(super) const TRACE_ON: [u8; 1] = [4];

impl Walk {
    pub(super) fn new(bench: &FollowerBench, code: &Code, bytes: &[u8]) -> Result<Self, Failed> {
        let table = code.table(&[], WordLayout::SPAN_BITS);
        let mut following = bench.start(&table, 0, &[])?;
        let mut walk = Self::default();
        // Slowly, so that nothing is lost.
        for chunk in bytes.chunks(64) {
            following.send(chunk, |said| walk.said(code, &said))?;
            following.rest(RESTLESS, |said| walk.said(code, &said))?;
        }
        following.send(&TRACE_ON, |said| walk.said(code, &said))?;
        following.rest(RESTLESS, |said| walk.said(code, &said))?;
        walk.lost = following.lost();
        Ok(walk)
    }

    pub(super) fn said(&mut self, code: &Code, said: &Said) {
        if let Some(block) = &said.block {
            if let Some(next) = self.next.filter(|next| *next != block.start) {
                self.wrong.get_or_insert(format!("{next:#x} was to come before {block:x?}"));
            }
            self.next = block.next;
            match expand(code, block) {
                Some(more) => {
                    let end = code.insn(block.last).filter(|_| !block.faulted);
                    let element = end.is_some_and(|(insn, _)| insn.ends_block());
                    self.straight = if element { 0 } else { self.straight + more.len() };
                    self.addresses.extend(more);
                    // After an exception, something else starts.
                    if block.next.is_none() && said.gap.is_none() {
                        self.straight = 0;
                    }
                }
                None => {
                    self.wrong.get_or_insert(format!("{block:x?}: there is no such code"));
                }
            }
            if let (Some(to), Some(kind)) = (block.next, leaves(block.ends)) {
                *self.edges.entry(Edge { from: block.last, to, kind }).or_default() += 1;
            }
        }
        if let Some(cause) = said.gap {
            // Of a block that ends with a contradiction, software reports nothing. Here it may be cut.
            if cause == Cause::NotTaken {
                self.addresses.truncate(self.addresses.len() - self.straight);
            }
            self.straight = 0;
            if BEYOND.contains(&cause) {
                self.before.get_or_insert(self.addresses.len());
            }
            self.gaps.push(cause);
        }
    }

    /// Compares instructions, some of which are missing here.
    pub(super) fn is_part_of(&self, wanted: &[u64], what: &str) -> Result<(), Failed> {
        let mut wanted = wanted.iter();
        match self.addresses.iter().find(|address| !wanted.any(|at| at == *address)) {
            Some(other) => Err(format!("{what}: {other:#x} was not executed then").into()),
            None => Ok(()),
        }
    }

    /// Compares instructions.
    pub(super) fn is(&self, wanted: &[u64], what: &str) -> Result<(), Failed> {
        if let Some(wrong) = &self.wrong {
            return Err(format!("{what}: {wrong}").into());
        }
        let found = &self.addresses;
        match (0..found.len().max(wanted.len())).find(|at| found.get(*at) != wanted.get(*at)) {
            None => Ok(()),
            Some(at) => Err(format!(
                "{what}: instruction {at} of {} is {:x?}, not {:x?} (of {}); gaps {:?}",
                found.len(),
                found.get(at),
                wanted.get(at),
                wanted.len(),
                self.gaps,
            )
            .into()),
        }
    }
}

pub(super) fn leaves(ends: Ends) -> Option<Leaves> {
    match ends {
        Ends::Next | Ends::NoCode => None,
        Ends::Branch => Some(Leaves::Branch),
        Ends::Jump | Ends::Call => Some(Leaves::Jump),
        Ends::Indirect | Ends::IndirectCall | Ends::Return => Some(Leaves::Indirect),
    }
}
