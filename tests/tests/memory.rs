//! Memory use of the production decoder, counted by the allocator of this test binary.
//!
//! This test does not use the built-in harness, whose threads allocate at any time: the trials run
//! one after the other on the main thread.

use hartrace_bits::{BitReader, Tail, mask};
use hartrace_decoder::{Config, Count, Image, StreamPos, Tracer};
use hartrace_etrace::{AddressReport, Layout, Params, Payload, Start};
use hartrace_golden::walk::Shape;
use hartrace_isa::{Isa, Xlen};
use hartrace_tests::case::{Case, Dice};
use hartrace_tests::production::{config, feed, image};
use libtest_mimic::{Arguments, Trial};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Number of allocations so far.
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
        Trial::test("caps_bound_memory", || {
            caps_bound_memory();
            Ok(())
        }),
        Trial::test("caps_bound_memory_without_synchronisations", || {
            caps_bound_memory_without_synchronisations();
            Ok(())
        }),
        Trial::test("odd_code_is_bounded", || {
            odd_code_is_bounded();
            Ok(())
        }),
        Trial::test("long_jumps_allocate_nothing", || {
            long_jumps_allocate_nothing();
            Ok(())
        }),
    ];
    libtest_mimic::run(&args, trials).exit_code()
}

/// A stream that was decoded before allocates nothing, in every subset of the modes.
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
const PATHS: usize = 1 << 6;
const MAX_BLOCKS: u64 = 64;
/// Number of payloads from one synchronisation to the next.
const SYNC_EVERY: u64 = 4;

/// Code with long straight runs, which make the largest blocks, between random words.
fn hostile_code(dice: &mut Dice) -> Vec<u8> {
    let word = |_| if dice.one_in(512) { dice.roll() as u32 } else { 0x0001_0001 }; // c.nop, c.nop
    (0..CODE / 4).map(word).flat_map(u32::to_le_bytes).collect()
}

/// Random bytes, unless they are a support packet: the modes do not change.
fn hostile_payload(layout: &Layout, tracer: &Tracer<'_>, dice: &mut Dice) -> Option<Payload> {
    let len = dice.range(1, 31);
    let bytes: Vec<u8> = (0..len).map(|_| dice.roll() as u8).collect();
    let mut bits = BitReader::new(&bytes, Tail::Sign);
    let payload = Payload::parse(layout, tracer.options(), &mut bits).ok()?;
    (!matches!(payload, Payload::Support(_))).then_some(payload)
}

