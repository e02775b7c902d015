//! `hartrace decode`.

use crate::args::DecodeArgs;
use crate::failure::{Failure, Status};
use crate::job::{Job, Product};
use crate::produce;

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs) -> Result<Status, Failure> {
    let DecodeArgs { emit, json, window, captured } = args;
    let job = Job::new(captured, Product::Text(*emit));
    produce::run(&Job { json: *json, from: window.from, to: window.to, ..job })
}
