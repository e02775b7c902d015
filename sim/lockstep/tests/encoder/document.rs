//! The tables in `docs/design/verification.md`.
//!
//! Coverage is asserted in every run of the tests, so its figures follow from the lists. Long runs, of every mistake
//! and of many instructions, leave their figures in `sim/lockstep/reports/encoder.json` if `HARTRACE_BLESS` is 1.

use crate::harmless::{HARMLESS, Harmless, In};
use crate::holes::{HOLES, hole};
use crate::mutants::{FULL, tried};
use hartrace_encoder_hdl::{Config, sources};
use hartrace_hdl_tools::section;
use hartrace_lockstep::{Point, Summary};
use libtest_mimic::{Failed, Trial};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Figures of long runs.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Mistakes by configuration and module.
    mutants: BTreeMap<String, BTreeMap<String, Mistakes>>,
    /// Random walks by configuration.
    walks: BTreeMap<String, Walks>,
}

/// The mistakes in a module.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Mistakes {
    pub(crate) tried: usize,
    pub(crate) seen: usize,
    /// What was tried: the CRC-32 of places and replacements.
    pub(crate) crc: u32,
}

/// The random walks of a configuration.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Walks {
    steps: u64,
    payloads: u64,
    cycles: u64,
    losses: u64,
    stalled: u64,
}

impl Walks {
    pub(crate) fn add(&mut self, steps: u64, summary: &Summary) {
        self.steps += steps;
        self.payloads += summary.payloads;
        self.cycles += summary.cycles;
        self.losses += summary.losses;
        self.stalled += summary.stalled;
    }
}

/// The number of steps from which a run is a long one.
const LONG: u64 = 10_000_000;

/// Tests run at the same time.
static FILE: Mutex<()> = Mutex::new(());

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn path() -> PathBuf {
    folder().join("reports/encoder.json")
}

