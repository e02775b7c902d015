//! The lock step can fail: RTL with one mistake in it is distinguished from RTL without.
//!
//! `HARTRACE_MUTANTS` sets the number of mistakes for each module, and has every named configuration tried.

use crate::document::{self, Mistakes};
use crate::harmless::HARMLESS;
use crate::mutate::{Mutant, mutate};
use crate::stimulus::{self, Stimulus};
use hartrace_encoder_hdl::{Config, sources};
use hartrace_hdl_tools::verilate::{Design, Options, SimError};
use hartrace_lockstep::{Bench, Mismatch};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const PACKAGE: &str = "package hartrace_mutant;\n  logic [15:0] chosen;\nendpackage\n";

/// Number of random walks through the encoder, for each mistake.
const WALKS: u64 = 40;

/// The configurations that are tried in every run of the tests.
const SAMPLE: [&str; 2] = ["small", "full"];

/// Mistakes for each module that the document has.
pub(crate) const FULL: usize = 12;

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let all = std::env::var_os("HARTRACE_MUTANTS").is_some();
    let trial = |(name, _): (String, Config)| {
        let ignored = missing || !(all || SAMPLE.contains(&name.as_str()));
        Trial::test(format!("mutants/{name}"), move || check(&name)).with_ignored_flag(ignored)
    };
    Config::all_named().into_iter().map(trial).collect()
}

/// The mistakes of each module.
pub(crate) fn tried(config: &Config, count: usize) -> Result<BTreeMap<String, Mistakes>, Failed> {
    let mut files = sources(config)?;
    let modules: Vec<_> =
        files.iter().map(|(name, _)| name.trim_end_matches(".sv").into()).collect();
    let mutants = mutate(&mut files, count, crate::number("HARTRACE_SEED", 1));
    let of = |module: String| {
        let mut crc = crc32fast::Hasher::new();
        let mut mistakes = Mistakes::default();
        for mutant in mutants.iter().filter(|mutant| mutant.module == module) {
            crc.update(format!("{} {}\n", mutant.place, mutant.after).as_bytes());
            mistakes.tried += 1;
        }
        (module, Mistakes { crc: crc.finalize(), ..mistakes })
    };
    Ok(modules.into_iter().map(of).collect())
}

fn check(name: &str) -> Result<(), Failed> {
    let config = Config::named(name).ok_or("no configuration")?;
    let count = crate::number("HARTRACE_MUTANTS", 2) as usize;
    let mut mistakes = tried(&config, count)?;
    let mut files = sources(&config)?;
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
        let harmless = HARMLESS.iter().any(|harmless| harmless.is(name, module, place, after));
        let seen = difference(&mut bench, number, &stimuli)?.is_some();
        if let Some(mistakes) = mistakes.get_mut(module) {
            mistakes.seen += usize::from(seen);
        }
        match (seen, harmless) {
            (true, true) => wrong.push(format!("{module}: {place}: {after} is seen")),
            (false, false) => {
                wrong.push(format!("{module}: {place}: {before}\n    -> {after} is not seen"));
            }
            _ => {}
        }
    }
    println!("{name}: {} mistakes, {} not as expected", mutants.len(), wrong.len());
    if !wrong.is_empty() {
        return Err(wrong.join("\n").into());
    }
    document::keep_mutants(name, count, mistakes)
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
        if let Some(why) = noticed(stimulus.run(bench))? {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

/// What a run shows to be wrong with the RTL. Other errors say nothing about it.
pub(crate) fn noticed<T>(run: Result<T, Mismatch>) -> Result<Option<String>, Failed> {
    match run {
        Ok(_) => Ok(None),
        Err(
            error @ (Mismatch::Payload { .. }
            | Mismatch::Unexpected { .. }
            | Mismatch::Empty { .. }
            | Mismatch::Stuck { .. }
            | Mismatch::Simulation(SimError::Failed { .. } | SimError::Stopped { .. })),
        ) => Ok(Some(error.to_string())),
        Err(error) => Err(error.into()),
    }
}
