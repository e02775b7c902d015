//! Groups that wait to be described.
//!
//! With a branch predictor, branches of the group after the head are looked up while it waits.

use crate::config::Config;
use crate::group::{Decided, Group};
use crate::ingress::any;
use crate::lanes::module_of_lanes;
use crate::tables;
use crate::transport::{FifoOut, fifo};
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, lit, ones, zero};

bundle! {
    /// Signals of the group after the head: its branches are looked up one per cycle.
    pub(crate) struct Ahead { ahead_valid, ahead_branch, ahead_taken, ahead_sure, ahead_index }
}

impl Ahead<Wire> {
    pub(crate) fn new(config: &Config) -> Self {
        let n = config.n();
        Self {
            ahead_valid: Wire::new(1, "there is another group"),
            ahead_branch: Wire::new(n, "its lanes that end in a branch that is not looked up"),
            ahead_taken: Wire::new(n, "those that are taken"),
            ahead_sure: Wire::new(1, "it is traced, as what is before it"),
            ahead_index: Wire::new(indices(config), "where the predictor has them"),
        }
    }
}

/// Width of the predictor indices of the branches of all lanes.
fn indices(config: &Config) -> u32 {
    config.n() * u32::from(config.etrace.bpred_size_p)
}

bundle! {
    /// The results of the lookup.
    pub(crate) struct Learnt { looks, looks_right, looks_on }
}

impl Learnt<Wire> {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            looks: Wire::new(config.n(), "a branch of the group ahead is looked up"),
            looks_right: Wire::new(1, "it is predicted"),
            looks_on: Wire::new(1, "there is another one to look up: the group has to wait"),
        }
    }
}

bundle! {
    /// Steps of the head that are done.
    pub(crate) struct Done { done_first, done_last, done_trap }
}

impl Done<Wire> {
    pub(crate) fn new(config: &Config) -> Self {
        let n = config.n();
        Self {
            done_first: Wire::new(n, "the first steps of these lanes are done with"),
            done_last: Wire::new(n, "the last steps of these lanes are"),
            done_trap: Wire::new(1, "the trap is"),
        }
    }
}

bundle! {
    /// The results of the lookup for branches of the head.
    pub(crate) struct Looked { looked, right }
}

impl Looked<Wire> {
    pub(crate) fn new(config: &Config) -> Self {
        let n = config.n();
        Self {
            looked: Wire::new(n, "the branch has been looked up"),
            right: Wire::new(n, "and was predicted"),
        }
    }
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
    let wires = Group::new(config);
    let from = wires.inputs(&m);
    let valid_o = m.output("valid_o", 1, "");
    let ready = m.input("ready_i", 1, "all steps of the group have been taken");
    let hungry = config.packs().then(|| m.output("hungry_o", 1, "at most one group waits"));
    let to = wires.outputs(&m);
    let depth = config.ingress_depth.into();
    let ((decided, passed), (decided_from, passed_from)) = (wires.parts(), from.parts());
    let (decided_to, passed_to) = to.parts();

