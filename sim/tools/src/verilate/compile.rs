//! Compiles a design into the shared library of its model.

use crate::verilate::cache::{Cache, Manifest, hash, hash_file};
use crate::verilate::design::{Design, Source};
use crate::verilate::library::{GENERATED, SHIM, build_library, write};
use crate::verilate::parts::{CONSTHI, HOOKS, headers, runtime};
use crate::verilate::ports::Ports;
use crate::verilate::tools::{Tools, run};
use crate::verilate::{Options, SimError};
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// To be increased when the output of this file, library.rs or ports.rs changes; the C++ texts are part
/// of the key themselves.
const VERSION: u32 = 4;

/// Subfolder of the folder in which an entry is built.
const SOURCES: &str = "sources";

/// The library of a model, its path and its ports.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) library: PathBuf,
    pub(crate) ports: Ports,
    /// Whether it was already built.
    pub(crate) cached: bool,
}

/// Finds the library of a design's model, or builds it.
pub(crate) fn compile(design: &Design, options: &Options) -> Result<Compiled, SimError> {
    let tools = &*Tools::get(options.verilator.as_deref())?;
    let cache = Cache::new(options)?;
    let key = key(design, options, tools)?;
    let building = building(&cache, &key);
    let _alone = building.lock().unwrap_or_else(PoisonError::into_inner);
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
    let headers = headers(options, tools, &cache, folder)?;
    let library = build_library(design, options, tools, folder, &ports, [&headers, &runtime])?;
    let built = hash_file(&library).map_err(SimError::io("read", &library))?;
    // The loader identifies a library by its path, and does not load the same path twice.
    let name = format!("model-{built:016x}.so");
    fs::rename(&library, folder.join(&name)).map_err(SimError::io("rename", &library))?;
    let manifest = Manifest { key, built: (name.clone(), built), inputs, ports };
    let library = cache.publish(&scratch, &[&name, SOURCES], &manifest)?;
    Ok(Compiled { library, ports: manifest.ports, cached: false })
}

/// What is locked while a model is built: other threads wait for it instead of building it as well.
fn building(cache: &Cache, key: &str) -> Arc<Mutex<()>> {
    type Locks = BTreeMap<(PathBuf, u64), Arc<Mutex<()>>>;
    static LOCKS: Mutex<Locks> = Mutex::new(BTreeMap::new());
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    locks.entry((cache.root().to_owned(), hash(key.as_bytes()))).or_default().clone()
}

/// Everything that a model depends on, except the contents of its files.
fn key(design: &Design, options: &Options, tools: &Tools) -> Result<String, SimError> {
    let mut key = String::new();
    let mut line = |text: &dyn std::fmt::Debug| {
        // Writing to a string cannot fail.
        let _ = writeln!(key, "{text:?}");
    };
    line(&(VERSION, [SHIM, HOOKS, CONSTHI].map(|text| hash(text.as_bytes()))));
    line(&tools.versions);
    line(&(options.verilator(), options.compiler()));
    line(&(&design.top, &design.arguments, &design.clock, &design.reset, design.rising_only));
    line(&design.sources);
    let relative = |source: &Source| matches!(source, Source::File(file) if file.is_relative());
    if design.sources.iter().any(relative) {
        line(&env::current_dir().map_err(SimError::io("find", Path::new(".")))?);
    }
    Ok(key)
}

/// Runs Verilator. Returns the files that it read and their hashes, except generated ones.
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
    let is_text = design.is_text();
    if is_text {
        // Messages then name the file without a folder, wherever it was built.
        command.current_dir(&sources);
    }
    for source in &design.sources {
        match source {
            Source::Text { name, text } => {
                let file = format!("{name}.sv");
                write(&sources.join(&file), text)?;
                command.arg(if is_text { file.into() } else { sources.join(file) });
            }
            Source::File(file) => {
                command.arg(file);
            }
        }
    }
    run(&mut command, "verilator", &design.top)?;
    if is_text {
        return Ok(Vec::new());
    }
    let mut read = files_read(&folder.join(GENERATED))?;
    // Texts are part of the key, and are deleted with this folder.
    read.retain(|(path, _)| !path.starts_with(folder));
    Ok(read)
}

/// The files that Verilator read, including included ones. It lists them, with its own binary, in lines
/// that start with `S` and end with the name in quotes; newer versions write a hash in quotes before it.
fn files_read(generated: &Path) -> Result<Vec<(PathBuf, u64)>, SimError> {
    let list = generated.join("Vmodel__verFiles.dat");
    let text = fs::read_to_string(&list).map_err(SimError::io("read", &list))?;
    let names = text.lines().filter_map(|line| {
        line.strip_prefix('S')?.trim_end().strip_suffix('"')?.rsplit_once('"').map(|(_, name)| name)
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
