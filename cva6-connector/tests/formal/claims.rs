//! The claims at the ports.
//!
//! An instruction is identified by the number of half-words that were committed before it and have
//! not been output yet. The block in which it must be according to this number must have its
//! address, its size, its level and its kind. Nothing is output that was not committed, and when
//! the connector reports that it is empty, nothing is missing.

use crate::walk::{Chosen, NUMBER, Run, Trap, Walk, half_words};
use hartrace_cva6_connector::{Building, Config, Kind, connector};
use hartrace_etrace::ingress::IType;
use hartrace_hdl_tools::prove::Rig;
use hartrace_rtl::{Expr, Module, Reg, lit, zero};

/// Subject of a proof. Smaller proofs are easier to find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// The amount of output equals the amount committed. Independent of the other parts.
    Counts,
    /// The chosen instruction is in place. Assumes [`Part::Counts`].
    Instruction,
    /// The chosen trap is in place. Assumes [`Part::Counts`].
    Trap,
    /// A loss is told, between what was committed before it and what was committed after it.
    Loss,
}

/// A connector, the chosen instruction and trap, and the claims.
pub(crate) struct Claims {
    pub(crate) rig: Rig,
    pub(crate) config: Config,
    part: Part,
    /// Whether there are invariants too.
    helped: bool,
    pub(crate) chosen: Chosen,
    /// Half-words that were committed and have not been output.
    pub(crate) inside: Expr,
    /// Traps that were committed and have not been output.
    pub(crate) traps_inside: Expr,
}

impl Claims {
    pub(crate) fn new(config: &Config, part: Part, helped: bool) -> Self {
        let rig = Rig::new(&connector(config).unwrap_or_else(|e| panic!("{e}")));
        if config.building == Building::Direct {
            // With a trap, one lane must be free for it.
            let full = rig.port("trap_i") & rig.port("valid_i").all();
            rig.m.assume_always("room_for_trap", !full);
        }
        // The hart holds what it commits while it is stalled.
        let held = rig.past("held", &rig.port("stall_o"));
        for name in ["valid_i", "pc_i", "trap_i", "trap_pc_i", "priv_i", "lost_i"] {
            let port = rig.port(name);
            let same = port.eq(rig.past(&format!("{name}_past"), &port));
            rig.m.assume_always(&format!("{name}_held"), !&held | same);
        }
        let model = Model::new(&rig.m, config);
        let follow = Self {
            chosen: model.chosen(),
            inside: model.inside.q.clone(),
            traps_inside: model.traps_inside.q.clone(),
            rig,
            config: config.clone(),
            part,
            helped,
        };
        follow.claim(&model);
        follow
    }

    /// Claims a property of a part.
    pub(crate) fn holds(&self, part: Part, name: &str, holds: Expr) {
        if part == self.part {
            self.rig.m.assert_always(name, holds);
        } else if part == Part::Counts && self.helped {
            self.rig.m.assume_always(name, holds);
        } else {
            self.rig.m.unused(&holds);
        }
    }

    /// Claims an invariant within the connector.
    pub(crate) fn within(&self, name: &str, holds: Expr) {
        self.holds(Part::Counts, name, holds);
    }

