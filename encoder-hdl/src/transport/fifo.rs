//! A buffer in LUT RAM.

use crate::cells::memory;
use hartrace_rtl::{Component, Expr, Module, bundle, concat, index_width, lit, zero};

bundle! {
    /// The outputs of a [`fifo`].
    pub struct FifoOut { ready, valid, data, usage, full }
}

/// A first-word-fall-through FIFO of `depth` words of `width` bits: `fifo_{width}x{depth}`.
///
/// `valid_i ready_o data_i`, `valid_o ready_i data_o`; `usage_o` is the number of words in the
/// FIFO, `full_o` the opposite of `ready_o`. A full FIFO accepts nothing, even while a word leaves
/// it: `ready_o` does not depend on `ready_i`. A word needs one cycle to pass.
///
/// # Panics
///
/// If `width` is 0 or `depth` is less than 2.
#[must_use]
#[track_caller]
pub fn fifo(width: u32, depth: u32) -> Component {
    assert!(depth >= 2, "a FIFO of depth {depth}; at least 2, or use a spill register");
    let m = Module::new(
        &format!("fifo_{width}x{depth}"),
        "First-word-fall-through FIFO. Takes nothing while full, even if a word leaves.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", width, "");
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let data_o = m.output("data_o", width, "");
    let usage_o = m.output("usage_o", index_width(depth + 1), "words within");
    let full_o = m.output("full_o", 1, "");

    let push = m.wire("push", 1);
    let pop = m.wire("pop", 1);
    let write = m.reg_en("write", zero(index_width(depth)), &push);
    let read = m.reg_en("read", zero(index_width(depth)), &pop);
    let usage = m.reg_en("usage", zero(index_width(depth + 1)), &push ^ &pop);

    m.assign(&full_o, usage.q.is(depth.into()));
    m.assign(&ready_o, !&full_o);
    m.assign(&valid_o, usage.q.any());
    m.assign(&push, &valid_i & &ready_o);
    m.assign(&pop, &valid_o & &ready_i);
    m.assign(&write.d, after(&write.q, depth));
    m.assign(&read.d, after(&read.q, depth));
    let one = lit(usage.q.width(), 1);
    m.assign(&usage.d, push.mux(&usage.q + &one, &usage.q - &one));
    m.assign(&usage_o, &usage.q);

    memory(&m, "i_words", depth, (&push, &write.q, &data_i), (&read.q, &data_o));

    // With these claims, the properties of a FIFO can be proven by induction.
    let last = u128::from(depth - 1);
    m.assert_always("write_in_range", write.q.le(lit(write.q.width(), last)));
    m.assert_always("read_in_range", read.q.le(lit(read.q.width(), last)));
    m.assert_always("usage_in_range", usage.q.le(lit(usage.q.width(), depth.into())));
    m.assert_always("usage_is_distance", distance(&read.q, &usage.q, depth).eq(&write.q));
    m.assert_stays("offered", &valid_o & !&ready_i, concat(&[&valid_o, &data_o]));
    m.finish()
}

/// The pointer after `pointer`, modulo `depth` words.
fn after(pointer: &Expr, depth: u32) -> Expr {
    let next = pointer + lit(pointer.width(), 1);
    if depth.is_power_of_two() {
        next
    } else {
        pointer.is(u128::from(depth - 1)).mux(zero(pointer.width()), next)
    }
}

/// `pointer` plus `by`, modulo `depth` words.
fn distance(pointer: &Expr, by: &Expr, depth: u32) -> Expr {
    let width = index_width(2 * depth);
    let sum = pointer.zext(width) + by.zext(width);
    let wrapped = sum.ge(lit(width, depth.into()));
    (&sum - wrapped.gate(lit(width, depth.into()))).trunc(pointer.width())
}
