//! The tracked reports on the encoder and on compressors belong to the RTL that is generated now, and
//! contain what is measured.
//!
//! Measuring everything takes minutes. Therefore every report is compared with the checksum of the
//! RTL, which needs no tools, and only the smallest configuration is measured again.
//! `HARTRACE_BLESS=1` measures outdated reports again, and rewrites them and `docs/area.md`.

use hartrace_encoder_hdl::Config;
use hartrace_encoder_hdl::top::TopConfig;
use hartrace_fpga::{Design, Options, Report, Source, Tools, compare, summary};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

const RENEW: &str = "`HARTRACE_BLESS=1 ./test.sh fpga` measures it again; the difference belongs to \
                     the commit that caused it";

/// The document that compares compressors.
const COMPRESSION: &str = "docs/compression.md";

fn main() -> ExitCode {
    // Whoever names the tools wants them to be used.
    let missing = Tools::find().is_err() && env::var_os("HARTRACE_FPGA_TOOLS").is_none();
    let trials = if env::var_os("HARTRACE_BLESS").is_some_and(|value| value == "1") {
        vec![Trial::test("reports_are_renewed", reports_are_renewed)]
    } else {
        vec![
            Trial::test("reports_are_of_this_rtl", reports_are_of_this_rtl),
            Trial::test("the_document_has_these_reports", the_document_has_these_reports),
            Trial::test("micro_is_as_reported", micro_is_as_reported).with_ignored_flag(missing),
        ]
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path)
}

fn file(design: &Design) -> String {
    format!("fpga/reports/{}.{}.json", design.source.top(), design.name)
}

/// What a SoC gets for a CVA6: registers, encoder, encapsulation and a sink in memory, and what stands between the core
/// and them.
const WHOLE: [&str; 2] = ["te_top", "cva6_te_connector"];

/// Configurations that are measured as a whole.
const FOR_CVA6: [&str; 4] = ["small", "cva6", "full", "linux"];

/// The core of every named configuration, and every compressor.
fn designs() -> Result<Vec<Design>, Failed> {
    let design = |name: &String| match Design::of_compressor(name) {
        Some(design) => Ok(design),
        None => module(name, "te_core"),
    };
    Design::names().iter().map(design).collect()
}

/// Whole encoders, and their connectors.
fn whole() -> Result<Vec<Design>, Failed> {
    let modules = |name| WHOLE.into_iter().map(move |top| module(name, top));
    FOR_CVA6.into_iter().flat_map(modules).collect()
}

fn module(name: &str, top: &str) -> Result<Design, Failed> {
    let config = Config::named(name).ok_or_else(|| format!("there is no {name}"))?;
    Ok(Design::of_encoder(name, &TopConfig::of(config), top)?)
}

fn tracked(design: &Design) -> Result<Report, Failed> {
    let file = file(design);
    let text = fs::read_to_string(in_repository(&file))
        .map_err(|error| format!("{file}: {error}; {RENEW}"))?;
    Ok(Report::from_json(&text).map_err(|error| format!("{file}: {error}; {RENEW}"))?)
}

fn reports_are_of_this_rtl() -> Result<(), Failed> {
    let mut expected = BTreeSet::from(["branch_map.json".to_owned()]);
    let mut tools = Vec::new();
    for design in designs()?.into_iter().chain(whole()?) {
        let (report, file) = (tracked(&design)?, file(&design));
        let (is, was) = (design.source.checksum(), &report.source);
        if is != *was {
            return Err(format!("{file} is of RTL {was}, but it is {is} now; {RENEW}").into());
        }
        if report.title() != format!("{} of {}", design.source.top(), design.name) {
            return Err(format!("{file} is of {}", report.title()).into());
        }
        if report.area.is_none() || report.timing.is_none() {
            return Err(format!("{file} lacks area or timing; {RENEW}").into());
        }
        tools.push(report.tools);
        expected.insert(file.trim_start_matches("fpga/reports/").to_owned());
    }
    if tools.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(format!("reports of different tools: {tools:?}; {RENEW}").into());
    }
    // A script measures the share of tracing in a whole core.
    expected.insert("cva6_share.json".to_owned());
    let mut there = BTreeSet::new();
    for entry in fs::read_dir(in_repository("fpga/reports"))? {
        there.insert(entry?.file_name().to_string_lossy().into_owned());
    }
    if there != expected {
        return Err(format!("fpga/reports holds {there:?}, not {expected:?}").into());
    }
    Ok(())
}

