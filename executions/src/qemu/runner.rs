//! Starts QEMU and reads what it reports.

use crate::executed::Variables;
use crate::qemu::Mapped;
use crate::qemu::arm::{ArmFollow, ArmStep};
use crate::qemu::block_rows::BlockRows;
use crate::qemu::plugin::{self, escape};
use crate::qemu::stop::Stop;
use crate::qemu::stream::{Blocks, Stream};
use crate::qemu::streams::Streams;
use crate::qemu::{QemuError, program};
use hartrace_capture::output::Scratch;
use hartrace_etrace::ingress::Retired;
use hartrace_isa::{Isa, Xlen};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// Time after which QEMU is ended, if the run has to end and it is silent.
const TICK: Duration = Duration::from_millis(50);

/// What runs the program.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `qemu-riscv64` or `qemu-riscv32`: a Linux program. QEMU itself acts as the kernel, so only the
    /// instructions before and after a trap are visible.
    User,
    /// `qemu-system-riscv64` or `-riscv32`, machine `virt` without firmware: the program is loaded as
    /// the kernel. Arguments are additional options for QEMU.
    System,
}

/// How a run ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// The program's exit code; `None` if the sink ended the run.
    pub code: Option<i32>,
    /// Number of retired instructions.
    pub instructions: u64,
    /// Number of rows passed to the sink.
    pub rows: u64,
    /// Number of traps among them, including system calls.
    pub traps: u64,
    /// Branches reported as not taken because QEMU does not report their outcome: before a signal in
    /// user mode, and the last one of a run that was stopped.
    pub unknown_outcomes: u64,
    /// Traps directly after a trap return, which are reported with the privilege of the return.
    pub unknown_privileges: u64,
}

/// The kind of program to run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Guest {
    RiscV(Mode),
    /// An Arm program in user mode.
    Arm {
        /// Whether it is for AArch64.
        wide: bool,
    },
}

/// A compiled plugin, which can be used for any number of runs.
#[derive(Debug)]
pub struct Qemu {
    /// Keeps the plugin for as long as it may be needed.
    _folder: Scratch,
    plugin: PathBuf,
    streams: Streams,
    /// The environment variables of Linux programs, if they are not those of this process.
    variables: Variables,
    /// The signal that stops a run, once there is one.
    stop: fn() -> Option<i32>,
    from: Option<u64>,
    /// The file that is standard input, and the current folder.
    reads: Option<(PathBuf, PathBuf)>,
    /// What Linux programs are called, if not by their file.
    name: Option<OsString>,
    /// Where dynamically linked programs find their libraries.
    sysroot: Option<PathBuf>,
}

impl Qemu {
    /// Compiles the plugin with `cc`.
    pub fn new() -> Result<Self, QemuError> {
        let folder = Scratch::new().map_err(QemuError::io("cannot create a folder"))?;
        let plugin = plugin::compile(&folder)?;
        Ok(Self {
            _folder: folder,
            plugin,
            streams: Streams::Shared { to_stderr: false },
            variables: Variables { inherited: true, set: Vec::new() },
            stop: || None,
            from: None,
            reads: None,
            name: None,
            sysroot: None,
        })
    }

    /// Disconnects the input and output of programs.
    #[must_use]
    pub fn silent(self) -> Self {
        self.with(Streams::None)
    }

    /// Connects the input and output of programs.
    #[must_use]
    pub fn with(self, streams: Streams) -> Self {
        Self { streams, ..self }
    }

    /// Passes these environment variables to Linux programs.
    #[must_use]
    pub fn variables(self, variables: Variables) -> Self {
        Self { variables, ..self }
    }

    /// Ends runs with the signal that `stop` returns, once it returns one.
    #[must_use]
    pub fn stopped_by(self, stop: fn() -> Option<i32>) -> Self {
        Self { stop, ..self }
    }

