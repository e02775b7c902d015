//! The programs of `tests/programs/elf/cva6`.

use crate::common::{self, modes, setting};
use crate::models::{Kind, alone};
use flate2::read::GzDecoder;
use hartrace_cva6_sim::soc::{CoreLoop, HartOutcome, Job, Outcome, Soc, Survey};
use hartrace_cva6_sim::{Config, Exit, Latency};
use hartrace_decoder::Image;
use hartrace_hdl_tools::verilate::Options;
use hartrace_isa::{Isa, Xlen};
use hartrace_lockstep::Setting;
use hartrace_lockstep::rtl_loop::LoopConfig;
use hartrace_tests::cva6::elf;
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

/// Traces a program that was surveyed on the core alone.
pub(crate) fn trace(kind: Kind, job: &Job, survey: &Survey) -> Result<Outcome, String> {
    let outcome = common::trace(kind.soc()?, job, survey)?;
    match outcome.run.exit {
        Exit::Exited(0) => Ok(outcome),
        exit => Err(format!("{exit:?}")),
    }
}

fn survey(job: &Job) -> Result<Survey, String> {
    Survey::alone(alone()?, job).map_err(|error| error.to_string())
}

/// Results by the program's name, each made when the first trial asks for it.
type Once<T> = Mutex<BTreeMap<&'static str, Arc<OnceLock<Result<Arc<T>, String>>>>>;

fn once<T>(
    made: &Once<T>,
    name: &'static str,
    make: impl FnOnce() -> Result<T, String>,
) -> Result<Arc<T>, String> {
    let made = made.lock().map_err(|error| error.to_string())?.entry(name).or_default().clone();
    made.get_or_init(|| make().map(Arc::new)).clone()
}

/// A program without external stimuli, and its survey.
fn surveyed(name: &'static str) -> Result<(Job, Arc<Survey>), String> {
    static MADE: Once<Survey> = Mutex::new(BTreeMap::new());
    let job = Job::new(elf(name)?);
    let survey = once(&MADE, name, || survey(&job))?;
    Ok((job, survey))
}

/// Programs, each traced by several systems.
const PROGRAMS: [&str; 7] =
    ["calls", "atomics", "exceptions", "paging", "interrupts", "user", "surprises"];

/// Systems that trace them, and the names of their trials.
const KINDS: [(Kind, &str); 6] = [
    (Kind::Small, "small"),
    (Kind::Narrow, "narrow"),
    (Kind::Full, "full"),
    (Kind::Cva6, "cva6"),
    (Kind::Serialised, "serialised"),
    (Kind::OneLane, "one-lane"),
];

/// The systems that trace a program, with numbers of modes. Every mode is alone for some program, and all of them are on for
/// every program.
fn systems(name: &str) -> Vec<(Kind, u64)> {
    let at = PROGRAMS.iter().position(|it| *it == name).unwrap_or_default() as u64;
    let full = [63, 1 << (at % 6), 7 * at + 9].map(|number| (Kind::Full, number));
    let mut systems = vec![(Kind::Small, 0), (Kind::Cva6, 0b11)];
    systems.extend(full);
    // It uses addresses of which 40 bits are not enough: `cut`.
    if name != "paging" {
        systems.push((Kind::Narrow, 0));
    }
    if ["calls", "exceptions", "surprises"].contains(&name) {
        systems.extend([(Kind::Serialised, 1), (Kind::OneLane, 0b10_1001)]);
    }
    systems
}

/// What all systems have traced of a program, which ran once.
fn traced(name: &'static str) -> Result<Arc<Vec<Outcome>>, String> {
    static MADE: Once<Vec<Outcome>> = Mutex::new(BTreeMap::new());
    once(&MADE, name, || {
        let (job, survey) = surveyed(name)?;
        let attached: Result<Vec<_>, String> = systems(name)
            .into_iter()
            .map(|(kind, number)| Ok((kind.soc()?, setting(modes(number)))))
            .collect();
        Soc::trace_each(&attached?, &job, &survey).map_err(|error| error.to_string())
    })
}

