//! How far a command is, if anybody looks.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::io::{self, IsTerminal};

/// A bar on standard error, hidden unless that is a terminal. Without a number of steps nobody knows how many there
/// are.
pub(crate) fn bar(steps: Option<u64>, template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    // Also where an error ends the command.
    let bar = ProgressBar::with_draw_target(steps, ProgressDrawTarget::stderr())
        .with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A bar for what is executed, which counts half-words.
pub(crate) fn executed() -> ProgressBar {
    bar(None, "{spinner} {msg} {human_pos} half-words ({per_sec})")
}
