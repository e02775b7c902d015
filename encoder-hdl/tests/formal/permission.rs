//! What a hart does at a level that may not be traced changes nothing that leaves the encoder, at no time.
//!
//! Two encoders run side by side. Both have the same controls, level and permission, and see the same hart while its
//! level may be traced; at other levels each sees a hart that does anything. All of their outputs and all groups
//! that leave their queues are equal, in any run.

use crate::blocks::{block, tiny};
use crate::front::{groups_as_requests, requests_as_payloads};
use hartrace_encoder_hdl::{Config, Overflow, ResyncUnit};
use hartrace_etrace::Params;
use hartrace_hdl_tools::prove::{Proof, Rig};
use hartrace_rtl::{Component, Direction, Expr, Module};

/// Inputs of an encoder that a hart drives, but for its level, its permission and `drained_i`.
const OF_HART: [&str; 14] = [
    "itype_i",
    "iaddr_i",
    "iretire_i",
    "ilastsize_i",
    "sijump_i",
    "cause_i",
    "tval_i",
    "context_i",
    "ctype_i",
    "time_i",
    "trigger_i",
    "halted_i",
    "reset_i",
    "lost_i",
];

/// The copies of the encoder.
const COPIES: [&str; 2] = ["first", "second"];

/// Two encoders that share all inputs but those of their harts, and those too while the level of the hart may be traced.
fn pair(core: &Component) -> Component {
    let m = Module::new("te_pair", "").clocked();
    let ports = core.ports().iter().filter(|port| port.name != "clk_i" && port.name != "rst_ni");
    let (inputs, outputs): (Vec<_>, Vec<_>) =
        ports.partition(|port| port.direction == Direction::Input);
    let first: Vec<(&str, Expr)> = inputs
        .iter()
        .map(|port| (port.name.as_str(), m.input(&port.name, port.width, "")))
        .collect();
    let of = |wanted: &str| {
        let found = first.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, signal)| signal.clone()).expect("an input of every such encoder")
    };
    let allowed = m.let_("allowed", of("allow_i").bit_at(of("priv_i")));
    let second = first.iter().map(|(name, signal)| {
        if !OF_HART.contains(name) {
            return (*name, signal.clone());
        }
        let other = m.input(&format!("other_{name}"), signal.width(), "");
        (*name, m.let_(&format!("second_{name}"), allowed.mux(signal, other)))
    });
    for (copy, inputs) in COPIES.into_iter().zip([first.clone(), second.collect()]) {
        let connections: Vec<(&str, &Expr)> =
            inputs.iter().map(|(name, signal)| (*name, signal)).collect();
        let results = m.inst(&format!("i_{copy}"), core, &connections);
        for port in &outputs {
            let output = m.output(&format!("{copy}_{}", port.name), port.width, "");
            m.assign(&output, &results[port.name.as_str()]);
        }
    }
    m.finish()
}

/// The two encoders are equal, from the groups that leave their queues to their outputs.
fn equal(config: &Config) -> Component {
    let core = block(config, "te_core");
    let rig = Rig::new(&pair(&core));
    let outputs = |of: &Component| {
        let ports = of.ports().to_vec().into_iter();
        ports.filter(|port| port.direction == Direction::Output)
    };
    for port in outputs(&core) {
        let [first, second] = COPIES.map(|copy| rig.port(&format!("{copy}_{}", port.name)));
        rig.m.assert_always(&format!("{}_is_equal", port.name), first.eq(second));
    }
    for port in outputs(&block(config, "te_group_queue")) {
        let name = format!("group_queue_{}", port.name.trim_end_matches("_o"));
        let [first, second] = COPIES.map(|copy| rig.inner(&format!("i_{copy}.{name}"), port.width));
        rig.m.assert_always(&format!("{name}_is_equal"), first.eq(second));
    }
    rig.finish()
}

/// Every signal that a hart can have, and every kind of filter.
fn rich() -> Config {
    Config {
        triggers: true,
        comparators: 1,
        context_comparators: 1,
        tval_comparators: 1,
        filter_excint_p: true,
        implicit_exception: true,
        resync: vec![ResyncUnit::Packets, ResyncUnit::Cycles, ResyncUnit::HalfWords],
        overflow: Overflow::Either,
        permission: true,
        etrace: Params {
            privilege_width_p: 3,
            context_width_p: 2,
            nocontext_p: false,
            time_width_p: 3,
            notime_p: false,
            sijump_p: true,
            return_stack_size_p: 1,
            ..tiny().etrace
        },
        ..tiny()
    }
}

/// The encoders, and what each of them may show of a hart that it must not.
fn proof(name: &str, config: &Config) -> Proof {
    Proof::any_run(name, &equal(config), 12)
        .starting_at_zero()
        .refuted_soon()
        // The input is not looked at.
        .refuted_by("forbidden = !(allow_i[priv_i])", "forbidden = 1'b0")
        // A mark takes the address of what retires with it.
        .refuted_by("shown_iaddr = {24{!forbidden}} & iaddr_i", "shown_iaddr = iaddr_i")
        .refuted_by("shown_lost = !forbidden & lost_i", "shown_lost = lost_i")
        .refuted_by("shown_halted = !forbidden & halted_i", "shown_halted = halted_i")
        // The trace is interrupted only when something retires.
        .refuted_by("gap = (forbidden & !was_forbidden_q)", "gap = (forbidden & (|iretire_i))")
}

pub(crate) fn proofs() -> Vec<Proof> {
    let plain = Config { permission: true, ..tiny() };
    let front = |name: &str, config: &Config| {
        proof(name, config).with(&groups_as_requests(config)).with(&requests_as_payloads(config))
    };
    let rich = rich();
    vec![
        front("permission_front", &plain),
        front("permission_front_rich", &rich)
            .refuted_by("shown_trigger = {3{!forbidden}} & trigger_i", "shown_trigger = trigger_i")
            .refuted_by("shown_tval = {24{!forbidden}} & tval_i", "shown_tval = tval_i")
            .refuted_by("shown_context = {2{!forbidden}} & context_i", "shown_context = context_i"),
        proof("permission_core", &plain),
        proof("permission_core_rich", &rich),
    ]
}
