//! `hartrace demo`: the whole loop on the bundled programs, in
//! every mode. Nothing else is needed.

use crate::args::{CapturedArgs, DemoArgs};
use crate::failure::{Failure, Status};
use crate::job::{Job, Product};
use crate::{exec, files, produce, progress};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_executions::executed::round::{Line, Ran, Table, Trial};
use hartrace_executions::executed::{Program, modes};
use std::io::{self, Write};

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
        let path = folder.join(format!("{name}.elf"));
        files::write_new(&path, elf).map_err(|failure| failure.hint("--output-dir DIR"))?;
        let modes = modes::all(&program)?;
        let trial = Trial { program: &program, modes: &modes, limit: STEPS };
        let file = |mode: &str| Some(folder.join(format!("{name}.{mode}.te")));
        let Ran { lines, stopped } = exec::trace(&trial, &path, file, &bar, |_| Ok(()))?;
        if let Some(failure) = stopped {
            return Err(failure);
        }
        if !bar.suspend(|| table.print(&lines))? || lines.iter().any(Line::has_failed) {
            status = Status::Different;
        }
    }
    bar.finish_and_clear();
    table.finish(&[])?;
    if !args.json {
        let place = folder.display();
        writeln!(
            io::stdout(),
            "\nPrograms, traces and their descriptions are in {place}. Look into one:\n  hartrace \
             decode {place}/calls.ir.te --emit listing | less\nA page that shows this one, for a browser:"
        )?;
        let (capture, page) = (folder.join("calls.ir.te"), folder.join("report.html"));
        let captured = CapturedArgs::new(&capture).map_err(Failure::usage)?;
        produce::run(&Job { output: Some(&page), ..Job::new(&captured, Product::Page(&[])) })?;
    }
    Ok(status)
}
