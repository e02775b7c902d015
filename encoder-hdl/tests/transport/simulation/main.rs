//! The blocks in Verilator against models in Rust: random packets, stalls of 0 to 95 % on either side.

#[path = "../support/mod.rs"]
mod support;

mod aligning;
mod buffers;
mod bus;
mod chain;
mod framing;
mod nulls;
mod packing;
mod ports;
mod ring;
mod streams;

use hartrace_hdl_tools::verilate::available;
use libtest_mimic::Arguments;

fn main() {
    let args = Arguments::from_args();
    let trials = [
        aligning::trials(),
        buffers::trials(),
        framing::trials(),
        packing::trials(),
        ports::trials(),
        ring::trials(),
    ];
    let trials = trials.into_iter().flatten();
    let trials = trials.map(|trial| trial.with_ignored_flag(!available())).collect();
    libtest_mimic::run(&args, trials).exit();
}
