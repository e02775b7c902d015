//! Captures of programs that are bundled.

use hartrace_executions::executed::Program;
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_iss::Step;
use hartrace_tests::captures::{self, Folder};
use std::path::PathBuf;

/// The largest number of instructions.
const LIMIT: u64 = 300_000;

/// Traces a bundled program; returns the capture, and what was executed.
pub(crate) fn trace(folder: &Folder, name: &str, mode: &str) -> (PathBuf, Vec<u64>) {
    let capture = captures::trace(folder, name, mode, LIMIT);
    let (_, elf) = PROGRAMS.iter().find(|(other, _)| *other == name).expect("a program");
    let program = Program::new(name, elf.to_vec()).unwrap();
    let mut executed = Vec::new();
    program
        .steps(LIMIT, &mut |step: &Step| {
            if step.retires {
                executed.push(step.pc);
            }
        })
        .unwrap();
    let known = hartrace::open(&capture).unwrap().description().unwrap().capture.instructions;
    executed.truncate(known.expect("it says how many") as usize);
    (capture, executed)
}
