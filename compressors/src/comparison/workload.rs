//! An execution and its program.

use super::rows::Rows;
use crate::Code;
use hartrace_decoder::Image;
use hartrace_etrace::ingress::Retired;
use hartrace_executions::executed::{Instructions, Program, ProgramError};
use hartrace_executions::{Source, SourceError};
use hartrace_iss::Exit;
use std::io::BufRead;

/// An execution.
#[derive(Debug)]
pub struct Workload {
    pub(super) name: String,
    pub(super) code: Code,
    pub(super) rows: Rows,
    /// Contents of the trap vector registers by privilege, if known.
    pub(super) tvec: Option<Vec<(u8, u64)>>,
    /// Whether the limit has cut it.
    pub(super) cut: bool,
}

impl Workload {
    /// Creates an empty workload for an execution from a log; add rows with [`Workload::push`].
    pub fn new(name: impl Into<String>, image: &Image) -> Self {
        let (name, code) = (name.into(), Code::new(image));
        Self { name, code, rows: Rows::default(), tvec: None, cut: false }
    }

    /// Reads at most `limit` instructions of a log; a block that reaches the limit is not split.
    ///
    /// # Errors
    ///
    /// If a row cannot be read.
    pub fn read<R: BufRead>(
        name: impl Into<String>,
        image: &Image,
        rows: &mut Source<R>,
        limit: u64,
    ) -> Result<Self, SourceError> {
        let (mut workload, instructions, mut done) =
            (Self::new(name, image), Instructions::of(image), 0);
        while done < limit
            && let Some(row) = rows.next_row()?
        {
            workload.push(&row.retired);
            done += instructions.count(&row.retired);
        }
        workload.cut = done >= limit && rows.next_row()?.is_some();
        Ok(workload)
    }

    /// Executes a program for at most `limit` steps.
    ///
    /// # Errors
    ///
    /// If it cannot be executed, ends because of a fault, or fails: that is no workload.
    pub fn execute(program: &Program, limit: u64) -> Result<Self, ProgramError> {
        let mut workload = Self::new(program.name(), program.image());
        let ending = program.execute(limit, |rows| {
            rows.iter().for_each(|row| workload.push(row));
            Ok::<(), ProgramError>(())
        })?;
        program.succeeded(ending.exit, &ending.unknown_calls)?;
        workload.cut = ending.exit == Exit::Limit;
        workload.tvec = program.knows_trap_vectors().then_some(ending.tvec);
        Ok(workload)
    }

    /// Adds a row; each uses about two bytes of memory.
    pub fn push(&mut self, row: &Retired) {
        self.rows.push(row);
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The addresses of all instructions, in order.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.rows.iter().flat_map(|row| self.addresses_of(row))
    }

    /// The addresses of the instructions of a row.
    pub(super) fn addresses_of(&self, row: &Retired) -> impl Iterator<Item = u64> + '_ {
        let xlen = self.code.xlen();
        let mut pc = xlen.wrap(row.iaddr);
        let mut left = row.iretire;
        std::iter::from_fn(move || {
            let size = self.code.insn(pc).ok().filter(|_| left > 0)?.size;
            left = left.saturating_sub(u32::from(size / 2));
            let here = pc;
            pc = xlen.wrap(pc.wrapping_add(size.into()));
            Some(here)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartrace_executions::executed::bundled::PROGRAMS;

    /// Given an argument that is no number, the program fails.
    #[test]
    fn a_program_that_fails_is_no_workload() {
        let (name, elf) = PROGRAMS.iter().find(|(name, _)| *name == "linux").expect("bundled");
        let program = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
            Program::new(*name, elf.to_vec())?.arguments(&arguments)
        };
        let error = Workload::execute(&program(&["x"]).expect("it can run"), 10_000_000);
        let text = error.expect_err("it fails").to_string();
        let code = text.strip_prefix("linux: ended with exit code ").expect("its code");
        let code = code.split(|c: char| !c.is_ascii_digit()).next().and_then(|c| c.parse().ok());
        let code: i32 = code.expect("a number");
        let other = program(&["x"]).expect("it can run").succeeds_with(code);
        assert!(Workload::execute(&other, 10_000_000).expect("that is its success").rows() > 0);
        let ended = program(&["3"]).expect("it can run").succeeds_with(code);
        assert!(Workload::execute(&ended, 10_000_000).is_err());
        let cut = Workload::execute(&program(&["x"]).expect("it can run"), 5);
        assert!(cut.expect("it was cut before").rows() > 0);
    }
}
