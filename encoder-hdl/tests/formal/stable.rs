//! Offered outputs of a block are stable until they are taken.

use crate::blocks::{block, tiny};
use crate::front::groups_as_requests;
use hartrace_encoder_hdl::Config;
use hartrace_hdl_tools::prove::{Proof, Rig};
use hartrace_rtl::{Component, Direction};

/// All outputs but handshakes are stable while `valid_o` waits for `ready_i`.
fn stable(block: &Component, handshakes: &[&str]) -> Component {
    let rig = Rig::new(block);
    stays(&rig, block, handshakes);
    rig.finish()
}

fn stays(rig: &Rig, block: &Component, handshakes: &[&str]) {
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
}

pub(crate) fn proofs() -> Vec<Proof> {
    let core = ["valid_o", "lost_o", "stall_o", "trace_o", "active_o", "empty_o"];
    let prove = |name: &str, config: &Config, module: &str, handshakes: &[&str], cycles| {
        let rig = stable(&block(config, module), handshakes);
        Proof::any_run(&format!("{name}_stable"), &rig, cycles).refuted_with("ready_i")
    };
    vec![
        // The logic that decides on packets is not involved.
        prove("core", &tiny(), "te_core", &core, 13).with(&groups_as_requests(&tiny())),
        queue(),
    ]
}

/// Groups are only sent to the queue if there is room.
fn queue() -> Proof {
    let config = Config { lanes: 2, ..tiny() };
    let block = block(&config, "te_group_queue");
    let rig = Rig::new(&block);
    let (valid, taken) = (rig.port("valid_i"), rig.port("valid_o") & rig.port("ready_i"));
    let within = rig.count("within", 4, |n| n + valid.zext(4) - taken.zext(4));
    let full = within.is(config.ingress_depth.into());
    rig.m.assume_always("room", !(&valid & full));
    // A step that is done disappears.
    for done in ["done_first_i", "done_last_i", "done_trap_i"] {
        rig.m.assume_always(&format!("{done}_none"), !rig.port(done).any());
    }
    let [retires, two] = ["retires_o", "two_o"].map(|name| rig.port(name));
    let steps = retires.any() | two.any() | rig.port("trap_o") | rig.port("mark_o").any();
    rig.m.assert_always("steps_of_groups", rig.port("valid_o") | !steps);
    rig.m.assert_always("two_of_retired", (two & !retires).is(0));
    stays(&rig, &block, &["valid_o"]);
    Proof::any_run("group_queue_stable", &rig.finish(), 9).refuted_without("valid_o")
}
