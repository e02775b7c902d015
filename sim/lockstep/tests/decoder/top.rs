//! A decoder with everything behind it in one module: what software reads over the bus and in memory is what it finds in
//! the trace itself.

use hartrace_bits::{BitReader, Tail};
use hartrace_capture::programs::Symbols;
use hartrace_decoder::block_table::{BlockTable, WordLayout};
use hartrace_decoder::{
    Config as Reading, Edges, Event, Image, Leaves, Run, Sink, StreamPos, Tracer,
};
use hartrace_decoder_hdl::{Decoder, analysis, etmv4, etrace, top, walker};
use hartrace_encap::coresight::{FSYNC, Formatter, TraceId};
use hartrace_encap::{Deframer, EncapParams, FrameHeader, Framing, Item, MAX_FRAME};
use hartrace_etmv4::{Config as Unit4, Headers, Layout, Parsed, Reader};
use hartrace_etrace::Unit;
use hartrace_etrace::ingress::ITypeWidth;
use hartrace_executions::executed::{Port, Program, ProgramError, modes};
use hartrace_golden::Encoder;
use hartrace_golden::encoder::{EncoderConfig, Resync};
use hartrace_hdl_tools::verilate::Options;
use hartrace_isa::Xlen;
use hartrace_lockstep::decoder::analysis::{Block, Findings, Property, Settings, Step, find};
use hartrace_lockstep::decoder::{EtraceRecords, TopBench, TopSettings, Walked, random};
use hartrace_report::tables::{Style, Table, read_profile};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeMap;

/// The source that is decoded, and another one.
const SOURCE: u16 = 0x2a;
const OTHER: u16 = 0x2b;

/// Few entries with small counts, so that many are spilled.
fn config() -> Result<top::Config, Failed> {
    let params = modes::params(Xlen::Rv64);
    let encap = EncapParams::new(8, 0, 0)?;
    let decoder = etrace::Config { unroll: 4, params, unit: Unit::Hartrace, encap, aligned: false };
    let usual = top::Config::new(Decoder::Follower(walker::Config::new(decoder, 1 << 10)));
    let analysis = analysis::Config { entries: 64, count_bits: 8, windows: 8, ..usual.analysis };
    Ok(top::Config { analysis, ..usual })
}

/// The blocks of a trace, in order.
struct Blocks<'a> {
    image: &'a Image,
    steps: Vec<Step>,
    goes_on: bool,
}

impl Sink for Blocks<'_> {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        if let (true, Some(Step { block: Some(before), .. })) =
            (self.goes_on, self.steps.last_mut())
        {
            before.next = Some(run.start());
            let Block { start, last, .. } = *before;
            let whole = Walked {
                start,
                last,
                ends: hartrace_decoder::block_table::Ends::Next,
                taken: false,
                faulted: false,
                next: None,
            };
            let after = whole.instructions(self.image).map(|(_, after)| after);
            before.taken = before.kind != 1 || after != before.next;
        }
        let kind = match run.leaves() {
            Leaves::No => 0,
            Leaves::Branch => 1,
            Leaves::Jump => 2,
            Leaves::Indirect => 4,
        };
        let block = Block { start: run.start(), last: run.last(), kind, ..Block::default() };
        self.steps.push(Step { block: Some(block), ..Step::default() });
        self.goes_on = true;
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        self.goes_on &= matches!(event, Event::Context { .. });
    }
}

/// A program, and its trace.
struct Traced {
    program: Program,
    reading: Reading,
    payloads: Vec<Vec<u8>>,
    /// The payloads in packets, among null packets and those of another source, and a malformed one at the end.
    bytes: Vec<u8>,
}

