//! The lock step can fail: RTL with one mistake in it is distinguished from RTL without.
//!
//! `HARTRACE_MUTANTS` sets the number of mistakes for each module.

use crate::bundled::{bundled, itype_width};
use crate::mutate::{Mutant, mutate};
use crate::random;
use hartrace_encoder_hdl::{Config, sources};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::Retired;
use hartrace_golden::walk::{Shape, generate};
use hartrace_hdl_tools::verilate::{Design, Options, SimError};
use hartrace_lockstep::{Bench, Mismatch, Setting, Traffic};
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::Path;

const PACKAGE: &str = "package hartrace_mutant;\n  logic [15:0] chosen;\nendpackage\n";

/// Number of random walks through the encoder, for each mistake.
const WALKS: u64 = 40;
/// Number of additional walks that are mostly loops.
const LOOPS: u64 = 12;

/// Mistakes that change no payload: configuration (empty for any), module, place, replacement, and why it has
/// no effect.
const HARMLESS: [(&str, &str, &str, &str, &str); 10] = [
    (
        "",
        "te_ingress",
        "shared",
        "early_valid_q | works",
        "without anything new, the registers before still hold what was shared last",
    ),
    (
        "",
        "te_resync_counter",
        "far_d",
        "!(on & (|(later[19:4] | reach)))",
        "it is never far, so that nothing is looked up ahead: payloads are the same, but take longer",
    ),
    (
        "",
        "fifo_328x16",
        "full_o",
        "usage_q == 5'd17",
        "room is counted before the queue, so that it is never asked whether it is full",
    ),
    (
        "",
        "fifo_338x16",
        "full_o",
        "usage_q == 5'd17",
        "room is counted before the queue, so that it is never asked whether it is full",
    ),
    (
        "",
        "te_group_queue",
        "ahead_sure_o",
        "!ahead_word_q[26] & !(|(ahead_word_q[1:0] | ~ahead_word_q[5:4]))",
        "a branch is looked up when it is described instead: slower, and the same",
    ),
    (
        "",
        "te_ingress",
        "early_works_1_d",
        "retires_1 & trap_1",
        "lanes are used from the first on: if the second has a block, so has the first, which counts too",
    ),
    (
        "",
        "te_core",
        "if",
        "enters | rows",
        "cycles are counted up to a synchronisation, and one follows every mark and every loss",
    ),
    (
        "",
        "te_core",
        "if",
        "enters | starts",
        "tracing starts with an empty queue, which a start enters; all else enters while tracing",
    ),
    (
        "",
        "te_resync_counter",
        "near_d",
        "on & (|(soon[19:4] | reach))",
        "one step at a time where more could be done with: slower, and the same",
    ),
    (
        "",
        "te_core",
        "halt_seen_d",
        "(halt_seen_q | (breaks | enters)) & halts",
        "matters where the hart is halted in a cycle without a block while the queue is full; here it is \
         halted with its last block",
    ),
];

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let trial = |name: &'static str| {
        Trial::test(format!("mutants/{name}"), move || check(name)).with_ignored_flag(missing)
    };
    vec![trial("small"), trial("full")]
}

/// The input of the encoder.
struct Stimulus {
    rows: Vec<Retired>,
    setting: Setting,
    traffic: Traffic,
}

fn check(name: &str) -> Result<(), Failed> {
    let config = Config::named(name).ok_or("no configuration")?;
    let mut files = sources(&config)?;
    let count = crate::number("HARTRACE_MUTANTS", 2) as usize;
    let mutants = mutate(&mut files, count, crate::number("HARTRACE_SEED", 1));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants").join(name);
    let mut bench = Bench::of(&config, design(&folder, &mut files)?, &Options::default())?;
    let stimuli = stimuli(&config)?;
    if let Some(why) = difference(&mut bench, 0, &stimuli)? {
        return Err(format!("without a mistake: {why}").into());
    }
    let mut survivors = Vec::new();
    for (number, mutant) in (1..).zip(&mutants) {
        let Mutant { module, place, before, after } = mutant;
        let harmless = HARMLESS.iter().any(|(config, m, p, a, _)| {
            (config.is_empty() || *config == name) && (*m, *p, *a) == (module, place, after)
        });
        match difference(&mut bench, number, &stimuli)? {
            Some(_) if harmless => {
                return Err(format!("{module}: {place}: {after} is not harmless").into());
            }
            Some(_) => {}
            None if harmless => {}
            None => survivors.push(format!("{module}: {place}: {before}\n    -> {after}")),
        }
    }
    println!("{name}: {} mistakes, {} not seen", mutants.len(), survivors.len());
    match survivors.is_empty() {
        true => Ok(()),
        false => Err(format!("not seen:\n{}", survivors.join("\n")).into()),
    }
}

