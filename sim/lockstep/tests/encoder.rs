//! The RTL of named and random configurations sends what the golden encoder sends.

use hartrace_encoder_hdl::{Config, Overflow, ResyncUnit};
use hartrace_etrace::{Ioptions, Params};
use hartrace_lockstep::{Bench, Setting, Traffic};
use hartrace_verilate::Options;
use hartrace_walk::{Shape, Xlen, generate};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let args = Arguments::from_args();
    let mut trials = Vec::new();
    for seed in 0..number("HARTRACE_CONFIGS", 40) {
        let trial = Trial::test(format!("random/{seed}"), move || random(seed));
        trials.push(trial.with_ignored_flag(!hartrace_verilate::available()));
    }
    libtest_mimic::run(&args, trials).exit();
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A random configuration.
fn config(rng: &mut fastrand::Rng) -> (Config, Xlen) {
    let xlen = if rng.bool() { Xlen::Rv64 } else { Xlen::Rv32 };
    let itype = if rng.u8(..4) == 0 { 3 } else { 4 };
    let returns = if itype == 4 { rng.u8(..3) } else { 0 };
    let (cache, bpred) = (rng.bool(), rng.bool());
    let mut resync = vec![ResyncUnit::Packets, ResyncUnit::Cycles, ResyncUnit::HalfWords];
    rng.shuffle(&mut resync);
    resync.truncate(rng.usize(1..=3));
    let etrace = Params {
        iaddress_width_p: if rng.u8(..3) == 0 {
            rng.u8(xlen.bits() - 8..=xlen.bits())
        } else {
            xlen.bits()
        },
        iaddress_lsb_p: rng.u8(0..=2),
        privilege_width_p: rng.u8(2..=3),
        ecause_width_p: rng.u8(4..=8),
        context_width_p: rng.u8(1..=16),
        nocontext_p: rng.bool(),
        time_width_p: rng.u8(1..=40),
        notime_p: rng.u8(..3) > 0,
        f0s_width_p: rng.u8(u8::from(cache && bpred)..=2),
        bpred_size_p: if bpred { rng.u8(1..=7) } else { 0 },
        cache_size_p: if cache { rng.u8(1..=6) } else { 0 },
        return_stack_size_p: if returns == 1 { rng.u8(1..=4) } else { 0 },
        call_counter_size_p: if returns == 2 { rng.u8(1..=5) } else { 0 },
        sijump_p: rng.bool(),
    };
    let config = Config {
        lanes: rng.u8(1..=4),
        iretire_width_p: rng.u8(2..=6),
        itype_width_p: itype,
        full_address: rng.bool(),
        implicit_exception: rng.bool(),
        triggers: rng.bool(),
        comparators: if rng.u8(..3) == 0 { rng.u8(1..=2) } else { 0 },
        ingress_depth: [0, 2, 4, 7, 16][rng.usize(..5)],
        resync,
        overflow: if rng.bool() { Overflow::Stall } else { Overflow::Drop },
        etrace,
    };
    (config, xlen)
}

fn setting(rng: &mut fastrand::Rng, config: &Config) -> Setting {
    let e = &config.etrace;
    let options = Ioptions {
        implicit_return: e.irdepth_bits() > 0 && rng.bool(),
        implicit_exception: config.implicit_exception && rng.bool(),
        full_address: config.full_address && rng.bool(),
        jump_target_cache: e.cache_size_p > 0 && rng.u8(..4) > 0,
        branch_prediction: e.bpred_size_p > 0 && rng.bool(),
        sijump: e.sijump_p && rng.bool(),
        delta_address: false,
    };
    let unit = rng.choice(&config.resync);
    let mode = match unit {
        Some(ResyncUnit::Packets) => 1,
        Some(ResyncUnit::Cycles) => 2,
        Some(ResyncUnit::HalfWords) => 3,
        None => 0,
    };
    let resync = (if rng.u8(..5) == 0 { 0 } else { mode }, rng.u8(0..=4));
    let privileges =
        if rng.u8(..5) == 0 { vec![rng.choice([0, 1, 3]).unwrap_or(3)] } else { Vec::new() };
    Setting { options, resync, privileges, ranges: Vec::new() }
}

fn random(seed: u64) -> Result<(), Failed> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (config, xlen) = config(&mut rng);
    let mut bench =
        Bench::new(&config, &Options::default()).map_err(|e| format!("{config:?}: {e}"))?;
    let mut left = number("HARTRACE_STEPS", 100_000);
    let (mut payloads, mut lost) = (0, 0);
    for turn in 0.. {
        if left == 0 {
            break;
        }
        let e = &config.etrace;
        let mut setting = setting(&mut rng, &config);
        let steps = rng.u64(1..=20_000).min(left);
        let mut shape = Shape::random(seed.wrapping_mul(1000) + turn);
        shape.steps = steps as usize;
        shape.xlen = xlen;
        shape.address_bits = e.iaddress_width_p;
        shape.compressed = e.iaddress_lsb_p < 2 && rng.bool();
        shape.well_behaved |= e.call_counter_size_p > 0;
        if config.itype_width_p == 3 {
            shape.itype_width = hartrace_ingress::ITypeWidth::Three;
        }
        shape.context_bits =
            if e.nocontext_p { 0 } else { shape.context_bits.min(e.context_width_p) };
        if !config.triggers {
            (shape.notifies, shape.trace_toggles) = (0, 0);
        }
        let walk = generate(seed * 1000 + turn, &shape);
        let lanes = config.lanes.into();
        let rows = walk.blocks_within(rng.u64(..), lanes, (1 << config.iretire_width_p) - 1);
        for _ in 0..rng.u8(..=config.comparators.min(2)) {
            let mut pick = || rows[rng.usize(..rows.len())].iaddr;
            let (a, b) = (pick(), pick());
            setting.ranges.push((a.min(b), a.max(b)));
        }
        let traffic = Traffic {
            back_pressure: if rng.bool() { rng.u32(..950) } else { 0 },
            idle: if rng.bool() { rng.u32(..900) } else { 0 },
            seed: rng.u64(..),
        };
        bench.restart(rng.u32(1..))?;
        let summary = bench
            .run(&rows, &setting, traffic)
            .map_err(|e| format!("turn {turn}: {e}\n{setting:?}\n{traffic:?}\n{config:?}"))?;
        payloads += summary.payloads;
        lost += summary.lost;
        left -= steps;
    }
    println!("{seed}: {payloads} payloads, {lost} groups lost");
    Ok(())
}
