//! Plans, tables and captures that have changed since they were written are named, and give no other result.

use hartrace_parts::{Emit, PartsError, Plan, Table, decode};
use hartrace_tests::captures::{Folder, replace, trace_synchronised};
use std::fs;
use std::path::PathBuf;

/// A short capture with several parts.
fn planned(folder: &Folder) -> (PathBuf, Plan) {
    let capture = trace_synchronised(folder, "calls", "delta", 2_000, 16);
    let plan = Plan::new(std::slice::from_ref(&capture), folder.path(), Some(3), &mut |_| ());
    let plan = plan.expect("it can be cut");
    assert!(plan.parts.len() >= 2, "{:?}", plan.parts);
    (capture, plan)
}

/// Everything that differs from these bytes in one bit, or one of so many.
fn flips(bytes: &[u8], step: usize) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..8 * bytes.len()).step_by(step).map(|bit| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        (bit, flipped)
    })
}

#[test]
fn every_bit_of_a_plan_counts() {
    let folder = Folder::new("flipped-plan");
    let (_, plan) = planned(&folder);
    for (bit, bytes) in flips(plan.text().as_bytes(), 1) {
        let text = String::from_utf8_lossy(&bytes);
        match Plan::parse(&text, "p.json") {
            Ok(other) => assert_eq!(other, plan, "bit {bit}"),
            Err(error) => assert!(error.to_string().starts_with("p.json: "), "{error}"),
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn every_bit_of_a_table_counts() {
    use hartrace_parts::{Input, ParquetInput, ParquetOutput};
    let folder = Folder::new("flipped-tables");
    let (_, plan) = planned(&folder);
    let path = folder.path().join("part.parquet");
    let read = || {
        let mut input = ParquetInput::open(&path)?;
        let mut batches = Vec::new();
        input.read(&mut |batch| {
            batches.push(batch);
            Ok(())
        })?;
        Ok::<_, PartsError>((input.summary().clone(), batches))
    };
    for emit in Emit::ALL {
        decode(&plan, folder.path(), 1, emit, &mut ParquetOutput::new(&path)).expect("a part");
        let whole = fs::read(&path).expect("it is there");
        let expected = read().expect("it is whole");
        let mut refused = 0;
        // All bits take minutes. Of seven, one is in every byte.
        let step = if std::env::var_os("HARTRACE_FLIPS").is_some() { 1 } else { 7 };
        for (bit, bytes) in flips(&whole, step) {
            fs::write(&path, bytes).expect("there is room");
            match read() {
                // Not every byte of such a file says something about the table.
                Ok(same) => assert!(same == expected, "{emit}, bit {bit}: another table"),
                Err(error) => {
                    refused += 1;
                    let message = error.to_string();
                    assert!(message.contains("part.parquet"), "{emit}, bit {bit}: {message}");
                }
            }
        }
        assert!(refused > whole.len() / step, "{emit}: {refused} of {} bytes", whole.len());
    }
}

#[test]
fn every_byte_of_a_capture_counts() {
    let folder = Folder::new("flipped-capture");
    let (capture, plan) = planned(&folder);
    let whole = fs::read(&capture).expect("it is there");
    let part = |number| {
        decode(&plan, folder.path(), number, Emit::Edges, &mut Table::default())
            .map_err(|error| error.to_string())
    };
    for at in (0..whole.len()).step_by(whole.len() / 50) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&capture, bytes).expect("there is room");
        for number in 0..plan.parts.len() {
            let error = part(number).expect_err("it has changed");
            assert!(error.contains("the content of the capture has changed"), "{error}");
        }
    }
    fs::write(&capture, whole).expect("there is room");
    assert_eq!(part(0), Ok(()));
}

/// Names are bytes on Unix, and need not be text.
#[cfg(unix)]
#[test]
fn a_name_that_is_not_text_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new("names");
    let (capture, _) = planned(&folder);
    let other = folder.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.te"));
    let described = |path: &PathBuf| hartrace_capture::description::Description::place(path);
    fs::copy(&capture, &other).expect("there is room");
    fs::copy(described(&capture), described(&other)).expect("there is room");
    let error = Plan::new(&[other], folder.path(), None, &mut |_| ()).expect_err("it is refused");
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

#[test]
fn a_trace_without_its_end() {
    let folder = Folder::new("unended");
    let (capture, whole) = planned(&folder);
    let bytes = fs::read(&capture).expect("it is there");
    let unended = |plan: &Plan| {
        let number = plan.parts.len() - 1;
        let mut table = Table::default();
        decode(plan, folder.path(), number, Emit::Edges, &mut table).expect("a part");
        table.summary.sources[0].unended
    };
    assert!(!unended(&whole));
    // Up to the last synchronisation.
    let start = whole.parts.last().expect("there are parts").start as usize;
    replace(&capture, &bytes[..start]);
    let plan = Plan::new(std::slice::from_ref(&capture), folder.path(), Some(3), &mut |_| ());
    assert!(unended(&plan.expect("it can be cut")));
}
