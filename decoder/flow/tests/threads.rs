//! A panic on one thread ends the decoding on all of them, and reaches the caller. Several sources are decoded by several
//! threads. Packets are counted on all of them. Sinks are prepared by the threads that decode.

use hartrace_decoder::stream::{
    Before, Decode, Decoded, PacketCounter, PacketCounts, Prepare, Transport,
};
use hartrace_decoder::{Config, Event, Image, Run, Sink, StreamPos};
use hartrace_encap::{EncapParams, FrameHeader, Framing, MAX_FRAME};
use hartrace_isa::{Isa, Xlen};
use std::collections::BTreeMap;
use std::io::Read;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Far more than decoding takes; only a thread that waits for ever needs longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where something panics.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Place {
    Sink,
    /// A sink that is passed on before its part ends.
    FullSink,
    Make,
    Prepare,
    Join,
}

struct Fragile {
    place: Place,
    runs: usize,
}

impl Sink for Fragile {
    fn run(&mut self, at: StreamPos, _: Run<'_>) {
        self.runs += 1;
        let panics = matches!(self.place, Place::Sink | Place::FullSink) && at.packet >= 300;
        assert!(!panics, "the sink");
    }

    fn is_full(&self) -> bool {
        self.place == Place::FullSink && self.runs > 2
    }
}

/// Decodes many short parts. Returns the message of the panic.
fn decode(place: Place, threads: usize) -> Option<String> {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add(0x8000_0000, &[0x01, 0x00, 0x82, 0x80]); // c.nop, ret
    // Synchronisations at 0x80000000.
    let capture = [0x45, 0x73, 0x00, 0x00, 0x00, 0xe0].repeat(10_000);
    let transport = Transport::new(Framing::Reference);
    let mut decode = Decode::new(Config::default(), &image, transport);
    decode.threads = NonZeroUsize::new(threads)?;
    decode.part = 60;
    // One thread reads in larger pieces.
    let late = if threads > 1 { 25 } else { 0 };
    let (mut joined, made) = (0, AtomicUsize::new(0));
    let preparer = || -> Box<Prepare<'_, Fragile>> {
        Box::new(|_, _, sink| assert!(sink.place != Place::Prepare, "the preparer"))
    };
    let run = || {
        decode.run_prepared(
            &capture[..],
            |_| {
                let made = made.fetch_add(1, Ordering::Relaxed);
                assert!(place != Place::Make || made != late, "the maker");
                Fragile { place, runs: 0 }
            },
            &preparer,
            |_| {
                joined += 1;
                assert!(place != Place::Join || joined != late + 1, "the join");
                Ok::<(), std::convert::Infallible>(())
            },
        )
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    assert!(place != Place::Join || joined == late + 1, "called after it had panicked");
    panic.downcast_ref::<&str>().map(ToString::to_string)
}

#[test]
fn a_panic_ends_all_threads() {
    for threads in [1, 2, 3, 8] {
        for (place, message) in [
            (Place::Sink, "the sink"),
            (Place::FullSink, "the sink"),
            (Place::Make, "the maker"),
            (Place::Prepare, "the preparer"),
            (Place::Join, "the join"),
        ] {
            let (sender, receiver) = channel();
            std::thread::spawn(move || sender.send(decode(place, threads)));
            let outcome = receiver.recv_timeout(PATIENCE);
            let outcome = outcome.unwrap_or_else(|_| panic!("{place:?}: {threads} threads wait"));
            assert_eq!(outcome.as_deref(), Some(message), "{place:?}, {threads} threads");
        }
    }
}

/// Everything of a source, in pieces.
struct Log {
    lines: Vec<String>,
    room: usize,
}

impl Sink for Log {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.lines.push(format!("{at:?} {run:?}"));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.lines.push(format!("{at:?} {event:?}"));
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= self.room
    }
}

fn code() -> Image {
    let mut image = Image::new(Isa::new(Xlen::Rv64));
    image.add(0x8000_0000, &[0x01, 0x00, 0x82, 0x80]); // c.nop, ret
    image
}

fn framing() -> Framing {
    Framing::Encap(EncapParams::new(8, 0, 0).expect("fields fit"))
}

/// A synchronisation at 0x80000000.
fn sync(source: u16) -> Vec<u8> {
    frame(source, &[0x73, 0x00, 0x00, 0x00, 0xe0])
}

