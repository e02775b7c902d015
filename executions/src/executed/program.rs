//! A program and everything needed to execute it.

mod by_qemu;
mod calls;
mod ended;
mod error;
mod libraries;
mod loaded;
mod shared;
mod threads;

use crate::executed::{Port, Steps};
pub use calls::missing_calls;
use elf::ElfBytes;
use elf::endian::LittleEndian;
pub use error::{Problem, ProgramError};
use hartrace_capture::text::shown;
use hartrace_decoder::Image;
use hartrace_etrace::ingress::Retired;
use hartrace_isa::{Isa, Xlen};
use hartrace_iss::{Environment, Exit, Hart, HartConfig, Range, Retire, Step};
pub use libraries::Library;
pub use loaded::{Loaded, Progress};
pub use shared::{Print, Shared, Variables};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Number of steps that are executed and passed on at a time.
const CHUNK: u64 = 1 << 18;

/// Number of half-words after which a block is passed on even if nothing ends it.
const LONGEST: u32 = 1 << 10;

/// Memory of bare-metal programs.
const MEMORY: Range = Range { base: 0x8000_0000, size: 256 << 20 };

/// What executes a program.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Executor {
    /// [`hartrace_iss::Hart`].
    #[default]
    Hart,
    /// QEMU, which is faster. It does not report the cause and the trap value of faults.
    Qemu,
}

impl Executor {
    /// All of them, each with its name and a description.
    pub const NAMED: [(&'static str, Self, &'static str); 2] = [
        ("iss", Self::Hart, "Our own hart"),
        ("qemu", Self::Qemu, "QEMU, which is faster. Cause and value of faults are not known"),
    ];
}

/// A program to execute.
///
/// A program with the symbol `tohost` runs without an operating system and communicates with its host through
/// memory; any other is treated as a Linux program. One that is dynamically linked needs the folder of its libraries, see
/// [`linked_in`](Program::linked_in).
///
/// ```no_run
/// use hartrace_executions::executed::{Program, ProgramError};
///
/// let program = Program::new("sort", std::fs::read("sort.elf")?)?;
/// let mut blocks = 0;
/// let ending = program.execute(1_000_000, |rows| {
///     blocks += rows.len();
///     Ok::<(), ProgramError>(())
/// })?;
/// println!("{} instructions in {blocks} blocks", ending.instructions);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    path: Option<PathBuf>,
    executor: Executor,
    arguments: Vec<String>,
    input: Vec<u8>,
    files: Vec<(String, Vec<u8>)>,
    /// What it uses of this process, instead of `input` and `files`.
    shared: Option<Shared>,
    /// The signal that stops a run, once there is one.
    stop: fn() -> Option<i32>,
    /// The exit status that means success.
    success: i32,
    elf: Vec<u8>,
    /// What is added to the addresses of the file.
    bias: u64,
    /// Where a dynamically linked program finds its libraries.
    sysroot: Option<PathBuf>,
    image: Image,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Why it ended.
    pub exit: Exit,
    /// Instructions that retired.
    pub instructions: u64,
    /// Contents of the trap vector registers by privilege, at the end of the run.
    pub tvec: Vec<(u8, u64)>,
    /// Numbers of the system calls of Linux that the program made and that our hart does not have, each with how often.
    pub unknown_calls: Vec<(u64, u64)>,
}

impl Program {
    /// Reads a program from the bytes of an ELF file that exists only in this process. The hart executes it.
    ///
    /// # Errors
    ///
    /// If it is not an ELF file for RISC-V with code in it.
    pub fn new(name: impl Into<String>, elf: Vec<u8>) -> Result<Self, ProgramError> {
        Self::read(name.into(), None, elf)
    }

    /// Reads a program from the bytes of an ELF file at `path`, which errors name. The hart executes it by default.
    ///
    /// # Errors
    ///
    /// If it is not an ELF file for RISC-V with code in it.
    pub fn of_file(path: &Path, elf: Vec<u8>) -> Result<Self, ProgramError> {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        Self::read(shown(Path::new(name)), Some(path.into()), elf)
    }

