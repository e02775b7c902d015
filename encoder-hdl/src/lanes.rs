//! What modules of several lanes have in common.

use crate::config::Config;
use hartrace_rtl::Module;

/// Starts a module that has vectors of lanes. The comment above it says where each lane is, if there are several.
#[track_caller]
pub(crate) fn module_of_lanes(config: &Config, name: &str, doc: &str) -> Module {
    let order = match config.n() {
        1 => "",
        _ => "\nVectors of lanes have lane 0, the oldest, in their lowest bits.",
    };
    Module::new(name, &format!("{doc}{order}")).clocked()
}
