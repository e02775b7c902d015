//! `hartrace image`: writes the blocks of a program as a table for the walker in hardware.

use crate::args::ImageArgs;
use crate::failure::{Failure, Status};
use crate::{files, image};
use hartrace_capture::programs::{TableError, table_of};
use hartrace_decoder::block_table::WordLayout;
use hartrace_report::lists::block_table_json;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &ImageArgs) -> Result<Status, Failure> {
    let (table, overlaps) = table_of(image::placed(&args.elf, &args.image)?)?;
    image::warn_of(overlaps);
    let needed = table.layout();
    let layout = match args.entries {
        Some(entries) => WordLayout::new(entries, args.reach << 10),
        None => needed,
    };
    table.words(&layout).map_err(|error| {
        let hint = format!("--entries {} or more, and --reach", 1u64 << needed.index_bits);
        Failure::usage(error).at(files::name(&args.elf[0].path)).hint(hint)
    })?;
    let mut out = files::create(&args.output)?;
    match args.binary {
        true => table.write_binary(&layout, &mut out),
        false => table.write_hex(&layout, &mut out),
    }?;
    out.finish()?;
    if !files::is_standard_output(&args.output) {
        let mut out = files::stdout();
        match args.json {
            true => writeln!(out, "{}", block_table_json(&table, &layout))?,
            false => writeln!(out, "{}, base {:#x}", table.summary(&layout), table.base())?,
        }
        out.flush()?;
    }
    Ok(Status::Clean)
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Bare(_) => Self::usage(
                "--image with an Arm program, whose instruction sets are those of its symbols",
            )
            .hint("an ELF file"),
            TableError::Arm { name, error } => {
                Self::input(error).at(name).hint("the program after linking, with its symbols")
            }
            TableError::Riscv(error) => error.into(),
            error => Self::input(error),
        }
    }
}
