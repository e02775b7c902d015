//! Effects of faults in a stream on the production decoder: every kind of fault, at several distances between
//! synchronisations, on random programs in all modes.
//!
//! Three things hold for every single fault:
//!
//! - From the next synchronisation on, everything is as without the fault, up to the end of the stream. If
//!   the fault changed the modes, a support packet has to come first.
//! - Up to there, the lost part is at most one gap, or two if the damaged payload is itself read as a
//!   synchronisation: one before and one after it.
//! - Decoding ends.
//!
//! The rest is counted, not promised: the table is in `docs/design/faults.md`, which also explains the
//! columns. `HARTRACE_BLESS=1` rewrites it.

use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config, Event, Image, Run, Sink, StreamPos, Tracer};
use hartrace_etrace::{Ioptions, Layout, Payload};
use hartrace_golden::encoder::Resync;
use hartrace_golden::walk::Shape;
use hartrace_tests::case::{Case, Dice};
use hartrace_tests::fault::{Kind, injured, numbered, synchronises};
use hartrace_tests::production::{config, feed, image};
use std::fmt::Write;
use std::path::Path;
use std::thread::ScopedJoinHandle;

/// The largest number of packets between synchronisations.
const INTERVALS: [u64; 3] = [4, 16, 64];

/// Number of programs for each interval; 64 cover all subsets of the modes.
const PROGRAMS: u64 = 128;

/// Number of faults of each kind in each stream.
const FAULTS: usize = 40;

/// Number of rows in a walk: enough for several synchronisations at the largest interval.
const STEPS: usize = 6000;

/// Streams with fewer payloads are left out: almost nothing passed their filter.
const LEAST: usize = 100;

const HEAD: &str = "\
programs  sync fault     faults no sync modes exact 2 gaps noticed harmless  silent distance  missing    extra
";

#[derive(Copy, Clone, Debug)]
enum Programs {
    /// Instructions only: synchronisations are due to the interval.
    Plain,
    /// With traps, contexts and triggers.
    Busy,
}

impl Programs {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Busy => "busy",
        }
    }
}

/// An event that the decoder reported.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Entry {
    Retired(u64),
    Event(Event),
}

/// Entries with the number of the payload they belong to.
#[derive(Default)]
struct Log(Vec<(u64, Entry)>);

impl Sink for Log {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        run.addresses(|pc| self.0.push((at.packet, Entry::Retired(pc))));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        use Event::{Context, Gap, Off, Trap};
        if matches!(event, Trap { .. } | Context { .. } | Off(_) | Gap(_)) {
            self.0.push((at.packet, Entry::Event(event)));
        }
    }
}

struct Stream {
    image: Image,
    config: Config,
    layout: Layout,
    /// The undamaged payloads.
    payloads: Vec<Payload>,
    bytes: Vec<Vec<u8>>,
}

/// The decoded events, and the modes after each payload.
struct Decoded {
    log: Vec<(u64, Entry)>,
    modes: Vec<Ioptions>,
}

impl Decoded {
    /// The entry at which the log continues from synchronisation `sync`, however it was reached.
    fn arrival(&self, sync: usize) -> usize {
        let arrives = |(packet, entry): &(u64, Entry)| {
            *packet == sync as u64 && matches!(entry, Entry::Event(Event::Context { .. }))
        };
        self.log.iter().rposition(arrives).expect("a synchronisation reports its context")
    }

    fn gaps_until(&self, packet: usize) -> usize {
        let until = self.log.iter().take_while(|(at, _)| *at <= packet as u64);
        until.filter(|(_, entry)| matches!(entry, Entry::Event(Event::Gap(_)))).count()
    }
}

impl Stream {
    fn new(seed: u64, programs: Programs, interval: u64) -> Self {
        let shape = Shape { steps: STEPS, ..Shape::random(seed) };
        let mut case = match programs {
            Programs::Plain => Case::shaped(seed, shape.without_sideband().without_traps()),
            Programs::Busy => Case::shaped(seed, shape),
        };
        case.encoder.resync = Resync::Packets(interval);
        // Damaged branch counts cause walks of billions of branches; no real one here is that long.
        let config = Config { max_blocks: 1 << 14, ..config(&case) };
        let encoded = case.encode();
        Self {
            image: image(&case),
            layout: config.params.layout(config.unit).expect("cases are legal"),
            config,
            payloads: encoded.iter().map(|e| e.payload).collect(),
            bytes: encoded.into_iter().map(|e| e.bytes).collect(),
        }
    }

