//! The project's programs, run by QEMU block by block with the plugin, and again one instruction at
//! a time with QEMU's log: both must have executed the same, from the first instruction to the last.
//!
//! Ignored where QEMU or the assembler is missing.

use elf::ElfBytes;
use elf::abi::PT_LOAD;
use elf::endian::AnyEndian;
use hartrace_etrace::ingress::{CType, IType, Privilege};
use hartrace_executions::executed::{Executor, Instructions, Problem, Program, ProgramError};
use hartrace_executions::qemu::{Exit, Mode, Qemu, QemuError, Retired};
use libtest_mimic::{Arguments, Failed, Trial};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

const PREFIXES: [&str; 2] = ["riscv64-unknown-elf-", "riscv64-linux-gnu-"];

/// Programs for user mode, and how they end: an exit code, or a signal as a negative number.
const USER: [(&str, i32); 6] = [
    ("flow", 7),
    ("changes-itself", 12),
    ("handles-signals", 0),
    ("illegal", -4),
    ("segfault", -11),
    ("jumps-nowhere", -11),
];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let has = |command: &str| {
        Command::new(command).arg("--version").output().is_ok_and(|o| o.status.success())
    };
    let prefix =
        PREFIXES.into_iter().filter(|_| has("cc")).find(|prefix| has(&format!("{prefix}as")));
    let mut trials = Vec::new();
    for xlen in [64, 32] {
        let qemu = has(&format!("qemu-riscv{xlen}"));
        for (name, end) in USER {
            let trial = Trial::test(format!("user/rv{xlen}/{name}"), move || {
                user(&build(prefix, xlen, name)?, xlen, end)
            });
            trials.push(trial.with_ignored_flag(!qemu || prefix.is_none()));
        }
        let trial = Trial::test(format!("user/rv{xlen}/reads"), move || {
            reads(&build(prefix, xlen, "reads")?)
        });
        trials.push(trial.with_ignored_flag(!qemu || prefix.is_none()));
        let machine = has(&format!("qemu-system-riscv{xlen}"));
        let trial = Trial::test(format!("system/rv{xlen}/traps"), move || {
            system(&build(prefix, xlen, "traps")?, xlen)
        });
        trials.push(trial.with_ignored_flag(!machine || prefix.is_none()));
        for (name, last) in [("long-encoding", 0x8000_0000), ("trap-loop", 0x8000_0004)] {
            let trial = Trial::test(format!("system/rv{xlen}/{name}"), move || {
                match trace(&build(prefix, xlen, name)?, &[], Mode::System)?.2 {
                    Err(QemuError::Endless { address }) if address == last => Ok(()),
                    other => Err(format!("{other:?}").into()),
                }
            });
            trials.push(trial.with_ignored_flag(!machine || prefix.is_none()));
        }
    }
    let ready = prefix.is_some() && has("qemu-riscv64");
    let errors = Trial::test("errors", move || errors(&build(prefix, 64, "flow")?));
    trials.push(errors.with_ignored_flag(!ready));
    let stops = Trial::test("sink-ends-the-run", move || stops(&build(prefix, 64, "mixed")?));
    trials.push(stops.with_ignored_flag(!ready));
    let forks = Trial::test("child-is-not-traced", move || forks(&build(prefix, 64, "forks")?));
    trials.push(forks.with_ignored_flag(!ready));
    let threads =
        Trial::test("threads-take-turns", move || threads(&build(prefix, 64, "threads")?));
    trials.push(threads.with_ignored_flag(!ready));
    libtest_mimic::run(&args, trials).exit_code()
}

/// Assembles and links a program.
fn build(prefix: Option<&str>, xlen: u32, name: &str) -> Result<PathBuf, Failed> {
    let prefix = prefix.ok_or("no assembler")?;
    let source = Path::new("tests/qemu/programs").join(name).with_extension("s");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let object = folder.join(format!("{name}-{xlen}.o"));
    let program = folder.join(format!("{name}-{xlen}.elf"));
    let abi = if xlen == 64 { "lp64" } else { "ilp32" };
    run(Command::new(format!("{prefix}as"))
        .args([format!("-march=rv{xlen}imac"), format!("-mabi={abi}")])
        .args(["-misa-spec=2.2", "--defsym", &format!("XLEN={xlen}"), "-o"])
        .args([&object, &source]))?;
    let mut ld = Command::new(format!("{prefix}ld"));
    ld.args(["-m", &format!("elf{xlen}lriscv"), "-o"]).arg(&program).arg(&object);
    match name {
        // Its code must be writable.
        "changes-itself" => ld.arg("-N"),
        "traps" | "long-encoding" | "trap-loop" => ld.args(["-N", "-Ttext=0x80000000"]),
        _ => &mut ld,
    };
    run(&mut ld)?;
    Ok(program)
}

