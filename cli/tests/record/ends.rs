//! Programs that end in their own ways, or are ended: their traces are kept.

use crate::folder::{Folder, Said};
use libtest_mimic::Failed;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The status of a program, and what the description of its trace says of it.
pub(crate) fn statuses(folder: &Folder) -> Result<(), Failed> {
    for (how, status, early) in [
        ("0", 0, None),
        ("3", 3, None),
        ("segv", 139, Some("SIGSEGV")),
        ("abort", 134, Some("SIGABRT")),
        ("unimp", 132, Some("SIGILL")),
    ] {
        let said = folder.run(&format!("streams/ends --encode ir+bp -- {how}"))?;
        said.check(said.status == Some(status) && said.out == "started\n")?;
        let (count, found) = folder.traced("trace.te")?;
        said.check(count > 1000)?;
        let found = found.as_deref().map(|text| text.split(':').next().unwrap_or_default());
        if found != early || early.is_some_and(|name| !said.err.contains(name)) {
            return Err(format!("{how}: ended early by {found:?}: {said:?}").into());
        }
        if !said.err.contains("%  yes") {
            return Err(format!("{how}: {said:?}").into());
        }
    }
    match folder.names()?[..] == ["trace.te", "trace.te.toml"] {
        true => Ok(()),
        false => Err(format!("{:?}", folder.names()?).into()),
    }
}

/// What is not supported is named, with how often.
pub(crate) fn calls_that_are_missing() -> Result<(), Failed> {
    let folder = Folder::new("calls", "iss")?;
    let said = folder.run("streams/ends -- asks")?;
    let warning = "ends.elf: our hart does not have a system call of the program, which failed: \
                   number 5000 3 times\n";
    said.check(said.status == Some(0) && said.err.contains(warning))
}

/// Waits until the program runs, sends a signal to the command, and returns what it said.
fn signalled(mut child: Child, signal: &str) -> Result<Said, Failed> {
    let mut stdout = child.stdout.take().ok_or("no pipe")?;
    let mut first = [0; 8];
    stdout.read_exact(&mut first)?;
    // It is well under way.
    thread::sleep(Duration::from_millis(300));
    let pid = child.id().to_string();
    if !Command::new("kill").args(["-s", signal, &pid]).status()?.success() {
        return Err("it has ended".into());
    }
    let mut out = String::from_utf8_lossy(&first).into_owned();
    stdout.read_to_string(&mut out)?;
    // Keeps an input that is a pipe open until the end.
    let input = child.stdin.take();
    let mut err = String::new();
    child.stderr.take().ok_or("no pipe")?.read_to_string(&mut err)?;
    let status = child.wait()?.code();
    drop(input);
    Ok(Said { status, out, err })
}

/// Whether the trace of a program that was ended is there, whole and described, and nothing else.
fn is_kept(folder: &Folder, said: &Said, status: i32, name: &str) -> Result<(), Failed> {
    said.check(said.status == Some(status) && said.out == "started\n")?;
    let (count, early) = folder.traced("trace.te")?;
    let names = folder.names()?;
    let right = early.as_deref() == Some(name) && names == ["trace.te", "trace.te.toml"];
    let told = said.err.contains(&format!("%  yes; the program ended with {name}\n"))
        && said.err.contains(&format!(" bytes, {count} instructions\n"));
    if right && told && count > 1000 {
        return Ok(());
    }
    Err(format!("{count} instructions, {early:?}, {names:?}: {said:?}").into())
}

/// A program that never ends.
pub(crate) fn interrupted(folder: &Folder) -> Result<(), Failed> {
    let child =
        folder.start("streams/ends --encode ir+bp --limit 400G -- forever", Stdio::null())?;
    let said = signalled(child, "INT")?;
    is_kept(folder, &said, 130, "SIGINT")
}

/// A program that waits for an input which never comes.
pub(crate) fn interrupted_while_it_waits(folder: &Folder) -> Result<(), Failed> {
    let child = folder.start("streams/ends --encode ir -- waits", Stdio::piped())?;
    let said = signalled(child, "INT")?;
    is_kept(folder, &said, 130, "SIGINT")
}

pub(crate) fn terminated(folder: &Folder) -> Result<(), Failed> {
    let child = folder.start("streams/ends --encode ir --limit 400G -- forever", Stdio::null())?;
    let said = signalled(child, "TERM")?;
    is_kept(folder, &said, 143, "SIGTERM")
}

/// As in `... | head -1`: Linux ends a program that writes to a pipe which nobody reads any more.
pub(crate) fn nobody_reads(folder: &Folder) -> Result<(), Failed> {
    let mut child = folder.start("streams/ends --encode ir -- prints", Stdio::null())?;
    let mut stdout = child.stdout.take().ok_or("no pipe")?;
    stdout.read_exact(&mut [0; 100])?;
    drop(stdout);
    let said = Said::of(child.wait_with_output()?)?;
    let said = Said { out: "started\n".into(), ..said };
    is_kept(folder, &said, 141, "SIGPIPE")
}
