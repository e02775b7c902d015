//! The scenarios of the project, and some of the walker's own: it reports the instructions that the golden decoder reports.

use super::{RESTLESS, config, frame};
use hartrace_decoder::Image;
use hartrace_decoder::block_table::{BlockTable, WordLayout};
use hartrace_decoder_hdl::walker::Cause;
use hartrace_etrace::{QualStatus, Unit};
use hartrace_executions::scenario::{BUNDLED, Run, Scenario, Source};
use hartrace_golden::Compat;
use hartrace_golden::decoder::Event;
use hartrace_hdl_tools::verilate::Options;
use hartrace_isa::Isa;
use hartrace_lockstep::decoder::{FollowerBench, FollowerError, Said};
use libtest_mimic::Failed;
use std::collections::BTreeMap;

/// Situations that neither programs nor the other scenarios have, without packets and trace.
const OWN: [(&str, &str); 3] = [
    (
        "the second visit of an address",
        "options: resync=half-words:7 lossy
--- code
80000000: 00000013  nop
80000004: 00000013  nop
80000008: ff9ff06f  j 80000000
--- steps
repeat 8
  80000000
  80000004
  80000008
end
",
    ),
    (
        "a synchronisation on the jump of a pair",
        "options: sij resync=half-words:4
--- code
80000000: 00000013  nop
80000004: 00000013  nop
80000008: 00001317  auipc t1, 0x1
8000000c: 00830067  jalr x0, 8(t1)
80001010: 00000013  nop
80001014: 00000013  nop
--- steps
80000000
80000004
80000008
8000000c sijump
80001010
80001014
",
    ),
    (
        "the first instruction is the jump of a pair",
        "options: sij initially-off
--- code
80000000: 00001317  auipc t1, 0x1
80000004: 00830067  jalr x0, 8(t1)
80001008: 00000013  nop
8000100c: 00000013  nop
--- steps
80000000 untraced
80000004 sijump on
80001008
8000100c
",
    ),
];

/// Why a scenario is not followed.
const STREAM: &str = "payloads are given instead of steps";
const REFUSED: &str = "the configuration is refused";
const COMPAT: &str = "habits of a reference model";
const RV32: &str = "code of RV32 only";
const APART: &str = "code that is too far apart for the table";

/// A scenario for the encoder that the walker belongs to.
fn adapted(name: &str, text: &str) -> Result<Scenario, &'static str> {
    let old = Scenario::parse(name, text);
    let (words, rest): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("params:") || line.starts_with("options:"));
    let options = words.iter().find_map(|line| line.strip_prefix("options:")).unwrap_or_default();
    let options = options.split_whitespace().filter(|word| !word.starts_with("unit="));
    let options: Vec<&str> = options.collect();
    let mut text = format!(
        "# {name}\nparams: iaddress_width_p=64\noptions: unit=hartrace {}\n{}\n",
        options.join(" "),
        rest.join("\n")
    );
    if !text.contains("--- packets") {
        text += "--- packets\n--- trace\n";
    }
    // Streams are made of other fields.
    if old.is_ok_and(|old| matches!(old.source, Source::Stream(_))) {
        return Err(STREAM);
    }
    let mut scenario = Scenario::parse(name, &text).map_err(|_| RV32)?;
    let decoder = config().decoder;
    let setup = &mut scenario.setup;
    setup.encoder.params = decoder.params;
    setup.encoder.unit = Unit::Hartrace;
    setup.decoder.params = decoder.params;
    setup.decoder.unit = Unit::Hartrace;
    match setup.encoder.compat {
        Compat::None => Ok(scenario),
        _ => Err(COMPAT),
    }
}

/// What the walker says of a run; `None` if its code is too far apart.
fn walked(
    bench: &FollowerBench,
    scenario: &Scenario,
    run: &Run,
) -> Result<Option<(Vec<u64>, usize)>, Failed> {
    let mut image = Image::new(Isa::new(scenario.code.xlen()));
    for (address, bytes) in scenario.code.segments() {
        image.add(address, &bytes);
    }
    let table = BlockTable::build(&image, &[], WordLayout::SPAN_BITS);
    let levels = &scenario.setup.decoder.tvec;
    let tvec: Vec<(u8, u64)> = levels.iter().map(|(level, base)| (level.0, *base)).collect();
    let mut following = match bench.start(&table, 0, &tvec) {
        Err(FollowerError::Table(_)) => return Ok(None),
        other => other?,
    };
    let mut said: Vec<Said> = Vec::new();
    for payload in &run.payloads {
        following.send(&frame(payload), |more| said.push(more))?;
        following.rest(RESTLESS, |more| said.push(more))?;
    }
    let (mut addresses, mut gaps) = (Vec::new(), 0);
    for Said { block, gap } in said {
        if let Some(block) = block {
            let more = block.instructions(&image);
            addresses.extend(more.ok_or_else(|| format!("{block:x?}: no such code"))?.0);
        }
        gaps += usize::from(gap.is_some_and(|cause| cause != Cause::Lost));
    }
    Ok(Some((addresses, gaps)))
}

/// All scenarios that the walker can follow.
pub(super) fn follow() -> Result<(), Failed> {
    let bench = FollowerBench::new(&config(), &Options::default())?;
    let mut without: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut ran, mut wrong) = (0, String::new());
    for (name, text) in BUNDLED.iter().chain(&OWN) {
        let scenario = match adapted(name, text) {
            Ok(scenario) => scenario,
            Err(reason) => {
                *without.entry(reason).or_default() += 1;
                continue;
            }
        };
        let run = scenario.run()?;
        if run.refused {
            *without.entry(REFUSED).or_default() += 1;
            continue;
        }
        let Some((addresses, gaps)) = walked(&bench, &scenario, &run)? else {
            *without.entry(APART).or_default() += 1;
            continue;
        };
        let retired = run.events.iter().filter_map(|(_, event)| match event {
            Event::Retired(address) => Some(*address),
            _ => None,
        });
        let missing =
            |event: &Event| matches!(event, Event::Gap(_) | Event::Off(QualStatus::TraceLost));
        let wanted_gaps = run.events.iter().filter(|(_, event)| missing(event)).count();
        let wanted: Vec<u64> = retired.collect();
        if addresses != wanted || gaps != wanted_gaps {
            wrong += &format!(
                "{name}: {addresses:x?} with {gaps} gaps instead of {wanted:x?} with {wanted_gaps}\n"
            );
        }
        ran += 1;
    }
    if !wrong.is_empty() {
        return Err(wrong.into());
    }
    // Otherwise, this does not test what it should.
    let expected =
        BTreeMap::from([(STREAM, 29), (REFUSED, 1), (COMPAT, 7), (RV32, 2), (APART, 17)]);
    if without != expected {
        return Err(format!("{ran} scenarios were followed; not {without:?}").into());
    }
    Ok(())
}
