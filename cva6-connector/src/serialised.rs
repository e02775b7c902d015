//! Builds blocks from one instruction after the other, as in the thesis.

use crate::config::{Config, Retirement};
use crate::direct::full;
use crate::port::{Blocks, Commits, side_by_side};
use crate::slots::{Slot, Slots};
use hartrace_encoder_hdl::transport::{FifoOut, fifo};
use hartrace_rtl::{Component, Expr, Module, concat, lit, zero};

/// The module `cva6_block_serialiser`.
pub(crate) fn build(config: &Config) -> Component {
    let m = Module::new(
        "cva6_block_serialiser",
        "Makes blocks of what is committed, one instruction a cycle: a FIFO for each lane, a multiplexer, a\n\
         state machine, and registers that collect the blocks of a cycle of the hart for the encoder. It\n\
         keeps up with a hart that commits one instruction a cycle on average.",
    )
    .clocked();
    let commits = Commits::inputs(&m, config);
    let out = Blocks::outputs(&m, config);
    let moves = m.let_("moves", !&commits.stall);

    let pops = m.wire("pops", 1);
    let head = Head::new(&m, config, &commits, &out, &pops);

    m.section("The oldest instruction that is left of the cycle at the head.");
    let n = config.n();
    let done = m.reg("done", zero(n));
    let [lost, told] = ["lost", "told"].map(|name| m.reg_en(name, false, &moves));
    let left = m.let_("left", head.valid.gate(&head.lanes & !&done.q));
    let pick = Pick::new(&m, config, &head, &left);

    m.section("The state machine: idle, or counting the half-words of an open block.");
    let open = m.reg("open", false);
    let works = m.let_("works", &head.valid & &moves);
    let start = m.reg_data("start", config.address(), &works);
    let count = m.reg_data("count", config.iretire(), &works);
    let last_wide = m.reg_data("last_wide", 1, &works);
    let expected = m.reg_data("expected", config.address(), &works);
    let level = m.reg_data("level", head.privilege.width(), &works);
    let halted = m.reg("halted", false);
    let slots = Slots::new(&m, config);
    let collected = slots.collected(&m, &works);
    let offers = m.wire("offers_now", 1);

    let fresh = !done.q.any();
    let breaks = pick.found.mux(pick.pc.ne(&expected.q), &head.trap | &head.halts);
    let closes = m.let_("closes", &open.q & ((fresh & &head.closes) | breaks));
    let block = |itype: Expr, sijump: Option<Expr>| Slot {
        itype,
        iaddr: start.d.clone(),
        iretire: count.d.clone(),
        ilastsize: last_wide.d.clone(),
        sijump,
    };
    m.comb(|b| {
        slots.resume(b, &collected);
        b.set(&pops, false);
        b.set(&offers, false);
        b.set(&lost.d, false);
        b.when(&works, |b| {
            b.set(&halted.d, false);
            b.when(&closes, |b| {
                b.note("What was open ends here, before anything else, and at its own level.");
                slots.push(b, n - 1, &block(zero(config.itype()), config.sijump.then(|| zero(1))));
                b.set(&open.d, false);
                b.set(&offers, true);
            })
            .elsif(&head.lost & !&told.q, |b| {
                b.note("A loss is reported alone, between what came before it and after it.");
                b.set(&lost.d, true);
                b.set(&told.d, true);
            })
            .elsif(&pick.found, |b| {
                b.set(&level.d, &head.privilege);
                b.when(!&open.q, |b| {
                    b.set(&start.d, &pick.pc);
                    b.set(&count.d, zero(config.iretire()));
                });
                let size = pick.wide.mux(lit(config.iretire(), 2), lit(config.iretire(), 1));
                b.set(&count.d, &count.d + size);
                b.set(&last_wide.d, &pick.wide);
                b.set(&expected.d, &pick.next);
                b.set(&open.d, true);
                b.when(&pick.ends | full(config, &count.d), |b| {
                    slots.push(b, n - 1, &block(pick.itype.clone(), pick.sijump.clone()));
                    b.set(&open.d, false);
                });
                b.set(&done.d, &done.q | &pick.lane);
                if config.most_blocks() < n {
                    b.note("There may be no room for the next one of this cycle.");
                    b.when(slots.full(), |b| b.set(&offers, true));
                }
                b.when(&pick.last & !&head.trap & !&head.halts, |b| {
                    b.set(&offers, true);
                    b.set(&pops, true);
                });
            })
            .otherwise(|b| {
                b.set(&level.d, &head.privilege);
                b.set(&offers, true);
                b.note("If there is no room left for a trap, it comes in the next cycle.");
                b.when(!(&head.trap & slots.full()), |b| {
                    b.when(&head.trap, |b| {
                        slots.push(b, n - 1, &Slot::trap(config, &head.interrupt, &head.trap_pc));
                    });
                    b.set(&halted.d, &head.halts);
                    b.set(&pops, true);
                });
            });
            b.when(&pops, |b| {
                b.set(&done.d, zero(n));
                b.set(&told.d, false);
            });
        });
    });

    m.section("All blocks of a cycle of the hart at once, in registers, to the encoder.");
    slots.collect(&m, &collected, &offers);
    let offered = slots.offer(&m, &moves, Some(&offers), &out);
    let pass = |name: &str, from: &Expr, to: &Expr| {
        let reg = m.reg_data(name, from.width(), &works);
        m.assign(&reg.d, from);
        m.assign(to, &reg.q);
    };
    pass("offered_cause", &head.cause, &out.cause);
    pass("offered_tval", &head.tval, &out.tval);
    pass("offered_priv", &closes.mux(&level.q, &head.privilege), &out.privilege);
    m.assign(&out.halted, &halted.q);
    m.assign(&out.lost, &lost.q);
    m.assign(&out.empty, !(&head.valid | &head.missed | &open.q | offered | &lost.q));
    m.finish()
}

