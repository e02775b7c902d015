//! Models that were built before.

use crate::designs::counter;
use hartrace_hdl_tools::verilate::{Mode, Model, Options, SimError, Simulation};
use libtest_mimic::Failed;
use std::{fs, thread};

pub(crate) fn found_again(options: &Options) -> Result<(), Failed> {
    let first = Model::build(&counter(8), options)?;
    assert!(!first.cached());
    let built = fs::metadata(first.library())?.modified()?;
    let again = Model::build(&counter(8), options)?;
    assert!(again.cached());
    assert_eq!(again.library(), first.library());
    assert_eq!(fs::metadata(again.library())?.modified()?, built);
    // Another design, or other options, give another model. The seed makes no difference.
    assert!(!Model::build(&counter(9), options)?.cached());
    assert!(!Model::build(&counter(8), &Options { mode: Mode::Fast, ..options.clone() })?.cached());
    assert!(Model::build(&counter(8), &Options { seed: 7, ..options.clone() })?.cached());
    Ok(())
}

pub(crate) fn damaged(options: &Options) -> Result<(), Failed> {
    let library = Model::build(&counter(10), options)?.library().to_owned();
    // A new file of the same name, because the old one is mapped.
    let whole = fs::read(&library)?;
    fs::remove_file(&library)?;
    fs::write(&library, &whole[..whole.len() / 2])?;
    let model = Model::build(&counter(10), options)?;
    assert!(!model.cached());
    let mut sim = model.start(0)?;
    sim.reset()?;
    sim.clock()?;
    assert!(Model::build(&counter(10), options)?.cached());
    Ok(())
}

pub(crate) fn at_once(options: &Options) -> Result<(), Failed> {
    // Prevents the threads from waiting for each other to compile the runtime.
    Model::build(&counter(11), options)?;
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let options = options.clone();
            thread::spawn(move || -> Result<u64, SimError> {
                let mut sim = Simulation::build(&counter(12), &options)?;
                sim.reset()?;
                sim.set(sim.input("enable_i")?, 1);
                sim.clock()?;
                Ok(sim.get(sim.output("count_o")?))
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().map_err(|_| "a thread panicked")??, 1);
    }
    assert!(Model::build(&counter(12), options)?.cached());
    Ok(())
}
