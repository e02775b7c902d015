//! `hartrace run` as `perf record`: what a program reads, writes and finds, how it ends, and what is left of its trace. Each
//! on our own hart and on QEMU; the latter shows as ignored where QEMU or a C compiler is missing.

mod ends;
mod files;
mod folder;
mod outputs;
mod streams;

use folder::{EXECUTORS, Folder};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::Command;

type Test = fn(&Folder) -> Result<(), Failed>;

/// Tests on every executor.
const TESTS: [(&str, Test); 15] = [
    ("standard-input", streams::standard_input),
    ("terminal", streams::terminal),
    ("standard-output", streams::standard_output),
    ("arguments-and-status", streams::arguments_and_status),
    ("environment", files::environment),
    ("files", files::files),
    ("statuses", ends::statuses),
    ("interrupted", ends::interrupted),
    ("interrupted-while-it-waits", ends::interrupted_while_it_waits),
    ("terminated", ends::terminated),
    ("nobody-reads", ends::nobody_reads),
    ("full-disk", outputs::full_disk),
    ("default-output", outputs::default_output),
    ("page", outputs::page),
    ("bare-metal", streams::bare_metal),
];

fn main() {
    let args = Arguments::from_args();
    let needed = ["qemu-riscv64", "qemu-system-riscv64", "cc"];
    let missing = needed.iter().any(|name| Command::new(name).arg("--version").output().is_err());
    let mut trials = Vec::new();
    for executor in EXECUTORS {
        for (name, test) in TESTS {
            let run = move || test(&Folder::new(&format!("{executor}-{name}"), executor)?);
            let ignored = missing && executor == "qemu";
            trials.push(Trial::test(format!("{executor}/{name}"), run).with_ignored_flag(ignored));
        }
    }
    trials.push(Trial::test("both/the-same", files::the_same).with_ignored_flag(missing));
    trials.push(Trial::test("calls-that-are-missing", ends::calls_that_are_missing));
    trials.push(Trial::test("small-full-disk", outputs::small_full_disk));
    libtest_mimic::run(&args, trials).exit();
}
