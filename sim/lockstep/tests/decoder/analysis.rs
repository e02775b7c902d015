//! The analysis behind a decoder and a walker against software: every count, window and violation.

use fastrand::Rng;
use hartrace_decoder_hdl::analysis::Config;
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::decoder::analysis::{
    AnalysisBench, Block, Byte, Packets, Property, Settings, Step, find,
};
use libtest_mimic::{Failed, Trial};

/// Few entries with small counts, so that they are spilled all the time.
fn config() -> Config {
    Config {
        address_bits: 40,
        kinds: 7,
        lengths: 6,
        entries: 64,
        count_bits: 4,
        spills: 4,
        windows: 8,
        window_bits: 20,
        ..Config::default()
    }
}

/// A program of a few blocks.
struct Blocks {
    random: Rng,
    all: Vec<Block>,
    now: usize,
}

impl Blocks {
    fn new(count: u64, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let block = |i: u64, random: &mut Rng| {
            let start = 0x80_0000_1000 + 0x40 * i;
            Block {
                start,
                last: start + 2 * random.u64(..8),
                kind: random.u8(..7),
                ..Block::default()
            }
        };
        let all = (0..count).map(|i| block(i, &mut random)).collect();
        Self { random, all, now: 0 }
    }

    /// An instruction of any block.
    fn address(&mut self) -> u64 {
        let block = self.all[self.random.usize(..self.all.len())];
        self.random.u64(block.start / 2..=block.last / 2) * 2
    }

    fn step(&mut self, config: &Config, stalls: bool) -> Step {
        let random = &mut self.random;
        let block = (random.u8(..4) > 0).then(|| {
            let block = self.all[self.now];
            // One of three blocks after it.
            self.now = (self.now * 3 + random.usize(1..=3)) % self.all.len();
            let faulted = random.u8(..40) == 0;
            let next = (random.u8(..20) > 0).then_some(self.all[self.now].start);
            Block { taken: random.bool(), faulted, next, ..block }
        });
        let byte = |random: &mut Rng| Byte {
            ends: random.bool().then(|| random.u8(..config.kinds as u8)),
            error: random.u8(..50) == 0,
            sync: random.u8(..50) == 0,
        };
        let lane = |random: &mut Rng| (random.u8(..4) > 0).then(|| byte(random));
        let lanes = (0..config.lanes).map(|_| lane(random)).collect();
        let stall = stalls && random.u8(..4) > 0;
        Step { block, gap: random.u8(..100) == 0, packets: Packets { lanes }, stall }
    }
}

fn random(len: usize) -> Result<(), Failed> {
    let bench = AnalysisBench::new(&config(), &Options::default())?;
    let (mut violations, mut windows, mut lost, mut spills) = ([0; 4], 0, 0, 0);
    for seed in 0..12 {
        let mut blocks = Blocks::new([3, 20, 200][seed as usize % 3], seed);
        let (first, second) = (blocks.address(), blocks.address());
        let property = match seed % 4 {
            0 => Property::None,
            1 => Property::Before { first, second },
            2 => Property::Within { first, second, limit: blocks.random.u32(..60) },
            // One instruction may be both, and is then never too late.
            _ => Property::Within { first, second: first, limit: blocks.random.u32(..60) },
        };
        let settings = Settings { trigger: blocks.address(), property, ..bench.settings() };
        let stalls = seed >= 6;
        let mut steps: Vec<Step> = (0..len / 20).map(|_| blocks.step(&config(), stalls)).collect();
        // Nothing happens in the cycles after it.
        steps.push(Step { gap: true, ..Step::default() });
        let (found, mut wanted) = (bench.run(&steps, &settings)?, find(&steps, &settings));
        violations[seed as usize % 4] += wanted.violations;
        windows += wanted.windows.len();
        spills += found.spills;
        lost += found.lost;
        let count = |of: &std::collections::BTreeMap<_, u64>| of.values().sum::<u64>();
        if count(&found.findings.edges) + found.lost != count(&wanted.edges) {
            return Err(format!("seed {seed}: edges are missing, {} lost", found.lost).into());
        }
        if found.lost > 0 {
            if !stalls {
                return Err(format!("seed {seed}: {} edges lost for nothing", found.lost).into());
            }
            wanted.edges = found.findings.edges.clone();
        }
        if found.findings != wanted {
            return Err(format!("seed {seed}: {:?}\nnot {wanted:?}", found.findings).into());
        }
    }
    if violations[1..3].contains(&0) || windows < 50 || lost == 0 || spills < 1000 {
        let few = (violations, windows, lost, spills);
        return Err(format!("too little happens: {few:?}").into());
    }
    Ok(())
}

/// Edges of one kind until their count is full, again and again; and a window at each trigger.
fn directed() -> Result<(), Failed> {
    let bench = AnalysisBench::new(&config(), &Options::default())?;
    let block = |taken| Block {
        start: 0x1000,
        last: 0x1008,
        kind: 1,
        taken,
        faulted: false,
        next: Some(if taken { 0x1000 } else { 0x100a }),
    };
    let step = |taken| Step { block: Some(block(taken)), ..Step::default() };
    let mut steps: Vec<Step> = (0..100).map(|i| step(i % 7 != 6)).collect();
    steps.push(Step { gap: true, ..Step::default() });
    let settings = Settings { trigger: 0x1004, ..bench.settings() };
    let found = bench.run(&steps, &settings)?;
    let edges: Vec<_> = found.findings.edges.into_iter().collect();
    assert_eq!(edges, [((0x1008, 0x1000, 1), 86), ((0x1008, 0x100a, 1), 14)]);
    assert_eq!((found.lost, found.findings.triggers), (0, 100));
    // 99 outcomes before the last trigger, the newest one first: number 98 is taken, 97 is not.
    let last = found.findings.windows.last().cloned().unwrap_or_default();
    assert_eq!((last.len(), last[0], last[1], last[2]), (20, true, false, true));
    Ok(())
}

/// The trials of the analysis.
pub(crate) fn trials(len: usize, missing: bool) -> Vec<Trial> {
    let trials = [
        Trial::test("analysis_random", move || random(len)),
        Trial::test("analysis_directed", directed),
    ];
    trials.into_iter().map(|trial| trial.with_ignored_flag(missing)).collect()
}
