//! Reports are the same on any number of threads, byte for byte.

use hartrace_capture::decode::CaptureDecoder;
use hartrace_decoder::Count;
use hartrace_report::calls::{Timing, Top};
use hartrace_report::decode::Origin;
use hartrace_report::gaps::Gaps;
use hartrace_report::limits::{Limits, Position, SharedLimits};
use hartrace_report::tables::Naming;
use hartrace_report::{Form, FormContext, NoLines};
use hartrace_tests::captures::{Folder, damaged, follow, several_sources, trace_synchronised};
use hartrace_tests::case::Dice;
use std::convert::Infallible;
use std::fs;
use std::io::Read;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What is written, what is said of gaps, and how it ends.
type Written = (Vec<u8>, Vec<String>, String);

/// Decodes a capture in parts of so many bytes. If `plain`, within limits that hold everything: then everything is done by the
/// thread that joins, and one after the other.
fn written(
    form: Form,
    look: &FormContext<'_>,
    (follow, mut bytes): (&CaptureDecoder, &[u8]),
    size: usize,
    plain: bool,
) -> Result<Written, NoLines> {
    let said = Arc::new(Mutex::new(Vec::new()));
    let say = Arc::clone(&said);
    let gaps = Gaps::new("t", move |note| say.lock().unwrap().push(note.to_string()));
    let all = Limits::new(Some(Position::Byte(0)), None).expect("it is not empty");
    let limits = plain.then(|| SharedLimits::new(all.expect("there is a start")));
    let mut out = Vec::new();
    let mut printer = form.printer(look, &mut out, gaps)?;
    let origin = Origin::Capture(&mut bytes as &mut (dyn Read + Send));
    let end = printer.follow(follow, origin, size, limits.as_ref(), &mut |_| ());
    drop(printer);
    let said = said.lock().unwrap().clone();
    Ok((out, said, format!("{end:?}")))
}

/// Compares reports of a capture. Returns the number of bytes that were written, and of lines about gaps.
fn check(capture: &Path) -> (usize, usize) {
    let (mut follow, bytes) = (follow(capture), fs::read(capture).expect("it was written"));
    let (mut bytes_written, mut gaps) = (0, 0);
    for (form, json) in Form::ALL.into_iter().flat_map(|form| [(form, false), (form, true)]) {
        if json && !form.has_json() {
            continue;
        }
        let run = |follow: &CaptureDecoder, size, plain| {
            let look = FormContext {
                programs: &follow.programs,
                xlen: follow.setup.xlen,
                name: "t",
                json,
                headings: true,
                naming: Naming::Several,
                timing: Timing::default(),
                top: Top::default(),
            };
            written(form, &look, (follow, &bytes), size, plain)
        };
        follow.threads = NonZeroUsize::MIN;
        // Not every program has debug information.
        let Ok((text, said, end)) = run(&follow, 1 << 14, true) else { continue };
        for (threads, size) in [(1, 1 << 14), (2, 1), (2, 1 << 11), (3, 200), (8, 1 << 14)] {
            follow.threads = NonZeroUsize::new(threads).expect("not zero");
            let found = run(&follow, size, false).expect("it has debug information");
            let what = format!("{}: {form}, {threads} threads, {size} bytes", capture.display());
            if end.starts_with("Ok") {
                let differs = found.0.iter().zip(&text).position(|(a, b)| a != b);
                assert!(found.0 == text, "{what}: {differs:?} of {}", text.len());
            }
            assert_eq!(found.2, end, "{what}");
            assert_eq!(found.1, said, "{what}");
        }
        bytes_written += text.len();
        gaps += said.len();
    }
    (bytes_written, gaps)
}

/// The largest number of parts that a capture can be cut into.
fn parts(capture: &Path) -> usize {
    let (mut follow, bytes) = (follow(capture), fs::read(capture).expect("it was written"));
    follow.threads = NonZeroUsize::new(2).expect("not zero");
    let mut parts = 0;
    let flow = follow.run(&bytes[..], 1, Count::default, |_| {
        parts += 1;
        Ok::<_, Infallible>(ControlFlow::Continue(()))
    });
    assert_eq!(flow.expect("nothing fails"), ControlFlow::Continue(()));
    parts
}

#[test]
fn reports_are_the_same_on_any_number_of_threads() {
    let (folder, mut dice) = (Folder::new("threads"), Dice::new(4));
    let (mut written, mut gaps) = (0, 0);
    let mut add = |capture: &Path| {
        let (bytes, lines) = check(capture);
        (written, gaps) = (written + bytes, gaps + lines);
    };
    for (name, mode) in [("interrupts", "ir+bp"), ("user", "delta")] {
        let capture = trace_synchronised(&folder, name, mode, 30_000, 5);
        let parts = parts(&capture);
        assert!(parts > 50, "{name}: {parts} parts");
        add(&capture);
        add(&damaged(&capture, 0, &mut dice));
    }
    // Where synchronisations are far apart, a thread fills many sinks before its turn.
    let far = trace_synchronised(&folder, "sort", "ir+bp", 150_000, 3_000);
    let found = parts(&far);
    assert!((2..10).contains(&found), "{found} parts");
    add(&far);
    let trace = |mode| trace_synchronised(&folder, "calls", mode, 8_000, 5);
    let traces = ["delta", "ir", "full+bp"].map(trace);
    let capture = several_sources(&folder, &traces, &mut dice);
    add(&capture);
    // The first source alone, until the others come.
    let alone = several_sources(&folder, &traces[..1], &mut dice);
    add(&alone);
    let bytes = fs::read(&alone).expect("it was written");
    fs::write(&alone, &bytes[..bytes.len() * 2 / 3]).expect("there is room");
    add(&alone);
    add(&damaged(&alone, 1, &mut dice));
    assert!(written > 20_000_000 && gaps > 20, "{written} bytes, {gaps} lines about gaps");
}
