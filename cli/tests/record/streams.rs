//! Standard input, output and error.

use crate::folder::{Folder, Said};
use libtest_mimic::Failed;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

const TEXT: &str = "one two\nthree\n";
const COUNTED: &str = "2 3 14\n";

/// Whether a run printed this, and only that, and its table elsewhere.
fn printed(said: &Said, out: &str) -> bool {
    said.status == Some(0) && said.out == out && said.err.contains("%  yes\n")
}

/// From a pipe, a file, nothing, and a stream that is closed.
pub(crate) fn standard_input(folder: &Folder) -> Result<(), Failed> {
    let said = folder.fed("streams/count", TEXT.as_bytes())?;
    said.check(printed(&said, COUNTED))?;
    // More than a pipe holds.
    let said = folder.fed("streams/count --no-output", TEXT.repeat(20_000).as_bytes())?;
    said.check(printed(&said, "40000 60000 280000\n"))?;
    fs::write(folder.path.join("text"), TEXT)?;
    let mut command = folder.command("streams/count");
    let said = Said::of(command.stdin(File::open(folder.path.join("text"))?).output()?)?;
    said.check(printed(&said, COUNTED))?;
    let said = folder.run("streams/count")?;
    said.check(printed(&said, "0 0 0\n"))?;
    // The number of instructions depends on what was read: it was really the input.
    let count = |input: &[u8]| -> Result<Option<u64>, Failed> {
        let said = folder.fed("streams/count --json --no-output", input)?;
        Ok(said.figures()?["instructions"].as_u64())
    };
    if count(b"")? >= count(TEXT.as_bytes())? {
        return Err("the input costs nothing".into());
    }
    let closed = folder.command("streams/count");
    let words: Vec<_> = closed.get_args().map(OsStr::to_owned).collect();
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$@\" <&-", "sh"]).arg(env!("CARGO_BIN_EXE_hartrace")).args(words);
    let said = Said::of(shell.current_dir(&folder.path).output()?)?;
    said.check(printed(&said, "0 0 0\n"))
}

/// Lines that somebody types, until Ctrl-D.
pub(crate) fn terminal(folder: &Folder) -> Result<(), Failed> {
    let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&main)?;
    unlockpt(&main)?;
    let name = ptsname(&main, Vec::new())?;
    let other = File::options().read(true).write(true).open(OsStr::from_bytes(name.to_bytes()))?;
    let mut main = File::from(main);
    let mut child = folder.start("streams/count", Stdio::from(other.try_clone()?))?;
    main.write_all(b"one two\n")?;
    main.write_all(b"three\n\x04")?;
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().ok_or("no pipe")?.read_to_string(&mut out)?;
    child.stderr.take().ok_or("no pipe")?.read_to_string(&mut err)?;
    let said = Said { status: child.wait()?.code(), out, err };
    said.check(printed(&said, COUNTED))
}

/// It has one owner.
pub(crate) fn standard_output(folder: &Folder) -> Result<(), Failed> {
    let said = folder.fed("streams/count --json", TEXT.as_bytes())?;
    let right = said.figures()?["verified"] == true && said.err == COUNTED;
    said.check(right && said.status == Some(0))?;
    let mut command = folder.command("streams/count -o -");
    let output = command.output()?;
    let err = String::from_utf8(output.stderr)?;
    if output.stdout != fs::read(folder.path.join("trace.te"))? {
        // That was of another input.
        let said = folder.run("streams/count")?;
        said.check(output.stdout == fs::read(folder.path.join("trace.te"))?)?;
    }
    if !err.starts_with("0 0 0\n") || !err.contains("%  yes\n") {
        return Err(err.into());
    }
    Ok(())
}

/// What cannot be read is said by the program, and its status is that of the command.
pub(crate) fn arguments_and_status(folder: &Folder) -> Result<(), Failed> {
    fs::write(folder.path.join("a"), TEXT)?;
    let absolute = folder.path.join("a").display().to_string();
    let said = folder.run(&format!("streams/count -- a nowhere ./a {absolute} neither"))?;
    let out = format!("2 3 14 a\n2 3 14 ./a\n2 3 14 {absolute}\n");
    let err = "nowhere: cannot be read, -2\nneither: cannot be read, -2\n";
    said.check(said.out == out && said.err.starts_with(err) && said.status == Some(2))?;
    let complaint = "%  yes; the program ended with exit code 2\n";
    said.check(said.err.contains(complaint))
}

/// A program without an operating system leaves standard output to the table, unless it prints.
pub(crate) fn bare_metal(folder: &Folder) -> Result<(), Failed> {
    let said = folder.run("calls --no-output")?;
    said.check(said.err.is_empty() && said.out.contains("%  yes\n") && said.status == Some(0))?;
    // To know the trap vectors, our hart executes it twice; it prints once.
    let mode = if folder.executor == "iss" { "ie" } else { "ir" };
    let said = folder.run(&format!("streams/print --no-output --encode {mode}"))?;
    said.check(said.out == "printed\n" && said.err.contains("%  yes") && said.status == Some(0))?;
    let said = folder.run("streams/print --no-output --json")?;
    said.check(said.figures()?["verified"] == true && said.err == "printed\n")?;
    for option in ["--env A=1", "--no-env"] {
        let said = folder.run(&format!("streams/print --no-output {option}"))?;
        said.check(said.status == Some(2) && said.err.contains("no environment variables"))?;
    }
    Ok(())
}
