//! How fast a program runs in QEMU when every block of it is reported.
//!
//! `cargo run --release -p hartrace-qemu --example rate -- PROGRAM [ARGUMENT...]`

use hartrace_qemu::{Mode, Qemu};
use std::ops::ControlFlow;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (program, args) = args.split_first().ok_or("which program?")?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let qemu = Qemu::new()?;
    let start = Instant::now();
    let mut half_words = 0u64;
    let exit = qemu.run(program.as_ref(), &args, Mode::User, |row| {
        half_words += u64::from(row.iretire);
        ControlFlow::Continue(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{exit:?}");
    println!(
        "{half_words} half-words, {seconds:.2} s, {:.0} M instructions/s",
        exit.instructions as f64 / seconds / 1e6
    );
    Ok(())
}
