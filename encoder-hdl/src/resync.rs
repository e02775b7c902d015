//! When to resynchronise.

use crate::config::{Config, ResyncUnit};
use crate::group::CYCLES;
use hartrace_rtl::{Component, Expr, Module, bundle, concat, lit, ones, zero};

bundle! {
    /// The outputs of the module.
    pub(crate) struct ResyncOut { near, due, known, far: Option }
}

/// Width of the counter: the longest period is 2^19.
const WIDTH: u32 = 20;

/// Maximum number of units that one step can count as.
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
    let near_o = m.output("near_o", 1, "it may run out: take one step at a time");
    let due_o = m.output("due_o", 1, "it has, with the pending step; if near and known");
    let known_o = m.output("known_o", 1, "nothing has moved for long enough to say so");

    // The period is a power of two, so a number has reached it if a bit at or above that position
    // is set.
    let reach = m.let_("reach", ones(WIDTH - 4) << &max);
    let mut on = zero(1);
    let mut units = zero(WIDTH);
    let mut pending = zero(WIDTH);
    // Only events that are counted have to be awaited.
    let mut moved = packet.clone();
    if config.counts(ResyncUnit::Packets) {
        let packets = mode.is(1);
        units = (&packet & &packets).zext(WIDTH);
        on = on | packets;
    }
    let counted = |unit| config.counts(unit);
    if counted(ResyncUnit::Cycles) || counted(ResyncUnit::HalfWords) {
        let width = largest_step(config);
        let step = m.input("step_i", width, "units that the pending step counts for");
        let take = m.input("take_i", 1, "it is done with");
        let more = m.input("more_i", width + 2, "units of other steps that are done with");
        let moved_i = m.input("moved_i", 1, "a packet is sent, or another step is pending now");
        let counts = (mode.is(2) & bit(counted(ResyncUnit::Cycles)))
            | (mode.is(3) & bit(counted(ResyncUnit::HalfWords)));
        let counts = m.let_("counts_steps", counts);
        let steps = take.gate(step.zext(width + 3)) + more.zext(width + 3);
        units = units | counts.gate(steps).zext(WIDTH);
        pending = counts.gate(step).zext(WIDTH);
        moved = moved | (&counts & moved_i);
        on = on | counts;
    }
    let on = m.let_("on", on);
    m.section("What a cycle adds is added in the next one: that it is known late does not matter.");
    let restarts = m.let_("restarts", &packet & &synced);
    let added = m.reg("added", zero(WIDTH));
    let counter = m.reg("count", zero(WIDTH));
    m.assign(&added.d, (!&restarts).gate(units));
    m.assign(&counter.d, (!&restarts).gate(&counter.q + &added.q));

    m.section("Near is when what three cycles can add might be enough, due when it is.");
    let margin = |packets: u128, steps: u32| match largest_step(config) {
        1 => lit(WIDTH, packets),
        width => {
            let steps = lit(WIDTH, 1 << (width + steps).min(WIDTH - 1));
            match counted(ResyncUnit::Packets) {
                true => mode.is(1).mux(lit(WIDTH, packets), steps),
                false => steps,
            }
        }
    };
    let reaches = |name: &str, amount: Expr| {
        let sum = m.let_(name, &counter.q + amount);
        m.unused(&sum.slice(0, 4));
        &on & (sum.slice(4, WIDTH - 4) & &reach).any()
    };
    let near = m.reg("near", true);
    let due = m.reg("due", false);
    let still = m.reg("still", zero(2));
    m.assign(&near.d, reaches("soon", margin(4, 4)));
    m.assign(&due.d, reaches("reached", pending));
    m.assign(&still.d, (!moved).gate(concat(&[&still.q.bit(0), &lit(1, 1)])));
    match counted(ResyncUnit::Packets) {
        true => {
            m.section("While no packet is sent the count is exact, and it is not near unless one more is enough.");
            let last = m.reg("last", true);
            m.assign(&last.d, reaches("with_one", lit(WIDTH, 1)));
            let spare = m.let_("spare", mode.is(1) & still.q.bit(1) & !&last.q);
            m.assign(&near_o, &near.q & !spare);
        }
        false => m.assign(&near_o, &near.q),
    }
    m.assign(&due_o, &due.q);
    m.assign(&known_o, still.q.bit(1));
    if config.predicts() {
        m.section("Far is when not even what is looked up ahead can be enough as well.");
        let far_o =
            m.output("far_o", 1, "it does not run out before the next two groups are done with");
        let far = m.reg("far", false);
        // Up to three packets per step, and the steps of three cycles and two groups are 24 with
        // four lanes.
        m.assign(&far.d, !reaches("later", margin(64, 5)));
        m.assign(&far_o, &far.q);
    }
    m.finish()
}

fn bit(is: bool) -> Expr {
    lit(1, is.into())
}
