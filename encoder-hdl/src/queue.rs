//! Groups that wait to be described.
//!
//! With a branch predictor, branches of the group after the head are looked up while it waits.

use crate::bundle::{Bundle, Wire, module_of_lanes};
use crate::config::Config;
use crate::ingress::any;
use crate::transport::fifo;
use crate::{group, tables};
use hartrace_rtl::{Component, Expr, Module, concat, lit, ones, zero};

/// Signals of the group after the head: its branches are looked up one per cycle.
pub(crate) fn ahead(config: &Config) -> Vec<Wire> {
    let n = config.n();
    vec![
        Wire::new("ahead_valid", 1, "there is another group"),
        Wire::new("ahead_branch", n, "its lanes that end in a branch that is not looked up"),
        Wire::new("ahead_taken", n, "those that are taken"),
        Wire::new("ahead_sure", 1, "it is traced, as what is before it"),
        Wire::new("ahead_index", indices(config), "where the predictor has them"),
    ]
}

/// Width of the predictor indices of the branches of all lanes.
fn indices(config: &Config) -> u32 {
    config.n() * u32::from(config.etrace.bpred_size_p)
}

/// The results of the lookup.
pub(crate) fn learnt(config: &Config) -> Vec<Wire> {
    let n = config.n();
    vec![
        Wire::new("looks", n, "a branch of the group ahead is looked up"),
        Wire::new("looks_right", 1, "it is predicted"),
        Wire::new("looks_on", 1, "there is another one to look up: the group has to wait"),
    ]
}

/// Steps of the head that are done.
pub(crate) fn done(config: &Config) -> Vec<Wire> {
    let n = config.n();
    vec![
        Wire::new("done_first", n, "the first steps of these lanes are done with"),
        Wire::new("done_last", n, "the last steps of these lanes are"),
        Wire::new("done_trap", 1, "the trap is"),
    ]
}

/// The results of the lookup for branches of the head.
pub(crate) fn looked(config: &Config) -> Vec<Wire> {
    let n = config.n();
    vec![
        Wire::new("looked", n, "the branch has been looked up"),
        Wire::new("right", n, "and was predicted"),
    ]
}

/// The module `te_group_queue`.
///
/// Signals that decisions depend on are in registers, so that decisions start early in a cycle.
/// Signals that are only passed on are read from the memory, so they need no registers with late
/// enables.
pub(crate) fn build(config: &Config) -> Component {
    let m = module_of_lanes(
        config,
        "te_group_queue",
        "Groups wait here. There is room: whoever sends one has counted.",
    );
    let valid = m.input("valid_i", 1, "");
    let wires = group::wires(config);
    let from = Bundle::inputs(&m, &wires);
    let valid_o = m.output("valid_o", 1, "");
    let ready = m.input("ready_i", 1, "all steps of the group have been taken");
    let hungry = config.packs().then(|| m.output("hungry_o", 1, "at most one group waits"));
    let to = Bundle::outputs(&m, &wires);
    let depth = config.ingress_depth.into();
    let (passed, decided): (Vec<Wire>, Vec<Wire>) =
        wires.into_iter().partition(|wire| group::is_passed_on(wire.name));

    m.section("What decisions depend on, a group ahead.");
    let held = m.reg("valid", false);
    let looks = config.predicts().then(|| Bundle::inputs(&m, &learnt(config)));
    let mut next = !&held.q | &ready;
    if let Some(looks) = &looks {
        next = next & !&looks["looks_on"];
    }
    let next = m.let_("next", next);
    let mut word = side_by_side(&decided, &from);
    if config.predicts() {
        word = concat(&[&predictor_index(config, &from["last"]), &word]);
    }
    // If branches are looked up, the group after the head is in registers too: reading one memory
    // at an address that was read from another takes long.
    let waits = looks.is_some().then(|| m.reg("ahead_valid", false));
    let moves = waits.as_ref().map_or_else(|| next.clone(), |waits| !&waits.q | &next);
    let ahead = m.inst(
        "i_decisions",
        &fifo(word.width(), depth),
        &[("valid_i", &valid), ("data_i", &word), ("ready_i", &moves)],
    );
    let (follows, word) = match &waits {
        Some(waits) => {
            m.assign(&waits.d, moves.mux(&ahead["valid_o"], lit(1, 1)));
            let word = m.reg_data("ahead_word", word.width(), &moves);
            m.assign(&word.d, &ahead["data_o"]);
            (waits.q.clone(), word.q)
        }
        None => (ahead["valid_o"].clone(), ahead["data_o"].clone()),
    };
    // A head that is done may leave before the next group arrives.
    let stays = if looks.is_some() { &held.q & !&ready } else { held.q.clone() };
    m.assign(&held.d, next.mux(&follows, stays));
    m.assign(&valid_o, &held.q);
    let done = Bundle::inputs(&m, &done(config));
    let fields = split(&decided, &word);
    for wire in &decided {
        // Steps that are left are known at once, without asking for more.
        let left = match wire.name {
            "retires" => Some((fields["retires"].clone(), !&done["done_last"])),
            "two" => Some((&fields["two"] & &fields["retires"], !&done["done_first"])),
            "trap" => Some((fields["trap"].clone(), !&done["done_trap"])),
            "mark" => Some((fields["mark"].clone(), ready.not().gate(ones(wire.width)))),
            _ => None,
        };
        let reg = match left {
            Some((comes, keeps)) => {
                let reg = m.reg(wire.name, zero(wire.width));
                m.assign(&reg.d, next.mux(follows.gate(comes), &reg.q & keeps));
                reg
            }
            None => {
                let reg = m.reg_data(wire.name, wire.width, &next);
                m.assign(&reg.d, &fields[wire.name]);
                reg
            }
        };
        m.assign(&to[wire.name], &reg.q);
    }

    if let Some(looks) = &looks {
        let index = word.slice(word.width() - indices(config), indices(config));
        look_ahead(&m, config, &follows, (&fields, &index), &next, looks);
    }

    m.section("What is passed on.");
    let word = side_by_side(&passed, &from);
    let rest = m.inst(
        "i_addresses",
        &fifo(word.width(), depth),
        &[("valid_i", &valid), ("data_i", &word), ("ready_i", &(&held.q & &ready))],
    );
    let fields = split(&passed, &rest["data_o"]);
    for wire in &passed {
        m.assign(&to[wire.name], &fields[wire.name]);
    }
    match &hungry {
        Some(hungry) => m.assign(hungry, ahead["usage_o"].le(lit(ahead["usage_o"].width(), 1))),
        None => m.unused(&ahead["usage_o"]),
    }
    m.unused(&rest["usage_o"]);
    for (fifo, name) in [(&ahead, "decisions_fit"), (&rest, "addresses_fit")] {
        m.unused(&fifo["full_o"]);
        m.assert_always(name, !&valid | &fifo["ready_o"]);
    }
    m.assert_always("together", !&held.q | &rest["valid_o"]);
    m.finish()
}

