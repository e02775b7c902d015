//! The record of another platform around the same core.

use crate::run;
use flate2::read::GzDecoder;
use hartrace_cva6_sim::{Commit, Config, Exit, Rows};
use hartrace_executions::{Options, Source};
use libtest_mimic::Failed;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

fn unpack(name: &str) -> Result<Vec<u8>, Failed> {
    let folder = std::env::var_os("HARTRACE_DATA").ok_or("HARTRACE_DATA is not set")?;
    let path = Path::new(&folder).join("cva6-commit").join(name);
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The record equals the recorded log byte for byte, and the importer of such logs returns the same
/// rows.
pub(crate) fn prog_a() -> Result<(), Failed> {
    let (run, commits) = run(&unpack("prog_a.elf.gz")?, &Config::default())?;
    assert_eq!(run.exit, Exit::Exited(0));
    let recorded = String::from_utf8(unpack("prog_a.commit.csv.gz")?)?;
    let mut ours = vec![Commit::HEADER.to_owned()];
    ours.extend(commits.iter().map(Commit::to_string));
    for (number, (ours, recorded)) in (1..).zip(ours.iter().zip(recorded.lines())) {
        assert_eq!(ours, recorded, "line {number}");
    }
    assert_eq!(ours.len(), recorded.lines().count());

    let reader = BufReader::new(recorded.as_bytes());
    let mut source = Source::new(reader, "prog_a", &Options::default())?;
    let mut rows = Rows::default();
    for commit in &commits {
        let imported = source.next_row()?.ok_or("the importer ends early")?;
        assert_eq!(rows.row(commit), Some(imported.retired), "{commit}");
    }
    assert_eq!(source.next_row()?, None);
    Ok(())
}
