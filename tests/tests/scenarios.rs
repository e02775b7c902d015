//! Runs every file in `scenarios/` through the golden models and through the production decoder; see
//! [`hartrace_executions::scenario`] for their format.
//!
//! `HARTRACE_BLESS=1` rewrites their packets and trace sections. Read them before believing them.

use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::stream::{Decode, Transport};
use hartrace_decoder::{Config, Image, StreamPos, Tracer};
use hartrace_etrace::Unit;
use hartrace_executions::scenario::{BUNDLED, Run, Scenario};
use hartrace_golden::DecoderConfig;
use hartrace_isa::Isa;
use hartrace_tests::log::{Collect, Log, of_golden, settled, unannounced};
use hartrace_tests::{objdump, production};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

fn main() {
    let args = Arguments::from_args();
    let bless = hartrace_tests::bless();
    let mut trials = Vec::new();
    for (name, _) in &BUNDLED {
        trials.push(Trial::test(*name, move || golden(name, bless)));
    }
    let found = objdump::find();
    let assembly = Trial::test("assembly-text", move || {
        objdump::check(found.unwrap_or_default(), &scenarios()?).map_err(Failed::from)
    });
    trials.push(assembly.with_ignored_flag(found.is_none()));
    let elf = Trial::test("elf-files", move || {
        objdump::check_elf(found.unwrap_or_default(), &scenarios()?).map_err(Failed::from)
    });
    trials.push(elf.with_ignored_flag(found.is_none()));
    trials.push(Trial::test("all-files-are-bundled", all_files_are_bundled));
    trials.push(Trial::test("production-decoder", production_decoder));
    libtest_mimic::run(&args, trials).exit();
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

fn scenarios() -> Result<Vec<Scenario>, String> {
    let parse = |(name, text): &(&str, &str)| {
        Scenario::parse(name, text).map_err(|error| format!("{name}.htt:{error}"))
    };
    BUNDLED.iter().map(parse).collect()
}

/// The golden models, and the text of the file: it may have changed since the test was built.
fn golden(name: &str, bless: bool) -> Result<(), Failed> {
    let path = folder().join(name).with_extension("htt");
    let text = std::fs::read_to_string(&path)?;
    let scenario =
        Scenario::parse(name, &text).map_err(|error| format!("{}:{error}", path.display()))?;
    let run = scenario.run()?;
    if !bless {
        return Ok(scenario.check(&run)?);
    }
    let section = |name: &str, lines: &[String]| {
        lines.iter().fold(format!("--- {name}\n"), |text, line| text + line + "\n")
    };
    let text =
        scenario.head.clone() + &section("packets", &run.packets) + &section("trace", &run.trace);
    std::fs::write(&path, text)?;
    Ok(scenario.check_trace(&run)?)
}

/// Commands contain all scenarios, in order.
fn all_files_are_bundled() -> Result<(), Failed> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".htt").map(str::to_owned));
    }
    names.sort();
    let bundled: Vec<_> = BUNDLED.iter().map(|(name, _)| (*name).to_owned()).collect();
    if names != bundled {
        return Err("executions/src/scenario/bundled.rs does not list what is in the folder".into());
    }
    Ok(())
}

/// Why a scenario is not decoded in frames, or not at all.
const REFUSED: &str = "no stream: the configuration is refused";
const GIVES_UP: &str = "the golden decoder gives up after a number of steps";
const EMPTY: &str = "no frame holds an empty payload; decoded without frames";

/// The production decoder reports what the golden decoder reports, event for event: payload by payload, and
/// from a capture on one thread and on three.
fn production_decoder() -> Result<(), Failed> {
    let scenarios = scenarios()?;
    let (mut decoded, mut framed, mut split) = (0, 0, 0);
    let mut without: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wrong = String::new();
    for scenario in &scenarios {
        let run = scenario.run()?;
        let limit = DecoderConfig::default().max_steps;
        if run.refused || scenario.setup.decoder.max_steps != limit {
            *without.entry(if run.refused { REFUSED } else { GIVES_UP }).or_default() += 1;
            continue;
        }
        let events = run.events.iter().map(|(packet, event)| (*packet, of_golden(event)));
        let want = settled(events.collect());
        let mut compare = |how: &str, log: Log| {
            let got = settled(log);
            if got != want {
                let same = got.iter().zip(&want).take_while(|(a, b)| a == b).count();
                let (got, want) = (got.get(same), want.get(same));
                wrong += &format!("{}, {how}: {got:x?} instead of {want:x?}\n", scenario.name);
            }
        };
        compare("payloads", payload_by_payload(scenario, &run));
        decoded += 1;
        let Ok(capture) = scenario.capture(&run) else {
            *without.entry(EMPTY).or_default() += 1;
            continue;
        };
        for threads in [1, 3] {
            let (log, parts) = as_capture(scenario, &run, &capture, threads);
            compare(&format!("{threads} threads"), log);
            split += usize::from(threads > 1 && parts > 1);
        }
        framed += 1;
    }
    println!(
        "production decoder: {decoded} of {} scenarios, {framed} of them as captures on 1 and 3 threads \
         ({split} in several parts)",
        scenarios.len()
    );
    for (reason, count) in &without {
        println!("  {count:>3} {reason}");
    }
    if !wrong.is_empty() {
        return Err(wrong.into());
    }
    let expected = BTreeMap::from([(REFUSED, 3), (GIVES_UP, 1), (EMPTY, 1)]);
    if without != expected || framed + 5 != scenarios.len() || split < 100 {
        return Err(format!("expected without: {expected:?}, and 100 in several parts").into());
    }
    Ok(())
}

fn image(scenario: &Scenario) -> Image {
    let mut image = Image::new(Isa::new(scenario.code.xlen()));
    for (address, bytes) in scenario.code.segments() {
        image.add(address, &bytes);
    }
    image
}

fn config(scenario: &Scenario) -> Config {
    let golden = &scenario.setup.decoder;
    Config {
        params: golden.params,
        unit: golden.unit,
        tvec: golden.tvec.iter().map(|(level, base)| (level.0, *base)).collect(),
        compat: golden.compat,
        ..Config::default()
    }
}

fn payload_by_payload(scenario: &Scenario, run: &Run) -> Log {
    let image = image(scenario);
    let mut tracer = Tracer::new(config(scenario), &image).expect("not refused");
    let tail = if scenario.setup.encoder.unit == Unit::RvTracer { Tail::Zero } else { Tail::Sign };
    let mut out = Collect::default();
    for (packet, payload) in (0..).zip(&run.payloads) {
        let at = StreamPos { packet, byte: 0 };
        tracer.feed_bits(at, BitReader::new(payload, tail), &mut out);
    }
    tracer.finish(&mut out);
    unannounced(out.0)
}

/// Decodes the capture in parts that are as small as possible, and returns their number, too.
fn as_capture(scenario: &Scenario, run: &Run, capture: &[u8], threads: usize) -> (Log, usize) {
    let image = image(scenario);
    let transport = Transport::new(scenario.framing());
    let mut decode = Decode::new(config(scenario), &image, transport);
    decode.threads = NonZeroUsize::new(threads).expect("at least one");
    decode.part = 1;
    let (log, parts, packets) = production::stream_log(&decode, capture);
    assert_eq!(packets, run.payloads.len() as u64);
    (log, parts)
}
