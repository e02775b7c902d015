//! The hardware behaves as the table describes, and tools report no warnings.
//!
//! Ignored if Verilator (for lint: slang) is missing.

mod axi;
mod bench;
mod configs;
mod lint;
mod outputs;

use configs::{atb, encoders, ram_sinks};
use hartrace_encoder_hdl::registers::{AxiBridge, EncoderParams};
use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let missing = !hartrace_hdl_tools::verilate::available();
    let mut trials = Vec::new();
    for (name, design) in encoders().into_iter().chain(ram_sinks()).chain([atb()]) {
        let run = move || bench::compare(&design, 60_000);
        trials.push(Trial::test(format!("model/{name}"), run).with_ignored_flag(missing));
    }
    // Filters, and comparators of addresses, trap values and contexts.
    for (filters, of) in
        [(1, [0, 0, 0]), (1, [1, 0, 0]), (1, [1, 1, 1]), (3, [2, 1, 2]), (8, [8, 0, 0])]
    {
        let [comparators, tval_comparators, context_comparators] = of;
        let params = EncoderParams {
            filters,
            comparators,
            tval_comparators,
            context_comparators,
            causes: if comparators == 8 { 0 } else { 64 },
            ..EncoderParams::everything()
        };
        let run = move || bench::filters(&params);
        let name = format!("filters/{comparators}-{tval_comparators}-{context_comparators}");
        trials.push(Trial::test(name, run).with_ignored_flag(missing));
    }
    let seen = Trial::test("model/other-table-is-seen", bench::other_table_is_seen);
    trials.push(seen.with_ignored_flag(missing));
    trials.push(Trial::test("split", bench::split).with_ignored_flag(missing));
    for (data_bytes, id_width, addr_width) in [(4, 1, 12), (8, 5, 13)] {
        let of = AxiBridge { data_bytes, id_width, addr_width };
        let name = format!("bridge/{data_bytes}");
        trials.push(Trial::test(name, move || axi::bridge(of)).with_ignored_flag(missing));
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    trials.extend(hartrace_hdl_tools::lint::trials(folder, "corners", &lint::corners()));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
