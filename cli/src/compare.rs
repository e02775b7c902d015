//! `hartrace compare`: the same executions through every trace compressor, each of them decompressed and
//! compared, first to last.

mod arm;
mod chosen;
mod data;
mod figures;
mod html;
mod labels;
mod plots;
mod rows;
mod table;
mod workload;

use crate::args::SchemesArgs;
use crate::demo;
use crate::exec::program::Program;
use crate::failure::{Failure, Status};
use crate::files;
use chosen::chosen;
use data::DataFigures;
use figures::{Figures, measure};
use hartrace_compressors::Scheme;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use workload::Workload;

/// Something to execute or to read.
enum Input<'a> {
    Bundled(&'a str, &'a [u8]),
    File(&'a PathBuf),
}

/// Runs the command; [`Status::Different`] if any instruction comes back wrong.
pub(crate) fn run(args: &SchemesArgs) -> Result<Status, Failure> {
    let schemes = chosen(&args.schemes, &args.sweep)?;
    files::one_standard(args.inputs.iter().map(PathBuf::as_path))?;
    let (mut inputs, mut programs) = (Vec::new(), Vec::new());
    for path in &args.inputs {
        if arm::is_program(path)? {
            programs.push(path);
        } else {
            inputs.push(Input::File(path));
        }
    }
    if args.inputs.is_empty() {
        inputs.extend(demo::PROGRAMS.iter().map(|(name, elf)| Input::Bundled(name, elf)));
    }
    let bar = progress(inputs.len() * (schemes.len() + usize::from(args.data)));
    let figures = all(args, &inputs, &schemes, &bar)?;
    let data = if args.data { Some(all_data(args, &inputs, &bar)?) } else { None };
    let isas =
        if args.arm || !programs.is_empty() { Some(arm::measure(args, &programs)?) } else { None };
    bar.finish_and_clear();
    let mut out = files::stdout();
    if !inputs.is_empty() {
        table::print(&mut out, args, &figures, &schemes)?;
    }
    if let Some(data) = &data {
        data::print(&mut out, data, args.brief)?;
    }
    if let Some(isas) = &isas {
        arm::print(&mut out, isas, args.brief)?;
    }
    out.flush()?;
    if let Some(path) = &args.json {
        write(path, &table::json(&figures, &schemes, data.as_deref(), isas.as_ref())?)?;
    }
    if let Some(path) = &args.html {
        write(path, &html::page(args, &figures, &schemes, isas.as_ref())?)?;
    }
    let verified = figures.iter().all(|figures| figures.difference.is_none())
        && data.is_none_or(|data| data::verified(&data))
        && isas.is_none_or(|isas| arm::verified(&isas));
    Ok(if verified { Status::Clean } else { Status::Different })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::write(files::output_name(path), &error);
    let mut out = files::create(path)?;
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(failed)
}

/// Every program in every scheme, programs side by side on all cores; with fewer programs than cores,
/// their schemes as well.
fn all(
    args: &SchemesArgs,
    inputs: &[Input<'_>],
    schemes: &[Scheme],
    bar: &ProgressBar,
) -> Result<Vec<Figures>, Failure> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let outer = cores.min(inputs.len()).max(1);
    let found = each(inputs, outer, |input| {
        let workload = match input {
            Input::Bundled(name, elf) => {
                Workload::execute(&Program::new((*name).into(), elf.to_vec())?, args.limit)
            }
            Input::File(path) => Workload::open(path, args),
        }?;
        let figures = each(schemes, cores / outer, |scheme| {
            let figures = measure(&workload, scheme, args.sync_every);
            bar.inc(1);
            figures
        })?;
        Ok(figures.into_iter().flatten().collect::<Vec<_>>())
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// The same for data, of programs that are executed.
fn all_data(
    args: &SchemesArgs,
    inputs: &[Input<'_>],
    bar: &ProgressBar,
) -> Result<Vec<DataFigures>, Failure> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let found = each(inputs, cores, |input| {
        let program = match input {
            Input::Bundled(name, elf) => Some(Program::new((*name).into(), elf.to_vec())?),
            Input::File(path) => workload::program(path)?,
        };
        bar.inc(1);
        program.map_or(Ok(Vec::new()), |program| data::measure(&program, args.limit))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// The results of some work, in order; the first failure, if there is one.
fn each<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                while let index = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(item) = items.get(index)
                {
                    let result = work(item);
                    if let Ok(mut results) = results.lock() {
                        results.push((index, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().map_err(|_| Failure::input("a thread ended early"))?;
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// How far it is, if anybody looks.
fn progress(steps: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr())
        .with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template("{wide_bar} {pos} of {len} traces, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
