//! Inputs and outputs, clock and reset.

use crate::designs::{adder, counter, echo};
use crate::{QUIET, checked};
use hartrace_hdl_tools::verilate::{Model, Options, SimError, Simulation};
use hartrace_rtl::Bits;
use libtest_mimic::Failed;
use std::thread;

pub(crate) fn before_and_after() -> Result<(), Failed> {
    let mut sim = Simulation::build(&counter(8), &checked())?;
    let (enable, count, next) =
        (sim.input("enable_i")?, sim.output("count_o")?, sim.output("next_o")?);
    sim.reset()?;
    for i in 0..5 {
        sim.set(enable, 1);
        sim.step()?;
        assert_eq!((sim.get(count), sim.get(next)), (i, i + 1), "before the edge");
    }
    sim.set(enable, 0);
    assert_eq!(sim.get(count), 4, "nothing changes without a call");
    sim.settle()?;
    assert_eq!((sim.get(count), sim.get(next)), (5, 5));
    sim.set(enable, 1);
    sim.settle()?;
    assert_eq!((sim.get(count), sim.get(next)), (5, 6), "combinational");
    sim.clock()?;
    assert_eq!((sim.get(count), sim.get(next)), (6, 7), "after the edge");
    sim.set(enable, 0);
    sim.clock()?;
    assert_eq!((sim.get(count), sim.get(next)), (6, 6), "inputs are applied before the edge");
    assert_eq!(sim.cycle(), 7);
    Ok(())
}

pub(crate) fn fast_is_as_checked() -> Result<(), Failed> {
    let counter = counter(9);
    let mut fast = Simulation::build(&counter, &Options::fast())?;
    let mut checked = Simulation::build(&counter, &checked())?;
    fast.reset()?;
    checked.reset()?;
    let (input, output) = ("enable_i", "count_o");
    let (f, c) = (
        (fast.input(input)?, fast.output(output)?),
        (checked.input(input)?, checked.output(output)?),
    );
    let mut random = 1u64;
    for cycle in 0..2000 {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        fast.set(f.0, random >> 63);
        checked.set(c.0, random >> 63);
        fast.step()?;
        checked.step()?;
        assert_eq!(fast.get(f.1), checked.get(c.1), "cycle {cycle}");
    }
    assert_ne!(fast.get(f.1), 0);
    Ok(())
}

pub(crate) fn reset() -> Result<(), Failed> {
    let mut sim = Simulation::build(&counter(8), &checked())?;
    let (enable, count) = (sim.input("enable_i")?, sim.output("count_o")?);
    sim.set(enable, 1);
    for _ in 0..2 {
        sim.reset()?;
        assert_eq!((sim.get(count), sim.cycle()), (0, 0));
        for i in 1..4 {
            sim.clock()?;
            assert_eq!((sim.get(count), sim.cycle()), (i, i));
        }
    }
    // The reset is also an ordinary input; it is asynchronous.
    let reset = sim.input("rst_ni")?;
    sim.set(reset, 0);
    sim.settle()?;
    assert_eq!(sim.get(count), 0);
    let error = sim.input("clk_i").unwrap_err().to_string();
    assert_eq!(error, "counter has no input clk_i; it has rst_ni, enable_i");
    let error = sim.output("sum_o").unwrap_err().to_string();
    assert_eq!(error, "counter has no output sum_o; it has count_o, next_o");
    Ok(())
}

pub(crate) fn combinational() -> Result<(), Failed> {
    let mut sim = Simulation::build(&adder(33), &checked())?;
    let (a, b, sum) = (sim.input("a_i")?, sim.input("b_i")?, sim.output("sum_o")?);
    for (x, y) in [(1, 2), (0x1_ffff_ffff, 1), (0x1_2345_6789, 0x0_fedc_ba98)] {
        sim.set(a, x);
        sim.set(b, y);
        sim.settle()?;
        assert_eq!(sim.get(sum), x + y);
    }
    assert!(matches!(sim.clock(), Err(SimError::NoClock(_))));
    assert!(matches!(sim.reset(), Err(SimError::NoReset(_))));
    Ok(())
}

