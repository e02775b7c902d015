//! Captures that are decoded in parts give the tables of one process, however they are cut, merged and damaged.

mod changed;
mod whole;

use hartrace_parts::{
    Emit, PartsError, Plan, Share, Table, decode, merge, merge_share, merge_some,
};
use hartrace_tests::captures::{Folder, damaged, replace, several_sources, trace};
use hartrace_tests::case::Dice;
use std::path::Path;
use whole::{Row, rows, whole};

/// Decodes all parts of a plan.
fn parts(plan: &Plan, folder: &Path, emit: Emit) -> Vec<Table> {
    let part = |number| {
        let mut table = Table::default();
        decode(plan, folder, number, emit, &mut table).expect("parts of a plan can be decoded");
        table
    };
    (0..plan.parts.len()).map(part).collect()
}

/// Merges tables that follow each other in a random tree.
fn tree(plan: &Plan, folder: &Path, mut tables: Vec<Table>, dice: &mut Dice) -> Table {
    while tables.len() > 1 {
        let first = dice.range(0, tables.len() as u64 - 2) as usize;
        let count = dice.range(2, (tables.len() - first).min(5) as u64) as usize;
        let mut some: Vec<Table> = tables.splice(first..first + count, []).collect();
        if dice.one_in(2) {
            some.reverse();
        }
        let mut merged = Table::default();
        merge_some(plan, folder, &mut some, &mut merged).expect("neighbours can be merged");
        tables.insert(first, merged);
    }
    let mut last = tables;
    if last[0].summary.complete {
        return last.remove(0);
    }
    let mut merged = Table::default();
    merge(plan, folder, &mut last, &mut merged).expect("one part can be merged");
    merged
}

/// Merges tables in so many shares, and puts these together.
fn shares(plan: &Plan, folder: &Path, mut tables: Vec<Table>, of: usize) -> Table {
    let mut all = Table::default();
    let mut parts = 0;
    for number in 0..of {
        let share: Share = format!("{number}/{of}").parse().expect("a share");
        let mut table = Table::default();
        merge_share(plan, folder, &mut tables, share, &mut table).expect("parts can be merged");
        assert!(table.summary.complete, "{share:?}");
        parts += table.summary.parts.len();
        all.batches.append(&mut table.batches);
        all.summary.emit = table.summary.emit;
        all.summary.complete = true;
        all.summary.sources.append(&mut table.summary.sources);
    }
    assert_eq!(parts, plan.parts.len());
    all
}

/// Cuts a capture in several ways, and compares what becomes of it with what one process makes of it. Returns the
/// largest number of parts, and the number of gaps.
fn check(folder: &Folder, capture: &Path, dice: &mut Dice) -> (usize, u64) {
    let (mut most, mut gaps) = (0, 0);
    let expected = whole(capture);
    for wanted in [1, 2, 7, 30] {
        let plan = Plan::new(&[capture.into()], folder.path(), Some(wanted), &mut |_| ()).unwrap();
        assert_eq!(Plan::parse(&plan.text(), "plan").unwrap(), plan);
        most = most.max(plan.parts.len());
        for emit in Emit::ALL {
            let tables = parts(&plan, folder.path(), emit);
            if emit == Emit::Calls {
                let shared = shares(&plan, folder.path(), tables.clone(), wanted / 2 + 1);
                assert!(rows(emit, &shared) == expected.rows(emit), "{wanted} parts in shares");
                let sums = (shared.summary.instructions(), shared.summary.gaps());
                assert_eq!(
                    sums,
                    (expected.instructions, expected.gaps),
                    "{wanted} parts in shares"
                );
            }
            let table = tree(&plan, folder.path(), tables, dice);
            assert!(table.summary.complete);
            let what = format!("{}, {wanted} parts, {emit}", capture.display());
            assert!(rows(emit, &table) == expected.rows(emit), "{what}: {}", {
                let (found, expected) = (rows(emit, &table), expected.rows(emit));
                let differ = |a: &[Row], b: &[Row]| a.iter().find(|row| !b.contains(row)).cloned();
                format!(
                    "{} rows, not {}; too many: {:?}; missing: {:?}",
                    found.len(),
                    expected.len(),
                    differ(&found, &expected),
                    differ(&expected, &found)
                )
            });
            if emit != Emit::Functions {
                let sums = (table.summary.instructions(), table.summary.gaps());
                assert_eq!(sums, (expected.instructions, expected.gaps), "{what}");
                gaps = table.summary.gaps();
            }
        }
    }
    (most, gaps)
}

