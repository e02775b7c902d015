//! What was executed, with the program.

use super::rows::Rows;
use crate::args::{SchemesArgs, With};
use crate::exec::program::Program;
use crate::failure::Failure;
use crate::image;
use crate::{files, input};
use hartrace_compressors::Code;
use hartrace_ingress::ITypeWidth;
use hartrace_isa::Xlen;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// An execution.
pub(super) struct Workload {
    pub(super) name: String,
    pub(super) code: Code,
    pub(super) rows: Rows,
    /// Trap vectors by privilege, if they are known.
    pub(super) tvec: Option<Vec<(u8, u64)>>,
}

/// A program to execute; `None` if the file is something else.
pub(super) fn program(path: &Path) -> Result<Option<Program>, Failure> {
    if files::is_standard(path) {
        return Ok(None);
    }
    let mut magic = Vec::new();
    let file = File::open(path).map_err(|error| files::unreadable(path, &error))?;
    file.take(4).read_to_end(&mut magic).map_err(|error| files::unreadable(path, &error))?;
    if magic != *b"\x7fELF" {
        return Ok(None);
    }
    Program::open(path, &[], With::Iss).map(Some)
}

impl Workload {
    /// A program to execute, or a log.
    pub(super) fn open(path: &Path, args: &SchemesArgs) -> Result<Self, Failure> {
        if let Some(program) = program(path)? {
            return Self::execute(&program, args.limit);
        }
        Self::read(path, args)
    }

    /// Executes a program.
    pub(super) fn execute(program: &Program, limit: u64) -> Result<Self, Failure> {
        let mut rows = Rows::default();
        let ending = program.execute(limit, |some| {
            some.iter().for_each(|row| rows.push(row));
            Ok(())
        })?;
        if let Some(failure) = program.failure(ending.exit) {
            return Err(failure);
        }
        let knows_vectors = program.has_vectors();
        let (name, code) = (program.name.clone(), Code::new(&program.image));
        Ok(Self { name, code, rows, tvec: knows_vectors.then_some(ending.tvec) })
    }

    /// Reads a log.
    fn read(path: &Path, args: &SchemesArgs) -> Result<Self, Failure> {
        let Some(first) = args.elf.first() else {
            return Err(Failure::usage("a log cannot be compressed without the program")
                .at(files::name(path))
                .hint("--elf PROG"));
        };
        let xlen =
            if files::read(&first.path)?.get(4) == Some(&1) { Xlen::Rv32 } else { Xlen::Rv64 };
        let programs = image::load(&args.elf, &[], &[], xlen)?;
        let options = input::options(&args.format, Some(xlen), ITypeWidth::Four);
        let (mut source, bar) = input::open(path, &options)?;
        let mut rows = Rows::default();
        while (rows.len() as u64) < args.limit
            && let Some(row) = source.next_row()?
        {
            rows.push(&row.retired);
        }
        bar.finish_and_clear();
        let name = path
            .file_stem()
            .map_or_else(|| files::name(path), |stem| stem.to_string_lossy().into());
        Ok(Self { name, code: Code::new(programs.image(0)), rows, tvec: None })
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
