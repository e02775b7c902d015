//! Random mixes of instructions. At its end, each program writes its registers and data to standard
//! output. These bytes must be the same in the ISS and in QEMU, and so must every address on the way.

mod coverage;

pub(crate) use coverage::covers;

use crate::lockstep::{Lockstep, Told};
use crate::{Console, qemu};
use hartrace_executions::qemu::Mode;
use hartrace_iss::{AccessKind, Environment, Exit, Hart, HartConfig, Retire, Step, Xlen};
use hartrace_tests::random::{DATA_SIZE, NOTES_AT, Program, Target, generate};
use std::collections::VecDeque;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compares one program; returns the number of instructions and traps.
pub(crate) fn check(xlen: u32, seed: u64) -> Result<u64, String> {
    let program = generate(Target::linux(xlen), seed);
    let file = write(&program, xlen, seed)?;
    let result = compare(&program, &file, xlen);
    if result.is_ok() {
        // Files of programs that differ are kept for inspection.
        fs::remove_file(&file).map_err(|error| error.to_string())?;
    }
    result.map_err(|what| format!("rv{xlen}, seed {seed}, {}: {what}", file.display()))
}

fn write(program: &Program, xlen: u32, seed: u64) -> Result<PathBuf, String> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("random-rv{xlen}-{seed}.elf"));
    let executable = fs::Permissions::from_mode(0o755);
    fs::write(&file, &program.elf)
        .and_then(|()| fs::set_permissions(&file, executable))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(file)
}

fn hart(program: &Program, xlen: u32) -> Result<(Hart, u64), String> {
    let mut hart = Hart::new(HartConfig {
        xlen: if xlen == 32 { Xlen::Rv32 } else { Xlen::Rv64 },
        environment: Environment::Linux {
            arguments: Vec::new(),
            variables: Vec::new(),
            input: Vec::new(),
            files: Vec::new(),
        },
        ..HartConfig::default()
    });
    let entry = hart.load_elf(&program.elf).map_err(|error| error.to_string())?;
    Ok((hart, entry.pc))
}

fn compare(program: &Program, file: &Path, xlen: u32) -> Result<u64, String> {
    let (mut hart, entry) = hart(program, xlen)?;
    let console = Console::default();
    hart.set_console(Box::new(console.clone()));
    let mut lockstep = Lockstep::new(hart, entry, Told::Addresses);
    let mut difference = None;
    let run = qemu().run(file, &[], Mode::User, |row| match lockstep.row(row) {
        Ok(()) => ControlFlow::Continue(()),
        Err(what) => {
            difference = Some(what);
            ControlFlow::Break(())
        }
    });
    if let Some(what) = difference {
        let name = program.names.iter().rev().find(|(at, _)| *at <= lockstep.last);
        return Err(format!("after {name:x?}: {what}"));
    }
    let run = run.map_err(|error| error.to_string())?;
    let exit = lockstep.end()?;
    let counts = (lockstep.instructions, lockstep.traps);
    if (exit, run.code) != (Exit::Exited(0), Some(0)) || counts != (run.instructions, run.traps) {
        return Err(format!("{exit:?} after {counts:?}, in QEMU {run:?}"));
    }
    // Runs it again without the plugin, so that its output can be captured.
    let command = format!("qemu-riscv{xlen}");
    let output = Command::new(&command).arg(file).output();
    let theirs = output.map_err(|error| format!("{command}: {error}"))?.stdout;
    let ours = console.bytes();
    if ours.len() <= DATA_SIZE || theirs.len() != ours.len() {
        return Err(format!("prints {} bytes, in QEMU {}", ours.len(), theirs.len()));
    }
    if ours != theirs {
        return Err(explain(program, xlen, &ours, &theirs)?);
    }
    Ok(lockstep.instructions + lockstep.traps)
}

/// The latest steps before the one that stores to `address`.
struct Before<'a> {
    names: &'a [(u64, &'static str)],
    address: u64,
    steps: VecDeque<String>,
    found: bool,
}

impl Retire for Before<'_> {
    const DETAIL: bool = true;

    fn retire(&mut self, step: &Step) {
        let stores = step.access.filter(|access| access.kind == AccessKind::Store);
        self.found |= stores.is_some_and(|access| access.address == self.address);
        if self.found {
            return;
        }
        let name = self.names.iter().find(|(at, _)| *at == step.pc).map_or("?", |(_, name)| name);
        if self.steps.len() == 6 {
            self.steps.pop_front();
        }
        let text = format!("0x{:x} {name} ({:x}) {:x?}", step.pc, step.encoding, step.write);
        self.steps.push_back(text);
    }
}

/// The first difference, and its origin.
fn explain(program: &Program, xlen: u32, ours: &[u8], theirs: &[u8]) -> Result<String, String> {
    let slots = ours.chunks_exact(8).zip(theirs.chunks_exact(8));
    let (data, notes): (Vec<_>, Vec<_>) =
        slots.enumerate().filter(|(_, (a, b))| a != b).partition(|(n, _)| n * 8 < DATA_SIZE);
    let hex =
        |bytes: &[u8]| -> String { bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect() };
    if let Some((slot, (a, b))) = notes.first() {
        let address = NOTES_AT + (slot * 8 - DATA_SIZE) as u64;
        let (names, steps) = (&program.names, VecDeque::new());
        let mut before = Before { names, address, steps, found: false };
        hart(program, xlen)?.0.run(u64::MAX, &mut before);
        let steps: Vec<String> = before.steps.into();
        let steps = steps.join("\n  ");
        return Ok(format!("result {}, in QEMU {}, of\n  {steps}", hex(a), hex(b)));
    }
    let list: Vec<String> = data
        .iter()
        .map(|(slot, (a, b))| {
            let name = match slot {
                0..32 => format!("x{slot}"),
                32..64 => format!("f{}", slot - 32),
                64 => "fcsr".to_owned(),
                _ => format!("data at {}", slot * 8),
            };
            format!("{name} {}, in QEMU {}", hex(a), hex(b))
        })
        .collect();
    Ok(format!("at the end, {}", list.join("; ")))
}
