//! The instruction set simulator and QEMU execute the same: every bundled program and random mixes of
//! instructions, every address from the first to the last, and the registers at the end.
//!
//! Ignored where QEMU or a C compiler for its plugin is missing. What exactly is compared, and where QEMU and
//! the ISS may differ, is in `docs/design/iss.md`.

mod bundled;
mod lockstep;
mod registers;

use hartrace_qemu::Qemu;
use libtest_mimic::{Arguments, Trial};
use std::io::{self, Write};
use std::process::{Command, ExitCode};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// With its plugin, which is compiled once.
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
    libtest_mimic::run(&args, trials).exit_code()
}

/// What a program prints.
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
