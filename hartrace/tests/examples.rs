//! The example programs, which `docs/guide/rust-library.md` quotes, run to completion.

#[path = "../examples/encode_run.rs"]
mod encode_run;
#[path = "../examples/hottest_functions.rs"]
#[allow(dead_code, reason = "its main function takes arguments")]
mod hottest_functions;
#[path = "../examples/print_steps.rs"]
#[allow(dead_code, reason = "its main function takes arguments")]
mod print_steps;
#[path = "../examples/sum_of_your_own.rs"]
#[allow(dead_code, reason = "its main function takes arguments")]
mod sum_of_your_own;
mod traced;

use hartrace_tests::captures::Folder;

#[test]
fn encode_run() {
    encode_run::main().expect("it runs");
}

#[test]
fn hottest_functions() {
    let folder = Folder::new("hottest");
    let (capture, _) = traced::trace(&folder, "sort", "delta");
    hottest_functions::print(&capture).expect("it runs");
}

#[test]
fn print_steps() {
    let folder = Folder::new("steps");
    let (capture, _) = traced::trace(&folder, "sort", "delta");
    let mut out = Vec::new();
    print_steps::print(&capture, &capture.with_file_name("sort.elf"), &mut out).expect("it runs");
    assert!(String::from_utf8(out).unwrap().lines().count() > 1000);
    let missing =
        print_steps::print(&capture, &capture.with_file_name("other.elf"), &mut Vec::new());
    assert!(missing.expect_err("there is no such file").to_string().contains("other.elf"));
}

#[test]
fn sum_of_your_own() {
    let folder = Folder::new("own");
    let (capture, executed) = traced::trace(&folder, "sort", "delta");
    let count = sum_of_your_own::print(&capture).expect("it runs");
    let expected = executed.iter().filter(|pc| (0x8000_0000..0x8000_0400).contains(*pc)).count();
    assert!(count == expected as u64 && count > 1000, "{count}, not {expected}");
}
