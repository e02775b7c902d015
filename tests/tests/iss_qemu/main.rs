//! The instruction set simulator and QEMU execute the same: every bundled program and random mixes of
//! instructions, every address from the first to the last, and the registers at the end.
//!
//! `HARTRACE_PROGRAMS` sets the number of random programs, `HARTRACE_SEED` the first seed.
//!
//! Ignored where QEMU or a C compiler for its plugin is missing. `docs/design/iss.md` describes what exactly
//! is compared, and where QEMU and the ISS may differ.

mod bundled;
mod lockstep;
mod random;
mod registers;

use hartrace_executions::qemu::Qemu;
use libtest_mimic::{Arguments, Trial};
use std::io::{self, Write};
use std::ops::Range;
use std::process::{Command, ExitCode};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// QEMU with its plugin, which is compiled once.
fn qemu() -> &'static Qemu {
    static QEMU: LazyLock<Qemu> =
        LazyLock::new(|| Qemu::new().expect("the plugin compiles").silent());
    &QEMU
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let has = |command: &str| {
        Command::new(command).arg("--version").output().is_ok_and(|o| o.status.success())
    };
    let compiler = has("cc");
    let ready = |mode: &str, xlen: u32| compiler && has(&format!("qemu-{mode}riscv{xlen}"));
    let mut trials = Vec::new();
    for program in bundled::list() {
        let mode = if program.bare { "system-" } else { "" };
        let ignored = !ready(mode, program.xlen);
        let trial = Trial::test(format!("bundled/{}", program.name), move || {
            bundled::check(&program).map_err(Into::into)
        });
        trials.push(trial.with_ignored_flag(ignored));
    }
    let first = number("HARTRACE_SEED", 0);
    let seeds = first..first.saturating_add(number("HARTRACE_PROGRAMS", 240).div_ceil(2));
    for xlen in [64, 32] {
        let ignored = !ready("", xlen);
        let all = seeds.clone();
        let covers = Trial::test(format!("random/rv{xlen}/covers"), move || {
            random::covers(xlen, all).map_err(Into::into)
        });
        // A few programs cannot contain everything.
        trials.push(covers.with_ignored_flag(seeds.end - seeds.start < 100));
        for start in seeds.clone().step_by(GROUP as usize) {
            let group = start..seeds.end.min(start + GROUP);
            let name = format!("random/rv{xlen}/{}-{}", group.start, group.end - 1);
            let trial = Trial::test(name, move || Ok(random(xlen, group)?));
            trials.push(trial.with_ignored_flag(ignored));
        }
    }
    libtest_mimic::run(&args, trials).exit_code()
}

/// Number of random programs in one trial.
const GROUP: u64 = 20;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs the programs of some seeds, and reports all that differ.
fn random(xlen: u32, seeds: Range<u64>) -> Result<(), String> {
    let (mut instructions, mut failures) = (0, Vec::new());
    for seed in seeds.clone() {
        match random::check(xlen, seed) {
            Ok(count) => instructions += count,
            Err(what) => failures.push(what),
        }
    }
    println!("rv{xlen}, seeds {seeds:?}: {instructions} instructions");
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n\n")) }
}

/// The output of a program.
#[derive(Clone, Default)]
struct Console(Arc<Mutex<Vec<u8>>>);

impl Console {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