    fn read(name: String, path: Option<PathBuf>, elf: Vec<u8>) -> Result<Self, ProgramError> {
        // The ELF class: bytes that are not an ELF file are rejected below.
        let xlen = if elf.get(4) == Some(&1) { Xlen::Rv32 } else { Xlen::Rv64 };
        let mut image = Image::new(Isa::new(xlen));
        // Our hart loads what can be anywhere there.
        let bias = if Self::is_relocatable(&elf) { hartrace_iss::BIAS } else { 0 };
        let added = image.add_elf(&elf, bias);
        let (executor, arguments) = (Executor::default(), Vec::new());
        let program = Self {
            name,
            path,
            executor,
            arguments,
            input: Vec::new(),
            files: Vec::new(),
            shared: None,
            stop: || None,
            success: 0,
            elf,
            bias,
            sysroot: None,
            image,
        };
        added.map_err(|error| program.error(error))?;
        if Self::is_relocatable(&program.elf) && program.entry() == 0 {
            return Err(program.error(Problem::NoEntry));
        }
        Ok(program)
    }

    /// Selects what executes the program.
    #[must_use]
    pub fn executed_by(mut self, executor: Executor) -> Self {
        self.executor = executor;
        self
    }

    /// Sets the exit status that means success; 0 unless told.
    #[must_use]
    pub fn succeeds_with(mut self, status: i32) -> Self {
        self.success = status;
        self
    }

    /// Sets the arguments of a Linux program, without its name.
    ///
    /// # Errors
    ///
    /// If there are any and the program runs without an operating system.
    pub fn arguments(mut self, arguments: &[String]) -> Result<Self, ProgramError> {
        if self.is_bare() && !arguments.is_empty() {
            return Err(self.error(Problem::Arguments));
        }
        self.arguments = arguments.to_vec();
        Ok(self)
    }

    /// Sets what a Linux program reads: standard input, and files by the names that it opens.
    ///
    /// # Errors
    ///
    /// If there is any of it and the program runs without an operating system.
    pub fn reads(
        mut self,
        input: Vec<u8>,
        files: Vec<(String, Vec<u8>)>,
    ) -> Result<Self, ProgramError> {
        if self.is_bare() && !(input.is_empty() && files.is_empty()) {
            return Err(self.error(Problem::Reads));
        }
        (self.input, self.files) = (input, files);
        Ok(self)
    }

    /// Lets the program use the streams, files and environment of this process: as if it was started from a shell. What it
    /// [reads](Self::reads) otherwise does not count then.
    #[must_use]
    pub fn shares(mut self, shared: Shared) -> Self {
        self.shared = Some(shared);
        self
    }

    /// Ends runs with the signal that `stop` returns, once it returns one.
    #[must_use]
    pub fn stopped_by(mut self, stop: fn() -> Option<i32>) -> Self {
        self.stop = stop;
        self
    }

    /// Returns the name of the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the ELF file of the program.
    pub fn elf(&self) -> &[u8] {
        &self.elf
    }

    /// Returns the code of the program.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Returns the register width of the program.
    pub fn xlen(&self) -> Xlen {
        self.image.isa().xlen
    }

    /// Returns whether the program runs without an operating system.
    pub fn is_bare(&self) -> bool {
        self.has_symbol("tohost")
    }

    /// Returns whether an execution reveals the trap vectors, without which implicit exceptions cannot be
    /// decoded. The traps of a Linux program are handled in untraced code, and QEMU does not report the
    /// registers.
    pub fn knows_trap_vectors(&self) -> bool {
        self.is_bare() && self.executor == Executor::Hart
    }

    /// Executes the program to find its trap vectors, by privilege.
    ///
    /// # Errors
    ///
    /// If it cannot be executed.
    pub fn trap_vectors(&self, limit: u64) -> Result<Vec<(u8, u64)>, ProgramError> {
        // What it prints appears once.
        let silent = Self { shared: None, ..self.clone() };
        Ok(silent.execute(limit, |_| Ok::<(), ProgramError>(()))?.tvec)
    }

