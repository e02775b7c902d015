//! `hartrace run`: executes a program, encodes what retires, decodes it again and compares.

use crate::args::ExecArgs;
use crate::described::command;
use crate::failure::{Failure, Status};
use crate::{files, progress};
use hartrace_capture::description::Description;
use hartrace_capture::output::create_folder;
use hartrace_etrace::ingress::Retired;
use hartrace_executions::executed::modes::{self, UnknownMode};
use hartrace_executions::executed::round::{Line, RoundError, Table, Trial};
use hartrace_executions::executed::{Problem, Program, ProgramError, half_words};
use hartrace_executions::file::Writer;
use indicatif::ProgressBar;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Runs the command.
pub(crate) fn run(args: &ExecArgs) -> Result<Status, Failure> {
    let program = program(&args.program)?.arguments(&args.arguments)?.executed_by(args.with);
    let modes = modes::chosen(&args.encode, &program)?;
    if modes.iter().any(|options| !modes::traces(&program, options)) {
        return Err(Failure::usage(
            "implicit exceptions need the trap vectors, which are not known here",
        )
        .hint("modes without `ie`, or a bare-metal program without --with qemu"));
    }
    if args.output.is_some() && modes.len() > 1 {
        return Err(Failure::usage("one file cannot hold the traces of several modes")
            .hint("--encode with one mode, or --output-dir DIR"));
    }
    let file = |mode: &str| match (&args.output, &args.output_dir) {
        (None, Some(folder)) => Some(folder.join(format!("{}.{mode}.te", program.name()))),
        (file, _) => file.clone(),
    };
    if args.output_dir.is_some() {
        let mut files = modes.iter().filter_map(|options| file(&options.to_string()));
        files.try_for_each(|file| {
            files::claims().write(&file)?;
            files::claims().write(&Description::place(&file))
        })?;
    }
    let mut table = Table::new(files::summary(), args.json);
    let trial = Trial { program: &program, modes: &modes, limit: args.limit };
    let bar = progress::executed();
    let retired = args.retired.as_deref().map(files::create_new).transpose()?;
    let mut retired = retired.map(Writer::new).transpose()?;
    let lines = trace(&trial, &args.program, file, &bar, |rows| {
        let mut push = |row| retired.as_mut().map_or(Ok(()), |retired| retired.push(row));
        Ok(rows.iter().try_for_each(&mut push)?)
    })?;
    if let Some(retired) = retired {
        retired.finish()?.finish()?;
    }
    bar.finish_and_clear();
    let good = table.print(&lines)?;
    table.finish(&lines)?;
    // The table comes first: it is valid up to where the program failed.
    if let Some(line) = lines.first() {
        program.check(line.exit)?;
    }
    Ok(if good { Status::Clean } else { Status::Different })
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
/// that has a file. `retired` is told what retires.
pub(crate) fn trace(
    trial: &Trial<'_>,
    path: &Path,
    file: impl Fn(&str) -> Option<PathBuf>,
    bar: &ProgressBar,
    mut retired: impl FnMut(&[Retired]) -> Result<(), Failure>,
) -> Result<Vec<Line>, Failure> {
    let output = |mode: &str| {
        let Some(file) = file(mode) else { return Ok(None) };
        create_folder(&file)?;
        files::create_capture(&file).map(Some)
    };
    let mut lines = trial.run(output, |rows| {
        bar.inc(half_words(rows));
        retired(rows)
    })?;
    for line in &mut lines {
        line.save(trial.program, path, command())?;
    }
    Ok(lines)
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
