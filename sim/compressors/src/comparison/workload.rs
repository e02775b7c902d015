//! An execution and its program.

use super::rows::Rows;
use crate::Code;
use hartrace_decoder::Image;
use hartrace_etrace::ingress::Retired;
use hartrace_sources::executed::{Program, ProgramError};
use hartrace_sources::{Source, SourceError};
use std::io::BufRead;

/// An execution.
#[derive(Debug)]
pub struct Workload {
    pub(super) name: String,
    pub(super) code: Code,
    pub(super) rows: Rows,
    /// Contents of the trap vector registers by privilege, if known.
    pub(super) tvec: Option<Vec<(u8, u64)>>,
}

impl Workload {
    /// Creates an empty workload for an execution from a log; add rows with [`Workload::push`].
    pub fn new(name: impl Into<String>, image: &Image) -> Self {
        let (name, code) = (name.into(), Code::new(image));
        Self { name, code, rows: Rows::default(), tvec: None }
    }

    /// Reads at most `limit` rows of a log.
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
        let mut workload = Self::new(name, image);
        while (workload.rows() as u64) < limit
            && let Some(row) = rows.next_row()?
        {
            workload.push(&row.retired);
        }
        Ok(workload)
    }

    /// Executes a program for at most `limit` steps.
    ///
    /// # Errors
    ///
    /// If it cannot be executed, or ends because of a fault.
    pub fn execute(program: &Program, limit: u64) -> Result<Self, ProgramError> {
        let mut workload = Self::new(program.name(), program.image());
        let ending = program.execute(limit, |rows| {
            rows.iter().for_each(|row| workload.push(row));
            Ok::<(), ProgramError>(())
        })?;
        program.check(ending.exit)?;
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
        let xlen = self.code.xlen();
        self.rows.iter().flat_map(move |row| {
            let mut pc = xlen.wrap(row.iaddr);
            let mut left = row.iretire;
            std::iter::from_fn(move || {
                let size = self.code.insn(pc).ok().filter(|_| left > 0)?.size;
                left = left.saturating_sub(u32::from(size / 2));
                let here = pc;
                pc = xlen.wrap(pc.wrapping_add(size.into()));
                Some(here)
            })
        })
    }
}
