//! The `hartrace` command.
//!
//! Exit status: 0 clean, 1 decoded with gaps (with `--strict`, ended by the first) or nothing to decode,
//! 2 usage error, 3 unreadable input, 4 check failed or captures differ, 5 a capture can be read in several ways.
//! `run` returns that of the program.

mod args;
mod bundle;
mod check;
mod compare;
mod decode;
mod decoding;
mod delta;
mod demo;
mod described;
mod diff;
mod dump;
mod encode;
mod exec;
mod explain;
mod export;
mod failure;
mod files;
mod fpga;
mod gaps;
mod hdl;
mod help;
mod image;
mod input;
mod job;
mod log;
mod manual;
mod opened;
mod params;
mod parts;
mod probe;
mod produce;
mod profile;
mod progress;
mod receive;
mod report;
mod scenarios;
mod signals;
mod sim;
mod spelling;
mod stats;
mod table;
mod top;

use args::{Cli, Command, FpgaCommand, SimCommand};
use clap::{ArgMatches, FromArgMatches};
use failure::{Failure, Status};
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (words, notes) = spelling::current(std::env::args_os().collect());
    for note in notes {
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    let is_run = words.get(1).is_some_and(|word| word == "run");
    let mut command = help::command();
    let matches = command.try_get_matches_from_mut(words);
    let parsed = matches.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let parsed = parsed.map_err(|error| help::with_tip(error, is_run).format(&mut command));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help and version are "errors" with status 0. A closed output is ignored.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    #[cfg(unix)]
    {
        files::claims().write_standard(io::stdout());
        files::claims().read_standard(io::stdin());
        hartrace_capture::input::keep(io::stdout());
    }
    let claimed = args::claim(&command, &matches).map_err(Failure::from);
    match claimed.and_then(|()| signals::watch()).and_then(|()| run(cli, &matches)) {
        Ok(status) => status.into(),
        Err(failure) => {
            if !failure.is_quiet() {
                let _ = writeln!(io::stderr(), "{failure}");
            }
            ExitCode::from(failure.status())
        }
    }
}

fn run(cli: Cli, matches: &ArgMatches) -> Result<Status, Failure> {
    args::check_inputs(matches)?;
    match cli.command {
        Some(Command::Encode(args)) => encode::run(&args),
        Some(Command::Log(args)) => log::run(&args),
        Some(Command::Receive(args)) => receive::run(&args),
        Some(Command::Dump(args)) => dump::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Decode(args)) => decode::run(&args),
        Some(Command::Top(args)) => top::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Probe(args)) => probe::run(&args),
        Some(Command::Bundle(args)) => bundle::run(&args),
        Some(Command::Diff(args)) if args.packets => diff::run(&args),
        Some(Command::Diff(args)) => delta::run(args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Stats(args)) => stats::run(&args),
        Some(Command::Plan(args)) => parts::plan(&args),
        Some(Command::Part(args)) => parts::part(&args),
        Some(Command::Merge(args)) => parts::merge(&args),
        Some(Command::Run(args)) => exec::run(&args),
        Some(Command::Demo(args)) => demo::run(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Hdl(args)) => hdl::run(&args),
        Some(Command::Image(args)) => table::run(&args),
        Some(Command::Profile(args)) => profile::run(&args),
        Some(Command::Scenarios(args)) => scenarios::run(&args),
        Some(Command::Sim(SimCommand::Encoder(args))) => sim::run(&args),
        Some(Command::Sim(SimCommand::Decoder(args))) => sim::decoder::run(&args),
        Some(Command::Sim(SimCommand::Loop(args))) => sim::rtl_loop::run(&args),
        Some(Command::Sim(SimCommand::Cva6(args))) => sim::cva6::run(&args),
        Some(Command::Fpga(FpgaCommand::Report(args))) => fpga::report(&args),
        Some(Command::Fpga(FpgaCommand::Compare(args))) => fpga::compare(&args),
        Some(Command::Params(args)) => manual::params(&args),
        Some(Command::Completions(args)) => manual::completions(&args),
        Some(Command::Man(args)) => manual::man(&args),
        None => help::print_start(),
    }
}
