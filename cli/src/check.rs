//! `hartrace check`: compares a decoded capture with the execution.

use crate::args::CheckArgs;
use crate::decoding::EtraceDecoding;
use crate::failure::{Failure, Status};
use crate::files::{self, Capture};
use crate::{gaps, input};
use hartrace_bits::mask;
use hartrace_executions::executed::check::{Comparison, Expected, Sides};
use hartrace_report::decode::{Item, Noted, OneSource, Part, SMALL};
use hartrace_report::gaps::NoSync;
use std::io::Write;
use std::ops::ControlFlow;

/// Runs the command.
pub(crate) fn run(args: &CheckArgs) -> Result<Status, Failure> {
    let (following, capture) = EtraceDecoding::open(&args.follow, [args.against.as_path()])?;
    let (setup, programs) = (&following.follow.setup, &following.follow.programs);
    let name = &following.about.capture;
    let (input, bar) = files::open(&args.against)?;
    let options = input::options(&args.format, Some(setup.xlen), setup.itype_width);
    let code = Box::new(|context| programs.image(context));
    let expected = Expected::new(input, files::name(&args.against), &options, Some(code))?;
    input::check(&args.format, expected.format())?;
    let width = u32::from(setup.params.iaddress_width_p).min(setup.xlen.bits());
    let mut gaps = gaps::new(name.clone(), args.follow.strict, bar.clone());
    let mut comparison = Comparison::new(expected, mask(width)).of(programs.image(0));
    // One bar is enough.
    let capture = Capture::of(capture.input);
    let mut source = OneSource::default();
    let mut found = NoSync::default();
    let make = || Noted::new(Part::default(), false);
    let flow = following.run(capture, SMALL, make, |decoded| {
        found = NoSync { bytes: decoded.bytes, packets: decoded.packets };
        for (id, part) in decoded.sinks {
            for (at, item) in part.into_parts().0.iter() {
                if comparison.is_done() {
                    break;
                }
                source.take(id, name)?;
                match item {
                    Item::Retired(run) => comparison.decoded_all(run.addresses, at)?,
                    Item::Event(event) | Item::Aside(event) => {
                        gaps.event(id, at, &event);
                        gaps.check()?;
                    }
                }
            }
        }
        Ok(if comparison.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    gaps.end(flow);
    if flow.is_continue() {
        gaps.silent(found);
        if setup.tells_its_end() {
            gaps.ended(found)?;
        }
    }
    comparison.finish()?;
    bar.finish_and_clear();
    input::warn_of(comparison.guesses(), &files::name(&args.against));
    let mut out = files::stdout();
    let against = files::name(&args.against);
    let count = gaps.count();
    let sides = Sides { capture: name, expected: &against, xlen: setup.xlen, gaps: count };
    if args.json {
        comparison.json(&mut out, &sides)?;
    } else {
        comparison.print(&mut out, &sides)?;
    }
    out.flush()?;
    Ok(if comparison.is_equal() { Status::from(&gaps) } else { Status::Different })
}
