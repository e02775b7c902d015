//! Harts that retire more than an encoder can describe, and outputs that take less than it sends.
//!
//! Up to a rate nothing is lost. Beyond it, most of what the output takes has to be trace, not recovery from losses:
//! after a loss a trace ends and starts anew, which takes packets as well, and must not cause the next loss.

use crate::bundled::{Executed, bundled};
use hartrace_encoder_hdl::Config;
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::{Bench, Setting, Summary, Traffic};
use libtest_mimic::{Failed, Trial};
use std::fmt::Write as _;

const STEPS: u64 = 200_000;

/// A synchronisation every 2^(10 + 4) packets, as the command line has it.
const RESYNC: (u8, u8) = (1, 10);

/// Configurations, and a program of many branches, or of many interrupts.
const PROGRAMS: [(&str, &str); 6] = [
    ("micro", "interrupts-rv32"),
    ("small", "sort"),
    ("cva6", "sort"),
    ("full", "sort"),
    ("linux", "sort"),
    ("small_bytes", "sort"),
];

/// Idle cycles of a hart, in a thousand. All lanes retire in the others. From 400 on, nothing may be lost.
const IDLE: [u32; 4] = [0, 200, 400, 600];

/// Cycles in a thousand in which the output takes nothing.
const BACK_PRESSURE: [u32; 3] = [700, 800, 900];

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let trial = |(config, program): (&'static str, &'static str)| {
        let run = move || overload(config, program);
        Trial::test(format!("overload/{config}"), run).with_ignored_flag(missing)
    };
    PROGRAMS.into_iter().map(trial).collect()
}

fn overload(name: &str, program: &str) -> Result<(), Failed> {
    let config = Config::named(name).ok_or("no configuration")?;
    let mut bench = Bench::new(&config, &Options::default())?;
    let executed = bundled(program, STEPS, &config, config.lanes.into())?;
    let mut run = |traffic| traced(&mut bench, &executed, traffic);
    let mut row = format!("| `{name}` |");
    let mut lossless = None;
    for idle in IDLE {
        let summary = run(Traffic { idle, ..Traffic::default() })?;
        let share = share(&summary);
        write!(row, " {} |", percent(share))?;
        if idle >= 400 && summary.losses > 0 {
            return Err(format!("idle {idle}: {} losses, {row}", summary.losses).into());
        }
        lossless = Some(summary.payloads as f64 / summary.rows as f64);
    }
    let lossless = lossless.ok_or("no run")?;
    for back_pressure in BACK_PRESSURE {
        let summary = run(Traffic { back_pressure, ..Traffic::default() })?;
        // Of the packets that were sent, those that a trace without losses needs for as much.
        let useful = lossless * summary.rows as f64 / summary.payloads as f64;
        write!(row, " {}, {} |", percent(share(&summary)), percent(useful))?;
        if useful < 0.5 {
            return Err(format!("back-pressure {back_pressure}: {row}").into());
        }
    }
    println!("{row}");
    Ok(())
}

/// Every payload is compared with the golden encoder's.
fn traced(bench: &mut Bench, executed: &Executed, traffic: Traffic) -> Result<Summary, Failed> {
    let setting = Setting { resync: RESYNC, ..Setting::default() };
    bench.restart(1)?;
    Ok(bench.run(&executed.rows, &setting, traffic)?)
}

/// The blocks that were traced, of all that retired.
fn share(summary: &Summary) -> f64 {
    summary.rows as f64 / (summary.rows + summary.lost_rows) as f64
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}
