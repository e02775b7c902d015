//! The code of functions, and the source it was made from, with how often everything was executed.

use super::roots::{LeftOut, SourceRoots};
use super::tables::Numbered;
use crate::arm::disassembly;
use crate::calls::{Callee, Names};
use crate::listing::disassemble;
use crate::source::{BranchCount, SourceCounts};
use hartrace_capture::programs::{ArmCode, ArmInsn, Sources};
use hartrace_decoder::Image;
use hartrace_decoder::calls::Functions;
use hartrace_isa::Xlen;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// Instructions in a page.
const INSTRUCTIONS: usize = 100_000;

/// Bytes of source in a page.
const SOURCE: usize = 4 << 20;

/// An instruction: its distance from the start of the function, encoding, text, how often it was executed, how often it was
/// taken and not taken if it is a conditional branch, and number of its source file and line.
type InsnRow = (u64, String, String, u64, Option<(u64, u64)>, Option<(usize, u32)>);

/// A line that has code: its number, how often it was executed, and how often each of its branches was taken and not taken.
type LineRow = (u32, u64, Vec<(u64, u64)>);

/// A source file.
#[derive(Serialize)]
struct FileData {
    name: String,
    text: Option<String>,
    /// Why there is no text.
    left_out: Option<LeftOut>,
    lines: Vec<LineRow>,
}

/// All code of a page.
#[derive(Serialize)]
pub(super) struct CodeData {
    /// By number of the function.
    functions: BTreeMap<usize, Vec<InsnRow>>,
    /// Functions that were executed, but whose code is not in the page.
    left_out: usize,
    files: Vec<FileData>,
}

impl CodeData {
    /// How many source files there are that the page may not hold.
    pub(super) fn outside(&self, roots: &SourceRoots) -> usize {
        let outside = |file: &&FileData| file.left_out == Some(LeftOut::Outside);
        self.files.iter().filter(outside).filter(|file| roots.would_help(&file.name)).count()
    }
}

/// What code is made of.
pub(super) struct Code<'a, 'n> {
    /// Code of RISC-V, and of Arm; one is empty.
    pub(super) image: &'a Image,
    pub(super) arm: &'a ArmCode<'n>,
    pub(super) xlen: Xlen,
    pub(super) functions: &'a Functions,
    pub(super) names: &'a Names<'n>,
    pub(super) sources: &'a Sources,
    pub(super) counts: &'a SourceCounts,
    pub(super) roots: &'a SourceRoots,
}

impl Code<'_, '_> {
    /// The code of the functions that executed most.
    pub(super) fn data(&self, numbered: &Numbered) -> CodeData {
        let files = self.files();
        let (mut functions, mut room, mut left_out) = (BTreeMap::new(), INSTRUCTIONS, 0usize);
        for (number, callee) in numbered.callees.iter().enumerate() {
            // Inlined functions are in the code of others.
            let Callee::Function(start) = callee else { continue };
            let range = self.functions.containing(*start);
            let rows = range.map_or(Vec::new(), |range| self.function(range, room, &files));
            if rows.is_empty() {
                left_out = left_out.saturating_add(1);
                continue;
            }
            room = room.saturating_sub(rows.len());
            functions.insert(number, rows);
        }
        CodeData { functions, left_out, files }
    }

    /// The instructions of a function, if there is room for all.
    fn function(&self, range: Range<u64>, room: usize, files: &[FileData]) -> Vec<InsnRow> {
        let name = |to| self.names.place(to);
        let (mut rows, mut pc) = (Vec::new(), range.start);
        while pc < range.end && rows.len() <= room {
            // Data, or nothing.
            let Some(insn) = disassemble(self.image, pc, self.xlen, name) else { break };
            rows.push(self.row(pc, &range, (insn.raw, insn.text), files));
            pc = pc.saturating_add(insn.size);
        }
        if rows.is_empty() {
            for ArmInsn { address, isa, opcode, insn } in self.arm.instructions(&range) {
                let text = disassembly::disassemble(isa, opcode, &insn, name);
                rows.push(self.row(address, &range, text, files));
            }
        }
        if rows.len() > room { Vec::new() } else { rows }
    }

    fn row(
        &self,
        pc: u64,
        range: &Range<u64>,
        (raw, text): (String, String),
        files: &[FileData],
    ) -> InsnRow {
        let line = self.sources.row(pc).and_then(|row| {
            let name = self.sources.file(row.at.file);
            let file = files.binary_search_by(|file| file.name.as_str().cmp(name)).ok()?;
            Some((file, row.at.line))
        });
        let branch = self.branch(pc).map(|branch| (branch.taken, branch.not_taken));
        let offset = pc.saturating_sub(range.start);
        (offset, raw, text, self.counts.times(pc), branch, line)
    }

    fn branch(&self, pc: u64) -> Option<&BranchCount> {
        let branches = &self.counts.branches;
        let found = branches.binary_search_by_key(&pc, |branch| branch.address).ok()?;
        branches.get(found)
    }

    /// The source files by name, of which at least one line was executed.
    fn files(&self) -> Vec<FileData> {
        let mut room = SOURCE;
        let mut list = Vec::new();
        for (name, counts) in &self.counts.files {
            if counts.lines.values().all(|line| line.executions == 0) {
                continue;
            }
            let text = self.roots.read(name);
            let (text, left_out) = match text {
                Ok(text) if text.len() <= room => (Some(text), None),
                Ok(_) => (None, Some(LeftOut::TooLarge)),
                Err(reason) => (None, Some(reason)),
            };
            room = room.saturating_sub(text.as_ref().map_or(0, String::len));
            let branches = |line: &u32| {
                let all = counts.branches.get(line).into_iter().flatten();
                all.map(|branch| (branch.taken, branch.not_taken)).collect()
            };
            let row = |(line, count): (&u32, &crate::source::LineCount)| {
                (*line, count.executions, branches(line))
            };
            let lines = counts.lines.iter().map(row).collect();
            list.push(FileData { name: name.clone(), text, left_out, lines });
        }
        list
    }
}