fn trace(name: &str, config: &etrace::Config) -> Result<Traced, Failed> {
    let path = format!("{}/../../tests/programs/elf/{name}.elf", env!("CARGO_MANIFEST_DIR"));
    let program = Program::new(name, std::fs::read(path)?)?;
    let (params, unit) = (config.params, config.unit);
    let mut encoder = Encoder::new(EncoderConfig {
        params,
        unit,
        options: modes::named("ir+bp+jtc")?,
        itype_width: ITypeWidth::Four,
        resync: Resync::Packets(50),
        ..EncoderConfig::default()
    })?;
    let mut payloads: Vec<Vec<u8>> = Vec::new();
    let port = Port { lanes: 1, half_words: 31, rows: 1, itype_width: ITypeWidth::Four };
    let ending = program.execute_on(port, 200_000, |rows| {
        rows.iter()
            .for_each(|row| encoder.retire(row, &mut |sent| payloads.push(sent.bytes.to_vec())));
        Ok::<(), ProgramError>(())
    })?;
    encoder.finish(&mut |sent| payloads.push(sent.bytes.to_vec()));
    let framing = Framing::Encap(config.encap);
    // The end of a packet, and as many null packets as end the search for headers.
    let mut bytes = vec![0x85, 0x3c, 0x11];
    bytes.resize(3 + 33, 0);
    let put = |bytes: &mut Vec<u8>, source: u16, payload: &[u8]| -> Result<(), Failed> {
        let mut frame = [0; MAX_FRAME];
        let header = FrameHeader { source: Some(source), ..FrameHeader::default() };
        let len = framing.emit(&header, payload, &mut frame)?;
        bytes.extend_from_slice(&frame[..len]);
        if bytes.len().is_multiple_of(7) {
            bytes.push(0);
        }
        Ok(())
    };
    for payload in &payloads {
        put(&mut bytes, SOURCE, payload)?;
        if payload.len().is_multiple_of(3) {
            put(&mut bytes, OTHER, payload)?;
        }
    }
    // Which payloads are malformed depends on the modes at the end.
    let before = bytes.len();
    let malformed = (0..=u8::MAX).find_map(|byte| {
        bytes.truncate(before);
        put(&mut bytes, SOURCE, &[0, 0, 0, 0, byte]).ok()?;
        let mut last = None;
        let mut records = EtraceRecords::new(config, SOURCE).ok()?;
        records.push(&bytes, |ended| last = Some(ended.record.get("error")));
        last.filter(|error| *error != 0)
    });
    malformed.ok_or("every payload means something")?;
    let reading = Reading { params, unit, tvec: ending.tvec, ..Reading::default() };
    Ok(Traced { program, reading, payloads, bytes })
}

impl Traced {
    /// What software decodes.
    fn follow<S: Sink>(&self, mut sink: S) -> Result<S, Failed> {
        let mut tracer = Tracer::new(self.reading.clone(), self.program.image())?;
        for bytes in &self.payloads {
            tracer.feed_bits(StreamPos::default(), BitReader::new(bytes, Tail::Sign), &mut sink);
        }
        tracer.finish(&mut sink);
        Ok(sink)
    }
}

/// Packets by kind and by length as the software reads them; kinds are numbered as in the manual.
fn packets(config: &etrace::Config, bytes: &[u8], wanted: &mut Findings) -> Result<(), Failed> {
    let mut records = EtraceRecords::new(config, SOURCE)?;
    let mut kinds = BTreeMap::new();
    records.push(bytes, |ended| {
        let malformed = ended.record.get("error") != 0;
        kinds.insert(ended.at, if malformed { 10 } else { ended.record.get("format") as usize });
    });
    let mut deframer = Deframer::new(Framing::Encap(config.encap));
    deframer.resync(&mut |_, _| {});
    let mut starts = Vec::new();
    deframer.feed(bytes, &mut |at, item| starts.push((at, matches!(item, Ok(Item::Null(_))))));
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([bytes.len() as u64]);
    for ((start, null), end) in starts.iter().zip(ends) {
        let kind = kinds.get(&(end - 1)).copied().unwrap_or(if *null { 9 } else { 8 });
        wanted.kinds[kind] += 1;
        let last = wanted.lengths.len() - 1;
        wanted.lengths[((end - start) as usize - 1).min(last)] += 1;
        wanted.totals[1] += u64::from(kind == 10);
    }
    wanted.totals[0] = bytes.len() as u64;
    wanted.totals[2] = 1;
    Ok(())
}

/// Behind a program's trace: the counters, the windows, the property and the profile, which is printed as software prints
/// the edges of the trace.
fn of_a_program(name: &str, stalls: u32) -> Result<(), Failed> {
    let config = config()?;
    let Decoder::Follower(following) = config.decoder else { return Err("no walker".into()) };
    let bench = TopBench::new(&config, &Options::default())?;
    let traced = trace(name, &following.decoder)?;
    let image = traced.program.image();
    let edges = traced.follow(Edges::default())?;
    let blocks = traced.follow(Blocks { image, steps: Vec::new(), goes_on: false })?;

    // The branches of the most frequent edges: A is executed less often than B.
    let mut frequent = edges.clone().sorted();
    frequent.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let at = |number: usize| frequent[number].0.from;
    let property = Property::Before { first: at(12), second: at(2) };
    let watched = Settings { trigger: at(5), property, ..bench.settings().watched };
    let mut wanted = find(&blocks.steps, &watched);
    packets(&following.decoder, &traced.bytes, &mut wanted)?;
    if wanted.violations == 0 || wanted.triggers < 20 || wanted.kinds[8..].contains(&0) {
        return Err(format!("too little happens: {wanted:?}").into());
    }

    let table = BlockTable::build(image, &[], WordLayout::SPAN_BITS);
    let settings = TopSettings {
        table: Some(&table),
        source: SOURCE,
        tvec: &traced.reading.tvec,
        watched,
        stalls,
        ..bench.settings()
    };
    let mut running = bench.start(&settings)?;
    for bytes in traced.bytes.chunks(running.unroll()) {
        // A program is slower than its trace is sent here.
        while running.busy() {
            running.cycle(&[])?;
        }
        running.cycle(bytes)?;
    }
    if running.lost() > 0 {
        return Err("the walker lost records".into());
    }
    let mut found = bench.finish(running)?;

    let print = |edges: Edges| -> Result<String, Failed> {
        let style = Style { symbols: Symbols::default(), xlen: Xlen::Rv64, json: false };
        let mut text = Vec::new();
        edges.print(&mut text, None, &style)?;
        Ok(String::from_utf8(text)?)
    };
    let (profile, wanted_profile) = (print(read_profile(&found.dump)?)?, print(edges)?);
    if found.lost > 0 || found.spills < 100 || wanted_profile.lines().count() < 30 {
        return Err(format!("{} lost, {} spilled", found.lost, found.spills).into());
    }
    if profile != wanted_profile {
        return Err(format!("{profile}\nnot\n{wanted_profile}").into());
    }
    // Kinds of jumps are known better there.
    found.findings.edges = std::mem::take(&mut wanted.edges);
    wanted.edges = found.findings.edges.clone();
    match found.findings == wanted {
        true => Ok(()),
        false => Err(format!("{:?}\nnot {wanted:?}", found.findings).into()),
    }
}

