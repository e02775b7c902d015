//! Decides what is reported.
//!
//! Steps are the first and the last instruction of each lane, the trap and the mark of a group. A step is
//! described once the step behind it is known; the last one waits in the registers `pending_*`. In one
//! cycle the pending step and, behind it, steps of the lanes are described in order, as long as nothing
//! more than one packet comes of it. Most steps are *quiet*, that is nothing comes of them, or *easy*: a
//! report of a jump's target or of a full branch map. Everything else is *hard*: it is only described
//! when it is the pending step, alone in its cycle, and may take several cycles, a packet each.

mod ahead;
mod chart;
mod lanes;
mod pending;
mod plan;
mod sequence;

use crate::bundle::Bundle;
use crate::config::{Config, ResyncUnit};
use crate::group::{self, mark};
use crate::{branch_map, queue, request, resync, returns, tables};
use ahead::Ahead;
use chart::Chart;
use hartrace_rtl::{Component, Expr, Module, Outputs, concat, lit, zero};
use lanes::Lanes;
use pending::{Pending, Previous};
use plan::Plan;
use sequence::Sequence;

/// Everything the parts of the module share.
struct Context<'a> {
    config: &'a Config,
    m: &'a Module,
    group: Bundle,
    group_valid: Expr,
    /// The emitter takes a request.
    can: Expr,
    modes: Modes,
    resync_mode: Expr,
    /// A hard step is being described.
    busy: Expr,
    /// No target is on its way through the emitter, and the last one was sent as an index.
    settled: Option<(Expr, Expr)>,
}

/// Modes that are on; those that are not there are off.
struct Modes {
    returns: Expr,
    sijump: Expr,
    predicts: Expr,
    caches: Expr,
}

