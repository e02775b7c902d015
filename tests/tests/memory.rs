//! Memory use of the production decoder, counted by the allocator of this test binary.
//!
//! This test does not use the built-in harness, whose threads allocate at any time: the trials run
//! one after the other on the main thread.

use hartrace_bits::{BitReader, BitWriter, Tail, mask};
use hartrace_decoder::stream::{Decode, Transport};
use hartrace_decoder::{
    Config, Count, ElfError, Event, Fault, Image, Run, Sink, StreamPos, Tracer,
};
use hartrace_encap::{EncapParams, FrameHeader, Framing, MAX_FRAME};
use hartrace_etrace::{AddressReport, Ioptions, Layout, Params, Payload, Start};
use hartrace_executions::decompress_all;
use hartrace_golden::walk::Shape;
use hartrace_isa::{Isa, Xlen};
use hartrace_tests::case::{Case, Dice};
use hartrace_tests::production::{config, feed, image};
use libtest_mimic::{Arguments, Trial};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

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
        Trial::test("sources_share_the_code", || {
            sources_share_the_code();
            Ok(())
        }),
        Trial::test("elf_files_are_in_memory_once", || {
            elf_files_are_in_memory_once();
            Ok(())
        }),
        Trial::test("compressed_files_are_bounded", || {
            compressed_files_are_bounded();
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
    2 * code + 1200 * (block_cap + 4) + 3584 * path_cap.max(1024)
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

/// The largest use of memory that a [`Watching`] sink has seen.
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts, and watches the memory.
#[derive(Default)]
struct Watching {
    count: Count,
    refused: Vec<(u64, Fault)>,
}

impl Sink for Watching {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.count.run(at, run);
        PEAK.fetch_max(live(), Ordering::Relaxed);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.count.event(at, event);
        if let Event::Gap(fault) = event {
            self.refused.push((at.packet, fault));
        }
        PEAK.fetch_max(live(), Ordering::Relaxed);
    }
}

/// Eight bytes are enough to name another source. Each is synchronised somewhere in a large program.
fn sources_share_the_code() {
    const LEN: usize = 1 << 20;
    let mut image = Image::new(Isa::new(Xlen::Rv32));
    image.add(BASE, &[0x01, 0x00].repeat(LEN / 2)); // c.nop
    // The largest tables: they are not created before something is stored in them.
    let params = Params {
        bpred_size_p: 16,
        cache_size_p: 16,
        f0s_width_p: 1,
        return_stack_size_p: 15,
        ..Params::default()
    };
    let framing = Framing::Encap(EncapParams::new(16, 0, 0).expect("legal"));
    let config = Config { params, ..Config::default() };
    let layout = params.layout(config.unit).expect("legal");
    let decoded = |sources: u16, threads| {
        let mut capture = Vec::new();
        for source in 0..sources {
            let payload = start(BASE + 64 * u64::from(source));
            let mut bytes = [0; 32];
            let mut bits = BitWriter::new(&mut bytes);
            payload.emit(&layout, Ioptions::default(), &mut bits).expect("fits");
            let len = bits.finish_compressed();
            let bytes = &bytes[..len];
            let header = FrameHeader { source: Some(source), ..FrameHeader::default() };
            let mut frame = [0; MAX_FRAME];
            let len = framing.emit(&header, bytes, &mut frame).expect("fits");
            capture.extend(&frame[..len]);
        }
        assert!(capture.len() <= 10 * usize::from(sources), "{} bytes", capture.len());
        let mut decode = Decode::new(config.clone(), &image, Transport::new(framing));
        decode.threads = NonZeroUsize::new(threads).expect("not zero");
        let before = live();
        PEAK.store(before, Ordering::Relaxed);
        let (mut sum, mut refused) = (Count::default(), Vec::new());
        let result = decode.run(
            &capture[..],
            |_| Watching::default(),
            |part| {
                for (source, sink) in part.sinks {
                    sum.instructions += sink.count.instructions;
                    sum.gaps += sink.count.gaps;
                    refused.extend(sink.refused.into_iter().map(|gap| (source, gap)));
                }
                Ok::<(), std::convert::Infallible>(())
            },
        );
        result.expect("nothing fails");
        (PEAK.load(Ordering::Relaxed) - before, sum, refused)
    };
    for threads in [1, 3] {
        // Apart from the code: buffers of a stream, and some kilobytes for each source.
        let bound = |sources: usize| 2 * LEN * threads + (1 << 19) * threads + (sources << 13);
        for sources in [1, 400, 1024] {
            let (peak, sum, refused) = decoded(sources, threads);
            let bound = bound(sources.into());
            assert!(peak <= bound, "{sources} sources: {peak} bytes are more than {bound}");
            assert_eq!(sum, Count { instructions: sources.into(), gaps: 0 });
            assert_eq!(refused, []);
        }
        // More are left out, and the decoder says so once.
        let (peak, sum, refused) = decoded(u16::MAX, threads);
        assert!(peak <= bound(1024) + 8 * usize::from(u16::MAX), "{peak} bytes");
        assert_eq!(sum, Count { instructions: 1024, gaps: 1 });
        assert_eq!(refused, [(Some(1024), (1024, Fault::TooManySources(1024)))]);
    }
}

/// Bytes that were allocated while `work` ran, whether they were freed or not.
fn allocated<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = MEMORY.stats().bytes_allocated;
    let result = work();
    (MEMORY.stats().bytes_allocated - before, result)
}

