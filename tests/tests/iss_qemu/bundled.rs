//! The bundled programs.

use crate::lockstep::{Lockstep, Told};
use crate::registers::{self, Seen};
use crate::{Console, qemu};
use elf::ElfBytes;
use elf::endian::LittleEndian;
use hartrace_executions::qemu::Mode;
use hartrace_iss::{Clock, Environment, Exit, Hart, HartConfig, Range, Xlen};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A row of `list.csv`.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    pub(crate) xlen: u32,
    pub(crate) bare: bool,
}

/// Programs whose behaviour depends on time. For these, QEMU counts time in instructions, with one
/// instruction per block, so that each run is the same, whether registers or addresses are
/// requested.
const TIMED: [&str; 3] = ["interrupts", "interrupts-rv32", "user"];
const COUNTED: [&str; 3] = ["-singlestep", "-icount", "shift=0,sleep=off"];
/// All three execute a word of ones, which QEMU 7.2 cannot disassemble. Without disassembly QEMU
/// does not report the privilege of a block either, only traps.
const NO_PRIVILEGE: [&str; 2] = ["-d", "int"];

const SPIKE: [&str; 4] = ["-machine", "spike", "-serial", "none"];

pub(crate) fn list() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let text = fs::read_to_string(folder.join("list.csv")).expect("programs have a list");
    let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<&str>>());
    rows.map(|row| Program {
        name: row[0].to_owned(),
        file: folder.join(row[1]),
        xlen: if row[2] == "32" { 32 } else { 64 },
        bare: row[3] == "bare",
    })
    .collect()
}

pub(crate) fn check(program: &Program) -> Result<(), String> {
    let bytes = fs::read(&program.file).map_err(|error| error.to_string())?;
    if program.bare { bare(program, &bytes) } else { linux(program, &bytes) }
}

fn xlen(program: &Program) -> Xlen {
    if program.xlen == 32 { Xlen::Rv32 } else { Xlen::Rv64 }
}

