//! The gaps that the decoder reports are exactly the losses of the RTL.
//!
//! The RTL receives what a program executes, and loses some of it when its output is slow. Its payloads
//! are decoded. Between two losses, the decoded instructions are those that were accepted there, from the
//! first after one loss to the last before the other. If the hart is stalled instead, nothing is missing.

use crate::bundled::{Executed, bundled, itype_width};
use crate::random;
use hartrace_bits::{BitReader, Tail};
use hartrace_decoder::{Config as Reading, Event, Image, Run, Sink, StreamPos, Tracer};
use hartrace_encoder_hdl::{Config, Overflow};
use hartrace_etrace::ingress::Retired;
use hartrace_etrace::{Ioptions, QualStatus, Unit};
use hartrace_executions::executed::Instructions;
use hartrace_golden::walk::{Walk, generate};
use hartrace_hdl_tools::verilate::Options;
use hartrace_isa::Isa;
use hartrace_lockstep::{Bench, RoundTripCheck, Seen, Setting, Traffic};
use libtest_mimic::{Failed, Trial};

/// Programs with branches, calls, interrupts and changes of privilege, and the configurations that trace
/// them.
const PROGRAMS: [(&str, &str); 6] = [
    ("micro", "interrupts-rv32"),
    ("small", "branchy"),
    ("full", "interrupts"),
    ("full", "calls"),
    ("cva6", "user"),
    ("small_bytes", "branchy"),
];

const STEPS: u64 = 40_000;

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (config, name) in PROGRAMS {
        let run = move || {
            let config = Config::named(config).ok_or("no configuration")?;
            let executed = bundled(name, STEPS, &config, u32::MAX)?;
            lossy(&config, &executed, 1)
        };
        trials.push(Trial::test(format!("gaps/{config}/{name}"), run));
    }
    for seed in 0..crate::number("HARTRACE_GAPS", 4) {
        let run = move || {
            let mut rng = fastrand::Rng::with_seed(seed ^ 0x6a95);
            let config = Config { overflow: Overflow::Drop, ..random::config(&mut rng) };
            let mut shape = random::shape(&mut rng, &config, seed, 20_000).without_sideband();
            // Calls and returns have to be distinguished where returns are implicit.
            shape.itype_width = itype_width(&config);
            let executed = walked(&generate(seed, &shape), seed, &config);
            lossy(&config, &executed, seed)
        };
        trials.push(Trial::test(format!("gaps/random/{seed}"), run));
    }
    for name in ["small", "full"] {
        let run = move || {
            let config = Config::named(name).ok_or("no configuration")?;
            let config = Config { overflow: Overflow::Stall, ..config };
            stalled(&config, &bundled("interrupts", STEPS, &config, u32::MAX)?)
        };
        trials.push(Trial::test(format!("gaps/stalled/{name}"), run));
    }
    trials.into_iter().map(|trial| trial.with_ignored_flag(missing)).collect()
}

/// A random program.
pub(crate) fn walked(walk: &Walk, seed: u64, config: &Config) -> Executed {
    let mut image = Image::new(Isa::new(walk.program.xlen));
    for (address, bytes) in &walk.program.segments {
        image.add(*address, bytes);
    }
    let vectored = u64::from(walk.program.vectored);
    let tvec = walk.program.tvec.iter().map(|(level, base)| (level.0, base | vectored)).collect();
    let half_words = (1 << config.iretire_width_p) - 1;
    let rows = walk.blocks_within(seed, config.lanes.into(), half_words);
    Executed { image, tvec, rows }
}

/// Runs a program on a configuration that loses between nothing and nearly everything.
fn lossy(config: &Config, executed: &Executed, seed: u64) -> Result<(), Failed> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut bench = Bench::new(config, &Options::default())?;
    let mut losses = 0;
    for turn in 0..8 {
        let setting = everything(random::setting(&mut rng, config));
        let back_pressure = if turn == 0 { 950 } else { rng.u32(..=950) };
        let traffic = Traffic {
            back_pressure,
            idle: rng.u32(..500),
            seed: rng.u64(..),
            // What the connector lost is a gap as what the encoder lost.
            incomplete: if turn % 2 == 0 { 0 } else { rng.u32(..20) },
            ..Traffic::default()
        };
        bench.restart(rng.u32(1..))?;
        losses += run(&mut bench, config, executed, &setting, traffic)
            .map_err(|error| explain(&error, &setting, traffic, config))?;
    }
    match losses {
        0 => Err("nothing was lost, so nothing was tried".into()),
        _ => Ok(()),
    }
}

/// The setting without filters.
pub(crate) fn everything(setting: Setting) -> Setting {
    Setting { filters: Vec::new(), initially_off: false, ..setting }
}

/// The same on a configuration that stalls the hart instead.
fn stalled(config: &Config, executed: &Executed) -> Result<(), Failed> {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut bench = Bench::new(config, &Options::default())?;
    for (back_pressure, incomplete) in [(0, 0), (500, 0), (900, 0), (0, 5), (900, 5)] {
        let setting = everything(random::setting(&mut rng, config));
        let traffic =
            Traffic { back_pressure, incomplete, seed: rng.u64(..), ..Traffic::default() };
        match run(&mut bench, config, executed, &setting, traffic) {
            Ok(losses) if (losses > 0) == (incomplete > 0) => {}
            Ok(losses) => return Err(format!("{losses} losses").into()),
            Err(error) => return Err(explain(&error, &setting, traffic, config)),
        }
    }
    Ok(())
}

fn explain(error: &Failed, setting: &Setting, traffic: Traffic, config: &Config) -> Failed {
    let text = error.message().unwrap_or("failed");
    format!("{text}\n{setting:?}\n{traffic:?}\n{config:?}").into()
}