fn frame(source: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = [0; MAX_FRAME];
    let header = FrameHeader { source: Some(source), ..FrameHeader::default() };
    let len = framing().emit(&header, payload, &mut frame);
    frame[..len.expect("it fits")].to_vec()
}

/// Returns few bytes at a time, so that even a short capture has many parts.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let most = room.len().min(37);
        self.0.read(&mut room[..most])
    }
}

/// Damage concerns all sources, on whatever thread they are decoded; what is one too many is reported once.
#[test]
fn sources_are_the_same_on_any_thread() {
    let image = code();
    let (mut seed, mut damaged): (u64, usize) = (1, 0);
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    for turn in 0..200 {
        let mut capture = Vec::new();
        for _ in 0..random(400) {
            match random(20) {
                0 if turn % 2 == 0 => capture.extend([0xff; 3]),
                _ => capture.extend(sync(random(if turn % 4 == 3 { 1 } else { 6 }) as u16)),
            }
        }
        let room = [2, 10, usize::MAX][turn % 3];
        let run = |threads: usize, part: usize, source_cap: usize| {
            let config = Config { source_cap, ..Config::default() };
            let mut decode = Decode::new(config, &image, Transport::new(framing()));
            decode.threads = NonZeroUsize::new(threads).expect("not zero");
            decode.part = part;
            let mut logs: BTreeMap<_, Vec<_>> = BTreeMap::new();
            let result = decode.run(
                Slow(&capture),
                |_| Log { lines: Vec::new(), room },
                |part| {
                    for (source, log) in part.sinks {
                        logs.entry(source).or_default().extend(log.lines);
                    }
                    Ok::<(), std::convert::Infallible>(())
                },
            );
            result.expect("nothing fails");
            logs
        };
        let (part, cap) = (1 + random(40) as usize, 3 + random(5) as usize);
        let want = run(1, part, cap);
        damaged += usize::from(format!("{want:?}").contains("Frame"));
        for threads in [2, 3, 8] {
            assert_eq!(run(threads, part, cap), want, "{turn}: {threads} threads, {cap} sources");
        }
    }
    assert!(damaged > 50, "{damaged} captures with damage");
}

/// Waits at its first instruction until another source has come to it, too.
struct Meets<'m> {
    met: &'m (Mutex<usize>, Condvar),
    here: bool,
}

impl Sink for Meets<'_> {
    fn run(&mut self, at: StreamPos, _: Run<'_>) {
        // What comes before is decoded before it is known that there are several.
        if at.packet < 100 || std::mem::replace(&mut self.here, true) {
            return;
        }
        let (count, changed) = self.met;
        let mut count = count.lock().expect("nobody panics");
        *count += 1;
        changed.notify_all();
        let (count, _) = changed.wait_timeout_while(count, PATIENCE, |count| *count < 2).unwrap();
        assert!(*count >= 2, "both are decoded by one thread");
    }
}

#[test]
fn two_sources_are_decoded_at_the_same_time() {
    let image = code();
    let capture = [sync(1), sync(2)].concat().repeat(500);
    let met = (Mutex::new(0), Condvar::new());
    let mut decode = Decode::new(Config::default(), &image, Transport::new(framing()));
    decode.threads = NonZeroUsize::new(2).expect("not zero");
    decode.part = 6;
    let make = |_| Meets { met: &met, here: false };
    decode.run(Slow(&capture), make, |_| Ok::<(), std::convert::Infallible>(())).expect("no error");
    assert!(*met.0.lock().expect("nobody panics") >= 2);
}

/// Full after every instruction. The first of all waits until the other thread has passed on some that are full, and
/// then for a moment, in which that one has to wait.
struct Piece<'p> {
    passed: &'p (Mutex<usize>, Condvar),
    waiting: &'p AtomicUsize,
    room: Room,
    runs: usize,
}

/// How many sinks wait, by their runs.
#[derive(Copy, Clone, Debug)]
struct Room {
    /// What each of them says that it uses.
    bytes: Option<usize>,
    at_least: usize,
    at_most: usize,
}

