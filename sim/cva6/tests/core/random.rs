//! Random programs in all modes, with random interrupts and requests for debug mode.
//!
//! A monitor below them handles interrupts invisibly to the program. So, without the handling of interrupts
//! and without debug mode, the record is what the simulator executes, which has neither.

use crate::{finish, iss, model, simulator};
use hartrace_cva6_sim::{Commit, Config, Event, Exit, Latency, Platform, Surprises, map};
use hartrace_iss::Hart;
use hartrace_tests::cva6::{Monitored, monitored};
use hartrace_tests::random::{DATA, NOTES_AT};

/// More cycles than any random program uses.
const LIMIT: u64 = 500_000;

/// Counts of events in programs.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) cycles: u64,
    pub(crate) instructions: u64,
    pub(crate) exceptions: usize,
    pub(crate) interrupts: usize,
    pub(crate) halts: usize,
}

pub(crate) fn check(seed: u64, seen: &mut Seen) -> Result<(), String> {
    let Monitored { monitor: elf, memory } = monitored(seed)?;
    let surprises =
        Surprises { gap: 150, until: 1_000_000, interrupts: true, debug: seed.is_multiple_of(4) };
    let latency = Latency { cycles: seed % 5, jitter: seed % 7 };
    let config = Config { latency, seed, pokes: surprises.draw(seed), ..Config::default() };
    let mut platform = Platform::new(model()?, &elf, &config).map_err(|error| error.to_string())?;
    let mut hart = simulator::hart(&elf)?;
    for (at, bytes) in &memory {
        if !platform.write_memory(*at, bytes) || !hart.write_memory(*at, bytes) {
            return Err(format!("no memory at 0x{at:x}"));
        }
    }
    let (run, commits) = finish(&mut platform, LIMIT)?;
    if run.exit != Exit::Exited(0) {
        return Err(format!("{:?}", run.exit));
    }
    let compared = iss::compare(&mut hart, &without_interrupts(&commits)?);
    same_results(&platform, &hart)?;
    compared?;
    let count = |event| commits.iter().filter(|commit| commit.event == event).count();
    seen.cycles += run.cycles;
    seen.instructions += run.instructions;
    seen.exceptions += count(Event::Exception);
    seen.interrupts += count(Event::Interrupt);
    seen.halts += count(Event::Debug);
    Ok(())
}

/// Checks that memory contents are equal: first the list of results of almost every instruction, which
/// reveals the origin of a difference, then data.
fn same_results(platform: &Platform, hart: &Hart) -> Result<(), String> {
    for (what, start, size) in [("result", NOTES_AT, 1 << 18), ("data", DATA, NOTES_AT - DATA)] {
        let start = map::RAM + start;
        let memories = (platform.read_memory(start, size), hart.read_memory(start, size));
        let (Some(ours), Some(theirs)) = memories else { return Err("no memory".to_owned()) };
        let words = ours.chunks_exact(8).zip(theirs.chunks_exact(8));
        if let Some((number, (ours, theirs))) = words.enumerate().find(|(_, (a, b))| a != b) {
            let at = start + 8 * number as u64;
            return Err(format!(
                "{what} {number} at 0x{at:x} is {ours:x?}, in the ISS {theirs:x?}"
            ));
        }
    }
    Ok(())
}

/// Removes what is executed in debug mode and between an interrupt and the return from it.
fn without_interrupts(commits: &[Commit]) -> Result<Vec<Commit>, String> {
    let mut interrupted: Option<u64> = None;
    let mut rest = Vec::new();
    for commit in commits.iter().filter(|c| !c.debug && c.event != Event::Debug) {
        match (interrupted, commit.event) {
            (None, Event::Interrupt) => interrupted = Some(commit.pc),
            (None, _) => rest.push(*commit),
            (Some(pc), Event::Retired) if commit.eret => {
                if commit.target != pc {
                    return Err(format!("interrupted at 0x{pc:x}, back with {commit}"));
                }
                interrupted = None;
            }
            (Some(_), Event::Retired) => {}
            (Some(_), _) => return Err(format!("a trap in the handler of an interrupt: {commit}")),
        }
    }
    Ok(rest)
}
