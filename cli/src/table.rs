//! `hartrace image`: writes the blocks of a program as a table for the walker in hardware.

use crate::args::ImageArgs;
use crate::failure::{Failure, Status};
use crate::{files, image};
use hartrace_decoder::block_table::{BlockTable, WordLayout};
use serde_json::json;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &ImageArgs) -> Result<Status, Failure> {
    let xlen = image::xlen(&files::read(&args.elf[0].path)?);
    let programs = image::load(image::placed(&args.elf, &args.image)?, xlen)?;
    let functions = programs.all_symbols().functions();
    let roots: Vec<u64> = functions.iter().map(|function| function.range.start).collect();
    let table = BlockTable::build(programs.image(0), &roots, WordLayout::SPAN_BITS);
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
    let written = match args.binary {
        true => table.write_binary(&layout, &mut out),
        false => table.write_hex(&layout, &mut out),
    };
    let written = written.and_then(|()| out.flush());
    written.map_err(|error| Failure::write(files::output_name(&args.output), &error))?;
    if !files::is_standard(&args.output) {
        let (summary, base) = (table.summary(&layout), table.base());
        let mut out = files::stdout();
        match args.json {
            true => writeln!(
                out,
                "{}",
                json!({
                    "entries": summary.entries, "holes": summary.holes, "depth": summary.depth, "base": base,
                    "width": summary.width, "block_rams": summary.block_rams, "start_bits": layout.start_bits,
                    "span_bits": layout.span_bits, "index_bits": layout.index_bits,
                })
            )?,
            false => writeln!(out, "{summary}, base {base:#x}")?,
        }
        out.flush()?;
    }
    Ok(Status::Clean)
}
