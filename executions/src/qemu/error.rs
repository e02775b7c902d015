use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a run failed; each message is one line that states what to try.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QemuError {
    /// QEMU is not installed.
    #[error("{binary} was not found; try: apt-get install {package}")]
    NotInstalled {
        /// The command that was not found.
        binary: &'static str,
        /// The Debian package that contains it.
        package: &'static str,
    },
    /// There is no C compiler for the plugin.
    #[error("no C compiler for the QEMU plugin; try: apt-get install gcc")]
    NoCompiler,
    /// The C compiler rejected the plugin.
    #[error("cc cannot compile the QEMU plugin: {0}")]
    Compiler(String),
    /// The program cannot be read.
    #[error("{}: cannot read: {error}", .program.display())]
    Unreadable {
        /// Its path.
        program: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The program is not an ELF file.
    #[error("{}: not an ELF file: {why}; try: an executable", .program.display())]
    NotElf {
        /// Its path.
        program: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The program is for another machine than requested.
    #[error("{}: ELF machine {machine}, not {wanted}; try: a compiler for that", .program.display())]
    WrongArchitecture {
        /// Its path.
        program: PathBuf,
        /// The expected machine.
        wanted: &'static str,
        /// `e_machine` of its header.
        machine: u16,
    },
    /// The program needs a dynamic linker, but its location is not set.
    #[error("{}: dynamically linked; try: link with -static, or set QEMU_LD_PREFIX to a root of its architecture", .program.display())]
    Dynamic {
        /// Its path.
        program: PathBuf,
    },
    /// QEMU ended before it loaded the plugin.
    #[error(
        "{binary} ended ({status}) without loading the plugin; try: QEMU 6 to 8 with plugins, such as Debian 12's"
    )]
    Plugin {
        /// The command.
        binary: &'static str,
        /// How it ended.
        status: String,
    },
    /// QEMU ended before the first instruction.
    #[error(
        "{binary} ended ({status}) before the first instruction; try: its messages on standard error"
    )]
    NotStarted {
        /// The command.
        binary: &'static str,
        /// How it ended.
        status: String,
    },
    /// A signal ended the program. The sink has seen everything up to it.
    #[error("{}: killed by signal {signal} after {instructions} instructions; the last row has the address", .program.display())]
    Killed {
        /// Its path.
        program: PathBuf,
        /// The signal.
        signal: i32,
        /// Number of instructions before it.
        instructions: u64,
    },
    /// An Arm program started a thread, or the machine has a second hart.
    #[error(
        "a second thread or hart after {instructions} instructions; try: a program with one, or -smp 1"
    )]
    SeveralHarts {
        /// Number of instructions before it.
        instructions: u64,
    },
    /// QEMU keeps writing its log, from which traps and privilege are read, but no longer executes anything.
    /// The sink may miss the last traps.
    #[error(
        "nothing is executed after the block at {address:#x}, but QEMU's log grows; try: a trap handler that can be fetched, and unimp for an illegal instruction"
    )]
    Endless {
        /// Start of the block that was translated last.
        address: u64,
    },
    /// The instruction set of a block is unknown: QEMU has no disassembler.
    #[error(
        "QEMU does not report the instruction set at {address:#x}; try: a QEMU with Capstone, such as Debian 12's"
    )]
    NoInstructionSet {
        /// Start of the block.
        address: u64,
    },
    /// The plugin's report contradicts itself: an error in this crate, or an unknown QEMU.
    #[error(
        "QEMU's report is broken at word {at}: {what}; please report it with the version of QEMU"
    )]
    Report {
        /// Number of words of the report before it.
        at: u64,
        /// What is wrong.
        what: String,
    },
    /// A file or socket of the run cannot be used.
    #[error("{what}: {error}; try: TMPDIR in a short path with space left")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        error: io::Error,
    },
}

impl QemuError {
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { what, error }
    }
}
