//! A hart that may not be traced at every level: what the encoder sends is that of the golden encoder, which does not
//! receive what is forbidden, and a decoder finds what was executed while it was allowed, and nothing else.
//!
//! The levels that may be traced change at any time, with the level of the hart and within it.

use crate::bundled::{Executed, bundled, itype_width};
use crate::gaps::{addresses, decode, everything, walked};
use crate::mutants::noticed;
use crate::stimulus::{self, Stimulus};
use crate::{crafted, random, send};
use hartrace_encoder_hdl::{Config, Overflow, encoder, files};
use hartrace_etrace::ingress::Privilege;
use hartrace_etrace::{Ioptions, Payload};
use hartrace_executions::executed::Instructions;
use hartrace_golden::walk::{Shape, generate};
use hartrace_hdl_tools::verilate::{Design, Options};
use hartrace_lockstep::{Bench, Seen, Setting, Traffic};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Walks of each kind through each configuration.
const WALKS: u64 = 8;

/// Random configurations.
const CONFIGS: u64 = 4;

/// A name, a module, a text in it and one in its place that shows something forbidden.
type Leak = (&'static str, &'static str, &'static str, &'static str);

/// Each has to be noticed by the lock step.
const LEAKS: [Leak; 6] = [
    ("ignores_the_input", "te_core", "forbidden = !(allow_i[priv_i])", "forbidden = 1'b0"),
    (
        "lets_rows_in",
        "te_core",
        "shown_iretire = {10{!forbidden}} & iretire_i",
        "shown_iretire = iretire_i",
    ),
    ("forgets_the_break", "te_core", "gap_owed_d = active_q & gap & !enters", "gap_owed_d = 1'b0"),
    ("tells_a_loss", "te_core", "shown_lost = !forbidden & lost_i", "shown_lost = lost_i"),
    ("traces_a_halted_hart", "te_core", "!still_halted", "1'b1"),
    ("tells_the_cause", "te_priority", "& !next_mark", ""),
];

pub(crate) fn trials(missing: bool) -> Vec<Trial> {
    let mut trials = Vec::new();
    for name in ["micro", "small", "full", "linux", "small_bytes"] {
        let run = move || {
            let config = Config::named(name).ok_or("no configuration")?;
            walks(&random::with_permission(config), 0)
        };
        trials.push(Trial::test(format!("permission/{name}"), run));
    }
    for seed in 0..CONFIGS {
        let run = move || walks(&configuration(seed), seed);
        trials.push(Trial::test(format!("permission/random/{seed}"), run));
        let run = move || walked_and_decoded(seed);
        trials.push(Trial::test(format!("permission/decoded/random/{seed}"), run));
    }
    for (config, program) in [("cva6", "user"), ("full", "interrupts")] {
        let run = move || {
            let config = Config::named(config).ok_or("no configuration")?;
            let config = Config { overflow: Overflow::Stall, ..random::with_permission(config) };
            let executed = bundled(program, 40_000, &config, u32::MAX)?;
            decoded(&config, &executed, 1)
        };
        trials.push(Trial::test(format!("permission/decoded/{config}/{program}"), run));
    }
    for leak in LEAKS {
        let run = move || leaks(leak);
        trials.push(Trial::test(format!("permission/leak/{}", leak.0), run));
    }
    trials.push(Trial::test("permission/only_user", only_user));
    trials.into_iter().map(|trial| trial.with_ignored_flag(missing)).collect()
}

/// A random configuration with permission, every other with filters of every kind.
fn configuration(seed: u64) -> Config {
    let mut rng = fastrand::Rng::with_seed(seed ^ 0xa110);
    let config = random::config(&mut rng);
    random::with_permission(match seed % 2 {
        0 => config,
        _ => random::with_filters(&mut rng, config),
    })
}

/// The inputs of one configuration, in which what may be traced changes rarely or often.
fn stimuli(config: &Config, seed: u64) -> Vec<Stimulus> {
    let mut rng = fastrand::Rng::with_seed(seed ^ 0xa111);
    let mut stimuli = Vec::new();
    for turn in 0..WALKS {
        stimuli.push(stimulus::walk(&mut rng, config, seed * 100 + turn, 3000));
        stimuli.push(stimulus::levels(config, &mut rng, turn));
        stimuli.push(stimulus::handlers(config, &mut rng, turn));
        stimuli.push(stimulus::halts(config, &mut rng, turn));
    }
    for (turn, stimulus) in (0..).zip(&mut stimuli) {
        stimulus.traffic.permissions = [5, 30, 200][turn % 3];
        stimulus.traffic.incomplete = if turn % 5 == 4 { 5 } else { 0 };
        // No room for a break while it is forbidden to trace.
        if turn % 7 == 6 {
            stimulus.traffic.back_pressure = 950;
        }
    }
    stimuli
}

/// The RTL sends what the golden encoder sends.
fn walks(config: &Config, seed: u64) -> Result<(), Failed> {
    let built = Bench::new(config, &Options::default());
    let mut bench = built.map_err(|error| format!("{config:?}: {error}"))?;
    let mut rng = fastrand::Rng::with_seed(seed);
    for stimulus in stimuli(config, seed) {
        send(&mut bench, &mut rng, &stimulus)?;
    }
    Ok(())
}

