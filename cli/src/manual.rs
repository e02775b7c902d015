//! `hartrace params`, `completions` and `man`: files that help with the command itself.

use crate::args::{CompletionsArgs, FolderArgs, ParamsArgs};
use crate::failure::{Failure, Status};
use crate::{files, hdl, help};
use hartrace_capture::params::Draft;
use hartrace_encoder_hdl::top;
use hartrace_etrace::{Ioptions, Params, Unit};
use std::io::Write;
use std::path::Path;

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
    files::write(&args.output, draft.commented())?;
    Ok(Status::Clean)
}

/// Prints completions for a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Status, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "hartrace", &mut text);
    let mut out = files::stdout();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Status::Clean)
}

/// Writes the manual pages.
pub(crate) fn man(args: &FolderArgs) -> Result<Status, Failure> {
    let mut command = help::command().disable_help_subcommand(true);
    command.build();
    let pages = page(&command, &args.output)?;
    let mut out = files::stdout();
    writeln!(out, "{pages} pages in {}; man -l {0}/hartrace.1", args.output.display())?;
    out.flush()?;
    Ok(Status::Clean)
}

/// Writes the page of a command and those of its own commands; returns their number.
fn page(command: &clap::Command, folder: &Path) -> Result<usize, Failure> {
    let mut pages = 1;
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        pages += page(inner, folder)?;
    }
    let (mut text, page) = (Vec::new(), clap_mangen::Man::new(command.clone()));
    page.render(&mut text)?;
    files::write_new(&folder.join(page.get_filename()), text)?;
    Ok(pages)
}
