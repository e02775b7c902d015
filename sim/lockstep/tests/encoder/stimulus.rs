//! Inputs of an encoder that lead into situations which random walks reach rarely or never.

use crate::bundled::{bundled, itype_width};
use crate::{crafted, number, random};
use hartrace_encoder_hdl::{Config, ResyncUnit};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::Retired;
use hartrace_golden::walk::{Shape, Xlen, generate};
use hartrace_lockstep::{Bench, FilterRequest, Mismatch, Seen, Setting, Summary, Traffic};
use libtest_mimic::Failed;

/// The input of an encoder.
pub(crate) struct Stimulus {
    pub(crate) rows: Vec<Retired>,
    pub(crate) setting: Setting,
    pub(crate) traffic: Traffic,
    /// The hart is halted in a cycle after that of its last block.
    pub(crate) late: bool,
}

impl Stimulus {
    /// Sends it through both encoders.
    pub(crate) fn run(&self, bench: &mut Bench) -> Result<Summary, Mismatch> {
        let mut nobody = |_: Seen<'_>| {};
        let session = bench.start(&self.setting, self.traffic, &mut nobody)?;
        let mut session = session.halting_late(self.late);
        session.push(&self.rows)?;
        session.finish()
    }
}

/// Walks that are mostly loops, of each kind.
const LOOPS: u64 = 12;

/// A random walk of so many steps, with random modes, filters and traffic.
pub(crate) fn walk(rng: &mut fastrand::Rng, config: &Config, seed: u64, steps: usize) -> Stimulus {
    let mut setting = random::setting(rng, config);
    let shape = random::shape(rng, config, seed, steps);
    let walk = generate(seed, &shape);
    let rows = walk.blocks_within(rng.u64(..), config.lanes.into(), half_words(config));
    random::filters(rng, config, &rows, &mut setting.filters);
    Stimulus { rows, setting, traffic: random::traffic(rng), late: seed % 3 == 1 }
}

/// Programs and directed walks.
pub(crate) fn directed(config: &Config) -> Result<Vec<Stimulus>, Failed> {
    let mut rng = fastrand::Rng::with_seed(number("HARTRACE_SEED", 1));
    let mut stimuli = programs(config, &mut rng)?;
    for seed in 0..LOOPS {
        stimuli.push(loops(config, &mut rng, seed));
        stimuli.push(interrupted_loops(config, &mut rng, seed));
        stimuli.push(jumps(config, &mut rng, seed));
        stimuli.push(returns(config, &mut rng, seed));
        stimuli.push(levels(config, &mut rng, seed));
    }
    for full_address in [false, true] {
        stimuli.extend((0..LOOPS).map(|seed| distances(config, &mut rng, seed, full_address)));
    }
    stimuli.extend(crafted(config, &mut rng, None));
    if config.lanes > 1 {
        stimuli.extend(crafted(config, &mut rng, Some(0)));
        stimuli.extend(crafted(config, &mut rng, Some(1)));
    }
    stimuli.extend((0..LOOPS).map(|seed| halts(config, &mut rng, seed)));
    if config.filter_excint_p || config.context_comparators + config.tval_comparators > 0 {
        stimuli.extend((0..LOOPS).map(|seed| handlers(config, &mut rng, seed)));
    }
    Ok(stimuli)
}

/// Rows put together by hand, with every mode that has a table, and with none; in pairs from a row on.
fn crafted(config: &Config, rng: &mut fastrand::Rng, pairs: Option<usize>) -> Vec<Stimulus> {
    let tables =
        Ioptions { jump_target_cache: config.etrace.cache_size_p > 0, ..remembering(config, rng) };
    let cache = Ioptions { jump_target_cache: tables.jump_target_cache, ..Ioptions::default() };
    let mut all = vec![(crafted::trap_values(), Ioptions::default())];
    all.push((crafted::branch_maps(), cache));
    if config.itype_width_p == 4 {
        let numbers = [29, 30, 31, 45].into_iter();
        all.extend(numbers.map(|number| (crafted::after_branches(number), tables)));
    }
    let stimulus = |rows: Vec<Retired>, options, traffic| {
        let rows = pairs.map_or(rows.clone(), |from| crafted::paired(&rows, from));
        let setting = Setting { options, ..Setting::default() };
        Stimulus { rows, setting, traffic, late: false }
    };
    let mut stimuli = Vec::new();
    for idle in [0, 300, 600] {
        let traffic = Traffic { idle, ..slowly(rng) };
        stimuli.push(stimulus(crafted::mispredicted(), tables, traffic));
    }
    stimuli.extend(all.into_iter().map(|(rows, options)| stimulus(rows, options, slowly(rng))));
    stimuli
}