/// Makes one run, and returns the number of losses.
fn run(
    bench: &mut Bench,
    config: &Config,
    executed: &Executed,
    setting: &Setting,
    traffic: Traffic,
) -> Result<u64, Failed> {
    let Executed { image, tvec, rows } = executed;
    let mut follow = RoundTripCheck::new(config, image, tvec.clone())?;
    let instructions = Instructions::of(image);
    let mut accepted = Stretches::default();
    let mut all = Vec::new();
    let (mut losing, mut payloads) = (false, Vec::new());
    let mut watch = |seen: Seen<'_>| {
        follow.seen(seen);
        match seen {
            Seen::Accepted(rows) => {
                losing = false;
                let addresses = addresses(rows, &instructions);
                addresses.iter().for_each(|address| accepted.retired(*address));
                all.extend(addresses);
            }
            Seen::Lost(rows) => {
                if !std::mem::replace(&mut losing, true) {
                    accepted.lost();
                }
                all.extend(addresses(rows, &instructions));
            }
            Seen::Payload(bytes, _) => payloads.push(bytes.to_vec()),
            _ => {}
        }
    };
    let mut session = bench.start(setting, traffic, &mut watch)?;
    // The last rows are still on their way when tracing is switched off.
    let late = rows.len().saturating_sub(30);
    let late = rows[..late].iter().rposition(|row| row.cycles > 0).unwrap_or(0);
    session.push(&rows[..late])?;
    let summary = session.finish_behind(&rows[late..])?;

    let decoded = decode(config, executed, setting.options, &payloads)?;
    if let Some(place) = decoded.first_difference(&accepted) {
        return Err(place.into());
    }
    if decoded.0.len() as u64 != 1 + summary.losses {
        return Err(format!("{} stretches, {} losses", decoded.0.len(), summary.losses).into());
    }
    let executed = addresses(rows, &instructions);
    if all != executed {
        return Err("what was accepted and lost is not what was executed".into());
    }
    // The same comparison by [`RoundTripCheck`], which does not keep everything.
    let (kept, lost) = (follow.accepted, follow.lost);
    let verified = follow.finish();
    if let Some(difference) = verified.difference {
        return Err(difference.into());
    }
    let same = verified.losses == summary.losses
        && verified.decoded == kept
        && kept + lost == executed.len() as u64;
    if !same {
        return Err(format!("{verified:?}, {kept} accepted, {lost} lost").into());
    }
    Ok(summary.losses)
}

/// Addresses of the instructions in blocks.
pub(crate) fn addresses(rows: &[Retired], instructions: &Instructions<'_>) -> Vec<u64> {
    let mut all = Vec::new();
    for block in rows {
        instructions.split(block, |row| {
            if row.iretire > 0 {
                all.push(row.iaddr);
            }
        });
    }
    all
}

/// Addresses of instructions between losses.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stretches(pub(crate) Vec<Vec<u64>>);

impl Default for Stretches {
    fn default() -> Self {
        Self(vec![Vec::new()])
    }
}

impl Stretches {
    fn retired(&mut self, address: u64) {
        if let Some(last) = self.0.last_mut() {
            last.push(address);
        }
    }

    fn lost(&mut self) {
        self.0.push(Vec::new());
    }

    /// The first difference between what was decoded and what was accepted.
    fn first_difference(&self, accepted: &Self) -> Option<String> {
        let longest = self.0.len().max(accepted.0.len());
        (0..longest).find(|i| self.0.get(*i) != accepted.0.get(*i)).map(|i| {
            let (empty, Self(decoded), Self(accepted)) = (Vec::new(), self, accepted);
            let decoded = decoded.get(i).unwrap_or(&empty);
            let accepted = accepted.get(i).unwrap_or(&empty);
            let at = decoded.iter().zip(accepted).take_while(|(a, b)| a == b).count();
            format!(
                "stretch {i}, instruction {at} of {}: decoded {:x?}, accepted {:x?}",
                accepted.len(),
                decoded.get(at),
                accepted.get(at)
            )
        })
    }
}

/// Decodes the payloads.
pub(crate) fn decode(
    config: &Config,
    executed: &Executed,
    options: Ioptions,
    payloads: &[Vec<u8>],
) -> Result<Stretches, Failed> {
    let reading = Reading {
        params: config.etrace,
        unit: config.unit(),
        tvec: executed.tvec.clone(),
        ..Reading::default()
    };
    let mut tracer = Tracer::new(reading, &executed.image)?;
    let tail = if config.unit() == Unit::RvTracer { Tail::Zero } else { Tail::Sign };
    let mut found = Found::default();
    for (packet, payload) in (0..).zip(payloads) {
        let at = StreamPos { packet, byte: 0 };
        tracer.feed_bits(at, BitReader::new(payload, tail), &mut found);
    }
    // rv_tracer has a bit for addresses that are not full; for others this is implied.
    let found_options = Ioptions { delta_address: false, ..tracer.options() };
    if found_options != options {
        return Err("the trace does not say which modes are on".into());
    }
    tracer.finish(&mut found);
    match found.gap {
        Some(gap) => Err(gap.into()),
        None => Ok(found.stretches),
    }
}

#[derive(Default)]
struct Found {
    stretches: Stretches,
    gap: Option<String>,
}

impl Sink for Found {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        run.addresses(|address| self.stretches.retired(address));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        match event {
            Event::Off(QualStatus::TraceLost) => self.stretches.lost(),
            Event::Gap(fault) => {
                self.gap.get_or_insert_with(|| format!("packet {}: {fault}", at.packet));
            }
            _ => {}
        }
    }
}