/// An ELF file of `size` bytes whose segments are all of it, one page after the other.
fn overlapping(size: usize, segments: u16) -> Vec<u8> {
    let mut file = vec![0; size];
    file[..8].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]);
    let mut put = |at: usize, value: u64, len: usize| {
        file[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
    };
    // e_type, e_machine, e_version, e_phoff, e_ehsize, e_phentsize, e_phnum, e_shentsize
    for (at, value, len) in
        [(16, 2, 2), (18, 243, 2), (20, 1, 4), (32, 64, 8), (52, 64, 2), (54, 56, 2), (58, 64, 2)]
    {
        put(at, value, len);
    }
    put(56, segments.into(), 2);
    for index in 0..u64::from(segments) {
        let at = 64 + 56 * index as usize;
        put(at, 1, 4); // p_type
        put(at + 16, BASE + 4096 * index, 8); // p_vaddr
        put(at + 32, size as u64, 8); // p_filesz
        put(at + 40, size as u64, 8); // p_memsz
    }
    file
}

/// A file of 1 MB may claim that all of it is 500 segments.
fn elf_files_are_in_memory_once() {
    const SIZE: usize = 1 << 20;
    let load = |segments| {
        let file = overlapping(SIZE, segments);
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        let (bytes, result) = allocated(|| image.add_elf(&file, 0));
        (bytes, result.map(|()| image.ranges().count()))
    };
    let (bytes, loaded) = load(2);
    assert_eq!(loaded, Ok(2));
    assert!(bytes < SIZE + SIZE / 8, "{bytes} bytes for two segments");
    let (bytes, refused) = load(500);
    let (segments, file) = (500 * SIZE as u64, SIZE as u64);
    assert_eq!(refused, Err(ElfError::TooLarge { segments, file }));
    assert!(bytes < SIZE / 8, "{bytes} bytes for 500 segments");
}

/// A few bytes of zstd may stand for more than fits in memory.
fn compressed_files_are_bounded() {
    const LIMIT: usize = 1 << 20;
    // Without the allocations of the library that decompresses, which is written in C.
    let packed = zstd::encode_all(std::io::Read::take(std::io::repeat(0), 1 << 28), 1);
    let packed = packed.expect("it is in memory");
    assert!(packed.len() < 1 << 16, "{} bytes", packed.len());
    let (bytes, all) = allocated(|| decompress_all(&packed[..], LIMIT as u64));
    assert!(matches!(all, Ok(None)));
    assert!(bytes <= 8 * LIMIT, "{bytes} bytes");
}
