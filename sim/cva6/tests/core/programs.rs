//! The programs of `tests/programs/elf/cva6`.

use crate::{iss, run, simulator};
use hartrace_cva6_sim::{
    Commit, Config, Cva6Error, Event, Exit, Latency, Platform, Rows, Surprises,
};
use hartrace_etrace::ingress::Privilege;
use hartrace_tests::cva6::elf;
use libtest_mimic::Failed;
use std::collections::BTreeMap;
use std::time::Instant;

/// A program and its properties.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Whether it does not depend on time, so that the instruction set simulator executes the same.
    timeless: bool,
}

const fn program(name: &'static str, timeless: bool) -> Program {
    Program { name, timeless }
}

pub(crate) static ALL: [Program; 8] = [
    program("calls", true),
    program("atomics", true),
    program("exceptions", true),
    program("paging", true),
    program("spaces", true),
    program("interrupts", false),
    program("user", false),
    program("surprises", false),
];

fn events(commits: &[Commit], event: Event) -> usize {
    commits.iter().filter(|commit| commit.event == event).count()
}

impl Program {
    pub(crate) fn check(&self) -> Result<(), String> {
        let elf = elf(self.name)?;
        let start = Instant::now();
        let (run, commits) = run(&elf, &Config::default())?;
        let seconds = start.elapsed().as_secs_f64();
        if run.exit != Exit::Exited(0) {
            return Err(format!("{:?}", run.exit));
        }
        let compared = match self.timeless {
            true => iss::compare(&mut simulator::hart(&elf)?, &commits)?,
            false => 0,
        };
        println!(
            "{}: {} cycles, {} instructions, {} exceptions, {} interrupts, {compared} steps as the ISS, {:.0} \
             cycles/s",
            self.name,
            run.cycles,
            run.instructions,
            events(&commits, Event::Exception),
            events(&commits, Event::Interrupt),
            run.cycles as f64 / seconds,
        );
        Ok(())
    }
}

/// The latency of memory changes when something is executed, not what.
pub(crate) fn latency() -> Result<(), Failed> {
    let elf = elf("exceptions")?;
    let what = |commits: &[Commit]| -> Vec<Commit> {
        let timeless = |commit: &Commit| Commit { cycle: 0, port: 0, ..*commit };
        let end = commits.iter().rposition(|commit| commit.event == Event::Exception);
        commits[..end.unwrap_or(0)].iter().map(timeless).collect()
    };
    let (reference, commits) = run(&elf, &Config::default())?;
    let reference_commits = what(&commits);
    let mut cycles = vec![reference.cycles];
    for (seed, latency) in [
        (1, Latency { cycles: 0, jitter: 0 }),
        (2, Latency { cycles: 1, jitter: 7 }),
        (3, Latency { cycles: 1, jitter: 7 }),
    ] {
        let (run, commits) = run(&elf, &Config { latency, seed, ..Config::default() })?;
        assert_eq!(run.exit, Exit::Exited(0));
        assert!(what(&commits) == reference_commits, "seed {seed}");
        cycles.push(run.cycles);
    }
    println!("{cycles:?} cycles");
    assert!(cycles[1] < cycles[0] && cycles[0] < cycles[2] && cycles[2] != cycles[3]);
    Ok(())
}

/// Random interrupts and requests for debug mode, in addition to those that the program raises itself.
pub(crate) fn surprises() -> Result<(), Failed> {
    let elf = elf("surprises")?;
    let mut seen: BTreeMap<(Event, u64, Privilege), u64> = BTreeMap::new();
    for seed in 0..4 {
        let until = 80_000;
        let pokes =
            Surprises { gap: 400, until, interrupts: true, debug: seed % 2 == 1 }.draw(seed);
        let latency = Latency { cycles: 1, jitter: seed * 3 };
        let (run, commits) = run(&elf, &Config { latency, seed, pokes, ..Config::default() })?;
        assert_eq!(run.exit, Exit::Exited(0), "seed {seed}");
        for commit in commits.iter().filter(|commit| commit.event != Event::Retired) {
            *seen.entry((commit.event, commit.cause, commit.privilege)).or_default() += 1;
        }
    }
    println!("{seen:?}");
    let wanted = |event, causes: &[u64], modes: &[Privilege]| -> Vec<_> {
        let pairs = causes.iter().flat_map(|&cause| modes.iter().map(move |&mode| (cause, mode)));
        pairs.map(|(cause, mode)| (event, cause, mode)).collect()
    };
    let (u, s, m) = (Privilege::U, Privilege::S, Privilege::M);
    let all = [
        wanted(Event::Interrupt, &[3, 7, 11], &[u, s, m]),
        wanted(Event::Interrupt, &[1, 5, 9], &[u, s]),
        wanted(Event::Exception, &[2, 3], &[u, s, m]),
        wanted(Event::Debug, &[24], &[u, s, m]),
    ];
    for kind in all.concat() {
        assert!(seen.contains_key(&kind), "{kind:?} was never seen");
    }
    Ok(())
}

/// Debug mode is entered and left; rows report only the entry.
pub(crate) fn debug() -> Result<(), Failed> {
    let elf = elf("exceptions")?;
    let pokes = Surprises { gap: 500, until: 40_000, interrupts: false, debug: true }.draw(5);
    let (_, commits) = run(&elf, &Config { pokes, ..Config::default() })?;
    let halts = events(&commits, Event::Debug);
    println!("{halts} halts");
    assert!(halts > 20);
    // Nothing else is missing besides debug mode.
    let traced: Vec<Commit> = commits
        .iter()
        .filter(|commit| !commit.debug && commit.event != Event::Debug)
        .copied()
        .collect();
    iss::compare(&mut simulator::hart(&elf)?, &traced)?;
    let mut rows = Rows::default();
    let rows: Vec<_> = commits.iter().filter_map(|commit| rows.row(commit)).collect();
    // A second entry while in debug mode, caused by a longer request, is not a halt.
    let from_outside = |commit: &&Commit| commit.event == Event::Debug && !commit.debug;
    let halts = commits.iter().filter(from_outside).count();
    assert_eq!(rows.iter().filter(|row| row.halted).count(), halts);
    assert_eq!(rows.len(), traced.len() + halts);
    Ok(())
}

pub(crate) fn elsewhere() -> Result<(), Failed> {
    let mut elf = elf("atomics")?;
    // The entry address in the header.
    elf[24] = 4;
    match Platform::new(crate::model()?, &elf, &Config::default()) {
        Err(Cva6Error::Entry { entry: 0x8000_0004, .. }) => {}
        other => return Err(format!("{other:?}").into()),
    }
    match Platform::new(crate::model()?, b"no program", &Config::default()) {
        Err(Cva6Error::Load(_)) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}
