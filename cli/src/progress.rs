//! Progress of commands, on terminals.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::io::{self, IsTerminal};

/// A bar on standard error, hidden unless that is a terminal. `steps` is `None` if their number is not known.
pub(crate) fn bar(steps: Option<u64>, template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    // The bar is cleared even if an error ends the command.
    let bar = ProgressBar::with_draw_target(steps, ProgressDrawTarget::stderr())
        .with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A bar for executions, which counts half-words.
pub(crate) fn executed() -> ProgressBar {
    bar(None, "{spinner} {msg} {human_pos} half-words ({per_sec})")
}
