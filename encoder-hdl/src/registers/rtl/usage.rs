//! Whether a component is in use.

use super::apb::Apb;
use crate::registers::table::{Enable, Table};
use hartrace_rtl::{Expr, Module, zero};
use std::collections::BTreeMap;

pub(super) struct Usage {
    /// The value written, even if it does not take effect yet.
    pub(super) active: Expr,
    pub(super) enabled: Expr,
    /// It is enabled at the next edge, and is not enabled now.
    pub(super) enables: Expr,
    /// A flush is requested.
    pub(super) flushing: Expr,
    /// The hardware still holds trace.
    pub(super) busy: Expr,
    /// Configuration must not change.
    pub(super) in_use: Expr,
    /// Everything is reset.
    pub(super) held: Expr,
    /// It was switched off again while it was still in use, and is still.
    pub(super) aborts: Option<Expr>,
}

impl Usage {
    /// `control` is a write to the first register, which has *active* in bit 0 and *enable* in bit 1.
    pub(super) fn new(
        m: &Module,
        table: &Table,
        apb: &Apb,
        control: &Expr,
        inputs: &BTreeMap<&'static str, Expr>,
    ) -> Self {
        m.section(
            "Active, enabled, in use. What is in use does not change; what is not active is reset.",
        );
        let active = m.reg_en("active", false, control);
        m.assign(&active.d, apb.data.bit(0));
        let on = m.let_("on", &active.q & apb.data.bit(0) & apb.data.bit(1));
        let mut switches_on = control & &on;
        let (enabled, flushing, busy) = match table.enable() {
            Enable::Direct => {
                let enabled = m.reg_en("enabled", false, control);
                m.assign(&enabled.d, &on);
                (enabled.q, zero(1), inputs["busy"].clone())
            }
            Enable::Flushed { stop, refuse } => {
                if let Some(refuse) = refuse {
                    switches_on = m.let_("switches_on", &switches_on & !&inputs[refuse]);
                }
                let enabled = m.reg("enabled", false);
                let flushing = m.reg("flushing", false);
                let ends = m.let_("ends", &flushing.q & &inputs["flushed"]);
                let stops = control & !&on;
                let stops = stop.map_or(stops.clone(), |stop| stops | &inputs[stop]);
                m.assign(&flushing.d, flushing.q.mux(!&ends, &enabled.q & stops));
                m.assign(&enabled.d, enabled.q.mux(!&ends, &switches_on));
                m.assert_always("flushes_only_if_enabled", !&flushing.q | &enabled.q);
                (enabled.q, flushing.q, !&inputs["empty"])
            }
        };
        let in_use = m.let_("in_use", &enabled | &busy);
        let held = m.let_("held", !&active.q & !&in_use);
        let enables = &switches_on & !&enabled;
        let aborts = (table.enable() == Enable::Direct).then(|| {
            let aborts = m.reg("aborts", false);
            let again = control & !apb.data.bit(0) & !&active.q;
            m.assign(&aborts.d, &in_use & (&aborts.q | again));
            aborts.q
        });
        Self { active: active.q, enabled, enables, flushing, busy, in_use, held, aborts }
    }
}
