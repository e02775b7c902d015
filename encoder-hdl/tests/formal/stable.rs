//! What a block offers stays until it is taken.

use crate::blocks::{block, tiny};
use crate::front::groups_as_requests;
use hartrace_encoder_hdl::Config;
use hartrace_prove::{Proof, Rig};
use hartrace_rtl::{Component, Direction};

/// All outputs but handshakes stay while `valid_o` waits for `ready_i`.
fn stable(block: &Component, handshakes: &[&str]) -> Component {
    let rig = Rig::new(block);
    let m = &rig.m;
    let valid = rig.port("valid_o");
    let waited = rig.past("waited", &(&valid & !rig.port("ready_i")));
    m.assert_always("offer_stays", !&waited | valid);
    let outputs = block.ports().iter().filter(|port| port.direction == Direction::Output);
    for port in outputs.filter(|port| !handshakes.contains(&port.name.as_str())) {
        let now = rig.port(&port.name);
        let same = now.eq(rig.past(&format!("{}_past", port.name), &now));
        m.assert_always(&format!("{}_stays", port.name), !&waited | same);
    }
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let ingress = ["valid_o", "ready_o", "empty_o"];
    let core = ["valid_o", "lost_o", "stall_o", "active_o", "empty_o"];
    let prove = |name: &str, config: &Config, module: &str, handshakes: &[&str], cycles| {
        let rig = stable(&block(config, module), handshakes);
        Proof::any_run(&format!("{name}_stable"), &rig, cycles).refuted_with("ready_i")
    };
    let mut rich = Config { lanes: 2, triggers: true, comparators: 1, ..tiny() };
    rich.etrace.nocontext_p = false;
    rich.etrace.notime_p = false;
    vec![
        prove("ingress_1", &tiny(), "te_ingress", &ingress, 5).refuted_without("valid_o"),
        prove("ingress_2", &rich, "te_ingress", &ingress, 7),
        // What decides on packets has no part in this.
        prove("core", &tiny(), "te_core", &core, 10).with(&groups_as_requests(&tiny())),
    ]
}
