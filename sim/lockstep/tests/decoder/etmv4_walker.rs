//! Decoder and block walker behind the model of an ETMv4: what they report is what was executed.

mod damaged;
mod directed;
mod traced;
mod walk;

use crate::RESTLESS;
use fastrand::Rng;
use hartrace_arm_decoder::block_table::Code;
use hartrace_arm_decoder::runs::{Profile, Runs};
use hartrace_arm_decoder::{Capture, Layout, Memory};
use hartrace_capture::snapshot::Protocol;
use hartrace_capture::system::{System, bind, layout_of};
use hartrace_decoder::Edges;
use hartrace_decoder::block_table::{Code as _, WordLayout};
use hartrace_decoder_hdl::walker::Cause;
use hartrace_etmv4::Config as Unit;
use hartrace_golden::arm::{Disturbances, Step};
use hartrace_isa::arm::{Arch, Isa, Rules, Spaces};
use hartrace_lockstep::decoder::{FollowerBench, Said};
use libtest_mimic::{Failed, Trial};
use std::path::PathBuf;
use traced::{DEVARCH, Listing, Traced, Variant, bench, registers, software, walked_as};
use walk::{TRACE_ON, Walk, expand};

/// Steps of a walk.
const STEPS: usize = 1500;

/// Walked = executed = what software finds, and so are the edges.
fn same(bench: &FollowerBench, seed: u64, variant: &Variant) -> Result<u64, Failed> {
    let traced = Traced::new(seed, variant, STEPS);
    let what = format!("seed {seed}, {variant:?}");
    let walk = Walk::new(bench, &traced.code, &traced.bytes)?;
    walk.is(&traced.executed(), &what)?;
    walk.is(&traced.software(&traced.bytes).addresses, &what)?;
    let overflows = traced.steps.iter().filter(|step| matches!(step, Step::Overflow)).count();
    let gaps = walk.gaps.iter().filter(|cause| **cause == Cause::TraceLost).count();
    if walk.gaps.len() != gaps || gaps > overflows || walk.lost > 0 {
        return Err(format!("{what}: {:?}, {} lost", walk.gaps, walk.lost).into());
    }
    let mut runs = Runs::new(Edges::default(), Profile::A);
    let mut memory = Memory::new();
    memory.add(traced.program.base, traced.program.bytes.clone(), Spaces::ALL);
    software(&traced.bytes, traced.unit, Arch::V8, &memory, &mut runs);
    let (wanted, found) = (runs.sink.sorted(), walk.edges.into_iter().collect::<Vec<_>>());
    if wanted != found {
        let other = found.iter().zip(&wanted).find(|(a, b)| a != b);
        return Err(format!("{what}: edges differ: {other:x?}").into());
    }
    Ok(walk.addresses.len() as u64)
}

fn variants(wide: bool, devarch: Option<u32>, seed: u64) -> Variant {
    let mut rng = Rng::with_seed(seed);
    let disturbances = Disturbances { contexts: rng.bool(), overflows: rng.bool(), unknown: false };
    let (broadcast, stack) = (seed % 4 == 1, seed.is_multiple_of(2));
    Variant { wide, broadcast, stack, disturbances, devarch, speculation: 0 }
}

/// Programs of each kind.
const PROGRAMS: u64 = 40;

fn executed(wide: bool, devarch: Option<u32>) -> Result<(), Failed> {
    let bench = bench(registers(devarch).config())?;
    let mut instructions = 0;
    for seed in 0..PROGRAMS {
        instructions += same(&bench, seed, &variants(wide, devarch, seed))?;
    }
    // Otherwise, this does not test what it should.
    if instructions < 10_000 { Err(format!("only {instructions}").into()) } else { Ok(()) }
}

/// Records come faster than the walker can follow: some are lost, each loss is a gap, and everything between the gaps
/// was executed.
fn losses() -> Result<(), Failed> {
    let bench = bench(registers(None).config())?;
    let variant = Variant { wide: true, stack: true, ..Variant::default() };
    // Most walks end sooner.
    let long = |seed| Some(Traced::new(seed, &variant, 40_000)).filter(|it| it.bytes.len() > 9_000);
    let traced = (0..100).find_map(long).ok_or("no walk is long")?;
    let table = traced.code.table(&[], WordLayout::SPAN_BITS);
    let mut following = bench.start(&table, 0, &[])?;
    let mut said = Vec::new();
    following.send(&traced.bytes, |more| said.push(more))?;
    following.send(&TRACE_ON, |more| said.push(more))?;
    following.rest(RESTLESS, |more| said.push(more))?;
    let executed = traced.executed();
    let (mut rest, mut gaps) = (executed.as_slice(), 0);
    let end = Said { block: None, gap: Some(Cause::Lost) };
    let mut piece = Vec::new();
    for said in said.iter().chain([&end]) {
        if let Some(block) = &said.block {
            piece.extend(expand(&traced.code, block).ok_or("there is no such code")?);
        }
        match said.gap {
            None => continue,
            Some(Cause::Lost) => gaps += 1,
            // After a loss, calls are not known.
            Some(Cause::NoReturn) => {}
            Some(other) => return Err(format!("{other:?}").into()),
        }
        let at = match piece.len() {
            0 => Some(0),
            len => rest.windows(len).position(|window| window == piece),
        };
        let at = at.ok_or_else(|| format!("piece {gaps} was not executed"))?;
        rest = &rest[at + piece.len()..];
        piece.clear();
    }
    match following.lost() {
        0 => Err("nothing was lost".into()),
        lost if gaps < 2 => Err(format!("{lost} records lost without a gap").into()),
        _ => Ok(()),
    }
}

