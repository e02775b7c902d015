//! A register stage that cuts paths in both directions.

use hartrace_rtl::{Component, Module, concat, zero};

/// Two registers of `width` bits in a stream: `spill_{width}`.
///
/// `valid_i ready_o data_i`, `valid_o ready_i data_o`; no output depends on an input without a register
/// in between, and a word passes in every cycle.
///
/// # Panics
///
/// If `width` is 0.
#[must_use]
#[track_caller]
pub fn spill(width: u32) -> Component {
    let m = Module::new(
        &format!("spill_{width}"),
        "Register stage without a path from any input to any output. The second register takes\n\
         the word that comes while the first is not taken.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", width, "");
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let data_o = m.output("data_o", width, "");

    let valid = m.reg("valid", zero(1));
    let spilled = m.reg("spilled", zero(1));
    // The first register is free for another word.
    let free = m.let_("free", &ready_i | !&valid.q);
    let first = m.reg_data("first", width, &free);
    let second = m.reg_data("second", width, !&spilled.q);

    m.assign(&valid.d, !&free | &valid_i | &spilled.q);
    m.assign(&spilled.d, !&free & (&valid_i | &spilled.q));
    m.assign(&first.d, spilled.q.mux(&second.q, &data_i));
    m.assign(&second.d, &data_i);
    m.assign(&ready_o, !&spilled.q);
    m.assign(&valid_o, &valid.q);
    m.assign(&data_o, &first.q);

    m.assert_always("first_before_second", &valid.q | !&spilled.q);
    m.assert_stays("offered", &valid.q & !&ready_i, concat(&[&valid.q, &first.q]));
    m.finish()
}
