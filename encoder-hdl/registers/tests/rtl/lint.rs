//! Verilator with all warnings on.

use crate::configs::{Design, atb, encoders, ram_sinks, random_encoder};
use fastrand::Rng;
use hartrace_registers::{EncoderParams, RamSinkParams, apb_split};
use hartrace_rtl::{Component, Module};
use libtest_mimic::Failed;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Parameters at their corners, and some at random.
pub(crate) fn corners() -> Result<(), Failed> {
    let mut rng = Rng::with_seed(2);
    let mut designs: Vec<Design> = encoders()
        .into_iter()
        .chain(ram_sinks())
        .chain([atb()])
        .map(|(_, design)| design)
        .collect();
    for address_width in [4, 32, 33, 64] {
        for address_lsb in 0..=2 {
            for comparators in [0, 1, 8] {
                designs.push(Design::Encoder(EncoderParams {
                    address_width,
                    address_lsb,
                    comparators,
                    ..random_encoder(&mut rng)
                }));
            }
        }
    }
    for address_width in [12, 13, 32, 33, 64] {
        for word_bytes in [4, 8, 16, 32] {
            for burst_words in [1, 16, 64] {
                let params = RamSinkParams { address_width, word_bytes, burst_words };
                designs.push(Design::RamSink(params));
            }
        }
    }
    let components = designs.iter().map(Design::component).chain([2, 3, 4, 16].map(apb_split));
    for (i, component) in components.enumerate() {
        lint(&file(&component, &format!("corner{i}"))?)?;
    }
    Ok(())
}

fn file(component: &Component, folder: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint").join(folder);
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{}.sv", component.name()));
    fs::write(&path, component.emit())?;
    Ok(path)
}

fn lint(path: &Path) -> Result<(), Failed> {
    let output = Command::new("verilator").args(["--lint-only", "-Wall"]).arg(path).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() && text.is_empty() { Ok(()) } else { Err(text.into_owned().into()) }
}

/// That no remark means something: there is one on this module.
pub(crate) fn sees() -> Result<(), Failed> {
    let m = Module::new("passes", "");
    let data_i = m.input("data_i", 4, "");
    let data_o = m.output("data_o", 4, "");
    m.assign(&data_o, data_i);
    let path = file(&m.finish(), "sees")?;
    let text = fs::read_to_string(&path)?;
    fs::write(&path, text.replace("= data_i;", "= {3'd0, data_i[0]};"))?;
    match lint(&path) {
        Err(_) => Ok(()),
        Ok(()) => Err("no remark on unused bits".into()),
    }
}
