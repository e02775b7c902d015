//! Requests a flush at the right time.

use hartrace_rtl::{Component, Module, bundle, lit, zero};

bundle! {
    /// The outputs of a [`drain`].
    pub struct DrainOut { done, flush }
}

/// Asks a packer to flush once the packets that wait before it have passed: `drain_{width}`, where
/// `width` is that of the number of packets.
///
/// `request_i` must stay set until `done_o`. Packets counted in `waiting_i` at the time of the
/// request pass first (`taken_i`: one passes); those that arrive later do not delay the flush.
/// `flush_o` and `flushed_i` connect to the packer.
///
/// # Panics
///
/// If `width` is 0.
#[must_use]
#[track_caller]
pub fn drain(width: u32) -> Component {
    let m = Module::new(
        &format!("drain_{width}"),
        "Flushes a packer once the packets have passed that were waiting at the request.",
    )
    .clocked();
    let request_i = m.input("request_i", 1, "until done");
    let done_o = m.output("done_o", 1, "");
    let waiting_i = m.input("waiting_i", width, "packets before the packer");
    let taken_i = m.input("taken_i", 1, "the packer takes one");
    let flush_o = m.output("flush_o", 1, "to the packer, until flushed");
    let flushed_i = m.input("flushed_i", 1, "");

    let active = m.reg("active", zero(1));
    let left = m.reg("left", zero(width));
    m.assign(&flush_o, &active.q & !left.q.any());
    m.assign(&done_o, &flush_o & &flushed_i);
    m.comb(|b| {
        b.when(&active.q, |b| {
            b.set(&active.d, !&done_o);
            b.when(&taken_i & left.q.any(), |b| b.set(&left.d, &left.q - lit(width, 1)));
        })
        .otherwise(|b| {
            b.set(&active.d, &request_i);
            b.set(&left.d, &waiting_i - (&taken_i & waiting_i.any()).zext(width));
        });
    });
    m.finish()
}