    m.section("What decisions depend on, a group ahead.");
    let held = m.reg("valid", false);
    let looks = config.predicts().then(|| Learnt::new(config).inputs(&m));
    let mut next = !&held.q | &ready;
    if let Some(looks) = &looks {
        next = next & !&looks.looks_on;
    }
    let next = m.let_("next", next);
    let mut word = decided_from.join();
    if config.predicts() {
        word = concat(&[&predictor_index(config, &from.last), &word]);
    }
    // If branches are looked up, the group after the head is in registers too: reading one memory
    // at an address that was read from another takes long.
    let waits = looks.is_some().then(|| m.reg("ahead_valid", false));
    let moves = waits.as_ref().map_or_else(|| next.clone(), |waits| !&waits.q | &next);
    let ahead = FifoOut::of(&m.inst(
        "i_decisions",
        &fifo(word.width(), depth),
        &[("valid_i", &valid), ("data_i", &word), ("ready_i", &moves)],
    ));
    let (follows, word) = match &waits {
        Some(waits) => {
            m.assign(&waits.d, moves.mux(&ahead.valid, lit(1, 1)));
            let word = m.reg_data("ahead_word", word.width(), &moves);
            m.assign(&word.d, &ahead.data);
            (waits.q.clone(), word.q)
        }
        None => (ahead.valid.clone(), ahead.data.clone()),
    };
    // A head that is done may leave before the next group arrives.
    let stays = if looks.is_some() { &held.q & !&ready } else { held.q.clone() };
    m.assign(&held.d, next.mux(&follows, stays));
    m.assign(&valid_o, &held.q);
    let done = Done::new(config).inputs(&m);
    let fields = decided.split(&word.trunc(decided.width()));
    // Steps that are left are known at once, without asking for more.
    let mut left: Decided<Option<(Expr, Expr)>> = decided.map(|_, _| None);
    left.retires = Some((fields.retires.clone(), !&done.done_last));
    left.two = Some((&fields.two & &fields.retires, !&done.done_first));
    left.trap = Some((fields.trap.clone(), !&done.done_trap));
    left.mark = Some((fields.mark.clone(), ready.not().gate(ones(fields.mark.width()))));
    decided_to.zip(&fields.zip(&left)).map(|name, (to, (field, left))| {
        let reg = match left {
            Some((comes, keeps)) => {
                let reg = m.reg(name, zero(field.width()));
                m.assign(&reg.d, next.mux(follows.gate(comes), &reg.q & keeps));
                reg
            }
            None => {
                let reg = m.reg_data(name, field.width(), &next);
                m.assign(&reg.d, *field);
                reg
            }
        };
        m.assign(to, &reg.q);
    });

    if let Some(looks) = &looks {
        let index = word.slice(word.width() - indices(config), indices(config));
        look_ahead(&m, config, &follows, (&fields, &index), &next, looks);
    }

    m.section("What is passed on.");
    let word = passed_from.join();
    let rest = FifoOut::of(&m.inst(
        "i_addresses",
        &fifo(word.width(), depth),
        &[("valid_i", &valid), ("data_i", &word), ("ready_i", &(&held.q & &ready))],
    ));
    passed_to.assign(&m, &passed.split(&rest.data));
    match &hungry {
        Some(hungry) => m.assign(hungry, ahead.usage.le(lit(ahead.usage.width(), 1))),
        None => m.unused(&ahead.usage),
    }
    m.unused(&rest.usage);
    for (fifo, name) in [(&ahead, "decisions_fit"), (&rest, "addresses_fit")] {
        m.unused(&fifo.full);
        m.assert_always(name, !&valid | &fifo.ready);
    }
    m.assert_always("together", !&held.q | &rest.valid);
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
    (fields, index): (&Decided, &Expr),
    next: &Expr,
    looks: &Learnt,
) {
    m.section("Branches of the group behind the head are looked up.");
    let n = config.n();
    let out = Ahead::new(config).outputs(m);
    let known = Looked::new(config).outputs(m);
    let seen = m.reg("ahead_looked", zero(n));
    let branches = (&fields.taken | &fields.not_taken) & &fields.qualified;
    m.assign(&out.ahead_valid, valid);
    m.assign(&out.ahead_branch, branches & !&seen.q);
    m.assign(&out.ahead_taken, &fields.taken);
    let changes = [Some(&fields.privilege_changes), fields.context_changes.as_ref()];
    let changes = any(changes.into_iter().flatten());
    let untraced = (&fields.retires & !&fields.qualified).any();
    m.assign(&out.ahead_sure, !changes & !untraced);
    m.assign(&out.ahead_index, index);
    let right = m.reg("ahead_right", zero(n));
    let sums = Looked {
        looked: (&seen, looks.looks.clone()),
        right: (&right, looks.looks_right.gate(&looks.looks)),
    };
    known.zip(&sums).map(|name, (known, (reg, now))| {
        let sum = m.let_(&format!("{name}_now"), &reg.q | now);
        m.assign(&reg.d, (!next).gate(&sum));
        let head = m.reg_data(name, n, next);
        m.assign(&head.d, sum);
        m.assign(known, &head.q);
    });
}
