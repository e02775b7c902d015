//! The step that waits for the one behind it, and what is known of the one before it.

use super::lanes::{Lanes, Next, Walk};
use super::plan::Plan;
use super::{Context, Tables, counts};
use crate::config::ResyncUnit;
use crate::group::CYCLES;
use crate::ingress::any;
use hartrace_rtl::{Expr, Module, Reg, lit, zero};

/// The pending step.
pub(super) struct Pending {
    valid: Reg,
    qualified: Reg,
    /// It exists and is traced.
    pub(super) traced: Expr,
    pub(super) trap: Reg,
    pub(super) interrupt: Reg,
    pub(super) taken: Reg,
    pub(super) not_taken: Reg,
    pub(super) uninferable: Reg,
    wide: Reg,
    call: Option<Reg>,
    ret: Option<Reg>,
    sijump: Option<Reg>,
    notify: Option<Reg>,
    /// It is a branch that was looked up ahead.
    looked: Option<Reg>,
    /// It is predicted.
    right: Option<Reg>,
    /// It is the first step of this lane: its address is still there.
    pub(super) at_first: Vec<Reg>,
    /// The address of any other step.
    pub(super) address: Reg,
    /// The address behind it.
    pub(super) behind: Expr,
    pub(super) privilege: Reg,
    pub(super) time: Option<Reg>,
    pub(super) context: Option<Reg>,
    /// Privilege or context is another than that of the step before, and precisely so.
    pub(super) changes: Reg,
    /// The context is another one, and may be reported late.
    drifts: Option<Reg>,
    pub(super) cause: Reg,
    pub(super) tval: Reg,
    /// What it counts for.
    pub(super) units: Option<Reg>,
    load: Expr,
    load_trap: Expr,
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

    pub(super) fn drive(
        &self,
        cx: &Context<'_>,
        take: &Expr,
        lanes: &Lanes,
        walk: &Walk,
        next: &Next,
        (decides, tables): (&Expr, &Tables),
    ) {
        let (m, g) = (cx.m, &cx.group);
        m.section(
            "The last step that is taken waits for the one behind it. Nothing waits behind a mark.",
        );
        m.assign(&self.load, take & !&next.mark);
        // Which steps are taken is known late. What belongs to a trap matters if one is pending, and may be
        // there before it is.
        m.assign(&self.load_trap, &g["trap"] & (take | !&self.trap.q));
        m.assign(&self.valid.d, take.mux(!&next.mark, &self.valid.q));
        let (first, last) = (&walk.rests_first, &walk.rests_last);
        let n = 0..cx.config.n();
        let lane = |i: u32| &first[i as usize] | &last[i as usize];
        let lane_bit = |name: &str| any(n.clone().map(|i| lane(i) & g[name].bit(i)));
        let last_bit = |name: &str| any(n.clone().map(|i| &last[i as usize] & g[name].bit(i)));
        m.assign(
            &self.qualified.d,
            lane_bit("qualified") | (&walk.takes_trap & &g["trap_qualified"]),
        );
        m.assign(&self.wide.d, lane_bit("wide"));
        m.assign(&self.trap.d, &walk.takes_trap);
        for (reg, name) in [
            (Some(&self.taken), "taken"),
            (Some(&self.not_taken), "not_taken"),
            (Some(&self.uninferable), "uninferable"),
            (self.call.as_ref(), "call"),
            (self.ret.as_ref(), "ret"),
            (self.sijump.as_ref(), "sijump"),
            (self.notify.as_ref(), "notify"),
            (self.looked.as_ref(), "looked"),
        ] {
            if let Some(reg) = reg {
                m.assign(&reg.d, last_bit(name));
            }
        }
        if let (Some(right), Some(late)) = (&self.right, &tables.right) {
            let late = self.looked().mux(&right.q, late);
            let kept = decides.mux(late, &right.q);
            m.assign(&right.d, self.load.mux(last_bit("right"), kept));
        }
        let aw = cx.config.address();
        let mut address = zero(aw);
        for i in n.clone() {
            let alone = &walk.takes_trap & g["trap_alone"].bit(i);
            address = address | (&last[i as usize] | alone).gate(g["last"].slice(i * aw, aw));
            m.assign(&self.at_first[i as usize].d, &first[i as usize]);
        }
        let after = &walk.takes_trap & !g["trap_alone"].any();
        m.assign(&self.address.d, address | after.gate(&self.behind));
        m.assign(&self.privilege.d, &g["privilege"]);
        if let Some(time) = &self.time {
            m.assign(&time.d, &g["time"]);
        }
        if let Some(context) = &self.context {
            m.assign(&context.d, &g["context"]);
        }
        m.assign(&self.changes.d, &lanes.changes);
        if let Some(drifts) = &self.drifts {
            m.assign(&drifts.d, &lanes.drifts);
        }
        m.assign(&self.cause.d, &g["cause"]);
        m.assign(&self.interrupt.d, &g["interrupt"]);
        m.assign(&self.tval.d, &g["tval"]);
        let Some(units) = &self.units else { return };
        let width = units.q.width();
        let mut value = zero(width);
        if counts(cx.config, ResyncUnit::Cycles) {
            // The first step of a group has its cycles.
            let oldest = walk.rests_oldest(cx, lanes);
            value = value | (cx.resync_mode.is(2) & oldest).gate(g["cycles"].zext(width));
        }
        if counts(cx.config, ResyncUnit::HalfWords) {
            let rw = cx.config.iretire_width_p.into();
            for i in n {
                let here = cx.resync_mode.is(3) & &last[i as usize];
                value = value | here.gate(g["half_words"].slice(i * rw, rw).zext(width));
            }
        }
        m.assign(&units.d, value);
    }
}