    /// Lets programs read a file as standard input, and open files of a folder.
    #[must_use]
    pub fn reading(self, input: &Path, folder: &Path) -> Self {
        Self { reads: Some((input.into(), folder.into())), ..self }
    }

    /// Passes this name to Linux programs, instead of that of their file.
    #[must_use]
    pub fn named(self, name: impl Into<OsString>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Lets dynamically linked programs find their libraries in a folder, as QEMU's option `-L`.
    #[must_use]
    pub fn with_sysroot(self, folder: impl Into<PathBuf>) -> Self {
        Self { sysroot: Some(folder.into()), ..self }
    }

    /// Reports and counts nothing before a block at `address`. Machines start in reset code that is in
    /// no program.
    #[must_use]
    pub fn from(self, address: u64) -> Self {
        Self { from: Some(address), ..self }
    }

    /// Runs `program` and passes every block to `sink`, until either ends.
    ///
    /// Rows are in block retirement: `iretire` counts the half-words of a whole block. `time` is 0 and
    /// `cycles` is 1.
    pub fn run(
        &self,
        program: &Path,
        args: &[&str],
        mode: Mode,
        sink: impl FnMut(&Retired) -> ControlFlow<()>,
    ) -> Result<Exit, QemuError> {
        self.run_mapped(program, args, mode, |_| {}, sink)
    }

    /// The same; `mapped` also receives the code of files that a Linux program executes, its own and that of its libraries, each
    /// before the first row in it.
    pub fn run_mapped(
        &self,
        program: &Path,
        args: &[&str],
        mode: Mode,
        mapped: impl FnMut(Mapped),
        sink: impl FnMut(&Retired) -> ControlFlow<()>,
    ) -> Result<Exit, QemuError> {
        let xlen = program::riscv(program, mode, self.sysroot.is_some())?;
        let binary = binary(mode, xlen);
        let follow = BlockRows::new(mode, Isa::new(xlen), self.from, mapped, sink);
        self.start(binary, Guest::RiscV(mode), program, args, follow)
    }

    /// Runs an AArch64 or AArch32 program in user mode (`qemu-aarch64`, `qemu-arm`) and passes every
    /// instruction and every exception to `sink`, until either ends.
    pub fn run_arm(
        &self,
        program: &Path,
        args: &[&str],
        sink: impl FnMut(&ArmStep) -> ControlFlow<()>,
    ) -> Result<Exit, QemuError> {
        let wide = program::arm(program)?;
        let binary = if wide { "qemu-aarch64" } else { "qemu-arm" };
        let follow = ArmFollow::new(wide, self.from, sink);
        let guest = Guest::Arm { wide };
        self.start((binary, "qemu-user"), guest, program, args, follow)
    }

    fn start<F: Blocks>(
        &self,
        binary: (&'static str, &'static str),
        guest: Guest,
        program: &Path,
        args: &[&str],
        follow: F,
    ) -> Result<Exit, QemuError> {
        let folder = Scratch::new().map_err(QemuError::io("cannot create a folder"))?;
        let (socket, tail) = (folder.join("socket"), folder.join("tail"));
        let listener =
            UnixListener::bind(&socket).map_err(QemuError::io("cannot create a socket"))?;
        listener.set_nonblocking(true).map_err(QemuError::io("cannot use a socket"))?;
        File::create(&tail).map_err(QemuError::io("cannot create a file"))?;
        let mut command = self.command(binary.0, guest, program, args, &folder);
        self.streams.connect(&mut command).map_err(QemuError::io("cannot share a stream"))?;
        if let Some((input, folder)) = &self.reads {
            let input = hartrace_capture::input::open(input)
                .map_err(QemuError::io("cannot read standard input"))?;
            command.stdin(input).current_dir(folder);
        }
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                QemuError::NotInstalled { binary: binary.0, package: binary.1 }
            }
            _ => QemuError::io("cannot start QEMU")(error),
        })?;
        let mut child = Running(child);
        let printing = self.streams.relay(&mut child.0);
        let channel = connection(&listener, &mut child.0, binary.0)?;
        let mut stream = Stream::new(follow);
        let mut stopped = None;
        let heard = listen(channel, &tail, &mut stream, || {
            stopped = stopped.or_else(self.stop);
            // It is killed once, and what it has sent is read to the end.
            stopped.is_some() && child.0.kill().is_ok()
        });
        let follow = &stream.follow;
        match heard {
            Ok(()) => {}
            Err(Stop::Sink) => return Ok(follow.exit(None)),
            Err(Stop::Error(error)) => return Err(*error),
        }
        let status = child.0.wait().map_err(QemuError::io("cannot wait for QEMU"))?;
        // What it printed before it ended comes before what follows.
        printing.map(thread::JoinHandle::join);
        // A machine ends without an error if somebody else has interrupted it too, as a terminal does.
        match stopped.or_else(self.stop).or_else(|| status.signal()) {
            // QEMU rejected its options or the program, and has printed why.
            None if follow.first_address().is_none() => {
                Err(QemuError::NotStarted { binary: binary.0, status: status.to_string() })
            }
            Some(signal) => Err(QemuError::Killed {
                program: program.into(),
                signal,
                instructions: follow.exit(None).instructions,
            }),
            None => Ok(follow.exit(status.code())),
        }
    }

    fn command(
        &self,
        binary: &str,
        guest: Guest,
        program: &Path,
        args: &[&str],
        folder: &Scratch,
    ) -> Command {
        let mut command = Command::new(binary);
        let (socket, tail) = (folder.join("socket"), folder.join("tail"));
        let plugin = escape(&self.plugin);
        let mut option = format!("{plugin},socket={},tail={}", escape(&socket), escape(&tail));
        let log = folder.join("log");
        match guest {
            Guest::RiscV(Mode::User) => {
                option += ",process=on";
                if let Some(folder) = &self.sysroot {
                    command.arg("-L").arg(folder);
                }
            }
            Guest::Arm { wide: true } => option += ",core=aarch64",
            // Only the log distinguishes A32 from T32.
            Guest::Arm { wide: false } => {
                option += &format!(",core=aarch32,log={}", escape(&log));
                command.args(["-d", "in_asm", "-D"]).arg(log);
            }
            Guest::RiscV(Mode::System) => {
                option += &format!(",log={}", escape(&log));
                command.args(["-machine", "virt", "-smp", "1", "-bios", "none"]);
                command.args(["-display", "none", "-monitor", "none", "-serial", "stdio"]);
                command.args(["-d", "in_asm,int", "-D"]).arg(log).arg("-kernel").arg(program);
            }
        }
        command.args(["-plugin", &option]);
        if guest != Guest::RiscV(Mode::System) {
            self.pass(&mut command);
            if let Some(name) = &self.name {
                command.arg("-0").arg(name);
            }
            command.arg(program);
        }
        command.args(args);
        command
    }
}

