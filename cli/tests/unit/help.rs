use super::*;
use std::collections::BTreeSet;

/// Paths of all commands that have none below them, but for the one that clap adds.
fn leaves(command: &Command, path: &str, found: &mut Vec<String>) {
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let path = format!("{path}{}", inner.get_name());
        if inner.has_subcommands() {
            leaves(inner, &format!("{path} "), found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn every_command_is_in_one_group() {
    let command = command();
    let names = command.get_subcommands().map(Command::get_name).collect::<BTreeSet<_>>();
    let grouped = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect::<Vec<_>>();
    assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), names);
    assert_eq!(grouped.len(), names.len(), "a command is in two groups");
}

#[test]
fn the_overview_fits_into_100_columns() {
    let text = command().render_help().to_string();
    for line in text.lines() {
        assert!(line.len() <= 100, "{line}");
    }
    assert!(text.contains("See what was executed:") && text.contains("Exit status"), "{text}");
}

#[test]
fn every_command_has_examples_that_are_accepted() {
    let mut found = Vec::new();
    leaves(&command(), "", &mut found);
    for path in found {
        let Some((_, examples)) = EXAMPLES.iter().find(|(other, _)| *other == path) else {
            panic!("{path}: no example");
        };
        let help = command().find_subcommand(path.split(' ').next().unwrap()).cloned();
        assert!(help.is_some() && !examples.is_empty(), "{path}");
        for Example { line, .. } in *examples {
            assert!(line.starts_with(&path), "{line}: an example of {path}");
            let words = std::iter::once("hartrace").chain(line.split(' '));
            command().try_get_matches_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}

#[test]
fn what_is_printed_without_a_command_is_accepted() {
    for (line, _) in groups::START.iter().flat_map(|(_, lines)| lines.iter()) {
        let words = std::iter::once("hartrace").chain(line.split(' '));
        command().try_get_matches_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    assert_eq!(groups::START.iter().map(|(_, lines)| lines.len()).sum::<usize>(), 10);
}

/// Arguments come first, and no option is under a heading of another job.
#[test]
fn options_are_under_their_headings() {
    let command = command();
    let decode = command.find_subcommand("decode").unwrap().clone();
    let help = decode.clone().render_help().to_string();
    let place = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text} in {help}"));
    assert!(place("<CAPTURE>  ") < place("Options:"), "{help}");
    let heading = |name: &str| {
        let arg = decode.get_arguments().find(|arg| arg.get_long() == Some(name));
        arg.unwrap_or_else(|| panic!("{name}")).get_help_heading().map(str::to_owned)
    };
    for (name, expected) in [
        ("elf", "Program"),
        ("events", "Code that changes"),
        ("strict", "Decoding"),
        ("threads", "Decoding"),
        ("snapshot", "CoreSight"),
        ("perf", "Recordings of Linux perf"),
        ("framing", "Stream of packets"),
    ] {
        assert_eq!(heading(name).as_deref(), Some(expected), "{name}");
    }
}