/// Ports of every class of widths in Verilator, and one bit around their limits.
pub(crate) fn wide_ports() -> Result<(), Failed> {
    let widths = [1, 7, 8, 9, 16, 17, 32, 33, 63, 64, 65, 96, 97, 128, 129, 160, 200, 1000];
    let mut sim = Simulation::build(&echo(&widths), &checked())?;
    sim.reset()?;
    let mut bit = 0u64;
    let mut values = Vec::new();
    for width in widths {
        // Bits that are neither regular nor the same for two ports.
        let bits = (0..width).map(|_| {
            bit += 1;
            ((bit * bit * 0x9e37) >> 5) & 1 == 1 || bit.is_multiple_of(7)
        });
        values.push(Bits::from_bits(&bits.collect::<Vec<_>>()));
    }
    for (width, value) in widths.iter().zip(&values) {
        let input = sim.input(&format!("in{width}_i"))?;
        assert_eq!(input.width(), *width);
        sim.set_bits(input, value);
    }
    sim.clock()?;
    for (width, value) in widths.iter().zip(&values) {
        let plain = sim.output(&format!("out{width}_o"))?;
        let inverted = sim.output(&format!("inverted{width}_o"))?;
        assert_eq!(sim.get_bits(plain), *value);
        assert_ne!(sim.get_bits(inverted), *value);
        let flipped: Vec<_> = value.as_slice().iter().map(|bit| !bit).collect();
        assert_eq!(sim.get_bits(inverted), Bits::from_bits(&flipped));
    }
    let (input, output) = (sim.input("in129_i")?, sim.output("out129_o")?);
    sim.set_wide(input, &[1, 2, 1]);
    sim.clock()?;
    assert_eq!(sim.get_wide(output), [1, 2, 1]);
    sim.set(input, 5);
    sim.clock()?;
    assert_eq!(sim.get_wide(output), [5, 0, 0], "what is not given is zero");
    Ok(())
}

pub(crate) fn does_not_fit() -> Result<(), Failed> {
    let model = Model::build(&echo(&[7, 64, 129]), &checked())?;
    let (narrow, wide) = (model.input("in7_i")?, model.input("in129_i")?);
    let output = model.output("out129_o")?;
    let panics = |test: &(dyn Fn(&mut Simulation) + Sync)| -> Result<bool, Failed> {
        let mut sim = model.start(0)?;
        let thread = thread::Builder::new().name(QUIET.to_owned());
        Ok(thread::scope(|scope| {
            thread.spawn_scoped(scope, || test(&mut sim)).map(|thread| thread.join().is_err())
        })?)
    };
    assert!(panics(&|sim| sim.set(narrow, 128))?);
    assert!(!panics(&|sim| sim.set(narrow, 127))?);
    assert!(panics(&|sim| sim.set_wide(wide, &[0, 0, 2]))?);
    assert!(panics(&|sim| sim.set_wide(wide, &[0, 0, 0, 1]))?);
    assert!(!panics(&|sim| sim.set_wide(wide, &[1, 2, 1, 0]))?);
    assert!(panics(&|sim| sim.set_bits(wide, &Bits::zero(128)))?);
    assert!(panics(&|sim| assert_eq!(sim.get(output), 0))?, "see get_wide");
    assert!(!panics(&|sim| assert_eq!(sim.get_wide(output), [0, 0, 0]))?);
    // Every build is a separate model.
    let other = Model::build(&echo(&[7, 64, 129]), &checked())?;
    let (narrow, output) = (other.input("in7_i")?, other.output("out129_o")?);
    assert!(panics(&|sim| sim.set(narrow, 0))?);
    assert!(panics(&|sim| assert_eq!(sim.get_wide(output), [0, 0, 0]))?);
    Ok(())
}