/// The module `te_priority`.
pub(crate) fn build(config: &Config) -> Component {
    let m = Module::new(
        "te_priority",
        "Decides which packets are sent, in the order of the flow chart of E-Trace 2.0, chapter 9.",
    )
    .clocked();
    let group_valid = m.input("valid_i", 1, "there is a group");
    let group_ready = m.output("ready_o", 1, "all its steps have been taken");
    let mut wires = group::wires(config);
    if config.predicts() {
        wires.extend(queue::looked(config));
    }
    let group = Bundle::inputs(&m, &wires);
    let mode = |name: &str, has: bool, doc: &str| match has {
        true => m.input(name, 1, doc),
        false => zero(1),
    };
    let modes = Modes {
        returns: mode("implicit_return_i", config.returns(), "the mode is on"),
        sijump: mode("sequential_jump_i", config.etrace.sijump_p, "the mode is on"),
        predicts: mode("branch_prediction_i", config.predicts(), "the mode is on"),
        caches: mode("jump_target_cache_i", config.caches(), "the mode is on"),
    };
    let resync_mode = m.input("resync_mode_i", 2, "0 never, 1 packets, 2 cycles, 3 half-words");
    let resync_max = m.input("resync_max_i", 4, "");
    let valid = m.output("valid_o", 1, "there is a request");
    let can = m.input("ready_i", 1, "it is taken");
    let out = Bundle::outputs(&m, &request::wires(config));
    let settled = config.caches().then(|| {
        let settled = m.input("settled_i", 1, "no target is on its way");
        (settled, m.input("indexed_i", 1, "the last target was sent as an index"))
    });
    let planned = m.reg("planned", false);
    let busy = planned.q.clone();
    let cx = Context { config, m: &m, group, group_valid, can, modes, resync_mode, busy, settled };

    let ahead = Ahead::declare(&cx);
    let pending = Pending::declare(&cx);
    let previous = Previous::declare(&cx);
    let lanes = Lanes::new(&cx);

    m.section("What is counted and remembered.");
    let wire = |name: &str, width| m.wire(name, width);
    let n = config.n();
    let map_inputs = [
        ("branch_i", wire("branches_there", n)),
        ("push_i", wire("push", n)),
        ("not_taken_i", wire("not_taken", n)),
        ("cut_i", wire("cut", n)),
        ("moves_i", wire("moves_map", 1)),
        ("flush_i", wire("flush", 1)),
    ];
    let mut map_ports: Vec<(&str, &Expr)> = map_inputs.iter().map(|(p, e)| (*p, e)).collect();
    let predicted = config.predicts().then(|| wire("predicted", n));
    if let Some(predicted) = &predicted {
        map_ports.push(("predicting_i", &cx.modes.predicts));
        map_ports.push(("predicted_i", predicted));
    }
    let map = m.inst("i_branch_map", &branch_map::build(config), &map_ports);
    let tables = Tables::new(&cx, &pending);
    let counter = Counter::new(&cx, &cx.resync_mode, &resync_max);

    let next = lanes.next_of_pending(&cx, &pending);
    let state = State {
        due: &counter.due,
        near: &counter.near,
        known: &counter.known,
        some_branches: &map["some_o"],
        fills: &map["must_o"].bit(0),
        spent: config.predicts().then(|| &map["spent_o"]),
        limit: config.predicts().then(|| &map["limit_o"]),
        exhausted: config.predicts().then(|| &map["exhausted_o"]),
        tables: &tables,
    };
    let (chart, decision) = Chart::new(&cx, &pending, &previous, &next, &state);
    m.section("What has been decided about a hard step.");
    let plan = Plan::new(&m, planned, &chart.decides, &decision);
    if let Some(predicted) = &predicted {
        let mut slots: Vec<Expr> = (0..n - 1).rev().map(|i| cx.group["right"].bit(i)).collect();
        slots.push(pending.right());
        m.assign(predicted, concat(&slots.iter().collect::<Vec<_>>()));
    }
    let sequence = Sequence::new(&cx, &previous, (&chart, &decision, &plan), &state, &next);

    let walk = lanes.walk(&cx, &chart, &plan, &map["must_o"], state.limit);
    let goes = m.let_("goes", &next.exists & (&chart.skip | &chart.simple));
    let simple = m.let_("take_simple", &goes & (!&chart.fires | &cx.can));
    let take = m.let_("take", &simple | &sequence.commits);

    m.section("The request.");
    m.assign(&valid, (&goes & (&chart.fires | &walk.wants)) | &sequence.emits);
    let accepted = m.let_("accepted", &valid & &cx.can);
    let jumped = (&chart.fires & &previous.updiscon.q) | &walk.at_target;
    let jumped = m.let_("jumped", jumped);
    let hard = &plan.valid.q;
    let report = m.let_("report", hard.mux(&sequence.report, &jumped));
    let map_only = m.let_("map_only", hard.mux(&sequence.map_only, !&jumped));
    let start = m.let_("start", hard & &sequence.start);
    let trap = m.let_("trap", hard & &sequence.trap);
    m.assign(&out["report"], &report);
    m.assign(&out["map_only"], &map_only);
    m.assign(&out["start"], &start);
    m.assign(&out["trap"], &trap);
    if let Some(to) = out.get("context_only") {
        m.assign(to, hard & &sequence.context);
    }
    m.assign(&out["support"], hard & &sequence.support);
    let own = tables.mark_address(&sequence.marks, &pending.address.q);
    m.assign(&out["address"], walk.address(&cx, &pending, &sequence.marks, &own));
    m.assign(&out["branch"], !&pending.taken.q);
    m.assign(&out["privilege"], &pending.privilege.q);
    if let (Some(reg), Some(to)) = (&pending.time, out.get("time")) {
        m.assign(to, &reg.q);
    }
    if let (Some(reg), Some(to)) = (&pending.context, out.get("context")) {
        m.assign(to, &reg.q);
    }
    let older = &sequence.older_trap;
    m.assign(&out["ecause"], older.mux(&previous.cause.q, &pending.cause.q));
    m.assign(&out["interrupt"], older.mux(&previous.interrupt.q, &pending.interrupt.q));
    m.assign(&out["tval"], older.mux(&previous.tval.q, &pending.tval.q));
    m.assign(&out["thaddr"], &sequence.thaddr);
    m.assign(&out["branches"], &map["branches_o"]);
    m.assign(&out["branch_map"], &map["map_o"]);
    if config.predicts() {
        m.assign(&out["counting"], &map["counting_o"]);
        m.assign(&out["branch_count"], &map["count_o"]);
        let wrong = pending.branch() & !pending.right();
        let easy = walk.wants.mux(&walk.wrong, &wrong);
        m.assign(&out["mispredicted"], hard.mux(&sequence.main & wrong, easy));
    }
    if let Some(notify) = out.get("notify") {
        m.assign(notify, hard & &sequence.notify);
    }
    m.assign(&out["updiscon"], hard & &sequence.updiscon);
    let target = m.let_("target", hard.mux(&sequence.target, &jumped));
    if let Some(to) = out.get("target") {
        m.assign(to, &target);
    }
    if config.returns() {
        m.assign(&out["irreport"], hard & &sequence.irreport);
        m.assign(&out["irdepth"], &sequence.irdepth);
    }
    m.assign(&out["ienable"], &sequence.ienable);
    m.assign(&out["qual_status"], &sequence.status);

    m.section("What has been done with.");
    let reports = !hard | &report | &map_only | &start | &trap;
    let flush = m.let_("flush_now", &accepted & reports);
    // The branch of a hard step goes with its main packet, or without one.
    let main_done = &sequence.main_left & ((&sequence.main & &accepted) | &sequence.commits);
    let moves = m.let_("moves", &simple | main_done);
    let push =
        &pending.traced & (!hard | (&sequence.main_left & !&sequence.marks)) & pending.branch();
    let branches = lanes.branches();
    let mut pushes: Vec<Expr> = walk.pushes.iter().rev().cloned().collect();
    pushes.push(push.clone());
    let mut there: Vec<Expr> = branches.iter().rev().map(|(there, _)| there.clone()).collect();
    there.push(&pending.traced & pending.branch());
    let mut not_taken: Vec<Expr> = branches.iter().rev().map(|(_, not)| not.clone()).collect();
    not_taken.push(pending.not_taken.q.clone());
    let mut cuts: Vec<Expr> = walk.cuts.iter().rev().cloned().collect();
    cuts.push(zero(1));
    let flat = |bits: &[Expr]| concat(&bits.iter().collect::<Vec<_>>());
    for ((_, wire), value) in map_inputs.iter().zip([
        flat(&there),
        flat(&pushes),
        flat(&not_taken),
        flat(&cuts),
        moves.clone(),
        flush.clone(),
    ]) {
        m.assign(wire, value);
    }
    let described = &pending.traced & (&simple | &chart.decides);
    let synced = &start | &trap;
    counter.drive(&cx, (&accepted, &synced), &take, (&simple, &described), &pending, &walk);
    let branch_done = &moves & walk.pushes.iter().fold(push, |any, push| any | push);
    let step = (&pending, &next);
    tables.drive(&cx, (&sequence, &plan), step, &flush, &branch_done, (&simple, &walk));
    if let Some((ahead, far)) = ahead.as_ref().zip(counter.far.as_ref()) {
        let looks = ahead.look(&cx, (&chart, far), &lanes, (&pending, &previous));
        tables.look(&cx, looks, &sequence.commits, &pending);
        ahead.learn(&cx, &tables);
        let ahead = pending.looked() | lanes.looked();
        m.assert_always("nothing_ahead_is_forgotten", !(&tables.forget & ahead));
    }
    if let Some(returns) = &tables.returns {
        let early = &simple & walk.rests_return(&cx, &lanes) & !pending.call() & !pending.ret();
        m.assign(&returns.compared.d, (&next.exists & !&take) | early);
    }

    chart.drive(&m, &plan, &sequence.commits, &flush, &target, &(hard & &sequence.updiscon));
    sequence.drive(&cx, (&plan, &chart.decides), &accepted, &take, &next);
    previous.drive(&m, &take, &pending, &plan, &walk, (&next, &tables));
    pending.drive(&cx, &take, &lanes, &walk, &next, (&chart.decides, &tables));
    lanes.drive(&cx, &group_ready, &take, &walk, &next);
    m.finish()
}

