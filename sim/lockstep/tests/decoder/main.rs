//! The generated decoders against software: every record, whatever the bytes are.
//!
//! `HARTRACE_DECODER_BYTES` sets the bytes of each random stream.

mod analysis;
mod etmv4_walker;
mod etrace;
mod frame;
mod top;
mod walker;

use hartrace_decoder_hdl::etmv4::Config;
use hartrace_etmv4::{Config as Unit, Layout};
use hartrace_hdl_tools::verilate::{Options, available};
use hartrace_lockstep::decoder::{Etmv4Bench, Lanes, random, sources};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Cycles after which a walker should be at rest; no program here takes as many.
pub(crate) const RESTLESS: u64 = 1 << 22;

/// Trace units that differ in what packets they have.
fn units() -> [(&'static str, Unit); 3] {
    let a53 = Config::default().unit;
    let commits = Unit {
        commopt: false,
        max_speculation: 8,
        q: true,
        conditional: true,
        data: true,
        vmid_bytes: 4,
        version: 0x46,
        ..a53
    };
    let ete = Unit { version: 0x53, vmid_bytes: 2, context_id_bytes: 0, q: true, ..a53 };
    [("a53", a53), ("commits", commits), ("ete", ete)]
}

fn bytes() -> usize {
    let told = std::env::var("HARTRACE_DECODER_BYTES");
    told.ok().and_then(|text| text.parse().ok()).unwrap_or(200_000)
}

/// A stream through a decoder.
fn compare(bench: &Etmv4Bench, stream: &[u8], lanes: Lanes) -> Result<(), Failed> {
    let report = bench.compare(stream, lanes)?;
    let first = report.first.as_deref().unwrap_or_default();
    if report.differences > 0 || report.records < 100 {
        return Err(format!(
            "{} differences in {} records: {first}",
            report.differences, report.records
        )
        .into());
    }
    Ok(())
}

fn trial(name: &str, unit: Unit, unroll: u32) -> Result<(), Failed> {
    let mut config = Config { unroll, unit, ..Config::default() };
    if unit.context_id_bytes == 0 {
        // Other widths of the rest.
        config = Config { address_bits: 32, timestamp_bits: 48, cycles_bits: 24, ..config };
    }
    let bench = Etmv4Bench::new(&config, &Options::default())?;
    let layout = Layout::new(&unit);
    let len = bytes();
    let seed = u64::from(unroll);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut noise = Vec::new();
    while noise.len() < len {
        // Without synchronisations, noise would hardly ever be read as packets.
        noise.extend([[0; 11].as_slice(), &[0x80]].concat());
        noise.extend(std::iter::repeat_with(|| random.u8(..)).take(64));
    }
    for (what, stream) in [
        ("packets", random::packets(&layout, len, seed)),
        ("damaged", random::damaged(&layout, len, 100, seed)),
        ("noise", noise),
    ] {
        for lanes in [Lanes::Full, Lanes::Holes(seed)] {
            compare(&bench, &stream, lanes)
                .map_err(|error| format!("{name}, {what}, {lanes:?}: {:?}", error.message()))?;
        }
    }
    Ok(())
}

/// Where traces of others are, if there are any.
fn snapshots() -> Vec<PathBuf> {
    let Ok(data) = std::env::var("HARTRACE_DATA") else { return Vec::new() };
    let mut found = Vec::new();
    for protocol in ["coresight/etmv4", "coresight/ete"] {
        let entries = std::fs::read_dir(Path::new(&data).join(protocol)).into_iter().flatten();
        found.extend(entries.flatten().map(|entry| entry.path()));
    }
    found.sort();
    found
}

/// All sources of a snapshot, four bytes per cycle.
fn snapshot(path: &Path) -> Result<(), Failed> {
    for source in sources(path)? {
        let config = Config { unit: source.unit, ..Config::default() };
        let bench = Etmv4Bench::new(&config, &Options::default())?;
        let report = bench.compare(&source.bytes, Lanes::Full)?;
        if report.differences > 0 || report.records == 0 {
            return Err(format!("{}: {report:?}", source.name).into());
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let missing = !available();
    let mut trials = Vec::new();
    for (name, unit) in units() {
        for unroll in 1..=8 {
            // Each unit with few and many lanes, and one with every number.
            if name == "a53" || [1, 3, 4, 8].contains(&unroll) {
                let test = move || trial(name, unit, unroll);
                trials
                    .push(Trial::test(format!("{name}_{unroll}"), test).with_ignored_flag(missing));
            }
        }
    }
    trials.extend(analysis::trials(bytes(), missing));
    trials.extend(frame::trials(bytes(), &snapshots(), missing));
    for path in snapshots() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let test = move || snapshot(&path);
        trials.push(Trial::test(format!("snapshots/{name}"), test).with_ignored_flag(missing));
    }
    if std::env::var("HARTRACE_DATA").is_err() {
        trials.push(Trial::test("snapshots", || Ok(())).with_ignored_flag(true));
    }
    trials.extend(etrace::trials(bytes(), missing));
    trials.extend(walker::trials(missing));
    trials.extend(top::trials(bytes(), missing));
    trials.extend(etmv4_walker::trials(snapshots(), missing));
    libtest_mimic::run(&arguments, trials).exit_code()
}
