//! From a design to the shared library of its model.

use crate::cache::{Cache, Manifest, hash, hash_file};
use crate::design::{Design, Sources};
use crate::ports::Ports;
use crate::tools::{Tools, run};
use crate::{Options, SimError};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const SHIM: &str = include_str!("shim.cpp");
const HOOKS: &str = include_str!("hooks.h");
/// To be raised when what this file or ports.rs generates changes; the texts above count by themselves.
const VERSION: u32 = 1;

const LIBRARY: &str = "model.so";
const RUNTIME: &str = "runtime.o";
/// Folders within the one an entry is built in.
const SOURCES: &str = "sources";
const GENERATED: &str = "generated";

/// The library of a model, where it is and what its ports are.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) library: PathBuf,
    pub(crate) ports: Ports,
    /// Whether it had been built before.
    pub(crate) cached: bool,
}

/// Finds the library of a design's model, or builds it.
pub(crate) fn compile(design: &Design, options: &Options) -> Result<Compiled, SimError> {
    let tools = Tools::get()?;
    let cache = Cache::new(options)?;
    let key = key(design, options, tools)?;
    if let Some((library, manifest)) = cache.find(&key) {
        return Ok(Compiled { library, ports: manifest.ports, cached: true });
    }
    let runtime = runtime(options, tools, &cache)?;
    let scratch = cache.scratch()?;
    let folder = scratch.path();
    let inputs = verilate(design, options, tools, folder)?;

    let header = folder.join(GENERATED).join("Vmodel.h");
    let header = fs::read_to_string(&header).map_err(SimError::io("read", &header))?;
    let ports = Ports::parse(&header, design)?;
    write(&folder.join("hooks.h"), HOOKS)?;
    write(&folder.join("model.cpp"), &unit(folder, &ports, design.rising_only)?)?;

    let mut command = tools.compiler()?;
    command.current_dir(folder).args(options.compiler());
    command.args(["-include", "hooks.h", "-shared", "-Wl,-Bsymbolic", "-s", "-o", LIBRARY]);
    command.arg("model.cpp").arg(runtime).arg("-pthread");
    if options.waves {
        command.arg("-lz");
    }
    run(&mut command, "g++", &design.top)?;

    let library = folder.join(LIBRARY);
    let built = hash_file(&library).map_err(SimError::io("read", &library))?;
    // The loader takes a path it has seen for the library it has loaded from there.
    let name = format!("model-{built:016x}.so");
    fs::rename(&library, folder.join(&name)).map_err(SimError::io("rename", &library))?;
    let manifest = Manifest { key, built: (name.clone(), built), inputs, ports };
    let library = cache.publish(&scratch, &[&name, SOURCES], &manifest)?;
    Ok(Compiled { library, ports: manifest.ports, cached: false })
}

/// All that a model depends on, except the contents of files it is in.
fn key(design: &Design, options: &Options, tools: &Tools) -> Result<String, SimError> {
    let mut key = String::new();
    let mut line = |text: &dyn std::fmt::Debug| {
        // Writing to a string cannot fail.
        let _ = writeln!(key, "{text:?}");
    };
    line(&(VERSION, hash(SHIM.as_bytes()), hash(HOOKS.as_bytes())));
    line(&tools.versions);
    line(&(options.verilator(), options.compiler()));
    line(&(&design.top, &design.arguments, &design.clock, &design.reset, design.rising_only));
    match &design.sources {
        Sources::Texts(texts) => line(texts),
        Sources::Files(files) => {
            let here = env::current_dir().map_err(SimError::io("find", Path::new(".")))?;
            line(&(files, here));
        }
    }
    Ok(key)
}

/// Runs Verilator. Returns the files it read and their hashes, if they are not our own.
fn verilate(
    design: &Design,
    options: &Options,
    tools: &Tools,
    folder: &Path,
) -> Result<Vec<(PathBuf, u64)>, SimError> {
    let mut command = tools.verilator();
    command.args(["--cc", "--prefix", "Vmodel", "--top-module", &design.top, "--Mdir"]);
    command.arg(folder.join(GENERATED)).args(options.verilator()).args(&design.arguments);
    let sources = folder.join(SOURCES);
    fs::create_dir(&sources).map_err(SimError::io("create", &sources))?;
    match &design.sources {
        Sources::Texts(texts) => {
            // Messages then name the file without a folder, wherever it was built.
            command.current_dir(&sources);
            for (name, text) in texts {
                let file = format!("{name}.sv");
                write(&sources.join(&file), text)?;
                command.arg(file);
            }
        }
        Sources::Files(files) => {
            command.args(files);
        }
    }
    run(&mut command, "verilator", &design.top)?;
    match &design.sources {
        Sources::Texts(_) => Ok(Vec::new()),
        Sources::Files(_) => files_read(&folder.join(GENERATED)),
    }
}

