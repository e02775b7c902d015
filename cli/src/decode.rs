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
use crate::limits::Limits;
use forms::{Form, Pcs};
use part::Part;
use printer::Printer;

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
    let mut printer = Printer::new(files::stdout(), form(args, &follow), gaps, limits);
    let mut part = Part::default();
    for packet in follow.packets() {
        bar.set_position(packet.frame);
        follow::feed(&mut tracer, &packet, &mut part);
        if let Err(error) = &packet.body {
            part.damage(packet.pos(), *error);
        }
        if part.is_full() {
            printer.join(&part)?;
            part.clear();
        }
        if printer.is_done() {
            break;
        }
    }
    if !printer.is_done() {
        tracer.finish(&mut part);
        printer.join(&part)?;
    }
    bar.finish_and_clear();
    printer.finish()
}

/// What turns the trace into text.
fn form<'a>(args: &DecodeArgs, follow: &'a Follow) -> Box<dyn Form + 'a> {
    let xlen = follow.setup.xlen;
    match args.emit {
        Emit::Pcs => Box::new(Pcs),
        Emit::Json => Box::new(events::Events::new(xlen)),
        Emit::Blocks => Box::new(blocks::Blocks::new(&follow.programs, xlen, args.json)),
        Emit::Edges => Box::new(edges::Table::new(&follow.programs, xlen, args.json)),
        Emit::Listing => Box::new(text::Listing::new(&follow.programs, xlen)),
    }
}
