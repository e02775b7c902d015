//! Decides what is reported.
//!
//! Steps are the first and the last instruction of each lane, the trap and the mark of a group. A
//! step is described once the step after it is known; the last one waits in the registers
//! `pending_*`. In one cycle, the pending step and the steps of the lanes after it are described in
//! order, as long as they produce no more than one packet. Most steps are *quiet*, that is, they
//! produce no packet, or *easy*: a report of a jump's target or of a full branch map. All others
//! are *hard*: such a step is described only when it is the pending step, alone in its cycle, and
//! may take several cycles, with one packet each.
//!
//! From the bottom up: `context` (ports and modes), `pending`, `lanes` (the steps), `map`,
//! `counter`, `tables` (counters and memories), `facts`, `choice`, `chart` (the flow chart),
//! `plan`, `sequence` (hard steps), `walk` (the lanes), `parts` (all of these), `send`, `done`,
//! `keep` (outputs and state of the module).

mod ahead;
mod chart;
mod choice;
mod context;
mod counter;
mod done;
mod facts;
mod keep;
mod lanes;
mod map;
mod parts;
mod pending;
mod plan;
mod send;
mod sequence;
mod tables;
mod walk;

use crate::config::Config;
use crate::lanes::module_of_lanes;
use context::Context;
pub(crate) use context::{ModePorts, Stream};
use hartrace_rtl::Component;
use parts::Parts;
use send::Sent;

/// The module `te_priority`.
pub(crate) fn build(config: &Config) -> Component {
    let m = module_of_lanes(
        config,
        "te_priority",
        "Decides which packets are sent, in the order of the flow chart of E-Trace 2.0, chapter 9.",
    );
    let (cx, ports) = Context::declare(config, &m);
    let parts = Parts::new(&cx, ports.planned.clone(), &ports.resync_max);
    let sent = Sent::new(&cx, &ports, &parts);
    let flush = done::drive(&cx, &parts, &sent);

    let Parts { chart, plan, sequence, .. } = &parts;
    chart.drive(&m, plan, (&sequence.commits, &flush), (&sent.target, &sent.updiscon));
    sequence.drive(&cx, (plan, &chart.decides), &sent.accepted, &parts.take, &parts.next);
    keep::previous(&cx, &parts);
    keep::pending(&cx, &parts);
    keep::group(&cx, &ports.group_ready, &parts);
    m.finish()
}
