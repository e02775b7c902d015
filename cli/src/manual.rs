//! `hartrace params`, `completions` and `man`: files that help with the command itself.

use crate::args::{Cli, CompletionsArgs, FolderArgs, ParamsArgs};
use crate::failure::{Failure, Status};
use crate::{files, hdl};
use clap::CommandFactory;
use hartrace_capture::params::Draft;
use hartrace_encoder_hdl::top;
use hartrace_etrace::{Ioptions, Params, Unit};
use std::fs;
use std::io::Write;

/// Writes a file of parameters with comments.
pub(crate) fn params(args: &ParamsArgs) -> Result<Status, Failure> {
    let draft = match &args.config {
        Some(name) => {
            let text = top::params(&hdl::named(name, None)?).map_err(Failure::usage)?;
            Draft::parse(&text, name)?
        }
        None => {
            let params = Params { iaddress_width_p: args.xlen.bits() as u8, ..Params::default() };
            let draft = Draft::new(&params, Unit::Reference, &Ioptions::default());
            Draft { xlen: Some(args.xlen), ..draft }
        }
    };
    let failed = |error| Failure::write(files::output_name(&args.output), &error);
    let mut out = files::create(&args.output)?;
    out.write_all(draft.commented().as_bytes()).and_then(|()| out.flush()).map_err(failed)?;
    Ok(Status::Clean)
}

/// Prints completions for a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Status, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hartrace", &mut text);
    let mut out = files::stdout();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Status::Clean)
}

/// Writes the manual pages.
pub(crate) fn man(args: &FolderArgs) -> Result<Status, Failure> {
    let failed = |error| Failure::write(args.output.display(), &error);
    fs::create_dir_all(&args.output).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.output).map_err(failed)?;
    let mut out = files::stdout();
    let pages = fs::read_dir(&args.output).map_err(failed)?.count();
    writeln!(out, "{pages} pages in {}; man -l {0}/hartrace.1", args.output.display())?;
    out.flush()?;
    Ok(Status::Clean)
}
