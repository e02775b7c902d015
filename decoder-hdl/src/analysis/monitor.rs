//! The property monitor.

use super::{Block, COUNTER, Config, counter, flag};
use hartrace_rtl::{Component, Module, lit, zero};

/// The module `property_monitor`: one property of two instructions, A and B.
///
/// If both are in one block, the one with the lower address is executed first; one instruction may be both, and is
/// then A first. After a gap, it is not known whether there was an A or a B: neither property is violated by what
/// comes before the next A.
pub(super) fn build(config: &Config) -> Component {
    let m = Module::new(
        "property_monitor",
        "Watches whether A is executed before each B, or B within some cycles after A. After the first A, further ones\n\
         change nothing up to the next B.",
    )
    .clocked();
    let clear = m.input("clear_i", 1, "start anew");
    let enable = m.input("enable_i", 1, "watch");
    let block = Block::new(&m, config.address_bits);
    let gap = m.input("gap_i", 1, "after them, some are missing");
    let first = m.input("first_i", config.address_bits, "address of A");
    let second = m.input("second_i", config.address_bits, "address of B");
    let property = m.input("property_i", 2, "1: A before B, 2: B within the limit");
    let limit = m.input("limit_i", COUNTER, "the longest time from A to B, in cycles");
    let violations_o = m.output("violations_o", COUNTER, "how often it did not hold");

    let [a, b] =
        [("is_a", &first), ("is_b", &second)].map(|(name, address)| block.has(&m, name, address));
    let ordered = m.let_("ordered", first.le(&second));

    m.section("Whether there was an A since the last B. It is assumed after a gap.");
    let before = m.reg("before", false);
    let after = b.mux(&a & !&ordered, &before.q | &a);
    m.assign(&before.d, (!&clear & &enable) & (&gap | after));
    let missing = m.let_("missing", &b & !(&before.q | (&a & &ordered)));

    m.section("Cycles since the first A that no B followed.");
    let starts = m.let_("starts", &a & (!&b | !&ordered));
    let waits = m.reg("waits", false);
    let stops = m.let_("stops", &clear | !&enable | &gap);
    m.assign(&waits.d, !&stops & (&starts | (&waits.q & !&b)));
    let cycles = m.reg("cycles", zero(COUNTER));
    let restarts = m.let_("restarts", !&waits.q | &b);
    let largest = cycles.q.all();
    m.assign(&cycles.d, (!&restarts).gate(&cycles.q + (!largest).zext(COUNTER)));
    // Once for each A.
    let late = flag(&m, "late", &(&waits.q & cycles.q.eq(&limit)), &[&restarts, &stops]);
    let expires = m.let_("expires", &waits.q & cycles.q.eq(&limit) & !&late.q);

    let before_b = property.eq(lit(2, 1)) & missing;
    let within = property.eq(lit(2, 2)) & expires;
    let violated = m.let_("violated", &enable & (before_b | within));
    m.assign(&violations_o, counter(&m, "violations", &clear, &violated));
    m.finish()
}