    fn decode<'s>(&self, payloads: impl Iterator<Item = (u64, &'s [u8])>) -> Decoded {
        let mut tracer = Tracer::new(self.config.clone(), &self.image).expect("cases are legal");
        let mut log = Log::default();
        let mut modes = Vec::new();
        for (packet, payload) in payloads {
            // A missing payload changes nothing; of two with the same number the second counts.
            modes.resize(packet as usize, tracer.options());
            feed(&mut tracer, packet, payload, &mut log);
            modes.push(tracer.options());
        }
        tracer.finish(&mut log);
        Decoded { log: log.0, modes }
    }

    /// The first payload after `index` that is `wanted`.
    fn next(&self, index: usize, wanted: impl Fn(&Payload) -> bool) -> Option<usize> {
        (index + 1..self.payloads.len()).find(|n| wanted(&self.payloads[*n]))
    }

    /// Whether a decoder in these modes reads the payload as a synchronisation.
    fn synchronises(&self, modes: Ioptions, payload: &[u8]) -> bool {
        let mut bits = BitReader::new(payload, Tail::Sign);
        Payload::parse(&self.layout, modes, &mut bits).is_ok_and(|p| synchronises(&p))
    }
}

/// One row of the table.
#[derive(Copy, Clone, Debug, Default)]
struct Row {
    faults: u64,
    /// Number of faults after which nothing follows that could make decoding exact again.
    no_sync: u64,
    /// Number of faults that changed the modes.
    modes: u64,
    two_gaps: u64,
    /// Number of faults with unchanged modes and a later synchronisation; the following counts refer to
    /// these.
    measured: u64,
    noticed: u64,
    harmless: u64,
    /// Number of payloads up to the synchronisation.
    distance: u64,
    missing: u64,
    extra: u64,
}

/// The differences before two arrivals: instructions that ran but were not reported, and instructions that
/// were reported but did not run.
fn differing(clean: &[(u64, Entry)], hurt: &[(u64, Entry)]) -> (usize, usize) {
    let pcs = |log: &[(u64, Entry)]| -> Vec<u64> {
        let pc = |(_, entry): &(u64, Entry)| match entry {
            Entry::Retired(pc) => Some(*pc),
            Entry::Event(_) => None,
        };
        log.iter().filter_map(pc).collect()
    };
    let (clean, hurt) = (pcs(clean), pcs(hurt));
    let before = clean.iter().zip(&hurt).take_while(|(a, b)| a == b).count();
    let (clean, hurt) = (&clean[before..], &hurt[before..]);
    let after = clean.iter().rev().zip(hurt.iter().rev()).take_while(|(a, b)| a == b).count();
    (clean.len() - after, hurt.len() - after)
}

impl Row {
    fn add(&mut self, stream: &Stream, clean: &Decoded, kind: Kind, dice: &mut Dice) {
        let index = dice.range(0, stream.bytes.len() as u64 - 1) as usize;
        let instead = kind.injure(&stream.bytes[index], dice);
        let hurt = stream.decode(injured(&stream.bytes, index, &instead));
        self.faults += 1;

        let sync = stream.next(index, synchronises);
        let modes = index.checked_sub(1).map_or(Ioptions::default(), |n| clean.modes[n]);
        let again = instead.iter().any(|payload| stream.synchronises(modes, payload));
        let gaps = hurt.gaps_until(sync.unwrap_or(stream.bytes.len()));
        let same_modes = hurt.modes.get(index) == clean.modes.get(index);
        assert!(
            gaps <= 1 + usize::from(again),
            "{kind} of payload {index}: {gaps} gaps up to the next synchronisation"
        );
        self.two_gaps += u64::from(gaps > 1);

        let sync = if same_modes {
            sync
        } else {
            self.modes += 1;
            let support = stream.next(index, |p| matches!(p, Payload::Support(_)));
            support.and_then(|n| stream.next(n, synchronises))
        };
        let Some(sync) = sync else {
            self.no_sync += 1;
            return;
        };
        let (clean_at, hurt_at) = (clean.arrival(sync), hurt.arrival(sync));
        assert!(
            clean.log[clean_at..] == hurt.log[hurt_at..],
            "{kind} of payload {index}: not the same from the synchronisation in payload {sync} on"
        );
        if same_modes {
            self.measure(&clean.log[..clean_at], &hurt.log[..hurt_at], gaps);
            self.distance += (sync - index) as u64;
        }
    }

