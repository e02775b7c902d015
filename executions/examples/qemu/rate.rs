//! Measures how fast a program runs in QEMU when every block is reported.
//!
//! `cargo run --release -p hartrace-executions --example qemu_rate -- [--system|--arm] PROGRAM [ARGUMENT...]`

use hartrace_executions::qemu::{ArmStep, Mode, Qemu};
use std::ops::ControlFlow;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let (mode, arm) = match args.first().map(String::as_str) {
        Some("--system") => (Mode::System, false),
        Some("--arm") => (Mode::User, true),
        _ => (Mode::User, false),
    };
    args.retain(|arg| !matches!(arg.as_str(), "--system" | "--arm"));
    let (program, args) = args.split_first().ok_or("which program?")?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let qemu = Qemu::new()?;
    let start = Instant::now();
    let mut half_words = 0u64;
    let exit = match arm {
        false => qemu.run(program.as_ref(), &args, mode, |row| {
            half_words += u64::from(row.iretire);
            ControlFlow::Continue(())
        }),
        true => qemu.run_arm(program.as_ref(), &args, |step| {
            if let ArmStep::Executed { executed, .. } = step {
                half_words += u64::from(executed.insn.size / 2);
            }
            ControlFlow::Continue(())
        }),
    }?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{exit:?}");
    println!(
        "{half_words} half-words, {seconds:.2} s, {:.0} M instructions/s",
        exit.instructions as f64 / seconds / 1e6
    );
    Ok(())
}
