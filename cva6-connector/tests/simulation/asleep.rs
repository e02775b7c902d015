//! A connector that is not enabled.

use fastrand::Rng;
use hartrace_cva6_connector::{Config, connector};
use hartrace_rtl::{Bits, Direction, Interpreter};
use libtest_mimic::Failed;

/// Once nothing is on its way, no register changes, whatever the hart does. The same inputs change
/// registers while it is enabled.
pub(crate) fn stays_asleep(config: &Config) -> Result<(), Failed> {
    let connector = connector(config)?;
    let mut sim = Interpreter::new(&connector);
    let mut rng = Rng::with_seed(1);
    let inputs: Vec<(String, u32)> = connector
        .ports()
        .iter()
        .filter(|port| port.direction == Direction::Input)
        .filter(|port| !["clk_i", "rst_ni", "enable_i", "stall_i"].contains(&port.name.as_str()))
        .map(|port| (port.name.clone(), port.width))
        .collect();
    let bit = |value: bool| Bits::new(1, value.into());
    for (enable, cycles) in [(true, 40), (false, 120), (true, 5), (false, 120)] {
        sim.set("enable_i", bit(enable));
        let mut toggles = 0;
        for cycle in 0..cycles {
            let before = sim.state();
            for (name, width) in &inputs {
                let bits: Vec<bool> = (0..*width).map(|_| rng.bool()).collect();
                sim.set(name, Bits::from_bits(&bits));
            }
            sim.clock();
            let changed = sim.state() != before;
            toggles += usize::from(changed);
            // What is inside leaves first, an instruction a cycle if they are taken one after the other.
            assert!(enable || cycle < 100 || !changed, "cycle {cycle}: registers change");
        }
        assert_eq!(sim.get("empty_o").any(), !enable);
        assert!(!enable || toggles > cycles / 2, "{toggles} changes: too few to tell");
    }
    Ok(())
}
