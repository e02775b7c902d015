//! Where traces go, and what is left if they cannot be written.

use crate::folder::{Folder, Said};
use libtest_mimic::Failed;
use std::ffi::OsStr;
use std::fs;
use std::process::Command;

/// Runs with files of at most so many KiB, which fails as a full disk does.
fn limited(folder: &Folder, line: &str, kib: u32) -> Result<Said, Failed> {
    let command = folder.command(line);
    let words: Vec<_> = command.get_args().map(OsStr::to_owned).collect();
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(format!("ulimit -f {kib}; exec \"$@\"")).arg("bash");
    shell.arg(env!("CARGO_BIN_EXE_hartrace")).args(words).current_dir(&folder.path);
    Said::of(shell.env("TMPDIR", folder.path.join("tmp")).output()?)
}

/// The start of the trace is kept, and can be decoded.
pub(crate) fn full_disk(folder: &Folder) -> Result<(), Failed> {
    // QEMU's own files are smaller.
    let said = limited(folder, "linux -o full.te -- 30", 300)?;
    let (count, early) = folder.cut("full.te")?;
    let hint = format!("try: full.te, which has the first {count} instructions\n");
    let right = said.status == Some(3)
        && said.err.contains("error: full.te: cannot write: File too large")
        && said.err.ends_with(&hint)
        && early.is_some_and(|early| early.starts_with("an error: cannot write: File too large"))
        && folder.names()? == ["full.te", "full.te.toml"];
    let bytes = fs::metadata(folder.path.join("full.te"))?.len();
    said.check(right && count > 100_000 && (200_000..300 << 10).contains(&bytes))?;
    // It is the start of the whole trace.
    folder.run("linux -o whole.te -- 30")?;
    let (kept, whole) = ("full.te", "whole.te");
    let read = |name: &str| fs::read(folder.path.join(name));
    said.check(read(whole)?.starts_with(&read(kept)?))
}

/// A trace that is small fails only when it is complete; one that has no room at all leaves nothing.
pub(crate) fn small_full_disk() -> Result<(), Failed> {
    let folder = Folder::new("small-full-disk", "iss")?;
    let said = limited(&folder, "interp --encode ir --limit 300k -o small.te", 40)?;
    let (count, early) = folder.cut("small.te")?;
    said.check(said.status == Some(3) && early.is_some() && (1000..300_000).contains(&count))?;
    fs::remove_file(folder.path.join("small.te"))?;
    fs::remove_file(folder.path.join("small.te.toml"))?;
    let said = limited(&folder, "interp --encode ir --limit 300k -o small.te", 8)?;
    said.check(said.status == Some(3) && said.err.contains("error: small.te: cannot write"))?;
    said.check(folder.names()?.is_empty())
}

/// A trace that nobody has named replaces only another such trace.
pub(crate) fn default_output(folder: &Folder) -> Result<(), Failed> {
    for (line, size) in
        [("calls --encode ir", None), ("calls --encode ir --limit 100k", Some(100_000))]
    {
        let said = folder.run(line)?;
        let (count, early) = folder.traced("trace.te")?;
        let bytes = fs::metadata(folder.path.join("trace.te"))?.len();
        let told = format!("\ntrace.te: {bytes} bytes, {count} instructions\n");
        said.check(said.out.ends_with(&told) && early.is_none())?;
        // QEMU does not split the block that reaches a limit.
        said.check(size.is_none_or(|size| (size..size + 100).contains(&count)))?;
    }
    let said = folder.run("calls --encode ir --json")?;
    said.check(said.figures()?["trace"] == "trace.te")?;
    fs::write(folder.path.join("trace.te"), "of somebody else")?;
    let said = folder.run("streams/count")?;
    let right = said.status == Some(2)
        && said.out.is_empty()
        && said.err.starts_with("error: trace.te: there is a file of this name")
        && fs::read(folder.path.join("trace.te"))? == b"of somebody else";
    said.check(right)?;
    for name in ["trace.te", "trace.te.toml"] {
        fs::remove_file(folder.path.join(name))?;
    }
    for line in
        ["calls --no-output", "calls --encode ir,delta", "calls --encode ir --output-dir out"]
    {
        folder.run(line)?;
    }
    match folder.names()? {
        names if names == ["out"] => Ok(()),
        names => Err(format!("{names:?}").into()),
    }
}

/// In one step.
pub(crate) fn page(folder: &Folder) -> Result<(), Failed> {
    let said = folder.run("streams/ends --report -- segv")?;
    let lines = said.err.lines().filter(|line| line.starts_with("report.html: ")).count();
    said.check(said.status == Some(139) && lines == 1 && said.out == "started\n")?;
    let said = folder.run("calls --report=calls.html -o calls.te --encode ir")?;
    said.check(said.status == Some(0) && said.out.contains("calls.html: "))?;
    let expected =
        ["calls.html", "calls.te", "calls.te.toml", "report.html", "trace.te", "trace.te.toml"];
    let names = folder.names()?;
    said.check(names == expected)?;
    let page = fs::read_to_string(folder.path.join("calls.html"))?;
    said.check(page.contains("fibonacci"))?;
    for line in ["calls --report --encode all", "calls --report -o -"] {
        let said = folder.run(line)?;
        said.check(said.status == Some(2) && said.err.contains("a page shows one trace"))?;
    }
    Ok(())
}