const ROOMS: [Room; 3] = [
    // Four full ones per thread, the rest of two parts per thread, and those that are being filled.
    Room { bytes: None, at_least: 5, at_most: 16 },
    // 32 MB of full ones, of up to two runs each, and those that are being filled.
    Room { bytes: Some(10_000_000), at_least: 3, at_most: 10 },
    // All but that of the other thread.
    Room { bytes: Some(1000), at_least: 2 * 400 - 1 - 100, at_most: 2 * 400 },
];

/// Enough to fill hundreds of sinks.
const MOMENT: Duration = Duration::from_millis(300);

impl Sink for Piece<'_> {
    fn run(&mut self, at: StreamPos, _: Run<'_>) {
        self.runs += 1;
        let (passed, changed) = self.passed;
        let mut passed = passed.lock().expect("nobody panics");
        if at.packet == 0 {
            let Room { at_least, at_most, .. } = self.room;
            let outcome = changed.wait_timeout_while(passed, PATIENCE, |passed| *passed < at_least);
            let (passed, _) = outcome.expect("nobody panics");
            assert!(*passed >= at_least, "the other thread waits after {passed} sinks");
            let outcome = changed.wait_timeout_while(passed, MOMENT, |passed| *passed <= at_most);
            let passed = *outcome.expect("nobody panics").0;
            assert!(passed <= at_most, "the other thread does not wait: {passed} sinks");
        } else {
            *passed += 1;
            changed.notify_all();
        }
    }

    fn is_full(&self) -> bool {
        self.runs > 0
    }

    fn bytes(&self) -> Option<usize> {
        self.room.bytes
    }
}

/// A thread whose sinks fill need not wait for its turn, unless they use too much, or nobody knows what they use and there are
/// too many of them.
#[test]
fn full_sinks_wait_for_their_turn() {
    ROOMS.into_iter().for_each(wait_in);
}

fn wait_in(room: Room) {
    let image = code();
    let capture = sync(0).repeat(400);
    let (passed, waiting) = ((Mutex::new(0), Condvar::new()), AtomicUsize::new(0));
    let mut decode = Decode::new(Config::default(), &image, Transport::new(framing()));
    decode.threads = NonZeroUsize::new(2).expect("not zero");
    decode.part = 100;
    let (mut joined, mut most) = (0, 0);
    let make = |_| {
        waiting.fetch_add(1, Ordering::Relaxed);
        Piece { passed: &passed, waiting: &waiting, room, runs: 0 }
    };
    let join = |part: Decoded<Piece<'_>>| {
        for (_, piece) in part.sinks {
            joined += piece.runs;
            most = most.max(piece.waiting.fetch_sub(1, Ordering::Relaxed));
        }
        Ok::<(), std::convert::Infallible>(())
    };
    decode.run(&capture[..], make, join).expect("no error");
    // Each synchronisation but the first also ends what came before it.
    assert_eq!(joined, 2 * 400 - 1);
    // A sink has one run or two.
    let expected = room.at_least / 2..=room.at_most;
    assert!(expected.contains(&most), "{most} sinks at the same time: {room:?}");
}

/// Full after a few instructions, with who prepared it: the number of the thread, how many it has prepared, and what
/// it was told of the sink before.
#[derive(Default)]
struct Prepared {
    runs: usize,
    by: Vec<(usize, usize, Before)>,
}

impl Sink for Prepared {
    const ORDERED: bool = true;

    fn run(&mut self, _: StreamPos, _: Run<'_>) {
        self.runs += 1;
    }

    fn is_full(&self) -> bool {
        self.runs > 4
    }
}

