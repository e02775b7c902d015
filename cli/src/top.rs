//! `hartrace top`: the functions of a capture, those that executed most first.

use crate::args::{Emit, TopArgs};
use crate::failure::{Failure, Status};
use crate::job::{Job, Product};
use crate::{described, files, produce};
use hartrace_capture::described::Described;
use hartrace_report::Form;
use hartrace_report::calls::Top;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &TopArgs) -> Result<Status, Failure> {
    let TopArgs { rows, by, json, window, captured } = args;
    let job = Job::new(captured, Product::Text(Emit::Form(Form::Functions)));
    let top = Top { by: *by, rows: *rows };
    let status = produce::run(&Job { json: *json, window: window.window(), top, ..job })?;
    // Other inputs have no such description.
    let described = captured.follow.capture().and_then(described::find);
    if let Some(what) = described.as_ref().ok().and_then(Described::ended_early) {
        let mut out = files::stdout();
        match json {
            true => writeln!(out, "{}", serde_json::json!({ "ended_early": what }))?,
            false => writeln!(out, "ended early: {what}")?,
        }
        out.flush()?;
    }
    Ok(status)
}