/// What the chart asks of counters and tables.
struct State<'a> {
    due: &'a Expr,
    near: &'a Expr,
    known: &'a Expr,
    some_branches: &'a Expr,
    /// The pending step fills the branch map, or is a branch that ends a count.
    fills: &'a Expr,
    /// No branch can be counted, few, or the pending step is the last.
    spent: Option<&'a Expr>,
    limit: Option<&'a Expr>,
    exhausted: Option<&'a Expr>,
    tables: &'a Tables,
}

/// The resynchronisation counter.
struct Counter {
    due: Expr,
    near: Expr,
    /// Not even what is looked up ahead can make it due.
    far: Option<Expr>,
    known: Expr,
    packet: Expr,
    synced: Expr,
    steps: Option<Steps>,
}

/// Its inputs where steps are counted.
struct Steps {
    step: Expr,
    take: Expr,
    more: Expr,
    moved: Expr,
}

impl Counter {
    fn new(cx: &Context<'_>, mode: &Expr, max: &Expr) -> Self {
        let component = resync::build(cx.config);
        let packet = cx.m.wire("packet_sent", 1);
        let synced = cx.m.wire("synced_sent", 1);
        let width = |name: &str| component.ports().iter().find(|p| p.name == name).map(|p| p.width);
        let steps = width("step_i").zip(width("more_i")).map(|(step, more)| Steps {
            step: cx.m.wire("step_units", step),
            take: cx.m.wire("step_taken", 1),
            more: cx.m.wire("more_units", more),
            moved: cx.m.wire("moved", 1),
        });
        let mut ports =
            vec![("mode_i", mode), ("max_i", max), ("packet_i", &packet), ("synced_i", &synced)];
        if let Some(steps) = &steps {
            ports.extend([
                ("step_i", &steps.step),
                ("take_i", &steps.take),
                ("more_i", &steps.more),
                ("moved_i", &steps.moved),
            ]);
        }
        let outputs = cx.m.inst("i_resync_counter", &component, &ports);
        let (due, near) = (outputs["due_o"].clone(), outputs["near_o"].clone());
        let known = outputs["known_o"].clone();
        let far = cx.config.predicts().then(|| outputs["far_o"].clone());
        Self { due, near, far, known, packet, synced, steps }
    }

