//! `hartrace compare`: runs the same executions through every trace compressor, decompresses each result
//! and compares it, first to last.

use crate::args::{CompareArgs, InputArgs};
use crate::failure::{Failure, Status};
use crate::{exec, files, image, input, progress};
use hartrace_capture::programs::elf_xlen;
use hartrace_capture::text::shown;
use hartrace_compressors::comparison::{
    self, Comparison, ComparisonError, Experiment, Options, SOURCES, Suite, Workload, chosen,
    is_arm_program,
};
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_executions::executed::{Executor, Program};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A program to execute or a log to read.
enum Input<'a> {
    Listed(&'a comparison::SuiteProgram),
    Program(&'a Path),
    Log(&'a Path),
}

/// Runs the command; [`Status::Different`] if any instruction is decompressed wrongly.
pub(crate) fn run(args: &CompareArgs) -> Result<Status, Failure> {
    if args.table.as_deref() == Some("") {
        return Ok(write!(files::stdout(), "{}", Experiment::list()).map(|()| Status::Clean)?);
    }
    let table = args.table.as_deref().map(Experiment::find).transpose()?;
    let schemes = table.map_or_else(|| chosen(&args.schemes, &args.sweep), Experiment::schemes)?;
    let data = args.data || table.is_some_and(Experiment::is_of_data);
    files::one_standard(args.inputs.iter().map(PathBuf::as_path))?;
    let (mut inputs, mut arm) = (Vec::new(), Vec::new());
    for path in &args.inputs {
        match exec::head(path, 20)? {
            head if is_arm_program(&head) => arm.push(path.clone()),
            head if head.starts_with(b"\x7fELF") => inputs.push(Input::Program(path)),
            _ => inputs.push(Input::Log(path)),
        }
    }
    refuse_idle(args, &inputs, !arm.is_empty(), data)?;
    let suite = args.suite.as_deref().map_or_else(|| Ok(Suite::corner_cases()), Suite::open)?;
    let suite = suite.executed_by(args.with);
    if args.inputs.is_empty() {
        inputs.extend(suite.programs.iter().map(Input::Listed));
    }
    let traces = inputs.len() * (schemes.len() + usize::from(data));
    let bar = progress::bar(Some(traces as u64), "{wide_bar} {pos} of {len} traces, {eta} left");
    let limit = args.limit.unwrap_or(Options::default().limit);
    let options = Options { limit, sync_every: args.sync_every };
    let chosen = args.inputs.is_empty().then_some(&suite);
    let comparison = Comparison::new(schemes, options).of(chosen).table(table);
    let mut comparison = comparison.resume(args.resume.as_deref())?;
    comparison.measure(&inputs, |input| input.workload(args, limit), || bar.inc(1))?;
    if data {
        comparison.measure_data(&inputs, |input| input.program(args, limit), || bar.inc(1))?;
    }
    if args.arm || !arm.is_empty() {
        comparison.measure_arm(if args.arm { &SOURCES } else { &[] }, &arm)?;
    }
    bar.finish_and_clear();
    let json = args.output.as_deref().or(args.json.as_deref());
    if !json.is_some_and(files::is_standard_output) {
        let mut out = files::stdout();
        match table {
            Some(table) => {
                table.print(&comparison, args.format_table.unwrap_or_default(), &mut out)?
            }
            None => comparison.print(&mut out, args.brief)?,
        }
        out.flush()?;
    }
    if let Some(path) = json {
        files::write(path, comparison.json()?)?;
    }
    if let Some(path) = &args.html {
        files::write(path, comparison.page()?)?;
    }
    Ok(if comparison.is_verified() { Status::Clean } else { Status::Different })
}

/// Refuses options that would change nothing for these inputs.
fn refuse_idle(
    args: &CompareArgs,
    inputs: &[Input<'_>],
    has_arm: bool,
    data: bool,
) -> Result<(), Failure> {
    // Without inputs, programs of a suite are executed.
    let only_arm = has_arm && inputs.is_empty();
    let any_log = inputs.iter().any(|input| matches!(input, Input::Log(_)));
    let any_program = !only_arm && (inputs.is_empty() || inputs.iter().any(Input::is_program));
    let by_qemu = args.with == Executor::Qemu;
    let InputArgs { input_format, hart, retirement } = &args.format;
    let (for_riscv, for_logs) = ("programs for Arm have schemes of their own", "no log to read");
    let idle = [
        ("schemes", !args.schemes.is_empty() && only_arm, for_riscv),
        ("sweep", !args.sweep.is_empty() && only_arm, for_riscv),
        ("table", args.table.is_some() && only_arm, for_riscv),
        ("format-table", args.format_table.is_some() && args.table.is_none(), "no --table"),
        ("data", args.data && !any_program, "no program for RISC-V to execute"),
        ("with qemu", by_qemu && !any_program, "no program for RISC-V to execute"),
        ("with qemu", by_qemu && data, "only our own hart reports data"),
        ("elf", !args.elf.is_empty() && !any_log, for_logs),
        ("input-format", input_format.is_some() && !any_log, for_logs),
        ("hart", hart.is_some() && !any_log, for_logs),
        ("retirement", retirement.is_some() && !any_log, for_logs),
    ];
    match idle.into_iter().find(|(_, idle, _)| *idle) {
        Some((option, _, why)) => Err(Failure::usage(format_args!(
            "--{option}, but there is nothing that it applies to: {why}"
        ))
        .hint(format_args!("the same without --{option}"))),
        None => Ok(()),
    }
}

impl Input<'_> {
    fn is_program(&self) -> bool {
        !matches!(self, Self::Log(_))
    }

    /// The program to execute, and its limit; `None` if it is a log.
    fn program(&self, args: &CompareArgs, limit: u64) -> Result<Option<(Program, u64)>, Failure> {
        match self {
            Self::Listed(it) => Ok(Some((it.program()?, it.limit(args.limit, limit)))),
            Self::Program(path) => Ok(Some((exec::program(path)?.executed_by(args.with), limit))),
            Self::Log(_) => Ok(None),
        }
    }

    fn workload(&self, args: &CompareArgs, limit: u64) -> Result<Workload, Failure> {
        match self {
            Self::Listed(program) => Ok(program.workload(args.limit, limit)?),
            Self::Program(path) => {
                Ok(Workload::execute(&exec::program(path)?.executed_by(args.with), limit)?)
            }
            Self::Log(path) => log(path, args, limit),
        }
    }
}

/// Reads a log.
fn log(path: &Path, args: &CompareArgs, limit: u64) -> Result<Workload, Failure> {
    let Some(first) = args.elf.first() else {
        return Err(Failure::usage("a log cannot be compressed without the program")
            .at(files::name(path))
            .hint("--elf PROG"));
    };
    let xlen = elf_xlen(&files::read(&first.path)?);
    let programs = image::load(image::placed(&args.elf, &[])?, xlen)?;
    let options = input::options(&args.format, Some(xlen), ITypeWidth::Four);
    let (mut source, bar) = input::open(path, &options)?;
    input::check(&args.format, Some(source.format()))?;
    let name = shown(Path::new(path.file_stem().unwrap_or(path.as_os_str())));
    let workload = Workload::read(name, programs.image(0), &mut source, limit);
    bar.finish_and_clear();
    input::warn_of(source.guesses(), &files::name(path));
    Ok(workload?)
}

impl From<ComparisonError> for Failure {
    fn from(error: ComparisonError) -> Self {
        match error {
            ComparisonError::Program(error) => error.into(),
            ComparisonError::Log(error) => error.into(),
            ComparisonError::ArmScheme(_) => Self::usage(error).hint("--arm, or a program for Arm"),
            ComparisonError::Sweep { sweep, what } => {
                Self::usage(format_args!("--sweep {sweep}: {what}")).hint(ComparisonError::SWEEP)
            }
            ComparisonError::Suite { .. } | ComparisonError::Table(_) => Self::usage(error),
            ComparisonError::Scheme(_) | ComparisonError::Data(_) => Self::usage(error),
            error => Self::input(error),
        }
    }
}
