//! Memory and time that inputs take whose structure costs much, in every command that reads them.
//!
//! Each input is small. A command may take a multiple of what a plain input takes, and no more: see `Limit`. Nothing
//! panics or is killed. The figures are printed. `HARTRACE_RESOURCES=all` tries every form of output. The inputs that
//! others made are made by `hostile/make.py` in `HARTRACE_DATA`, with Python; without it they show as ignored.

mod inputs;
mod measure;

use inputs::Input;
use libtest_mimic::{Arguments, Failed, Trial};
use measure::{Limit, Usage, measure};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

/// A folder with the plain capture, and what it takes to decode it.
struct Plain {
    folder: PathBuf,
    usage: Usage,
}

fn main() {
    let mut args = Arguments::from_args();
    // Commands that run at a time would share the processors.
    args.test_threads = Some(1);
    let plain = Arc::new(plain());
    let made = inputs::made(&plain.folder);
    let others = inputs::of_others(&plain.folder);
    println!("{:<28} {:<34} {:>9} {:>8} {:>6}", "input", "command", "peak MB", "CPU s", "ratio");
    let row = |input: &str, command: &str, usage: &Usage| print(input, command, usage, &plain);
    row("(plain)", "decode --emit listing", &plain.usage);
    let trial = |input: Input, ignored| {
        let plain = plain.clone();
        Trial::test(input.name.clone(), move || input.check(&plain)).with_ignored_flag(ignored)
    };
    let mut trials: Vec<Trial> = made.into_iter().map(|input| trial(input, false)).collect();
    match others {
        Some(others) => trials.extend(others.into_iter().map(|input| trial(input, false))),
        None => {
            trials.push(Trial::test("hostile set", || Ok(())).with_ignored_flag(true));
        }
    }
    let outcome = libtest_mimic::run(&args, trials);
    let _ = fs::remove_dir_all(&plain.folder);
    outcome.exit();
}

/// Makes a capture, and decodes it.
fn plain() -> Plain {
    let folder = env::temp_dir().join(format!("hartrace-resources-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs/elf/calls.elf");
    fs::copy(program, folder.join("calls.elf")).expect("a program");
    measure(&folder, "run calls.elf -o calls.te").expect("a capture");
    let usage = measure(&folder, "decode calls.te --emit listing").expect("a listing");
    Plain { folder, usage }
}

fn print(input: &str, command: &str, usage: &Usage, plain: &Plain) {
    let (peak, cpu) = (usage.peak as f64 / 1e6, usage.cpu.as_secs_f64());
    let ratio = cpu / plain.usage.cpu.as_secs_f64().max(0.01);
    println!("{input:<28} {command:<34} {peak:>9.0} {cpu:>8.2} {ratio:>6.1}");
}

impl Input {
    /// Runs every command on it.
    fn check(self, plain: &Plain) -> Result<(), Failed> {
        let limit = Limit::new(&plain.usage, self.held);
        (self.write)(&plain.folder.join(&self.name)).map_err(|error| error.to_string())?;
        let mut wrong = Vec::new();
        for command in &self.commands {
            let usage = measure(&plain.folder, command)?;
            print(&self.name, command, &usage, plain);
            wrong.extend(limit.check(&usage).err().map(|what| format!("{command}: {what}")));
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
    }
}
