use super::{OUTPUTS, check};
use crate::args::Cli;
use clap::{Arg, ArgAction, Command, CommandFactory};
use hartrace_capture::programs::Placed;
use std::any::TypeId;
use std::path::PathBuf;

const MISSING: &str = "/no/such/file";

/// Whether an argument names a file that is read.
fn is_input(arg: &Arg) -> bool {
    let kind = arg.get_value_parser().type_id();
    let file = kind == TypeId::of::<PathBuf>() || kind == TypeId::of::<Placed>();
    let file = file || kind == TypeId::of::<(u64, Placed)>();
    file && !OUTPUTS.contains(&arg.get_id().as_str())
}

/// The words that give an argument a value: this file, or anything that it takes.
fn words(arg: &Arg, file: &str) -> Vec<String> {
    let kind = arg.get_value_parser().type_id();
    let value = match arg.get_value_parser().possible_values().and_then(|mut all| all.next()) {
        Some(possible) => possible.get_name().to_owned(),
        None if kind == TypeId::of::<(u64, Placed)>() => format!("7={file}"),
        None if kind == TypeId::of::<Placed>() => format!("{file}@0x1000"),
        None if kind == TypeId::of::<PathBuf>() => file.to_owned(),
        None if arg.get_id() == "emit" => "edges".to_owned(),
        None => "0".to_owned(),
    };
    let option = arg.get_long().map(|long| format!("--{long}"));
    option.into_iter().chain([value]).collect()
}

/// Calls `test` for every command without further ones.
fn each(command: &Command, path: &[String], test: &mut dyn FnMut(&Command, &[String])) {
    let path = [path, &[command.get_name().to_owned()]].concat();
    if command.get_subcommands().next().is_none() {
        test(command, &path);
    }
    command.get_subcommands().for_each(|inner| each(inner, &path, test));
}

/// Whatever file of whatever command is missing, the message names it before it asks for anything else.
#[test]
fn every_missing_file_is_named() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let (mut whole, mut tested) = (Cli::command(), 0);
    whole.build();
    each(&whole, &[], &mut |command, path| {
        for arg in command.get_arguments().filter(|arg| is_input(arg)) {
            let id = arg.get_id().as_str();
            let mut line = path.to_vec();
            // Recordings and snapshots stand in place of captures, and some options belong to recordings.
            let recorded = ["perf", "snapshot", "sysroot", "build_ids"].contains(&id);
            for other in command.get_arguments() {
                let needed = other.is_required_set() && !(recorded && other.get_id() == "capture");
                let perf = recorded && id != "snapshot" && other.get_id() == "perf";
                let is_value = matches!(other.get_action(), ArgAction::Set | ArgAction::Append);
                if other.get_id() == id {
                    line.extend(words(arg, MISSING));
                } else if (needed || perf) && is_value {
                    line.extend(words(other, here));
                }
            }
            let matches = Cli::command().try_get_matches_from(&line);
            let matches = matches.unwrap_or_else(|error| panic!("{line:?}: {error}"));
            let failure = check(&matches).expect_err(&line.join(" "));
            assert_eq!(failure.status(), 3, "{line:?}: {failure}");
            let message = failure.to_string();
            assert!(message.starts_with("error: /no/such/file: cannot read: "), "{message}");
            tested += 1;
        }
    });
    assert!(tested > 60, "{tested}");
}
