//! Tracing follows the settings of software: the output of registers, cores, encapsulation and
//! sinks contains the payloads of the golden encoder, byte for byte, from the first to the last, at
//! every start and stop.
//!
//! Harts run all the time, even while nothing is traced. Without Verilator, the tests are ignored.

#[path = "../../transport/simulation/bus.rs"]
mod bus;
#[path = "../support/flat.rs"]
mod flat;
mod hart;
mod port;
mod records;
mod rig;
mod software;

use flat::{FLAT, flat};
use hartrace_encap::Item;
use hartrace_encap::coresight::{Deformatter, Item as Framed, Mode};
use hartrace_encoder_hdl::registers::driver::atb_bridge::TrAtbBridgeControl;
use hartrace_encoder_hdl::registers::driver::ram_sink::{TrRamControl, TrRamWPLow};
use hartrace_encoder_hdl::registers::driver::te::{HartraceTeStatus, TrTeControl};
use hartrace_encoder_hdl::top::{Encapsulation, Sink, Standard, TimeSource, TopConfig, top};
use hartrace_encoder_hdl::{Config, Overflow};
use hartrace_hdl_tools::verilate::Design;
use hartrace_lockstep::Setting;
use libtest_mimic::{Arguments, Failed, Trial};
use port::Port;
use rig::Rig;
use software::{Session, page};

fn main() {
    let args = Arguments::from_args();
    let missing = !hartrace_hdl_tools::verilate::available();
    let trials = vec![
        Trial::test("memory", memory),
        Trial::test("axi_stream", axi_stream),
        Trial::test("atb", atb),
        Trial::test("frames", frames),
        Trial::test("records", records::records),
        Trial::test("two_harts", two_harts),
        Trial::test("permission", permission),
        Trial::test("abort/drops", || abort(Overflow::Drop)),
        Trial::test("abort/stalls", || abort(Overflow::Stall)),
    ];
    let trials = trials.into_iter().map(|trial| trial.with_ignored_flag(missing));
    libtest_mimic::run(&args, trials.collect()).exit();
}

fn named(name: &str) -> Config {
    Config::named(name).expect("there is one")
}

const START: u32 = 0x2000;
const SIZE: u32 = 0x8_0000;

/// Traces hart 0 several times, each time with other modes and filters, and checks the output.
fn sessions(
    rig: &mut Rig,
    count: u32,
    received: impl Fn(&mut Rig) -> Result<Vec<u8>, Failed>,
) -> Result<(), Failed> {
    for turn in 0..count {
        let rows = rig.harts[0].load(&mut rig.rng.fork(), 3_000);
        let encoder = rig.config.encoder.clone();
        let session = Session::random(&mut rig.rng, &encoder, &rows);
        rig.stall = [0, 50, 90][rig.rng.usize(..3)];
        rig.harts[0].idle = [0, 300, 900][rig.rng.usize(..3)];
        let context = |error: Failed| -> Failed {
            let what = error.message().unwrap_or_default().to_owned();
            format!("turn {turn}: {what}\n{:?}, triggers {}", session.setting, session.triggers)
                .into()
        };
        rig.start(0, &session).map_err(context)?;
        let length = rig.rng.u32(0..2_000);
        rig.cycles(length)?;
        if session.triggers {
            on_shows(rig).map_err(context)?;
        }
        rig.stop(0, &session).map_err(context)?;
        rig.empty(0).map_err(context)?;
        let bytes = received(rig)?;
        rig.compare(&bytes).map_err(context)?;
    }
    Ok(())
}

/// Once nothing retires and everything has passed the queue, the register shows whether tracing is
/// on, after triggers.
fn on_shows(rig: &mut Rig) -> Result<(), Failed> {
    let idle = std::mem::replace(&mut rig.harts[0].idle, 1000);
    rig.cycles(2_000)?;
    let shown = TrTeControl(rig.read(page(0))?).inst_tracing();
    rig.harts[0].idle = idle;
    let on = rig.harts[0].on;
    if shown == on { Ok(()) } else { Err(format!("trTeInstTracing is {shown}").into()) }
}