    /// Walks over the offered blocks and traps, in the order of lanes.
    pub(crate) fn offered(&self) -> Walk<'_> {
        let mut walk = Walk::new(&self.chosen);
        for i in 0..u32::from(self.config.lanes) {
            let lane = |name: &str, width: u32| self.rig.port(name).slice(i * width, width);
            let (start, itype) = (lane("iaddr_o", self.config.xlen.into()), lane("itype_o", 3));
            let level = self.rig.port("priv_o");
            walk.run(&Run {
                count: lane("iretire_o", self.config.iretire_width_p.into()),
                start: start.clone(),
                last_wide: lane("ilastsize_o", 1),
                itype: Some(itype.clone()),
                level: level.clone(),
            });
            walk.trap(&Trap {
                valid: is_trap(&itype),
                pc: start,
                itype,
                level,
                cause: self.rig.port("cause_o"),
                tval: self.rig.port("tval_o"),
            });
        }
        walk
    }

    fn claim(&self, model: &Model) {
        let (rig, m) = (&self.rig, &self.rig.m);
        let leaving = self.offered();
        let nothing = !(self.inside.any() | self.traps_inside.any());
        let fits = leaving.half_words.le(&self.inside) & leaving.traps.le(&self.traps_inside);
        self.holds(Part::Instruction, "instruction_in_place", leaving.right.clone());
        self.holds(Part::Trap, "trap_in_place", leaving.trap_right.clone());
        self.holds(Part::Counts, "nothing_invented", fits);
        self.holds(Part::Counts, "nothing_missing", rig.port("empty_o").implies(nothing));
        self.claim_loss(&leaving);

        m.section("What comes out was committed before this cycle.");
        let takes = !rig.port("stall_i");
        let out = m.let_("out", takes.gate(&leaving.half_words));
        let traps_out = m.let_("traps_out", takes.gate(&leaving.traps));
        let fits = m.wire("fits", 1);
        let code = |itype: IType| lit(3, itype.raw().into());
        let enable = rig.port("enable_i");
        let live = m.let_("live", enable & !rig.port("stall_o") & !rig.port("debug_i"));
        let (n, w) = (u32::from(self.config.lanes), u32::from(self.config.xlen));
        let choose = m.input("choose", n, "lanes that may be followed");
        let choose_trap = m.input("choose_trap", 1, "the trap may be followed");
        m.comb(|b| {
            b.set(&fits, true);
            b.set(&model.inside.d, &model.inside.q - &out);
            b.set(&model.traps_inside.d, &model.traps_inside.q - &traps_out);
            b.when(model.ahead.q.lt(&out), |b| b.set(&model.some.d, false));
            b.set(&model.ahead.d, &model.ahead.q - &out);
            b.when(model.traps_ahead.q.lt(&traps_out), |b| b.set(&model.trap.d, false));
            b.set(&model.traps_ahead.d, &model.traps_ahead.q - &traps_out);
            b.set(&model.trap_ahead.d, &model.trap_ahead.q - &out);

            b.note("What is committed.");
            for i in 0..n {
                let kind = rig.port("kind_i").slice(i * 3, 3);
                let is = |of: Kind| kind.is(of as u128);
                let wide = !rig.port("compressed_i").bit(i);
                let taken = rig.port("taken_i").bit(i);
                let branch = taken.mux(code(IType::Taken), code(IType::NotTaken));
                let far = is(Kind::IndirectJump) & rig.port("rs1_i").slice(i * 5, 5).any();
                let other = is(Kind::TrapReturn).gate(code(IType::TrapReturn));
                let other = far.mux(code(IType::UninferableJump), other);
                b.when(&live & rig.port("valid_i").bit(i), |b| {
                    b.when(choose.bit(i) & !&model.some.d, |b| {
                        b.set(&model.some.d, true);
                        b.set(&model.ahead.d, &model.inside.d);
                        b.set(&model.pc.d, rig.port("pc_i").slice(i * w, w));
                        b.set(&model.wide.d, &wide);
                        b.set(&model.plain.d, is(Kind::Plain));
                        b.set(&model.itype.d, is(Kind::Branch).mux(branch, other));
                        b.set(&model.level.d, rig.port("priv_i"));
                    });
                    b.set(&model.inside.d, &model.inside.d + half_words(&wide));
                    b.when(model.inside.d.lt(half_words(&wide)), |b| b.set(&fits, false));
                });
            }
            b.when(&live & rig.port("trap_i"), |b| {
                b.when(&choose_trap & !&model.trap.d, |b| {
                    b.set(&model.trap.d, true);
                    b.set(&model.trap_ahead.d, &model.inside.d);
                    b.set(&model.traps_ahead.d, &model.traps_inside.d);
                    b.set(&model.trap_pc.d, rig.port("trap_pc_i"));
                    b.set(&model.trap_itype.d, trap_itype(&rig.port("interrupt_i")));
                    b.set(&model.trap_level.d, rig.port("priv_i"));
                    b.set(&model.cause.d, rig.port("cause_i").trunc(model.cause.q.width()));
                    let tval = (!rig.port("interrupt_i")).gate(rig.port("tval_i"));
                    b.set(&model.tval.d, tval);
                });
                b.set(&model.traps_inside.d, &model.traps_inside.d + lit(NUMBER, 1));
            });
        });
        self.holds(Part::Counts, "numbers_fit", fits);
    }

    /// Claims that a loss, chosen by a free input, is told before anything leaves that was committed with it or after
    /// it, and that nothing else is told as a loss.
    fn claim_loss(&self, leaving: &Walk<'_>) {
        let (rig, m) = (&self.rig, &self.rig.m);
        let came = m.let_("loss_came", rig.port("lost_i") & rig.port("enable_i"));
        let takes = !rig.port("stall_i");
        let told = m.let_("loss_told", rig.port("lost_o") & &takes);
        let ever = m.reg("loss_ever", zero(1));
        m.assign(&ever.d, &ever.q | &came);
        self.holds(Part::Loss, "loss_is_true", !rig.port("lost_o") | &ever.q);

        let choose = m.input("choose_loss", 1, "this loss is followed");
        let owed = m.reg("loss_owed", zero(1));
        let before = m.reg("loss_behind", zero(NUMBER));
        let out = takes.gate(&leaving.half_words);
        m.comb(|b| {
            b.set(&before.d, &before.q - &out);
            b.when(&came & !rig.port("stall_o") & &choose & !&owed.q, |b| {
                b.set(&owed.d, true);
                b.set(&before.d, &self.inside - &out);
            })
            .elsif(&told & before.q.is(0), |b| b.set(&owed.d, false));
        });
        let early = &owed.q & out.gt(&before.q) & !&told;
        self.holds(Part::Loss, "loss_before_what_follows", !early);
        self.holds(Part::Loss, "loss_is_not_forgotten", !(&owed.q & rig.port("empty_o")));
    }

    /// Claims that the walk passed everything inside, including what was chosen.
    pub(crate) fn arrived(&self, walk: &Walk<'_>) {
        let c = &self.chosen;
        self.holds(Part::Counts, "passed_all", walk.half_words.eq(&self.inside));
        self.holds(Part::Counts, "passed_traps", walk.traps.eq(&self.traps_inside));
        let part = Part::Instruction;
        self.holds(part, "instruction_passed", walk.right.clone());
        self.holds(part, "plain_does_nothing", c.plain.implies(c.itype.is(0)));
        self.holds(part, "instruction_inside", c.some.implies(c.ahead.lt(&self.inside)));
        let inside = c.trap.implies(c.traps_ahead.lt(&self.traps_inside));
        self.holds(Part::Trap, "trap_passed", walk.trap_right.clone());
        self.holds(Part::Trap, "trap_inside", inside);
    }
}

