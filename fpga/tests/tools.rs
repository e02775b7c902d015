//! Reports on small designs whose figures are known, and a whole [`board`].
//!
//! Without the tools these tests are ignored; `./test.sh fpga` installs them. `HARTRACE_BLESS=1`
//! rewrites the tracked report.

mod board;

use hartrace_fpga::{Area, FpgaError, Options, Report, Source, Timing, Tools, compare};
use hartrace_rtl::{Component, Module, lit, zero};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs};

const AREA: Options = Options { area: true, seeds: None };
const TIMING: Options = Options { area: false, seeds: Some(1) };

type Test = fn() -> Result<(), Failed>;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    // Whoever names the tools wants them to be used.
    let missing = Tools::find().is_err() && env::var_os("HARTRACE_FPGA_TOOLS").is_none();
    let tests: [(&str, Test); 9] = [
        ("the_tracked_report_is_current", the_tracked_report_is_current),
        ("registers_and_memories_are_counted", registers_and_memories_are_counted),
        ("instances_are_counted_each", instances_are_counted_each),
        ("an_adder_is_the_critical_path", an_adder_is_the_critical_path),
        ("logic_without_a_clock_has_timing", logic_without_a_clock_has_timing),
        ("errors_of_yosys_are_passed_on", errors_of_yosys_are_passed_on),
        ("loops_have_no_levels", loops_have_no_levels),
        ("no_seed_is_refused", no_seed_is_refused),
        ("runs_end_after_their_limit", runs_end_after_their_limit),
    ];
    let trials = tests.map(|(name, run)| Trial::test(name, run).with_ignored_flag(missing));
    let trials = board::trials().into_iter().chain(trials).collect();
    libtest_mimic::run(&args, trials).exit_code()
}

/// The outcomes of up to `lanes` branches per cycle.
fn branch_map(lanes: u32) -> Component {
    let m = Module::new("branch_map", "Collects the outcomes of branches.").clocked();
    let valid = m.input("valid_i", lanes, "");
    let taken = m.input("taken_i", lanes, "");
    let flush = m.input("flush_i", 1, "");
    let map_o = m.output("map_o", 31, "");
    let count_o = m.output("count_o", 5, "");
    let map = m.reg("map", zero(31));
    let count = m.reg("count", zero(5));
    m.comb(|b| {
        b.when(&flush, |b| {
            b.set(&map.d, zero(31));
            b.set(&count.d, zero(5));
        });
        b.each(0..lanes, |b, i| {
            b.when(valid.bit(i), |b| {
                b.set(&map.d, &map.d | ((!taken.bit(i)).zext(31) << &count.d));
                b.set(&count.d, &count.d + lit(5, 1));
            });
        });
    });
    m.assign(&map_o, &map.q);
    m.assign(&count_o, &count.q);
    m.finish()
}

/// A sum of registers, in a register.
fn adder(width: u32) -> Component {
    let m = Module::new("adder", "Adds.").clocked();
    let a_i = m.input("a_i", width, "");
    let b_i = m.input("b_i", width, "");
    let sum_o = m.output("sum_o", width, "");
    let (a, b, sum) = (m.reg("a", zero(width)), m.reg("b", zero(width)), m.reg("sum", zero(width)));
    m.assign(&a.d, &a_i);
    m.assign(&b.d, &b_i);
    m.assign(&sum.d, &a.q + &b.q);
    m.assign(&sum_o, &sum.q);
    m.finish()
}

fn area(component: &Component) -> Result<Area, Failed> {
    Ok(Report::of(component, &AREA)?.area.ok_or("no area")?)
}

fn timing(component: &Component) -> Result<Timing, Failed> {
    Ok(Report::of(component, &TIMING)?.timing.ok_or("no timing")?)
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(what().into()) }
}

fn the_tracked_report_is_current() -> Result<(), Failed> {
    let report = Report::of(&branch_map(2), &Options::default())?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/reports/branch_map.json");
    if env::var_os("HARTRACE_BLESS").is_some_and(|value| value == "1") {
        return Ok(fs::write(file, report.to_json())?);
    }
    let tracked = Report::from_json(&fs::read_to_string(file)?)?;
    let changes = compare(&tracked, &report);
    check(changes.is_empty(), || format!("reports/branch_map.json is out of date:\n{changes}"))?;
    check(tracked == report, || format!("the same figures, but not the same report:\n{report}"))
}