#[test]
fn programs() {
    let (folder, mut dice) = (Folder::new("programs"), Dice::new(1));
    for (name, mode) in [
        ("calls", "ir+bp+jtc"),
        ("interp", "full"),
        ("interrupts", "ir"),
        ("user", "delta"),
        ("linux", "sij+ir"),
    ] {
        let limit = if mode.contains("bp") { 300_000 } else { 100_000 };
        let capture = trace(&folder, name, mode, limit);
        let (most, gaps) = check(&folder, &capture, &mut dice);
        assert!(most >= 3 && gaps == 0, "{name} {mode}: {most} parts, {gaps} gaps");
    }
}

#[test]
fn damage() {
    let (folder, mut dice) = (Folder::new("damage"), Dice::new(2));
    let mut all = 0;
    for (name, mode) in [("calls", "delta"), ("interrupts", "ir+bp"), ("sort", "jtc")] {
        let whole = trace(&folder, name, mode, 80_000);
        for number in 0..2 {
            let capture = damaged(&whole, number, &mut dice);
            let (most, gaps) = check(&folder, &capture, &mut dice);
            assert!(most >= 2, "{name}: {most} parts");
            all += gaps;
        }
    }
    assert!(all > 20, "{all} gaps");
}

#[test]
fn sources() {
    let (folder, mut dice) = (Folder::new("sources"), Dice::new(3));
    let traces = ["delta", "ir", "full+bp"].map(|mode| trace(&folder, "calls", mode, 60_000));
    let capture = several_sources(&folder, &traces, &mut dice);
    let (most, gaps) = check(&folder, &capture, &mut dice);
    assert!(most >= 6 && gaps == 0, "{most} parts, {gaps} gaps");
    for number in 0..2 {
        let (_, gaps) = check(&folder, &damaged(&capture, number, &mut dice), &mut dice);
        assert!(gaps > 0);
    }
}

#[test]
fn nothing_but_damage() {
    let (folder, mut dice) = (Folder::new("nothing"), Dice::new(4));
    let capture = trace(&folder, "calls", "delta", 1000);
    for bytes in [&[][..], &[0x80; 100], &[0x41]] {
        replace(&capture, bytes);
        let (most, _) = check(&folder, &capture, &mut dice);
        assert_eq!(most, 1);
    }
}

#[test]
fn parts_are_equally_large() {
    let folder = Folder::new("balance");
    let capture = trace(&folder, "interp", "delta", 400_000);
    let plan = Plan::new(&[capture], folder.path(), Some(6), &mut |_| ()).unwrap();
    assert!(plan.parts.len() == 6 && plan.spread() < 1.5, "{:?}", plan.parts);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (folder, emit) = (Folder::new("refused"), Emit::Edges);
    let capture = trace(&folder, "calls", "delta", 80_000);
    let plan =
        Plan::new(std::slice::from_ref(&capture), folder.path(), Some(4), &mut |_| ()).unwrap();
    let other =
        Plan::new(std::slice::from_ref(&capture), folder.path(), Some(3), &mut |_| ()).unwrap();
    let all = parts(&plan, folder.path(), emit);
    let merged = |mut tables: Vec<Table>| {
        let mut out = Table::default();
        merge(&plan, folder.path(), &mut tables, &mut out).expect_err("it is refused")
    };
    for number in 0..all.len() {
        let mut some = all.clone();
        some.remove(number);
        let error = merged(some);
        assert!(matches!(error, PartsError::Missing(part) if part as usize == number), "{error}");
        let mut twice = all.clone();
        twice.push(all[number].clone());
        let error = merged(twice);
        assert!(
            matches!(error, PartsError::Twice { part, .. } if part as usize == number),
            "{error}"
        );
    }
    assert!(matches!(merged(Vec::new()), PartsError::Missing(0)));
    let share = "0/2".parse().expect("a share");
    let refused = merge_share(&plan, folder.path(), &mut all.clone(), share, &mut Table::default());
    assert!(matches!(refused, Err(PartsError::NoShares(Emit::Edges))));
    let missing =
        merge_share(&plan, folder.path(), &mut all[1..].to_vec(), share, &mut Table::default());
    assert!(matches!(missing, Err(PartsError::Missing(0))));
    let mut mixed = all.clone();
    mixed[1] = parts(&plan, folder.path(), Emit::Coverage).swap_remove(1);
    assert!(matches!(merged(mixed), PartsError::OtherEmit { .. }));
    let mut foreign = all.clone();
    foreign[2] = parts(&other, folder.path(), emit).swap_remove(2);
    assert!(matches!(merged(foreign), PartsError::OtherPlan { .. }));
    let mut torn = all.clone();
    torn[2].summary.sources[0].start.as_mut().expect("it resumes").address ^= 2;
    assert!(matches!(merged(torn), PartsError::Seam(2)));
    let mut modes = all;
    modes[1].summary.sources[0].next.as_mut().expect("it goes on").modes = "ir".into();
    assert!(matches!(merged(modes), PartsError::Seam(2)));

    // Files that are not those of the plan.
    let again = |number| decode(&plan, folder.path(), number, emit, &mut Table::default());
    assert!(matches!(again(9), Err(PartsError::NoPart { number: 9, .. })));
    let mut bytes = std::fs::read(&capture).unwrap();
    bytes.push(0);
    replace(&capture, &bytes);
    assert!(matches!(again(0), Err(PartsError::Changed { .. })));
}