/// Registers of the model that follows the choice.
struct Model {
    inside: Reg,
    traps_inside: Reg,
    some: Reg,
    ahead: Reg,
    pc: Reg,
    wide: Reg,
    plain: Reg,
    itype: Reg,
    level: Reg,
    trap: Reg,
    trap_ahead: Reg,
    traps_ahead: Reg,
    trap_pc: Reg,
    trap_itype: Reg,
    trap_level: Reg,
    cause: Reg,
    tval: Reg,
}

impl Model {
    fn new(m: &Module, config: &Config) -> Self {
        m.section("What the prover follows, and how much comes out before it.");
        let (w, pw) = (config.xlen.into(), config.privilege_width_p.into());
        let reg = |name: &str, width: u32| m.reg(name, zero(width));
        Self {
            inside: reg("inside", NUMBER),
            traps_inside: reg("traps_inside", NUMBER),
            some: reg("chosen", 1),
            ahead: reg("ahead", NUMBER),
            pc: reg("chosen_pc", w),
            wide: reg("chosen_wide", 1),
            plain: reg("chosen_plain", 1),
            itype: reg("chosen_itype", 3),
            level: reg("chosen_level", pw),
            trap: reg("trap_chosen", 1),
            trap_ahead: reg("trap_ahead", NUMBER),
            traps_ahead: reg("traps_ahead", NUMBER),
            trap_pc: reg("chosen_trap_pc", w),
            trap_itype: reg("chosen_trap_itype", 3),
            trap_level: reg("chosen_trap_level", pw),
            cause: reg("chosen_cause", config.ecause_width_p.into()),
            tval: reg("chosen_tval", w),
        }
    }

    fn chosen(&self) -> Chosen {
        let q = |reg: &Reg| reg.q.clone();
        Chosen {
            some: q(&self.some),
            ahead: q(&self.ahead),
            pc: q(&self.pc),
            wide: q(&self.wide),
            plain: q(&self.plain),
            itype: q(&self.itype),
            level: q(&self.level),
            trap: q(&self.trap),
            trap_ahead: q(&self.trap_ahead),
            traps_ahead: q(&self.traps_ahead),
            trap_pc: q(&self.trap_pc),
            trap_itype: q(&self.trap_itype),
            trap_level: q(&self.trap_level),
            cause: q(&self.cause),
            tval: q(&self.tval),
        }
    }
}

/// Whether an itype is that of a trap.
pub(crate) fn is_trap(itype: &Expr) -> Expr {
    itype.is(IType::Exception.raw().into()) | itype.is(IType::Interrupt.raw().into())
}

/// The itype of a trap.
pub(crate) fn trap_itype(interrupt: &Expr) -> Expr {
    let code = |itype: IType| lit(3, itype.raw().into());
    interrupt.mux(code(IType::Interrupt), code(IType::Exception))
}