/// The whole trace in memory, from the start of the buffer.
fn in_memory(rig: &mut Rig) -> Result<Vec<u8>, Failed> {
    let end = rig.ram_empty()? as usize;
    Ok(rig.memory()?.bytes[START as usize..end].to_vec())
}

/// A hart whose trace does not fit, into memory.
fn memory() -> Result<(), Failed> {
    let config = TopConfig { encoder: named("small"), ..TopConfig::default() };
    let mut rig = Rig::new(&config, 1)?;
    rig.start_ram(START, SIZE, TrRamControl::default())?;
    sessions(&mut rig, 12, in_memory)?;
    let hart = &rig.harts[0];
    assert!(hart.traced > 2_000 && hart.lost > 100, "{} {}", hart.traced, hart.lost);
    let status = rig.ram_status()?;
    assert!(!status.lost() && !status.error());
    assert!(rig.memory()?.bursts > 100);
    says_what_is_in_memory(&mut rig)?;
    paused(&mut rig)?;
    switched_off(&mut rig)?;
    stops_on_wrap(&mut rig)?;
    refused(&mut rig)
}

/// Traces hart 0 without modes for some cycles; the trace follows what was expected before.
fn plain(rig: &mut Rig, cycles: u32) -> Result<(), Failed> {
    rig.harts[0].load(&mut rig.rng.fork(), 4_000);
    rig.harts[0].idle = 0;
    let session = Session { setting: Setting::default(), triggers: false };
    rig.start(0, &session)?;
    rig.cycles(cycles)?;
    rig.stop(0, &session)
}

/// While a traced hart does nothing, `trRamEmpty` shows whether all packets are in memory.
fn says_what_is_in_memory(rig: &mut Rig) -> Result<(), Failed> {
    rig.stall = 0;
    let session = Session { setting: Setting::default(), triggers: false };
    let mut waits = 0;
    for steps in 0..40 {
        rig.harts[0].load(&mut rig.rng.fork(), 20 + steps);
        rig.harts[0].idle = 0;
        rig.start(0, &session)?;
        rig.cycles(200)?;
        if TrRamControl(rig.read(rig.sink())?).empty() {
            let bytes = in_memory(rig)?;
            rig.payloads(&bytes)?;
        } else {
            waits += 1;
        }
        rig.stop(0, &session)?;
        rig.empty(0)?;
    }
    let bytes = in_memory(rig)?;
    rig.compare(&bytes)?;
    assert!(waits > 20, "{waits}");
    Ok(())
}

/// `trTeInstTracing` ends a trace and begins another, even before the first has left.
fn paused(rig: &mut Rig) -> Result<(), Failed> {
    let session = Session { setting: Setting::default(), triggers: false };
    rig.harts[0].load(&mut rig.rng.fork(), 8_000);
    rig.start(0, &session)?;
    for turn in 0..12 {
        rig.stall = [0, 80][turn / 2 % 2];
        rig.harts[0].idle = 100;
        rig.cycles(150)?;
        // Nothing retires while it is uncertain whether it would be traced.
        rig.harts[0].idle = 1000;
        rig.cycles(1)?;
        rig.pause(0, &session)?;
        if turn % 2 == 0 {
            rig.empty(0)?;
            let bytes = in_memory(rig)?;
            rig.compare(&bytes).map_err(|error| format!("turn {turn}: {error:?}"))?;
        }
        rig.resume(0, &session)?;
        rig.cycles(1_000)?;
    }
    rig.stop(0, &session)?;
    rig.empty(0)?;
    let bytes = in_memory(rig)?;
    rig.compare(&bytes)
}

