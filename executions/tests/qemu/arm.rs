//! A64, A32 and T32 programs, run by QEMU block by block with the plugin, and again one instruction at a
//! time with QEMU's log: both must have executed the same, from the first instruction to the last.
//!
//! Ignored where QEMU is missing.

use elf::ElfBytes;
use elf::abi::PT_LOAD;
use elf::endian::AnyEndian;
use hartrace_executions::qemu::{ArmCause, ArmStep, Exit, Mode, Qemu, QemuError};
use hartrace_isa::arm::{Isa, Place};
use libtest_mimic::{Arguments, Failed, Trial};
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let has = |command: &str| {
        Command::new(command).arg("--version").output().is_ok_and(|o| o.status.success())
    };
    let (cc, wide, narrow) = (has("cc"), has("qemu-aarch64"), has("qemu-arm"));
    let mut trials = Vec::new();
    for (binary, there, names) in [
        ("qemu-aarch64", wide, ["flow", "signals-a64", "a64/calls"].as_slice()),
        ("qemu-arm", narrow, &["states", "signals-a32", "t32/calls", "t32/interp"]),
    ] {
        for name in names {
            let trial = Trial::test(*name, move || compare(binary, name));
            trials.push(trial.with_ignored_flag(!cc || !there));
        }
    }
    let ignored = !cc || !wide || !narrow;
    trials.push(Trial::test("faults", faults).with_ignored_flag(ignored));
    trials.push(Trial::test("errors", errors).with_ignored_flag(ignored));
    trials.push(Trial::test("sink-ends-the-run", stops).with_ignored_flag(ignored));
    libtest_mimic::run(&args, trials).exit_code()
}

fn program(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf/arm");
    folder.join(name).with_extension("elf")
}

/// What the plugin reports, and how the run ended.
fn trace(program: &Path) -> Result<(Vec<ArmStep>, Result<Exit, QemuError>), Failed> {
    let mut steps = Vec::new();
    let exit = Qemu::new()?.silent().run_arm(program, &[], |step| {
        steps.push(*step);
        ControlFlow::Continue(())
    });
    Ok((steps, exit))
}

/// An instruction in QEMU's log: address, whether it is T32, and whether it is in an IT block.
type Logged = (u64, bool, bool);

fn log(binary: &str, program: &Path) -> Result<Vec<Logged>, Failed> {
    let mut child = Command::new(binary)
        .args(["-singlestep", "-d", "exec,nochain", "-D", "/dev/stderr"])
        .arg(program)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut all = Vec::new();
    for line in BufReader::new(child.stderr.take().ok_or("no log")?).lines() {
        let line = line?;
        if !line.starts_with("Trace ") {
            continue;
        }
        let fields = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let fields: Vec<&str> = fields.ok_or("no fields")?.0.split('/').collect();
        let [state, pc, ..] = fields[..] else { return Err(line.into()) };
        let (state, pc) = (u64::from_str_radix(state, 16)?, u64::from_str_radix(pc, 16)?);
        let narrow = binary == "qemu-arm";
        // For AArch32, `state` contains the bit T and the IT state.
        let thumb = narrow && state >> 23 & 1 == 1;
        all.push((pc, thumb, thumb && state >> 24 & 0xf != 0));
    }
    child.wait()?;
    Ok(all)
}

fn compare(binary: &str, name: &str) -> Result<(), Failed> {
    let program = program(name);
    let (steps, exit) = trace(&program)?;
    let exit = exit?;
    let memory = Memory::read(&program)?;
    let logged = log(binary, &program)?;
    if logged.len() < 500 || exit.code != Some(0) || exit.unknown_outcomes > 0 {
        return Err(format!("{exit:?}, and {} in the log", logged.len()).into());
    }
    let (mut log, mut exceptions, mut faults, mut expected) = (logged.iter(), 0, 0, None);
    for step in &steps {
        match *step {
            ArmStep::Executed { executed, opcode } => {
                let (address, thumb, it) = *log.next().ok_or("more than in the log")?;
                let same = executed.address == address && (executed.isa == Isa::T32) == thumb;
                let here = Place { address, isa: executed.isa };
                let follows = expected.is_none_or(|place| place == here);
                // The code that returns from signals is QEMU's.
                let known = memory.opcode(address, executed.isa).is_none_or(|own| own == opcode);
                if !same || !follows || !known || it && !executed.insn.conditional {
                    return Err(format!("{executed:x?}, but {address:x} {thumb} {it}").into());
                }
                expected = Some(executed.next);
            }
            ArmStep::Exception { cause, returns } => {
                exceptions += 1;
                if expected != Some(returns) || cause == ArmCause::Signal {
                    return Err(format!("{cause:?} that returns to {returns:x?}").into());
                }
                if cause == ArmCause::Fault {
                    // It was attempted.
                    faults += 1;
                    let tried = log.next().map(|(address, ..)| *address);
                    if tried != Some(returns.address) {
                        return Err(format!("a fault at {returns:x?}, but {tried:x?}").into());
                    }
                }
                // The handler of a signal may come first.
                if name.starts_with("signals") {
                    expected = None;
                }
            }
        }
    }
    let right = if name.starts_with("signals") { 40 } else { 0 };
    let all = exit.instructions + faults == logged.len() as u64 && log.next().is_none();
    if !all || exceptions != exit.traps || faults != right {
        return Err(format!("{exit:?}, {faults} faults: not all of the log").into());
    }
    Ok(())
}

