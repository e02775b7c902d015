//! Files, folders and environment variables.

use crate::folder::{EXECUTORS, Folder, Said};
use libtest_mimic::Failed;
use serde_json::Value;
use std::fs;

/// Runs the program that uses files.
fn used(folder: &Folder, line: &str) -> Result<Said, Failed> {
    let work = folder.path.join("work");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(&work)?;
    let mut command = folder.command(&format!("streams/files {line}"));
    Said::of(command.env("GIVEN", "a, b").output()?)
}

/// What can be known without another kernel; QEMU, which asks that of the machine, has to print the same: see `the_same`.
pub(crate) fn files(folder: &Folder) -> Result<(), Failed> {
    let said = used(folder, "-- work")?;
    // 300, of which a parent sees 8 bits.
    said.check(said.status == Some(44))?;
    for line in [
        "mkdir 0\nmkdir again -17\n",
        "create again -17\n",
        "seek 11\nread <d\na>\nseek before -22\nend 17\npread <second\nabc\n>\n",
        "stat 0\nsize 12\nmode 33184\nstatx 0\nsize 12\nmode 33184\nsame inode 1\n",
        "read what is only written -9\n",
        "write from nowhere -14\n",
        "all <First\nsecond!\n?\n>\nend <>\n",
        "list ends 0\nentries 2\nletters 16\nclose 0\nread a closed one -9\n",
        "remove a folder as a file 1\nremove it 0\nremove the file 0\n",
        "read <through>\nseek in a pipe -29\n",
    ] {
        if !said.out.contains(line) {
            return Err(format!("{line:?} is not in {}", said.out).into());
        }
    }
    // Nothing is left, and what it wrote was where it should be.
    let names = folder.names()?;
    said.check(names == ["trace.te", "trace.te.toml", "work"])?;
    said.check(fs::read_dir(folder.path.join("work"))?.next().is_none())
}

pub(crate) fn environment(folder: &Folder) -> Result<(), Failed> {
    for (options, expected) in [
        ("", "GIVEN=a, b\nOTHER is not there\n"),
        ("--no-env", "GIVEN is not there\nOTHER is not there\n"),
        ("--env OTHER=x,y=z", "GIVEN=a, b\nOTHER=x,y=z\n"),
        ("--env GIVEN=c", "GIVEN=c\nOTHER is not there\n"),
        ("--no-env --env OTHER=1", "GIVEN is not there\nOTHER=1\n"),
    ] {
        let said = used(folder, &format!("{options} -- work GIVEN OTHER"))?;
        said.check(said.out.ends_with(expected) && said.status == Some(44))?;
    }
    Ok(())
}

/// Our hart and QEMU: output, exit status and number of instructions.
pub(crate) fn the_same() -> Result<(), Failed> {
    let [iss, qemu] = EXECUTORS.map(|executor| Folder::new("both", executor));
    let (iss, qemu) = (iss?, qemu?);
    let text = "one two\n".repeat(3000);
    // Variables would be on the stack in another order, and the program looks at all of them.
    let lines = ["streams/count --json --no-output", "streams/ends --json --no-output -- 7"];
    let mut pairs = vec![
        (used(&iss, "-- work GIVEN HOME")?, used(&qemu, "-- work GIVEN HOME")?),
        (
            used(&iss, "--json --no-output --no-env --env A=1 -- work A B")?,
            used(&qemu, "--json --no-output --no-env --env A=1 -- work A B")?,
        ),
    ];
    for line in lines {
        pairs.push((iss.fed(line, text.as_bytes())?, qemu.fed(line, text.as_bytes())?));
    }
    for (index, (ours, other)) in pairs.into_iter().enumerate() {
        let same = match index {
            // The table has other times.
            0 => ours.out == other.out && ours.status == other.status && ours.out.len() > 500,
            _ => {
                let figures = (ours.figures()?, other.figures()?);
                let count = |line: &Value| line["instructions"].as_u64().unwrap_or(0);
                // For our hart an `ecall` retires, for QEMU it is an exception and nothing else.
                let calls = |line: &Value| line["packets_by_format"]["3.1"].as_u64().unwrap_or(0);
                let (ours_all, other_all) = (count(&figures.0), count(&figures.1));
                ours_all == other_all + calls(&figures.0)
                    && calls(&figures.0) == calls(&figures.1)
                    && other_all > 1000
                    && ours.err == other.err
                    && ours.status == other.status
            }
        };
        if !same {
            return Err(format!("{index}: {ours:?}\n{other:?}").into());
        }
    }
    Ok(())
}
