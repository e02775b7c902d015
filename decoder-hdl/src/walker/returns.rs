//! The return stack, which the encoder has too.

use hartrace_rtl::{Component, Module, bundle, index_width, lit, zero};

bundle! {
    /// The outputs of the module.
    pub(super) struct ReturnsOut { top, depth }
}

/// The module `walker_returns`: a stack of blocks after calls. A full stack drops its oldest entry.
pub(super) fn unit(entries: u32, index_bits: u32) -> Component {
    let m = Module::new(
        "walker_returns",
        "The blocks after calls, for implicit returns. A full stack drops its oldest entry.",
    )
    .clocked();
    let depth_bits = index_width(entries + 1);
    let push = m.input("push_i", 1, "a call");
    let block = m.input("block_i", index_bits, "the block after it");
    let pop = m.input("pop_i", 1, "a return; never with a call");
    let clear = m.input("clear_i", 1, "forget all");
    let top_o = m.output("top_o", index_bits, "the block after the last call");
    let depth_o = m.output("depth_o", depth_bits, "entries");
    let place_bits = index_width(entries.max(2));
    let memory = m.memory("blocks", index_bits, entries.max(2));
    let top = m.reg("top", zero(place_bits));
    let depth = m.reg("depth", zero(depth_bits));
    let most = lit(place_bits, u128::from(entries - 1));
    let above = m.let_("above", top.q.eq(&most).mux(zero(place_bits), &top.q + lit(place_bits, 1)));
    let below = m.let_("below", top.q.any().mux(&top.q - lit(place_bits, 1), &most));
    m.write(&memory, &push, &above, &block);
    m.assign(&top_o, m.read(&memory, "top_block", &top.q));
    m.assign(&depth_o, &depth.q);
    m.comb(|b| {
        b.when(&clear, |b| b.set(&depth.d, zero(depth_bits)))
            .elsif(&push, |b| {
                b.set(&top.d, &above);
                b.when(!depth.q.is(entries.into()), |b| {
                    b.set(&depth.d, &depth.q + lit(depth_bits, 1));
                });
            })
            .elsif(&pop & depth.q.any(), |b| {
                b.set(&top.d, &below);
                b.set(&depth.d, &depth.q - lit(depth_bits, 1));
            });
    });
    m.finish()
}