/// The predictor indices of the last instructions of the lanes.
fn predictor_index(config: &Config, last: &Expr) -> Expr {
    let aw = config.address();
    let lanes =
        (0..config.n()).rev().map(|i| tables::predictor_index(config, &last.slice(i * aw, aw)));
    concat(&lanes.collect::<Vec<_>>().iter().collect::<Vec<_>>())
}

/// Outputs the group after the head, and stores the results of the lookup.
fn look_ahead(
    m: &Module,
    config: &Config,
    valid: &Expr,
    (fields, index): (&Bundle, &Expr),
    next: &Expr,
    looks: &Bundle,
) {
    m.section("Branches of the group behind the head are looked up.");
    let n = config.n();
    let out = Bundle::outputs(m, &ahead(config));
    let known = Bundle::outputs(m, &looked(config));
    let seen = m.reg("ahead_looked", zero(n));
    let branches = (&fields["taken"] | &fields["not_taken"]) & &fields["qualified"];
    m.assign(&out["ahead_valid"], valid);
    m.assign(&out["ahead_branch"], branches & !&seen.q);
    m.assign(&out["ahead_taken"], &fields["taken"]);
    let changes = ["privilege_changes", "context_changes"].into_iter();
    let changes = any(changes.filter_map(|name| fields.get(name)));
    let untraced = (&fields["retires"] & !&fields["qualified"]).any();
    m.assign(&out["ahead_sure"], !changes & !untraced);
    m.assign(&out["ahead_index"], index);
    let right = m.reg("ahead_right", zero(n));
    let sums = [
        ("looked", &seen, looks["looks"].clone()),
        ("right", &right, looks["looks_right"].gate(&looks["looks"])),
    ];
    for (name, reg, now) in sums {
        let sum = m.let_(&format!("{name}_now"), &reg.q | now);
        m.assign(&reg.d, (!next).gate(&sum));
        let head = m.reg_data(name, n, next);
        m.assign(&head.d, sum);
        m.assign(&known[name], &head.q);
    }
}

/// Splits a word into its fields.
fn split(wires: &[Wire], word: &Expr) -> Bundle {
    let mut at = 0;
    let fields = wires.iter().map(|wire| {
        let from = at;
        at += wire.width;
        (wire.name, word.slice(from, wire.width))
    });
    Bundle::of(fields.collect::<Vec<_>>())
}

fn side_by_side(wires: &[Wire], from: &Bundle) -> Expr {
    concat(&wires.iter().rev().map(|wire| &from[wire.name]).collect::<Vec<_>>())
}