/// A sink that is switched off while a hart is traced has all earlier trace in memory, and does not
/// stop the hart.
fn switched_off(rig: &mut Rig) -> Result<(), Failed> {
    for stall in [0, 60, 95] {
        rig.stall = 0;
        rig.stop_ram()?;
        rig.harts[0].expected.clear();
        rig.start_ram(START, SIZE, TrRamControl::default())?;
        rig.harts[0].load(&mut rig.rng.fork(), 6_000);
        rig.harts[0].idle = 200;
        let session = Session { setting: Setting::default(), triggers: false };
        rig.start(0, &session)?;
        rig.cycles(500)?;
        rig.stall = stall;
        rig.stop_ram()?;
        let bytes = in_memory(rig)?;
        let bursts = rig.memory()?.bursts;
        rig.stall = 0;
        rig.cycles(500)?;
        assert_eq!(rig.memory()?.bursts, bursts, "nothing is written any more");
        assert!(rig.ram_status()?.lost(), "but said to be lost");
        rig.stop(0, &session)?;
        rig.empty(0)?;
        let (payloads, _) = rig.payloads(&bytes)?;
        let (got, expected) = (&payloads[&0], &rig.harts[0].expected);
        assert!(got.len() > 20 && got.len() < expected.len());
        assert_eq!(*got, expected[..got.len()]);
    }
    Ok(())
}

/// A small buffer that is full ends the trace in memory, but does not stop the hart.
fn stops_on_wrap(rig: &mut Rig) -> Result<(), Failed> {
    const SMALL: u32 = 0x200;
    rig.harts[0].expected.clear();
    rig.start_ram(START, SMALL, TrRamControl::default().with_stop_on_wrap(true))?;
    plain(rig, 1_500)?;
    rig.empty(0)?;
    let control = TrRamControl(rig.read(rig.sink())?);
    assert!(!control.enable(), "a full buffer switches the sink off");
    assert_eq!(rig.ram_empty()?, START);
    let range = START as usize..(START + SMALL) as usize;
    let bytes = rig.memory()?.bytes[range].to_vec();
    let frames = rig.config.framing()?.frames(&bytes).filter_map(|item| match item {
        Ok((_, Item::Frame(frame))) => frame.payload_bytes().map(<[u8]>::to_vec),
        _ => None,
    });
    let got: Vec<Vec<u8>> = frames.collect();
    assert!(got.len() > 20);
    assert_eq!(got, rig.harts[0].expected[..got.len()]);
    Ok(())
}

/// A write that memory refuses is reported and switches the sink off; the hart goes on. A sink whose pointer is not in
/// its buffer is not switched on, and writes nothing.
fn refused(rig: &mut Rig) -> Result<(), Failed> {
    rig.start_ram(START, SIZE, TrRamControl::default())?;
    rig.memory()?.refuse_from = 0;
    plain(rig, 300)?;
    rig.empty(0)?;
    rig.ram_empty()?;
    let status = rig.ram_status()?;
    assert!(status.error() && status.lost() && !TrRamControl(rig.read(rig.sink())?).enable());
    rig.memory()?.refuse_from = u64::MAX;

    rig.start_ram(START, SIZE, TrRamControl::default())?;
    rig.stop_ram()?;
    let (base, on) = (rig.sink(), TrRamControl::default().with_active(true));
    for outside in [START - 8, START + SIZE, 0] {
        rig.write(base + TrRamWPLow::OFFSET, outside)?;
        rig.write(base, on.with_enable(true).0)?;
        assert!(!TrRamControl(rig.read(base)?).enable() && rig.ram_status()?.outside());
        let bursts = rig.memory()?.bursts;
        plain(rig, 300)?;
        rig.empty(0)?;
        assert_eq!(rig.memory()?.bursts, bursts, "nothing is written");
        assert!(rig.ram_status()?.lost());
    }
    rig.memory()?.refuse_from = u64::MAX;
    rig.stop_ram()?;
    let Rig { port: Port::Memory(memory), sim, .. } = rig else { return Err("no memory".into()) };
    memory.rest(sim);
    Ok(())
}

