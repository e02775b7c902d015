//! Captures of every kind, asked for everything.

mod traced;

use hartrace::{Call, Capture, Count, Coverage, Edges, Error, Form, OpenError, Options, Step};
use hartrace_capture::description::Description;
use hartrace_executions::executed::bundled::PROGRAMS;
use hartrace_tests::captures::Folder;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use traced::trace;

#[test]
fn every_instruction_is_there() {
    for (name, _) in PROGRAMS {
        let folder = Folder::new("instructions");
        let (path, executed) = trace(&folder, name, "delta");
        let capture = hartrace::open(&path).unwrap();
        assert_eq!(capture.warnings(), [""; 0]);
        assert_eq!(
            capture.description().unwrap().capture.instructions,
            Some(executed.len() as u64)
        );
        let decoded = capture.instructions().map(|next| next.map(|next| next.address));
        let decoded: Vec<u64> = decoded.collect::<Result<_, _>>().unwrap();
        assert!(decoded == executed, "{name}: {} and {}", decoded.len(), executed.len());
        // As often as wanted.
        let blocks = capture.blocks().map(|block| block.unwrap().addresses.len()).sum::<usize>();
        assert_eq!(blocks, executed.len());
        let count: Count = capture.sum().unwrap().complete().unwrap();
        assert_eq!((count.instructions, count.gaps), (executed.len() as u64, 0));
        let starts = capture.events().map(Result::unwrap);
        assert!(starts.filter(|next| next.event == hartrace::Event::On).count() > 0);
    }
}

#[test]
fn sums_agree_with_steps() {
    let folder = Folder::new("sums");
    let (path, executed) = trace(&folder, "calls", "ir+bp");
    let capture = Capture::open(&path).unwrap();
    let mut addresses = executed.clone();
    addresses.sort_unstable();
    addresses.dedup();
    let coverage: Coverage = capture.sum().unwrap().complete().unwrap();
    let covered = coverage.ranges();
    assert!(addresses.iter().all(|pc| covered.iter().any(|range| range.contains(pc))));
    let edges: Edges = capture.sum().unwrap().complete().unwrap();
    let mut found = BTreeMap::new();
    let steps = capture.steps().map(Result::unwrap);
    let blocks: Vec<_> = steps
        .filter_map(|step| match step {
            Step::Block(block) => Some(block),
            Step::Event(_) => None,
        })
        .collect();
    for pair in blocks.windows(2) {
        let (from, to) = (*pair[0].addresses.last().unwrap(), pair[1].addresses[0]);
        *found.entry((from, to)).or_insert(0u64) += 1;
    }
    for (edge, count) in edges.sorted() {
        assert_eq!(found.get(&(edge.from, edge.to)), Some(&count), "{edge:x?}");
    }
}