fn run(command: &mut Command) -> Result<(), Failed> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// A program reads the same, whatever executes it, and executes the same instructions then.
fn reads(elf: &Path) -> Result<(), Failed> {
    let input: Vec<u8> = (0..1000_u32).map(|number| (number * 7 % 251) as u8).collect();
    let words = b"some words".to_vec();
    let sum = input.iter().chain(&words).map(|byte| i32::from(*byte)).sum::<i32>() % 128;
    let program = Program::new("reads", fs::read(elf)?)?;
    let execute = |executor, files: Vec<(String, Vec<u8>)>| {
        let program = program.clone().executed_by(executor).reads(input.clone(), files)?;
        let (mut addresses, instructions) = (Vec::new(), Instructions::of(program.image()));
        let ending = program.execute(1_000_000, |rows| {
            for row in rows.iter().filter(|row| row.iretire > 0) {
                instructions.split(row, |one| addresses.push(one.iaddr));
            }
            // System calls retire on our hart only.
            addresses.retain(|pc| program.image().encoding(*pc) != Some(0x73));
            Ok::<(), ProgramError>(())
        })?;
        Ok::<_, ProgramError>((ending.exit, addresses))
    };
    let files = |name: &str| vec![(name.to_owned(), words.clone())];
    let ours = execute(Executor::Hart, files("data/words"))?;
    let theirs = execute(Executor::Qemu, files("data/words"))?;
    assert_eq!(ours.0, hartrace_iss::Exit::Exited(sum));
    let differs = ours.1.iter().zip(&theirs.1).position(|(one, other)| one != other);
    assert_eq!((differs, ours.0, ours.1.len()), (None, theirs.0, theirs.1.len()));
    assert_eq!(execute(Executor::Qemu, files("words"))?.0, hartrace_iss::Exit::Exited(200));
    // What was read is executed, not what a file of that name holds now.
    let program = Program::of_file("no/such/reads.elf".as_ref(), fs::read(elf)?)?;
    let ending = program.executed_by(Executor::Qemu).execute(1_000_000, |_| Ok(()));
    assert_eq!(ending.map_err(|error: ProgramError| error)?.exit, hartrace_iss::Exit::Exited(200));
    for name in ["/tmp/words", "data/../../words"] {
        let error = execute(Executor::Qemu, files(name)).expect_err("it would be elsewhere");
        assert!(matches!(&error.problem, Problem::FileName(other) if other == name), "{error}");
    }
    Ok(())
}

/// A trap: interrupt, cause, address and value.
type Trap = (bool, u64, u64, u64);

/// What was executed, instruction by instruction, including those that trapped.
#[derive(Debug, Default)]
struct Executed {
    started: Vec<(u64, Privilege)>,
    traps: Vec<Trap>,
}

impl Executed {
    /// Splits blocks with the help of the program.
    fn row(&mut self, image: &Image, row: &Retired) {
        let mut pc = row.iaddr;
        while pc < row.next_address() {
            self.started.push((pc, row.privilege));
            pc += image.size(pc);
        }
        assert_eq!(pc, row.next_address(), "{row:x?}");
        if row.iretire > 0 {
            let size = row.next_address() - row.last_address();
            assert_eq!(size, image.size(row.last_address()), "{row:x?}");
        }
        if row.itype.is_trap() {
            let interrupt = row.itype == IType::Interrupt;
            self.traps.push((interrupt, row.cause, row.next_address(), row.tval));
            // It was started, but did not retire.
            if !interrupt {
                self.started.push((row.next_address(), row.privilege));
            }
        }
    }

    /// The same from QEMU's log of one instruction at a time.
    fn log(text: &str, mode: Mode) -> Result<Self, Failed> {
        let mut executed = Self::default();
        for line in text.lines() {
            let again = ["Stopped execution of TB chain", "cpu_io_recompile: rewound execution"];
            if again.iter().any(|start| line.starts_with(start)) {
                executed.started.pop();
            } else if line.starts_with("Trace ") {
                let fields = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
                let fields: Vec<&str> = fields.ok_or(line)?.0.split('/').collect();
                let [_, pc, flags, ..] = fields[..] else { return Err(line.into()) };
                let privilege = match mode {
                    Mode::User => 0,
                    Mode::System => u64::from_str_radix(flags, 16)? as u8 & 3,
                };
                executed.started.push((u64::from_str_radix(pc, 16)?, Privilege(privilege)));
            } else if let Some(rest) = line.strip_prefix("riscv_cpu_do_interrupt: ") {
                let field = |name: &str| -> Result<u64, Failed> {
                    let value = rest.split(", ").find_map(|part| part.strip_prefix(name));
                    let value = value.ok_or(line)?.trim_start_matches("0x");
                    Ok(u64::from_str_radix(value, 16)?)
                };
                let interrupt = field("async:")? == 1;
                let trap = (interrupt, field("cause:")?, field("epc:")?, field("tval:")?);
                executed.traps.push(trap);
            }
        }
        Ok(executed)
    }