/// A receiver that takes nothing: the encoder stays in use until it is switched off a second time. What it held is gone,
/// which a register and the first packets of the next trace say.
fn abort(overflow: Overflow) -> Result<(), Failed> {
    let encoder = Config { overflow, ..named("small") };
    let config = TopConfig { sink: Sink::AXI_STREAM, encoder, ..TopConfig::default() };
    let mut rig = Rig::new(&config, 5)?;
    let session = Session { setting: Setting::default(), triggers: false };
    let control = |rig: &mut Rig| rig.read(page(0)).map(TrTeControl);
    let dropped = |rig: &mut Rig| {
        rig.read(page(0) + HartraceTeStatus::OFFSET).map(|word| HartraceTeStatus(word).dropped())
    };
    rig.stall = 100;
    plain(&mut rig, 2_000)?;
    rig.cycles(3_000)?;
    rig.write(page(0), 0)?;
    rig.cycles(3_000)?;
    assert!(control(&mut rig)?.active() && !dropped(&mut rig)?, "it waits for the receiver");
    rig.write(page(0), 0)?;
    rig.wait(page(0), |word| !TrTeControl(word).active())?;
    assert!(dropped(&mut rig)?);

    // What was behind the encoder is still there, and leaves.
    rig.stall = 0;
    rig.cycles(1_000)?;
    let first = std::mem::take(&mut rig.harts[0].expected);
    rig.harts[0].load(&mut rig.rng.fork(), 4_000);
    rig.start(0, &session)?;
    rig.harts[0].reports_loss();
    assert!(!dropped(&mut rig)?, "of another trace");
    rig.cycles(1_500)?;
    rig.stop(0, &session)?;
    rig.empty(0)?;
    let bytes = rig.stream()?.received.clone();
    let (payloads, _) = rig.payloads(&bytes)?;
    let (got, second) = (&payloads[&0], &rig.harts[0].expected);
    let before = got.len() - second.len();
    assert!(before < first.len() && before > 5 && second.len() > 20, "{before} of {}", first.len());
    assert_eq!(got[..before], first[..before]);
    assert_eq!(got[before..], second[..]);
    Ok(())
}

/// Every mode, filters of every kind, and a hart that waits or not, as software says, with time in packets, on an
/// AXI4-Stream.
fn axi_stream() -> Result<(), Failed> {
    let mut encoder = Config {
        overflow: Overflow::Either,
        comparators: 2,
        context_comparators: 2,
        tval_comparators: 1,
        filter_excint_p: true,
        ..named("full")
    };
    encoder.etrace.nocontext_p = false;
    encoder.etrace.context_width_p = 8;
    encoder.etrace.notime_p = false;
    encoder.etrace.time_width_p = 20;
    let standard = Standard { src_id_bits: 8, timestamp_bytes: 4, ..Standard::default() };
    let config = TopConfig {
        first_source: 0xa5,
        encapsulation: Encapsulation::Standard(standard),
        sink: Sink::AXI_STREAM,
        encoder,
        ..TopConfig::default()
    };
    let mut rig = Rig::new(&config, 2)?;
    sessions(&mut rig, 16, |rig| Ok(rig.stream()?.received.clone()))?;
    let hart = &rig.harts[0];
    let seen = (hart.traced, hart.stalled, hart.lost);
    assert!(seen.0 > 2_000 && seen.1 > 100 && seen.2 > 10, "{seen:?}");
    assert_eq!(rig.stream()?.ends, 16, "each trace ends with a transfer that says so");
    Ok(())
}

/// The smallest encoder on an ATB that requests flushes at any time.
fn atb() -> Result<(), Failed> {
    let config = TopConfig { sink: Sink::ATB, encoder: named("micro"), ..TopConfig::default() };
    let mut rig = Rig::new(&config, 3)?;
    let on = TrAtbBridgeControl::default().with_active(true).with_id(0x2b);
    let base = rig.sink();
    for word in [on, on, on.with_enable(true)] {
        rig.write(base, word.0)?;
    }
    sessions(&mut rig, 12, |rig| Ok(rig.stream()?.received.clone()))?;
    let out = rig.stream()?;
    assert!(out.answered > 10 && out.ids.iter().all(|id| *id == 0x2b));
    let sent = out.received.len();
    rig.write(base, on.0)?;
    rig.wait(base, |word| TrAtbBridgeControl(word).empty())?;
    // A bridge that is off passes nothing, and nothing waits for it.
    rig.stall = 100;
    plain(&mut rig, 300)?;
    rig.empty(0)?;
    assert_eq!(rig.stream()?.received.len(), sent);
    Ok(())
}

