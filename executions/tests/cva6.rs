//! The commit log of a real CVA6: the counts of its description are right, and its rows follow each
//! other. Ignored without `HARTRACE_DATA`, the folder that contains `cva6-commit`.

use hartrace_etrace::ingress::IType;
use hartrace_executions::{Format, Options, Retired, file, open};
use libtest_mimic::{Arguments, Failed, Trial};
use std::env;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let data = env::var_os("HARTRACE_DATA").map(PathBuf::from);
    let ignored = data.is_none();
    let log = data.unwrap_or_default().join("cva6-commit/prog_a.commit.csv.gz");
    let trial = Trial::test("prog_a", move || prog_a(&log)).with_ignored_flag(ignored);
    libtest_mimic::run(&args, vec![trial]).exit_code()
}

fn prog_a(log: &Path) -> Result<(), Failed> {
    let mut rows: Vec<Retired> = Vec::new();
    let mut source = open(log, &Options::default())?;
    if source.format() != Format::Cva6 {
        return Err(format!("taken for a {}", source.format()).into());
    }
    while let Some(row) = source.next_row()? {
        rows.push(row.retired);
    }
    let of = |itypes: &[IType]| rows.iter().filter(|row| itypes.contains(&row.itype)).count();
    let found = [
        ("retired", rows.iter().filter(|row| row.iretire > 0).count(), 8104),
        ("exceptions", of(&[IType::Exception]), 9),
        ("interrupts", of(&[IType::Interrupt]), 13),
        ("branches", of(&[IType::Taken, IType::NotTaken]), 1882),
        ("taken", of(&[IType::Taken]), 981),
        ("trap returns", of(&[IType::TrapReturn]), 22),
        (
            "direct jumps",
            of(&[IType::InferableCall, IType::InferableTailCall, IType::OtherInferableJump]),
            134,
        ),
        (
            "indirect jumps",
            of(&[
                IType::UninferableCall,
                IType::UninferableTailCall,
                IType::CoRoutineSwap,
                IType::Return,
                IType::OtherUninferableJump,
            ]),
            115,
        ),
        ("guessed traps", source.guesses().traps as usize, 0),
    ];
    for (what, ours, theirs) in found {
        if ours != theirs {
            return Err(format!("{ours} {what}, not {theirs}").into());
        }
    }
    // Each row continues with the next one.
    for pair in rows.windows(2) {
        let follows = pair[0].next_address() == pair[1].iaddr;
        let agrees = match pair[0].itype {
            IType::None | IType::NotTaken => follows,
            IType::Taken => !follows,
            _ => true,
        };
        if !agrees {
            return Err(format!("{:x?} before {:x?}", pair[0], pair[1]).into());
        }
    }
    trace_file(&rows)
}

/// The same through the project's trace file.
fn trace_file(rows: &[Retired]) -> Result<(), Failed> {
    let mut writer = file::Writer::new(Vec::new())?;
    for row in rows {
        writer.push(row)?;
    }
    let bytes = writer.finish()?;
    println!("{} rows in {} bytes", rows.len(), bytes.len());
    let mut again = Vec::new();
    file::read(Cursor::new(&bytes), "memory", |row| {
        again.push(*row);
        ControlFlow::Continue(())
    })?;
    if again == rows { Ok(()) } else { Err("not the same rows".into()) }
}
