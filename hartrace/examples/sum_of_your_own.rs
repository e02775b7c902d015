//! Counts the instructions that were executed in the first kilobyte of the program, on all cores.

use hartrace::{Collect, Run, Sink, StreamPos, Sum};
use std::error::Error;
use std::ops::Range;
use std::path::Path;

const CODE: Range<u64> = 0x8000_0000..0x8000_0400;

/// What one part of the capture adds up to.
#[derive(Default)]
struct Executed(u64);

impl Sink for Executed {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.0 += u64::from(CODE.contains(&address)));
    }
}

impl Collect for Executed {}

impl Sum for Executed {
    fn merge(&mut self, next: Self) {
        self.0 += next.0;
    }
}

pub(crate) fn print(capture: &Path) -> Result<u64, Box<dyn Error>> {
    let Executed(count) = hartrace::open(capture)?.sum()?.complete()?;
    println!("{count} instructions in {CODE:#x?}");
    Ok(count)
}

fn main() -> Result<(), Box<dyn Error>> {
    let capture = std::env::args_os().nth(1).ok_or("usage: sum_of_your_own CAPTURE")?;
    print(Path::new(&capture)).map(drop)
}
