//! What a program has of this command: its streams, its environment, a place to print to.

use crate::args::ExecArgs;
use crate::failure::{Failure, warn};
use crate::files;
use hartrace_executions::executed::{Executor, Print, Program, Shared, Variables};
use indicatif::ProgressBar;
use std::io::{self, Write};

/// Decides what a program shares with this command. Standard output has one owner: a Linux program, or one that prints
/// there; or this command, if its figures or its trace go there in a form that others read.
pub(super) fn shared(
    args: &ExecArgs,
    program: &Program,
    bar: &ProgressBar,
) -> Result<Shared, Failure> {
    let given = args.no_env || !args.env.is_empty();
    if program.is_bare() && given {
        return Err(Failure::usage("a bare-metal program has no environment variables")
            .at(files::name(&args.program))
            .hint("the same without --env and --no-env"));
    }
    let variables = Variables { inherited: !args.no_env, set: args.env.clone() };
    if !program.is_bare() && args.with == Executor::Hart {
        for name in variables.left_out() {
            warn(format_args!("the environment variable {name} is no UTF-8, and is not passed on"));
        }
    }
    let page = args.report.as_ref().and_then(Option::as_ref);
    let mut named = [args.output.as_ref(), args.retired.as_ref(), page].into_iter().flatten();
    let ours = args.json || named.any(|file| files::is_standard_output(file));
    if !program.is_bare() && !ours {
        files::leave_stdout();
    }
    let bar = bar.clone();
    let print = Print::new(move |bytes| {
        // The program cannot react to an output that was closed.
        let _ = bar.suspend(|| match ours {
            true => io::stderr().write_all(bytes),
            false => {
                files::leave_stdout();
                let mut out = io::stdout();
                out.write_all(bytes).and_then(|()| out.flush())
            }
        });
    });
    Ok(Shared { variables, to_stderr: ours, print })
}