/// The files Verilator read, included ones too. It lists them, with its own binary, in lines that start
/// with `S` and end with the name in quotes.
fn files_read(generated: &Path) -> Result<Vec<(PathBuf, u64)>, SimError> {
    let list = generated.join("Vmodel__verFiles.dat");
    let text = fs::read_to_string(&list).map_err(SimError::io("read", &list))?;
    let names = text.lines().filter_map(|line| {
        line.strip_prefix('S')?.trim_end().strip_suffix('"')?.split_once('"').map(|(_, name)| name)
    });
    names
        .filter(|name| !name.ends_with("verilator_bin"))
        .map(|name| {
            let path = PathBuf::from(name);
            let hash = hash_file(&path).map_err(SimError::io("read", &path))?;
            Ok((path, hash))
        })
        .collect()
}

/// The model and its shim as one translation unit: the headers are most of the work.
fn unit(folder: &Path, ports: &Ports, rising_only: bool) -> Result<String, SimError> {
    let generated = folder.join(GENERATED);
    let mut names = Vec::new();
    for entry in fs::read_dir(&generated).map_err(SimError::io("read", &generated))? {
        let name = entry.map_err(SimError::io("read", &generated))?.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".cpp") {
            names.push(name.into_owned());
        }
    }
    names.sort();
    let mut text = String::new();
    for name in names {
        let _ = writeln!(text, "#include \"{GENERATED}/{name}\"");
    }
    text.push_str(&ports.copying(rising_only));
    text.push_str(SHIM);
    Ok(text)
}

/// Verilator's runtime library, compiled once for all models with these options.
fn runtime(options: &Options, tools: &Tools, cache: &Cache) -> Result<PathBuf, SimError> {
    // Other threads wait for it instead of compiling it too.
    static COMPILING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);

    let hooks = hash(HOOKS.as_bytes());
    let key = format!("runtime {VERSION} {hooks} {} waves: {}", tools.versions, options.waves);
    if let Some((object, _)) = cache.find(&key) {
        return Ok(object);
    }
    let scratch = cache.scratch()?;
    let folder = scratch.path();
    let mut text = String::new();
    let parts: &[_] = match options.waves {
        false => &["verilated.cpp", "verilated_threads.cpp"],
        true => &["verilated.cpp", "verilated_threads.cpp", "verilated_fst_c.cpp"],
    };
    for part in parts {
        let _ = writeln!(text, "#include \"{part}\"");
    }
    write(&folder.join("hooks.h"), HOOKS)?;
    write(&folder.join("runtime.cpp"), &text)?;
    let mut command = tools.compiler()?;
    command.current_dir(folder).args(["-O1", "-include", "hooks.h"]);
    // The shim has its own.
    command.args(["-DVL_USER_FINISH", "-DVL_USER_STOP", "-DVL_USER_FATAL"]);
    command.args(["-c", "-o", RUNTIME, "runtime.cpp"]);
    run(&mut command, "g++", "Verilator's runtime").map_err(|error| match error {
        SimError::Tool { messages, .. } if messages.contains("zlib.h: No such file") => {
            SimError::Missing {
                tool: "zlib.h, which waves need,".to_owned(),
                package: "zlib1g-dev",
            }
        }
        other => other,
    })?;

    let object = folder.join(RUNTIME);
    let built = hash_file(&object).map_err(SimError::io("read", &object))?;
    let built = (RUNTIME.to_owned(), built);
    let manifest = Manifest { key, built, inputs: Vec::new(), ports: Ports::default() };
    cache.publish(&scratch, &[RUNTIME], &manifest)
}

fn write(path: &Path, text: &str) -> Result<(), SimError> {
    fs::write(path, text).map_err(SimError::io("write", path))
}