/// Q elements and speculation are gaps, and nothing that was not executed is reported.
fn unsupported() -> Result<(), Failed> {
    let bench = bench(registers(None).config())?;
    let (mut gaps, mut cancelled) = (0, 0);
    for seed in 0..10 {
        let disturbances = Disturbances { unknown: true, ..Disturbances::default() };
        let variant = Variant { wide: true, disturbances, ..Variant::default() };
        let traced = Traced::new(seed, &variant, STEPS);
        let walk = Walk::new(&bench, &traced.code, &traced.bytes)?;
        if let Some(cause) = walk.gaps.iter().find(|cause| **cause != Cause::Unsupported) {
            return Err(format!("seed {seed}: {cause:?}").into());
        }
        gaps += walk.gaps.len();
        walk.is_part_of(&traced.executed(), &format!("seed {seed}"))?;
        let variant = Variant { wide: true, speculation: 40, ..Variant::default() };
        let traced = Traced::new(seed, &variant, STEPS);
        let walk = Walk::new(&bench, &traced.code, &traced.bytes)?;
        if walk.gaps.is_empty() {
            return Err(format!("seed {seed}: no gap with speculation").into());
        }
        cancelled += walk.gaps.iter().filter(|cause| **cause == Cause::Unsupported).count();
    }
    if cancelled < 5 {
        return Err(format!("only {cancelled} gaps with speculation").into());
    }
    if gaps < 20 { Err(format!("only {gaps} gaps").into()) } else { Ok(()) }
}

/// Traces of others, of trace units that do not speculate: the walker reports the instructions that software does, except
/// those of Q elements. With `HARTRACE_WALKERS`, also those that need another walker.
fn snapshots(paths: &[PathBuf]) -> Result<(), Failed> {
    let all = std::env::var("HARTRACE_WALKERS").is_ok();
    let mut benches: Vec<(Unit, FollowerBench)> = Vec::new();
    for devarch in [None, Some(DEVARCH)] {
        let unit = registers(devarch).config();
        benches.push((walked_as(unit), bench(unit)?));
    }
    let (mut instructions, mut sources) = (0, 0);
    for path in paths {
        let system = System::open(path)?;
        let System::Snapshot(snapshot) = &system else { continue };
        for buffer in &snapshot.buffers {
            let bytes = system.bytes(buffer).read()?;
            let Ok(layout) = layout_of(buffer.format, None) else { continue };
            let capture = Capture::split(layout, &bytes);
            let origins = system.origins(buffer)?;
            let bound = bind(&capture, &origins, layout == Layout::Raw, None, |_, _| ())?;
            for traced in system.traced(bound, None, None, &mut Vec::new())? {
                let [portion] = &traced.portions[..] else { continue };
                let Protocol::Etmv4(unit) = portion.protocol else { continue };
                let rules = Rules { arch: traced.core.arch, barriers: false, wfx: unit.wfx_branch };
                let mut code = Code::new(rules);
                code.add_memory(&traced.memory, Isa::A64);
                let speculates = unit.max_speculation > 0 || unit.m_profile;
                if speculates || code.ranges().is_empty() {
                    continue;
                }
                let known = benches.iter().position(|(other, _)| *other == walked_as(unit));
                let known = match known {
                    Some(known) => known,
                    None if !all => continue,
                    None => {
                        benches.push((walked_as(unit), bench(unit)?));
                        benches.len() - 1
                    }
                };
                let walk = Walk::new(&benches[known].1, &code, &portion.stream.bytes)?;
                let mut listing = Listing::default();
                traced.decode(&mut listing);
                let what = format!("{}, {}", path.display(), traced.name);
                match walk.gaps.contains(&Cause::Unsupported) {
                    false => walk.is(&listing.addresses, &what)?,
                    true => walk.is_part_of(&listing.addresses, &what)?,
                }
                (instructions, sources) = (instructions + walk.addresses.len(), sources + 1);
            }
        }
    }
    // Otherwise, this does not test what it should.
    match instructions {
        ..50_000 => Err(format!("only {instructions} instructions of {sources} sources").into()),
        _ => Ok(()),
    }
}

/// The trials of the walker for ETMv4.
pub(crate) fn trials(snapshots: Vec<PathBuf>, missing: bool) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, wide, devarch) in [
        ("a64", true, None),
        ("a32_t32", false, None),
        ("ete_a64", true, Some(DEVARCH)),
        ("ete_a32_t32", false, Some(DEVARCH)),
    ] {
        let test = move || executed(wide, devarch);
        trials.push(Trial::test(format!("etmv4_walker/{name}"), test).with_ignored_flag(missing));
    }
    for (name, wide) in [("a64", true), ("a32_t32", false)] {
        let test = move || damaged::damaged(wide);
        let name = format!("etmv4_walker/damaged/{name}");
        trials.push(Trial::test(name, test).with_ignored_flag(missing));
    }
    for (name, test) in
        [("conditional", directed::conditional as fn() -> _), ("returns", directed::returns)]
    {
        trials.push(Trial::test(format!("etmv4_walker/{name}"), test).with_ignored_flag(missing));
    }
    trials.push(Trial::test("etmv4_walker/losses", losses).with_ignored_flag(missing));
    trials.push(Trial::test("etmv4_walker/unsupported", unsupported).with_ignored_flag(missing));
    let missing = missing || snapshots.is_empty();
    let test = move || self::snapshots(&snapshots);
    trials.push(Trial::test("etmv4_walker/snapshots", test).with_ignored_flag(missing));
    trials
}