impl Report {
    fn load() -> Result<Self, Failed> {
        match fs::read(path()) {
            Ok(text) => Ok(serde_json::from_slice(&text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    fn change(change: impl FnOnce(&mut Self)) -> Result<(), Failed> {
        let _one_at_a_time = FILE.lock();
        let mut report = Self::load()?;
        change(&mut report);
        fs::create_dir_all(folder().join("reports"))?;
        fs::write(path(), serde_json::to_string_pretty(&report)? + "\n")?;
        Ok(())
    }
}

/// Keeps the figures of a configuration in which all mistakes were tried.
pub(crate) fn keep_mutants(
    name: &str,
    count: usize,
    mistakes: BTreeMap<String, Mistakes>,
) -> Result<(), Failed> {
    if count != FULL || !section::bless() {
        return Ok(());
    }
    Report::change(|report| {
        report.mutants.insert(name.to_owned(), mistakes);
    })
}

/// Keeps the figures of long walks.
pub(crate) fn keep_walks(name: &str, walks: Walks) -> Result<(), Failed> {
    if walks.steps < LONG || !section::bless() {
        return Ok(());
    }
    Report::change(|report| {
        report.walks.insert(name.to_owned(), walks);
    })
}

/// A section of the document: its name, and what makes its text.
type Section = (&'static str, fn() -> Result<String, Failed>);

/// Returns tests that the document has the figures.
pub(crate) fn trials() -> Vec<Trial> {
    let sections: [Section; 4] =
        [("modules", modules), ("holes", holes), ("survivors", survivors), ("walks", walks)];
    let trial = |(name, text): Section| {
        let run = move || {
            let _one_at_a_time = FILE.lock();
            Ok(section::compare(&document(), name, &text()?)?)
        };
        Trial::test(format!("document/{name}"), run)
    };
    sections.into_iter().map(trial).collect()
}

fn document() -> PathBuf {
    folder().join("../../docs/design/verification.md")
}

/// One row for each module of each named configuration.
fn modules() -> Result<String, Failed> {
    let report = Report::load()?;
    let proofs =
        ["encoder proofs", "transport proofs"].map(|name| section::read(&document(), name));
    let proofs = proofs.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    let mut table =
        "| configuration | module | situations that occur | mistakes that are seen | proofs |\n\
         | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for (name, config) in Config::all_named() {
        let points = Point::all(&config);
        let tried = tried(&config, FULL)?;
        for (file, _) in sources(&config)? {
            let module = file.trim_end_matches(".sv");
            let of: Vec<_> = points.iter().filter(|point| point.module() == module).collect();
            let hit = of.iter().filter(|point| hole(&name, point).is_none()).count();
            let coverage =
                if of.is_empty() { "-".into() } else { format!("{hit} of {}", of.len()) };
            let mistakes = match report.mutants.get(&name).and_then(|all| all.get(module)) {
                None => "not tried".to_owned(),
                Some(Mistakes { tried: 0, .. }) => "none possible".to_owned(),
                Some(found) => {
                    let now = tried.get(module).map(|now| now.crc);
                    let old = if now == Some(found.crc) { "" } else { ", in an earlier text" };
                    format!("{} of {}{old}", found.seen, found.tried)
                }
            };
            // Queues of all sizes are one block.
            let block = if module.starts_with("fifo_") { "fifo_" } else { module };
            let named = if block == module { format!("`{block}`") } else { format!("`{block}") };
            let number = proofs.lines().filter(|line| line.contains(&format!("| {named}"))).count();
            let proven = if number == 0 { "-".to_owned() } else { number.to_string() };
            writeln!(table, "| `{name}` | `{module}` | {coverage} | {mistakes} | {proven} |")?;
        }
    }
    Ok(table)
}

/// Situations that no run reaches.
fn holes() -> Result<String, Failed> {
    let mut table =
        "| configuration | module | situation | why |\n| --- | --- | --- | --- |\n".to_owned();
    let mut used = 0;
    for (config, text, why) in HOLES {
        let all = Config::all_named();
        let of = all.iter().filter(|(name, _)| config.is_empty() || *name == config);
        for (name, config) in of {
            for point in Point::all(config).iter().filter(|point| point.to_string() == text) {
                writeln!(table, "| `{name}` | `{}` | {point} | {why} |", point.module())?;
                used += 1;
            }
        }
    }
    if used < HOLES.len() { Err("a hole of no configuration".into()) } else { Ok(table) }
}

/// Mistakes that no run can see.
fn survivors() -> Result<String, Failed> {
    let mut table =
        "| configuration | module | what is assigned | what it becomes | why no payload differs |\n\
         | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for Harmless { config, module, place, after, why } in HARMLESS {
        let after = after.replace('|', "\\|");
        let config = match config {
            In::Any => "any".to_owned(),
            In::AllBut(name) => format!("any but `{name}`"),
            In::Only(name) => format!("`{name}`"),
        };
        writeln!(table, "| {config} | `{module}` | `{place}` | `{after}` | {why} |")?;
    }
    Ok(table)
}

/// Random walks that were run by hand.
fn walks() -> Result<String, Failed> {
    let mut table = "| configuration | instructions and traps | payloads | cycles | losses | cycles stalled |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    let mut sum = Walks::default();
    let report = Report::load()?;
    let random = |name: &str| name.strip_prefix("random ").and_then(|n| n.parse::<u64>().ok());
    let mut all: Vec<_> = report.walks.iter().collect();
    all.sort_by_key(|(name, _)| (random(name), (*name).clone()));
    for (name, walks) in all {
        let Walks { steps, payloads, cycles, losses, stalled } = walks;
        writeln!(table, "| `{name}` | {steps} | {payloads} | {cycles} | {losses} | {stalled} |")?;
        sum.steps += steps;
        sum.payloads += payloads;
        sum.cycles += cycles;
        sum.losses += losses;
        sum.stalled += stalled;
    }
    let Walks { steps, payloads, cycles, losses, stalled } = sum;
    writeln!(table, "| all | {steps} | {payloads} | {cycles} | {losses} | {stalled} |")?;
    Ok(table)
}