/// What calls add up to, and what callgrind's format has, are the totals of functions.
#[test]
fn functions_and_calls_agree() {
    for name in ["calls", "sort"] {
        let Some(_) = PROGRAMS.iter().find(|(other, _)| *other == name) else { continue };
        let folder = Folder::new("functions");
        let (path, executed) = trace(&folder, name, "delta");
        let capture = hartrace::open(&path).unwrap();
        let functions = capture.functions().unwrap().complete().unwrap();
        let own: u64 = functions.iter().map(|function| function.instructions).sum();
        assert_eq!(own, executed.len() as u64);
        assert!(functions.is_sorted_by_key(|function| std::cmp::Reverse(function.instructions)));

        let (mut stack, mut sums): (Vec<(_, u64)>, BTreeMap<_, [u64; 3]>) = Default::default();
        let mut last = 0;
        for call in capture.calls() {
            let mut count = |stack: &[(String, u64)], at: u64| {
                if let Some((function, _)) = stack.last() {
                    sums.entry(function.clone()).or_default()[1] += at - last;
                }
                last = at;
            };
            match call.unwrap() {
                Call::Enter { function, at, .. } => {
                    let function = function.name.clone();
                    count(&stack, at);
                    sums.entry(function.clone()).or_default()[0] += 1;
                    stack.push((function, at));
                }
                Call::Resume { function, at, .. } => {
                    let function = function.name.clone();
                    count(&stack, at);
                    sums.entry(function.clone()).or_default();
                    stack.push((function, at));
                }
                Call::Leave { function, at, .. } => {
                    let function = function.name.clone();
                    count(&stack, at);
                    let (entered, since) = stack.pop().unwrap();
                    assert_eq!(entered, function);
                    if stack.iter().all(|(other, _)| *other != function) {
                        sums.entry(function).or_default()[2] += at - since;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(stack.is_empty());
        for function in &functions {
            let [calls, own, all] = sums[&function.name];
            let found = (function.calls, function.instructions, function.with_callees);
            assert_eq!(found, (calls, own, all), "{name}: {}", function.name);
        }
        assert_eq!(functions.len(), sums.len());

        let text = capture.write(Form::Callgrind, Vec::new()).unwrap().complete().unwrap();
        let text = String::from_utf8(text).unwrap();
        let summary = format!("summary: {}", executed.len());
        assert!(text.lines().any(|line| line == summary), "{text}");
    }
}

#[test]
fn nothing_is_missing_in_silence() {
    let folder = Folder::new("damage");
    let (path, executed) = trace(&folder, "calls", "delta");
    let whole = fs::read(&path).unwrap();
    let elf = path.with_file_name("calls.elf");
    let options = Options::default().program(&elf).parameters(Description::place(&path));

    // Damage: the gap is an error, and what follows it is there.
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x40;
    let place = path.with_file_name("damaged.trace");
    fs::write(&place, &damaged).unwrap();
    let capture = options.open(&place).unwrap();
    let (mut gaps, mut after, mut found) = (0, 0, 0);
    for next in capture.instructions() {
        match next {
            Ok(_) if gaps == 0 => found += 1,
            Ok(_) => after += 1,
            Err(Error::Gap(gap)) => {
                assert!(gap.at.byte >= whole.len() as u64 / 2 - 40, "{gap}");
                gaps += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    let count = capture.sum::<Count>().unwrap();
    assert_eq!(count.value.instructions, found + after);
    if gaps > 0 {
        assert!(after > 0 && !count.notes.is_empty() && count.complete().is_err());
    } else {
        assert_ne!(found, executed.len() as u64, "the damage has no effect");
    }

    // Cut off: the last item is an error.
    fs::write(&place, &whole[..whole.len() / 3]).unwrap();
    let capture = options.open(&place).unwrap();
    let last = capture.instructions().last().unwrap();
    assert!(
        matches!(&last, Err(Error::Incomplete(what)) if what.contains("does not end"))
            || matches!(last, Err(Error::Gap(_))),
        "{last:?}"
    );
    assert!(capture.functions().unwrap().complete().is_err());

    // Nothing at all.
    fs::write(&place, [0; 64]).unwrap();
    let capture = options.open(&place).unwrap();
    assert!(capture.instructions().all(|next| next.is_err()));
    assert!(capture.instructions().count() > 0);
    assert!(capture.functions().unwrap().complete().is_err());
}

/// An iterator that nobody asks any more ends its thread, and a second one starts anew.
#[test]
fn iterators_can_be_dropped() {
    let folder = Folder::new("drop");
    let (path, executed) = trace(&folder, "calls", "delta");
    let capture = hartrace::open(&path).unwrap();
    for _ in 0..50 {
        let first: Vec<_> =
            capture.instructions().take(3).map(|next| next.unwrap().address).collect();
        assert_eq!(first, executed[..3]);
        assert!(capture.calls().take(2).all(|call| call.is_ok()));
    }
}

#[test]
fn streams_are_read_once() {
    let folder = Folder::new("stream");
    let (path, executed) = trace(&folder, "calls", "delta");
    let input = fs::File::open(&path).unwrap();
    let options = Options::default()
        .program(path.with_file_name("calls.elf"))
        .parameters(Description::place(&path));
    let capture = options.stream("the port", input).unwrap();
    assert_eq!(capture.name(), "the port");
    let count: Count = capture.sum().unwrap().complete().unwrap();
    assert_eq!(count.instructions, executed.len() as u64);
    let again = capture.sum::<Count>().unwrap_err();
    assert!(matches!(again, Error::Open(OpenError::StreamWasRead)), "{again}");
    assert!(matches!(
        capture.instructions().next(),
        Some(Err(Error::Open(OpenError::StreamWasRead)))
    ));
}

/// Calls say where something is missing, and what at the end.
#[test]
fn gaps_are_among_calls() {
    let folder = Folder::new("gaps");
    let (path, _) = trace(&folder, "sort", "delta");
    let options = Options::default()
        .program(path.with_file_name("sort.elf"))
        .parameters(Description::place(&path));
    let mut damaged = fs::read(&path).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0);
    let place = path.with_file_name("damaged.trace");
    fs::write(&place, &damaged).unwrap();
    let capture = options.open(&place).unwrap();
    let calls: Vec<_> = capture.calls().collect();
    let marks = calls.iter().filter(|call| matches!(call, Ok(Call::Gap { at, .. }) if *at > 0));
    let gaps = calls.iter().filter(|call| matches!(call, Err(Error::Gap(_))));
    assert!(marks.count() > 0 && gaps.count() > 0, "{:?}", calls.last());
    // The stack is empty there.
    let mut depth = 0i64;
    for call in calls.iter().flatten() {
        match call {
            Call::Enter { .. } | Call::Resume { .. } => depth += 1,
            Call::Leave { .. } | Call::Suspend { .. } => depth -= 1,
            Call::Gap { .. } => assert_eq!(depth, 0),
            _ => {}
        }
    }
}

#[test]
fn another_program_is_doubtful() {
    let folder = Folder::new("another");
    let (path, _) = trace(&folder, "sort", "delta");
    let mut elf = fs::read(path.with_file_name("sort.elf")).unwrap();
    // The first instruction has another operand, and the trace can be followed all the same.
    // It is in the second of the program's headers, which are of 56 bytes after the header of the file.
    let offset = 64 + 56 + 8;
    let start = u64::from_le_bytes(elf[offset..offset + 8].try_into().unwrap()) as usize;
    elf[start + 3] ^= 0x10;
    let other = path.with_file_name("other.elf");
    fs::write(&other, elf).unwrap();
    let capture = Options::default().program(&other).open(&path).unwrap();
    assert_eq!(capture.warnings().len(), 1);
    let count = capture.sum::<Count>().unwrap();
    assert!(count.losses.iter().any(|loss| loss.contains("not the program")), "{count:?}");
    assert!(count.complete().is_err());
    assert!(matches!(capture.instructions().last(), Some(Err(Error::Incomplete(_)))));
}

/// What was given is used, or refused.
#[test]
fn nothing_that_is_given_is_ignored() {
    let folder = Folder::new("given");
    let (path, _) = trace(&folder, "calls", "delta");
    let mut options = Options::default();
    options.buffer = Some("ETB".into());
    let error = options.open(&path).unwrap_err();
    assert!(matches!(error, OpenError::Meaningless { option: "buffer", .. }), "{error}");
    let error = options.stream("port", std::io::empty()).unwrap_err();
    assert!(matches!(error, OpenError::Meaningless { option: "buffer", .. }), "{error}");
}

/// A decoder that panics does not look like the end of the trace.
#[test]
fn a_panic_is_not_the_end() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("as meant by the test")
        }
    }
    let folder = Folder::new("panic");
    let (path, _) = trace(&folder, "calls", "delta");
    let options = Options::default()
        .program(path.with_file_name("calls.elf"))
        .parameters(Description::place(&path));
    let mut steps = options.stream("the port", Broken).unwrap().steps();
    assert!(matches!(steps.next(), Some(Err(Error::Stopped))));
    assert!(steps.next().is_none());
    let capture = options.stream("the port", Broken).unwrap();
    let mut calls = capture.calls();
    assert!(matches!(calls.next(), Some(Err(Error::Stopped))));
    assert!(calls.next().is_none());
}

/// Ends a decoding, however much is left.
#[test]
fn decoding_can_be_cancelled() {
    let folder = Folder::new("cancel");
    let (path, _) = trace(&folder, "calls", "delta");
    let cancel = Arc::new(AtomicBool::new(false));
    let capture = hartrace::open(&path).unwrap().cancelled_by(Arc::clone(&cancel));
    assert!(capture.sum::<Count>().unwrap().complete().is_ok());
    cancel.store(true, Ordering::Relaxed);
    assert!(matches!(capture.sum::<Count>(), Err(Error::Cancelled)));
    assert!(matches!(capture.functions(), Err(Error::Cancelled)));
    assert!(matches!(capture.write(Form::Pcs, Vec::new()), Err(Error::Cancelled)));
    let [steps, calls] =
        [capture.steps().last().unwrap().err(), capture.calls().last().unwrap().err()];
    assert!(matches!((steps, calls), (Some(Error::Cancelled), Some(Error::Cancelled))));
    // Others are not affected.
    assert!(hartrace::open(&path).unwrap().sum::<Count>().is_ok());
}

/// Whether an item is there is known without waiting for it.
#[test]
fn iterators_say_whether_an_item_is_there() {
    struct Endless;
    impl std::io::Read for Endless {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            std::thread::sleep(Duration::from_secs(1));
            Err(std::io::ErrorKind::Interrupted.into())
        }
    }
    let folder = Folder::new("wait");
    let (path, executed) = trace(&folder, "calls", "delta");
    let options = Options::default()
        .program(path.with_file_name("calls.elf"))
        .parameters(Description::place(&path));
    let mut steps = options.stream("the port", Endless).unwrap().steps();
    assert!(!steps.wait(Duration::from_millis(1)));
    let mut steps = options.open(&path).unwrap().steps();
    let mut found = 0;
    loop {
        while !steps.wait(Duration::from_millis(10)) {}
        match steps.next() {
            Some(Ok(Step::Block(block))) => found += block.addresses.len(),
            Some(Ok(Step::Event(_))) => {}
            other => break assert!(other.is_none(), "{other:?}"),
        }
    }
    assert_eq!(found, executed.len());
}
