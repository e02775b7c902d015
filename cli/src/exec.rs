//! `hartrace run`: executes a program, encodes what retires, decodes it again and compares.

mod ends;
mod streams;
mod traces;

use crate::args::{CapturedArgs, ExecArgs};
use crate::described::command;
use crate::failure::{Failure, Status, warn};
use crate::job::{Job, Product};
use crate::{files, produce, progress, signals};
use hartrace_capture::description::Description;
use hartrace_capture::output::create_folder;
use hartrace_etrace::ingress::Retired;
use hartrace_executions::executed::modes::{self, UnknownMode};
use hartrace_executions::executed::round::{Ran, RoundError, Table, Trial};
use hartrace_executions::executed::{Problem, Program, ProgramError, half_words, missing_calls};
use hartrace_executions::file::Writer;
use indicatif::ProgressBar;
use std::io::Read;
use std::path::{Path, PathBuf};
use traces::Traces;

/// Runs the command.
pub(crate) fn run(args: &ExecArgs) -> Result<Status, Failure> {
    let program = program(&args.program)?.arguments(&args.arguments)?.executed_by(args.with);
    let program = program.linked_in(args.sysroot.clone())?;
    let modes = modes::chosen(&args.encode, &program)?;
    if modes.iter().any(|options| !modes::traces(&program, options)) {
        return Err(Failure::usage(
            "implicit exceptions need the trap vectors, which are not known here",
        )
        .hint("modes without `ie`, or a bare-metal program without --with qemu"));
    }
    let names: Vec<String> = modes.iter().map(ToString::to_string).collect();
    let traces = Traces::of(args, program.name(), &names)?;
    let page = traces.page(args)?;
    let retired = args.retired.as_deref().map(files::create_new).transpose()?;
    let mut retired = retired.map(Writer::new).transpose()?;

    signals::end_by_itself();
    // A program has the terminal to itself.
    let bar = if program.is_bare() { progress::executed() } else { ProgressBar::hidden() };
    let shared = streams::shared(args, &program, &bar)?;
    let program = program.shares(shared).stopped_by(signals::caught);
    let trial = Trial { program: &program, modes: &modes, limit: args.limit };
    let place = |mode: &str| traces.place(mode);
    let ran = trace(&trial, &args.program, place, &bar, |rows| {
        let mut push = |row| retired.as_mut().map_or(Ok(()), |retired| retired.push(row));
        Ok(rows.iter().try_for_each(&mut push)?)
    })?;
    let Ran { mut lines, stopped } = ran;
    lines.iter_mut().try_for_each(|line| ends::tell_stack(&program, line))?;
    if let Some(retired) = retired.filter(|_| stopped.is_none()) {
        retired.finish()?.finish()?;
    }
    bar.finish_and_clear();

    // The table comes first: it is valid up to where the program failed.
    let mut table = Table::new(files::summary(), args.json);
    let good = table.print(&lines)?;
    table.finish(&lines)?;
    let Some(line) = lines.first() else { return Ok(Status::Clean) };
    if !args.json {
        traces.tell(line)?;
    }
    if let Some(calls) = missing_calls(&line.unknown_calls) {
        warn(format_args!("{}: {calls}", files::name(&args.program)));
    }
    if let Some(failure) = stopped {
        let kept = line.trace.as_deref().zip(line.kept);
        let kept = kept.map(|(path, count)| {
            format!("{}, which has the first {count} instructions", files::name(path))
        });
        return Err(failure.hint_if(kept));
    }
    if let Some((page, trace)) = page.as_deref().zip(line.trace.as_deref()) {
        for file in [trace.to_owned(), Description::place(trace)] {
            files::claims().written(&file);
        }
        let captured = CapturedArgs::new(trace).map_err(Failure::usage)?;
        produce::run(&Job { output: Some(page), ..Job::new(&captured, Product::Page(&[])) })?;
    }
    if !good {
        return Ok(Status::Different);
    }
    program.check(line.exit)?;
    Ok(match line.status {
        0 => Status::Clean,
        status => Status::Program(status),
    })
}

/// Returns the first bytes of a file, decompressed; none of standard input, which can be read only once.
pub(crate) fn head(path: &Path, len: u64) -> Result<Vec<u8>, Failure> {
    let mut head = Vec::new();
    if !files::is_standard(path) {
        let read = files::open(path)?.0.take(len).read_to_end(&mut head);
        read.map_err(|error| files::unreadable(path, &error))?;
    }
    Ok(head)
}

/// Whether a file is a program rather than a log.
pub(crate) fn is_elf(path: &Path) -> Result<bool, Failure> {
    Ok(head(path, 4)? == *b"\x7fELF")
}

/// Reads the program in a file.
pub(crate) fn program(path: &Path) -> Result<Program, Failure> {
    Ok(Program::of_file(path, files::read(path)?)?)
}

/// Makes the round trip of the program at `path` in every mode, and writes a trace and its description for each
/// that has a file. `retired` is told what retires. An error that ends the run leaves what was traced before.
pub(crate) fn trace(
    trial: &Trial<'_>,
    path: &Path,
    file: impl Fn(&str) -> Option<PathBuf>,
    bar: &ProgressBar,
    mut retired: impl FnMut(&[Retired]) -> Result<(), Failure>,
) -> Result<Ran<Failure>, Failure> {
    let output = |mode: &str| {
        let Some(file) = file(mode) else { return Ok(None) };
        create_folder(&file)?;
        files::create_capture(&file).map(Some)
    };
    let Ran { mut lines, mut stopped } = trial.run(output, |rows| {
        bar.inc(half_words(rows));
        retired(rows)
    })?;
    for line in &mut lines {
        if let Some(failure) = &stopped {
            line.ended = Some(format!("an error: {}", failure.what()));
        }
        if let Err(error) = line.save(trial.program, path, command()) {
            stopped.get_or_insert(error.into());
        }
    }
    Ok(Ran { lines, stopped })
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        let failure = match error.problem {
            Problem::Arguments | Problem::Reads => Self::usage(&error.problem),
            _ => Self::input(&error.problem),
        };
        failure.at(files::name(&error.place)).hint_if(error.hint())
    }
}

impl From<RoundError> for Failure {
    fn from(error: RoundError) -> Self {
        match error {
            RoundError::Program(error) => error.into(),
            RoundError::Write(error) => error.into(),
            RoundError::Encoder(_) | RoundError::Decoder(_) | RoundError::Emit(_) => {
                Self::usage(error)
            }
            error => Self::input(error),
        }
    }
}

impl From<UnknownMode> for Failure {
    fn from(error: UnknownMode) -> Self {
        Self::usage(&error).hint(error.hint())
    }
}
