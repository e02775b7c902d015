//! Models that fail.

use crate::checked;
use crate::designs::{broken, oscillator};
use hartrace_hdl_tools::verilate::{Options, SimError, Simulation};
use libtest_mimic::Failed;

pub(crate) fn assertion() -> Result<(), Failed> {
    let mut sim = Simulation::build(&broken(), &checked())?;
    let count = sim.output("count_o")?;
    sim.reset()?;
    for _ in 0..10 {
        sim.step()?;
    }
    match sim.step() {
        Err(SimError::Failed { name, message, cycle: 10 }) => {
            assert_eq!(name, "broken.i_counter.count_is_small");
            assert!(
                message.contains("'assert' failed") && message.contains("counter.sv:"),
                "{message}"
            );
        }
        other => return Err(format!("{other:?}").into()),
    }
    // It continues, and fails again.
    assert!(matches!(sim.step(), Err(SimError::Failed { cycle: 11, .. })));
    assert_eq!(sim.get(count), 11);
    let printed = sim.printed();
    assert_eq!(printed.lines().count(), 2, "{printed}");
    assert_eq!(sim.printed(), "");
    sim.reset()?;
    sim.step()?;
    Ok(())
}

pub(crate) fn assertion_off() -> Result<(), Failed> {
    let mut sim = Simulation::build(&broken(), &Options::fast())?;
    sim.reset()?;
    for _ in 0..20 {
        sim.step()?;
    }
    Ok(())
}

pub(crate) fn does_not_settle(options: &Options) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let design = oscillator(folder.path())?;
    let mut sim = Simulation::build(&design, options)?;
    let enable = sim.input("enable_i")?;
    sim.settle()?;
    sim.set(enable, 1);
    for _ in 0..2 {
        match sim.settle() {
            Err(SimError::Stopped { message, .. }) => {
                assert!(message.contains("did not converge"), "{message}");
            }
            other => return Err(format!("{other:?}").into()),
        }
    }
    Ok(())
}