    /// Executes the program for at most `limit` steps, and passes on what retires, in blocks. With QEMU the limit
    /// counts instructions, and the block that reaches it is not split.
    ///
    /// # Errors
    ///
    /// If it cannot be executed, and those of `take`.
    pub fn execute<E: From<ProgramError>>(
        &self,
        limit: u64,
        mut take: impl FnMut(&[Retired]) -> Result<(), E>,
    ) -> Result<Ending, E> {
        self.follow(limit, |progress| match progress {
            Progress::Rows(rows) => take(rows),
            Progress::Loaded(_) => Ok(()),
        })
    }

    /// The same; `take` also receives all code whenever there is more than what is [`loaded`](Self::loaded) before, each
    /// time before what retires there.
    ///
    /// # Errors
    ///
    /// If it cannot be executed, and those of `take`.
    pub fn follow<E: From<ProgramError>>(
        &self,
        limit: u64,
        take: impl FnMut(Progress<'_>) -> Result<(), E>,
    ) -> Result<Ending, E> {
        match self.executor {
            Executor::Hart => self.follow_hart(Port::blocks(LONGEST), limit, take),
            Executor::Qemu => self.follow_qemu(limit, take),
        }
    }

    /// Executes the program on the hart, for at most `limit` steps, and passes on whole cycles of its port.
    ///
    /// # Errors
    ///
    /// If it cannot be loaded, and those of `take`.
    pub fn execute_on<E: From<ProgramError>>(
        &self,
        port: Port,
        limit: u64,
        mut take: impl FnMut(&[Retired]) -> Result<(), E>,
    ) -> Result<Ending, E> {
        self.follow_hart(port, limit, |progress| match progress {
            Progress::Rows(rows) => take(rows),
            Progress::Loaded(_) => Ok(()),
        })
    }

    fn follow_hart<E: From<ProgramError>>(
        &self,
        port: Port,
        limit: u64,
        mut take: impl FnMut(Progress<'_>) -> Result<(), E>,
    ) -> Result<Ending, E> {
        let (mut hart, sought) = self.new_hart()?;
        let (mut rows, mut cycles) = (Steps::new(self.image.isa()), port.cycles());
        let (mut loaded, mut mapped) = (self.loaded(), 0);
        let start = self.entry().wrapping_add(self.bias);
        // The dynamic linker runs before the program does.
        let mut starts = self.interpreter().is_none();
        let mut instructions = 0;
        let mut left = limit;
        loop {
            let steps = left.min(CHUNK);
            let mut step = |step: &Step| {
                instructions += u64::from(step.retires);
                starts = starts || step.pc == start;
                cycles.push(&rows.row(step));
            };
            let exit = match (self.stop)() {
                Some(signal) => Exit::Killed(signal),
                None => hart.run(steps, &mut step),
            };
            left -= steps;
            let ended = exit != Exit::Limit || left == 0;
            if ended {
                cycles.close();
            }
            // Addresses of code are never used again, so that it may be known too early.
            let code = hart.mapped_code();
            let mut more = self.load(&mut loaded, code.get(mapped..).unwrap_or_default())?;
            if let Some((address, bytes)) = hart.kernel_code() {
                more |= loaded.add_kernel_code(address, bytes);
            }
            if more {
                take(Progress::Loaded(&loaded))?;
            }
            mapped = code.len();
            take(Progress::Rows(&cycles.rows))?;
            cycles.rows.clear();
            if ended {
                self.check_linked(exit, starts, &sought)?;
                let tvec = hart.trap_vectors().map(|(level, base)| (level.0, base)).to_vec();
                let unknown_calls = hart.unknown_calls().collect();
                return Ok(Ending { exit, instructions, tvec, unknown_calls });
            }
        }
    }

    /// Executes the program on the hart, for at most `limit` steps, and passes on each of them.
    ///
    /// # Errors
    ///
    /// If it cannot be loaded.
    pub fn steps<S: Retire>(&self, limit: u64, sink: &mut S) -> Result<Exit, ProgramError> {
        Ok(self.new_hart()?.0.run(limit, sink))
    }

    /// Checks how a run ended. A program that a signal ended has run as it would elsewhere.
    ///
    /// # Errors
    ///
    /// If it was stopped by something that the author of the program can fix.
    pub fn check(&self, exit: Exit) -> Result<(), ProgramError> {
        match Problem::of(exit).filter(|_| self.signal(exit).is_none()) {
            Some(problem) => Err(self.error(problem)),
            None => Ok(()),
        }
    }

    /// Checks that a run was successful, or was cut by its limit. `unknown_calls` are those of [`Ending`].
    ///
    /// # Errors
    ///
    /// As of [`check`](Self::check), and if the program says that it has failed.
    pub fn succeeded(&self, exit: Exit, unknown_calls: &[(u64, u64)]) -> Result<(), ProgramError> {
        match exit {
            Exit::Exited(code) if code != self.success => {
                let calls = unknown_calls.to_vec();
                Err(self.error(Problem::Failed { code, calls }))
            }
            exit if self.signal(exit).is_some() => {
                Err(self.error(Problem::Signal(self.complaint(exit).unwrap_or_default())))
            }
            exit => self.check(exit),
        }
    }

    /// Creates a hart with the program loaded, and the names of the libraries that will have been sought.
    fn new_hart(&self) -> Result<(Hart, libraries::Sought), ProgramError> {
        let Isa { zcmp, zcmt, .. } = self.image.isa();
        if zcmp || zcmt {
            // The hart would execute their encodings as other instructions.
            return Err(self.error(Problem::Extension(if zcmp { "Zcmp" } else { "Zcmt" })));
        }
        let bare = self.is_bare();
        let environment = if bare {
            Environment::Htif
        } else {
            let variables = self.shared.as_ref().map(|shared| shared.variables.all());
            // A program that was started from a shell has the name by which it was.
            let name = match (&self.path, &variables) {
                (Some(path), Some(_)) => path.to_string_lossy().into_owned(),
                _ => self.name.clone(),
            };
            let arguments = std::iter::once(name).chain(self.arguments.iter().cloned()).collect();
            let (input, files) = (self.input.clone(), self.files.clone());
            let variables = variables.unwrap_or_default();
            Environment::Linux { arguments, variables, input, files }
        };
        let config = HartConfig {
            xlen: match self.xlen() {
                Xlen::Rv32 => hartrace_iss::Xlen::Rv32,
                Xlen::Rv64 => hartrace_iss::Xlen::Rv64,
            },
            memory: if bare { vec![MEMORY] } else { Vec::new() },
            environment,
            ..HartConfig::default()
        };
        let mut hart = Hart::new(config);
        let sought = self.give_libraries(&mut hart);
        if let Some(shared) = &self.shared {
            if bare {
                hart.set_console(Box::new(shared.print.clone()));
            } else {
                let path = self.path.as_deref().unwrap_or(Path::new(&self.name));
                let shares =
                    streams(shared).and_then(|streams| hart.share(path, streams, self.stop));
                shares.map_err(|error| self.error(Problem::Share(error)))?;
            }
        }
        hart.load_elf(&self.elf).map_err(|error| self.error(error))?;
        Ok((hart, sought))
    }

    /// The address of the first instruction.
    fn entry(&self) -> u64 {
        let file = ElfBytes::<LittleEndian>::minimal_parse(&self.elf);
        file.map_or(0, |file| file.ehdr.e_entry)
    }

    fn has_symbol(&self, name: &str) -> bool {
        let file = ElfBytes::<LittleEndian>::minimal_parse(&self.elf);
        let table = file.as_ref().ok().and_then(|file| file.symbol_table().ok().flatten());
        table.is_some_and(|(symbols, names)| {
            symbols.iter().any(|symbol| names.get(symbol.st_name as usize).is_ok_and(|n| n == name))
        })
    }

    fn error(&self, problem: impl Into<Problem>) -> ProgramError {
        let place = self.path.clone().unwrap_or_else(|| self.name.clone().into());
        ProgramError { place, problem: problem.into() }
    }
}

/// The standard streams of a program that has those of this process.
fn streams(shared: &Shared) -> io::Result<[File; 3]> {
    let file = |stream: io::Result<std::os::fd::OwnedFd>| stream.map(File::from);
    let error = || file(io::stderr().as_fd().try_clone_to_owned());
    let output = match shared.to_stderr {
        true => error()?,
        false => file(io::stdout().as_fd().try_clone_to_owned())?,
    };
    Ok([file(io::stdin().as_fd().try_clone_to_owned())?, output, error()?])
}