    /// Drops the loop after the access that ends the machine: how often it runs, if at all, depends
    /// on timing.
    fn without_final_loop(mut self, image: &Image) -> Self {
        while self.started.last().is_some_and(|(pc, _)| image.is_endless(*pc)) {
            self.started.pop();
        }
        self
    }

    fn same(&self, other: &Self) -> Result<(), Failed> {
        let differs = self.started.iter().zip(&other.started).position(|(a, b)| a != b);
        if let Some(n) = differs {
            let (ours, theirs) = (self.started[n], other.started[n]);
            return Err(format!("instruction {n}: {ours:x?}, QEMU has {theirs:x?}").into());
        }
        if self.started.len() != other.started.len() {
            let (ours, theirs) = (self.started.len(), other.started.len());
            return Err(format!("{ours} instructions, QEMU has {theirs}").into());
        }
        Ok(())
    }
}

/// The bytes of the program.
struct Image(Vec<(u64, Vec<u8>)>);

impl Image {
    fn new(program: &Path) -> Result<Self, Failed> {
        let bytes = fs::read(program)?;
        let elf = ElfBytes::<AnyEndian>::minimal_parse(&bytes)?;
        let segments = elf.segments().ok_or("no segments")?;
        let mut parts = Vec::new();
        for segment in segments.iter().filter(|segment| segment.p_type == PT_LOAD) {
            parts.push((segment.p_vaddr, elf.segment_data(&segment)?.to_vec()));
        }
        Ok(Self(parts))
    }

    fn at(&self, pc: u64) -> Option<&[u8]> {
        self.0
            .iter()
            .find_map(|(start, bytes)| bytes.get(usize::try_from(pc.checked_sub(*start)?).ok()?..))
    }

    /// `c.j .`
    fn is_endless(&self, pc: u64) -> bool {
        self.at(pc).is_some_and(|bytes| bytes.starts_with(&[0x01, 0xa0]))
    }

    /// Length of an instruction. The machine's reset code has no short ones.
    fn size(&self, pc: u64) -> u64 {
        let byte = self.at(pc).and_then(|bytes| bytes.first());
        if byte.is_none_or(|byte| byte & 3 == 3) { 4 } else { 2 }
    }
}

type Outcome = Result<Exit, QemuError>;

/// Runs with the plugin.
fn trace(
    program: &Path,
    args: &[&str],
    mode: Mode,
) -> Result<(Executed, Vec<Retired>, Outcome), Failed> {
    let image = Image::new(program)?;
    let (mut executed, mut rows) = (Executed::default(), Vec::new());
    let exit = Qemu::new()?.silent().run(program, args, mode, |row| {
        executed.row(&image, row);
        rows.push(*row);
        ControlFlow::Continue(())
    });
    Ok((executed, rows, exit))
}

/// Checks that the end of each block agrees with the next block.
fn ends_agree(rows: &[Retired]) -> Result<(), Failed> {
    for pair in rows.windows(2) {
        let follows = pair[1].iaddr == pair[0].next_address();
        let agrees = match pair[0].itype {
            IType::None | IType::NotTaken => follows,
            IType::Taken => !follows,
            _ => true,
        };
        if !agrees {
            return Err(format!("{:x?} before {:x?}", pair[0], pair[1]).into());
        }
    }
    Ok(())
}

fn user(program: &Path, xlen: u32, end: i32) -> Result<(), Failed> {
    let log = program.with_extension("log");
    Command::new(format!("qemu-riscv{xlen}"))
        .args(["-singlestep", "-d", "exec,nochain", "-D"])
        .args([&log, program])
        .stderr(Stdio::null())
        .status()?;
    let expected = Executed::log(&fs::read_to_string(&log)?, Mode::User)?;
    let (executed, rows, exit) = trace(program, &[], Mode::User)?;
    let (code, instructions) = match exit {
        Ok(exit) => (exit.code, exit.instructions),
        Err(QemuError::Killed { signal, instructions, .. }) => (Some(-signal), instructions),
        Err(error) => return Err(error.into()),
    };
    if code != Some(end) {
        return Err(format!("ended with {code:?}, not {end}").into());
    }
    executed.same(&expected)?;
    if instructions + executed.traps.len() as u64 != executed.started.len() as u64 {
        return Err(format!("{instructions} instructions are said to have retired").into());
    }
    ends_agree(&rows)
}

