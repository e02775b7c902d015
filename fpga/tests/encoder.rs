//! The tracked reports on the encoder and on compressors belong to the RTL that is generated now, and
//! contain what is measured.
//!
//! Measuring everything takes minutes. Therefore every report is compared with the checksum of the
//! RTL, which needs no tools, and only the smallest configuration is measured again.
//! `HARTRACE_BLESS=1` measures outdated reports again, and rewrites them and `docs/area.md`.

use hartrace_encoder_hdl::Config;
use hartrace_fpga::{Design, Options, Report, Source, Tools, compare, summary};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

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

/// Every named configuration, and every compressor.
fn designs() -> Result<Vec<Design>, Failed> {
    let design = |name: &String| match (Design::of_compressor(name), Config::named(name)) {
        (Some(design), _) => Ok(design),
        (None, Some(config)) => Ok(Design::of_encoder(name, &config, "te_core")?),
        (None, None) => Err(format!("there is no {name}").into()),
    };
    Design::names().iter().map(design).collect()
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
    for design in designs()? {
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
    // A script measures the share of tracing in a whole core once.
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
    let reports: Vec<Report> = designs()?.iter().map(tracked).collect::<Result<_, _>>()?;
    if fs::read_to_string(in_repository("docs/area.md"))? != document(&reports) {
        return Err(format!("docs/area.md does not say what fpga/reports does; {RENEW}").into());
    }
    let text = fs::read_to_string(in_repository(COMPRESSION))?;
    match text == with_figures(&text, &reports)? {
        true => Ok(()),
        false => Err(format!("{COMPRESSION} does not say what fpga/reports does; {RENEW}").into()),
    }
}

fn micro_is_as_reported() -> Result<(), Failed> {
    let micro = Config::named("micro").ok_or("there is no configuration micro")?;
    let micro = Design::of_encoder("micro", &micro, "te_core")?;
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
    let tools = Tools::find()?;
    let mut reports = Vec::new();
    let mut files = BTreeSet::new();
    for design in designs()? {
        let Design { name, source, .. } = &design;
        let file = in_repository(&file(&design));
        files.insert(file.clone());
        let watch = |step: &str| eprintln!("{name}: {step}");
        match tracked(&design) {
            Ok(report) if is_current(&report, source) => {
                reports.push(report);
                continue;
            }
            _ => {}
        }
        let report = Report::watched(source, &Options::default(), &tools, &watch)?.named(name);
        if let Ok(old) = tracked(&design) {
            eprintln!("{}", compare(&old, &report));
        }
        fs::write(file, report.to_json())?;
        reports.push(report);
    }
    fs::write(in_repository("docs/area.md"), document(&reports))?;
    let text = fs::read_to_string(in_repository(COMPRESSION))?;
    fs::write(in_repository(COMPRESSION), with_figures(&text, &reports)?)?;
    // Configurations that no longer exist.
    for entry in fs::read_dir(in_repository("fpga/reports"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("te_") && !files.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
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
fn document(reports: &[Report]) -> String {
    let mut text = format!(
        "\
<!-- Written by `HARTRACE_BLESS=1 ./test.sh fpga` from fpga/reports; changes here are lost. -->

# Area and clock rate of the encoder

`te_core` of every named configuration (`encoder-hdl/configs.toml`), without registers and transport, and the
[compressors](compression.md#measured-in-hardware) that exist in hardware. Area is on AMD UltraScale+, flattened; clock
rates are on Lattice ECP5 of speed grade 8, placed and routed, and say nothing of other devices. What each figure is
worth is in [design/fpga.md](design/fpga.md). `hartrace fpga report` measures any configuration. How much
of an overload each encoder traces is in [design/encoder.md](design/encoder.md#what-does-not-fit).

{}",
        summary(reports)
    );
    for report in reports {
        let name = report.config.as_deref().unwrap_or(&report.top);
        let _ = write!(text, "\n## {name}\n\n```text\n{report}```\n");
    }
    text
}
