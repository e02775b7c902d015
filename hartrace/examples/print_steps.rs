//! Prints what was executed, in order, and where the trace has gaps.

use hartrace::{Error, Options, Step};
use std::io::Write;
use std::path::Path;

pub(crate) fn print(
    capture: &Path,
    program: &Path,
    out: &mut dyn Write,
) -> Result<(), Box<dyn std::error::Error>> {
    // The program need not be given if the capture has a description that names it.
    let capture = Options::default().program(program).open(capture)?;
    for step in capture.steps() {
        match step {
            Ok(Step::Block(block)) => {
                let (first, count) = (block.addresses[0], block.addresses.len());
                writeln!(out, "{first:#x}..{:#x}: {count} instructions", block.end)?;
            }
            Ok(Step::Event(happened)) => {
                writeln!(out, "packet {}: {:?}", happened.at.packet, happened.event)?;
            }
            // Decoding continues at the next synchronisation.
            Err(Error::Gap(gap)) => eprintln!("{gap}"),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(capture), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err("usage: print_steps CAPTURE PROGRAM".into());
    };
    print(Path::new(&capture), Path::new(&program), &mut std::io::stdout().lock())
}
