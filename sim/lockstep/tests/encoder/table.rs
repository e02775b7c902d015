//! Coverage of the runs.

use hartrace_golden::encoder::Reason;
use hartrace_lockstep::{Covered, Summary};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Sums over all trials.
#[derive(Clone, Default)]
pub(crate) struct Table(Arc<Mutex<Sums>>);

#[derive(Default)]
struct Sums {
    names: BTreeSet<String>,
    steps: u64,
    payloads: u64,
    bytes: u64,
    losses: u64,
    stalled: u64,
    cycles: u64,
    covered: BTreeMap<(u8, Covered), u64>,
    bits: BTreeMap<String, (u64, [u64; 3])>,
}

/// Reasons that no hardware encoder can have: closing packets of the reference models, and a count of
/// 2^32 branches, which takes too long to reach.
const IMPOSSIBLE: [Reason; 2] = [Reason::Closing, Reason::CountFull];

impl Table {
    pub(crate) fn add(&self, name: &str, lanes: u8, steps: u64, summary: &Summary) {
        let Ok(mut sums) = self.0.lock() else { return };
        sums.names.insert(name.into());
        sums.steps += steps;
        sums.payloads += summary.payloads;
        sums.bytes += summary.bytes;
        sums.losses += summary.losses;
        sums.stalled += summary.stalled;
        sums.cycles += summary.cycles;
        for (covered, count) in &summary.covered {
            *sums.covered.entry((lanes, *covered)).or_default() += count;
        }
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
            sums.steps,
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
        sums.coverage();
    }
}

/// Payloads for each number of lanes and of branches.
type Counts<'a> = BTreeMap<(u8, &'a str), u64>;

impl Sums {
    /// Prints payloads by format and reason, for each number of branches and lanes.
    fn coverage(&self) {
        let mut rows: BTreeMap<(&str, Reason), Counts<'_>> = BTreeMap::new();
        for ((lanes, covered), count) in &self.covered {
            let row = rows.entry((covered.format, covered.reason)).or_default();
            *row.entry((*lanes, covered.branches)).or_default() += count;
        }
        println!("\nformat reason                branches 0, 1, 2-29, 30, 31, counted; lanes seen");
        for ((format, reason), row) in &rows {
            let by = |class: &str| -> u64 {
                row.iter().filter(|((_, b), _)| *b == class).map(|(_, n)| n).sum()
            };
            let counts = Covered::BRANCHES.map(|class| format!("{:>8}", by(class))).join("");
            let lanes: BTreeSet<u8> = row.keys().map(|(lanes, _)| *lanes).collect();
            println!("{format:6} {:20} {counts}  {lanes:?}", format!("{reason:?}"));
        }
        let seen: BTreeSet<Reason> = rows.keys().map(|(_, reason)| *reason).collect();
        let holes = Reason::ALL.iter().filter(|r| !seen.contains(r) && !IMPOSSIBLE.contains(r));
        println!("reasons without a payload: {:?}", holes.collect::<Vec<_>>());
    }
}