/// Every sink is prepared once, before it is joined, and what is said of the sink before it is true.
#[test]
fn sinks_are_prepared_by_their_threads() {
    let image = code();
    // Without synchronisations between them, sources go from thread to thread.
    let captures = [sync(0).repeat(400), [sync(1).repeat(3), sync(2)].concat().repeat(100)];
    for (capture, threads) in captures.iter().flat_map(|c| [1, 2, 3, 8].map(|n| (c, n))) {
        let apart = *capture == captures[0];
        let met = &(Mutex::new(0), Condvar::new());
        let mut decode = Decode::new(Config::default(), &image, Transport::new(framing()));
        decode.threads = NonZeroUsize::new(threads).expect("not zero");
        decode.part = 100;
        let count = AtomicUsize::new(0);
        let preparer = || -> Box<Prepare<'_, Prepared>> {
            let (thread, mut done) = (count.fetch_add(1, Ordering::Relaxed), 0);
            Box::new(move |before, _, sink| {
                done += 1;
                sink.by.push((thread, done, before));
                if done == 1 && threads > 1 && apart {
                    // Another thread gets a part, too.
                    let (count, changed) = met;
                    let mut count = count.lock().expect("nobody panics");
                    *count += 1;
                    changed.notify_all();
                    let outcome = changed.wait_timeout_while(count, PATIENCE, |count| *count < 2);
                    assert!(*outcome.expect("nobody panics").0 >= 2, "one thread has all parts");
                }
            })
        };
        let (mut last, mut follow, mut others, mut all) = (None, 0, 0, 0);
        let join = |part: Decoded<Prepared>| {
            for (_, sink) in part.sinks {
                let [(thread, done, before)] = sink.by[..] else { panic!("{:?}", sink.by) };
                match before {
                    Before::Nothing => assert_eq!(last, None),
                    Before::Last => assert_eq!(last, Some((thread, done - 1))),
                    Before::Other => assert!(threads > 1),
                }
                last = Some((thread, done));
                follow += usize::from(before == Before::Last);
                others += usize::from(before == Before::Other);
                all += 1;
            }
            Ok::<(), std::convert::Infallible>(())
        };
        let make = |_| Prepared::default();
        decode.run_prepared(Slow(capture), make, &preparer, join).expect("no error");
        assert_eq!(count.into_inner(), threads);
        // Sinks that were full before their part ended follow each other.
        let told = format!("{threads} threads: {follow} and {others} of {all}");
        assert!(follow >= all / 2 && all > 100 && (others > 0 || threads == 1 || !apart), "{told}");
    }
}

/// What packets are may depend on the modes of their source, and on damage. However a capture is cut, and whoever counts which
/// part, every packet is counted once.
#[test]
fn packets_are_counted_the_same_on_any_thread() {
    let image = code();
    let mut seed: u64 = 7;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let mut seen = PacketCounts::default();
    for turn in 0..200 {
        let mut capture = Vec::new();
        let sources = 1 + turn % 3;
        for _ in 0..random(300) {
            let source = random(sources) as u16;
            match random(12) {
                0 if turn % 2 == 0 => capture.extend([0xff; 3]),
                // Support packets, with all modes or none.
                1 => capture.extend(frame(source, &[0x1f, random(256) as u8, random(256) as u8])),
                // Formats 0 to 2, and payloads that end too early.
                2..6 => {
                    let long = 1 + random(6) as usize;
                    let payload: Vec<_> = (0..long).map(|_| random(256) as u8).collect();
                    capture.extend(frame(source, &payload));
                }
                _ => capture.extend(sync(source)),
            }
        }
        if turn % 5 == 0 {
            capture.pop();
        }
        let source = (turn % 4 == 0).then_some(0);
        let transport = Transport { source, ..Transport::new(framing()) };
        // One encoder in six has history prediction.
        let mut config = Config::default();
        if turn % 6 == 0 {
            (config.params.hpred_size_p, config.params.f0s_width_p) = (5, 2);
        }
        let decode = Decode::new(config, &image, transport);
        let mut whole = PacketCounter::new(&decode).expect("the parameters fit");
        whole.feed(&capture);
        whole.end();
        let want = whole.take();
        for threads in [1, 2, 3, 8] {
            let all = Mutex::default();
            let threads = NonZeroUsize::new(threads).expect("not zero");
            let part = 1 + random(60) as usize;
            let decode = Decode { counted: Some(&all), threads, part, ..decode.clone() };
            let make = |_| Log { lines: Vec::new(), room: usize::MAX };
            let join = |_| Ok::<(), std::convert::Infallible>(());
            decode.run(Slow(&capture), make, join).expect("nothing fails");
            let got = all.lock().expect("nobody panics").clone();
            assert_eq!(got, want, "{turn}: {threads} threads, parts of {part} bytes");
        }
        seen.join(want);
    }
    assert!(
        seen.formats.iter().all(|format| format.packets() > 0),
        "a format is missing: {seen:?}"
    );
    assert!(seen.malformed.packets() > 100 && seen.modes.len() > 1, "too little damage: {seen:?}");
}
