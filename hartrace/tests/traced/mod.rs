//! Captures of programs that are bundled.

use hartrace_capture::output::{CaptureOutput, Output};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_executions::executed::round::{RoundError, Trial};
use hartrace_executions::executed::{Program, modes};
use hartrace_iss::Step;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest number of instructions.
const LIMIT: u64 = 300_000;

/// Executes a program that is bundled, writes its trace with a description, and returns what was executed.
pub(crate) fn trace(name: &str, mode: &str, folder: &str) -> (PathBuf, Vec<u64>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).unwrap();
    let (_, elf) = PROGRAMS.iter().find(|(other, _)| *other == name).expect("a program");
    let program = Program::new(name, elf.to_vec()).unwrap();
    let path = folder.join(format!("{name}.elf"));
    Output::write(&path, program.elf()).unwrap();
    let output = folder.join(format!("{name}-{mode}.trace"));
    let create = |_: &str| -> Result<_, RoundError> {
        Ok(Some(CaptureOutput::create(&output).map_err(|error| RoundError::Write(error.into()))?))
    };
    let options = [modes::named(mode).unwrap()];
    let trial = Trial { program: &program, modes: &options, limit: LIMIT };
    let mut lines = trial.run(create, |_| Ok(())).unwrap();
    lines[0].save(&program, &path, ["test".into()]).unwrap();
    let mut executed = Vec::new();
    program
        .steps(LIMIT, &mut |step: &Step| {
            if step.retires {
                executed.push(step.pc);
            }
        })
        .unwrap();
    executed.truncate(lines[0].figures.decoded as usize);
    (output, executed)
}
