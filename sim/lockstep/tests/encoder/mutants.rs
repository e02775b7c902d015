//! The lock step can fail: RTL with one mistake in it is distinguished from RTL without.
//!
//! `HARTRACE_MUTANTS` sets the number of mistakes for each module, and has every named configuration tried.

use crate::mutate::{Mutant, mutate};
use crate::stimulus::{self, Stimulus};
use hartrace_encoder_hdl::{Config, sources};
use hartrace_hdl_tools::verilate::{Design, Options, SimError};
use hartrace_lockstep::{Bench, Mismatch};
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::Path;

const PACKAGE: &str = "package hartrace_mutant;\n  logic [15:0] chosen;\nendpackage\n";

/// Number of random walks through the encoder, for each mistake.
const WALKS: u64 = 40;

/// The configurations that are tried in every run of the tests.
const SAMPLE: [&str; 2] = ["small", "full"];

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
        "te_resync_counter",
        "last_d",
        "on & (|(with_one[19:4] | reach))",
        "one step at a time where more could be done with: slower, and the same",
    ),
];

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let all = std::env::var_os("HARTRACE_MUTANTS").is_some();
    let trial = |(name, _): (String, Config)| {
        let ignored = missing || !(all || SAMPLE.contains(&name.as_str()));
        Trial::test(format!("mutants/{name}"), move || check(&name)).with_ignored_flag(ignored)
    };
    Config::all_named().into_iter().map(trial).collect()
}

fn check(name: &str) -> Result<(), Failed> {
    let config = Config::named(name).ok_or("no configuration")?;
    let mut files = sources(&config)?;
    let count = crate::number("HARTRACE_MUTANTS", 2) as usize;
    let mutants = mutate(&mut files, count, crate::number("HARTRACE_SEED", 1));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants").join(name);
    let mut bench =
        Bench::of(&config, design("te_core", &folder, &mut files)?, &Options::default())?;
    let stimuli = stimuli(&config)?;
    if let Some(why) = difference(&mut bench, 0, &stimuli)? {
        return Err(format!("without a mistake: {why}").into());
    }
    let mut wrong = Vec::new();
    for (number, mutant) in (1..).zip(&mutants) {
        let Mutant { module, place, before, after } = mutant;
        let harmless = HARMLESS.iter().any(|(config, m, p, a, _)| {
            (config.is_empty() || *config == name) && (*m, *p, *a) == (module, place, after)
        });
        match difference(&mut bench, number, &stimuli)? {
            Some(_) if harmless => wrong.push(format!("{module}: {place}: {after} is seen")),
            None if !harmless => {
                wrong.push(format!("{module}: {place}: {before}\n    -> {after} is not seen"));
            }
            _ => {}
        }
    }
    println!("{name}: {} mistakes, {} not as expected", mutants.len(), wrong.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The RTL with an input that selects the mistake.
pub(crate) fn design(
    top: &str,
    folder: &Path,
    files: &mut [(String, String)],
) -> Result<Design, Failed> {
    let file = format!("{top}.sv");
    let (_, text) = files.iter_mut().find(|(name, _)| *name == file).ok_or("no such module")?;
    let header = format!("module {top} (\n");
    *text = text.replacen(&header, &format!("{header}    input  logic [15:0] mutant_i,\n"), 1);
    let body = ");\n  always_comb hartrace_mutant::chosen = mutant_i;\n";
    *text = text.replacen(");\n", body, 1);
    fs::create_dir_all(folder)?;
    let mut paths = vec![folder.join("hartrace_mutant.sv")];
    fs::write(&paths[0], PACKAGE)?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text)?;
        paths.push(path);
    }
    let design = Design::files(top, paths).clock("clk_i").reset("rst_ni", false);
    // The comparison has to detect it, not an assertion or a warning.
    Ok(design.argument("--noassert").argument("-Wno-fatal"))
}

/// Random walks, and what leads into rare situations.
fn stimuli(config: &Config) -> Result<Vec<Stimulus>, Failed> {
    let mut rng = fastrand::Rng::with_seed(0x5eed);
    let walks = (0..WALKS).map(|seed| stimulus::walk(&mut rng, config, seed, 1500));
    let walks: Vec<_> = walks.collect();
    Ok(walks.into_iter().chain(stimulus::directed(config)?).collect())
}

/// The difference between the RTL with this mistake and the golden encoder, if any.
fn difference(bench: &mut Bench, mutant: u64, on: &[Stimulus]) -> Result<Option<String>, Failed> {
    for (seed, stimulus) in (1..).zip(on) {
        bench.restart(seed)?;
        let simulation = bench.simulation();
        let chosen = simulation.input("mutant_i")?;
        simulation.set(chosen, mutant);
        match stimulus.run(bench) {
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
