//! The internal clock of an encoder.

use hartrace_rtl::{Component, Module, lit, zero};

/// The module `te_timestamp`: a counter of ticks of 1, 4, 16 or 64 clock cycles.
///
/// | port | |
/// |---|---|
/// | `count_i` | the time is counted |
/// | `reset_i` | the time is 0 in the next cycle |
/// | `prescale_i` | a tick has 4^`prescale_i` cycles |
/// | `time_o` | the time |
pub(crate) fn timestamp(width: u32) -> Component {
    /// Width of the counter of the cycles of a tick.
    const CYCLES: u32 = 6;

    let m =
        Module::new("te_timestamp", "The time of an encoder, counted in clock cycles.").clocked();
    let count_i = m.input("count_i", 1, "count");
    let reset_i = m.input("reset_i", 1, "start again from 0");
    let prescale_i = m.input("prescale_i", 2, "ticks of 1, 4, 16 or 64 cycles");
    let time_o = m.output("time_o", width, "ticks");

    m.section(
        "Cycles of the present tick. It is over when as many low bits are ones as the tick has.",
    );
    let cycles = m.reg_en("cycles", zero(CYCLES), &count_i | &reset_i);
    m.assign(&cycles.d, (!&reset_i).gate(&cycles.q + lit(CYCLES, 1)));
    let over = |bits: u32| cycles.q.trunc(bits).all();
    let one = prescale_i.is(0);
    let four = prescale_i.is(1) & over(2);
    let sixteen = prescale_i.is(2) & over(4);
    let last = m.let_("last", one | four | sixteen | over(CYCLES));

    m.section("Ticks.");
    let ticks = m.reg_en("ticks", zero(width), (&count_i & last) | &reset_i);
    m.assign(&ticks.d, (!&reset_i).gate(&ticks.q + lit(width, 1)));
    m.assign(&time_o, &ticks.q);
    m.finish()
}
