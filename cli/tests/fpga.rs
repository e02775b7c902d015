//! `hartrace fpga report` with yosys and nextpnr; shows as ignored without them.

use hartrace_fpga::{Report, Tools};
use libtest_mimic::{Arguments, Failed, Trial};
use std::env;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // If the tools are named, they must be there: the test does not skip.
    let missing = Tools::find().is_err() && env::var_os("HARTRACE_FPGA_TOOLS").is_none();
    let trials = vec![
        Trial::test("tables_of_several", tables_of_several).with_ignored_flag(missing),
        Trial::test("json_holds_all_of_it", json_holds_all_of_it).with_ignored_flag(missing),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The output of the command for a module small enough for a test.
fn report(line: &str) -> Result<String, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_hartrace"))
        .args(["fpga", "report", "--top", "te_branch_map"])
        .args(line.split_whitespace())
        .output()?;
    let said = String::from_utf8(output.stderr)?;
    if !output.status.success() || !said.is_empty() {
        return Err(format!("{line}: {}: {said}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn tables_of_several() -> Result<(), Failed> {
    let text = report("--config micro --config small --only area")?;
    let starts = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    // Each by itself, and both together.
    let expected = [("te_branch_map of ", 2), ("te_branch_map  ", 2), ("flattened ", 2)];
    let right = expected.iter().all(|(start, count)| starts(start) == *count);
    let both = starts("| micro ") == 1 && starts("| small ") == 1;
    if right && both && !text.contains("MHz") { Ok(()) } else { Err(text.into()) }
}

fn json_holds_all_of_it() -> Result<(), Failed> {
    let text = report("--config micro --seeds 1 --json")?;
    let [report] = Report::all_from_json(&text)?.try_into().map_err(|_| "not one report")?;
    let (area, timing) = (report.area.as_ref(), report.timing.as_ref());
    let measured = area.is_some_and(|area| area.flat.lut > 10 && area.flat.ff >= 36)
        && timing.is_some_and(|timing| timing.placements.len() == 1 && timing.median_mhz > 1.0);
    if measured && report.title() == "te_branch_map of micro" { Ok(()) } else { Err(text.into()) }
}
