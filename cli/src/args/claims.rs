//! The files that a command line names: what is read must not be written.

use crate::files::{self, is_standard_output};
use clap::{Arg, ArgMatches, Command, ValueHint};
use hartrace_capture::description::Description;
use hartrace_capture::output::Conflict;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Arguments that name files or folders to write. Those of all other arguments are read.
pub(super) const OUTPUTS: [&str; 9] =
    ["output", "output_dir", "retired", "report", "json", "html", "waves", "profile", "resume"];

/// Commands whose output is a capture, with a description beside it.
const CAPTURING: [&str; 3] = ["run", "encode", "receive"];

/// Adds the files of a command line to those of the command; an error if one would be destroyed.
pub(crate) fn claim(command: &Command, matches: &ArgMatches) -> Result<(), Conflict> {
    if let Some((name, inner)) = matches.subcommand() {
        return command.find_subcommand(name).map_or(Ok(()), |command| claim(command, inner));
    }
    let (outputs, inputs): (Vec<_>, Vec<_>) =
        command.get_arguments().filter(|arg| is_file(arg)).partition(|arg| is_output(arg));
    let has = |id| matches.try_contains_id(id).unwrap_or(false);
    // `--output` says where the JSON goes.
    let counts = |arg: &&Arg| arg.get_id() != "json" || !has("output");
    let given = |arg: &Arg| matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
    for word in inputs.into_iter().flat_map(given) {
        files(word).iter().try_for_each(|path| files::reads(path))?;
    }
    let mut outputs = outputs.into_iter().filter(counts).flat_map(given).map(Path::new);
    outputs.try_for_each(|path| files::claims().write(path))?;
    if CAPTURING.contains(&command.get_name()) {
        let captures = matches.get_raw("output").into_iter().flatten().map(Path::new);
        let mut captures = captures.filter(|path| !is_standard_output(path));
        captures.try_for_each(|path| files::claims().write(&Description::place(path)))?;
    }
    Ok(())
}

pub(super) fn is_output(arg: &Arg) -> bool {
    OUTPUTS.contains(&arg.get_id().as_str())
}

/// Whether an argument names a file.
pub(super) fn is_file(arg: &Arg) -> bool {
    matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath)
}

/// The files that a word may name: `FILE`, `FILE@ADDRESS` and `ID=FILE@ADDRESS`.
fn files(word: &OsStr) -> Vec<PathBuf> {
    let text = word.to_str().unwrap_or_default();
    let after = text.split_once('=').map_or(text, |(_, file)| file);
    let before = |text: &str| text.rsplit_once('@').map(|(file, _)| PathBuf::from(file));
    let placed = before(text).into_iter().chain(before(after));
    [PathBuf::from(word), PathBuf::from(after)].into_iter().chain(placed).collect()
}
