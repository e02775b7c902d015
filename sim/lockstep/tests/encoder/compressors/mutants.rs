//! The comparison can fail: RTL with one mistake in it is distinguished from RTL without.
//!
//! `HARTRACE_MUTANTS` sets the number of mistakes for each module.

use super::bench::{Bench, Difference};
use super::designs;
use super::stimuli::{self, Stimulus};
use crate::mutants::design;
use crate::mutate::{Mutant, mutate};
use hartrace_encoder_hdl::files;
use hartrace_hdl_tools::verilate::SimError;
use libtest_mimic::Failed;
use std::path::Path;

/// Random walks for each mistake.
const WALKS: u64 = 24;
/// Instructions of each program for each mistake.
const LIMIT: u64 = 4_000;

/// Mistakes that change no bit: module, place, replacement, and why it has no effect.
const HARMLESS: [(&str, &str, &str, &str); 1] = [(
    "te_bit_packer_80",
    "held_d",
    "~31'd0",
    "what is held behind a flush; that ends a trace of rSDC, and with it what is compared",
)];

pub(super) fn check(scheme: &str) -> Result<(), Failed> {
    let component = designs::component(scheme, 64)?;
    let mut files = files(&component);
    let count = crate::number("HARTRACE_MUTANTS", 20) as usize;
    let mutants = mutate(&mut files, count, crate::number("HARTRACE_SEED", 1));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants").join(scheme);
    let mut bench = Bench::new(design(component.name(), &folder, &mut files)?)?;
    let mut stimuli: Vec<Stimulus> =
        (0..WALKS).map(|seed| stimuli::walk(scheme, 64, seed)).collect::<Result<_, _>>()?;
    stimuli.extend(stimuli::straight(scheme, 64)?);
    for (_, xlen, stimulus) in stimuli::programs(scheme, LIMIT)? {
        stimuli.extend((xlen == 64).then_some(stimulus));
    }
    if let Some(why) = difference(&mut bench, 0, &stimuli)? {
        return Err(format!("without a mistake: {why}").into());
    }
    let mut survivors = Vec::new();
    for (number, Mutant { module, place, before, after }) in (1..).zip(&mutants) {
        let is = |(m, p, a, _): &(&str, &str, &str, &str)| (*m, *p, *a) == (module, place, after);
        if difference(&mut bench, number, &stimuli)?.is_none() && !HARMLESS.iter().any(is) {
            survivors.push(format!("{module}: {place}: {before}\n    -> {after}"));
        }
    }
    println!("{scheme}: {} mistakes, {} not seen", mutants.len(), survivors.len());
    match survivors.is_empty() {
        true => Ok(()),
        false => Err(format!("not seen:\n{}", survivors.join("\n")).into()),
    }
}

/// The difference that this mistake makes, if any.
fn difference(bench: &mut Bench, mutant: u64, on: &[Stimulus]) -> Result<Option<String>, Failed> {
    for (seed, stimulus) in (1..).zip(on) {
        match bench.compare_mutant(stimulus, seed, Some(mutant)) {
            Ok(_) => {}
            Err(Difference::Simulation(error)) if !matches!(error, SimError::Stopped { .. }) => {
                return Err(error.into());
            }
            Err(difference) => return Ok(Some(difference.to_string())),
        }
    }
    Ok(None)
}
