//! Windows of branch outcomes.

use super::{Block, COUNTER, Config, counter};
use hartrace_decoder::block_table::Ends;
use hartrace_rtl::{Component, Module, bundle, concat, lit, zero};

bundle! {
    /// The outputs of the module.
    pub(super) struct WindowsOut { window, length, windows }
}

/// Bits of the number of outcomes.
const LENGTH: u32 = 6;

/// The module `path_windows`: the outcomes of the branches before each trigger.
pub(super) fn build(config: &Config) -> Component {
    let Config { address_bits, windows, window_bits, .. } = *config;
    let m = Module::new(
        "path_windows",
        "Keeps the outcomes of the branches before the instruction at an address, each time it is executed.",
    )
    .clocked();
    let clear = m.input("clear_i", 1, "forget everything");
    let enable = m.input("enable_i", 1, "keep windows");
    let block = Block::new(&m, address_bits);
    let ends = m.input("ends_i", Ends::BITS, "what the last one is");
    let taken = m.input("taken_i", 1, "it is a branch that was taken");
    let gap = m.input("gap_i", 1, "after them, some are missing");
    let trigger = m.input("trigger_i", address_bits, "the address");
    let index_bits = windows.ilog2();
    let index = m.input("index_i", index_bits, "the window that is read");
    let window_o = m.output("window_o", window_bits, "outcomes, the newest lowest");
    let length_o = m.output("length_o", LENGTH, "how many of them are known");
    let windows_o = m.output("windows_o", COUNTER, "windows that were kept");

    m.section("Outcomes since the start or the last gap.");
    let branch = &block.valid & ends.is(Ends::Branch as u128) & !&block.faulted;
    let branch = m.let_("branch", branch);
    let outcomes = m.reg_en("outcomes", zero(window_bits), &branch);
    m.assign(&outcomes.d, concat(&[&outcomes.q.trunc(window_bits - 1), &taken]));
    let length = m.reg("length", zero(LENGTH));
    let most = lit(LENGTH, window_bits.into());
    let longer = (&branch & length.q.ne(&most)).zext(LENGTH);
    m.assign(&length.d, (!(&clear | &gap)).gate(&length.q + longer));

    m.section("Windows.");
    let hit = m.let_("hit", &enable & block.has(&m, "triggers", &trigger));
    let next = m.reg("next", zero(index_bits));
    m.assign(&next.d, (!&clear).gate(&next.q + hit.zext(index_bits)));
    let kept = m.memory("kept", LENGTH + window_bits, windows);
    m.write(&kept, &hit, &next.q, concat(&[&length.q, &outcomes.q]));
    let shown = m.read(&kept, "shown", &index);
    m.assign(&window_o, shown.trunc(window_bits));
    m.assign(&length_o, shown.slice(window_bits, LENGTH));
    m.assign(&windows_o, counter(&m, "windows", &clear, &hit));
    m.finish()
}
