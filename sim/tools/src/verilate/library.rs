//! Compiles the C++ of a model into its shared library.

use crate::verilate::design::Design;
use crate::verilate::ports::Ports;
use crate::verilate::tools::{Tools, run};
use crate::verilate::{Options, SimError};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The C++ interface through which a model is driven.
pub(crate) const SHIM: &str = include_str!("shim.cpp");
/// Subfolder, of the folder in which an entry is built, for the output of Verilator.
pub(crate) const GENERATED: &str = "generated";
const LIBRARY: &str = "model.so";
/// Size of C++ in bytes up to which there is one translation unit: the headers are then most of the
/// work.
const SMALL: u64 = 4 << 20;

/// A file of generated C++.
struct Generated {
    name: String,
    size: u64,
}

impl Generated {
    /// Whether it runs only once, when a simulation starts: optimising it would take longer than it
    /// saves.
    fn runs_once(&self) -> bool {
        self.name.ends_with("__Slow.cpp")
    }
}

/// Compiles the output of Verilator in `folder`, and the shim. `headers` are included first, and `runtime` is linked.
pub(crate) fn build_library(
    design: &Design,
    options: &Options,
    tools: &Tools,
    folder: &Path,
    ports: &Ports,
    [headers, runtime]: [&Path; 2],
) -> Result<PathBuf, SimError> {
    let generated = generated(folder)?;
    let shim = ports.copying(design.rising_only) + SHIM;
    let compiler = || {
        let mut command = tools.compiler();
        command.current_dir(folder).args(options.compiler()).arg("-include").arg(headers);
        command
    };
    let mut link = compiler();
    if generated.iter().map(|file| file.size).sum::<u64>() <= SMALL {
        let include = |of: bool| {
            let files = generated.iter().filter(|file| file.runs_once() == of);
            files.fold(String::new(), |mut text, file| {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "#include \"{GENERATED}/{}\"", file.name);
                text
            })
        };
        let (often, once) = (include(false), include(true));
        let unit = format!("{often}{shim}\n#pragma GCC optimize(\"O0\")\n{once}");
        write(&folder.join("model.cpp"), &unit)?;
        link.arg("model.cpp");
    } else {
        write(&folder.join("shim.cpp"), &format!("#include \"{GENERATED}/Vmodel.h\"\n{shim}"))?;
        let mut units = Vec::new();
        let mut unit = |source: String, runs_once: bool| {
            let object = format!("{}.o", units.len());
            let mut command = compiler();
            command.args(runs_once.then_some("-O0")).args(["-c", "-o", &object, &source]);
            link.arg(object);
            units.push(command);
        };
        for file in &generated {
            unit(format!("{GENERATED}/{}", file.name), file.runs_once());
        }
        unit("shim.cpp".to_owned(), false);
        run_all(units, &design.top)?;
    }
    link.args(["-shared", "-Wl,-Bsymbolic", "-Wl,--wrap=fopen", "-s", "-o", LIBRARY]);
    link.arg(runtime).arg("-pthread");
    if options.waves {
        link.args(tools.wave_libraries());
    }
    run(&mut link, "g++", &design.top)?;
    Ok(folder.join(LIBRARY))
}

/// The files that Verilator wrote, the largest first, so that no core is left with it at the end.
fn generated(folder: &Path) -> Result<Vec<Generated>, SimError> {
    let folder = folder.join(GENERATED);
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(SimError::io("read", &folder))? {
        let entry = entry.map_err(SimError::io("read", &folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".cpp") {
            let size = entry.metadata().map_err(SimError::io("read", &entry.path()))?.len();
            files.push(Generated { name, size });
        }
    }
    files.sort_by(|a, b| (b.size, &a.name).cmp(&(a.size, &b.name)));
    Ok(files)
}

/// Runs compilers, as many at once as there are cores. Returns the first error.
fn run_all(commands: Vec<Command>, top: &str) -> Result<(), SimError> {
    let cores = thread::available_parallelism().map_or(1, usize::from).min(commands.len());
    let queue = Mutex::new(commands.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        let worker = || -> Result<(), SimError> {
            while let Some(mut command) = next() {
                run(&mut command, "g++", top)?;
            }
            Ok(())
        };
        // Fewer threads do the same work, if the system has no more.
        let start = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        let others: Vec<_> = (1..cores).map_while(start).collect();
        worker()?;
        others.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// Writes a file to be compiled.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), SimError> {
    fs::write(path, text).map_err(SimError::io("write", path))
}