/// Packets of ETMv4 in frames of several sources: each is counted as the parser reads it.
fn of_frames(len: usize) -> Result<(), Failed> {
    let default = etmv4::Config::default();
    let unit = Unit4 { version: 0x53, vmid_bytes: 2, q: true, ..default.unit };
    let decoder = etmv4::Config { unit, ..default };
    let usual = top::Config::new(Decoder::Etmv4(decoder));
    let config = top::Config { frames: true, ..usual };
    let bench = TopBench::new(&config, &Options::default())?;
    let layout = Layout::new(&decoder.unit);
    let id = |number| TraceId::new(number).ok_or("there is no such source");
    let (source, other) = (id(0x11)?, id(0x12)?);
    // Random bytes hardly ever are a discard or an overflow.
    let whole = [random::packets(&layout, len, 1), vec![0, 3, 0, 5]].concat();
    for (seed, stream) in [(1, whole), (2, random::damaged(&layout, len, 100, 2))] {
        let mut capture = FSYNC.to_vec();
        let mut formatter = Formatter::new();
        let mut out = |frame: &[u8; 16]| capture.extend(frame);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(random.usize(1..40).min(rest.len()));
            formatter.write(source, now, &mut out);
            formatter.write(other, &now[..now.len() / 3], &mut out);
            rest = later;
        }
        // The rows of a frame leave while the next one arrives.
        formatter.finish(&mut out);
        formatter.write(other, &[0; 64], &mut out);

        let mut running =
            bench.start(&TopSettings { trace_id: source.get(), ..bench.settings() })?;
        for word in capture.chunks_exact(4) {
            running.cycle(word)?;
        }
        let found = bench.finish(running)?.findings;

        let watched = bench.settings().watched;
        let mut wanted = find(&[], &watched);
        wanted.totals[0] = stream.len() as u64;
        let mut reader = Reader::new(Headers::new(&decoder.unit));
        let (mut at, mut synchronised) = (0, false);
        while let Some((parsed, used)) = reader.parse(&stream[at..]) {
            at += used;
            match parsed {
                Parsed::Packet(packet) => {
                    wanted.totals[2] += u64::from(!synchronised);
                    synchronised = true;
                    wanted.kinds[etmv4::kind_number(packet.kind())] += 1;
                    wanted.lengths[(used - 1).min(watched.lengths - 1)] += 1;
                }
                Parsed::Bad(_) if synchronised => {
                    wanted.totals[1] += 1;
                    synchronised = false;
                    reader.resynchronise();
                }
                Parsed::Bad(_) | Parsed::Unsynchronised => {}
            }
        }
        // There are no returns from exceptions in ETE.
        let few = wanted.kinds.iter().filter(|count| **count == 0).count();
        if few > 1 || (seed == 2 && wanted.totals[1] < 10) {
            return Err(format!("too little happens: {wanted:?}").into());
        }
        if found != wanted {
            return Err(format!("seed {seed}: {found:?}\nnot {wanted:?}").into());
        }
    }
    Ok(())
}

/// The trials of the top module.
pub(crate) fn trials(len: usize, missing: bool) -> Vec<Trial> {
    let trials = [
        Trial::test("top/interp", || of_a_program("interp", 200)),
        Trial::test("top/etmv4_frames", move || of_frames(len / 4)),
    ];
    trials.into_iter().map(|trial| trial.with_ignored_flag(missing)).collect()
}
