//! The adapters. One is connected to the [`probes`] of a current core, one to the [`rvfi`] of any core; the third is
//! bound into a module with the nets of the core. The tests cover every kind of instruction, outcomes of
//! branches by their place in the scoreboard, traps and the debugger.

mod probes;
mod rvfi;

use fastrand::Rng;
use hartrace_cva6_connector::{ADAPTER, Config, HOLD, Kind, RVFI_ADAPTER};
use hartrace_hdl_tools::lint::Linter;
use hartrace_hdl_tools::verilate::{Design, Options, Simulation, available};
use hartrace_isa::Xlen;
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;

/// Functional unit and operation of everything that is distinguished, as numbers of the core.
const OPERATIONS: [(u64, u64, Kind); 15] = [
    (4, 17, Kind::Branch),
    (4, 18, Kind::Branch),
    (4, 13, Kind::Branch),
    (4, 14, Kind::Branch),
    (4, 15, Kind::Branch),
    (4, 16, Kind::Branch),
    (4, 19, Kind::IndirectJump),
    (4, 0, Kind::DirectJump),
    (6, 23, Kind::TrapReturn),
    (6, 24, Kind::TrapReturn),
    (6, 25, Kind::TrapReturn),
    (6, 26, Kind::Plain),
    // The same numbers mean other operations in other units.
    (3, 0, Kind::Plain),
    (3, 17, Kind::Plain),
    (3, 23, Kind::Plain),
];

/// Instructions as fetched, whether they are compressed, and whether they load a constant: lui,
/// auipc, addi, c.lui, c.addi16sp, c.li.
const WORDS: [(u64, bool, bool); 6] = [
    (0x1234_52b7, false, true),
    (0xffff_f297, false, true),
    (0x0012_8293, false, false),
    (0x6285, true, true),
    (0x6105, true, false),
    (0x4285, true, false),
];

/// The module around the adapter for probes.
const PROBED: (&str, &str) = ("probed.sv", include_str!("probes.sv"));

/// The adapter for probes in the module around it, with a substitute for the header of the core in the place of its
/// inclusion.
fn probed() -> Vec<(String, String)> {
    let include = "`include \"rvfi_types.svh\"\n";
    // The core into which it could be bound is not there.
    let adapter = RVFI_ADAPTER.into_iter().filter(|(name, _)| *name != "cva6_te_rvfi_bind.sv");
    let sources = [PROBED].into_iter().chain(adapter);
    sources
        .map(|(name, text)| {
            let text = text.replace(include, include_str!("rvfi_types.svh"));
            (name.trim_end_matches(".sv").to_owned(), text)
        })
        .collect()
}

fn main() {
    let args = Arguments::from_args();
    let trials = vec![
        Trial::test("commit_nets", commit_nets),
        Trial::test("probes_one_issue_port", || probes::probes(Xlen::Rv32, 1, false)),
        Trial::test("probes_two_issue_ports", || probes::probes(Xlen::Rv64, 2, false)),
        Trial::test("probes_root_of_pages", || probes::probes(Xlen::Rv64, 1, true)),
        Trial::test("probes_that_do_not_fit", probes::refused),
        Trial::test("rvfi_one_lane", || rvfi::random(Xlen::Rv32, 1)),
        Trial::test("rvfi_two_lanes", || rvfi::random(Xlen::Rv64, 2)),
        Trial::test("rvfi_rules_that_are_broken", rvfi::lost),
        Trial::test("lint_hold", lint_hold),
    ];
    let mut trials: Vec<Trial> =
        trials.into_iter().map(|trial| trial.with_ignored_flag(!available())).collect();
    trials.push(Trial::test("lint_slang", lint).with_ignored_flag(!Linter::Slang.available()));
    libtest_mimic::run(&args, trials).exit();
}

fn lint() -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint_adapter");
    let mut designs = vec![probed(), held()];
    for (lanes, xlen) in [(1, 32), (2, 64)] {
        designs.push(rvfi::adapter(&Config { lanes, xlen, ..Config::default() }));
    }
    Linter::Slang.check(&folder, &designs)
}

/// What makes a core wait, in a module with the types of a bus.
fn held() -> Vec<(String, String)> {
    let around = ("held.sv", include_str!("hold.sv"));
    let named = |(name, text): (&str, &str)| (name.trim_end_matches(".sv").into(), text.into());
    [around].into_iter().chain(HOLD).map(named).collect()
}

fn lint_hold() -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lint_hold");
    Linter::Verilator.check(&folder, &[held()])
}

/// An adapter inside a substitute for the core.
fn design(top: &str, texts: &[(String, String)]) -> Design {
    texts
        .iter()
        .fold(Design::files(top, [""; 0]), |design, (name, text)| design.text(name, text))
        .clock("clk_i")
        .reset("rst_ni", false)
        .argument("-Wall")
        .argument("-Wno-DECLFILENAME")
}