/// A leak makes a difference.
fn leaks((name, module, from, to): Leak) -> Result<(), Failed> {
    let config = random::with_permission(Config::named("full").ok_or("no configuration")?);
    // Nothing is lost, so that the break for a loss is in no place of another one.
    let config = Config { overflow: Overflow::Stall, ingress_depth: 3, ..config };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("permission").join(name);
    fs::create_dir_all(&folder)?;
    let mut paths = Vec::new();
    for (file, text) in files(&encoder(&config)?) {
        let text = match file == format!("{module}.sv") {
            true if !text.contains(from) => return Err(format!("no {from:?} in {text}").into()),
            true => text.replace(from, to),
            false => text,
        };
        let path = folder.join(file);
        fs::write(&path, text)?;
        paths.push(path);
    }
    let design = Design::files("te_core", paths).clock("clk_i").reset("rst_ni", false);
    let mut bench = Bench::of(&config, design.argument("-Wno-fatal"), &Options::default())?;
    for stimulus in stimuli(&config, 0) {
        bench.restart(1)?;
        if let Some(why) = noticed(stimulus.run(&mut bench))? {
            println!("{name}: {why}");
            return Ok(());
        }
    }
    Err("not noticed".into())
}

/// A walk through all levels.
fn walked_and_decoded(seed: u64) -> Result<(), Failed> {
    let config = Config { overflow: Overflow::Stall, ..configuration(2 * seed) };
    let mut rng = fastrand::Rng::with_seed(seed);
    let shape = Shape {
        user: true,
        supervisor: true,
        environment_calls: 100,
        itype_width: itype_width(&config),
        ..random::shape(&mut rng, &config, seed, 20_000).without_sideband()
    };
    decoded(&config, &walked(&generate(seed, &shape), seed, &config), seed)
}

/// The decoder finds what was executed while it might be traced.
fn decoded(config: &Config, executed: &Executed, seed: u64) -> Result<(), Failed> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut bench = Bench::new(config, &Options::default())?;
    let instructions = Instructions::of(&executed.image);
    for permissions in [2, 20, 200] {
        let setting = everything(random::setting(&mut rng, config));
        let traffic = Traffic { permissions, ..random::traffic(&mut rng) };
        bench.restart(rng.u32(1..))?;
        let (mut allowed, mut forbidden, mut payloads) = (Vec::new(), 0, Vec::new());
        let mut watch = |seen: Seen<'_>| match seen {
            Seen::Accepted(rows) => allowed.extend(addresses(rows, &instructions)),
            Seen::Forbidden(rows) => forbidden += addresses(rows, &instructions).len(),
            Seen::Payload(bytes, _) => payloads.push(bytes.to_vec()),
            _ => {}
        };
        let mut session = bench.start(&setting, traffic, &mut watch)?;
        let explain = |text: &str| format!("{text}\n{setting:?}\n{traffic:?}\n{config:?}");
        session.push(&executed.rows).map_err(|error| explain(&error.to_string()))?;
        session.finish().map_err(|error| explain(&error.to_string()))?;
        let found = decode(config, executed, setting.options, &payloads)?;
        let [found] = &found.0[..] else { return Err(explain("something was lost").into()) };
        if let Some(at) =
            (0..found.len().max(allowed.len())).find(|i| found.get(*i) != allowed.get(*i))
        {
            let (found, allowed) = (found.get(at), allowed.get(at));
            let text = format!("instruction {at}: decoded {found:x?}, allowed {allowed:x?}");
            return Err(explain(&text).into());
        }
        if forbidden == 0 || allowed.is_empty() {
            return Err(explain("nothing was forbidden, or everything").into());
        }
    }
    Ok(())
}

/// If only user mode may be traced, no field of a payload has an address of machine mode, nor the cause or the value of
/// a trap, all of which machine mode handles.
fn only_user() -> Result<(), Failed> {
    let config = random::with_permission(Config::named("full").ok_or("no configuration")?);
    let config = Config { overflow: Overflow::Stall, ..config };
    let rows = crafted::user_and_machine();
    let mut secrets = BTreeSet::new();
    for row in &rows {
        if row.privilege == Privilege::M {
            secrets.insert(row.iaddr);
        }
        if row.itype.is_trap() {
            secrets.extend([row.cause, row.tval]);
        }
    }
    let mut bench = Bench::new(&config, &Options::default())?;
    let (mut told, mut starts) = (Vec::new(), 0);
    let mut watch = |seen: Seen<'_>| {
        let Seen::Payload(_, Some(encoded)) = seen else { return };
        // Addresses are sent whole, without their lowest bit.
        let address = |address: u64| address << config.etrace.iaddress_lsb_p;
        match &encoded.payload {
            Payload::Start(start) => {
                starts += u32::from(start.privilege == Privilege::U.0);
                told.push(address(start.address));
            }
            Payload::Trap(trap) => {
                told.push(trap.ecause);
                told.extend(trap.address.map(address));
                told.extend(trap.tval);
            }
            Payload::Address(report) => told.push(address(report.address)),
            Payload::Branch(report) => {
                told.extend(report.address.as_ref().map(|a| address(a.address)))
            }
            _ => {}
        }
    };
    let options = Ioptions { full_address: true, ..Ioptions::default() };
    let setting = Setting { options, ..Setting::default() };
    let mut session =
        bench.start(&setting, Traffic::default(), &mut watch)?.allowing(1 << Privilege::U.0);
    session.push(&rows)?;
    session.finish()?;
    match told.iter().find(|value| secrets.contains(value)) {
        Some(value) => Err(format!("{value:#x} is in the trace").into()),
        None if starts < 10 => Err(format!("user mode was traced {starts} times").into()),
        None => Ok(()),
    }
}