impl Qemu {
    /// Passes environment variables to the program, and not to QEMU, which has its own use for some.
    fn pass(&self, command: &mut Command) {
        let Variables { inherited, set } = &self.variables;
        if !inherited {
            // A name with a comma would be taken for two; no shell can set one.
            let names = std::env::vars_os().map(|(name, _)| name);
            for name in names.filter(|name| !name.to_string_lossy().contains(',')) {
                command.arg("-U").arg(name);
            }
        }
        command.envs(set.iter().map(|(name, value)| (name, value)));
    }
}

/// The command and the Debian package that contains it.
fn binary(mode: Mode, xlen: Xlen) -> (&'static str, &'static str) {
    match (mode, xlen) {
        (Mode::User, Xlen::Rv32) => ("qemu-riscv32", "qemu-user"),
        (Mode::User, Xlen::Rv64) => ("qemu-riscv64", "qemu-user"),
        (Mode::System, Xlen::Rv32) => ("qemu-system-riscv32", "qemu-system-misc"),
        (Mode::System, Xlen::Rv64) => ("qemu-system-riscv64", "qemu-system-misc"),
    }
}

/// Ensures that QEMU does not outlive the run, whatever ends it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the plugin connects, or QEMU ends.
fn connection(
    listener: &UnixListener,
    child: &mut Child,
    binary: &'static str,
) -> Result<UnixStream, QemuError> {
    loop {
        // Checked first: a short program may connect and end between the two.
        let ended = child.try_wait().map_err(QemuError::io("cannot wait for QEMU"))?;
        match listener.accept() {
            Ok((channel, _)) => {
                channel.set_nonblocking(false).map_err(QemuError::io("cannot use a socket"))?;
                return Ok(channel);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(QemuError::io("cannot use a socket")(error)),
        }
        if let Some(status) = ended {
            return Err(QemuError::Plugin { binary, status: status.to_string() });
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Reads what the plugin sends, then what it could no longer send.
fn listen(
    mut channel: UnixStream,
    tail: &Path,
    stream: &mut Stream<impl Blocks>,
    mut stops: impl FnMut() -> bool,
) -> Result<(), Stop> {
    let timeout = channel.set_read_timeout(Some(TICK));
    timeout.map_err(QemuError::io("cannot use a socket")).map_err(Stop::error)?;
    let mut stopped = false;
    let mut bytes = vec![0; 1 << 18];
    let mut words = Vec::new();
    let (mut kept, mut received) = (0, 0u64);
    loop {
        stopped = stopped || stops();
        let count = match channel.read(&mut bytes[kept..]) {
            Ok(0) => break,
            Ok(count) => count,
            // The plugin's end is closed, as at the end of every run.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
            // It was asked whether the run has to end; a program may wait for ever.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted
                        | io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                ) =>
            {
                continue;
            }
            Err(error) => return Err(Stop::error(QemuError::io("cannot read from QEMU")(error))),
        };
        let full = (kept + count) & !3;
        words.clear();
        words.extend(bytes[..full].chunks_exact(4).map(word));
        stream.feed(&words)?;
        received += words.len() as u64;
        bytes.copy_within(full..kept + count, 0);
        kept = kept + count - full;
    }
    let tail = fs::read(tail).map_err(QemuError::io("cannot read the end of the run"));
    remainder(&tail.map_err(Stop::error)?, received, stream)?;
    stream.end()
}

/// Reads what is only in the plugin's memory; see `struct shared` in plugin.c.
fn remainder(tail: &[u8], received: u64, stream: &mut Stream<impl Blocks>) -> Result<(), Stop> {
    let Some((head, buffer)) = tail.split_at_checked(40) else {
        // Killed before it started.
        return Ok(());
    };
    let number = |n: usize| {
        let low = u64::from(word(&head[n * 8..n * 8 + 4]));
        low | u64::from(word(&head[n * 8 + 4..n * 8 + 8])) << 32
    };
    let (total, passed, started, wanted) = (number(0), number(1), number(2), number(3));
    let words: Vec<u32> = buffer.chunks_exact(4).map(word).collect();
    let missing = total.checked_sub(received).filter(|&missing| missing <= words.len() as u64);
    if missing.is_none() {
        return Err(Stop::report(format!("{received} words were received, {total} written")));
    }
    let rest: Vec<u32> =
        (received..total).map(|at| words[(at % words.len() as u64) as usize]).collect();
    stream.feed(&rest)?;
    let instructions = stream.follow.exit(None).instructions;
    match number(4) {
        0 => {}
        1 => return Err(Stop::error(QemuError::SeveralHarts { instructions })),
        _ => {
            let address = stream.follow.newest();
            return Err(Stop::error(QemuError::Endless { address }));
        }
    }
    if passed != wanted {
        stream.follow.left(passed.wrapping_sub(started) as u32);
    }
    Ok(())
}

/// The plugin and hartrace run on the same machine, so the byte order is the same.
#[inline]
fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_ne_bytes)
}
