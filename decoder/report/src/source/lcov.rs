//! The tracefiles of lcov.

use super::report::{Counted, SourceForm};
use super::{BranchCount, FileCounts};
use hartrace_capture::text::escaped;
use std::borrow::Cow;
use std::io::{self, Write};

/// A tracefile of lcov, for `genhtml` and what else shows coverage: lines, functions, and both ways of each conditional
/// branch in the code, executed or not.
#[derive(Copy, Clone, Debug, Default)]
pub struct Lcov;

impl SourceForm for Lcov {
    fn write(&mut self, counted: &Counted<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
        for (name, file) in &counted.counts.files {
            writeln!(out, "TN:\nSF:{name}")?;
            functions(file, out)?;
            branches(file, out)?;
            for (line, count) in &file.lines {
                writeln!(out, "DA:{line},{}", count.executions)?;
            }
            let hit = file.lines.values().filter(|count| count.executions > 0).count();
            writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", file.lines.len())?;
        }
        Ok(())
    }
}

/// A name as the last field of a line. A number and a comma before it would be one more field, the last line of the function.
fn field(name: &str) -> Cow<'_, str> {
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => escaped(name, |c| c == ',').into(),
        false => name.into(),
    }
}

fn functions(file: &FileCounts, out: &mut dyn Write) -> io::Result<()> {
    for function in &file.functions {
        writeln!(out, "FN:{},{}", function.line, field(&function.name))?;
    }
    for function in &file.functions {
        writeln!(out, "FNDA:{},{}", function.executions, field(&function.name))?;
    }
    let hit = file.functions.iter().filter(|function| function.executions > 0).count();
    writeln!(out, "FNF:{}\nFNH:{hit}", file.functions.len())
}

/// Every branch of the code is a block of its line: branch 0 is taken, 1 is not. Of a branch that was never executed,
/// lcov wants `-` for both.
fn branches(file: &FileCounts, out: &mut dyn Write) -> io::Result<()> {
    let (mut found, mut hit) = (0u64, 0u64);
    for (line, branches) in &file.branches {
        for (block, branch) in (0u32..).zip(branches) {
            let BranchCount { executions, taken, not_taken, .. } = *branch;
            for (way, times) in [(0, taken), (1, not_taken)] {
                match executions {
                    0 => writeln!(out, "BRDA:{line},{block},{way},-")?,
                    _ => writeln!(out, "BRDA:{line},{block},{way},{times}")?,
                }
                found = found.wrapping_add(1);
                hit = hit.wrapping_add(u64::from(times > 0));
            }
        }
    }
    writeln!(out, "BRF:{found}\nBRH:{hit}")
}
