//! What memory the production decoder takes, counted by the allocator of this test binary.
//!
//! Without the built-in harness, whose threads allocate when they like: the trials run one after the
//! other on the main thread.

use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config, Count, Image, StreamPos, Tracer};
use hartrace_etrace::{Layout, Params, Payload, Start};
use hartrace_isa::{Isa, Xlen};
use hartrace_tests::case::{Case, Dice};
use hartrace_tests::production::{config, feed, image};
use hartrace_walk::Shape;
use libtest_mimic::{Arguments, Trial};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How often memory was asked for so far.
fn requests() -> usize {
    let stats = MEMORY.stats();
    stats.allocations + stats.reallocations
}

/// Bytes in use.
fn live() -> usize {
    let stats = MEMORY.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

fn main() -> ExitCode {
    let args = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let trials = vec![
        Trial::test("known_code_allocates_nothing", || {
            known_code_allocates_nothing();
            Ok(())
        }),
        Trial::test("block_cap_bounds_memory", || {
            block_cap_bounds_memory();
            Ok(())
        }),
    ];
    libtest_mimic::run(&args, trials).exit_code()
}

/// A stream that was decoded before, in every subset of the modes.
fn known_code_allocates_nothing() {
    for seed in 0..64 {
        let case = Case::shaped(seed, Shape { steps: 3000, ..Shape::random(seed) });
        let stream: Vec<Vec<u8>> = case.encode().into_iter().map(|e| e.bytes).collect();
        let (image, config) = (image(&case), config(&case));
        let mut tracer = Tracer::new(config, &image).expect("cases are legal");
        let mut pass = || {
            let mut count = Count::default();
            let before = requests();
            for (packet, payload) in stream.iter().enumerate() {
                feed(&mut tracer, packet as u64, payload, &mut count);
            }
            tracer.finish(&mut count);
            (requests() - before, count)
        };
        let (first, count) = pass();
        assert!(first > 0 || count.instructions == 0, "seed {seed}: requests are not counted");
        assert_eq!(pass(), (0, count), "seed {seed}: memory asked for in the second pass");
    }
}

const BASE: u64 = 0x8000_0000;
const CODE: usize = 16 << 20;
const CAP: usize = 1 << 10;
const MAX_BLOCKS: u64 = 64;
/// Payloads from one synchronisation to the next.
const SYNC_EVERY: u64 = 4;

/// Code of long straight runs, which make the largest blocks, between random words.
fn hostile_code(dice: &mut Dice) -> Vec<u8> {
    let word = |_| if dice.one_in(512) { dice.roll() as u32 } else { 0x0001_0001 }; // c.nop, c.nop
    (0..CODE / 4).map(word).flat_map(u32::to_le_bytes).collect()
}

/// Random bytes, unless they are a support packet: the modes stay as they are.
fn hostile_payload(layout: &Layout, tracer: &Tracer<'_>, dice: &mut Dice) -> Option<Payload> {
    let len = dice.range(1, 31);
    let bytes: Vec<u8> = (0..len).map(|_| dice.roll() as u8).collect();
    let mut bits = BitReader::new(&bytes, Tail::Sign);
    let payload = Payload::parse(layout, tracer.options(), &mut bits).ok()?;
    (!matches!(payload, Payload::Support(_))).then_some(payload)
}

/// The most memory that a decoder with this cap ever has, without what its image takes.
fn peak(image: &Image, block_cap: usize) -> usize {
    let params = Params { iaddress_width_p: 64, ..Params::default() };
    let config = Config { params, block_cap, max_blocks: MAX_BLOCKS, ..Config::default() };
    let layout = params.layout(config.unit).expect("legal");
    let mut dice = Dice::new(2);
    let before = live();
    let mut tracer = Tracer::new(config, image).expect("legal");
    let mut count = Count::default();
    let mut peak = 0;
    for packet in 0..40_000 {
        let payload = if packet % SYNC_EVERY == 0 {
            let address = BASE + dice.range(0, CODE as u64 - 1);
            let start =
                Start { branch: true, privilege: 3, address: address >> 1, ..Start::default() };
            Some(Payload::Start(start))
        } else {
            hostile_payload(&layout, &tracer, &mut dice)
        };
        if let Some(payload) = payload {
            tracer.feed(StreamPos { packet, byte: 0 }, &payload, &mut count);
        }
        peak = peak.max(live() - before);
    }
    peak
}

/// The bound of docs/design/decoder.md, on hostile code and payloads.
fn block_cap_bounds_memory() {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add(BASE, &hostile_code(&mut Dice::new(1)));
    let new = SYNC_EVERY as usize * 2 * (MAX_BLOCKS as usize + 2);
    let bound = 2 * CODE + 2 * 640 * (CAP + new);
    let capped = peak(&image, CAP);
    let free = peak(&image, usize::MAX);
    assert!(capped <= bound, "{capped} bytes are more than {bound}");
    assert!(free > bound, "{free} bytes without a cap: the test has lost its teeth");
}
