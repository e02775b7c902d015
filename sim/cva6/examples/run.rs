//! Runs a program on the core: `cargo run --release -p hartrace-cva6-sim --example run -- PROG.elf [LOG.csv]`.

use hartrace_cva6_sim::{Commit, Config, Core, Platform};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let elf = arguments.next().ok_or("which program?")?;
    let mut log = match arguments.next() {
        Some(path) => Some(BufWriter::new(File::create(path)?)),
        None => None,
    };
    let start = Instant::now();
    let model = Core::find()?.model()?;
    println!("model after {:.1} s", start.elapsed().as_secs_f64());
    let mut platform = Platform::new(&model, &std::fs::read(elf)?, &Config::default())?;
    let start = Instant::now();
    let mut failed = Ok(());
    if let Some(log) = &mut log {
        writeln!(log, "{}", Commit::HEADER)?;
    }
    let run = platform.run(1 << 32, &mut |commit: &Commit| {
        if let (Some(log), Ok(())) = (&mut log, &failed) {
            failed = writeln!(log, "{commit}");
        }
    })?;
    failed?;
    let seconds = start.elapsed().as_secs_f64();
    print!("{}", String::from_utf8_lossy(platform.console()));
    println!("{run:?}, {:.0} cycles/s", run.cycles as f64 / seconds);
    Ok(())
}