/// The peak memory of a decoder with this cap, without that of its image.
fn peak(image: &Image, block_cap: usize) -> usize {
    let params = Params { iaddress_width_p: 64, ..Params::default() };
    let config =
        Config { params, block_cap, path_cap: PATHS, max_blocks: MAX_BLOCKS, ..Config::default() };
    let layout = params.layout(config.unit).expect("legal");
    let mut dice = Dice::new(2);
    let before = live();
    let mut tracer = Tracer::new(config, image).expect("legal");
    let mut count = Count::default();
    let mut peak = 0;
    for packet in 0..40_000 {
        let payload = if packet % SYNC_EVERY == 0 {
            let address = BASE + dice.range(0, CODE as u64 - 1);
            Some(start(address))
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

/// The bound from docs/design/decoder.md.
fn bound(code: usize, block_cap: usize, path_cap: usize) -> usize {
    2 * code + 1200 * (block_cap + 4) + 3072 * path_cap.max(1024)
}

fn caps_bound_memory() {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add(BASE, &hostile_code(&mut Dice::new(1)));
    let bound = bound(CODE, CAP, PATHS);
    let capped = peak(&image, CAP);
    let free = peak(&image, usize::MAX);
    assert!(capped <= bound, "{capped} bytes are more than {bound}");
    assert!(free > bound, "{free} bytes without a cap: the test has lost its teeth");
}

fn start(address: u64) -> Payload {
    Payload::Start(Start { branch: true, privilege: 3, address: address >> 1, ..Start::default() })
}

/// Every payload jumps to another place in long straight-line code.
fn caps_bound_memory_without_synchronisations() {
    let len = 1 << 20;
    let mut code: Vec<u8> = [0x01, 0x00].repeat(len / 2); // c.nop
    code.extend([0x82, 0x80]); // ret
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add(BASE, &code);
    let peak = |block_cap| {
        let before = live();
        let config = Config { block_cap, path_cap: PATHS, ..Config::default() };
        let mut tracer = Tracer::new(config, &image).expect("legal");
        let mut count = Count::default();
        tracer.feed(StreamPos::default(), &start(BASE), &mut count);
        let (mut peak, mut last) = (0, BASE);
        for packet in 1..5000 {
            let at = BASE + len as u64 - 2 * packet;
            let report = AddressReport::new(at.wrapping_sub(last) >> 1 & mask(63));
            tracer.feed(StreamPos { packet, byte: 0 }, &Payload::Address(report), &mut count);
            (last, peak) = (at, peak.max(live() - before));
        }
        assert_eq!(count.gaps, 0);
        peak
    };
    let (capped, free, bound) = (peak(64), peak(usize::MAX), bound(len, 64, PATHS));
    assert!(capped <= bound, "{capped} bytes are more than {bound}");
    assert!(free > capped, "{free} and {capped} bytes: the test has lost its teeth");
}

/// Code at odd addresses is not cached: a loop in it is still a gap, and uses no memory. Code at
/// even addresses is cached, wherever its segment starts.
fn odd_code_is_bounded() {
    let circle = [0x13, 0, 0, 0, 0x13, 0, 0, 0, 0x6f, 0xf0, 0xdf, 0xff, 0x13, 0, 0, 0];
    for (code, before) in [(BASE + 1, None), (BASE, Some(BASE - 16))] {
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        image.add(code, &circle);
        if let Some(before) = before {
            // The following segment now starts with its second byte.
            image.add(before, &[0; 17]);
        }
        let params = Params { iaddress_lsb_p: 0, iaddress_width_p: 64, ..Params::default() };
        let config = Config { params, block_cap: 16, path_cap: PATHS, ..Config::default() };
        let mut tracer = Tracer::new(config, &image).expect("legal");
        let (before, mut count) = (live(), Count::default());
        let Payload::Start(mut sync) = start(0) else { unreachable!() };
        sync.address = code + 4;
        tracer.feed(StreamPos::default(), &Payload::Start(sync), &mut count);
        let report = AddressReport { notify: true, ..AddressReport::new(8) };
        tracer.feed(StreamPos { packet: 1, byte: 0 }, &Payload::Address(report), &mut count);
        assert_eq!(count.gaps, 1);
        assert!(count.instructions < 10_000, "{count:?}");
        assert!(live() - before < 1 << 16, "{} bytes", live() - before);
    }
}

/// Many jumps without a branch: the search for a repetition uses no memory either.
fn long_jumps_allocate_nothing() {
    let mut code: Vec<u8> = [0x09, 0xa0].repeat(400); // c.j .+2
    code.extend([0x82, 0x80]); // ret
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add(BASE, &code);
    let params = Params { iaddress_width_p: 64, return_stack_size_p: 4, ..Params::default() };
    let mut tracer = Tracer::new(Config { params, ..Config::default() }, &image).expect("legal");
    let mut count = Count::default();
    let mut pass = || {
        let before = requests();
        tracer.feed(StreamPos::default(), &start(BASE), &mut count);
        tracer.feed(StreamPos::default(), &Payload::Address(AddressReport::new(0)), &mut count);
        requests() - before
    };
    assert!(pass() > 0, "requests are not counted");
    assert_eq!(pass(), 0, "memory asked for in the second pass");
    // Three passes through all of it: the second synchronisation is also reached by walking.
    assert_eq!((count.gaps, count.instructions), (0, 3 * 401 + 1));
}