/// The commits of the oldest cycle that has not been processed.
struct Head {
    valid: Expr,
    /// The lanes that have an instruction.
    lanes: Expr,
    of_lane: Vec<Expr>,
    /// Whether the open block ends before it.
    closes: Expr,
    /// Whether something was lost before it, and whether a loss has not got into the FIFO yet.
    lost: Expr,
    missed: Expr,
    trap: Expr,
    interrupt: Expr,
    cause: Expr,
    tval: Expr,
    trap_pc: Expr,
    privilege: Expr,
    halts: Expr,
}

impl Head {
    fn new(m: &Module, config: &Config, commits: &Commits, out: &Blocks, pops: &Expr) -> Self {
        m.section(
            "Cycles in which something happens go into the FIFOs, all lanes of them together.",
        );
        let any = m.let_("commits_any", commits.valid.any());
        let pushes = m.wire("pushes", 1);
        let accepts = m.wire("accepts", 1);
        let stays = m.wire("stays", 1);
        let takes = m.let_("takes", &stays & &commits.enable);
        let privilege = m.reg_en("priv", zero(commits.privilege.width()), &takes);
        let halts = m.reg("halts_then", false);
        let enters = m.let_("enters", &pushes & &accepts);
        // Whether an instruction entered since the last cycle without one: a block may be open.
        let dirty = m.reg_en("dirty", false, &enters);
        m.assign(&privilege.d, &commits.privilege);
        m.assign(&halts.d, stays.mux(&commits.halts, &halts.q));
        m.assign(&dirty.d, &any);
        let stops = &commits.halts & !&halts.q;
        let counts = m.let_("counts", &any | &commits.trap | stops);
        // A loss that is not in the FIFO yet comes before whatever enters next.
        let missed = m.reg("missed", false);
        let lost = &commits.lost | &missed.q;
        // The encoder does not see a loss at a level that may not be traced. It waits for another level, but not when
        // tracing ends, which waits for it.
        let hides = commits.forbidden.as_ref();
        let hides = hides.map(|forbidden| m.let_("hides_loss", forbidden & &commits.enable));
        let lost = match &hides {
            Some(hides) => m.let_("lost_before", lost & !hides),
            None => m.let_("lost_before", lost),
        };
        let closes =
            m.let_("ends_older", &commits.flush | commits.privilege.ne(&privilege.q) | &lost);
        m.assign(&pushes, &counts | &lost | (&closes & &dirty.q));
        m.assign(&stays, !(&pushes & !&accepts));
        commits.hold(m, config, &!&stays, out);
        let drops = if config.holds { zero(1) } else { &counts & !&accepts };
        let waits = match &hides {
            Some(hides) => ((drops | &lost) & !&enters) | (&missed.q & hides),
            None => (drops | &lost) & !&enters,
        };
        m.assign(&missed.d, waits);

        let parts = [
            &commits.valid,
            &closes,
            &lost,
            &commits.trap,
            &commits.interrupt,
            &commits.cause,
            &commits.tval,
            &commits.trap_pc,
            &commits.privilege,
            &commits.halts,
        ];
        let shared = concat(&parts);
        let depth = config.fifo_depth.into();
        let queue = |name: &str, data: &Expr| {
            let ports = [("valid_i", &enters), ("data_i", data), ("ready_i", pops)];
            let outputs = FifoOut::of(&m.inst(name, &fifo(data.width(), depth), &ports));
            m.unused(&concat(&[&outputs.usage, &outputs.full]));
            outputs
        };
        let cycles = queue("i_cycles", &shared);
        m.assign(&accepts, &cycles.ready);
        let (w, tw) = (config.address(), config.itype());
        let of_lane = (0..config.n()).map(|i| {
            let pc = commits.pc.slice(i * w, w);
            let itype = commits.itype.slice(i * tw, tw);
            let (wide, ends) = (!commits.compressed.bit(i), commits.ends.bit(i));
            let sijump = commits.sijump.as_ref().map(|sijump| sijump.bit(i));
            let fields = [Some(&pc), Some(&itype), Some(&wide), Some(&ends), sijump.as_ref()];
            let data = concat(&fields.into_iter().flatten().collect::<Vec<_>>());
            let lane = queue(&format!("i_lane_{i}"), &data);
            m.unused(&concat(&[&lane.ready, &lane.valid]));
            lane.data.clone()
        });
        let of_lane = of_lane.collect();
        let mut at = shared.width();
        let mut fields = parts.map(|part| {
            at -= part.width();
            cycles.data.slice(at, part.width())
        });
        let mut names = [
            "lanes",
            "closes",
            "lost",
            "trap",
            "interrupt",
            "cause",
            "tval",
            "trap_pc",
            "priv",
            "halts",
        ]
        .into_iter();
        for field in &mut fields {
            *field = m.let_(&format!("head_{}", names.next().unwrap_or_default()), field.clone());
        }
        let [lanes, closes, lost, trap, interrupt, cause, tval, trap_pc, privilege, halts] = fields;
        let valid = cycles.valid.clone();
        Self {
            valid,
            lanes,
            of_lane,
            closes,
            lost,
            missed: missed.q,
            trap,
            interrupt,
            cause,
            tval,
            trap_pc,
            privilege,
            halts,
        }
    }
}

