//! The step that waits for the next one, and what is known about the preceding one.

use super::context::Context;
use crate::config::ResyncUnit;
use crate::group::CYCLES;
use hartrace_rtl::{Expr, Reg, lit, zero};

/// The pending step.
pub(super) struct Pending {
    pub(super) valid: Reg,
    pub(super) qualified: Reg,
    /// It exists and is traced.
    pub(super) traced: Expr,
    pub(super) trap: Reg,
    pub(super) interrupt: Reg,
    pub(super) taken: Reg,
    pub(super) not_taken: Reg,
    pub(super) uninferable: Reg,
    pub(super) wide: Reg,
    pub(super) call: Option<Reg>,
    pub(super) ret: Option<Reg>,
    pub(super) sijump: Option<Reg>,
    pub(super) notify: Option<Reg>,
    /// It is a branch that was looked up ahead.
    pub(super) looked: Option<Reg>,
    /// It had the predicted outcome.
    pub(super) right: Option<Reg>,
    /// It is the first step of this lane, whose address is still in the group.
    pub(super) at_first: Vec<Reg>,
    /// The address of any other step.
    pub(super) address: Reg,
    /// The address after it.
    pub(super) behind: Expr,
    pub(super) privilege: Reg,
    pub(super) time: Option<Reg>,
    pub(super) context: Option<Reg>,
    /// Privilege or context differs from that of the preceding step, and the change is precise.
    pub(super) changes: Reg,
    /// The context differs, and may be reported late.
    pub(super) drifts: Option<Reg>,
    pub(super) cause: Reg,
    pub(super) tval: Reg,
    /// The number of units it counts as.
    pub(super) units: Option<Reg>,
    pub(super) load: Expr,
    pub(super) load_trap: Expr,
}

impl Pending {
    pub(super) fn declare(cx: &Context<'_>) -> Self {
        let (m, config, params) = (cx.m, cx.config, &cx.config.etrace);
        m.section("The pending step.");
        let load = m.wire("load", 1);
        let load_trap = m.wire("load_trap", 1);
        let data = |name: &str, width| m.reg_data(&format!("pending_{name}"), width, &load);
        let some = |name: &str, is: bool, width| is.then(|| data(name, width));
        let of_trap = |name: &str, width| m.reg_data(&format!("pending_{name}"), width, &load_trap);
        let valid = m.reg("pending_valid", false);
        let qualified = data("qualified", 1);
        let wide = data("wide", 1);
        let address = data("address", config.address());
        let size = match params.iaddress_lsb_p {
            0 => wide.q.mux(lit(3, 4), lit(3, 2)).zext(config.address()),
            1 => wide.q.mux(lit(2, 2), lit(2, 1)).zext(config.address()),
            _ => lit(config.address(), 1),
        };
        let behind = m.let_("pending_behind", &address.q + size);
        if params.iaddress_lsb_p > 1 {
            m.unused(&wide.q);
        }
        let traced = m.let_("traced", &valid.q & &qualified.q);
        let units = units_width(cx).map(|width| data("units", width));
        Self {
            valid,
            qualified,
            traced,
            trap: data("trap", 1),
            interrupt: of_trap("interrupt", 1),
            taken: data("taken", 1),
            not_taken: data("not_taken", 1),
            uninferable: data("uninferable", 1),
            wide,
            call: some("call", config.returns(), 1),
            ret: some("ret", config.returns(), 1),
            sijump: some("sijump", params.sijump_p, 1),
            notify: some("notify", config.triggers, 1),
            looked: some("looked", config.predicts(), 1),
            right: config.predicts().then(|| m.reg("pending_right", false)),
            at_first: (0..config.n()).map(|i| data(&format!("at_first_{i}"), 1)).collect(),
            address,
            behind,
            privilege: data("privilege", params.privilege_width_p.into()),
            time: some("time", params.time_bits() > 0, params.time_bits()),
            context: some("context", params.context_bits() > 0, params.context_bits()),
            changes: data("changes", 1),
            drifts: some("drifts", params.context_bits() > 0, 1),
            cause: of_trap("cause", params.ecause_width_p.into()),
            tval: of_trap("tval", params.iaddress_width_p.into()),
            units,
            load,
            load_trap,
        }
    }

    pub(super) fn branch(&self) -> Expr {
        &self.taken.q | &self.not_taken.q
    }

    pub(super) fn call(&self) -> Expr {
        bit(&self.call)
    }

    pub(super) fn ret(&self) -> Expr {
        bit(&self.ret)
    }

    pub(super) fn sijump(&self) -> Expr {
        bit(&self.sijump)
    }

    pub(super) fn notify(&self) -> Expr {
        bit(&self.notify)
    }

    pub(super) fn looked(&self) -> Expr {
        bit(&self.looked)
    }

    pub(super) fn right(&self) -> Expr {
        bit(&self.right)
    }

    pub(super) fn drifts(&self) -> Expr {
        bit(&self.drifts)
    }
}

/// Width of the number of units of one step, if steps are counted.
fn units_width(cx: &Context<'_>) -> Option<u32> {
    let half_words =
        cx.config.counts(ResyncUnit::HalfWords).then(|| cx.config.iretire_width_p.into());
    let cycles = cx.config.counts(ResyncUnit::Cycles).then_some(CYCLES);
    half_words.max(cycles)
}

fn bit(reg: &Option<Reg>) -> Expr {
    reg.as_ref().map_or_else(|| zero(1), |reg| reg.q.clone())
}

/// The relevant part of the step that precedes the pending one.
pub(super) struct Previous {
    /// There is one, and it was traced.
    pub(super) valid: Reg,
    pub(super) trap: Reg,
    /// It is a trap that has been reported.
    pub(super) reported: Reg,
    pub(super) updiscon: Reg,
    /// It is a mispredicted return, at this depth.
    pub(super) mismatch: Option<(Reg, Reg)>,
    pub(super) cause: Reg,
    pub(super) interrupt: Reg,
    pub(super) tval: Reg,
    pub(super) load_trap: Expr,
}

impl Previous {
    pub(super) fn declare(cx: &Context<'_>) -> Self {
        let (m, config) = (cx.m, cx.config);
        m.section("The step before it.");
        let load_trap = m.wire("pass_trap", 1);
        let of_trap =
            |name: &str, width: u32| m.reg_data(&format!("previous_{name}"), width, &load_trap);
        let mismatch = config.returns().then(|| {
            let is = m.reg("previous_mismatch", false);
            (is, m.reg("previous_depth", zero(config.depth())))
        });
        Self {
            valid: m.reg("previous_valid", false),
            trap: m.reg("previous_trap", false),
            reported: m.reg("previous_reported", false),
            updiscon: m.reg("previous_updiscon", false),
            mismatch,
            cause: of_trap("cause", config.etrace.ecause_width_p.into()),
            interrupt: of_trap("interrupt", 1),
            tval: of_trap("tval", config.etrace.iaddress_width_p.into()),
            load_trap,
        }
    }

    pub(super) fn mismatch(&self) -> Expr {
        self.mismatch.as_ref().map_or_else(|| zero(1), |(is, _)| is.q.clone())
    }
}