fn system(program: &Path, xlen: u32) -> Result<(), Failed> {
    // Time counts instructions, so that interrupts occur at the same places.
    let icount = ["-icount", "shift=0,sleep=off", "-serial", "none"];
    let log = program.with_extension("log");
    Command::new(format!("qemu-system-riscv{xlen}"))
        .args(["-machine", "virt", "-smp", "1", "-bios", "none", "-display", "none"])
        .args(["-monitor", "none", "-singlestep", "-d", "exec,nochain,int", "-D"])
        .arg(&log)
        .arg("-kernel")
        .arg(program)
        .args(icount)
        .status()?;
    let expected = Executed::log(&fs::read_to_string(&log)?, Mode::System)?;
    let image = Image::new(program)?;
    let expected = expected.without_final_loop(&image);
    let (executed, rows, exit) = trace(program, &icount, Mode::System)?;
    let exit = exit?;
    if exit.code != Some(0) || exit.unknown_outcomes != 0 {
        return Err(format!("{exit:?}").into());
    }
    let executed = executed.without_final_loop(&image);
    executed.same(&expected)?;
    if executed.traps != expected.traps || expected.traps.len() < 20 {
        return Err(format!("traps {:x?}, not {:x?}", executed.traps, expected.traps).into());
    }
    ends_agree(&rows)?;
    // In real time, where interrupts occur anywhere.
    let (executed, rows, exit) = trace(program, &[], Mode::System)?;
    if exit?.code != Some(0) || executed.traps.len() != expected.traps.len() {
        return Err(format!("traps {:x?}", executed.traps).into());
    }
    ends_agree(&rows)
}

/// Errors are one line that states what to do.
fn errors(program: &Path) -> Result<(), Failed> {
    let qemu = Qemu::new()?.silent();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let check = |program: &Path, expected: &str| -> Result<(), Failed> {
        let outcome = qemu.run(program, &[], Mode::User, |_| ControlFlow::Continue(()));
        let text = outcome.err().ok_or("no error")?.to_string();
        if !text.contains(expected) || text.lines().count() != 1 {
            return Err(format!("`{text}` without `{expected}`").into());
        }
        Ok(())
    };
    check(Path::new("tests/no-such-program"), "cannot read")?;
    check(Path::new("tests/qemu/programs.rs"), "not an ELF file")?;
    check(&env::current_exe()?, "not RISC-V")?;
    // The first program header becomes that of an interpreter.
    let mut bytes = fs::read(program)?;
    let header = usize::from(bytes[32]);
    bytes[header..header + 4].copy_from_slice(&3u32.to_le_bytes());
    let dynamic = folder.join("dynamic.elf");
    fs::write(&dynamic, &bytes)?;
    check(&dynamic, "link with -static")?;
    // Nothing to load.
    bytes[header..header + 4].copy_from_slice(&0u32.to_le_bytes());
    bytes[56] = 1;
    fs::write(&dynamic, &bytes)?;
    check(&dynamic, "before the first instruction")
}

/// A run of minutes ends when the sink asks to stop.
fn stops(program: &Path) -> Result<(), Failed> {
    let mut left = 1000;
    let exit = Qemu::new()?.silent().run(program, &[], Mode::User, |_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if exit.code.is_some() || exit.rows != 1000 {
        return Err(format!("{exit:?}").into());
    }
    Ok(())
}

/// The child of a fork runs, but only its parent is traced.
fn forks(program: &Path) -> Result<(), Failed> {
    let (executed, rows, exit) = trace(program, &[], Mode::User)?;
    let exit = exit?;
    if exit.code != Some(3) || executed.started.len() > 50 {
        return Err(format!("{exit:?}").into());
    }
    ends_agree(&rows)
}

/// Threads take turns, each in a context of its own, and change only at traps.
fn threads(program: &Path) -> Result<(), Failed> {
    let (mut turns, mut before, mut wrong) = (0, None::<Retired>, None);
    Qemu::new()?.silent().run(program, &[], Mode::User, |row| {
        if let Some(before) = before.replace(*row).filter(|before| before.context != row.context) {
            turns += 1;
            if !before.itype.is_trap() || row.ctype != CType::Precise || row.context > 1 {
                wrong = Some((before, *row));
            }
        }
        if turns < 10 && wrong.is_none() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    match wrong {
        None => Ok(()),
        Some(rows) => Err(format!("{rows:?}").into()),
    }
}
