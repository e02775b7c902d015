//! A program, and what it takes to execute it.

use crate::args::With;
use crate::failure::Failure;
use crate::files;
use hartrace_decoder::Image;
use hartrace_ingress::Retired;
use hartrace_isa::{Isa, Xlen};
use hartrace_iss::{Environment, Exit, Hart, HartConfig, Range, Retire, Step};
use hartrace_lockstep::executed::{Port, Steps};
use hartrace_sources::qemu::{Mode, Qemu};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Steps that are executed, encoded and decoded at a time.
const CHUNK: u64 = 1 << 18;

/// Half-words after which a block is passed on even if nothing ends it.
const LONGEST: u32 = 1 << 10;

/// Memory of programs without an operating system.
const MEMORY: Range = Range { base: 0x8000_0000, size: 256 << 20 };

/// The same for QEMU, with time that depends on nothing but the instructions.
const MACHINE: [&str; 6] = ["-machine", "spike", "-m", "256M", "-icount", "shift=0,sleep=off"];

/// A program to execute.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    /// Where it was read from, if it was.
    path: PathBuf,
    /// Who executes it.
    pub(crate) with: With,
    /// What a Linux program is told.
    arguments: Vec<String>,
    pub(crate) elf: Vec<u8>,
    pub(crate) xlen: Xlen,
    pub(crate) image: Image,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    pub(crate) exit: Exit,
    pub(crate) instructions: u64,
    /// Trap vectors by privilege, as they are at the end.
    pub(crate) tvec: Vec<(u8, u64)>,
}

impl Program {
    /// Reads an ELF file.
    pub(crate) fn open(path: &Path, arguments: &[String], with: With) -> Result<Self, Failure> {
        let name =
            path.file_stem().map_or_else(|| files::name(path), |s| s.to_string_lossy().into());
        let elf = files::read(path)?;
        let program = Self::new(name, elf).map_err(|failure| failure.at(files::name(path)))?;
        if program.is_bare() && !arguments.is_empty() {
            return Err(
                Failure::usage("a bare-metal program takes no arguments").at(files::name(path))
            );
        }
        Ok(Self { path: path.into(), arguments: arguments.to_vec(), with, ..program })
    }

    pub(crate) fn new(name: String, elf: Vec<u8>) -> Result<Self, Failure> {
        // The class: what is no ELF file at all is refused below.
        let xlen = if elf.get(4) == Some(&1) { Xlen::Rv32 } else { Xlen::Rv64 };
        let mut image = Image::new(Isa::new(xlen));
        image.add_elf(&elf, 0).map_err(Failure::input)?;
        let (path, with, arguments) = (PathBuf::new(), With::Iss, Vec::new());
        Ok(Self { name, path, with, arguments, elf, xlen, image })
    }

    /// Whether the trap vectors are known, without which implicit exceptions cannot be decoded: the traps
    /// of a Linux program are handled where no trace is, and QEMU does not report the vectors.
    pub(crate) fn has_vectors(&self) -> bool {
        self.is_bare() && self.with == With::Iss
    }

