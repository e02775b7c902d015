//! `hartrace image`: writes the blocks of a program as a table for the walker in hardware.

use crate::args::ImageArgs;
use crate::failure::{Failure, Status};
use crate::{files, image};
use hartrace_arm_decoder::block_table::Code;
use hartrace_capture::description::At;
use hartrace_decoder::block_table::{BlockTable, WordLayout};
use hartrace_isa::Xlen;
use hartrace_isa::arm::{Arch, Rules};
use serde_json::json;
use std::io::Write;

/// The blocks of a RISC-V program.
fn riscv(args: &ImageArgs, xlen: Xlen) -> Result<BlockTable, Failure> {
    let programs = image::load(image::placed(&args.elf, &args.image)?, xlen)?;
    let functions = programs.all_symbols().functions();
    let roots: Vec<u64> = functions.iter().map(|function| function.range.start).collect();
    Ok(BlockTable::build(programs.image(0), &roots, WordLayout::SPAN_BITS))
}

/// The blocks of an Arm program. Branches of all versions of the architecture are known.
fn arm(args: &ImageArgs) -> Result<BlockTable, Failure> {
    if !args.image.is_empty() {
        return Err(Failure::usage(
            "--image with an Arm program, whose instruction sets are those of its symbols",
        )
        .hint("an ELF file"));
    }
    let mut code = Code::new(Rules { arch: Arch::Later, barriers: false, wfx: false });
    for image::Code { name, bytes, at, .. } in image::elf(&args.elf)? {
        let At::Bias(bias) = at else { continue };
        code.add_elf(&bytes, bias).map_err(|error| {
            let hint = "the program after linking, with its symbols";
            Failure::input(error).at(name).hint(hint)
        })?;
    }
    Ok(code.table(&[], WordLayout::SPAN_BITS))
}

/// Runs the command.
pub(crate) fn run(args: &ImageArgs) -> Result<Status, Failure> {
    let first = files::read(&args.elf[0].path)?;
    let table = match first.get(18..20) {
        Some([40 | 183, 0]) => arm(args)?,
        _ => riscv(args, image::xlen(&first))?,
    };
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
