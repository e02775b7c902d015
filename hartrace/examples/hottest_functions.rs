//! Prints the functions that executed most.

use std::error::Error;
use std::path::Path;

pub(crate) fn print(capture: &Path) -> Result<(), Box<dyn Error>> {
    let capture = hartrace::open(capture)?;
    // `complete` is an error if any part of the trace is missing.
    for function in capture.functions()?.complete()?.iter().take(10) {
        println!("{:>12} {}", function.instructions, function.name);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let capture = std::env::args_os().nth(1).ok_or("usage: hottest_functions CAPTURE")?;
    print(Path::new(&capture))
}
