//! What people read before they have read anything else: the commands in groups, and examples.

mod examples;
mod groups;

use examples::EXAMPLES;
use groups::GROUPS;

use crate::args::Cli;
use crate::failure::{Failure, Status};
use clap::builder::{StyledStr, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use hartrace_parts::HAS_FILES;
use std::fmt::Write as _;
use std::io::Write as _;

/// How commands end; the same for all.
const STATUS: &str = "\
`hartrace COMMAND --help` explains a command, with examples. `-` is standard input or output wherever a file is named.
Exit status: 0 clean, 1 decoded with gaps (with --strict, ended by the first) or nothing to decode,
2 usage error, 3 unreadable input, 4 check failed or captures differ, 5 a capture can be read in several ways.
`run` returns that of the program.";

/// What `part` and `merge` say in a build that lacks their files.
const WITHOUT_FILES: &str = "This build has no Parquet files, which take a minute to compile. To have them:\n\n    \
                             cargo install --path cli --features parquet";

/// What stands for the list of commands that clap would write, which has no groups.
const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\n{options}";

/// The whole command line, with all texts.
pub(crate) fn command() -> Command {
    let mut command = Cli::command().help_template(TEMPLATE);
    let overview = overview(&command);
    command = command.after_help(overview);
    for name in ["part", "merge"].into_iter().filter(|_| !HAS_FILES) {
        command = command.mut_subcommand(name, |found| found.before_help(WITHOUT_FILES));
    }
    for (path, examples) in EXAMPLES {
        command = with_examples(command, &path.split(' ').collect::<Vec<_>>(), examples);
    }
    command
}

/// Adds what to type for a word that may be meant for the program that `run` executes.
pub(crate) fn with_tip(mut error: clap::Error, is_run: bool) -> clap::Error {
    let known = error.get(ContextKind::Suggested).is_some();
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => {
            word.clone()
        }
        _ => return error,
    };
    if is_run && !known {
        let tip = format!("to pass '{word}' to the program, use '-- {word}'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Prints what to do first.
pub(crate) fn print_start() -> Result<Status, Failure> {
    let mut out = anstream::stdout();
    write!(out, "{}", start().ansi())?;
    out.flush()?;
    Ok(Status::Clean)
}

/// The jobs that most people come for, each as it is typed.
fn start() -> StyledStr {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text =
        String::from("hartrace: processor trace, from the hardware to what was executed\n");
    for (heading, lines) in groups::START {
        let _ = writeln!(text, "\n{header}{heading}{header:#}");
        for (line, what) in lines {
            let _ = writeln!(text, "  {literal}hartrace {line:<44}{literal:#} {what}");
        }
    }
    text.push_str("\n`hartrace --help` lists all commands; docs/guide/first-trace.md is a tour.\n");
    text.into()
}

/// All commands in groups, each with the first line of its help.
fn overview(command: &Command) -> StyledStr {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:<12}{literal:#} {about}{}", missing(name));
        }
        text.push('\n');
    }
    text.push_str(STATUS);
    text.into()
}

/// What a command lacks in this build.
fn missing(name: &str) -> &'static str {
    match name {
        "part" | "merge" if !HAS_FILES => " (not in this build)",
        _ => "",
    }
}

/// Adds examples to the help of the command at `path`.
fn with_examples(mut command: Command, path: &[&'static str], examples: &[Example]) -> Command {
    if let [name, inner @ ..] = path {
        return command.mut_subcommand(*name, |found| with_examples(found, inner, examples));
    }
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = format!("{header}Examples:{header:#}");
    for Example { line, what } in examples {
        let _ = write!(text, "\n  {literal}hartrace {line}{literal:#}\n          {what}");
    }
    if let Some(more) = command.get_after_long_help() {
        let long = format!("{text}\n\n{}", more.ansi());
        command = command.after_long_help(StyledStr::from(long));
    }
    if let Some(more) = command.get_after_help() {
        let _ = write!(text, "\n\n{}", more.ansi());
    }
    command.after_help(StyledStr::from(text))
}

/// A command line, without the first word, and what it does.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Example {
    pub(crate) line: &'static str,
    pub(crate) what: &'static str,
}

#[cfg(test)]
#[path = "../tests/unit/help.rs"]
mod tests;