/// The largest number of cycles from the commit of the last instruction of a block to the encoder, if nothing waits.
const MOST_LATE: i64 = 4;

/// Synchronisations have the times at which the encoder received their instructions.
fn check_times(hart: &HartOutcome) -> Result<(), String> {
    let delay = hart.delay.ok_or("there are no times")?;
    println!("{delay:?}");
    match delay.synchronisations > 10 && delay.min > 0 && delay.max <= MOST_LATE {
        true => Ok(()),
        false => Err(format!("{delay:?}")),
    }
}

/// A system has recovered everything, with each of its settings.
fn verify(kind: Kind, name: &'static str) -> Result<(), Failed> {
    let (_, survey) = surveyed(name)?;
    let outcomes = traced(name)?;
    let of_kind = systems(name).into_iter().zip(&*outcomes).filter(|((it, _), _)| *it == kind);
    for ((_, number), outcome) in of_kind {
        common::check(kind.soc()?, outcome, &survey)
            .map_err(|what| format!("modes {number:06b}: {what}"))?;
        let hart = &outcome.harts[0];
        if outcome.run.exit != Exit::Exited(0) || hart.lost > 0 || hart.idle > 8 {
            return Err(format!("modes {number:06b}: {:?}, {hart:?}", outcome.run).into());
        }
        if kind == Kind::OneLane {
            check_times(hart).map_err(|what| format!("modes {number:06b}: {what}"))?;
        }
        println!(
            "{kind:?} {name} {number:06b}: {} cycles, {} of {} instructions and {} traps, {} packets, {:.3} \
             bits/instruction, queue up to {}, FIFO up to {}",
            outcome.run.cycles,
            hart.verified.decoded,
            hart.instructions - hart.idle,
            hart.traps,
            hart.packets,
            8.0 * hart.payload_bytes as f64 / hart.instructions as f64,
            hart.peak_queue,
            outcome.peak_fifo,
        );
    }
    Ok(())
}

/// Random interrupts and debug mode, in addition to those that the program raises itself.
fn surprises(seed: u64) -> Result<(), Failed> {
    let job = common::surprising(seed)?;
    let survey = survey(&job)?;
    let outcome = trace(Kind::Full, &job, &survey)?;
    let hart = &outcome.harts[0];
    println!(
        "{} instructions, {} traps, starts {}",
        hart.instructions, hart.traps, hart.verified.starts
    );
    // Each halt ends a trace, and another one starts after it.
    let halts = seed % 2 == 1;
    assert!(hart.traps > 100 && hart.lost == 0 && (hart.verified.starts > 20) == halts, "{hart:?}");
    Ok(())
}

/// A stream that is almost never ready: missing parts are reported, and the rest is right.
fn losses() -> Result<(), Failed> {
    let (mut job, survey) = surveyed("interrupts")?;
    for back_pressure in [985, 992, 997] {
        job.back_pressure = back_pressure;
        let outcome = trace(Kind::Cva6, &job, &survey)?;
        let hart = &outcome.harts[0];
        println!("{} of {} lost in {}", hart.lost, hart.instructions, hart.verified.losses);
        assert!(hart.verified.losses > 10 && hart.lost < hart.instructions, "{hart:?}");
    }
    Ok(())
}

