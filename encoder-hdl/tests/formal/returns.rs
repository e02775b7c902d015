//! The return stack stores the newest calls, and predicts no return without one.

use crate::blocks::{block, tiny};
use hartrace_encoder_hdl::Config;
use hartrace_hdl_tools::prove::{Proof, Rig, num};
use hartrace_rtl::{Component, Expr, zero};

/// Number of entries of the list next to the stack.
const MOST: u32 = 4;

/// A list that is moved up and down by one, not a ring: the newest call is always at its start.
fn remembers(config: &Config, max: u32) -> Component {
    let rig = Rig::new(&block(config, "te_return_stack"));
    let m = &rig.m;
    let [clear, call, ret] = ["clear_i", "call_i", "ret_i"].map(|name| rig.port(name));
    m.assume_always("call_or_return", !(&call & &ret));
    let count = m.reg("calls", zero(4));
    let kept = m.let_("calls_kept", clear.mux(zero(4), &count.q));
    let returns = m.let_("returns", &ret & kept.any());
    let after_call = kept.lt(num(&kept, max)).mux(&kept + num(&kept, 1), &kept);
    let after = returns.mux(&kept - num(&kept, 1), &kept);
    m.assign(&count.d, call.mux(after_call, after));

    let depth = rig.port("depth_o");
    let wide = |depth: &Expr| depth.zext(5);
    m.assert_always("depth_is_calls", wide(&depth).eq(wide(&count.q)));
    m.assert_always("no_more_than_fit", wide(&depth).le(num(&wide(&depth), max)));
    let predicts = rig.port("predicts_o");
    m.assert_always("predicts_if_called", !&predicts | depth.any());
    let some = rig.past("some_before", &count.q.any());
    m.assert_always("some_is_calls", rig.port("some_o").eq(some));
    match rig.find("link_i") {
        None => m.assert_always("predicts_any", predicts.eq(count.q.any())),
        Some(link) => {
            let entries: Vec<_> =
                (0..MOST).map(|i| m.reg(&format!("entry_{i}"), zero(link.width()))).collect();
            for i in 0..entries.len() {
                let above = if i == 0 { link.clone() } else { entries[i - 1].q.clone() };
                let below = entries.get(i + 1).unwrap_or(&entries[i]).q.clone();
                m.assign(&entries[i].d, call.mux(above, returns.mux(below, &entries[i].q)));
            }
            // Addresses are compared one cycle earlier, when nothing may change.
            let same = rig.past("same_before", &entries[0].q.eq(rig.port("target_i")));
            let steady = rig.past("steady", &!(&clear | &call | &ret));
            let right = count.q.any() & &same;
            m.assert_always("predicts_newest", !&steady | predicts.eq(right));
            let expected = rig.port("expected_o").eq(!count.q.any() | same);
            m.assert_always("expects_newest", !steady | expected);
        }
    }
    rig.finish()
}

/// The same without a list.
fn bounded_depth(config: &Config, max: u32) -> Component {
    let rig = Rig::new(&block(config, "te_return_stack"));
    let depth = rig.port("depth_o");
    let fits = depth.le(num(&depth, max));
    rig.m.assert_always("no_more_than_fit", fits);
    rig.m.assert_always("predicts_if_called", !rig.port("predicts_o") | depth.any());
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let mut proofs = Vec::new();
    let stack = |size| {
        let mut config = tiny();
        config.etrace.return_stack_size_p = size;
        config
    };
    let rig = remembers(&stack(1), 2);
    let mut proof = Proof::any_run("return_stack_2", &rig, 9);
    for port in
        ["clear_i", "call_i", "ret_i", "link_i", "target_i", "depth_o", "some_o", "predicts_o"]
    {
        proof = proof.refuted_without(port);
    }
    proofs.push(proof);
    proofs.push(
        Proof::any_run("return_stack_16", &bounded_depth(&stack(4), 16), 4)
            .refuted_without("depth_o")
            .refuted_without("predicts_o"),
    );
    let mut counter = tiny();
    counter.etrace.call_counter_size_p = 2;
    proofs.push(
        Proof::any_run("call_counter_3", &remembers(&counter, 3), 10)
            .refuted_without("clear_i")
            .refuted_without("call_i")
            .refuted_without("predicts_o"),
    );
    proofs
}