/// A hart that is halted while the queue is full.
pub(crate) fn halts(config: &Config, rng: &mut fastrand::Rng, seed: u64) -> Stimulus {
    let shape = Shape { steps: 2000, halts: 30, resets: 10, ..Shape::default() };
    let traffic = Traffic { back_pressure: 900, idle: 0, ..slowly(rng) };
    let modes = (random::setting(rng, config).options, resync(config, seed as usize, 2));
    Stimulus { late: true, ..shaped(config, seed, shape, modes, traffic) }
}

fn half_words(config: &Config) -> u32 {
    (1 << config.iretire_width_p) - 1
}

fn rv64(config: &Config) -> bool {
    config.etrace.iaddress_width_p > 32
}

/// Nothing is lost on the way: a loss also synchronises, so that remembered state would be cleared.
fn slowly(rng: &mut fastrand::Rng) -> Traffic {
    Traffic { idle: 850, seed: rng.u64(..), ..Traffic::default() }
}

/// Modes in which tables are used.
fn remembering(config: &Config, rng: &mut fastrand::Rng) -> Ioptions {
    Ioptions {
        branch_prediction: config.etrace.bpred_size_p > 0,
        implicit_return: config.etrace.irdepth_bits() > 0,
        full_address: false,
        ..random::setting(rng, config).options
    }
}

/// The period of synchronisations in a unit of the configuration, or in none.
fn resync(config: &Config, unit: usize, max: u8) -> (u8, u8) {
    let mode = match config.resync.get(unit % config.resync.len().max(1)) {
        Some(ResyncUnit::Packets) => 1,
        Some(ResyncUnit::Cycles) => 2,
        Some(ResyncUnit::HalfWords) => 3,
        None => 0,
    };
    (mode, max)
}

/// Programs with few packets between synchronisations, with predicted loops, and with deeply nested calls.
fn programs(config: &Config, rng: &mut fastrand::Rng) -> Result<Vec<Stimulus>, Failed> {
    let all: &[(&str, u8)] = match rv64(config) {
        true => &[("calls", 4), ("crypto", 6), ("sort", 7), ("interrupts", 6)],
        false => &[("interrupts-rv32", 6)],
    };
    let mut stimuli = Vec::new();
    for (name, max) in all {
        let rows = bundled(name, 12_000, config, config.lanes.into())?.rows;
        let options = remembering(config, rng);
        let setting = Setting { options, resync: resync(config, 1, *max), ..Setting::default() };
        stimuli.push(Stimulus { rows, setting, traffic: slowly(rng), late: false });
    }
    // Groups of which the first step needs the last packet before a synchronisation.
    let (name, _) = all[all.len().saturating_sub(2)];
    let rows = bundled(name, 20_000, config, config.lanes.into())?.rows;
    let setting = Setting { resync: resync(config, 0, 0), ..Setting::default() };
    stimuli.push(Stimulus { rows, setting, traffic: Traffic::default(), late: false });
    Ok(stimuli)
}

/// A walk of a shape, with these modes and synchronisations.
fn shaped(
    config: &Config,
    seed: u64,
    shape: Shape,
    (options, resync): (Ioptions, (u8, u8)),
    traffic: Traffic,
) -> Stimulus {
    let shape = Shape {
        xlen: if rv64(config) { Xlen::Rv64 } else { Xlen::Rv32 },
        address_bits: config.etrace.iaddress_width_p,
        compressed: config.etrace.iaddress_lsb_p < 2,
        itype_width: itype_width(config),
        notifies: if config.triggers { shape.notifies } else { 0 },
        ..shape
    };
    let rows = generate(seed, &shape).blocks_within(seed, config.lanes.into(), half_words(config));
    let setting = Setting { options, resync, ..Setting::default() };
    Stimulus { rows, setting, traffic, late: seed % 2 == 1 }
}

/// Long loops, with reports and synchronisations at any place in them.
fn loops(config: &Config, rng: &mut fastrand::Rng, seed: u64) -> Stimulus {
    let shape = Shape {
        steps: 6000,
        functions: 24,
        branches: 900,
        calls: 0,
        indirect: 20,
        notifies: 5,
        ..Shape::default().without_traps()
    };
    let max = [11, 6][seed as usize % 2];
    let modes = (remembering(config, rng), resync(config, seed as usize, max));
    shaped(config, seed, shape, modes, slowly(rng))
}

/// Long loops with calls, which traps, halts and returns to other places leave.
fn interrupted_loops(config: &Config, rng: &mut fastrand::Rng, seed: u64) -> Stimulus {
    let shape = Shape {
        steps: 8000,
        functions: 16,
        branches: 800,
        loop_limit: 400,
        calls: 150,
        leaf_runs: 100,
        indirect: 20,
        mismatched_returns: 100,
        exceptions: 2,
        interrupts: 2,
        environment_calls: 20,
        halts: 2,
        resets: 1,
        notifies: 3,
        user: true,
        supervisor: true,
        ..Shape::default()
    };
    let modes =
        (remembering(config, rng), resync(config, seed as usize, [7, 3][seed as usize % 2]));
    shaped(config, seed, shape, modes, slowly(rng))
}