    fn measure(&mut self, clean: &[(u64, Entry)], hurt: &[(u64, Entry)], gaps: usize) {
        let entries = |log: &[(u64, Entry)]| -> Vec<Entry> { log.iter().map(|e| e.1).collect() };
        self.measured += 1;
        self.noticed += u64::from(gaps > 0);
        self.harmless += u64::from(entries(clean) == entries(hurt));
        let (missing, extra) = differing(clean, hurt);
        self.missing += missing as u64;
        self.extra += extra as u64;
    }

    fn write(&self, out: &mut String) {
        let mean = |sum: u64| sum as f64 / self.measured as f64;
        let percent = |count: u64| 100.0 * mean(count);
        let silent = self.measured - self.noticed - self.harmless;
        write!(out, " {:>6} {:>7} {:>5}", self.faults, self.no_sync, self.modes).expect("a string");
        write!(out, " {:>5} {:>6}", self.faults - self.no_sync, self.two_gaps).expect("a string");
        for share in [self.noticed, self.harmless, silent] {
            write!(out, " {:>7.1}%", percent(share)).expect("a string");
        }
        for sum in [self.distance, self.missing, self.extra] {
            write!(out, " {:>8.1}", mean(sum)).expect("a string");
        }
    }
}

/// The rows for one kind of programs and one interval.
fn rows(programs: Programs, interval: u64) -> [Row; Kind::ALL.len()] {
    let mut rows = [Row::default(); Kind::ALL.len()];
    for seed in 0..PROGRAMS {
        let stream = Stream::new(seed, programs, interval);
        if stream.bytes.len() < LEAST {
            continue;
        }
        let clean = stream.decode(numbered(&stream.bytes, 0));
        assert_eq!(clean.gaps_until(stream.bytes.len()), 0, "seed {seed}: the stream is whole");
        let mut dice = Dice::new(seed);
        for _ in 0..FAULTS {
            for (row, kind) in rows.iter_mut().zip(Kind::ALL) {
                row.add(&stream, &clean, kind, &mut dice);
            }
        }
    }
    rows
}

#[test]
fn fault_matrix() {
    let plan = [Programs::Plain, Programs::Busy]
        .into_iter()
        .flat_map(|programs| INTERVALS.map(|interval| (programs, interval)));
    let parts: Vec<_> = std::thread::scope(|scope| {
        let start = |(programs, interval)| {
            (programs, interval, scope.spawn(move || rows(programs, interval)))
        };
        let started: Vec<_> = plan.map(start).collect();
        let join = |(programs, interval, part): (Programs, u64, ScopedJoinHandle<'_, _>)| {
            (programs, interval, part.join().expect("see above"))
        };
        started.into_iter().map(join).collect()
    });

    let mut table = String::from(HEAD);
    let mut faults = 0;
    for (programs, interval, rows) in parts {
        for (row, kind) in rows.iter().zip(Kind::ALL) {
            faults += row.faults;
            write!(table, "{:<8} {interval:>5} {kind:<9}", programs.name()).expect("a string");
            row.write(&mut table);
            table.push('\n');
        }
    }
    writeln!(table, "{faults} faults").expect("a string");
    assert!(faults >= 100_000, "only {faults} faults");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/design/faults.md");
    let page = std::fs::read_to_string(&path).expect("the page with the table");
    let (before, rest) = page.split_once("```text\n").expect("a table");
    let (want, after) = rest.split_once("```\n").expect("the end of the table");
    if hartrace_tests::bless() {
        let page = format!("{before}```text\n{table}```\n{after}");
        std::fs::write(&path, page).expect("the page can be written");
    } else {
        assert!(table == want, "not the table in {}:\n{table}", path.display());
    }
}