fn log(program: &Program) -> PathBuf {
    let name = format!("{}-registers.log", program.name);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Follows QEMU to its end, where the ISS has to end too.
fn follow(
    program: &Program,
    mode: Mode,
    args: &[&str],
    lockstep: &mut Lockstep,
) -> Result<(), String> {
    let mut difference = None;
    let exit = qemu().run(&program.file, args, mode, |row| match lockstep.row(row) {
        Ok(()) => ControlFlow::Continue(()),
        Err(what) => {
            difference = Some(what);
            ControlFlow::Break(())
        }
    });
    if let Some(what) = difference {
        return Err(what);
    }
    let exit = exit.map_err(|error| error.to_string())?;
    let ours = lockstep.end()?;
    if exit.code != Some(0) || ours != Exit::Exited(0) {
        return Err(format!("ended with {ours:?}, in QEMU with {:?}", exit.code));
    }
    // Lengths within a block are those of the ISS, so the counts are compared as well.
    let counts = (lockstep.instructions + lockstep.reset_code, lockstep.traps);
    if counts != (exit.instructions, exit.traps) {
        return Err(format!("{counts:?} instructions and traps, in QEMU {exit:?}"));
    }
    println!("{}: {} instructions, {} traps", program.name, lockstep.instructions, lockstep.traps);
    Ok(())
}

/// Address of the symbol `halt`, whose instruction ends a program.
fn halt(bytes: &[u8]) -> Option<u64> {
    let file = ElfBytes::<LittleEndian>::minimal_parse(bytes).ok()?;
    let (symbols, names) = file.symbol_table().ok()??;
    let found = symbols.iter().find(|s| names.get(s.st_name as usize).is_ok_and(|n| n == "halt"));
    found.map(|symbol| symbol.st_value)
}

fn bare(program: &Program, bytes: &[u8]) -> Result<(), String> {
    let mut hart = Hart::new(HartConfig {
        xlen: xlen(program),
        memory: vec![Range { base: 0x8000_0000, size: 16 << 20 }],
        clock: Clock::Instructions(u64::MAX),
        ..HartConfig::default()
    });
    let entry = hart.load_elf(bytes).map_err(|error| error.to_string())?.pc;
    let halt = halt(bytes).ok_or("no symbol halt")?;
    let timed = TIMED.contains(&program.name.as_str());

    let mut command = Command::new(format!("qemu-system-riscv{}", program.xlen));
    command.args(SPIKE).args(["-bios", "none", "-display", "none", "-monitor", "none"]);
    command.args(["-d", "cpu,fpu"]);
    if timed {
        command.args(COUNTED);
    }
    let kernel = [Path::new("-kernel"), &program.file];
    let mut seen = registers::at(&mut command, &kernel, &[entry, halt], &log(program))?;
    // With icount, an access to a device is restarted.
    seen.dedup();
    let [start, end] = &seen[..] else {
        return Err(format!("QEMU was {} times at its entry and at halt", seen.len()));
    };
    if (start.pc, end.pc) != (entry, halt) {
        return Err(format!("QEMU was at 0x{:x} and 0x{:x}", start.pc, end.pc));
    }
    // Registers that QEMU's reset code has set.
    for (number, &value) in (0..).zip(&start.x) {
        hart.set_register(number, value);
    }

    let told = if timed { Told::Traps } else { Told::TrapsAndPrivilege };
    let mut lockstep = Lockstep::new(hart, entry, told);
    let mut args = SPIKE.to_vec();
    if timed {
        args.extend(COUNTED.into_iter().chain(NO_PRIVILEGE));
    }
    follow(program, Mode::System, &args, &mut lockstep)?;
    let end_of_rv32 = halt + 4;
    let last = if program.xlen == 32 { end_of_rv32 } else { halt };
    if lockstep.last != last {
        return Err(format!("ended at 0x{:x}, not at 0x{last:x}", lockstep.last));
    }
    same_registers(&lockstep, end, program.xlen, |_, _| false)
}

fn same_registers(
    lockstep: &Lockstep,
    end: &Seen,
    xlen: u32,
    same: impl Fn(u64, u64) -> bool,
) -> Result<(), String> {
    let mask = if xlen == 32 { 0xffff_ffff } else { u64::MAX };
    let list = registers::differences(&lockstep.hart.registers(), end, mask, same);
    if list.is_empty() { Ok(()) } else { Err(format!("at the end, {}", list.join("; "))) }
}

fn linux(program: &Program, bytes: &[u8]) -> Result<(), String> {
    let name = program.file.display().to_string();
    let mut hart = Hart::new(HartConfig {
        xlen: xlen(program),
        environment: Environment::Linux {
            arguments: vec![name],
            variables: Vec::new(),
            input: Vec::new(),
            files: Vec::new(),
        },
        ..HartConfig::default()
    });
    let console = Console::default();
    hart.set_console(Box::new(console.clone()));
    let entry = hart.load_elf(bytes).map_err(|error| error.to_string())?.pc;
    let stack = hart.registers().x[2];
    let mut lockstep = Lockstep::new(hart, entry, Told::Addresses);
    follow(program, Mode::User, &[], &mut lockstep)?;

    let binary = format!("qemu-riscv{}", program.xlen);
    let mut command = Command::new(&binary);
    command.args(["-d", "cpu,fpu,nochain"]);
    let addresses = [entry, lockstep.last];
    let seen = registers::at(&mut command, &[&program.file], &addresses, &log(program))?;
    let (Some(start), Some(end)) = (seen.first(), seen.last()) else {
        return Err("QEMU was nowhere".to_owned());
    };
    // The two kernels place the stack differently.
    let theirs = start.x[2];
    let same = |a: u64, b: u64| a.wrapping_sub(stack) == b.wrapping_sub(theirs);
    same_registers(&lockstep, end, program.xlen, same)?;

    let output = Command::new(&binary).arg(&program.file).output();
    let output = output.map_err(|error| format!("{binary}: {error}"))?.stdout;
    if output.is_empty() || output != console.bytes() {
        let ours = String::from_utf8_lossy(&console.bytes()).into_owned();
        return Err(format!("prints {ours:?}, in QEMU {:?}", String::from_utf8_lossy(&output)));
    }
    Ok(())
}
