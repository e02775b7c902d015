//! Comparison with the peer crate `riscv-etrace`: equal on everything that it supports, and every
//! difference is listed by number in `docs/peer-differences.md`.
//!
//! Random cases are compared up to their first difference. A predicate over program, walk and
//! stream must explain that difference as one of the list, otherwise the test fails. Each entry of
//! the list also has its own small case (see [`directed`]), so that no entry can become outdated
//! unnoticed.
//!
//! `HARTRACE_PEER_RUNS` sets the number of random runs, `HARTRACE_PEER_SEED` the first one.

mod convert;
mod difference;
mod directed;
mod explain;
mod frames;
mod generator;
mod golden;
mod kit;
mod packets;
mod returns;
mod script;
mod tracer;

use difference::{P, Tally, table};
use hartrace_etrace::Unit;
use hartrace_golden::walk::{Shape, generate};
use hartrace_tests::case::Case;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The modes of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Modes {
    /// Every mode.
    All,
    /// Differences or full addresses, sequentially inferable jumps.
    Common,
    /// The same, with implicit returns.
    Returns,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Case `n`, for the reference unit, one row per instruction.
fn case(n: u64, modes: Modes) -> Case {
    // The modes are the low bits of the seed; see `Case::new`.
    let seed = match modes {
        Modes::All => n,
        Modes::Common | Modes::Returns => {
            let returns = u64::from(modes == Modes::Returns);
            (n >> 2) << 6 | (n & 1) << 2 | (n >> 1 & 1) << 5 | returns
        }
    };
    let mut case = Case::new(seed);
    case.encoder.unit = Unit::Reference;
    case.encoder.params.sijump_p = case.encoder.options.sequentially_inferred_jump;
    // Without the most common differences, the rare ones are reached; without nearly all of them,
    // the end of the walk is reached.
    let shape = case.walk.shape.clone();
    let calm = Shape { absolute: 0, trap_first: false, ..shape };
    let quiet = Shape { loop_limit: 0, sijumps: 0, bases: vec![0x1_0000], ..calm.clone() };
    match n >> 2 & 3 {
        0 | 1 => {}
        2 => case.walk = generate(seed, &calm),
        _ => case.walk = generate(seed, &quiet.without_traps()),
    }
    case.rows = case.walk.rows.clone();
    case
}

/// Compares many cases on all cores.
fn random(name: &'static str, modes: Modes, one: fn(u64, &Case, &mut Tally)) -> Tally {
    let runs = number("HARTRACE_PEER_RUNS", 4000);
    let first = number("HARTRACE_PEER_SEED", 0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let worker = |offset: u64| {
        let mut tally = Tally::new(name);
        for n in (first..first + runs).skip(offset as usize).step_by(threads as usize) {
            one(n, &case(n, modes), &mut tally);
        }
        tally
    };
    let mut tally = Tally::new(name);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|t| scope.spawn(move || worker(t))).collect();
        for handle in handles {
            tally.merge(handle.join().expect("a run does not panic"));
        }
    });
    tally
}

static PARSE: LazyLock<Tally> = LazyLock::new(|| random("parse", Modes::All, packets::parse));
static WRITE: LazyLock<Tally> = LazyLock::new(|| random("write", Modes::All, packets::write));
static TRACE: LazyLock<Tally> = LazyLock::new(|| random("trace", Modes::Common, trace));
static RETURNS: LazyLock<Tally> = LazyLock::new(|| random("returns", Modes::Returns, trace));
static GENERATE: LazyLock<Tally> = LazyLock::new(|| random("generate", Modes::Common, generated));
static FRAMES: LazyLock<Tally> = LazyLock::new(|| random("frames", Modes::Common, frames::one));
static DIRECTED: LazyLock<Tally> = LazyLock::new(directed::all);

fn trace(n: u64, case: &Case, tally: &mut Tally) {
    tally.add(n, tracer::verdict(case));
}

fn generated(n: u64, case: &Case, tally: &mut Tally) {
    tally.add(n, generator::verdict(case, &generator::resyncs(case)));
}

/// Field by field, every payload of the golden encoder.
#[test]
fn the_peer_reads_our_payloads() {
    PARSE.check();
}

/// Byte for byte.
#[test]
fn the_peer_writes_our_payloads() {
    WRITE.check();
}

/// Every instruction and trap.
#[test]
fn the_peer_traces_our_streams() {
    TRACE.check();
}

/// Every instruction and trap, with implicit returns that are decodable (D1).
#[test]
fn the_peer_traces_our_implicit_returns() {
    RETURNS.check();
}

/// Every instruction and trap.
#[test]
fn we_decode_what_the_peer_generates() {
    GENERATE.check();
}

/// Headers, payloads and lengths, both ways.
#[test]
fn frames_are_the_same() {
    FRAMES.check();
}

/// One small case for each difference.
#[test]
fn every_difference_is_reproducible() {
    DIRECTED.check();
    let seen: Vec<P> = DIRECTED.known.keys().copied().collect();
    let all: Vec<P> = P::ALL.iter().map(|(p, _)| *p).collect();
    assert_eq!(seen, all);
}

/// The document lists what the tests know, under the same titles.
#[test]
fn the_list_is_complete() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/peer-differences.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let listed: BTreeSet<&str> = text.lines().filter_map(|l| l.strip_prefix("**P")).collect();
    let known: Vec<String> =
        P::ALL.iter().map(|(p, what)| format!("{}. {}", *p as u8, title(what))).collect();
    for entry in &known {
        let found = listed.iter().filter(|line| line.starts_with(entry.as_str())).count();
        assert_eq!(found, 1, "P{entry}");
    }
    assert_eq!(listed.len(), known.len());
}

/// With a capital letter.
fn title(what: &str) -> String {
    what[..1].to_uppercase() + &what[1..]
}

/// Prints what was compared; checks that each difference was seen, and that most cases are equal.
#[test]
fn table_of_differences() {
    let tallies: [&Tally; 7] = [&PARSE, &WRITE, &TRACE, &RETURNS, &GENERATE, &FRAMES, &DIRECTED];
    println!("{}", table(&tallies));
    for (p, what) in P::ALL {
        assert!(tallies.iter().any(|t| t.known.contains_key(p)), "{p} was not seen: {what}");
    }
    for tally in &tallies[..6] {
        assert!(tally.equal > 0, "{}", tally.name);
    }
}
