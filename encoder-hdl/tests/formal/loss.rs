//! A group that reports lost input makes the next packet report the loss.

use crate::blocks::{block, tiny};
use hartrace_encoder_hdl::Config;
use hartrace_hdl_tools::prove::{Proof, Rig, Stream};
use hartrace_rtl::{Component, Expr, lit, zero};

const REQUESTS: Stream = Stream { valid: "valid_o", ready: "ready_i", data: &[] };

/// qual_status `trace_lost`.
const TRACE_LOST: u128 = 2;

fn told(config: &Config) -> Component {
    let block = block(config, "te_priority");
    let rig = Rig::new(&block);
    let m = &rig.m;
    // Groups stay until they are taken. Those that report lost input come alone, as a break.
    let waits = rig.port("valid_i") & !rig.port("ready_o");
    let waited = rig.past("group_waited", &waits);
    let group = ["mark", "lost", "qualified", "trap_qualified"];
    let mut kept = group.iter().fold(rig.port("valid_i"), |kept, name| {
        let now = rig.port(&format!("{name}_i"));
        kept & now.eq(rig.past(&format!("{name}_past"), &now))
    });
    // Steps that are done leave, and without a group there are none.
    let mut any = rig.port("mark_i").any();
    for (name, done) in [("retires", "done_last"), ("two", "done_first"), ("trap", "done_trap")] {
        let now = rig.port(&format!("{name}_i"));
        let left = &now & !rig.port(&format!("{done}_o"));
        kept = kept & now.eq(rig.past(&format!("{name}_left"), &left));
        any = any | now.any();
    }
    m.assume_always("group_kept", !waited | kept);
    m.assume_always("steps_of_groups", rig.port("valid_i") | !any);
    m.assume_always("two_of_retired", (rig.port("two_i") & !rig.port("retires_i")).is(0));
    let alone = !rig.port("retires_i").any() & !rig.port("trap_i") & rig.port("mark_i").is(1);
    m.assume_always("loss_comes_alone", !rig.port("lost_i") | alone);

    let lost = rig.port("valid_i") & rig.port("ready_o") & rig.port("lost_i");
    let sent = rig.moves(REQUESTS);
    let says = rig.port("support_o") & rig.port("qual_status_o").is(TRACE_LOST);
    let owed = m.reg("owed", zero(1));
    m.assign(&owed.d, lost | (&owed.q & !&sent));
    m.assert_always("loss_is_said_first", !(&sent & &owed.q) | &says);
    m.assert_always("loss_is_true", !(&sent & says) | &owed.q);
    one_format(&rig, &sent);
    rig.finish()
}

/// Exactly one of the formats is requested, as the emitter assumes.
fn one_format(rig: &Rig, sent: &Expr) {
    let kinds = ["start_o", "trap_o", "report_o", "map_only_o", "support_o", "context_only_o"];
    let kinds: Vec<Expr> = kinds.iter().filter_map(|name| rig.find(name)).collect();
    let count = crate::blocks::ones_of(&kinds, 3);
    rig.m.assert_always("one_format", !sent | count.eq(lit(3, 1)));
}

pub(crate) fn proofs() -> Vec<Proof> {
    let config = tiny();
    vec![
        Proof::any_run("priority_tells_loss", &told(&config), 9)
            .whatever_does(&block(&config, "te_branch_map"))
            .whatever_does(&block(&config, "te_resync_counter"))
            .refuted_without("lost_i")
            .refuted_without("support_o")
            .refuted_without("qual_status_o")
            .refuted_without("report_o"),
    ]
}
