//! What a hart commits at a level that may not be traced changes no output of the connector, at no time.
//!
//! Two connectors run side by side. Both have the same level and permission, and see the same hart while its level may be
//! traced; at other levels each sees a hart that does anything.

use crate::config;
use hartrace_cva6_connector::{Building, Config, connector};
use hartrace_hdl_tools::prove::{Proof, Rig};
use hartrace_rtl::{Component, Direction, Expr, Module, ones};

/// Inputs that are the same at any level: those of the encoder and the level itself.
const SHARED: [&str; 5] = ["priv_i", "allow_i", "flush_i", "enable_i", "stall_i"];

/// The copies of the connector.
const COPIES: [&str; 2] = ["first", "second"];

/// Two connectors side by side that share all inputs but those of their harts, and those too while the level of the hart may
/// be traced.
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

/// While every level may be traced, a connector with permission is one without.
fn given(config: &Config) -> Component {
    let with = connector(config).expect("a legal configuration");
    let plain = Config { permission: false, ..config.clone() };
    let plain = connector(&plain).expect("a legal configuration").prefixed("plain_");
    let m = Module::new("te_connectors", "").clocked();
    let ports = with.ports().iter();
    let ports = ports.filter(|port| port.name != "clk_i" && port.name != "rst_ni");
    let (inputs, outputs): (Vec<_>, Vec<_>) =
        ports.partition(|port| port.direction == Direction::Input);
    let inputs: Vec<(&str, Expr)> = inputs
        .iter()
        .map(|port| match port.name.as_str() {
            "allow_i" => ("allow_i", ones(port.width)),
            name => (name, m.input(name, port.width, "")),
        })
        .collect();
    for (copy, connector) in COPIES.into_iter().zip([&with, &plain]) {
        let connections: Vec<(&str, &Expr)> = inputs
            .iter()
            .filter(|(name, _)| connector.ports().iter().any(|port| port.name == *name))
            .map(|(name, signal)| (*name, signal))
            .collect();
        let results = m.inst(&format!("i_{copy}"), connector, &connections);
        for port in &outputs {
            let output = m.output(&format!("{copy}_{}", port.name), port.width, "");
            m.assign(&output, &results[port.name.as_str()]);
        }
    }
    let rig = Rig::new(&m.finish());
    for port in outputs {
        let [first, second] = COPIES.map(|copy| rig.port(&format!("{copy}_{}", port.name)));
        rig.m.assert_always(&format!("{}_is_equal", port.name), first.eq(second));
    }
    rig.finish()
}

/// While permission stays as it is, and until tracing ends, a loss is told at a level that may be traced: the encoder does
/// not see it at others. When tracing ends, nothing waits for such a level.
fn told_where_seen(config: &Config) -> Component {
    let rig = Rig::new(&connector(config).expect("a legal configuration"));
    let allow = rig.port("allow_i");
    let started = rig.count("started", 1, |_| ones(1));
    let same = allow.eq(rig.past("allow_before", &allow));
    rig.m.assume_always("allow_constant", !started | same);
    let ended = rig.count("ended", 1, |ended| ended | !rig.port("enable_i"));
    let seen = allow.bit_at(rig.port("priv_o"));
    rig.m.assert_always("loss_is_seen", !rig.port("lost_o") | seen | ended);
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let of = |(building, lanes, holds): (Building, u8, bool)| Config {
        permission: true,
        sijump: true,
        context_width_p: 2,
        holds,
        ..config(building, lanes)
    };
    let proof = |(building, lanes, holds): (Building, u8, bool)| {
        let config = of((building, lanes, holds));
        let kind = if holds { "" } else { "_drops" };
        let name = format!("{building:?}_{lanes}{kind}_permission").to_lowercase();
        Proof::any_run(&name, &equal(&config), 9)
            .starting_at_zero()
            .refuted_soon()
            .refuted_by("forbidden = !(allow_i[priv_i])", "forbidden = 1'b0")
            .refuted_by("shown_trap = !forbidden & trap_i", "shown_trap = trap_i")
            .refuted_by("shown_context = {2{!forbidden}} & context_i", "shown_context = context_i")
    };
    let same = |(building, lanes, holds): (Building, u8, bool)| {
        let name = format!("{building:?}_{lanes}_permission_given").to_lowercase();
        Proof::any_run(&name, &given(&of((building, lanes, holds))), 9)
            .starting_at_zero()
            .refuted_soon()
            .refuted_by("shown_lost = !forbidden & lost_i", "shown_lost = 1'b0")
            .refuted_by("| forbidden)", "| 1'b1)")
    };
    let given = [(Building::Direct, 2, true), (Building::Serialised, 2, false)].map(same);
    let told = |(building, lanes, holds): (Building, u8, bool), mistake| {
        let name = format!("{building:?}_{lanes}_permission_loss").to_lowercase();
        Proof::bounded(&name, &told_where_seen(&of((building, lanes, holds))), 10)
            .refuted_by("forbidden = !(allow_i[priv_i])", "forbidden = 1'b0")
            .refuted_by(mistake, "1'b1")
    };
    let told = [
        told((Building::Direct, 2, true), "!forbidden & lost_i"),
        told((Building::Serialised, 2, false), "(loses | missed_q) & !hides_loss"),
    ];
    let proofs = [
        (Building::Direct, 1, true),
        (Building::Direct, 2, true),
        (Building::Serialised, 2, true),
        (Building::Serialised, 2, false),
    ]
    .map(proof);
    proofs.into_iter().chain(given).chain(told).collect()
}
