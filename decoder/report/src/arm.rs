//! Reports of Arm traces: ETMv4, ETE and PTM.
//!
//! [`report`] writes the reports that exist for any trace, and [`listing`] the listing. [`packets`] and
//! [`elements`] write what only Arm traces have, one line each, as OpenCSD does.

pub(crate) mod disassembly;
mod elements;
mod listing;
mod side;

pub use elements::{elements, marks, packets};
pub use listing::{Listing, listing};

use crate::collect::Collect;
use crate::collect::Noted;
use crate::erased::{Erased, OtherSink};
use crate::limited::{Limited, SharedLimits};
use crate::limits::{Limits, Unreached};
use crate::printer::{Error, Printer};
use crate::report::Report;
use hartrace_arm_decoder::runs::{Profile, Runs};
use hartrace_arm_decoder::{self as arm, ElementSink, Range};
use hartrace_capture::perf::Placed;
use hartrace_capture::system::Traced;
use hartrace_decoder::{Event, Run, Sink, StreamPos};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// How sources are decoded.
#[derive(Clone, Debug)]
pub struct How {
    /// Number of threads; each decodes a source.
    pub threads: NonZeroUsize,
    /// The part of each source to report, if not all of it.
    pub limits: Option<Limits>,
    /// Whether a single source is named too.
    pub named: bool,
}