/// CoreSight frames, of which each trace has its own: they start with a synchronisation. The time is that of an internal
/// clock.
fn frames() -> Result<(), Failed> {
    let sink = Sink::Frames { id: 0x2b, sync_frames: 3 };
    let mut encoder = named("micro");
    encoder.etrace.notime_p = false;
    encoder.etrace.time_width_p = 13;
    let standard = Standard { timestamp_bytes: 1, ..Standard::default() };
    let config = TopConfig {
        time: TimeSource::Internal,
        encapsulation: Encapsulation::Standard(standard),
        sink,
        encoder,
        ..TopConfig::default()
    };
    let mut rig = Rig::new(&config, 4)?;
    sessions(&mut rig, 12, |rig| {
        let (mut bytes, mut faults) = (Vec::new(), 0);
        let mut deformatter = Deformatter::new(Mode::Fsync);
        let mut out = |item: Framed<'_>| match item {
            Framed::Data(chunk) => {
                assert_eq!(chunk.id.get(), 0x2b);
                bytes.extend_from_slice(chunk.bytes);
            }
            _ => faults += 1,
        };
        deformatter.feed(&rig.stream()?.received, &mut out);
        deformatter.finish(&mut out);
        assert_eq!((faults, deformatter.statistics().unsynchronised), (0, 0));
        Ok(bytes)
    })?;
    assert!(rig.harts[0].traced > 1_000, "{}", rig.harts[0].traced);
    assert_eq!(rig.stream()?.ends, 12, "each trace ends with a transfer that says so");
    Ok(())
}

/// Two harts, started and stopped independently, into one buffer, through structures for the buses.
fn two_harts() -> Result<(), Failed> {
    let standard = Standard { src_id_bits: 8, ..Standard::default() };
    let config = TopConfig {
        harts: 2,
        first_source: 6,
        encapsulation: Encapsulation::Standard(standard),
        sink: Sink::Memory { address_width: 32, word_bytes: 4, burst_words: 8 },
        encoder: named("micro"),
        ..TopConfig::default()
    };
    let no_files: [&str; 0] = [];
    let design = Design::files(FLAT, no_files).component(&top(&config)?);
    let design = flat(&config)?.iter().fold(design, |all, (name, text)| all.text(name, text));
    let mut rig = Rig::of(&config, design.clock("clk_i").reset("rst_ni", false), 4)?;
    rig.start_ram(START, SIZE, TrRamControl::default())?;
    let mut running: [Option<Session>; 2] = [None, None];
    for turn in 0..60 {
        let hart = rig.rng.usize(..2);
        rig.stall = [0, 50, 90][rig.rng.usize(..3)];
        match running[hart].take() {
            None => {
                let rows = rig.harts[hart].load(&mut rig.rng.fork(), 4_000);
                let session = Session::random(&mut rig.rng, &config.encoder, &rows);
                rig.harts[hart].idle = [0, 300, 900][rig.rng.usize(..3)];
                rig.start(hart, &session)?;
                running[hart] = Some(session);
            }
            Some(session) => {
                rig.stop(hart, &session)?;
                if let Some(session) = running[1 - hart].take_if(|_| rig.rng.bool()) {
                    rig.stop(1 - hart, &session)?;
                    rig.empty(1 - hart)?;
                }
                // Independently of the other hart.
                rig.empty(hart)?;
            }
        }
        // Often at once, so that one requests a flush while another one continues.
        let length = if rig.rng.bool() { 0 } else { rig.rng.u32(0..1_000) };
        rig.cycles(length)?;
        if running.iter().all(Option::is_none) {
            let bytes = in_memory(&mut rig)?;
            rig.compare(&bytes).map_err(|error| format!("turn {turn}: {error:?}"))?;
        }
    }
    for (hart, session) in running.iter().enumerate() {
        if let Some(session) = session {
            rig.stop(hart, session)?;
            rig.empty(hart)?;
        }
    }
    let bytes = in_memory(&mut rig)?;
    rig.compare(&bytes)?;
    assert!(rig.harts.iter().all(|hart| hart.traced > 1_000 && hart.expected.len() > 100));
    let status = rig.ram_status()?;
    assert!(!status.lost() && !status.error());
    Ok(())
}

