//! The RTL itself says when an offer changes or is withdrawn before it is taken.

use crate::stimulus::{self, Stimulus};
use hartrace_encoder_hdl::{Config, sources};
use hartrace_hdl_tools::verilate::{Design, Options, SimError};
use hartrace_lockstep::{Bench, Mismatch, Traffic};
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::Path;

/// A rule, and a mistake that breaks it: the file, a text in it, and what replaces that.
const BROKEN: [(&str, &str, &str, &str); 3] = [
    ("payload", "te_core.sv", ".ready_i(ready_i)", ".ready_i(1'b1)"),
    (
        "payload",
        "te_core.sv",
        "len_o = packet_emitter_len",
        "len_o = packet_emitter_len ^ {4'd0, !ready_i}",
    ),
    ("offered", "fifo_22x16.sv", "pop = valid_o & ready_i", "pop = valid_o"),
];

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let trial = |(number, broken): (usize, (&'static str, _, _, _))| {
        let run = move || check(number, broken);
        Trial::test(format!("offered/{}_{number}", broken.0), run).with_ignored_flag(missing)
    };
    BROKEN.into_iter().enumerate().map(trial).collect()
}

/// The mistake is found, by the rule and not by a payload that differs later.
fn check(number: usize, (rule, file, from, to): (&str, &str, &str, &str)) -> Result<(), Failed> {
    let config = Config::named("small").ok_or("no configuration")?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("offered/{number}"));
    fs::create_dir_all(&folder)?;
    let mut paths = Vec::new();
    for (name, text) in sources(&config)? {
        let text = match name == file {
            true if text.contains(from) => text.replacen(from, to, 1),
            true => return Err(format!("{file} has no {from:?}").into()),
            false => text,
        };
        let path = folder.join(name);
        fs::write(&path, text)?;
        paths.push(path);
    }
    let design = Design::files("te_core", paths).clock("clk_i").reset("rst_ni", false);
    let mut bench = Bench::of(&config, design.argument("-Wno-fatal"), &Options::default())?;
    let mut rng = fastrand::Rng::with_seed(5);
    let traffic = Traffic { back_pressure: 500, seed: 7, ..Traffic::default() };
    let stimulus = Stimulus { traffic, ..stimulus::walk(&mut rng, &config, 1, 2000) };
    match stimulus.run(&mut bench) {
        Err(Mismatch::Simulation(error @ SimError::Failed { .. })) => {
            let text = error.to_string();
            if text.contains(rule) { Ok(()) } else { Err(text.into()) }
        }
        Err(error) => Err(format!("another error: {error}").into()),
        Ok(_) => Err("not noticed".into()),
    }
}