/// Decodes sources, each on one of several threads, and reports them one after the other. Finishes the
/// report and its gaps, even if an error follows.
pub fn report<R: Report, W: Write>(
    printer: &mut Printer<R, W>,
    how: How,
    all: &[Traced<'_>],
) -> Result<(), Error> {
    let maker = printer.report.maker();
    let decode = |make: &Make<'_, _>, take: &mut Take<'_, _>| plain(&how, all, make, take);
    each(printer, &|| Erased::new(maker()), Erased::into_sink, decode)
}

/// Decodes sources for any report. Nothing of its type depends on the report, so that it is compiled once, here.
fn plain(
    how: &How,
    all: &[Traced<'_>],
    make: &Make<'_, Erased<false>>,
    take: &mut Take<'_, Erased<false>>,
) -> Result<Option<Unreached>, Error> {
    decode_each(how, all, &Plain, make, take)
}

/// Makes a part with its gaps.
type Make<'a, P> = dyn Fn() -> Noted<P> + Sync + 'a;

/// Takes parts of a source, and then nothing, at its end.
type Take<'a, P> = dyn FnMut(Option<u16>, Option<Noted<P>>) -> Result<(), Error> + 'a;

/// Reports what `decode` decodes, and ends the gaps. Parts are made by `maker`, and reported as what `into_part` makes of
/// them.
fn each<R: Report, W: Write, P: Collect>(
    printer: &mut Printer<R, W>,
    maker: &(dyn Fn() -> P + Sync),
    into_part: impl Fn(P) -> Result<R::Part, OtherSink>,
    decode: impl FnOnce(&Make<'_, P>, &mut Take<'_, P>) -> Result<Option<Unreached>, Error>,
) -> Result<(), Error> {
    let strict = printer.gaps.is_strict();
    let outcome = decode(&|| Noted::new(maker(), strict), &mut |source, part| match part {
        Some(part) => {
            let part = part.try_map(&into_part).map_err(io::Error::from)?;
            printer.join(vec![(source, part)])
        }
        // The end of this source.
        None if R::WHOLE => Ok(()),
        None => Ok(printer.finish()?),
    });
    let outcome = match outcome {
        Ok(Some(why)) if printer.gaps.has_started() => {
            Err(Error::Unreached { file: printer.gaps.file().into(), why })
        }
        Ok(_) if R::WHOLE => printer.finish().map_err(Error::from),
        Ok(_) => Ok(()),
        Err(error) => {
            // The error says more than what may follow from it.
            let _ = printer.finish();
            Err(error)
        }
    };
    printer.gaps.end(match outcome {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
    outcome
}

/// Decodes sources into parts. Returns why nothing is within the limits, if nothing is.
fn decode_each<P: Collect>(
    how: &How,
    all: &[Traced<'_>],
    form: &(impl Form<P> + Sync),
    make: &Make<'_, P>,
    take: &mut Take<'_, P>,
) -> Result<Option<Unreached>, Error> {
    // Limits are those of each source. It is enough if one has something within them.
    let unreached = Mutex::new(Vec::new());
    let work = |traced: &Traced<'_>, pass: &mut dyn FnMut(Option<Noted<P>>) -> bool| {
        let limits = how.limits.clone().map(SharedLimits::new);
        form.decode(traced, &mut Passing::new(make, limits.as_ref(), pass));
        if let Some(why) = limits.and_then(|limits| limits.unreached()) {
            unreached.lock().unwrap_or_else(PoisonError::into_inner).push(why);
        }
    };
    side::each(all, how.threads, work, |traced: &Traced<'_>, part| {
        take((how.named || all.len() > 1).then_some(traced.id), part)
    })?;
    let unreached = unreached.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(unreached.first().copied().filter(|_| unreached.len() == all.len()))
}

/// Decodes a source into parts of type `P`.
trait Form<P> {
    fn decode(&self, traced: &Traced<'_>, passing: &mut Passing<'_, P>);
}

/// Any form of E-Trace.
struct Plain;

impl<P: Collect> Form<P> for Plain {
    fn decode(&self, traced: &Traced<'_>, passing: &mut Passing<'_, P>) {
        traced.decode(&mut Checked(Runs::new(&mut *passing, profile(traced))));
        passing.end();
    }
}

fn profile(traced: &Traced<'_>) -> Profile {
    if traced.core.m_profile { Profile::M } else { Profile::A }
}

/// Elements after which a part is passed on, full or not: who takes it may want no more.
const MOST: u32 = 1 << 20;

/// Collects a part, and passes it on when it is full.
struct Passing<'a, P> {
    part: Limited<'a, Noted<P>>,
    /// Elements in it.
    elements: u32,
    make: &'a Make<'a, P>,
    /// Returns whether somebody waits for more.
    pass: &'a mut dyn FnMut(Option<Noted<P>>) -> bool,
    /// Nothing more is of interest.
    done: bool,
}

impl<'a, P: Collect> Passing<'a, P> {
    fn new(
        make: &'a Make<'a, P>,
        limits: Option<&'a SharedLimits>,
        pass: &'a mut dyn FnMut(Option<Noted<P>>) -> bool,
    ) -> Self {
        let part = Limited::new(make(), limits, Placed::default());
        Self { part, elements: 0, make, pass, done: false }
    }

    /// The part, without its gaps.
    fn part(&mut self) -> &mut P {
        &mut self.part.sink.sink
    }

    /// Passes on the part if there is enough in it.
    fn check(&mut self) {
        if self.part.sink.is_ended() || self.part.is_done() {
            self.done = true;
            return;
        }
        self.elements = self.elements.saturating_add(1);
        if self.elements >= MOST || self.part.is_full() {
            self.pass_on();
        }
    }

    fn pass_on(&mut self) {
        self.elements = 0;
        let part = std::mem::replace(&mut self.part.sink, (self.make)());
        self.done |= !(self.pass)(Some(part));
    }

    /// Passes on the rest.
    fn end(&mut self) {
        self.pass_on();
        (self.pass)(None);
    }
}

impl<P: Collect> Sink for &mut Passing<'_, P> {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.part.run(at, run);
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.part.event(at, event);
    }
}

/// Passes on parts that are full, and ends when nothing more is of interest.
struct Checked<'p, 'a, P>(Runs<&'p mut Passing<'a, P>>);

impl<P: Collect> ElementSink for Checked<'_, '_, P> {
    const INSTRUCTIONS: bool = true;

    fn range(&mut self, at: StreamPos, range: &Range) {
        self.0.range(at, range);
        self.0.sink.check();
    }

    fn instructions(&mut self, at: StreamPos, base: u64, offsets: &[u16]) {
        self.0.instructions(at, base, offsets);
    }

    fn event(&mut self, at: StreamPos, event: arm::Event) {
        self.0.event(at, event);
        self.0.sink.check();
    }

    fn is_done(&self) -> bool {
        self.0.sink.done
    }
}
