//! The resynchronisation counter.

use super::context::Context;
use crate::resync::{self, ResyncOut};
use hartrace_rtl::Expr;

/// The part of the counter that is read and driven here.
pub(super) struct Counter {
    pub(super) due: Expr,
    pub(super) near: Expr,
    /// Not even the steps that are looked up ahead can make a resynchronisation due.
    pub(super) far: Option<Expr>,
    pub(super) known: Expr,
    packet: Expr,
    synced: Expr,
    steps: Option<Steps>,
}

/// Its inputs if steps are counted.
struct Steps {
    step: Expr,
    take: Expr,
    more: Expr,
    moved: Expr,
}

/// Events of a cycle.
pub(super) struct Events<'a> {
    /// A packet is sent.
    pub(super) accepted: &'a Expr,
    /// It is a synchronisation.
    pub(super) synced: &'a Expr,
    /// The pending step is taken.
    pub(super) take: &'a Expr,
    /// The pending step is traced, and its packets are known.
    pub(super) described: &'a Expr,
}

impl Counter {
    pub(super) fn new(cx: &Context<'_>, max: &Expr) -> Self {
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
        let mut ports = vec![
            ("mode_i", &cx.resync_mode),
            ("max_i", max),
            ("packet_i", &packet),
            ("synced_i", &synced),
        ];
        if let Some(steps) = &steps {
            ports.extend([
                ("step_i", &steps.step),
                ("take_i", &steps.take),
                ("more_i", &steps.more),
                ("moved_i", &steps.moved),
            ]);
        }
        let outputs = ResyncOut::of(&cx.m.inst("i_resync_counter", &component, &ports));
        let ResyncOut { due, near, known, far } = outputs;
        Self { due, near, far, known, packet, synced, steps }
    }

    /// `step` is the number of units of the pending step; `more`, which gets the required width,
    /// that of the steps of the lanes that are taken in the same cycle.
    pub(super) fn drive(
        &self,
        cx: &Context<'_>,
        events: &Events<'_>,
        step: Option<&Expr>,
        more: impl FnOnce(u32) -> Expr,
    ) {
        cx.m.assign(&self.packet, events.accepted);
        cx.m.assign(&self.synced, events.synced);
        if let (Some(steps), Some(step)) = (&self.steps, step) {
            cx.m.assign(&steps.step, step);
            cx.m.assign(&steps.take, events.described);
            cx.m.assign(&steps.moved, events.accepted | events.take);
            cx.m.assign(&steps.more, more(steps.more.width()));
        }
    }
}