fn the_document_has_these_reports() -> Result<(), Failed> {
    let tracked = |designs: Vec<Design>| designs.iter().map(tracked).collect::<Result<_, _>>();
    let reports: Vec<Report> = tracked(designs()?)?;
    let whole: Vec<Report> = tracked(whole()?)?;
    if fs::read_to_string(in_repository("docs/area.md"))? != document(&reports, &whole)? {
        return Err(format!("docs/area.md does not say what fpga/reports does; {RENEW}").into());
    }
    let text = fs::read_to_string(in_repository(COMPRESSION))?;
    match text == with_figures(&text, &reports)? {
        true => Ok(()),
        false => Err(format!("{COMPRESSION} does not say what fpga/reports does; {RENEW}").into()),
    }
}

fn micro_is_as_reported() -> Result<(), Failed> {
    let micro = module("micro", "te_core")?;
    let mut report = tracked(&micro)?;
    let options = Options { area: true, seeds: None };
    let measured = Report::of_source(&micro.source, &options, &Tools::find()?)?.named("micro");
    report.timing = None;
    report.tools.nextpnr = None;
    if report != measured {
        let changes = compare(&report, &measured);
        return Err(format!("{} is out of date; {RENEW}\n{changes}", file(&micro)).into());
    }
    Ok(())
}

fn reports_are_renewed() -> Result<(), Failed> {
    let reports = renewed(&designs()?)?;
    let whole = renewed(&whole()?)?;
    fs::write(in_repository("docs/area.md"), document(&reports, &whole)?)?;
    let text = fs::read_to_string(in_repository(COMPRESSION))?;
    fs::write(in_repository(COMPRESSION), with_figures(&text, &reports)?)?;
    // Configurations that no longer exist.
    let files: BTreeSet<PathBuf> = designs()?
        .iter()
        .chain(&self::whole()?)
        .map(|design| in_repository(&file(design)))
        .collect();
    for entry in fs::read_dir(in_repository("fpga/reports"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains("te_") && !files.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The reports on designs; those that are outdated are measured and written, as many at once as there are cores.
fn renewed(designs: &[Design]) -> Result<Vec<Report>, Failed> {
    let tools = Tools::find()?;
    let next = AtomicUsize::new(0);
    let worker = || -> Result<(), Failed> {
        while let Some(design) = designs.get(next.fetch_add(1, Ordering::Relaxed)) {
            renew(design, &tools)?;
        }
        Ok(())
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Err("panicked".into())))
    })?;
    designs.iter().map(tracked).collect()
}

/// Measures a design and writes its report, unless that is of this RTL.
fn renew(design: &Design, tools: &Tools) -> Result<(), Failed> {
    let Design { name, source, .. } = design;
    let old = tracked(design);
    if old.as_ref().is_ok_and(|report| is_current(report, source)) {
        return Ok(());
    }
    let watch = |step: &str| eprintln!("{} of {name}: {step}", source.top());
    let report = Report::watched(source, &Options::default(), tools, &watch)?.named(name);
    if let Ok(old) = old {
        eprintln!("{}", compare(&old, &report));
    }
    Ok(fs::write(in_repository(&file(design)), report.to_json())?)
}

/// Whether a report is complete and belongs to this RTL.
fn is_current(report: &Report, source: &Source) -> bool {
    report.source == source.checksum() && report.area.is_some() && report.timing.is_some()
}

/// A document with the figures of compressors in its table: the last four columns of their rows.
fn with_figures(text: &str, reports: &[Report]) -> Result<String, Failed> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for report in reports {
        let (Some(name), Some(area), Some(timing)) = (&report.config, &report.area, &report.timing)
        else {
            continue;
        };
        if Design::of_compressor(name).is_none() {
            continue;
        }
        let start = format!("| {name} | ");
        let estimates =
            |line: &&mut String| line.starts_with(&start) && line.matches('|').count() == 8;
        let row = lines.iter_mut().find(estimates);
        let row = row.ok_or_else(|| format!("{COMPRESSION} has no row for {name}"))?;
        let estimates: Vec<&str> = row.split('|').skip(1).take(3).map(str::trim).collect();
        let cells = &area.flat;
        *row = format!(
            "| {} | {} | {} | {} | {:.2} |",
            estimates.join(" | "),
            cells.lut,
            cells.lut_ram,
            cells.ff,
            timing.median_mhz
        );
    }
    Ok(lines.join("\n") + "\n")
}

