//! The connector in Verilator against a model of blocks: random instructions, traps, interrupts,
//! debug mode and stalls, from the first instruction to the last.

mod asleep;
mod bench;
mod fit;
mod lint;
mod model;
mod stream;

use bench::Drive;
use hartrace_cva6_connector::{Building, Config, Retirement};
use libtest_mimic::{Arguments, Trial};

fn main() {
    let args = Arguments::from_args();
    let missing = !hartrace_hdl_tools::verilate::available();
    let mut trials = Vec::new();
    for (name, config) in configs() {
        let (lint, off) = (config.clone(), config.clone());
        trials.push(Trial::test(format!("asleep/{name}"), move || asleep::stays_asleep(&off)));
        trials.push(Trial::test(format!("lint/{name}"), move || lint::clean(&lint)));
        for (how, drive) in [("stalls", Drive::Stalls), ("runs", Drive::Runs)] {
            let config = config.clone();
            let name = format!("blocks/{name}_{how}");
            trials.push(Trial::test(name, move || bench::compare(&config, drive)));
        }
    }
    trials.push(Trial::test("lint/sees_mistakes", lint::sees_mistakes));
    trials.push(Trial::test("blocks/without_room_for_a_trap", bench::trap_without_room));
    let mut trials: Vec<Trial> =
        trials.into_iter().map(|trial| trial.with_ignored_flag(missing)).collect();
    trials.push(Trial::test("fits_the_encoder", fit::all_named));
    trials.push(Trial::test("whoever_is_asked_waits", fit::whoever_is_asked_waits));
    trials.push(Trial::test("ranges_are_checked", fit::ranges));
    libtest_mimic::run(&args, trials).exit();
}

/// Both ways of building blocks, 1, 2 and 4 lanes, and both limits of every other parameter.
fn configs() -> Vec<(String, Config)> {
    let block = Config::default();
    let single = Config { retirement: Retirement::Single, itype_width_p: 3, ..block.clone() };
    let rv32 = Config { xlen: 32, ecause_width_p: 4, sijump: true, ..block.clone() };
    let short = Config { iretire_width_p: 2, itype_width_p: 3, ..rv32.clone() };
    let shapes = [
        ("1", Config { lanes: 1, ..rv32 }),
        ("2", block.clone()),
        ("2_single", single),
        ("3_short", Config { lanes: 3, ..short }),
        (
            "4",
            Config {
                lanes: 4,
                iretire_width_p: 9,
                privilege_width_p: 3,
                context_width_p: 16,
                ..block
            },
        ),
    ];
    let mut all = Vec::new();
    for (name, config) in shapes {
        for (way, building) in [("direct", Building::Direct), ("serialised", Building::Serialised)]
        {
            all.push((format!("{way}_{name}"), Config { building, ..config.clone() }));
        }
    }
    for (lanes, blocks) in [(2, 1), (4, 2)] {
        let config = Config {
            lanes,
            blocks: Some(blocks),
            building: Building::Serialised,
            ..Config::default()
        };
        all.push((format!("serialised_{lanes}_to_{blocks}"), config));
    }
    all
}
