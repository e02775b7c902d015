//! The FIFO in front of a walker.

use super::output::LOST_BITS;
use crate::wires::any;
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, index_width, lit, ones, zero};

bundle! {
    /// The outputs of the module.
    pub(super) struct FifoOut { valid, record, after_loss, busy, lost }
}

/// The module `walker_fifo`: rows of records in, one record after the other out.
pub(super) fn unit(slots: u32, width: u32, rows: u32) -> Component {
    let m = Module::new(
        "walker_fifo",
        "Rows of records in, one record after the other out. Records that find it full are lost: they are counted, and \
         the row after them says so.",
    )
    .clocked();
    let valid_i = m.input("valid_i", slots, "valid records; the first one is the oldest");
    let record_i = m.input("record_i", slots * width, "records");
    let take_i = m.input("take_i", 1, "the record at the output is done");
    let out = FifoOut {
        valid: Wire::new(1, "there is a record"),
        record: Wire::new(width, "the record"),
        after_loss: Wire::new(1, "records before it are lost"),
        busy: Wire::new(1, "it is not empty"),
        lost: Wire::new(LOST_BITS, "records that were lost; stays at the largest number"),
    };
    let out = out.outputs(&m);

    let pointer = index_width(rows);
    let memory = m.memory("rows", 1 + slots + slots * width, rows);
    let write = m.reg("write", zero(pointer + 1));
    let read = m.reg("read", zero(pointer + 1));
    let full = (&write.q ^ &read.q).is(1 << pointer);
    let full = m.let_("full", full);
    let empty = m.let_("empty", write.q.eq(&read.q));
    let arrives = m.let_("arrives", valid_i.any());
    let enters = m.let_("enters", &arrives & !&full);
    let losing = m.reg("losing", zero(1));
    m.comb(|b| {
        b.when(&arrives, |b| b.set(&losing.d, &full));
        b.when(&enters, |b| b.set(&write.d, &write.q + lit(pointer + 1, 1)));
    });
    let row = concat(&[&record_i, &valid_i, &losing.q]);
    m.write(&memory, &enters, write.q.trunc(pointer), row);

    m.section("Lost records.");
    let count_bits = index_width(slots + 1);
    let number = (0..slots)
        .map(|slot| valid_i.bit(slot).zext(count_bits))
        .reduce(|a, b| a + b)
        .unwrap_or_else(|| zero(count_bits));
    let lost = m.reg("lost", zero(LOST_BITS));
    let sum = m.let_("lost_sum", lost.q.zext(LOST_BITS + 1) + number.zext(LOST_BITS + 1));
    m.comb(|b| {
        b.when(&arrives & &full, |b| {
            b.set(&lost.d, sum.msb().mux(ones(LOST_BITS), sum.trunc(LOST_BITS)));
        });
    });
    m.assign(&out.lost, &lost.q);

    m.section("The row at the output, and which of its records are left.");
    let there = m.reg("there", zero(1));
    let done = m.reg("done", zero(slots));
    let fetch = m.wire("fetch", 1);
    let head = m.read_clocked(&memory, "head", &fetch, read.q.trunc(pointer));
    let left = m.let_("left", head.slice(1, slots) & !&done.q);
    let first: Vec<Expr> = (0..slots)
        .map(|slot| {
            let before = any((0..slot).map(|other| left.bit(other)));
            left.bit(slot) & !before
        })
        .collect();
    let first = m.let_("first", crate::wires::join(&first));
    let last = m.let_("is_last", !(&left & !&first).any());
    m.assign(&fetch, !&empty & (!&there.q | (&take_i & &last)));
    m.comb(|b| {
        b.when(&fetch, |b| {
            b.set(&there.d, true);
            b.set(&done.d, zero(slots));
            b.set(&read.d, &read.q + lit(pointer + 1, 1));
        })
        .elsif(&take_i, |b| {
            b.set(&done.d, &done.q | &first);
            b.when(&last, |b| b.set(&there.d, false));
        });
    });
    m.assign(&out.valid, &there.q);
    m.assign(&out.busy, &there.q | !&empty);
    let records =
        (0..slots).map(|slot| first.bit(slot).gate(head.slice(1 + slots + slot * width, width)));
    m.assign(&out.record, any(records));
    m.assign(&out.after_loss, head.bit(0) & !done.q.any());
    m.finish()
}
