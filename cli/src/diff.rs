//! `hartrace diff --packets`: compares two captures packet by packet.

use crate::args::DiffArgs;
use crate::failure::{Failure, Status};
use crate::{described, files, gaps, params};
use hartrace_capture::params::Setup;
use hartrace_isa::Xlen;
use hartrace_report::diff::{Diff, Style};
use hartrace_report::dump::Listed;
use hartrace_report::gaps::NoSync;
use hartrace_report::packets::{Packets, Reader, sources};
use indicatif::ProgressBar;
use std::io::{self, Write};

/// Runs the command.
pub(crate) fn run(args: &DiffArgs) -> Result<Status, Failure> {
    let stream = &args.follow.stream;
    let (one, other) = (args.follow.capture()?, args.b.as_path());
    let params = stream.params.as_deref();
    files::one_standard(params.into_iter().chain([one, other]))?;
    let [mut first, mut second] = [described::find(one)?, described::find(other)?];
    let options = stream.options();
    // With a file of parameters, the descriptions need not be of these captures.
    if stream.params.is_some() {
        first.trust();
        second.trust();
    }
    // Where only one has a description, it is of both.
    let [of_a, of_b] = match (&first.description, &second.description) {
        (None, Some(_)) => [&second, &second],
        (Some(_), None) => [&first, &first],
        _ => [&first, &second],
    };
    let mut setup = params::setup(stream, Some(of_a))?;
    let mut other_setup = params::setup(stream, Some(of_b))?;
    options.order(&mut first, &mut setup)?;
    options.order(&mut second, &mut other_setup)?;
    let (a, b) = (described::read(&first)?, described::read(&second)?);
    let lists = (list(&a, &setup), list(&b, &other_setup));
    if lists.0.is_empty() && lists.1.is_empty() {
        let found = NoSync { bytes: a.len() as u64, packets: 0 };
        gaps::new(files::name(one), false, ProgressBar::hidden()).silent(found);
        return Ok(Status::Gaps);
    }
    let diff = Diff::new(lists.0, lists.1);
    if diff.is_empty() {
        return Ok(Status::Clean);
    }
    let several = |bytes: &[u8], setup: &Setup| sources(bytes, setup.transport.stream()).len() > 1;
    let with_source = several(&a, &setup) || several(&b, &other_setup);
    match print(args, &diff, [&first.name, &second.name], setup.xlen, with_source)
        .map_err(Failure::from)
    {
        // The captures differ, whether or not anybody reads on.
        Err(error) if !error.is_quiet() => Err(error),
        _ => Ok(Status::Different),
    }
}

/// Prints the differences.
fn print(
    args: &DiffArgs,
    diff: &Diff<'_>,
    names: [&str; 2],
    xlen: Xlen,
    with_source: bool,
) -> io::Result<()> {
    let mut out = files::stdout();
    if args.json {
        diff.json(&mut out, xlen)?;
    } else {
        let choice = anstream::AutoStream::choice(&io::stdout());
        let colour = choice != anstream::ColorChoice::Never;
        diff.print(&mut out, names, Style { colour, with_source, xlen })?;
    }
    out.flush()
}

fn list<'a>(bytes: &'a [u8], setup: &Setup) -> Vec<Listed<'a>> {
    let mut reader = Reader::new(setup.layout, setup.options);
    let packets = Packets::new(bytes, setup.transport.stream());
    packets.map(|packet| Listed::new(packet, &mut reader)).collect()
}
