//! The scenarios of the project through the RTL, in lock step with the golden encoder.
//!
//! The payloads of the RTL also have to be those that the scenario states. A model has the hardware for many
//! scenarios: fields that a scenario does without are there, but hold nothing. So payloads are compared by
//! their values, and the golden encoder of the lock step, which has the parameters of the model, by its bits.

mod models;

use hartrace_bits::{BitReader, Tail};
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::Retired;
use hartrace_etrace::{Ioptions, Layout, Payload, Support, Unit};
use hartrace_executions::scenario::{Action, BUNDLED, Scenario, Source};
use hartrace_hdl_tools::verilate::Options;
use hartrace_lockstep::{Bench, FilterRequest, Seen, Setting, Traffic};
use libtest_mimic::{Arguments, Failed, Trial};
use models::{Fit, fit, models};
use std::collections::BTreeMap;

fn main() {
    let args = Arguments::from_args();
    let missing = !hartrace_hdl_tools::verilate::available();
    let mut trials = vec![Trial::test("where-they-run", where_they_run)];
    for (name, config) in models() {
        let run = move || model(name, &config);
        trials.push(Trial::test(format!("model/{name}"), run).with_ignored_flag(missing));
    }
    libtest_mimic::run(&args, trials).exit();
}

fn scenarios() -> Result<Vec<Scenario>, Failed> {
    let parse = |(name, text): &(&str, &str)| {
        Scenario::parse(name, text).map_err(|error| format!("{name}.htt:{error}").into())
    };
    BUNDLED.iter().map(parse).collect()
}

/// Which model runs how many scenarios, and why others do not run.
fn where_they_run() -> Result<(), Failed> {
    let mut counts: BTreeMap<Fit, usize> = BTreeMap::new();
    for scenario in scenarios()? {
        *counts.entry(fit(&scenario)).or_default() += 1;
    }
    let ran: usize =
        counts.iter().filter(|(fit, _)| matches!(fit, Fit::Runs(_))).map(|(_, n)| n).sum();
    println!("RTL: {ran} of {} scenarios in lock step", BUNDLED.len());
    for (fit, count) in &counts {
        println!("  {count:>3} {fit}");
    }
    let expected = models::expected();
    if counts != expected {
        return Err(format!("expected {expected:?}").into());
    }
    Ok(())
}

/// Runs all scenarios that fit a model.
fn model(name: &'static str, config: &Config) -> Result<(), Failed> {
    let mut bench = Bench::new(config, &Options::default())?;
    let mut wrong = String::new();
    for scenario in scenarios()?.iter().filter(|scenario| fit(scenario) == Fit::Runs(name)) {
        if let Err(error) = run(&mut bench, config, scenario) {
            wrong += &format!("{}: {}\n", scenario.name, error.message().unwrap_or("failed"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// Runs one scenario, at full speed and then with pauses on both sides.
fn run(bench: &mut Bench, config: &Config, scenario: &Scenario) -> Result<(), Failed> {
    let Source::Steps(actions) = &scenario.source else {
        return Err("a stream has no steps".into());
    };
    let rows = actions.iter().filter_map(|action| match action {
        Action::Row(row) => Some(row.retired),
        _ => None,
    });
    let rows: Vec<Retired> = rows.collect();
    let encoder = &scenario.setup.encoder;
    let want =
        values(&encoder.params.layout(encoder.unit)?, &scenario.run()?.payloads, |options| {
            // Without a bit for it, the parameter is the mode (D11).
            options.sequentially_inferred_jump |= always_inferred(scenario);
        })?;
    let setting = setting(scenario)?;
    for traffic in [
        Traffic::default(),
        Traffic { back_pressure: 600, idle: 300, seed: 1, ..Traffic::default() },
    ] {
        let mut payloads = Vec::new();
        let mut watch = |seen: Seen<'_>| {
            if let Seen::Payload(bytes, _) = seen {
                payloads.push(bytes.to_vec());
            }
        };
        let mut session = bench.start(&setting, traffic, &mut watch)?;
        session.push(&rows)?;
        session.finish()?;
        let got = values(&config.etrace.layout(config.unit())?, &payloads, |_| {})?;
        if let Some(i) = (0..want.len().max(got.len())).find(|i| want.get(*i) != got.get(*i)) {
            let text =
                |all: &[Payload]| all.get(i).map_or("nothing".to_owned(), Payload::to_string);
            return Err(format!("payload {i}: {} instead of {}", text(&got), text(&want)).into());
        }
    }
    Ok(())
}

fn always_inferred(scenario: &Scenario) -> bool {
    let encoder = &scenario.setup.encoder;
    encoder.unit == Unit::Reference && encoder.params.sijump_p
}

/// What software would write to the control registers.
fn setting(scenario: &Scenario) -> Result<Setting, Failed> {
    let encoder = &scenario.setup.encoder;
    let mut options = encoder.options;
    options.sequentially_inferred_jump |= always_inferred(scenario);
    let resync = models::resync(encoder.resync).ok_or("a period that does not fit")?;
    let mut setting = Setting { options, resync, ..Setting::default() };
    setting.initially_off = !encoder.filter.initially_on;
    for condition in &encoder.filter.conditions {
        let privileges = condition.privileges.clone().unwrap_or_default();
        let mut asked = FilterRequest { privileges, ..FilterRequest::default() };
        for index in &condition.comparators {
            let comparator = encoder.filter.comparators.get(*index).ok_or("no comparator")?;
            asked.range = Some((comparator.primary.1, comparator.secondary.1));
        }
        setting.filters.push(asked);
    }
    Ok(setting)
}

/// The values of payloads. Of support packets, only what does not depend on the unit.
fn values(
    layout: &Layout,
    payloads: &[Vec<u8>],
    adjust: impl Fn(&mut Ioptions),
) -> Result<Vec<Payload>, Failed> {
    let tail = if layout.unit() == Unit::RvTracer { Tail::Zero } else { Tail::Sign };
    let mut modes = Ioptions::default();
    let mut values = Vec::new();
    for bytes in payloads {
        let mut payload = Payload::parse(layout, modes, &mut BitReader::new(bytes, tail))?;
        if let Payload::Support(support) = &mut payload {
            modes = support.ioptions;
            adjust(&mut support.ioptions);
            let Support { ienable, qual_status, ioptions, .. } = *support;
            *support = Support { ienable, qual_status, ioptions, ..Support::default() };
        }
        values.push(payload);
    }
    Ok(values)
}
