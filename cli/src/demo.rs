//! `hartrace demo`, the command that runs without arguments: the whole loop on the bundled programs, in
//! every mode. Nothing else is needed.

use crate::args::DemoArgs;
use crate::bundled::PROGRAMS;
use crate::failure::{Failure, Status};
use crate::{exec, files, progress};
use hartrace_sources::executed::round::{Table, Trial};
use hartrace_sources::executed::{Program, modes};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Maximum number of steps per program; all but the longest program end earlier.
const STEPS: u64 = 3_000_000;

/// Runs the demonstration; [`Status::Different`] if any instruction is decoded wrongly.
pub(crate) fn run(args: &DemoArgs) -> Result<Status, Failure> {
    let folder =
        args.output_dir.clone().unwrap_or_else(|| std::env::temp_dir().join("hartrace-demo"));
    let mut status = Status::Clean;
    let mut table = Table::new(files::stdout(), args.json);
    let bar = progress::executed();
    for (name, elf) in PROGRAMS {
        bar.set_message(name);
        let program = Program::new(name, elf.to_vec())?;
        write(&folder.join(format!("{name}.elf")), elf)?;
        let modes = exec::all_modes(&program)?;
        let trial = Trial { program: &program, modes: &modes, limit: STEPS };
        let output = |mode: &str| {
            let file = folder.join(format!("{name}.{mode}.te"));
            exec::capture(&file).map(Some)
        };
        let lines = trial.run(output, |rows| {
            bar.inc(exec::half_words(rows));
            Ok(())
        })?;
        if !bar.suspend(|| table.print(&lines))? {
            status = Status::Different;
        }
    }
    bar.finish_and_clear();
    for xlen in [hartrace_isa::Xlen::Rv32, hartrace_isa::Xlen::Rv64] {
        let params = toml::to_string(&modes::params(xlen)).map_err(Failure::usage)?;
        let text = format!("{params}\n[options]\nunit = \"hartrace\"\n");
        write(&folder.join(format!("params-rv{}.toml", xlen.bits())), text.as_bytes())?;
    }
    table.finish(&[])?;
    if !args.json {
        let mut out = io::stdout().lock();
        let place = folder.display();
        writeln!(
            out,
            "\nPrograms, traces and parameters are in {place}. Look into one:\n  hartrace decode \
             {place}/calls.ir.te --elf {place}/calls.elf --params {place}/params-rv64.toml \
             --emit listing | less"
        )?;
    }
    Ok(status)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let cannot = |error| {
        Failure::input(format_args!("cannot write: {error}"))
            .at(path.display().to_string())
            .hint("--output-dir DIR")
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    fs::write(path, bytes).map_err(cannot)
}
