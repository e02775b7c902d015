//! What `hartrace probe` finds in traces of the bundled programs, in every combination of modes, with parameters of every
//! configuration of the hardware, and in every framing: the reading that was executed, or several of which it is one.
//! Each set of modes is tried with three programs, each time with another configuration and framing.
//!
//! `HARTRACE_READINGS=N` tries N starts of each program in every set of modes with every configuration;
//! `HARTRACE_READINGS_OF=NAME` tries only this program.

use hartrace_capture::params::{Draft, Setup};
use hartrace_capture::probe::{Known, Limits, Report};
use hartrace_decoder::{Config, Event, Image, Run, Sink, StreamPos, Tracer};
use hartrace_encap::{AtbParams, EncapParams, FrameHeader, Framing, Item, MAX_FRAME, SmiParams};
use hartrace_encoder::{Encoded, Encoder, EncoderConfig, Resync};
use hartrace_encoder_hdl::Config as Hardware;
use hartrace_etrace::ingress::{ITypeWidth, Retired};
use hartrace_etrace::{Ioptions, Mode, Params, Unit};
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_executions::executed::{Program, ProgramError, modes};
use hartrace_isa::Xlen;
use std::collections::BTreeMap;
use std::env;

/// How many instructions are traced: few packets leave the most to guess.
const LIMITS: [u64; 6] = [3_000, 300, 20_000, 1_000, 60_000, 8_000];

/// Every set of modes, apart from those of extensions.
fn subsets() -> impl Iterator<Item = Ioptions> {
    let all = [
        Mode::ImplicitReturn,
        Mode::ImplicitException,
        Mode::FullAddress,
        Mode::JumpTargetCache,
        Mode::BranchPrediction,
        Mode::SequentiallyInferredJump,
    ];
    (0..64u32).map(move |set| {
        let mut options = Ioptions::default();
        for (bit, mode) in all.into_iter().enumerate() {
            options.set(mode, set >> bit & 1 != 0);
        }
        options
    })
}

/// Parameters of encoders: those of `hartrace run`, and those of the hardware that can be generated.
fn encoders(xlen: Xlen) -> Vec<(String, Params, Unit)> {
    let params = modes::params(xlen);
    // Packets of format 0 have no subformat if there is only one kind of them.
    let alone = Params { f0s_width_p: 0, cache_size_p: 0, ..params };
    let mut list = vec![
        ("run".to_owned(), params, Unit::Hartrace),
        ("without a subformat".to_owned(), alone, Unit::Hartrace),
    ];
    for (name, hardware) in Hardware::all_named() {
        let wide = xlen.bits() as u8;
        // The parameters of another width, but its own otherwise.
        let params = Params { iaddress_width_p: wide, ..hardware.etrace };
        // Not covered: payloads as rv_tracer writes them, in other framings than its own. Their support packets can be taken for
        // those of other units.
        if hardware.unit() != Unit::RvTracer {
            list.push((name, params, hardware.unit()));
        }
    }
    list
}

fn framings() -> Vec<Framing> {
    let encap = |src, time, types| Framing::Encap(EncapParams::new(src, time, types).unwrap());
    vec![
        Framing::Reference,
        encap(0, 0, 0),
        encap(3, 4, 0),
        Framing::Smi(SmiParams::new(8).unwrap()),
        Framing::Atb(AtbParams::new(1, 0).unwrap()),
        Framing::Esp32,
    ]
}

/// A trace, and what it was made with.
struct Trace<'a> {
    config: EncoderConfig,
    framing: Framing,
    image: &'a Image,
    tvec: &'a [(u8, u64)],
}

impl Trace<'_> {
    /// Encodes and frames.
    fn encode(&self, rows: &[Retired]) -> Vec<u8> {
        let mut encoder = Encoder::new(self.config.clone()).expect("it has these modes");
        let mut bytes = Vec::new();
        let (mut index, mut time) = (0, 0);
        let mut out = |payload: Encoded<'_>| {
            let stamped =
                matches!(self.framing, Framing::Encap(params) if params.timestamp_bytes() > 0);
            let header = FrameHeader {
                source: match self.framing {
                    Framing::Encap(params) if params.src_id_bits() > 0 => Some(5),
                    Framing::Smi(_) => Some(2),
                    Framing::Atb(_) => Some(1),
                    _ => None,
                },
                timestamp: stamped.then_some(time),
                index: (self.framing == Framing::Esp32).then_some(index),
                ..FrameHeader::default()
            };
            (index, time) = (index.wrapping_add(1), time + 3);
            let mut frame = [0; MAX_FRAME];
            let len = self.framing.emit(&header, payload.bytes, &mut frame).expect("it fits");
            bytes.extend_from_slice(&frame[..len]);
        };
        encoder.retire_all(rows, &mut out);
        encoder.finish(&mut out);
        bytes
    }

    /// What a capture decodes to as it was made.
    fn truth(&self, capture: &[u8]) -> Executed {
        let EncoderConfig { params, unit, .. } = self.config;
        let config = Config { params, unit, ..Config::default() };
        self.decode(capture, self.framing, config, None)
    }

    /// What a capture decodes to as a draft says.
    fn decode_as(&self, capture: &[u8], draft: &Draft) -> Executed {
        let draft = Draft::parse(&draft.to_string(), "draft").unwrap();
        let setup = Setup::new(Some(draft), &Default::default()).unwrap();
        let Setup { params, unit, compat, options, .. } = setup;
        let config = Config { params, unit, compat, ..Config::default() };
        self.decode(capture, setup.transport.framing, config, Some(options))
    }

    fn decode(
        &self,
        capture: &[u8],
        framing: Framing,
        config: Config,
        options: Option<Ioptions>,
    ) -> Executed {
        let config = Config { tvec: self.tvec.to_vec(), ..config };
        let mut tracer = Tracer::new(config, self.image).unwrap();
        if let Some(options) = options {
            tracer.set_options(options);
        }
        let mut executed = Executed::default();
        for item in framing.frames(capture) {
            if let Ok((byte, Item::Frame(frame))) = item {
                let at = StreamPos { packet: 0, byte };
                tracer.feed_bits(at, frame.payload(), &mut executed);
            }
        }
        tracer.finish(&mut executed);
        executed
    }
}

