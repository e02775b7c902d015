//! The RTL of named and random configurations sends the same payloads as the golden encoder, bit for bit,
//! from the first to the last packet, with modes, filters, resynchronisation, back-pressure and losses.
//!
//! `HARTRACE_STEPS` sets the number of instructions and traps for each configuration, `HARTRACE_CONFIGS`
//! the number of random ones. Inputs of the reference flow are read from `HARTRACE_DATA`. Without
//! Verilator, or without that folder, the tests are shown as ignored.

mod bundled;
mod cells;
mod compressors;
mod crafted;
mod document;
mod gaps;
mod harmless;
mod holes;
mod mutants;
mod mutate;
mod offered;
mod overload;
mod peer;
mod permission;
mod stimulus;
mod table;
mod unknown;

use hartrace_encoder_hdl::{Config, encoder};
use hartrace_etrace::Ioptions;
use hartrace_etrace::ingress::Retired;
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::{Bench, Coverage, Point, Setting, Summary, Traffic, random};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use stimulus::Stimulus;
use table::Table;

fn main() {
    let args = Arguments::from_args();
    let missing = !hartrace_hdl_tools::verilate::available();
    let table = Table::default();
    let mut trials = Vec::new();
    for (name, config) in Config::all_named() {
        let table = table.clone();
        let label = format!("named/{name}");
        let run = move || {
            let mut coverage = walks(&name, &config, 0, &table)?;
            let mut bench = Bench::new(&config, &Options::default())?;
            let mut rng = fastrand::Rng::with_seed(0);
            for stimulus in stimulus::directed(&config)? {
                let summary = send(&mut bench, &mut rng, &stimulus)?;
                table.add(&name, stimulus.rows.len() as u64, &summary);
                coverage.add(&summary.coverage);
            }
            holes::check(&name, &config, &coverage)
        };
        trials.push(Trial::test(label, run).with_ignored_flag(missing));
    }
    let configs = number("HARTRACE_CONFIGS", 40);
    trials.extend(lint(configs));
    for seed in 0..configs {
        let table = table.clone();
        let run = move || {
            let config = random::config(&mut fastrand::Rng::with_seed(seed));
            walks(&format!("random {seed}"), &config, seed + 1, &table).map(drop)
        };
        trials.push(Trial::test(format!("random/{seed}"), run).with_ignored_flag(missing));
    }
    for seed in 0..FILTERED {
        let run = move || filtered(seed);
        trials.push(Trial::test(format!("filters/{seed}"), run).with_ignored_flag(missing));
    }
    trials.extend(vectors(missing, &table));
    trials.extend(gaps::trials(missing));
    trials.extend(overload::trials(missing));
    trials.extend(mutants::trials(missing));
    trials.extend(compressors::trials(missing));
    trials.extend(peer::trials(missing));
    trials.extend(permission::trials(missing));
    trials.extend(offered::trials(missing));
    trials.extend(cells::trials(missing));
    trials.extend(unknown::trials(missing));
    trials.extend(document::trials());
    let conclusion = libtest_mimic::run(&args, trials);
    table.print();
    conclusion.exit();
}

/// Linters report no warning on the random configurations.
fn lint(configs: u64) -> Vec<Trial> {
    let designs = (0..configs).map(|seed| {
        let config = random::config(&mut fastrand::Rng::with_seed(seed));
        encoder(&config).expect("a legal configuration").files()
    });
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    hartrace_hdl_tools::lint::trials(
        folder,
        &format!("random_{configs}"),
        &designs.collect::<Vec<_>>(),
    )
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Sends a stimulus through both encoders, from reset.
fn send(bench: &mut Bench, rng: &mut fastrand::Rng, on: &Stimulus) -> Result<Summary, Failed> {
    bench.restart(rng.u32(1..))?;
    on.run(bench).map_err(|error| {
        let Stimulus { setting, traffic, .. } = on;
        format!("{error}\n{setting:?}\n{traffic:?}\n{:?}", bench.config()).into()
    })
}

/// Configurations with filters of every kind.
const FILTERED: u64 = 4;

/// Walks through a random configuration with filters, which ask for all that they can ask for.
fn filtered(seed: u64) -> Result<(), Failed> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let config = random::config(&mut rng);
    let config = random::with_filters(&mut rng, config);
    let built = Bench::new(&config, &Options::default());
    let mut bench = built.map_err(|error| format!("{config:?}: {error}"))?;
    let mut coverage = Coverage::default();
    for turn in 0..40 {
        let stimulus = match turn % 4 {
            0 => stimulus::walk(&mut rng, &config, turn, 3000),
            _ => stimulus::handlers(&config, &mut rng, turn),
        };
        coverage.add(&send(&mut bench, &mut rng, &stimulus)?.coverage);
    }
    let missing =
        |point: &Point| matches!(point, Point::Filter { .. }) && coverage.count(point) == 0;
    let missing: Vec<String> =
        Point::all(&config).iter().filter(|point| missing(point)).map(Point::to_string).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("{config:?}: {} did not occur", missing.join(", ")).into()),
    }
}

