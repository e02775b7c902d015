//! Errors of executing a program.

use super::missing_calls;
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
            Problem::NoLinker { .. } => Some(
                "--sysroot DIR with the libraries of its machine (Debian: libc6-riscv64-cross), or link it with -static",
            ),
            Problem::Replaced { .. } => {
                Some("our hart, on which no address of code is used again (without --with qemu)")
            }
            Problem::NoEntry => Some("a program that uses it"),
            Problem::NoLibrary { .. } => Some("--sysroot DIR with all its libraries"),
            Problem::NewProcess { .. } => Some(
                "a program with threads instead, or QEMU, which executes other processes untraced",
            ),
            Problem::Extension(_) => Some("build without it, or let QEMU execute it"),
            Problem::Failed { .. } => Some("what it needs to succeed, or a --limit before its end"),
            Problem::Fault { .. } => Some("a trap handler, or an address within memory"),
            Problem::Stuck { .. } => Some("a --limit, if it is meant to run for ever"),
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
    /// It is for other programs to load.
    #[error("a shared library without a first instruction, which cannot be executed alone")]
    NoEntry,
    /// It runs without an operating system, which could pass arguments to it.
    #[error("a bare-metal program takes no arguments")]
    Arguments,
    /// It runs without an operating system, which could read for it.
    #[error("a bare-metal program reads neither standard input nor files")]
    Reads,
    /// It is dynamically linked, and its dynamic linker is in none of these folders.
    #[error("dynamically linked, and there is no {linker} in {}", listed(places))]
    NoLinker {
        /// Its dynamic linker.
        linker: String,
        /// The folders.
        places: Vec<PathBuf>,
    },
    /// It does not find some of its libraries.
    #[error("its dynamic linker finds no {} in {}", names.join(", "), sysroot.display())]
    NoLibrary {
        /// The libraries.
        names: Vec<String>,
        /// Where they should be.
        sysroot: PathBuf,
    },
    /// One of its libraries cannot be read.
    #[error("its library {}: {why}", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A library was loaded where other code was before: a trace is decoded with one program for each address.
    #[error("its library {} is at {address:#x}, where other code was before", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
        /// The address.
        address: u64,
    },
    /// All of its threads wait for each other.
    #[error("its {threads} threads wait for each other, the last since the system call at {pc:#x}")]
    Deadlock {
        /// The address of the system call.
        pc: u64,
        /// Their number.
        threads: u64,
    },
    /// It wanted another process.
    #[error("starts another process at {pc:#x}, which our hart does not have")]
    NewProcess {
        /// The address of the system call.
        pc: u64,
    },
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
        /// System calls that it made, and that our hart does not have, each with how often.
        calls: Vec<(u64, u64)>,
    },
    /// A signal ended it, here with what is known of the reason.
    #[error("ended with {0}")]
    Signal(String),
    /// What it should share with this process cannot be had.
    #[error("it cannot use the streams or the folder of this process: {0}")]
    Share(std::io::Error),
    /// It jumps to itself, or waits, where nothing can interrupt it.
    #[error("waits, or jumps to itself, at {pc:#x} for ever")]
    Stuck {
        /// The address of the instruction.
        pc: u64,
    },
    /// It raised an exception for which it has no handler.
    #[error("{} at address {tval:#x}, by the instruction at {pc:#x}", fault(*cause))]
    Fault {
        /// The address of the instruction.
        pc: u64,
        /// The exception code.
        cause: u64,
        /// The trap value.
        tval: u64,
    },
}

/// What the code of an exception means.
fn fault(cause: u64) -> String {
    let name = match cause {
        0 => "misaligned jump",
        1 | 12 => "fetch fault",
        3 => "breakpoint",
        4 => "misaligned load",
        5 | 13 => "load fault",
        6 => "misaligned store",
        7 | 15 => "store fault",
        _ => return format!("exception {cause}"),
    };
    format!("{name} (exception {cause})")
}

/// Folders, one after the other.
fn listed(places: &[PathBuf]) -> String {
    let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    places.join(", ")
}

/// System calls that failed, if any.
fn failed_calls(calls: &[(u64, u64)]) -> String {
    missing_calls(calls).map_or_else(String::new, |calls| format!("; {calls}"))
}

impl Problem {
    /// Returns what stopped a run, if the author of the program can fix it.
    pub(super) fn of(exit: Exit) -> Option<Self> {
        match exit {
            Exit::Unsupported { pc, encoding } => Some(Self::Unsupported { pc, encoding }),
            Exit::Deadlock { pc, threads } => Some(Self::Deadlock { pc, threads }),
            Exit::NewProcess { pc } => Some(Self::NewProcess { pc }),
            Exit::Fault { pc, cause, tval } => Some(Self::Fault { pc, cause, tval }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_program_and_instruction() {
        let text =
            |calls: &[(u64, u64)]| Problem::Failed { code: 1, calls: calls.to_vec() }.to_string();
        assert_eq!(text(&[]), "ended with exit code 1");
        assert!(text(&[(221, 1)]).starts_with("ended with exit code 1; our hart does not have"));
        let problem = Problem::of(Exit::Unsupported { pc: 0x8000_0004, encoding: 0x57 }).unwrap();
        let error = ProgramError { place: "a.elf".into(), problem };
        let expected =
            "a.elf: no instruction 0x00000057 at 0x80000004; try: build for rv32gc or rv64gc";
        assert_eq!(error.to_string(), expected);
    }
}
