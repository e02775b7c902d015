//! How time and memory grow with the length of a stream: 1 MB to 1 GB of packets.
//!
//! The input is a stream of the reference flow with `HARTRACE_DATA`, otherwise a random walk. It is
//! repeated as often as needed and never held as a whole: it starts with a support packet and a
//! synchronisation and ends with a support packet, so its start may follow its end.
//!
//! One decoder processes 1 GB. After every fourth megabyte a new one decodes the first megabyte, so
//! that the load of the machine affects both in the same way; times are processor times. The last
//! lines are `ratio NAME VALUE`.

#[expect(dead_code, reason = "only the input is needed here, not the peer's side")]
#[path = "peer/input.rs"]
mod input;

use hartrace_decoder::{Count, Image, StreamPos, Tracer};
use hartrace_encap::{Framing, Item};
use input::Input;
use stats_alloc::{INSTRUMENTED_SYSTEM, Stats, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MEGABYTE: u64 = 1_000_000;
/// Number of them after which a line is printed.
const SHOWN: [u64; 4] = [1, 10, 100, 1000];

fn main() {
    let input = input::inputs().remove(0);
    let image = input.image();
    println!("{}: {} bytes, repeated", input.name, input.stream.len());
    println!(
        "{:>10} {:>12} {:>8} {:>8} {:>10} {:>12}",
        "bytes", "instructions", "ns/byte", "peak kB", "live bytes", "allocations"
    );
    // Not counting the memory for preparing the stream.
    std::fs::write("/proc/self/clear_refs", "5").expect("Linux lets a process reset its peak");
    let mut long = Decoding::new(&input, &image);
    let (mut short_time, mut short_bytes) = (0, 0);
    let mut peaks = Vec::new();
    for megabyte in 1..=1000 {
        long.go_on(megabyte * MEGABYTE);
        if megabyte % 4 == 1 {
            let mut short = Decoding::new(&input, &image);
            short.go_on(MEGABYTE);
            short_time += short.time;
            short_bytes += short.bytes;
        }
        if SHOWN.contains(&megabyte) {
            peaks.push(resident_peak());
            long.print(resident_peak());
        }
        if megabyte.is_multiple_of(100) {
            eprintln!("{megabyte} MB");
        }
    }
    assert_eq!(long.count.gaps, 0, "the stream can be repeated");
    let short = short_time as f64 / short_bytes as f64;
    println!("new decoders, a megabyte each: {short:.3} ns/byte");
    println!("ratio growth-time-per-byte-1GB-over-1MB {:.2}", long.per_byte() / short);
    if let [first, .., last] = peaks[..] {
        println!("ratio growth-memory-1GB-over-1MB {:.2}", last as f64 / first as f64);
    }
}

/// A decoder at a position in the endless stream, and the time and memory used so far.
struct Decoding<'a> {
    stream: &'a [u8],
    /// Its position in one repetition of the stream.
    offset: usize,
    tracer: Tracer<'a>,
    count: Count,
    bytes: u64,
    packets: u64,
    /// Nanoseconds on the processor.
    time: u64,
    /// Number of memory allocations.
    requests: usize,
    /// Bytes in use.
    live: usize,
}

impl<'a> Decoding<'a> {
    fn new(input: &'a Input, image: &'a Image) -> Self {
        let start = Spent::now();
        let tracer = Tracer::new(input.config(), image).expect("legal");
        let mut new = Self {
            stream: &input.stream,
            offset: 0,
            tracer,
            count: Count::default(),
            bytes: 0,
            packets: 0,
            time: 0,
            requests: 0,
            live: 0,
        };
        new.spent(&start);
        new
    }

    /// Decodes until `bytes` have been read in total, or up to a frame more.
    fn go_on(&mut self, bytes: u64) {
        let start = Spent::now();
        while self.bytes < bytes {
            self.turn(bytes);
        }
        self.spent(&start);
    }

    /// Decodes at most to the end of the stream, where it starts again.
    fn turn(&mut self, until: u64) {
        let from = self.bytes;
        let rest = &self.stream[self.offset..];
        for item in Framing::Reference.frames(rest) {
            let (offset, Item::Frame(frame)) = item.expect("frames") else { continue };
            self.bytes = from + offset;
            if self.bytes >= until {
                self.offset += offset as usize;
                return;
            }
            let at = StreamPos { packet: self.packets, byte: self.bytes };
            self.tracer.feed_bits(at, frame.payload(), &mut self.count);
            self.packets += 1;
        }
        self.bytes = from + rest.len() as u64;
        self.offset = 0;
    }

    /// Adds the time and memory used since `start`.
    fn spent(&mut self, start: &Spent) {
        // The memory first: reading the time uses some.
        let used = MEMORY.stats() - start.memory;
        self.time += processor_time() - start.time;
        self.requests += used.allocations + used.reallocations;
        self.live = self.live + used.bytes_allocated - used.bytes_deallocated;
    }

    fn per_byte(&self) -> f64 {
        self.time as f64 / self.bytes as f64
    }

    fn print(&self, peak: u64) {
        println!(
            "{:>10} {:>12} {:>8.3} {peak:>8} {:>10} {:>12}",
            self.bytes,
            self.count.instructions,
            self.per_byte(),
            self.live,
            self.requests
        );
    }
}

/// Time and memory up to a moment.
struct Spent {
    time: u64,
    memory: Stats,
}

impl Spent {
    fn now() -> Self {
        Self { time: processor_time(), memory: MEMORY.stats() }
    }
}

/// Peak memory of this process, in kB.
fn resident_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches("kB").trim().parse().expect("a number")
}

/// Nanoseconds that this thread has run so far.
fn processor_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|field| field.parse().ok()).expect("a number")
}
