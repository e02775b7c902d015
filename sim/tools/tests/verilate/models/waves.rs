//! Wave files.

use crate::checked;
use crate::designs::{broken, counter};
use hartrace_hdl_tools::verilate::{Options, SimError, Simulation, with_waves_of_failure};
use libtest_mimic::Failed;
use std::cell::Cell;
use std::fs;
use std::path::Path;

pub(crate) fn written() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (first, second) = (folder.path().join("first.fst"), folder.path().join("second.fst"));
    let options = Options { waves: true, ..checked() };
    let mut sim = Simulation::build(&counter(8), &options)?;
    let (enable, count) = (sim.input("enable_i")?, sim.output("count_o")?);
    sim.waves(&first)?;
    sim.reset()?;
    sim.set(enable, 1);
    (0..1000).try_for_each(|_| sim.clock())?;
    sim.waves(&second)?;
    (0..10).try_for_each(|_| sim.clock())?;
    assert_eq!(sim.get(count), 1010 % 256);
    drop(sim);
    // Two cycles of reset; the part without clock edges follows a little later.
    assert_eq!(time(&first)?, (1, 10_020));
    assert_eq!(time(&second)?, (10_021, 10_121));
    let bytes = fs::read(&first)?;
    assert!(bytes.len() > 1000, "{} bytes", bytes.len());

    let nowhere = folder.path().join("no/such/folder.fst");
    let error = Simulation::build(&counter(8), &options)?.waves(&nowhere).unwrap_err();
    assert!(error.to_string().starts_with("cannot create "), "{error}");
    Ok(())
}

pub(crate) fn missing() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut sim = Simulation::build(&counter(8), &checked())?;
    let error = sim.waves(&folder.path().join("x.fst")).unwrap_err();
    assert_eq!(error.to_string(), "counter was built without waves; set Options::waves");
    Ok(())
}

pub(crate) fn of_failure() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("failure.fst");
    let run = |cycles: u64, file: &Path| {
        with_waves_of_failure(&broken(), &checked(), file, |sim| -> Result<(), SimError> {
            sim.reset()?;
            (0..cycles).try_for_each(|_| sim.step())
        })
    };
    assert!(run(10, &file).is_ok());
    assert!(!file.exists(), "no waves of what passes");
    let failure = run(20, &file).unwrap_err();
    assert!(matches!(failure.error, SimError::Failed { cycle: 10, .. }), "{failure}");
    assert!(failure.to_string().ends_with(&format!("waves: {}", file.display())), "{failure}");
    assert!(fs::metadata(&file)?.len() > 300);

    let first = Cell::new(true);
    let failure = with_waves_of_failure(&broken(), &checked(), &file, |sim| {
        sim.reset()?;
        if first.replace(false) { Err(SimError::NoReset("once".into())) } else { Ok(()) }
    });
    assert_eq!(failure.unwrap_err().waves.unwrap_err(), "the second run did not fail");
    Ok(())
}

pub(crate) fn of_late_failure() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("late.fst");
    let result = with_waves_of_failure(&counter(8), &checked(), &file, |sim| {
        sim.reset()?;
        (0..15_000).try_for_each(|_| sim.clock())?;
        Err(SimError::NoClock("late".into()))
    });
    assert_eq!(result.unwrap_err().waves, Ok(file.clone()));
    assert_eq!(time(&file)?, (50_021, 150_021));
    Ok(())
}

/// Start and end of the time in an FST file, which are in its first block. The period of the clock is 10.
fn time(file: &Path) -> Result<(u64, u64), Failed> {
    let bytes = fs::read(file)?;
    let number = |at: usize| -> Option<u64> {
        Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
    };
    match (bytes.first(), number(9), number(17)) {
        (Some(0), Some(start), Some(end)) => Ok((start, end)),
        _ => Err("not an FST file".into()),
    }
}
