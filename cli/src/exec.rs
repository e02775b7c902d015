//! `hartrace run`: a program is executed, and what retires is encoded, decoded again and compared.

pub(crate) mod modes;
pub(crate) mod program;
mod round;
mod table;

use crate::args::ExecArgs;
use crate::failure::{Failure, Status};
use hartrace_etrace::Ioptions;
use hartrace_ingress::Retired;
use hartrace_sources::file::Writer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use program::Program;
use round::Round;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
pub(crate) use table::{Line, Table};

/// Runs the command.
pub(crate) fn run(args: &ExecArgs) -> Result<Status, Failure> {
    let program = Program::open(&args.program, &args.arguments, args.with)?;
    let names: Vec<&str> = match args.encode.as_slice() {
        [] => vec!["delta"],
        [all] if all == "all" => program.modes(),
        names => names.iter().map(String::as_str).collect(),
    };
    let modes = named(&names)?;
    if !program.has_vectors() && modes.iter().any(|modes| modes.implicit_exception) {
        return Err(Failure::usage(
            "implicit exceptions need the trap vectors, which are not known here",
        )
        .hint("modes without `ie`, or a bare-metal program without --with qemu"));
    }
    if args.output.is_some() && modes.len() > 1 {
        return Err(Failure::usage("one file cannot hold the traces of several modes")
            .hint("--encode with one mode, or --output-dir DIR"));
    }
    let files = |name: &str| match (&args.output, &args.output_dir) {
        (Some(file), _) => Some(file.clone()),
        (None, Some(folder)) => Some(folder.join(format!("{}.{name}.te", program.name))),
        (None, None) => None,
    };
    let mut table = Table::new(args.json);
    let trial = Trial { program: &program, modes: &modes, limit: args.limit };
    let bar = progress();
    let mut retired = args.retired.as_ref().map(|path| Retirement::create(path)).transpose()?;
    let lines = trial.run(files, |rows| {
        bar.inc(rows.iter().map(|row| u64::from(row.iretire)).sum());
        retired.as_mut().map_or(Ok(()), |retired| retired.push(rows))
    })?;
    retired.map_or(Ok(()), Retirement::finish)?;
    bar.finish_and_clear();
    let status = table.print(&lines)?;
    table.finish(&lines)?;
    // The table stands for what was executed up to there.
    match lines.first().and_then(|line| program.failure(line.exit)) {
        Some(failure) => Err(failure),
        None => Ok(status),
    }
}

/// A trace file of what was executed.
struct Retirement<'a> {
    writer: Writer<BufWriter<File>>,
    path: &'a Path,
}

impl<'a> Retirement<'a> {
    fn create(path: &'a Path) -> Result<Self, Failure> {
        let writer = Writer::new(create(path)?).map_err(cannot_write(path))?;
        Ok(Self { writer, path })
    }

    fn push(&mut self, rows: &[Retired]) -> Result<(), Failure> {
        rows.iter().try_for_each(|row| self.writer.push(row)).map_err(cannot_write(self.path))
    }

    fn finish(self) -> Result<(), Failure> {
        // Dropping the buffer would not say that the disk is full.
        let buffer = self.writer.finish().map_err(cannot_write(self.path))?;
        buffer.into_inner().map_err(|error| cannot_write(self.path)(error.into_error()))?;
        Ok(())
    }
}

/// How far it is, if anybody looks.
pub(crate) fn progress() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        .with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template("{spinner} {msg} {human_pos} half-words ({per_sec})") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Modes by name.
pub(crate) fn named(names: &[&str]) -> Result<Vec<Ioptions>, Failure> {
    names.iter().map(|name| modes::named(name)).collect()
}

/// A program in several modes.
pub(crate) struct Trial<'p> {
    pub(crate) program: &'p Program,
    pub(crate) modes: &'p [Ioptions],
    /// Steps to execute at most.
    pub(crate) limit: u64,
}

impl Trial<'_> {
    /// Executes the program and encodes it in all modes at once. `file` says where the trace of a mode
    /// is to be written; `progress` gets what was executed.
    pub(crate) fn run(
        &self,
        file: impl Fn(&str) -> Option<PathBuf>,
        mut progress: impl FnMut(&[Retired]) -> Result<(), Failure>,
    ) -> Result<Vec<Line>, Failure> {
        let Self { program, modes, limit } = *self;
        // Implicit exceptions need the trap vectors beforehand.
        let implicit = modes.iter().any(|options| options.implicit_exception);
        let tvec = if implicit { program.execute(limit, |_| Ok(()))?.tvec } else { Vec::new() };
        let params = modes::params(program.xlen);
        let mut rounds = Vec::new();
        for options in modes {
            let output = file(&options.to_string()).map(|path| create(&path)).transpose()?;
            let round = Round::new(params, *options, &program.image, tvec.clone(), output)?;
            rounds.push(round);
        }
        let (start, mut elsewhere) = (Instant::now(), Duration::ZERO);
        let ending = program.execute(limit, |rows| {
            let start = Instant::now();
            progress(rows)?;
            advance(&mut rounds, rows)?;
            elsewhere += start.elapsed();
            Ok(())
        })?;
        let execution = start.elapsed().saturating_sub(elsewhere);
        let mut lines = Vec::new();
        for (round, options) in rounds.into_iter().zip(modes) {
            lines.push(Line {
                program: program.name.clone(),
                mode: options.to_string(),
                instructions: ending.instructions,
                execution,
                figures: round.finish()?,
                exit: ending.exit,
            });
        }
        Ok(lines)
    }
}

/// Encodes, decodes and compares in all modes, on all cores.
fn advance(rounds: &mut [Round<'_>], rows: &[Retired]) -> Result<(), Failure> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = rounds.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let work = |rounds: &mut [Round<'_>]| -> Result<(), Failure> {
            rounds.iter_mut().try_for_each(|round| round.retire(rows))
        };
        let handles: Vec<_> =
            rounds.chunks_mut(share).map(|some| scope.spawn(move || work(some))).collect();
        handles.into_iter().try_for_each(|handle| {
            handle.join().unwrap_or_else(|_| Err(Failure::input("a thread ended early")))
        })
    })
}

/// A file for a trace, with its folder.
fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(cannot_write(path))?;
    }
    Ok(BufWriter::new(File::create(path).map_err(cannot_write(path))?))
}

fn cannot_write(path: &Path) -> impl Fn(io::Error) -> Failure + '_ {
    |error| Failure::input(format_args!("cannot write: {error}")).at(path.display().to_string())
}
