//! The branch predictor, which the encoder has too.

use hartrace_rtl::{Component, Module, concat, lit, zero};

/// The module `walker_predictor`: two bits for each branch, the prediction above the last outcome. Spec: E-Trace 2.0,
/// 3.2.6.
pub(super) fn unit(index_bits: u32) -> Component {
    let m = Module::new(
        "walker_predictor",
        "Two bits for each branch: the prediction above the last outcome. At first a branch was taken, but is predicted \
         not to be.",
    )
    .clocked();
    let entries = 1 << index_bits;
    let index = m.input("index_i", index_bits, "the branch");
    let update = m.input("update_i", 1, "it was executed");
    let taken = m.input("taken_i", 1, "it was taken");
    let clear = m.input("clear_i", 1, "forget all");
    let predicted_o = m.output("predicted_o", 1, "it is predicted to be taken");
    let there = m.reg("there", zero(entries));
    let memory = m.memory("states", 2, entries);
    let stored = m.read(&memory, "stored", &index);
    let state = m.let_("state", there.q.bit_at(&index).mux(stored, lit(2, 0b01)));
    m.assign(&predicted_o, state.bit(1));
    // The prediction changes with the second outcome in a row that differs from it.
    let next = concat(&[&state.bit(0).eq(&taken).mux(&taken, state.bit(1)), &taken]);
    m.write(&memory, &update, &index, next);
    m.comb(|b| {
        b.when(&clear, |b| b.set(&there.d, zero(entries)))
            .elsif(&update, |b| b.set_at(&there.d, &index, true));
    });
    m.finish()
}
