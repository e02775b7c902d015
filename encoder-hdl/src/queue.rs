//! Groups that wait to be described.

use crate::bundle::{Bundle, Wire};
use crate::config::Config;
use crate::group;
use hartrace_rtl::{Component, Expr, Module, concat};
use hartrace_transport_hdl::fifo;

/// The module `te_group_queue`.
///
/// What decisions depend on is in registers, so that they start early in a cycle. What is only passed on is
/// read from the memory, so that it needs no registers, and none of them an enable that comes late.
pub(crate) fn build(config: &Config) -> Component {
    let m = Module::new(
        "te_group_queue",
        "Groups wait here. There is room: whoever sends one has counted.",
    )
    .clocked();
    let valid = m.input("valid_i", 1, "");
    let wires = group::wires(config);
    let from = Bundle::inputs(&m, &wires);
    let valid_o = m.output("valid_o", 1, "");
    let ready = m.input("ready_i", 1, "all steps of the group have been taken");
    let to = Bundle::outputs(&m, &wires);
    let depth = config.ingress_depth.into();
    let (passed, decided): (Vec<Wire>, Vec<Wire>) =
        wires.into_iter().partition(|wire| group::is_passed_on(wire.name));

    m.section("What decisions depend on, a group ahead.");
    let held = m.reg("valid", false);
    let next = m.let_("next", !&held.q | &ready);
    let word = side_by_side(&decided, &from);
    let ahead = m.inst(
        "i_decisions",
        &fifo(word.width(), depth),
        &[("valid_i", &valid), ("data_i", &word), ("ready_i", &next)],
    );
    m.assign(&held.d, next.mux(&ahead["valid_o"], &held.q));
    m.assign(&valid_o, &held.q);
    let mut at = 0;
    for wire in &decided {
        let reg = m.reg_data(wire.name, wire.width, &next);
        m.assign(&reg.d, ahead["data_o"].slice(at, wire.width));
        m.assign(&to[wire.name], &reg.q);
        at += wire.width;
    }

    m.section("What is passed on.");
    let word = side_by_side(&passed, &from);
    let rest = m.inst(
        "i_addresses",
        &fifo(word.width(), depth),
        &[("valid_i", &valid), ("data_i", &word), ("ready_i", &(&held.q & &ready))],
    );
    let mut at = 0;
    for wire in &passed {
        m.assign(&to[wire.name], rest["data_o"].slice(at, wire.width));
        at += wire.width;
    }
    for (fifo, name) in [(&ahead, "decisions_fit"), (&rest, "addresses_fit")] {
        m.unused(&fifo["usage_o"]);
        m.unused(&fifo["full_o"]);
        m.assert_always(name, !&valid | &fifo["ready_o"]);
    }
    m.assert_always("together", !&held.q | &rest["valid_o"]);
    m.finish()
}

fn side_by_side(wires: &[Wire], from: &Bundle) -> Expr {
    concat(&wires.iter().rev().map(|wire| &from[wire.name]).collect::<Vec<_>>())
}