/// Addresses of instructions, and where there are traps and gaps.
#[derive(Default, PartialEq)]
struct Executed(Vec<u64>);

impl Sink for Executed {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.0.push(address));
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        match event {
            Event::Gap(_) => self.0.push(1),
            Event::Trap { .. } => self.0.push(3),
            _ => {}
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Right,
    Ambiguous,
    /// Nothing was found, and that was said.
    Nothing,
    Wrong,
}

fn answer(trace: &Trace<'_>, capture: &[u8], truth: &Executed) -> Answer {
    let known = Known { image: Some(trace.image), tvec: trace.tvec };
    let report = Report::new(capture, &known, &Limits::default());
    let Some(best) = report.best() else { return Answer::Nothing };
    let is_right = |number: &usize| {
        best.draft_of(*number).is_some_and(|draft| trace.decode_as(capture, &draft) == *truth)
    };
    let right = (1..=best.rivals.len() + 1).find(is_right);
    match right {
        Some(_) if !best.is_ambiguous() => Answer::Right,
        Some(_) => Answer::Ambiguous,
        // More than can be listed.
        None if best.more_rivals => Answer::Ambiguous,
        None => {
            eprintln!("{report}");
            Answer::Wrong
        }
    }
}

#[test]
fn right_or_ambiguous_never_wrong() {
    let starts: Option<usize> =
        env::var("HARTRACE_READINGS").ok().map(|text| text.parse().expect("a number"));
    let all = starts.is_some();
    let only = env::var("HARTRACE_READINGS_OF").ok();
    let mut table: BTreeMap<(String, Answer), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut turn = 0usize;
    for (number, (name, elf)) in PROGRAMS.iter().enumerate() {
        if only.as_deref().is_some_and(|only| only != *name) {
            continue;
        }
        let program = Program::new(*name, elf.to_vec()).unwrap();
        let encoders = encoders(program.xlen());
        let starts: Vec<u64> = match starts {
            Some(starts) => LIMITS[..starts].to_vec(),
            None => vec![LIMITS[number % LIMITS.len()]],
        };
        for limit in starts {
            let mut rows = Vec::new();
            let take = |some: &[Retired]| {
                rows.extend_from_slice(some);
                Ok::<(), ProgramError>(())
            };
            let ending = program.execute(limit, take).unwrap();
            let sets = subsets().enumerate();
            // Four programs share the sets of modes.
            let sets = sets.filter(|(set, _)| all || set % 4 == number % 4).map(|(_, set)| set);
            for options in sets.filter(|options| modes::traces(&program, options)) {
                let configs = encoders.iter().filter_map(|(name, params, unit)| {
                    let config = EncoderConfig {
                        params: *params,
                        unit: *unit,
                        options,
                        itype_width: ITypeWidth::Four,
                        resync: Resync::Packets(1 << 10),
                        ..EncoderConfig::default()
                    };
                    Encoder::new(config.clone()).is_ok().then_some((name, config))
                });
                let mut configs: Vec<_> = configs.collect();
                turn += 1;
                if !all {
                    // Each set of modes has another one.
                    configs = vec![configs.swap_remove(turn % configs.len())];
                }
                for (encoder, config) in configs {
                    let framings = framings();
                    turn += usize::from(all);
                    let framing = framings[turn / 3 % framings.len()];
                    let trace =
                        Trace { config, framing, image: program.image(), tvec: &ending.tvec };
                    let capture = trace.encode(&rows);
                    let truth = trace.truth(&capture);
                    let answer = answer(&trace, &capture, &truth);
                    let what = format!("{name} {limit} {options} {encoder} {framing:?}");
                    *table.entry((options.to_string(), answer)).or_default() += 1;
                    match answer {
                        Answer::Right => {}
                        Answer::Wrong => wrong.push(what),
                        Answer::Ambiguous | Answer::Nothing => eprintln!("{answer:?}: {what}"),
                    }
                }
            }
        }
    }
    for ((modes, answer), count) in &table {
        eprintln!("{modes:24} {answer:?} {count}");
    }
    for answer in [Answer::Right, Answer::Ambiguous, Answer::Nothing, Answer::Wrong] {
        let all = table.iter().filter(|((_, other), _)| *other == answer);
        eprintln!("{answer:?}: {}", all.map(|(_, count)| count).sum::<usize>());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
