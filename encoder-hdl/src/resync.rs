//! When to synchronise anew.

use crate::config::{Config, ResyncUnit};
use crate::group::CYCLES;
use hartrace_rtl::{Component, Expr, Module, lit, ones, zero};

/// Width of the counter: the longest period is 2^19.
const WIDTH: u32 = 20;

/// How many units one step can count for at most.
fn largest_step(config: &Config) -> u32 {
    let half_words = config.counts(ResyncUnit::HalfWords).then_some(config.iretire_width_p.into());
    let cycles = config.counts(ResyncUnit::Cycles).then_some(CYCLES);
    half_words.max(cycles).unwrap_or(1)
}

/// The module `te_resync_counter`.
pub(crate) fn build(config: &Config) -> Component {
    let m = Module::new(
        "te_resync_counter",
        "Counts packets, cycles or half-words, and says when a synchronisation is due. Its period is\n\
         2^(max + 4).",
    )
    .clocked();
    let mode = m.input("mode_i", 2, "0 never, 1 packets, 2 cycles, 3 half-words");
    let max = m.input("max_i", 4, "");
    let packet = m.input("packet_i", 1, "a packet is sent");
    let synced = m.input("synced_i", 1, "and it is a synchronisation");
    let due_o = m.output("due_o", 1, "the counter has run out with the pending step");
    let near_o = m.output("near_o", 1, "it may run out: take one step at a time");

    let counter = m.reg("count", zero(WIDTH));
    // The period is a power of two, so that a number has reached it if a bit from there on is set.
    let reach = m.let_("reach", ones(WIDTH - 4) << &max);
    let mut on = zero(1);
    let mut pending = zero(WIDTH);
    let mut others = zero(WIDTH);
    if config.counts(ResyncUnit::Packets) {
        on = on | mode.is(1);
    }
    let counted = |unit| config.counts(unit);
    if counted(ResyncUnit::Cycles) || counted(ResyncUnit::HalfWords) {
        let width = largest_step(config);
        let step = m.input("step_i", width, "units that the pending step counts for");
        let take = m.input("take_i", 1, "it is done with");
        let more = m.input("more_i", width + 2, "units of other steps that are done with");
        let counts = (mode.is(2) & bit(counted(ResyncUnit::Cycles)))
            | (mode.is(3) & bit(counted(ResyncUnit::HalfWords)));
        let counts = m.let_("counts_steps", counts);
        on = on | &counts;
        pending = counts.gate(step.zext(WIDTH));
        others = counts.gate(take.gate(step.zext(WIDTH)) + more.zext(WIDTH));
    }
    let on = m.let_("on", on);
    let reached = m.let_("reached", &counter.q + pending);
    m.unused(&reached.slice(0, 4));
    m.assign(&due_o, &on & (reached.slice(4, WIDTH - 4) & &reach).any());
    // What one cycle can add at most, with some to spare: the value is a cycle old.
    let margin = lit(WIDTH, 1 << (largest_step(config) + 4).min(WIDTH - 1));
    let margin = if largest_step(config) == 1 { lit(WIDTH, 4) } else { margin };
    let near = m.reg("near", true);
    let soon = m.let_("soon", &counter.d + margin);
    m.unused(&soon.slice(0, 4));
    m.assign(&near.d, &on & (soon.slice(4, WIDTH - 4) & &reach).any());
    m.assign(&near_o, &near.q);
    m.comb(|b| {
        b.set(&counter.d, &counter.q + others);
        b.when(&packet, |b| {
            if config.counts(ResyncUnit::Packets) {
                b.when(mode.is(1), |b| b.set(&counter.d, &counter.d + lit(WIDTH, 1)));
            }
            b.when(&synced, |b| b.set(&counter.d, zero(WIDTH)));
        });
    });
    m.finish()
}

fn bit(is: bool) -> Expr {
    lit(1, is.into())
}