/// Jumps to many targets, again and again, after a few branches or many.
fn jumps(config: &Config, rng: &mut fastrand::Rng, seed: u64) -> Stimulus {
    let shape = Shape {
        steps: 6000,
        functions: 48,
        density: 4,
        branches: [100, 400, 900][seed as usize % 3],
        loop_limit: [4, 12, 40][seed as usize % 3],
        calls: 300,
        indirect: 500,
        tail_calls: 300,
        // Nearby targets are as short as an index.
        bases: vec![0x1000, 0x8000_0000, 0x40_0000],
        ..Shape::default().without_traps()
    };
    let options = Ioptions {
        jump_target_cache: config.etrace.cache_size_p > 0,
        implicit_return: config.etrace.irdepth_bits() > 0 && seed % 2 == 1,
        ..Ioptions::default()
    };
    let resync = if seed % 4 == 3 { resync(config, 0, 0) } else { (0, 0) };
    shaped(config, seed, shape, (options, resync), slowly(rng))
}

/// Calls that nest as deep as the stack and deeper, and returns to other places.
fn returns(config: &Config, rng: &mut fastrand::Rng, seed: u64) -> Stimulus {
    let shape = Shape {
        steps: 6000,
        functions: 12,
        branches: [300, 50][seed as usize % 2],
        calls: 600,
        recursion: 600,
        max_depth: 24,
        leaf_runs: 300,
        mismatched_returns: 150,
        swaps: 100,
        environment_calls: 100,
        user: true,
        reschedules: 300,
        ..Shape::default()
    };
    let options = Ioptions {
        jump_target_cache: config.etrace.cache_size_p > 0 && seed.is_multiple_of(3),
        ..remembering(config, rng)
    };
    shaped(config, seed, shape, (options, resync(config, seed as usize, 5)), slowly(rng))
}

/// Changes of privilege, of which one level is traced, or all.
pub(crate) fn levels(config: &Config, rng: &mut fastrand::Rng, seed: u64) -> Stimulus {
    let shape = Shape {
        steps: 3000,
        branches: 200,
        environment_calls: 400,
        exceptions: 20,
        nested_traps: 200,
        user: true,
        supervisor: true,
        ..Shape::default()
    };
    let modes = (random::setting(rng, config).options, resync(config, seed as usize, 2));
    let mut stimulus = shaped(config, seed, shape, modes, slowly(rng));
    if seed % 2 == 1 {
        let privileges = vec![[0, 1, 3][seed as usize % 3]];
        stimulus.setting.filters = vec![FilterRequest { privileges, ..FilterRequest::default() }];
    }
    stimulus
}

/// Traps within traps, interrupts, changes of the context and resets, with filters that ask for some of them.
pub(crate) fn handlers(config: &Config, rng: &mut fastrand::Rng, seed: u64) -> Stimulus {
    let context = config.etrace.context_bits() as u8;
    let shape = Shape {
        steps: 3000,
        branches: 200,
        environment_calls: 200,
        exceptions: 40,
        interrupts: 40,
        nested_traps: 300,
        max_trap_depth: [2, 5, 10][seed as usize % 3],
        context_changes: if context > 0 { 30 } else { 0 },
        context_bits: context.min(3),
        resets: 2,
        user: true,
        supervisor: true,
        ..Shape::default()
    };
    let modes = (random::setting(rng, config).options, resync(config, seed as usize, 2));
    // With losses in every fourth.
    let traffic = if seed % 4 == 3 { random::traffic(rng) } else { slowly(rng) };
    let mut stimulus = shaped(config, seed, shape, modes, traffic);
    random::filters(rng, config, &stimulus.rows, &mut stimulus.setting.filters);
    stimulus
}

/// Jumps between segments whose distances need every number of bytes.
fn distances(config: &Config, rng: &mut fastrand::Rng, seed: u64, full_address: bool) -> Stimulus {
    // Any address of so many bytes, or one with long runs of equal bits.
    let far = (0..8).map(|byte| 0x40u64 << (8 * byte));
    let far = far.map(|far| if seed % 4 < 2 { far | rng.u64(..far) } else { far });
    let far: Vec<u64> = far.collect();
    let shape = Shape {
        steps: 3000,
        functions: 24,
        density: 2,
        bases: far.into_iter().chain([0xffff_ffff_8000_0000]).collect(),
        branches: 200,
        calls: 400,
        indirect: 400,
        tail_calls: 400,
        absolute: 100,
        ..Shape::default().without_traps()
    };
    let full_address = full_address && config.full_address;
    let options = Ioptions { full_address, ..Ioptions::default() };
    // One step a cycle, and as many as there are.
    let traffic =
        if seed.is_multiple_of(2) { slowly(rng) } else { Traffic { idle: 300, ..slowly(rng) } };
    shaped(config, seed, shape, (options, resync(config, 0, 4)), traffic)
}
