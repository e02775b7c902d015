//! Who waits for which flush.

use hartrace_rtl::{Component, Module, zero};
use hartrace_transport_hdl::drain;

/// Flushes a packer for several that ask: `te_flush_{askers}x{width}`, where `width` is that of the count
/// of packets before the packer.
///
/// `request_i` has a bit for each, set for a cycle. `asked_o` is set from the next cycle on until, and
/// with, `done_o`: everything that was before the packer at the request has passed, and the packer is
/// flushed. One that asks again meanwhile gets another flush. `waiting_i taken_i flush_o flushed_i` are
/// those of [`drain`].
pub(crate) fn flush(askers: u32, width: u32) -> Component {
    let m = Module::new(
        &format!("te_flush_{askers}x{width}"),
        "Flushes a packer for several that ask. A flush is for those that asked before it began.",
    )
    .clocked();
    let request_i = m.input("request_i", askers, "one bit each, for a cycle");
    let asked_o = m.output("asked_o", askers, "until done");
    let done_o = m.output("done_o", askers, "for a cycle");
    let waiting_i = m.input("waiting_i", width, "packets before the packer");
    let taken_i = m.input("taken_i", 1, "the packer takes one");
    let flush_o = m.output("flush_o", 1, "to the packer, until flushed");
    let flushed_i = m.input("flushed_i", 1, "");

    let pending = m.reg("pending", zero(askers));
    let served = m.reg("served", zero(askers));
    let busy = m.let_("busy", served.q.any());
    let drained = m.inst(
        "i_drain",
        &drain(width),
        &[
            ("request_i", &busy),
            ("waiting_i", &waiting_i),
            ("taken_i", &taken_i),
            ("flush_o", &flush_o),
            ("flushed_i", &flushed_i),
        ],
    );
    let done = &drained["done_o"];
    m.comb(|b| {
        b.when(&busy, |b| {
            b.set(&pending.d, &pending.q | &request_i);
            b.when(done, |b| b.set(&served.d, zero(askers)));
        })
        .otherwise(|b| {
            b.set(&pending.d, &request_i);
            b.set(&served.d, &pending.q);
        });
    });
    m.assign(&asked_o, &pending.q | &served.q);
    m.assign(&done_o, done.repeat(askers) & &served.q);
    m.finish()
}