fn registers_and_memories_are_counted() -> Result<(), Failed> {
    let m = Module::new("store", "Sixteen words, read at once.").clocked();
    let write = m.input("write_i", 1, "");
    let to = m.input("to_i", 4, "");
    let from = m.input("from_i", 4, "");
    let data_i = m.input("data_i", 14, "");
    let data_o = m.output("data_o", 14, "");
    let words = m.memory("words", 14, 16);
    let buffer = m.reg("buffer", zero(14));
    m.write(&words, &write, &to, &buffer.q);
    m.assign(&buffer.d, &data_i);
    let read = m.read(&words, "word", &from);
    m.assign(&data_o, &read);
    let area = area(&m.finish())?;
    // 14 bits fit into one cell of eight LUTs, whose last pair is for writing.
    check((area.flat.ff, area.flat.lut_ram) == (14, 8), || area.to_string())?;
    check(area.flat_levels == Some(1), || area.to_string())
}

fn instances_are_counted_each() -> Result<(), Failed> {
    let inner = adder(8);
    let m = Module::new("pair", "Two sums of the same.").clocked();
    let (a, b, c) = (m.input("a_i", 8, ""), m.input("b_i", 8, ""), m.input("c_i", 8, ""));
    let (x, y) = (m.output("x_o", 8, ""), m.output("y_o", 8, ""));
    m.inst("i_x", &inner, &[("a_i", &a), ("b_i", &b), ("sum_o", &x)]);
    m.inst("i_y", &inner, &[("a_i", &a), ("b_i", &c), ("sum_o", &y)]);
    let area = area(&m.finish())?;
    let names: Vec<_> = area.modules.iter().map(|m| (m.name.as_str(), m.instances)).collect();
    check(names == [("adder", 2), ("pair", 1)], || area.to_string())?;
    check(area.modules[0].cells.ff == 24 && area.hierarchy.ff == 48, || area.to_string())?;
    // Flattened, one of the two registers of `a_i` is enough.
    check(area.flat.ff == 40, || area.to_string())
}

fn an_adder_is_the_critical_path() -> Result<(), Failed> {
    let timing = timing(&adder(64))?;
    let path = &timing.critical_path;
    let starts = path.from.starts_with("a_q[") || path.from.starts_with("b_q[");
    check(starts && path.to.starts_with("sum_q["), || timing.to_string())?;
    check(path.steps.iter().any(|step| step.at == "adder: a_q + b_q"), || timing.to_string())?;
    // Without the 2 x 64 + 1 flip-flops before it and the 2 x 64 after it.
    check(timing.cells["TRELLIS_FF"] == 3 * 64, || timing.to_string())?;
    let mhz = 1000.0 / path.ns;
    check((mhz - timing.best_mhz).abs() < 0.02 * mhz, || timing.to_string())
}

fn logic_without_a_clock_has_timing() -> Result<(), Failed> {
    let m = Module::new("parity", "Of a word.");
    let word = m.input("word_i", 32, "");
    let odd = m.output("odd_o", 1, "");
    m.assign(&odd, word.parity());
    let timing = timing(&m.finish())?;
    check(timing.cells["TRELLIS_FF"] == 0, || timing.to_string())?;
    let path = &timing.critical_path;
    let ends = (path.from.starts_with("in_word_i["), path.to.as_str());
    check(ends == (true, "out_odd_o"), || timing.to_string())
}

fn errors_of_yosys_are_passed_on() -> Result<(), Failed> {
    let tools = Tools::find()?;
    for (top, text, expected) in [
        ("m", "module m (input a;\nendmodule\n", "source.sv:1: ERROR: syntax error"),
        ("n", "module m;\nendmodule\n", "Module `n' not found"),
        ("m", "module m (inout a, output b);\nassign b = a;\nendmodule\n", "port a is inout"),
    ] {
        match Report::of_source(&Source::new(top, text)?, &TIMING, &tools) {
            Ok(report) => return Err(format!("no error, but {report}").into()),
            Err(error) => {
                let message = error.to_string();
                check(message.contains(expected), || format!("{message}, not {expected}"))?;
            }
        }
    }
    Ok(())
}

fn loops_have_no_levels() -> Result<(), Failed> {
    let text = "module m (input s, input r, output q, output p);\n\
                assign q = ~(r | p);\nassign p = ~(s | q);\nendmodule\n";
    let report = Report::of_source(&Source::new("m", text)?, &AREA, &Tools::find()?)?;
    let area = report.area.ok_or("no area")?;
    check(area.flat_levels.is_none() && area.flat.lut == 2, || area.to_string())
}

fn no_seed_is_refused() -> Result<(), Failed> {
    let options = Options { area: false, seeds: Some(0) };
    match Report::of(&adder(4), &options) {
        Err(FpgaError::NoSeeds) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn runs_end_after_their_limit() -> Result<(), Failed> {
    let tools = Tools::find()?.with_limit(Duration::ZERO);
    match Report::of_source(&Source::from(&adder(4)), &AREA, &tools) {
        Err(FpgaError::TimedOut { .. }) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}
