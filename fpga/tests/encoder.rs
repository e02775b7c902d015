//! The tracked reports on the encoder belong to the RTL that is generated now, and contain what is
//! measured.
//!
//! Measuring everything takes minutes. Therefore every report is compared with the checksum of the
//! RTL, which needs no tools, and only the smallest configuration is measured again.
//! `HARTRACE_BLESS=1` measures outdated reports again, and rewrites them and `docs/area.md`.

use hartrace_encoder_hdl::{Config, encoder};
use hartrace_fpga::{Options, Report, Source, Tools, compare, summary};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

const RENEW: &str = "`HARTRACE_BLESS=1 ./test.sh fpga` measures it again; the difference belongs to \
                     the commit that caused it";

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

fn file(name: &str) -> String {
    format!("fpga/reports/te_core.{name}.json")
}

/// Every named configuration.
fn sources() -> Result<Vec<(String, Source)>, Failed> {
    let named = Config::all_named().into_iter();
    named.map(|(name, config)| Ok((name, Source::from(&encoder(&config)?)))).collect()
}

fn tracked(name: &str) -> Result<Report, Failed> {
    let file = file(name);
    let text = fs::read_to_string(in_repository(&file))
        .map_err(|error| format!("{file}: {error}; {RENEW}"))?;
    Ok(Report::from_json(&text).map_err(|error| format!("{file}: {error}; {RENEW}"))?)
}

fn reports_are_of_this_rtl() -> Result<(), Failed> {
    let mut expected = BTreeSet::from(["branch_map.json".to_owned()]);
    let mut tools = Vec::new();
    for (name, source) in sources()? {
        let report = tracked(&name)?;
        let (is, was) = (source.checksum(), &report.source);
        if is != *was {
            let file = file(&name);
            return Err(format!("{file} is of RTL {was}, but it is {is} now; {RENEW}").into());
        }
        if report.title() != format!("te_core of {name}") {
            return Err(format!("{} is of {}", file(&name), report.title()).into());
        }
        if report.area.is_none() || report.timing.is_none() {
            return Err(format!("{} lacks area or timing; {RENEW}", file(&name)).into());
        }
        tools.push(report.tools);
        expected.insert(format!("te_core.{name}.json"));
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
    let names = Config::all_named().into_keys();
    let reports: Vec<Report> = names.map(|name| tracked(&name)).collect::<Result<_, _>>()?;
    if fs::read_to_string(in_repository("docs/area.md"))? != document(&reports) {
        return Err(format!("docs/area.md does not say what fpga/reports does; {RENEW}").into());
    }
    Ok(())
}

fn micro_is_as_reported() -> Result<(), Failed> {
    let micro = Config::named("micro").ok_or("there is no configuration micro")?;
    let mut report = tracked("micro")?;
    let options = Options { area: true, seeds: None };
    let measured = Report::of(&encoder(&micro)?, &options)?.named("micro");
    report.timing = None;
    report.tools.nextpnr = None;
    if report != measured {
        let changes = compare(&report, &measured);
        return Err(format!("{} is out of date; {RENEW}\n{changes}", file("micro")).into());
    }
    Ok(())
}

fn reports_are_renewed() -> Result<(), Failed> {
    let tools = Tools::find()?;
    let mut reports = Vec::new();
    for (name, source) in sources()? {
        let watch = |step: &str| eprintln!("{name}: {step}");
        match tracked(&name) {
            Ok(report) if is_current(&report, &source) => {
                reports.push(report);
                continue;
            }
            _ => {}
        }
        let report = Report::watched(&source, &Options::default(), &tools, &watch)?.named(&name);
        if let Ok(old) = tracked(&name) {
            eprintln!("{}", compare(&old, &report));
        }
        fs::write(in_repository(&file(&name)), report.to_json())?;
        reports.push(report);
    }
    fs::write(in_repository("docs/area.md"), document(&reports))?;
    // Configurations that no longer exist.
    for entry in fs::read_dir(in_repository("fpga/reports"))? {
        let path = entry?.path();
        let is = |report: &Report| path.ends_with(file(report.config.as_deref().unwrap_or("")));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("te_core.") && !reports.iter().any(is) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Whether a report is complete and belongs to this RTL.
fn is_current(report: &Report, source: &Source) -> bool {
    report.source == source.checksum() && report.area.is_some() && report.timing.is_some()
}

/// The reports for people.
fn document(reports: &[Report]) -> String {
    let mut text = format!(
        "\
<!-- Written by `HARTRACE_BLESS=1 ./test.sh fpga` from fpga/reports; changes here are lost. -->

# Area and clock rate of the encoder

`te_core` of every named configuration (`encoder-hdl/configs.toml`), without registers and transport. Area is on
AMD UltraScale+, flattened; clock rates are on Lattice ECP5 of speed grade 8, placed and routed, and say nothing of
other devices. What each figure is worth is in [design/fpga.md](design/fpga.md). `hartrace fpga report` measures any
configuration.

{}",
        summary(reports)
    );
    for report in reports {
        let name = report.config.as_deref().unwrap_or(&report.top);
        let _ = write!(text, "\n## {name}\n\n```text\n{report}```\n");
    }
    text
}