    /// The names of all modes that make sense for it.
    pub(crate) fn modes(&self) -> Vec<&'static str> {
        let makes_sense = |name: &&str| self.has_vectors() || name.split('+').all(|m| m != "ie");
        super::modes::ALL.into_iter().filter(makes_sense).collect()
    }

    /// Whether it runs without an operating system.
    pub(crate) fn is_bare(&self) -> bool {
        self.has_symbol("tohost")
    }

    /// A hart with the program loaded. Programs with the symbol `tohost` talk to a host through
    /// memory; all others are taken for static Linux programs.
    fn hart(&self) -> Result<Hart, Failure> {
        let bare = self.is_bare();
        let environment = if bare {
            Environment::Htif
        } else {
            let name = std::iter::once(&self.name);
            let arguments = name.chain(&self.arguments).cloned().collect();
            Environment::Linux { arguments, variables: Vec::new() }
        };
        let config = HartConfig {
            xlen: match self.xlen {
                Xlen::Rv32 => hartrace_iss::Xlen::Rv32,
                Xlen::Rv64 => hartrace_iss::Xlen::Rv64,
            },
            memory: if bare { vec![MEMORY] } else { Vec::new() },
            environment,
            ..HartConfig::default()
        };
        let mut hart = Hart::new(config);
        hart.load_elf(&self.elf).map_err(|e| Failure::input(e).at(files::name(&self.path)))?;
        Ok(hart)
    }

    /// Where it starts.
    fn entry(&self) -> u64 {
        let file = elf::ElfBytes::<elf::endian::LittleEndian>::minimal_parse(&self.elf);
        file.map_or(0, |file| file.ehdr.e_entry)
    }

    fn has_symbol(&self, name: &str) -> bool {
        use elf::endian::LittleEndian;
        let file = elf::ElfBytes::<LittleEndian>::minimal_parse(&self.elf);
        let table = file.as_ref().ok().and_then(|file| file.symbol_table().ok().flatten());
        table.is_some_and(|(symbols, names)| {
            symbols.iter().any(|symbol| names.get(symbol.st_name as usize).is_ok_and(|n| n == name))
        })
    }

    /// Executes the program for at most `limit` steps, and passes on what retires.
    pub(crate) fn execute(
        &self,
        limit: u64,
        take: impl FnMut(&[Retired]) -> Result<(), Failure>,
    ) -> Result<Ending, Failure> {
        match self.with {
            With::Iss => self.execute_on(Port::blocks(LONGEST), limit, take),
            With::Qemu => self.execute_by_qemu(limit, take),
        }
    }

    /// The limit counts half-words here: blocks are not looked into.
    fn execute_by_qemu(
        &self,
        limit: u64,
        mut take: impl FnMut(&[Retired]) -> Result<(), Failure>,
    ) -> Result<Ending, Failure> {
        let (mut rows, mut done, mut result) = (Vec::new(), 0, Ok(()));
        let run = Qemu::new().and_then(|qemu| {
            let qemu = qemu.silent();
            let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
            // The machine that knows `tohost`. Its reset code is not in the program.
            let (qemu, mode, arguments) = match self.is_bare() {
                true => (qemu.from(self.entry()), Mode::System, MACHINE.to_vec()),
                false => (qemu, Mode::User, arguments),
            };
            qemu.run(&self.path, &arguments, mode, |row| {
                rows.push(*row);
                done += u64::from(row.iretire);
                if rows.len() as u64 >= CHUNK {
                    result = take(&rows);
                    rows.clear();
                }
                match result.is_ok() && done < limit.saturating_mul(2) {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })
        });
        let ended = run.map_err(|error| Failure::input(error).at(files::name(&self.path)))?;
        result?;
        take(&rows)?;
        let exit = ended.code.map_or(Exit::Limit, Exit::Exited);
        Ok(Ending { exit, instructions: ended.instructions, tvec: Vec::new() })
    }

    /// Executes the program with our own hart, for at most `limit` steps, and passes on each of them.
    pub(crate) fn steps<S: Retire>(&self, limit: u64, sink: &mut S) -> Result<Exit, Failure> {
        Ok(self.hart()?.run(limit, sink))
    }

    /// Executes the program with our own hart, for at most `limit` steps, and passes on whole cycles of
    /// its port.
    pub(crate) fn execute_on(
        &self,
        port: Port,
        limit: u64,
        mut take: impl FnMut(&[Retired]) -> Result<(), Failure>,
    ) -> Result<Ending, Failure> {
        let mut hart = self.hart()?;
        let (mut rows, mut cycles) = (Steps::new(self.image.isa()), port.cycles());
        let mut instructions = 0;
        let mut left = limit;
        loop {
            let steps = left.min(CHUNK);
            let exit = hart.run(steps, &mut |step: &Step| {
                instructions += u64::from(step.retires);
                cycles.push(&rows.row(step));
            });
            left -= steps;
            let ended = exit != Exit::Limit || left == 0;
            if ended {
                cycles.close();
            }
            take(&cycles.rows)?;
            cycles.rows.clear();
            if ended {
                let tvec = hart.trap_vectors().map(|(level, base)| (level.0, base)).to_vec();
                return Ok(Ending { exit, instructions, tvec });
            }
        }
    }
}

impl Program {
    /// What went wrong, if it is something that the user of the program can mend.
    pub(crate) fn failure(&self, exit: Exit) -> Option<Failure> {
        let hint = match exit {
            Exit::Unsupported { .. } => "build for rv32gc or rv64gc",
            Exit::Fault { .. } => "a trap handler, or an address within memory",
            _ => return None,
        };
        let what = complaint(exit)?;
        Some(Failure::input(what).at(files::name(&self.path)).hint(hint))
    }
}

/// How a run ended, if that is nothing to be content with.
pub(crate) fn complaint(exit: Exit) -> Option<String> {
    match exit {
        Exit::Exited(0) | Exit::Limit => None,
        Exit::Exited(code) => Some(format!("exit code {code}")),
        Exit::Stuck { .. } => None,
        Exit::Unsupported { pc, encoding } => {
            Some(format!("no instruction {encoding:#010x} at {pc:#x}"))
        }
        Exit::Fault { pc, cause, tval } => {
            Some(format!("exception {cause} at {pc:#x}, tval {tval:#x}, and no handler"))
        }
        _ => Some("stopped".into()),
    }
}
