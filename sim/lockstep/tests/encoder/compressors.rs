//! Compressors in hardware send the same bits as those in software, from the first to the last, on bundled programs and
//! random walks.

mod bench;
mod designs;
mod mutants;
mod stimuli;

use bench::Bench;
use libtest_mimic::{Failed, Trial};
use stimuli::Stimulus;

/// Compressors of default and unusual sizes, by their names in software.
const SCHEMES: [&str; 8] = [
    "tTMBP",
    "sTMBP",
    "tTMBP[entries=4,bhr_bits=2,ras=2]",
    "bTMBP[entries=16,ibtb=8,ways=4,pc_shift=1,bhr_bits=3,ras=0,path_targets=true]",
    "bTMBP[branches.size=1,branches.step=1,targets.size=1,targets.step=1,whole_targets=false]",
    "rSDC-2x2",
    "rSDC-8x2[shift=1,run.w0=1,run.wmax=3,run.m0=2]",
    "rSDC-512x8[run.wmin=4,run.w0=4,run.wmax=4]",
];

/// Compressors that compress every bundled program.
const DEFAULTS: [&str; 2] = ["bTMBP", "rSDC-128"];

/// Instructions of a program.
const LIMIT: u64 = 200_000;

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let of_walks = SCHEMES.iter().chain(&DEFAULTS).map(|scheme| {
        Trial::test(format!("compressors/walks/{scheme}"), || walks(scheme))
            .with_ignored_flag(missing)
    });
    let of_programs = DEFAULTS.iter().map(|scheme| {
        Trial::test(format!("compressors/programs/{scheme}"), || programs(scheme))
            .with_ignored_flag(missing)
    });
    let of_mutants = DEFAULTS.iter().map(|scheme| {
        Trial::test(format!("compressors/mutants/{scheme}"), || mutants::check(scheme))
            .with_ignored_flag(missing)
    });
    let full = Trial::test("compressors/full_counters", full_counters).with_ignored_flag(missing);
    of_walks.chain(of_programs).chain(of_mutants).chain([full]).collect()
}

/// Random walks and straight code; of both widths if the sizes are not unusual.
fn walks(scheme: &str) -> Result<(), Failed> {
    let widths: &[u32] = match scheme {
        "tTMBP" => &[64],
        _ if DEFAULTS.contains(&scheme) => &[32, 64],
        _ => &[32],
    };
    for &xlen in widths {
        let mut bench = Bench::new(&designs::component(scheme, xlen)?)?;
        for seed in 0..60 {
            let stimulus = stimuli::walk(scheme, xlen, seed)?;
            bench.compare(&stimulus, seed).map_err(|error| format!("walk {seed}: {error}"))?;
        }
        for (number, stimulus) in (0..).zip(stimuli::straight(scheme, xlen)?) {
            let compared = bench.compare(&stimulus, number);
            compared.map_err(|error| format!("straight code {number}: {error}"))?;
        }
    }
    Ok(())
}

/// Every bundled program, at full speed.
fn programs(scheme: &str) -> Result<(), Failed> {
    let mut benches = [32, 64].map(|xlen| (xlen, None));
    println!("{scheme}: program, instructions, bits, cycles in a thousand that the hart waits");
    for (name, xlen, stimulus) in stimuli::programs(scheme, LIMIT)? {
        let (_, bench) =
            benches.iter_mut().find(|(other, _)| *other == xlen).ok_or("no such width")?;
        let bench = match bench {
            Some(bench) => bench,
            None => bench.insert(Bench::new(&designs::component(scheme, xlen)?)?),
        };
        let stalled = bench.compare(&stimulus, 1).map_err(|error| format!("{name}: {error}"))?;
        let Stimulus { rows, bits, .. } = &stimulus;
        let share = 1000.0 * stalled as f64 / rows.len() as f64;
        println!("{name}: {}, {}, {share:.1}", rows.len(), bits.len());
    }
    Ok(())
}

/// When counters are full, hardware sends records that software does not: they must change nothing.
fn full_counters() -> Result<(), Failed> {
    let scheme = "bTMBP";
    let mut bench = Bench::new(&designs::with_small_counters(scheme, 64)?)?;
    let mut more = 0;
    for (name, xlen, stimulus) in stimuli::programs(scheme, LIMIT)? {
        if xlen == 64 {
            let bits = bench.bits(&stimulus, 1)?;
            more += u64::from(bits.len() > stimulus.bits.len());
            stimulus.check(scheme, &bits).map_err(|error| format!("{name}: {error:?}"))?;
        }
    }
    if more < 6 { Err(format!("only {more} programs fill the counters").into()) } else { Ok(()) }
}