#[test]
fn captures_that_cannot_be_cut_have_names() {
    let folder = Folder::new("kinds");
    let plan = |path: &Path| Plan::new(&[path.into()], folder.path(), None, &mut |_| ());
    let capture = trace(&folder, "calls", "delta", 1000);
    let compressed = folder.path().join("calls.te.zst");
    std::fs::copy(&capture, &compressed).unwrap();
    for (path, word) in [(compressed.as_path(), "compressed"), (folder.path(), "Arm")] {
        let error = plan(path).expect_err("it is refused").to_string();
        assert!(error.contains(word), "{error}");
    }
    let bare = folder.path().join("bare.te");
    std::fs::copy(&capture, &bare).unwrap();
    assert!(plan(&bare).unwrap_err().to_string().contains("no description"));
    assert!(matches!(plan(&folder.path().join("none.te")), Err(PartsError::File { .. })));
    for text in ["", "{}", "{\"version\": 1, \"captures\": [], \"parts\": []}"] {
        assert!(matches!(Plan::parse(text, "plan"), Err(PartsError::Plan { .. })), "{text}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn tables_in_files() {
    use hartrace_parts::{Input, ParquetInput, ParquetOutput};
    let folder = Folder::new("parquet");
    let traces = ["delta", "ir"].map(|mode| trace(&folder, "calls", mode, 100_000));
    let capture = several_sources(&folder, &traces, &mut Dice::new(5));
    let capture = damaged(&capture, 0, &mut Dice::new(6));
    let plan =
        Plan::new(std::slice::from_ref(&capture), folder.path(), Some(5), &mut |_| ()).unwrap();
    let expected = whole(&capture);
    for emit in Emit::ALL {
        let file = |number: usize, run: usize| {
            let path = folder.path().join(format!("{emit}-{number}-{run}.parquet"));
            decode(&plan, folder.path(), number, emit, &mut ParquetOutput::new(&path)).unwrap();
            path
        };
        let files: Vec<_> = (0..plan.parts.len()).map(|number| file(number, 0)).collect();
        for (number, path) in files.iter().enumerate() {
            let again = file(number, 1);
            assert_eq!(std::fs::read(path).unwrap(), std::fs::read(again).unwrap(), "{emit}");
        }
        let mut inputs: Vec<_> =
            files.iter().map(|path| ParquetInput::open(path).unwrap()).collect();
        let out = folder.path().join(format!("{emit}.parquet"));
        merge(&plan, folder.path(), &mut inputs, &mut ParquetOutput::new(&out)).unwrap();
        let mut table = Table::default();
        whole::copy(&mut ParquetInput::open(&out).unwrap(), &mut table);
        assert_eq!(rows(emit, &table), expected.rows(emit), "{emit}");
    }
    let text = folder.path().join("text.parquet");
    std::fs::write(&text, "no table").unwrap();
    assert!(matches!(ParquetInput::open(&text), Err(PartsError::NoTable { .. })));
    // Damaged files are errors, but never a panic.
    let whole = std::fs::read(folder.path().join("calls-1-0.parquet")).unwrap();
    let (mut dice, mut refused) = (Dice::new(7), 0);
    for _ in 0..200 {
        let mut bytes = whole.clone();
        let at = dice.range(0, bytes.len() as u64 - 1) as usize;
        match dice.one_in(4) {
            true => bytes.truncate(at),
            false => bytes[at] ^= 1 << dice.range(0, 7),
        }
        std::fs::write(&text, bytes).unwrap();
        let read = ParquetInput::open(&text).map(|mut input| input.read(&mut |_| Ok(())));
        refused += u32::from(!matches!(read, Ok(Ok(()))));
    }
    assert!(refused > 50, "{refused}");
    let partial = std::fs::read_dir(folder.path()).unwrap();
    let left = partial.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().contains(".parquet.")
    });
    assert_eq!(left.count(), 0, "files under other names are gone");
}
