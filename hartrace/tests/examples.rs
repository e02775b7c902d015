//! The example programs, which `docs/guide/rust-library.md` quotes, run to completion.

#[path = "../examples/encode_run.rs"]
mod encode_run;
#[path = "../examples/hottest_functions.rs"]
#[allow(dead_code, reason = "its main function takes arguments")]
mod hottest_functions;
#[path = "../examples/print_steps.rs"]
#[allow(dead_code, reason = "its main function takes arguments")]
mod print_steps;
mod traced;

#[test]
fn encode_run() {
    encode_run::main().expect("it runs");
}

#[test]
fn hottest_functions() {
    let (capture, _) = traced::trace("sort", "delta", "hottest");
    hottest_functions::print(&capture).expect("it runs");
}

#[test]
fn print_steps() {
    let (capture, _) = traced::trace("sort", "delta", "steps");
    print_steps::print(&capture, &capture.with_file_name("sort.elf")).expect("it runs");
    let missing = print_steps::print(&capture, &capture.with_file_name("other.elf"));
    assert!(missing.expect_err("there is no such file").to_string().contains("other.elf"));
}