/// The same stream, but the core waits: nothing is missing, and the program does the same. Slices are between the core and
/// memory, so that memory sees no request withdrawn.
fn stalls() -> Result<(), Failed> {
    // Memory keeps requests waiting, except in a program that needs its stores to arrive soon.
    for (kind, number, name, jitter) in [
        (Kind::FullStall, 0b1_1001, "calls", 2),
        (Kind::FullStall, 0b1_1001, "exceptions", 2),
        (Kind::FullStall, 0b1_1001, "interrupts", 0),
        (Kind::LinuxStall, 0b1, "exceptions", 2),
    ] {
        let mut job = Job::new(elf(name)?);
        job.platform.latency = Latency { cycles: 0, jitter };
        job.limit = 1_000_000;
        let survey = kind.soc()?.survey(&job)?;
        for back_pressure in [0, 990] {
            job.back_pressure = back_pressure;
            job.setting = Setting { stall: true, ..setting(modes(number)) };
            let outcome = trace(kind, &job, &survey)?;
            let hart = &outcome.harts[0];
            println!(
                "{name}: {} cycles, {} without waiting, {} waited, {} requests withdrawn",
                outcome.run.cycles, survey.run.cycles, hart.stalled, outcome.withdrawn
            );
            assert_eq!((hart.lost, outcome.withdrawn), (0, 0));
            match back_pressure {
                0 => assert!(hart.stalled < 100 && outcome.run.cycles < survey.run.cycles + 100),
                _ => assert!(hart.stalled > 100 && outcome.run.cycles > survey.run.cycles),
            }
        }
    }
    Ok(())
}

/// A core that is stopped in the middle of whatever it does, also while it waits for an interrupt or for memory, as it nearly
/// always does where an answer takes 700 cycles: everything that has retired is in the trace, though no later instruction
/// ends its block.
fn tails() -> Result<(), Failed> {
    for (name, latency) in [
        ("interrupts", Latency::default()),
        ("calls", Latency::default()),
        ("exceptions", Latency { cycles: 4, jitter: 9 }),
        ("calls", Latency { cycles: 700, jitter: 0 }),
    ] {
        for limit in [2_000, 2_001, 3_517, 20_003] {
            let mut job = Job::new(elf(name)?);
            (job.platform.latency, job.limit) = (latency, limit);
            let survey = survey(&job)?;
            for kind in [Kind::Cva6, Kind::Serialised] {
                let outcome = kind.soc()?.trace(&job, &survey).map_err(|e| e.to_string())?;
                let hart = &outcome.harts[0];
                let whole = hart.verified.decoded + hart.idle == hart.instructions;
                assert!(hart.instructions > 5, "{} is too few to tell", hart.instructions);
                if outcome.difference().is_some() || !whole || hart.lost > 0 {
                    return Err(format!("{kind:?}, {name} for {limit} cycles: {hart:?}").into());
                }
                assert_eq!((outcome.run.exit, survey.run.exit), (Exit::Limit, Exit::Limit));
            }
        }
    }
    Ok(())
}

/// Two cores, each with its own encoder, into one stream.
fn two_harts() -> Result<(), Failed> {
    let mut job = Job::new(elf("harts")?);
    let soc = Kind::TwoHarts.soc()?;
    for seed in 0..3 {
        job.platform =
            Config { latency: Latency { cycles: 1, jitter: 5 * seed }, seed, ..Config::default() };
        let survey = soc.survey(&job)?;
        job.setting = setting(modes(seed));
        let outcome = trace(Kind::TwoHarts, &job, &survey)?;
        for hart in &outcome.harts {
            println!(
                "{} instructions, {} traps, {} packets",
                hart.instructions, hart.traps, hart.packets
            );
            assert!(hart.instructions > 5_000 && hart.traps > 0 && hart.lost == 0, "{hart:?}");
        }
    }
    Ok(())
}