    fn drive(
        &self,
        cx: &Context<'_>,
        (accepted, synced): (&Expr, &Expr),
        take: &Expr,
        (simple, described): (&Expr, &Expr),
        pending: &Pending,
        walk: &lanes::Walk,
    ) {
        cx.m.assign(&self.packet, accepted);
        cx.m.assign(&self.synced, synced);
        if let (Some(steps), Some(units)) = (&self.steps, &pending.units) {
            cx.m.assign(&steps.step, &units.q);
            cx.m.assign(&steps.take, described);
            cx.m.assign(&steps.moved, accepted | take);
            cx.m.assign(&steps.more, simple.gate(walk.units(cx, steps.more.width())));
        }
    }
}

/// Return stack, marks and predictor, as far as they are there.
struct Tables {
    /// The branch that is looked up is predicted.
    right: Option<Expr>,
    predictor: Option<Predictor>,
    returns: Option<Returns>,
    /// What was learnt before a synchronisation is forgotten as soon as it is decided.
    forget: Expr,
}

/// Inputs of the predictor.
struct Predictor {
    index: Expr,
    update: Expr,
    taken: Expr,
}

/// What implicit returns need.
struct Returns {
    depth: Expr,
    /// There is a call; if the pending step was compared.
    some: Expr,
    predicts: Expr,
    /// With addresses: it predicts, or there is no call; if the pending step was compared.
    expected: Option<Expr>,
    marks: Outputs,
    /// A return was popped since the last branch or packet.
    popped: hartrace_rtl::Reg,
    /// What the stack predicts is about the pending step and the one behind it: they were compared in a
    /// cycle in which both were there and the stack stayed as it is.
    compared: hartrace_rtl::Reg,
    call: Expr,
    ret: Expr,
    link: Option<[Expr; 2]>,
    mark_clear: Expr,
    mark_push: Expr,
    mark_only: Expr,
    second: Expr,
}

impl Tables {
    fn new(cx: &Context<'_>, pending: &Pending) -> Self {
        let (config, m) = (cx.config, cx.m);
        let forget = m.wire("forget", 1);
        let mut right = None;
        let predictor = config.predicts().then(|| Predictor {
            index: m.wire("looked_up", config.etrace.bpred_size_p.into()),
            update: m.wire("train", 1),
            taken: m.wire("outcome", 1),
        });
        if let Some(predictor) = &predictor {
            let outputs = m.inst(
                "i_branch_predictor",
                &tables::predictor(config),
                &[
                    ("index_i", &predictor.index),
                    ("update_i", &predictor.update),
                    ("taken_i", &predictor.taken),
                    ("clear_i", &forget),
                ],
            );
            right = Some(outputs["taken_o"].eq(&predictor.taken));
        }
        let returns = config.returns().then(|| Returns::new(cx, pending, &forget));
        if !config.predicts() && !config.returns() {
            m.unused(&forget);
        }
        Self { right, predictor, returns, forget }
    }

    /// The address to report: that of a mark or the pending one.
    fn mark_address(&self, marks: &Expr, pending: &Expr) -> Expr {
        match &self.returns {
            Some(returns) => marks.mux(&returns.marks["address_o"], pending),
            None => pending.clone(),
        }
    }