/// Two harts of `linux`, each with a permission of its own.
fn permitted() -> TopConfig {
    let standard = Standard { src_id_bits: 8, ..Standard::default() };
    TopConfig {
        harts: 2,
        encapsulation: Encapsulation::Standard(standard),
        sink: Sink::AXI_STREAM,
        encoder: Config { permission: true, ingress_depth: 4, ..named("linux") },
        ..TopConfig::default()
    }
}

/// Two harts that share a buffer: the trace of each is that of its own permission, whatever the other may show. What a
/// hart may not show is in neither.
fn permission() -> Result<(), Failed> {
    let mut rig = Rig::new(&permitted(), 6)?;
    permissions_differ(&mut rig)?;
    for hart in &rig.harts {
        let seen = (hart.traced, hart.forbidden);
        assert!(seen.0 > 1_000 && seen.1 > 1_000, "{seen:?}");
    }
    // Nothing is traced until somebody says that it may be.
    let mut rig = Rig::new(&permitted(), 7)?;
    for hart in 0..2 {
        rig.harts[hart].allow = 0;
        let session = loaded(&mut rig, hart, 1_000);
        rig.start(hart, &session)?;
        rig.cycles(2_000)?;
        rig.stop(hart, &session)?;
        rig.empty(hart)?;
        assert_eq!((rig.harts[hart].traced, rig.harts[hart].expected.len()), (0, 2));
    }
    let bytes = rig.stream()?.received.clone();
    rig.compare(&bytes)?;
    // If both have the permission of the first, it is noticed.
    let no_files: [&str; 0] = [];
    let crossed = top(&permitted())?.files().into_iter().map(|(name, text)| {
        (format!("{name}.sv"), text.replace(".allow_i(hart1_allow_i)", ".allow_i(hart0_allow_i)"))
    });
    let design =
        crossed.fold(Design::files("te_top", no_files), |all, (name, text)| all.text(&name, &text));
    let design = design.clock("clk_i").reset("rst_ni", false).argument("-Wno-fatal");
    match permissions_differ(&mut Rig::of(&permitted(), design, 6)?) {
        Ok(()) => Err("the permission of the other hart is not noticed".into()),
        Err(_) => Ok(()),
    }
}

/// Loads a program and chooses settings.
fn loaded(rig: &mut Rig, hart: usize, steps: usize) -> Session {
    let rows = rig.harts[hart].load(&mut rig.rng.fork(), steps);
    Session::random(&mut rig.rng, &rig.config.encoder, &rows)
}

/// Traces both harts at once, several times, while their permissions change independently.
fn permissions_differ(rig: &mut Rig) -> Result<(), Failed> {
    for turn in 0..16 {
        let mut sessions = Vec::new();
        for hart in 0..2 {
            let session = loaded(rig, hart, 3_000);
            rig.harts[hart].idle = [0, 300, 900][rig.rng.usize(..3)];
            rig.harts[hart].permissions = if turn % 3 == hart { 1 } else { [5, 100][turn % 2] };
            rig.start(hart, &session)?;
            sessions.push(session);
        }
        rig.stall = [0, 50, 90][rig.rng.usize(..3)];
        let length = rig.rng.u32(1_000..3_000);
        rig.cycles(length)?;
        for (hart, session) in sessions.iter().enumerate() {
            rig.stop(hart, session)?;
            rig.empty(hart)?;
        }
        let bytes = rig.stream()?.received.clone();
        rig.compare(&bytes).map_err(|error| format!("turn {turn}: {error:?}"))?;
    }
    Ok(())
}
