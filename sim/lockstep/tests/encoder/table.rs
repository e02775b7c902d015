//! Sums of the runs.

use hartrace_lockstep::{Coverage, Summary};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Sums over all trials.
#[derive(Clone, Default)]
pub(crate) struct Table(Arc<Mutex<Sums>>);

#[derive(Default)]
struct Sums {
    names: BTreeMap<String, u64>,
    payloads: u64,
    losses: u64,
    stalled: u64,
    cycles: u64,
    coverage: Coverage,
    bits: BTreeMap<String, (u64, [u64; 3])>,
}

impl Table {
    pub(crate) fn add(&self, name: &str, steps: u64, summary: &Summary) {
        let Ok(mut sums) = self.0.lock() else { return };
        *sums.names.entry(name.into()).or_default() += steps;
        sums.payloads += summary.payloads;
        sums.losses += summary.losses;
        sums.stalled += summary.stalled;
        sums.cycles += summary.cycles;
        sums.coverage.add(&summary.coverage);
    }

    /// Records the bytes without a mode, with all modes, and without a mode in the dialect of
    /// rv_tracer.
    pub(crate) fn bits(&self, name: &str, instructions: u64, bytes: [u64; 3]) {
        if let Ok(mut sums) = self.0.lock() {
            sums.bits.insert(name.into(), (instructions, bytes));
        }
    }

    pub(crate) fn print(&self) {
        let Ok(sums) = self.0.lock() else { return };
        if sums.payloads == 0 {
            return;
        }
        println!(
            "{} runs of encoders, {} instructions and traps, {} payloads in {} cycles, all equal; \
             {} losses, {} cycles stalled",
            sums.names.len(),
            sums.names.values().sum::<u64>(),
            sums.payloads,
            sums.cycles,
            sums.losses,
            sums.stalled
        );
        if !sums.bits.is_empty() {
            println!("\nbits/instruction          instructions  no mode  all modes  by bytes");
            for (name, (instructions, bytes)) in &sums.bits {
                let per = |bytes: u64| bytes as f64 * 8.0 / (*instructions).max(1) as f64;
                let [plain, all, dialect] = bytes.map(per);
                println!("{name:24}  {instructions:12}  {plain:7.3}  {all:9.3}  {dialect:8.3}");
            }
        }
        println!("\nsituations, and how often they occurred:");
        for (point, count) in sums.coverage.iter() {
            println!("{:22} {count:10}  {point}", point.module());
        }
    }
}
