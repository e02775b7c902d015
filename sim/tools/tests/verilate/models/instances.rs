//! Several simulations of one model.

use crate::checked;
use crate::designs::{counter, echo};
use hartrace_hdl_tools::verilate::{Model, Options, SimError, Simulation};
use libtest_mimic::Failed;
use std::collections::HashSet;
use std::thread;

pub(crate) fn separate() -> Result<(), Failed> {
    let model = Model::build(&counter(8), &checked())?;
    let (enable, count) = (model.input("enable_i")?, model.output("count_o")?);
    let (mut a, mut b) = (model.start(0)?, model.start(0)?);
    a.reset()?;
    b.reset()?;
    a.set(enable, 1);
    for _ in 0..3 {
        a.clock()?;
        b.clock()?;
    }
    assert_eq!((a.get(count), b.get(count)), (3, 0));
    drop(a);
    b.set(enable, 1);
    b.clock()?;
    assert_eq!(b.get(count), 1);
    Ok(())
}

/// Also moves simulations from one thread to another.
pub(crate) fn threads() -> Result<(), Failed> {
    let model = Model::build(&counter(16), &checked())?;
    let (enable, count) = (model.input("enable_i")?, model.output("count_o")?);
    let mut sims = Vec::new();
    for _ in 0..4 {
        let mut sim = model.start(0)?;
        sim.reset()?;
        sims.push(sim);
    }
    let threads: Vec<_> = sims
        .into_iter()
        .map(|mut sim| {
            thread::spawn(move || {
                sim.set(enable, 1);
                (0..20_000).try_for_each(|_| sim.clock()).map(|()| sim)
            })
        })
        .collect();
    for thread in threads {
        let sim = thread.join().map_err(|_| "a thread panicked")??;
        assert_eq!(sim.get(count), 20_000);
    }
    Ok(())
}

/// `kept129_o` is a register without reset that is never written.
pub(crate) fn seeds() -> Result<(), Failed> {
    let model = Model::build(&echo(&[129]), &checked())?;
    let kept = model.output("kept129_o")?;
    let value = |seed| -> Result<_, SimError> {
        let mut sim = model.start(seed)?;
        sim.reset()?;
        Ok(sim.get_bits(kept))
    };
    assert_eq!(value(1)?, value(1)?);
    let different: HashSet<_> = (0..20).map(value).collect::<Result<_, _>>()?;
    assert_eq!(different.len(), 20);
    let mut fast = Simulation::build(&echo(&[129]), &Options::fast())?;
    let kept = fast.output("kept129_o")?;
    fast.reset()?;
    assert!(!fast.get_bits(kept).any());
    Ok(())
}