/// Width of what one step counts for, if steps are counted.
pub(super) fn units_width(cx: &Context<'_>) -> Option<u32> {
    let half_words =
        counts(cx.config, ResyncUnit::HalfWords).then(|| cx.config.iretire_width_p.into());
    let cycles = counts(cx.config, ResyncUnit::Cycles).then_some(CYCLES);
    half_words.max(cycles)
}

fn bit(reg: &Option<Reg>) -> Expr {
    reg.as_ref().map_or_else(|| zero(1), |reg| reg.q.clone())
}

/// The step before the pending one, as far as it matters.
pub(super) struct Previous {
    /// There is one, and it was traced.
    pub(super) valid: Reg,
    pub(super) trap: Reg,
    /// It is a trap that has been reported.
    pub(super) reported: Reg,
    pub(super) updiscon: Reg,
    /// It is a return that was not predicted, at this depth.
    pub(super) mismatch: Option<(Reg, Reg)>,
    pub(super) cause: Reg,
    pub(super) interrupt: Reg,
    pub(super) tval: Reg,
    load_trap: Expr,
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

    pub(super) fn drive(
        &self,
        m: &Module,
        take: &Expr,
        pending: &Pending,
        plan: &Plan,
        walk: &Walk,
        (next, tables): (&Next, &Tables),
    ) {
        m.section("The last step that was described is the one before.");
        m.assign(&self.load_trap, take & &pending.traced & &pending.trap.q);
        m.assign(&self.cause.d, &pending.cause.q);
        m.assign(&self.interrupt.d, &pending.interrupt.q);
        m.assign(&self.tval.d, &pending.tval.q);
        let planned = &plan.valid.q;
        m.comb(|b| {
            b.when(take, |b| {
                b.set(&self.valid.d, &walk.valid & !(planned & &plan.restarts) & !&next.mark);
                b.set(&self.trap.d, &pending.trap.q);
                b.set(&self.reported.d, planned & &plan.trap_reported);
                b.set(&self.updiscon.d, &walk.updiscon);
                if let (Some((is, depth)), Some(returns)) = (&self.mismatch, &tables.returns) {
                    b.set(&is.d, planned & &plan.mismatch);
                    b.set(&depth.d, &returns.depth);
                }
            });
        });
    }
}