/// The record of another platform around the same core: the trace contains all of it.
fn prog_a() -> Result<(), Failed> {
    let folder = std::env::var_os("HARTRACE_DATA").ok_or("HARTRACE_DATA is not set")?;
    let unpack = |name: &str| -> Result<Vec<u8>, Failed> {
        let path = Path::new(&folder).join("cva6-commit").join(name);
        let mut bytes = Vec::new();
        GzDecoder::new(File::open(path)?).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let log = String::from_utf8(unpack("prog_a.commit.csv.gz")?)?;
    let count = |events: &[&str]| {
        let event = |line: &&str| line.split(',').nth(2).is_some_and(|it| events.contains(&it));
        log.lines().filter(event).count() as u64
    };
    let job = Job::new(unpack("prog_a.elf.gz")?);
    let survey = survey(&job)?;
    for kind in [Kind::Cva6, Kind::Serialised] {
        let outcome = trace(kind, &job, &survey)?;
        let hart = &outcome.harts[0];
        assert_eq!((hart.instructions, hart.traps), (count(&["R"]), count(&["E", "I"])));
        assert_eq!(hart.lost, 0);
    }
    Ok(())
}

/// The sink's bytes through the generated decoder and walker, cycle by cycle: what was executed comes out.
fn walker(name: &'static str, number: u64) -> Result<(), Failed> {
    let (mut job, survey) = surveyed(name)?;
    job.setting = setting(modes(number));
    let soc = Kind::Full.soc()?;
    let config = LoopConfig::new(soc.config().top.encoder.clone(), 4);
    let core_loop = CoreLoop::new(soc, &config, &Options::default())?;
    let mode = format!("{number:06b}");
    let (figures, outcome) = core_loop.run((name, &mode), &job, &survey)?;
    println!("{figures}");
    let walked = &figures.walked;
    if walked.difference.is_some() || figures.lost > 0 || !walked.gaps.is_empty() {
        return Err(format!("{figures:?}").into());
    }
    // Each instruction, but for those of the loop in which the core waits for the end.
    let hart = &outcome.harts[0];
    if walked.instructions + hart.idle != hart.instructions || hart.idle > 8 {
        return Err(format!("{figures}, {hart:?}").into());
    }
    Ok(())
}

/// Of addresses that need more, the trace has the lower 40 bits, in as many packets as with all of them; the comparison shows it.
fn cut() -> Result<(), Failed> {
    let (job, survey) = surveyed("paging")?;
    let trace = |kind: Kind| -> Result<HartOutcome, Failed> {
        Ok(kind.soc()?.trace(&job, &survey)?.harts.remove(0))
    };
    let (narrow, wide) = (trace(Kind::Narrow)?, trace(Kind::Small)?);
    let first = "exception 12 with 0xff00000000 at 0xff00000000 instead of exception 12 with \
                 0xffffffff00000000 at 0xffffffff00000000";
    let difference = narrow.verified.difference.as_deref().unwrap_or_default();
    println!("{difference}; {} and {} packets", narrow.packets, wide.packets);
    if !difference.ends_with(first) || narrow.packets != wide.packets {
        return Err(format!("{narrow:?}, {wide:?}").into());
    }
    Ok(())
}

/// A decoder with another program reports a difference.
fn other_program() -> Result<(), Failed> {
    let (job, calls) = surveyed("calls")?;
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add_elf(&elf("sort")?, 0)?;
    let survey = Survey { image, tvec: calls.tvec.clone(), ..*calls };
    match trace(Kind::Cva6, &job, &survey) {
        Err(what) if what.contains("hart 0") => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for name in PROGRAMS {
        for (kind, label) in KINDS {
            if systems(name).iter().any(|(it, _)| *it == kind) {
                let verify = move || verify(kind, name);
                trials.push(Trial::test(format!("{label}/{name}"), verify));
            }
        }
    }
    for seed in 0..2 {
        trials.push(Trial::test(format!("surprises/{seed}"), move || surprises(seed)));
    }
    let data = std::env::var_os("HARTRACE_DATA").is_none();
    trials.push(Trial::test("recorded/prog_a", prog_a).with_ignored_flag(data));
    for (name, modes) in [("calls", 0b1_1001), ("exceptions", 0b10_0001)] {
        trials.push(Trial::test(format!("walker/{name}"), move || walker(name, modes)));
    }
    for (kind, label) in [(Kind::Linux, "linux"), (Kind::LinuxSerialised, "linux-serialised")] {
        let spaces = move || Ok(common::spaces::check(kind.soc()?, survey)?);
        trials.push(Trial::test(format!("{label}/spaces"), spaces));
    }
    trials.push(Trial::test("narrow/cut", cut));
    trials.push(Trial::test("losses", losses));
    trials.push(Trial::test("tails", tails));
    trials.push(Trial::test("stalls", stalls));
    trials.push(Trial::test("two-harts", two_harts));
    trials.push(Trial::test("another-program-differs", other_program));
    trials
}