/// The reports for people.
fn document(reports: &[Report], whole: &[Report]) -> Result<String, Failed> {
    let mut text = format!(
        "\
<!-- Written by `HARTRACE_BLESS=1 ./test.sh fpga` from fpga/reports; changes here are lost. -->

# Area and clock rate of the encoder

`te_core` of every named configuration (`encoder-hdl/configs.toml`), without registers and transport, and the
[compressors](compression.md#measured-in-hardware) that exist in hardware. Area is on AMD UltraScale+, flattened; clock
rates are on Lattice ECP5 of speed grade 8, placed and routed, and say nothing of other devices. [design/fpga.md](design/fpga.md) explains each
figure, and [design/encoder.md](design/encoder.md#what-does-not-fit) shows how much of an overload each encoder traces.
`hartrace fpga report` measures any configuration.

{}
## Whole

A SoC with a CVA6 gets `te_top` as `hartrace hdl` writes it, with registers, encapsulation and a sink in memory over
AXI4, and the connector between the commit stage and `te_top`. Each is flattened by itself.

{}
## Beside the core

{}",
        summary(reports),
        summary(&whole.iter().map(|report| report.clone().named(&report.title())).collect::<Vec<_>>()),
        share()?,
    );
    for report in reports.iter().chain(whole) {
        let name = match report.top.as_str() {
            top if WHOLE.contains(&top) => report.title(),
            top => report.config.clone().unwrap_or_else(|| top.to_owned()),
        };
        let _ = write!(text, "\n## {name}\n\n```text\n{report}```\n");
    }
    Ok(text)
}

/// What `fpga/cva6/share.py` has measured, beside the core.
fn share() -> Result<String, Failed> {
    let text = fs::read_to_string(in_repository("fpga/reports/cva6_share.json"))?;
    let share: Value = serde_json::from_str(&text)?;
    let figure = |of: &Value, kind: &str| of[kind].as_u64().ok_or(format!("no {kind} in {of}"));
    let percent = |of: &Value, kind: &str| match of[kind].as_f64() {
        Some(share) => Ok(format!("{:.1} %", 100.0 * share)),
        None => Err(format!("no {kind} in {of}")),
    };
    let core = &share["core"];
    let mut text = format!(
        "\
The CVA6 of the tests (RV64IMAC, Sv39; no FPU, no memories of caches) has {} LUTs of four inputs and {} flip-flops. The table
has encoder, connector and adapter beside it, mapped by the same passes, not flattened, memories by their bits:

| configuration | with | LUT4 | FF | bits of memory | LUT4 of the core | FF of the core |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
",
        figure(core, "lut4")?,
        figure(core, "ff")?
    );
    let trace = share["trace"].as_object().ok_or("no encoder beside the core")?;
    for (name, parts) in trace.iter().collect::<BTreeMap<_, _>>() {
        let rows = [("whole", "registers, sink in memory"), ("without_sink", "registers, no sink")];
        for (part, with) in rows {
            let part = &parts[part];
            writeln!(
                text,
                "| {name} | {with} | {} | {} | {} | {} | {} |",
                figure(part, "lut4")?,
                figure(part, "ff")?,
                figure(part, "memory_bits")?,
                percent(part, "lut4_of_core")?,
                percent(part, "ff_of_core")?
            )?;
        }
    }
    let missed = |kind| match share["trace"]["small"]["whole"][kind].as_f64() {
        Some(share) => Ok(format!("{:.1}", 100.0 * share - 4.0)),
        None => Err(format!("no {kind} of small")),
    };
    write!(
        text,
        "
The goal of 4 % for `small` is **missed** by {} and {} percentage points: two blocks with addresses of 64 bits are in every stage
from the commit stage to the payload. [design/fpga.md](design/fpga.md#beside-the-core) says where the rest is, and what the
figure of the thesis counts.
",
        missed("lut4_of_core")?,
        missed("ff_of_core")?
    )?;
    Ok(text)
}
