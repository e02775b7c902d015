//! `hartrace decode`.
//!
//! A capture is decoded in parts. Each fills a [`Part`]; one [`Printer`] takes them in order and
//! knows everything that goes from one part to the next.

mod blocks;
mod edges;
mod events;
mod forms;
mod part;
mod printer;
mod text;

use crate::args::{DecodeArgs, Emit};
use crate::failure::{Failure, Status};
use crate::files;
use crate::follow::{self, Follow};
use crate::gaps::Gaps;
use crate::image::Programs;
use crate::limits::Limits;
use forms::{Form, Pcs};
use hartrace_decoder::{Event, Run, Sink, StreamPos};
use hartrace_isa::Xlen;
use part::Part;
use printer::Printer;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs) -> Result<Status, Failure> {
    if args.json && matches!(args.emit, Emit::Pcs | Emit::Listing) {
        return Err(Failure::usage("--json has a form for events, blocks and edges only")
            .hint("--emit json"));
    }
    let limits = Limits::new(args.from, args.to)?;
    let follow = Follow::open(&args.follow, [])?;
    let mut tracer = follow.tracer()?;
    let bar = files::progress(follow.bytes.len() as u64);
    let gaps = Gaps::new(files::name(&args.follow.capture), args.follow.strict);
    let form = form(args.emit, args.json, &follow.programs, follow.setup.xlen);
    let mut printer = Printer::new(files::stdout(), form, gaps, limits);
    let mut live = Live { part: Part::default(), printer: &mut printer, result: Ok(()) };
    for packet in follow.packets() {
        bar.set_position(packet.frame);
        follow::feed(&mut tracer, &packet, &mut live);
        if live.is_done() {
            break;
        }
    }
    if !live.is_done() {
        tracer.finish(&mut live);
    }
    live.finish()?;
    bar.finish_and_clear();
    printer.finish()
}

/// Prints parts as they fill up, also in the middle of a packet: one may stand for any number of
/// instructions.
struct Live<'p, 'f, W> {
    part: Part,
    printer: &'p mut Printer<'f, W>,
    /// The decoder cannot be stopped from within, so an error waits here.
    result: Result<(), Failure>,
}

impl<W: Write> Live<'_, '_, W> {
    /// Nothing that follows is of interest.
    fn is_done(&self) -> bool {
        self.result.is_err() || self.printer.is_done()
    }

    /// Makes room for more, if more is wanted.
    fn is_ready(&mut self) -> bool {
        if self.part.is_full() {
            self.join();
        }
        !self.is_done()
    }

    fn join(&mut self) {
        if self.result.is_ok() {
            self.result = self.printer.join(&self.part);
        }
        self.part.clear();
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.join();
        self.result
    }
}

impl<W: Write> Sink for Live<'_, '_, W> {
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        if self.is_ready() {
            self.part.run(at, run);
        }
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        if self.is_ready() {
            self.part.event(at, event);
        }
    }
}

/// What turns the trace into text.
fn form(emit: Emit, json: bool, programs: &Programs, xlen: Xlen) -> Box<dyn Form + '_> {
    match emit {
        Emit::Pcs => Box::new(Pcs),
        Emit::Json => Box::new(events::Events::new(xlen)),
        Emit::Blocks => Box::new(blocks::Blocks::new(programs, xlen, json)),
        Emit::Edges => Box::new(edges::Table::new(programs, xlen, json)),
        Emit::Listing => Box::new(text::Listing::new(programs, xlen)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::{self, PARAMS};
    use crate::image;
    use clap::ValueEnum;
    use hartrace_bits::{BitReader, Tail};
    use hartrace_decoder::{Config, Image, Tracer};
    use hartrace_encap::FrameError;
    use hartrace_etrace::{Ioptions, Unit};
    use hartrace_isa::Isa;
    use hartrace_walk::{Shape, Walk, generate};

    /// A trace with traps and a hole, cut into parts of `packets` each.
    fn parts(walk: &Walk, image: &Image, packets: usize) -> Vec<Part> {
        let config = Config { params: PARAMS, unit: Unit::Hartrace, ..Config::default() };
        let mut tracer = Tracer::new(config, image).unwrap();
        let mut parts = vec![Part::default()];
        for (number, payload) in demo::encode(walk, Ioptions::default()).unwrap().iter().enumerate()
        {
            if number % packets == 0 {
                parts.push(Part::default());
            }
            let at = StreamPos { packet: number as u64, byte: 8 * number as u64 };
            let part = parts.last_mut().unwrap();
            if number == 20 {
                tracer.damage(at, FrameError::Header(0xff).into(), part);
                continue;
            }
            tracer.feed_bits(at, BitReader::new(&payload.bytes, Tail::Sign), part);
        }
        tracer.finish(parts.last_mut().unwrap());
        parts
    }

    /// Where a trace is cut into parts cannot be seen.
    #[test]
    fn parts_leave_no_trace() {
        let shape = Shape { steps: 60_000, exceptions: 10, ..Shape::default() };
        let walk = generate(5, &shape.without_sideband());
        let mut image = Image::new(Isa::new(Xlen::Rv64));
        for (address, bytes) in &walk.program.segments {
            image.add(*address, bytes);
        }
        let programs = image::tests::programs(image.clone());
        let limits = [(None, None), (Some("500"), Some("packet:900"))];
        for emit in Emit::value_variants() {
            for (from, to) in limits.map(|(a, b)| (a.map(parsed), b.map(parsed))) {
                let text = |packets| {
                    let form = form(*emit, false, &programs, Xlen::Rv64);
                    let gaps = crate::gaps::tests::silent(false);
                    let mut out = Vec::new();
                    let limits = Limits::new(from, to).unwrap();
                    let mut printer = Printer::new(&mut out, form, gaps, limits);
                    for part in parts(&walk, &image, packets) {
                        printer.join(&part).unwrap();
                    }
                    assert_eq!(printer.finish().unwrap(), Status::Gaps);
                    String::from_utf8(out).unwrap()
                };
                let whole = text(usize::MAX);
                assert!(whole.lines().count() > 20, "{emit:?}: {whole}");
                assert!(whole == text(1), "{emit:?} {from:?}");
                assert!(whole == text(7), "{emit:?} {from:?}");
            }
        }
    }

    fn parsed(position: &str) -> crate::limits::Position {
        position.parse().unwrap()
    }
}