    fn drive(
        &self,
        cx: &Context<'_>,
        (sequence, plan): (&Sequence, &Plan),
        (pending, next): (&Pending, &lanes::Next),
        flush: &Expr,
        branch_done: &Expr,
        (simple, walk): (&Expr, &lanes::Walk),
    ) {
        let m = cx.m;
        let commits = &sequence.commits;
        m.assign(&self.forget, &plan.fresh.q & &plan.synced);
        let Some(returns) = &self.returns else { return };
        // What is simple is a return as predicted, if there is a call.
        let [call, ret] = [pending.call(), pending.ret()]
            .map(|is| simple & &cx.modes.returns & &pending.traced & is);
        m.assign(&returns.call, (commits & &plan.calls) | call);
        m.assign(&returns.ret, (commits & &plan.returns) | &ret);
        let pops = m.let_("pops_simply", ret & &returns.some & !walk.reports(cx));
        if let Some([link, target]) = &returns.link {
            m.assign(link, &pending.behind);
            m.assign(target, &next.target);
        }
        // Marks stay until the last of them has been reported.
        let reported = flush & !&sequence.marks;
        let over = commits & (&plan.clears | &plan.marks_overflow);
        let clear = reported | branch_done | over;
        let clear = m.let_("forget_returns", clear);
        m.assign(&returns.mark_clear, &clear);
        m.assign(&returns.mark_push, commits & &plan.marks_call);
        m.assign(&returns.mark_only, &plan.clears | &plan.marks_overflow);
        m.assign(&returns.second, &sequence.second_mark);
        m.comb(|b| {
            b.when(&clear, |b| b.set(&returns.popped.d, false));
            b.when(commits & &plan.marks_call, |b| b.set(&returns.popped.d, false));
            b.when((commits & &plan.pops) | &pops, |b| b.set(&returns.popped.d, true));
        });
    }
}

impl Tables {
    /// Looks up a branch of the group ahead, or else that of the pending step.
    fn look(
        &self,
        cx: &Context<'_>,
        [ahead, index, taken]: [Expr; 3],
        commits: &Expr,
        pending: &Pending,
    ) {
        let Some(predictor) = &self.predictor else { return };
        let own = tables::predictor_index(cx.config, &pending.address.q);
        // Whether the group ahead is looked at is known late; that the pending step is not, early.
        let first = cx.m.let_("own_first", pending.branch() & !pending.looked());
        cx.m.assign(&predictor.index, first.mux(own, index));
        cx.m.assign(&predictor.taken, first.mux(&pending.taken.q, taken));
        let late = commits & &pending.traced & first;
        cx.m.assign(&predictor.update, ahead | late);
    }
}

impl Returns {
    fn new(cx: &Context<'_>, pending: &Pending, clear: &Expr) -> Self {
        let (config, m) = (cx.config, cx.m);
        let call = m.wire("calls", 1);
        let ret = m.wire("returns", 1);
        let link = (config.etrace.return_stack_size_p > 0)
            .then(|| [m.wire("link", config.address()), m.wire("return_target", config.address())]);
        let mut ports = vec![("clear_i", clear), ("call_i", &call), ("ret_i", &ret)];
        if let Some([link, target]) = &link {
            ports.extend([("link_i", link), ("target_i", target)]);
        }
        let stack = m.inst("i_return_stack", &returns::stack(config), &ports);
        let (mark_clear, mark_push) = (m.wire("mark_clear", 1), m.wire("mark_push", 1));
        let (mark_only, second) = (m.wire("mark_only", 1), m.wire("mark_second", 1));
        let depth = stack["depth_o"].clone();
        let marks = m.inst(
            "i_return_marks",
            &returns::marks(config),
            &[
                ("clear_i", &mark_clear),
                ("push_i", &mark_push),
                ("only_i", &mark_only),
                ("address_i", &pending.address.q),
                ("depth_i", &depth),
                ("second_i", &second),
            ],
        );
        let (some, predicts) = (stack["some_o"].clone(), stack["predicts_o"].clone());
        let expected = link.is_some().then(|| stack["expected_o"].clone());
        let popped = m.reg("popped", false);
        let compared = m.reg("compared", false);
        Self {
            depth,
            some,
            predicts,
            expected,
            marks,
            popped,
            compared,
            call,
            ret,
            link,
            mark_clear,
            mark_push,
            mark_only,
            second,
        }
    }
}

/// Whether the unit is counted at run time.
fn counts(config: &Config, unit: ResyncUnit) -> bool {
    config.counts(unit)
}

/// The mark is the one given.
fn is_mark(value: &Expr, kind: u128) -> Expr {
    debug_assert!(kind != mark::NONE);
    value.eq(lit(2, kind))
}
