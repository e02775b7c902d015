//! What a hart commits at a level that may not be traced changes no output of the connector, at no time.
//!
//! Two connectors run side by side. Both have the same level and permission, and see the same hart while its level may be
//! traced; at other levels each sees a hart that does anything.

use crate::config;
use hartrace_cva6_connector::{Building, Config, connector};
use hartrace_hdl_tools::prove::{Proof, Rig};
use hartrace_rtl::{Component, Direction, Expr, Module};

/// Inputs that are the same at any level: those of the encoder and the level itself.
const SHARED: [&str; 5] = ["priv_i", "allow_i", "flush_i", "enable_i", "stall_i"];

/// The copies of the connector.
const COPIES: [&str; 2] = ["first", "second"];

fn pair(connector: &Component) -> Component {
    let m = Module::new("te_connectors", "").clocked();
    let ports = connector.ports().iter();
    let ports = ports.filter(|port| port.name != "clk_i" && port.name != "rst_ni");
    let (inputs, outputs): (Vec<_>, Vec<_>) =
        ports.partition(|port| port.direction == Direction::Input);
    let first: Vec<(&str, Expr)> = inputs
        .iter()
        .map(|port| (port.name.as_str(), m.input(&port.name, port.width, "")))
        .collect();
    let of = |wanted: &str| {
        let found = first.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, signal)| signal.clone()).expect("an input of every such connector")
    };
    let allowed = m.let_("allowed", of("allow_i").bit_at(of("priv_i")));
    let second = first.iter().map(|(name, signal)| {
        if SHARED.contains(name) {
            return (*name, signal.clone());
        }
        let other = m.input(&format!("other_{name}"), signal.width(), "");
        (*name, m.let_(&format!("second_{name}"), allowed.mux(signal, other)))
    });
    for (copy, inputs) in COPIES.into_iter().zip([first.clone(), second.collect()]) {
        let connections: Vec<(&str, &Expr)> =
            inputs.iter().map(|(name, signal)| (*name, signal)).collect();
        let results = m.inst(&format!("i_{copy}"), connector, &connections);
        for port in &outputs {
            let output = m.output(&format!("{copy}_{}", port.name), port.width, "");
            m.assign(&output, &results[port.name.as_str()]);
        }
    }
    m.finish()
}

fn equal(config: &Config) -> Component {
    let connector = connector(config).expect("a legal configuration");
    let rig = Rig::new(&pair(&connector));
    for port in connector.ports().iter().filter(|port| port.direction == Direction::Output) {
        let [first, second] = COPIES.map(|copy| rig.port(&format!("{copy}_{}", port.name)));
        rig.m.assert_always(&format!("{}_is_equal", port.name), first.eq(second));
    }
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let proof = |(building, lanes, holds): (Building, u8, bool)| {
        let config = Config {
            permission: true,
            sijump: true,
            context_width_p: 2,
            holds,
            ..config(building, lanes)
        };
        let kind = if holds { "" } else { "_drops" };
        let name = format!("{building:?}_{lanes}{kind}_permission").to_lowercase();
        Proof::any_run(&name, &equal(&config), 9)
            .starting_at_zero()
            .refuted_soon()
            .refuted_by("forbidden = !(allow_i[priv_i])", "forbidden = 1'b0")
            .refuted_by("shown_trap = !forbidden & trap_i", "shown_trap = trap_i")
            .refuted_by("shown_context = {2{!forbidden}} & context_i", "shown_context = context_i")
    };
    [
        (Building::Direct, 1, true),
        (Building::Direct, 2, true),
        (Building::Serialised, 2, true),
        (Building::Serialised, 2, false),
    ]
    .map(proof)
    .into()
}
