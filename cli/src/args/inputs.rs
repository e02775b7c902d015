//! Files that a command line names to be read.

use super::claims::OUTPUTS;
use crate::failure::Failure;
use crate::files;
use clap::ArgMatches;
use hartrace_capture::described::Described;
use hartrace_capture::programs::Placed;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What may be a folder: bundles and snapshots, and folders with files of several programs.
const FOLDERS: [&str; 6] =
    ["build_ids", "capture", "captures", "snapshot", "source_root", "sysroot"];

/// Checks that every file which is read can be, so that a command does not first ask for something else.
pub(crate) fn check(matches: &ArgMatches) -> Result<(), Failure> {
    for id in matches.ids().map(clap::Id::as_str).filter(|id| !OUTPUTS.contains(id)) {
        for path in paths(matches, id).into_iter().filter(|path| !files::is_standard(path)) {
            let may_be_folder = |path: &Path| match id {
                // Only bundles can be compared.
                "a" | "b" => path.join("contents.ini").is_file(),
                _ => FOLDERS.contains(&id),
            };
            readable(path, may_be_folder).map_err(|error| files::unreadable(path, &error))?;
        }
    }
    matches.subcommand().map_or(Ok(()), |(_, inner)| check(inner))
}

/// The files of an argument; none if it is something else.
fn paths<'a>(matches: &'a ArgMatches, id: &str) -> Vec<&'a Path> {
    let plain = matches.try_get_many::<PathBuf>(id).ok().flatten();
    let placed = matches.try_get_many::<Placed>(id).ok().flatten();
    let context = matches.try_get_many::<(u64, Placed)>(id).ok().flatten();
    let placed = placed.into_iter().flatten().chain(context.into_iter().flatten().map(|(_, p)| p));
    let plain = plain.into_iter().flatten().map(PathBuf::as_path);
    plain.chain(placed.map(|placed| placed.path.as_path())).collect()
}

fn readable(path: &Path, may_be_folder: impl Fn(&Path) -> bool) -> io::Result<()> {
    // A capture may have to be completed first: see `hartrace_capture::output`.
    let known = fs::metadata(path).or_else(|error| match Described::find(path) {
        Ok(_) => fs::metadata(path),
        Err(_) => Err(error),
    })?;
    if known.is_dir() && !may_be_folder(path) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // A pipe can be opened only once.
    if known.is_file() {
        File::open(path)?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../tests/unit/inputs.rs"]
mod tests;
