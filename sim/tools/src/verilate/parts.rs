//! What many models have in common, compiled once: Verilator's runtime, and its headers.

use crate::verilate::cache::{Cache, Manifest, hash, hash_file};
use crate::verilate::library::write;
use crate::verilate::ports::Ports;
use crate::verilate::tools::{Tools, run};
use crate::verilate::{Options, SimError};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

pub(crate) const HOOKS: &str = include_str!("hooks.h");
pub(crate) const CONSTHI: &str = include_str!("consthi.h");
/// To be increased when the output of this file changes.
const VERSION: u32 = 3;

const RUNTIME: &str = "runtime.o";
const HEADERS: &str = "headers.h";
const PRECOMPILED: &str = "headers.h.gch";

/// A part that was compiled.
struct Part<'a> {
    /// Everything that it depends on.
    key: String,
    /// The file that is built, and files beside it that are kept.
    built: &'static str,
    keep: &'static [&'static str],
    /// What it is, for messages.
    what: &'static str,
    /// Sources, by name.
    sources: &'a [(&'static str, &'a str)],
}

impl Part<'_> {
    /// Finds the part, or builds it.
    fn get(&self, cache: &Cache, mut compiler: Command) -> Result<PathBuf, SimError> {
        // Other threads wait for it instead of compiling it as well; it is compared with its hash only once.
        static KNOWN: Mutex<Option<HashMap<(PathBuf, String), PathBuf>>> = Mutex::new(None);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        let place = (cache.root().to_owned(), self.key.clone());
        if let Some(built) = known.get(&place).filter(|built| built.is_file()) {
            return Ok(built.clone());
        }
        let built = match cache.find(&self.key) {
            Some((built, _)) => built,
            None => {
                let scratch = cache.scratch()?;
                let folder = scratch.path();
                for (name, text) in self.sources {
                    write(&folder.join(name), text)?;
                }
                run(compiler.current_dir(folder), "g++", self.what).map_err(missing_header)?;
                let built = folder.join(self.built);
                let hash = hash_file(&built).map_err(SimError::io("read", &built))?;
                let (key, built) = (self.key.clone(), (self.built.to_owned(), hash));
                let manifest = Manifest { key, built, inputs: Vec::new(), ports: Ports::default() };
                cache.publish(&scratch, self.keep, &manifest)?
            }
        };
        known.insert(place, built.clone());
        Ok(built)
    }
}

/// Verilator's runtime library for models with these options.
pub(crate) fn runtime(
    options: &Options,
    tools: &Tools,
    cache: &Cache,
) -> Result<PathBuf, SimError> {
    let mut text = String::new();
    let parts: &[_] = match options.waves {
        false => &["verilated.cpp", "verilated_threads.cpp"],
        true => &["verilated.cpp", "verilated_threads.cpp", "verilated_fst_c.cpp"],
    };
    for part in parts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#include \"{part}\"");
    }
    let mut command = tools.compiler();
    command.args(["-O1", "-include", "hooks.h"]);
    // The shim defines its own.
    command.args(["-DVL_USER_FINISH", "-DVL_USER_STOP", "-DVL_USER_FATAL"]);
    command.args(["-c", "-o", RUNTIME, "runtime.cpp"]);
    let hooks = hash(HOOKS.as_bytes());
    let part = Part {
        key: format!("runtime {VERSION} {hooks} {} waves: {}", tools.versions, options.waves),
        built: RUNTIME,
        keep: &[RUNTIME],
        what: "Verilator's runtime",
        sources: &[("hooks.h", HOOKS), ("runtime.cpp", &text)],
    };
    part.get(cache, command)
}

/// The headers that a model includes first, precompiled where many models are built, as in tests: reading them
/// takes longer than compiling a small model. A compiler that cannot use the precompiled file reads the header
/// beside it.
pub(crate) fn headers(
    options: &Options,
    tools: &Tools,
    cache: &Cache,
    folder: &Path,
) -> Result<PathBuf, SimError> {
    let mut text = "#include \"hooks.h\"\n".to_owned();
    if tools.writes_past_the_end {
        text += "#include \"consthi.h\"\n";
    }
    let sources = |text| [("hooks.h", HOOKS), ("consthi.h", CONSTHI), (HEADERS, text)];
    if options.cache.is_some() {
        for (name, text) in sources(&text) {
            write(&folder.join(name), text)?;
        }
        return Ok(folder.join(HEADERS));
    }
    text += "#include \"verilated.h\"\n";
    let mut command = tools.compiler();
    command.args(options.compiler()).args(["-x", "c++-header", "-o", PRECOMPILED, HEADERS]);
    let hashes = [HOOKS, CONSTHI, &text].map(|text| hash(text.as_bytes()));
    let part = Part {
        key: format!("headers {VERSION} {hashes:?} {} {:?}", tools.versions, options.compiler()),
        built: PRECOMPILED,
        keep: &[PRECOMPILED, HEADERS, "hooks.h", "consthi.h"],
        what: "Verilator's headers",
        sources: &sources(&text),
    };
    Ok(part.get(cache, command)?.with_file_name(HEADERS))
}

/// Returns what to install if the runtime could not be compiled because a header is missing.
fn missing_header(error: SimError) -> SimError {
    let SimError::Tool { messages, .. } = &error else { return error };
    for (header, package) in [("zlib.h", "zlib1g-dev"), ("lz4.h", "liblz4-dev")] {
        if messages.contains(&format!("{header}: No such file")) {
            return SimError::Missing { tool: format!("{header}, which waves need,"), package };
        }
    }
    error
}
