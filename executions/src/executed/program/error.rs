//! Errors of executing a program.

use crate::qemu::QemuError;
use hartrace_decoder::ElfError;
use hartrace_iss::{Exit, LoadError};
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// A program cannot be executed, or cannot be executed to its end.
#[derive(Debug, Error)]
pub struct ProgramError {
    /// The file of the program, or its name if it was not read from a file.
    pub place: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: Problem,
}

impl ProgramError {
    /// Returns what to try, unless the problem already states it.
    pub fn hint(&self) -> Option<&'static str> {
        match self.problem {
            Problem::Unsupported { .. } => Some("build for rv32gc or rv64gc"),
            Problem::Extension(_) => Some("build without it, or let QEMU execute it"),
            Problem::Failed { .. } => Some("what it needs to succeed, or a --limit before its end"),
            Problem::Fault { .. } => Some("a trap handler, or an address within memory"),
            _ => None,
        }
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place.display(), self.problem)?;
        self.hint().map_or(Ok(()), |hint| write!(f, "; try: {hint}"))
    }
}

/// What is wrong with a program.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Problem {
    /// It has no code that can be decoded.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// The hart cannot load it.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// QEMU cannot run it, or cannot run it to its end.
    #[error(transparent)]
    Qemu(#[from] QemuError),
    /// QEMU would open another file.
    #[error("QEMU cannot give it a file {0}; try: a name within the current folder, or our hart")]
    FileName(String),
    /// It runs without an operating system, which could pass arguments to it.
    #[error("a bare-metal program takes no arguments")]
    Arguments,
    /// It runs without an operating system, which could read for it.
    #[error("a bare-metal program reads neither standard input nor files")]
    Reads,
    /// It was built for an extension that the hart does not implement, and whose instructions would be taken
    /// for others.
    #[error("built for {0}, which our hart does not have")]
    Extension(&'static str),
    /// It contains an instruction that the hart does not implement.
    #[error("no instruction {encoding:#010x} at {pc:#x}")]
    Unsupported {
        /// The address of the instruction.
        pc: u64,
        /// The instruction.
        encoding: u32,
    },
    /// It says that it has failed.
    #[error("ended with exit code {code}{}", failed_calls(calls))]
    Failed {
        /// The exit code.
        code: i32,
        /// System calls that it made, and that our hart does not have.
        calls: Vec<u64>,
    },
    /// It raised an exception for which it has no handler.
    #[error("exception {cause} at {pc:#x}, tval {tval:#x}, and no handler")]
    Fault {
        /// The address of the instruction.
        pc: u64,
        /// The exception code.
        cause: u64,
        /// The trap value.
        tval: u64,
    },
}

/// System calls that failed, if any, by name or by number.
fn failed_calls(calls: &[u64]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let names: Vec<String> = calls.iter().map(|call| call_name(*call)).collect();
    format!("; our hart does not have its system calls {}", names.join(", "))
}

/// The name of a system call that programs may miss.
fn call_name(number: u64) -> String {
    const NAMES: [(u64, &str); 24] = [
        (17, "getcwd"),
        (23, "dup"),
        (24, "dup3"),
        (25, "fcntl"),
        (34, "mkdirat"),
        (35, "unlinkat"),
        (46, "ftruncate"),
        (49, "chdir"),
        (59, "pipe2"),
        (61, "getdents64"),
        (68, "pwrite64"),
        (72, "pselect6"),
        (73, "ppoll"),
        (101, "nanosleep"),
        (115, "clock_nanosleep"),
        (132, "sigaltstack"),
        (165, "getrusage"),
        (179, "sysinfo"),
        (198, "socket"),
        (216, "mremap"),
        (220, "clone"),
        (221, "execve"),
        (276, "renameat2"),
        (291, "statx"),
    ];
    match NAMES.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => format!("{name} ({number})"),
        None => number.to_string(),
    }
}

impl Problem {
    /// Returns what stopped a run, if the author of the program can fix it.
    pub(super) fn of(exit: Exit) -> Option<Self> {
        match exit {
            Exit::Unsupported { pc, encoding } => Some(Self::Unsupported { pc, encoding }),
            Exit::Fault { pc, cause, tval } => Some(Self::Fault { pc, cause, tval }),
            _ => None,
        }
    }
}

/// Describes how a run ended, unless it ended successfully or at its limit.
pub fn complaint(exit: Exit) -> Option<String> {
    match (Problem::of(exit), exit) {
        (Some(problem), _) => Some(problem.to_string()),
        (None, Exit::Exited(0) | Exit::Limit | Exit::Stuck { .. }) => None,
        (None, Exit::Exited(code)) => Some(format!("exit code {code}")),
        (None, _) => Some("stopped".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_system_calls_are_named() {
        let text = |calls: &[u64]| Problem::Failed { code: 1, calls: calls.to_vec() }.to_string();
        assert_eq!(text(&[]), "ended with exit code 1");
        let expected =
            "ended with exit code 1; our hart does not have its system calls statx (291), 9000";
        assert_eq!(text(&[291, 9000]), expected);
    }

    #[test]
    fn complaints_name_the_instruction() {
        assert_eq!(complaint(Exit::Exited(0)), None);
        assert_eq!(complaint(Exit::Limit), None);
        assert_eq!(complaint(Exit::Exited(3)).as_deref(), Some("exit code 3"));
        let exit = Exit::Unsupported { pc: 0x8000_0004, encoding: 0x57 };
        let text = "no instruction 0x00000057 at 0x80000004";
        assert_eq!(complaint(exit).as_deref(), Some(text));
        let problem = Problem::of(exit).unwrap();
        let error = ProgramError { place: "a.elf".into(), problem };
        assert_eq!(error.to_string(), format!("a.elf: {text}; try: build for rv32gc or rv64gc"));
    }
}
