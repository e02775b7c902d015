//! `hartrace stats`.

use crate::args::StatsArgs;
use crate::decoding::EtraceDecoding;
use crate::described;
use crate::failure::{Failure, Status, warn};
use crate::files::{self, Capture};
use crate::gaps;
use hartrace_capture::decode::Filling;
use hartrace_decoder::stream::{Decoded, StreamError};
use hartrace_decoder::{Count, Event};
use hartrace_report::Printer;
use hartrace_report::decode::{LARGE, Noted};
use hartrace_report::gaps::{Gaps, NoSync};
use hartrace_report::stats::{Program, Stats, Tally};
use hartrace_report::tables::Total;
use indicatif::ProgressBar;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &StatsArgs) -> Result<Status, Failure> {
    let given = &args.follow;
    let path = given.capture()?;
    let gaps = |capture: &Capture| gaps::new(files::name(path), given.strict, capture.bar.clone());
    let described = described::find(path)?;
    let ended_early = described.ended_early().map(str::to_owned);
    let missing = described.missing_program().filter(|_| !given.has_program());
    if let Some(missing) = &missing {
        let what = "not there, so instructions are not counted; try --elf PROG";
        warn(format_args!("{}: {what}", missing.display()));
    }
    let has_program = given.has_program() || described.has_programs() && missing.is_none();
    let (mut stats, mut gaps, tells_its_end, status) = if !has_program {
        let params = given.stream.params.as_deref();
        files::one_standard(params.into_iter().chain([path]))?;
        let (described, setup) = described::stream(path, &given.stream)?;
        let capture = described::open(&described)?;
        let gaps = gaps(&capture);
        let mut tally = Tally::new(&setup);
        let mut gaps = read(&mut tally, path, capture, gaps)?;
        gaps.packets(tally.endings());
        gaps.end(ControlFlow::Continue(()));
        (tally.stats(), gaps, setup.tells_its_end(), Status::Clean)
    } else {
        let (mut following, capture) = EtraceDecoding::open(given, [])?;
        following.follow.count_packets();
        let mut printer = Printer::new(Total::<Count>::default(), io::sink(), gaps(&capture));
        let make = || Noted::new(Count::default(), given.strict);
        let join = |decoded: Decoded<_>| Ok(ControlFlow::Continue(printer.join(decoded.sinks)?));
        let flow = following.run(capture.map(Filling), LARGE, make, join)?;
        printer.gaps.end(flow);
        let mut stats = Stats::from(&following.follow.packets());
        let count = printer.report.sum;
        stats.program = Some(Program::new(count, stats.bits));
        let status = following.check(&count, given.strict)?;
        (stats, printer.gaps, following.follow.setup.tells_its_end(), status)
    };
    stats.ended_early = ended_early;
    stats.ended = gaps.is_ended() || !tells_its_end;
    let mut out = files::stdout();
    if args.json {
        stats.json(&mut out)?;
    } else {
        stats.print(&mut out)?;
    }
    out.flush()?;
    if let Some(silent) = stats.silent().filter(|_| stats.malformed.packets == 0) {
        gaps::new(files::name(path), false, ProgressBar::hidden()).silent(silent);
    }
    if tells_its_end {
        gaps.ended(NoSync { bytes: stats.capture_bytes, packets: stats.total.packets })?;
    }
    let gaps = stats.program.as_ref().map_or(0, |program| program.gaps);
    let clean = gaps + stats.malformed.packets == 0 && stats.silent().is_none();
    Ok(if clean { status } else { Status::Gaps })
}

/// Counts all of a capture. A malformed packet is a gap.
fn read(tally: &mut Tally, path: &Path, capture: Capture, mut gaps: Gaps) -> Result<Gaps, Failure> {
    let progress = capture.progress();
    let Capture { input, bar, .. } = capture;
    let outcome = tally.read(input, |tally| {
        progress(tally.bytes());
        match tally.fault() {
            Some((at, fault)) if gaps.is_strict() => {
                gaps.event(None, at, &Event::Gap(fault));
                gaps.check()
            }
            _ => Ok(()),
        }
    });
    bar.finish_and_clear();
    outcome.map_err(|error| match error {
        StreamError::Join(missing) => missing.into(),
        StreamError::Input(error) => files::unreadable(path, &error),
        StreamError::Params(error) => Failure::usage(error),
    })?;
    Ok(gaps)
}