/// The next instruction.
struct Pick {
    found: Expr,
    /// Its lane, as a one-hot vector.
    lane: Expr,
    /// Whether no other instruction of this cycle follows.
    last: Expr,
    pc: Expr,
    /// The address after it.
    next: Expr,
    wide: Expr,
    itype: Expr,
    ends: Expr,
    sijump: Option<Expr>,
}

impl Pick {
    fn new(m: &Module, config: &Config, head: &Head, left: &Expr) -> Self {
        let mut fields = head.of_lane[0].clone();
        let mut lanes = vec![left.bit(0)];
        for i in 1..config.n() {
            let older = left.trunc(i).any();
            lanes.push(left.bit(i) & !&older);
            fields = m.let_(&format!("pick_{i}"), older.mux(fields, &head.of_lane[i as usize]));
        }
        let lane = m.let_("pick_lane", side_by_side(&lanes));
        let (w, tw) = (config.address(), config.itype());
        let sijump = config.sijump.then(|| fields.bit(0));
        let low = u32::from(config.sijump);
        let wide = m.let_("pick_wide", fields.bit(low + 1));
        let pc = m.let_("pick_pc", fields.slice(low + 2 + tw, w));
        let ends = match config.retirement {
            Retirement::Block => fields.bit(low),
            Retirement::Single => {
                m.unused(&fields.bit(low));
                lit(1, 1)
            }
        };
        Self {
            found: left.any(),
            last: !(left & !&lane).any(),
            next: m.let_("pick_next", &pc + wide.mux(lit(w, 4), lit(w, 2))),
            itype: fields.slice(low + 2, tw),
            lane,
            pc,
            wide,
            ends,
            sijump,
        }
    }
}