/// The RTL with an input that selects the mistake.
fn design(folder: &Path, files: &mut [(String, String)]) -> Result<Design, Failed> {
    let top = files.iter_mut().find(|(name, _)| name == "te_core.sv").ok_or("no te_core")?;
    let header = "module te_core (\n";
    top.1 = top.1.replacen(header, &format!("{header}    input  logic [15:0] mutant_i,\n"), 1);
    let body = ");\n  always_comb hartrace_mutant::chosen = mutant_i;\n";
    top.1 = top.1.replacen(");\n", body, 1);
    fs::create_dir_all(folder)?;
    let mut paths = vec![folder.join("hartrace_mutant.sv")];
    fs::write(&paths[0], PACKAGE)?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text)?;
        paths.push(path);
    }
    let design = Design::files("te_core", paths).clock("clk_i").reset("rst_ni", false);
    // The comparison has to detect it, not an assertion or a warning.
    Ok(design.argument("--noassert").argument("-Wno-fatal"))
}

/// Random walks, and programs with predicted loops and deeply nested calls.
fn stimuli(config: &Config) -> Result<Vec<Stimulus>, Failed> {
    let mut rng = fastrand::Rng::with_seed(0x5eed);
    let mut stimuli = Vec::new();
    for seed in 0..WALKS {
        let mut setting = random::setting(&mut rng, config);
        let shape = random::shape(&mut rng, config, seed, 1500);
        let half_words = (1 << config.iretire_width_p) - 1;
        let walk = generate(seed, &shape);
        let rows = walk.blocks_within(rng.u64(..), config.lanes.into(), half_words);
        setting.ranges = random::ranges(&mut rng, config, &rows);
        stimuli.push(Stimulus { rows, setting, traffic: random::traffic(&mut rng) });
    }
    // Few packets from one synchronisation to the next, and groups of which the first step needs the last of them.
    let rows = bundled("sort", 20_000, config, config.lanes.into())?.rows;
    let setting = Setting { resync: (1, 0), ..Setting::default() };
    stimuli.push(Stimulus { rows, setting, traffic: Traffic::default() });
    // The others are slow, because a loss also synchronises: remembered state would be cleared.
    let mut slowly = |rows, max| {
        let options = Ioptions {
            branch_prediction: config.etrace.bpred_size_p > 0,
            implicit_return: config.etrace.irdepth_bits() > 0,
            full_address: false,
            ..random::setting(&mut rng, config).options
        };
        // Cycles advance in any program.
        let setting = Setting { options, resync: (2, max), ..Setting::default() };
        let traffic = Traffic { idle: 850, seed: rng.u64(..), ..Traffic::default() };
        stimuli.push(Stimulus { rows, setting, traffic });
    };
    for (name, max) in [("calls", 4), ("crypto", 6), ("sort", 7), ("interrupts", 6)] {
        slowly(bundled(name, 12_000, config, config.lanes.into())?.rows, max);
    }
    // Long loops, with reports and synchronisations at any place in them.
    for seed in 0..LOOPS {
        let shape = Shape {
            steps: 6000,
            functions: 24,
            branches: 900,
            calls: 0,
            indirect: 20,
            notifies: if config.triggers { 5 } else { 0 },
            itype_width: itype_width(config),
            ..Shape::default().without_traps()
        };
        let half_words = (1 << config.iretire_width_p) - 1;
        let walk = generate(seed, &shape);
        let max = [11, 6][seed as usize % 2];
        slowly(walk.blocks_within(seed, config.lanes.into(), half_words), max);
    }
    Ok(stimuli)
}

/// The difference between the RTL with this mistake and the golden encoder, if any.
fn difference(bench: &mut Bench, mutant: u64, on: &[Stimulus]) -> Result<Option<String>, Failed> {
    for (seed, Stimulus { rows, setting, traffic }) in (1..).zip(on) {
        bench.restart(seed)?;
        let simulation = bench.simulation();
        let chosen = simulation.input("mutant_i")?;
        simulation.set(chosen, mutant);
        match bench.run(rows, setting, *traffic) {
            Ok(_) => {}
            Err(
                error @ (Mismatch::Payload { .. }
                | Mismatch::Unexpected { .. }
                | Mismatch::Empty { .. }
                | Mismatch::Stuck { .. }
                | Mismatch::Simulation(SimError::Stopped { .. })),
            ) => return Ok(Some(error.to_string())),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
