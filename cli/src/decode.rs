//! `hartrace decode`.

use crate::args::{DecodeArgs, Emit};
use crate::failure::{Failure, Status};
use crate::job::{Job, Product};
use crate::produce;
use hartrace_report::Form;

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs) -> Result<Status, Failure> {
    let DecodeArgs { emit, json, numbers, window, captured } = args;
    let listed = matches!(emit, Emit::Form(Form::Listing | Form::Json));
    if *numbers && !listed {
        return Err(Failure::usage("--numbers applies to listings and JSON only")
            .hint("--emit listing or json"));
    }
    let job = Job::new(captured, Product::Text(*emit));
    produce::run(&Job { json: *json, numbers: *numbers, window: window.window(), ..job })
}