/// A load in the middle of a block that cannot be executed, and an unknown instruction.
fn faults() -> Result<(), Failed> {
    let load = 0xf940_0000_u32; // ldr x0, [x0], with x0 0 from the start
    let (nop, undefined) = (0xd503_201f_u32, 0x0000_0000_u32);
    for (name, code, stopped) in [("load", [nop, load, nop], 1), ("udf", [nop, nop, undefined], 2)]
    {
        let mut elf = fs::read(program("flow"))?;
        let entry = {
            let file = ElfBytes::<AnyEndian>::minimal_parse(&elf)?;
            let segments = file.segments().ok_or("no segments")?;
            let segment = segments.iter().find(|s| s.p_type == PT_LOAD).ok_or("no segment")?;
            (file.ehdr.e_entry, file.ehdr.e_entry - segment.p_vaddr + segment.p_offset)
        };
        for (at, word) in code.iter().enumerate() {
            let offset = entry.1 as usize + 4 * at;
            elf[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
        }
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.elf"));
        // It must be executable, or QEMU rejects it.
        fs::copy(program("flow"), &path)?;
        fs::write(&path, elf)?;
        let (steps, exit) = trace(&path)?;
        let Err(QemuError::Killed { instructions, .. }) = exit else {
            return Err(format!("{name}: {exit:?}").into());
        };
        let returns = Place { address: entry.0 + 4 * stopped, isa: Isa::A64 };
        let fault = ArmStep::Exception { cause: ArmCause::Fault, returns };
        if instructions != stopped || steps.last() != Some(&fault) {
            return Err(format!("{name}: {steps:x?}").into());
        }
    }
    Ok(())
}

fn errors() -> Result<(), Failed> {
    let text = |result: Result<Exit, QemuError>| match result {
        Ok(exit) => format!("{exit:?}"),
        Err(error) => error.to_string(),
    };
    let qemu = Qemu::new()?.silent();
    let riscv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf/linux.elf");
    let found = text(qemu.run_arm(&riscv, &[], |_| ControlFlow::Continue(())));
    if !found.contains("ELF machine 243, not AArch64 (183) or Arm (40)") {
        return Err(found.into());
    }
    let found = text(qemu.run(&program("flow"), &[], Mode::User, |_| ControlFlow::Continue(())));
    if !found.contains("ELF machine 183, not RISC-V") {
        return Err(found.into());
    }
    Ok(())
}

fn stops() -> Result<(), Failed> {
    let mut count = 0;
    let exit = Qemu::new()?.silent().run_arm(&program("long-mixed"), &[], |_| {
        count += 1;
        if count < 1_000_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    match (exit.code, exit.instructions + exit.traps) {
        (None, 1_000_000) => Ok(()),
        _ => Err(format!("{exit:?}").into()),
    }
}

/// Code by address.
struct Memory(Vec<(u64, Vec<u8>)>);

impl Memory {
    fn read(program: &Path) -> Result<Self, Failed> {
        let bytes = fs::read(program)?;
        let file = ElfBytes::<AnyEndian>::minimal_parse(&bytes)?;
        let segments = file.segments().ok_or("no segments")?.iter();
        let segments = segments.filter(|segment| segment.p_type == PT_LOAD);
        segments
            .map(|segment| Ok((segment.p_vaddr, file.segment_data(&segment)?.to_vec())))
            .collect::<Result<_, Failed>>()
            .map(Self)
    }

    /// In the form that `decode` accepts.
    fn opcode(&self, address: u64, isa: Isa) -> Option<u32> {
        let half = |address: u64| {
            self.0.iter().find_map(|(start, bytes)| {
                let at = usize::try_from(address.checked_sub(*start)?).ok()?;
                Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
            })
        };
        let first = half(address)?;
        Some(match isa {
            Isa::T32 if first < 0xe800 => first << 16,
            Isa::T32 => first << 16 | half(address + 2)?,
            Isa::A32 | Isa::A64 => half(address + 2)? << 16 | first,
        })
    }
}