/// Random walks through a configuration.
fn walks(name: &str, config: &Config, seed: u64, table: &Table) -> Result<Coverage, Failed> {
    let mut rng = fastrand::Rng::with_seed(seed ^ 0x1a9e5);
    let built = Bench::new(config, &Options::default());
    let mut bench = built.map_err(|error| format!("{config:?}: {error}"))?;
    let (mut coverage, mut figures) = (Coverage::default(), document::Walks::default());
    let mut left = number("HARTRACE_STEPS", 100_000);
    for turn in 0.. {
        if left == 0 {
            break;
        }
        let steps = rng.u64(1..=20_000).min(left);
        left -= steps;
        let number = seed.wrapping_mul(1000) + turn;
        let stimulus = stimulus::walk(&mut rng, config, number, steps as usize);
        let summary = send(&mut bench, &mut rng, &stimulus)?;
        table.add(name, steps, &summary);
        figures.add(steps, &summary);
        coverage.add(&summary.coverage);
    }
    document::keep_walks(name, figures)?;
    Ok(coverage)
}

/// Inputs of the reference flow, without and with all modes, and in the dialect of rv_tracer.
fn vectors(missing: bool, table: &Table) -> Vec<Trial> {
    let Some(data) = std::env::var_os("HARTRACE_DATA") else {
        return vec![Trial::test("vectors", || Ok(())).with_ignored_flag(true)];
    };
    let folder = Path::new(&data).join("etrace-reference/input");
    let files =
        std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.to_string_lossy().contains("itype4_sijump")).collect();
    files.sort();
    if files.is_empty() {
        let message = format!("no inputs in {}", folder.display());
        return vec![Trial::test("vectors", move || Err(message.into()))];
    }
    let trial = |path: PathBuf| {
        let stem = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
        let name = stem.split('.').next().unwrap_or_default().to_owned();
        let table = table.clone();
        let label = format!("vectors/{name}");
        Trial::test(label, move || vector(&name, &path, &table)).with_ignored_flag(missing)
    };
    files.into_iter().map(trial).collect()
}

fn vector(name: &str, path: &Path, table: &Table) -> Result<(), Failed> {
    let mut source = hartrace_executions::open(path, &hartrace_executions::Options::default())?;
    let mut rows: Vec<Retired> = Vec::new();
    let limit = number("HARTRACE_STEPS", 100_000) as usize;
    while let Some(row) = source.next_row()? {
        if rows.len() < limit {
            rows.push(Retired { context: 0, cycles: 1, ..row.retired });
        }
    }
    let stalling = |name: &str| -> Result<Config, Failed> {
        let config = Config::named(name).ok_or("no configuration")?;
        Ok(Config { overflow: hartrace_encoder_hdl::Overflow::Stall, ..config })
    };
    let run = |bench: &mut Bench, options: Ioptions| -> Result<Summary, Failed> {
        let setting = Setting { options, resync: (1, 6), ..Setting::default() };
        Ok(bench.run(&rows, &setting, Traffic::default())?)
    };
    let config = stalling("full")?;
    let mut bench = Bench::new(&config, &Options::default())?;
    let plain = run(&mut bench, Ioptions::default())?;
    let all = Ioptions {
        implicit_return: true,
        implicit_exception: true,
        full_address: false,
        jump_target_cache: true,
        branch_prediction: true,
        sequentially_inferred_jump: true,
        delta_address: false,
        history_prediction: false,
    };
    let all = run(&mut bench, all)?;
    let wide = Config { itype_width_p: 4, ..stalling("small_bytes")? };
    let mut dialect = Bench::new(&wide, &Options::default())?;
    let by_bytes = run(&mut dialect, Ioptions::default())?;
    let instructions = rows.iter().filter(|row| row.iretire > 0).count() as u64;
    table.bits(name, instructions, [plain.bytes, all.bytes, by_bytes.bytes]);
    for summary in [&plain, &all, &by_bytes] {
        table.add(name, rows.len() as u64, summary);
    }
    Ok(())
}
