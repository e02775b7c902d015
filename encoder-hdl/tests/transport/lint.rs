//! Linters report no warnings about any block, at every corner of its parameters.

mod support;

use hartrace_hdl_tools::lint::Design;
use hartrace_rtl::Component;
use libtest_mimic::Arguments;
use std::collections::BTreeMap;
use std::path::Path;
use support::corners;

fn main() {
    let args = Arguments::from_args();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut kinds: BTreeMap<String, Vec<Component>> = BTreeMap::new();
    for block in corners() {
        let kind = block.name().split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
        kinds.entry(kind.trim_end_matches('_').to_owned()).or_default().push(block);
    }
    let mut trials = hartrace_hdl_tools::lint::sees(folder);
    for (kind, blocks) in kinds {
        // In one run, with modules that blocks share only once.
        let files: BTreeMap<_, _> = blocks.iter().flat_map(Component::files).collect();
        let design: Design = files.into_iter().collect();
        trials.extend(hartrace_hdl_tools::lint::trials(
            folder,
            &format!("{kind}_{}", blocks.len()),
            &[design],
        ));
    }
    libtest_mimic::run(&args, trials).exit();
}
