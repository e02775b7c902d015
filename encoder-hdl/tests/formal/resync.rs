//! A resynchronisation is due when the period has been reached, and the encoder is warned before.

use crate::blocks::{assume_constant, block, tiny};
use hartrace_encoder_hdl::{Config, ResyncUnit};
use hartrace_hdl_tools::prove::{Proof, Rig};
use hartrace_rtl::{Component, Expr, lit, zero};

const WIDTH: u32 = 16;

/// Number of packets that two groups, the pending step and three cycles can produce: three for each
/// of nine steps with four lanes, and those in the pipeline.
const FAR: u128 = 3 * 9 + 4;

/// Adds up immediately what the counter adds up over time.
fn counts(config: &Config) -> Component {
    let rig = Rig::new(&block(config, "te_resync_counter"));
    let m = &rig.m;
    for port in ["mode_i", "max_i"] {
        assume_constant(&rig, port);
    }
    let mode = rig.port("mode_i");
    let (packet, synced) = (rig.port("packet_i"), rig.port("synced_i"));
    let wide = |value: Expr| value.zext(WIDTH);
    let packets = wide(mode.is(1) & &packet);
    let (mut steps, mut pending) = (zero(WIDTH), zero(WIDTH));
    let has = |unit, at: u128| match config.resync.contains(&unit) {
        true => mode.is(at),
        false => zero(1),
    };
    let in_steps = has(ResyncUnit::Cycles, 2) | has(ResyncUnit::HalfWords, 3);
    if let Some(step) = rig.find("step_i") {
        let taken = rig.port("take_i").gate(&step);
        steps = in_steps.gate(wide(taken) + wide(rig.port("more_i")));
        pending = in_steps.gate(wide(step));
        // The possible events are a packet or another pending step.
        let changes = rig.port("take_i") | rig.port("more_i").any() | &packet;
        m.assume_always("moves", !changes | rig.port("moved_i"));
        let step = rig.port("step_i");
        let same = step.eq(rig.past("step_before", &step));
        let moved = rig.past("moved_before", &rig.port("moved_i"));
        m.assume_always("step_stays", moved | same);
    }
    let total =
        rig.count("total", WIDTH, |n| (&packet & &synced).mux(zero(WIDTH), n + &packets + &steps));
    let on = has(ResyncUnit::Packets, 1) | in_steps;
    let period = lit(WIDTH, 16) << rig.port("max_i");
    m.assume_always("period_fits", rig.port("max_i").lt(lit(4, 11)));
    let reached = m.let_("reached", on & (&total + pending).ge(&period));

    let (near, due, known) = (rig.port("near_o"), rig.port("due_o"), rig.port("known_o"));
    let says = &near & &known;
    m.assert_always("due_if_reached", !(&says & &due) | &reached);
    m.assert_always("reached_if_due", !(&says & &reached) | due);
    // The period cannot be over without a warning.
    m.assert_always("near_before", !&reached | near);
    if let Some(far) = rig.find("far_o") {
        // While it is far, the rest is enough for the longest look ahead.
        let left = lit(WIDTH, FAR) + total;
        m.assert_always("far_is_far", !(mode.is(1) & far) | left.lt(&period));
    }
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let unit = |resync: &[ResyncUnit]| Config { resync: resync.to_vec(), ..tiny() };
    let all = [ResyncUnit::Packets, ResyncUnit::Cycles, ResyncUnit::HalfWords];
    let mut predicting = unit(&all);
    predicting.etrace.bpred_size_p = 2;
    vec![
        Proof::bounded("resync_far", &counts(&predicting), 10).refuted_without("far_o"),
        Proof::bounded("resync_packets", &counts(&unit(&all[..1])), 22)
            .refuted_without("packet_i")
            .refuted_without("synced_i")
            .refuted_without("near_o")
            .refuted_without("due_o"),
        Proof::bounded("resync_all", &counts(&unit(&all)), 10)
            .refuted_without("take_i")
            .refuted_without("more_i")
            .refuted_without("step_i")
            .refuted_without("max_i")
            .refuted_without("synced_i")
            .refuted_without("known_o"),
    ]
}