fn commit_nets() -> Result<(), Failed> {
    let around = ("adapted.sv", include_str!("core.sv"));
    let named = |(name, text): (&str, &str)| (name.trim_end_matches(".sv").into(), text.into());
    let texts: Vec<(String, String)> = [around].into_iter().chain(ADAPTER).map(named).collect();
    let design = design("adapted", &texts)
        // Outputs that are read by their hierarchical names are left open.
        .argument("-Wno-PINCONNECTEMPTY");
    let mut sim = Simulation::build(&design, &Options::default())?;
    sim.reset()?;
    let mut rng = Rng::with_seed(6);
    let mut taken = [false; 8];
    let mut loaded = None;
    let mut inferable = 0;
    for _ in 0..5_000 {
        let lanes = [0; 2].map(|_| OPERATIONS[rng.usize(..OPERATIONS.len())]);
        let slots = [rng.usize(..8), rng.usize(..8)];
        let random: Vec<u64> = (0..10).map(|_| rng.u64(..)).collect();
        let [trap, debug_entry, resolved, outcome] = [0, 1, 2, 3].map(|bit| random[0] >> bit & 1);
        let slot = rng.usize(..8);
        let pair = |width: u32, low: u64, high: u64| low | high << width;
        // Few registers, and one of another register file with the same lowest bits.
        let register = |random: u64| [0, 1, 5, 33][random as usize % 4];
        let rs1 = [register(random[1]), register(random[2])];
        let rd = [register(random[3]), register(random[4])];
        let words = [0; 2].map(|_| WORDS[rng.usize(..WORDS.len())]);
        let narrow = [
            ("slot_i", pair(3, slots[0] as u64, slots[1] as u64)),
            ("fu_i", pair(4, lanes[0].0, lanes[1].0)),
            ("op_i", pair(8, lanes[0].1, lanes[1].1)),
            ("rs1_i", pair(6, rs1[0], rs1[1])),
            ("rd_i", pair(6, rd[0], rd[1])),
            ("word_i", pair(32, words[0].0, words[1].0)),
            ("compressed_i", pair(1, words[0].1.into(), words[1].1.into())),
            ("ack_i", random[0] >> 6 & 3),
            ("trap_i", trap),
            ("cause_i", random[5]),
            ("tval_i", random[6]),
            ("priv_i", [0, 1, 3][rng.usize(..3)]),
            ("debug_i", random[0] >> 8 & 1),
            ("debug_entry_i", debug_entry),
            ("resolved_i", resolved),
            ("resolved_taken_i", outcome),
            ("resolved_slot_i", slot as u64),
            ("asid_i", random[9] & 0xffff),
        ];
        for (name, value) in narrow {
            let input = sim.input(name)?;
            sim.set(input, value);
        }
        let given = |name: &str| narrow.iter().find(|(n, _)| *n == name).map_or(0, |(_, v)| *v);
        let pc = sim.input("pc_i")?;
        sim.set_wide(pc, &random[7..9]);
        sim.settle()?;
        let get = |name: &str| Ok::<u64, Failed>(sim.get(sim.output(name)?));
        let kinds = pair(3, lanes[0].2 as u64, lanes[1].2 as u64);
        let mut sijumps = 0;
        for i in (0..2).filter(|i| given("ack_i") >> i & 1 == 1) {
            let jumps = lanes[i].2 == Kind::IndirectJump && loaded == Some(rs1[i] % 32);
            sijumps |= u64::from(jumps) << i;
            loaded = Some(rd[i] % 32).filter(|rd| words[i].2 && *rd != 0);
        }
        inferable += sijumps.count_ones();
        if trap == 1 || given("debug_i") == 1 {
            loaded = None;
        }
        let expected = [
            ("sijump_o", sijumps),
            ("valid_o", given("ack_i")),
            ("compressed_o", given("compressed_i")),
            ("kind_o", kinds),
            ("taken_o", pair(1, taken[slots[0]].into(), taken[slots[1]].into())),
            ("rd_o", pair(5, rd[0] % 32, rd[1] % 32)),
            ("rs1_o", pair(5, rs1[0] % 32, rs1[1] % 32)),
            ("trap_o", trap & (debug_entry ^ 1)),
            ("interrupt_o", random[5] >> 63),
            ("cause_o", random[5]),
            ("tval_o", random[6]),
            ("trap_pc_o", random[7]),
            ("priv_o", given("priv_i")),
            ("context_o", given("asid_i")),
            ("debug_o", given("debug_i")),
        ];
        for (name, value) in expected {
            assert_eq!(get(name)?, value, "{name}");
        }
        assert_eq!(sim.get_wide(sim.output("pc_o")?), &random[7..9]);
        if resolved == 1 {
            taken[slot] = outcome == 1;
        }
        sim.clock()?;
    }
    assert!(inferable > 20, "{inferable} sequentially inferable jumps");
    Ok(())
}
