//! Builds blocks from all instructions of a cycle at once.

use crate::config::{Config, Retirement};
use crate::port::{Blocks, Commits, side_by_side};
use crate::slots::{Slot, Slots};
use hartrace_rtl::{Component, Expr, Module, Reg, lit, zero};

/// The module `cva6_block_builder`.
pub(crate) fn build(config: &Config) -> Component {
    let m = Module::new(
        "cva6_block_builder",
        "Makes blocks of what is committed, as many a cycle as there are lanes. What was committed is held\n\
         for a cycle, so that a block whose end shows only in the next cycle is complete in time: then no\n\
         cycle has more blocks than lanes, and all blocks of a cycle have one privilege level.",
    )
    .clocked();
    let commits = Commits::inputs(&m, config);
    let out = Blocks::outputs(&m, config);
    let awake = m.wire("awake", 1);
    let moves = m.let_("moves", &awake & !&commits.stall);
    commits.hold(&m, config, &commits.stall, &out);

    m.section("What is committed now, in view of the instruction that follows.");
    let now = Now::new(&m, config, &commits);
    let held = Held::new(&m, config, &commits, &now, &moves);

    m.section(
        "Blocks of what was committed a cycle ago. The last one waits unless something ends it.",
    );
    let closes = m.let_(
        "closes",
        &held.halts.q
            | &held.trap.q
            | &commits.flush
            | &commits.lost
            | commits.privilege.ne(&held.privilege.q)
            | now.any.mux(now.first_pc.ne(&held.expected.q), &commits.halts | &commits.trap),
    );
    let open = m.reg_en("open", false, &moves);
    let start = m.reg_data("start", config.address(), &moves);
    let count = m.reg_data("count", config.iretire(), &moves);
    let last_wide = m.reg_data("last_wide", 1, &moves);
    let slots = Slots::new(&m, config);
    let lost = m.wire("trap_lost", 1);
    let block = |itype: Expr, sijump: Option<Expr>| Slot {
        itype,
        iaddr: start.d.clone(),
        iretire: count.d.clone(),
        ilastsize: last_wide.d.clone(),
        sijump,
    };
    m.comb(|b| {
        slots.clear(b);
        b.set(&lost, false);
        for i in 0..config.n() {
            b.when(held.valid.q.bit(i), |b| {
                let wide = held.wide.q.bit(i);
                b.when(!&open.d, |b| {
                    b.set(&start.d, held.pc[i as usize].q.clone());
                    b.set(&count.d, zero(config.iretire()));
                });
                let size = wide.mux(lit(config.iretire(), 2), lit(config.iretire(), 1));
                b.set(&count.d, &count.d + size);
                b.set(&last_wide.d, wide);
                b.set(&open.d, true);
                b.when(held.ends.q.bit(i) | full(config, &count.d), |b| {
                    let itype = held.itype.q.slice(i * config.itype(), config.itype());
                    let sijump = held.sijump.as_ref().map(|reg| reg.q.bit(i));
                    slots.push(b, i, &block(itype, sijump));
                    b.set(&open.d, false);
                });
            });
        }
        b.when(&open.d & &closes, |b| {
            let plain = block(zero(config.itype()), config.sijump.then(|| zero(1)));
            slots.push(b, config.n() - 1, &plain);
            b.set(&open.d, false);
        });
        b.when(&held.trap.q, |b| {
            b.when(slots.full(), |b| b.set(&lost, true)).otherwise(|b| {
                slots.push(
                    b,
                    config.n() - 1,
                    &Slot::trap(config, &held.interrupt.q, &held.trap_pc.q),
                );
            });
        });
    });

    m.section("In registers, to the encoder.");
    let offers = slots.offer(&m, &moves, None, &out);
    let trap_moves = m.let_("trap_moves", &moves & &held.trap.q);
    let pass = |name: &str, enable: &Expr, from: &Expr, to: &Expr| {
        let reg = m.reg_data(name, from.width(), enable);
        m.assign(&reg.d, from);
        m.assign(to, &reg.q);
    };
    pass("offered_cause", &trap_moves, &held.cause.q, &out.cause);
    pass("offered_tval", &trap_moves, &held.tval.q, &out.tval);
    pass("offered_priv", &moves, &held.privilege.q, &out.privilege);
    let flag = |name: &str, from: &Expr, to: &Expr| {
        let reg = m.reg_en(name, false, &moves);
        m.assign(&reg.d, from);
        m.assign(to, &reg.q);
    };
    flag("offered_halted", &held.halts.q, &out.halted);
    flag("offered_lost", &(lost | &held.lost.q), &out.lost);
    let waits = held.valid.q.any() | &held.trap.q | &held.lost.q | &open.q;
    let empty = m.let_("empty", !(waits | &offers | &out.lost));
    m.assign(&out.empty, &empty);
    // What is neither enabled nor on its way does not toggle.
    m.assign(&awake, &commits.enable | !empty | &out.halted | &held.halts.q);
    m.finish()
}

/// Whether one more instruction of 4 bytes might not fit.
pub(crate) fn full(config: &Config, count: &Expr) -> Expr {
    count.slice(1, config.iretire() - 1).all()
}

/// The instructions of this cycle.
struct Now {
    /// Whether there is an instruction.
    any: Expr,
    /// Address of the oldest instruction.
    first_pc: Expr,
    /// Address after the newest one.
    expected: Expr,
    /// For each lane, whether a block ends with its instruction, whatever follows in later cycles.
    ends: Vec<Expr>,
}

impl Now {
    fn new(m: &Module, config: &Config, commits: &Commits) -> Self {
        let (n, w) = (config.n(), config.address());
        let pc = |i: u32| commits.pc.slice(i * w, w);
        let next: Vec<Expr> = (0..n)
            .map(|i| {
                let size = commits.compressed.bit(i).mux(lit(w, 2), lit(w, 4));
                m.let_(&format!("next_{i}"), pc(i) + size)
            })
            .collect();
        // From the newest to the oldest: the successors in this cycle, if any.
        let (mut any, mut first_pc) = (commits.valid.bit(n - 1), pc(n - 1));
        let mut ends = vec![commits.ends.bit(n - 1)];
        for i in (0..n - 1).rev() {
            let valid = commits.valid.bit(i);
            let breaks = &any & next[i as usize].ne(&first_pc);
            ends.insert(0, commits.ends.bit(i) | breaks);
            any = &valid | any;
            first_pc = m.let_(&format!("pc_from_{i}"), valid.mux(pc(i), first_pc));
        }
        if config.retirement == Retirement::Single {
            m.unused(&side_by_side(&ends));
            ends = (0..n).map(|_| lit(1, 1)).collect();
        }
        let newest = next
            .iter()
            .cloned()
            .zip(0..)
            .reduce(|(before, _), (next, i)| (commits.valid.bit(i).mux(next, before), i));
        let expected = newest.map_or_else(|| zero(w), |(next, _)| next);
        Self { any: m.let_("commits_any", any), first_pc, expected, ends }
    }
}

/// The instructions of the previous cycle.
struct Held {
    valid: Reg,
    pc: Vec<Reg>,
    wide: Reg,
    itype: Reg,
    ends: Reg,
    sijump: Option<Reg>,
    /// Address after the newest instruction so far.
    expected: Reg,
    trap: Reg,
    interrupt: Reg,
    cause: Reg,
    tval: Reg,
    trap_pc: Reg,
    privilege: Reg,
    halts: Reg,
    lost: Reg,
}

impl Held {
    fn new(m: &Module, config: &Config, commits: &Commits, now: &Now, moves: &Expr) -> Self {
        let w = config.address();
        let reset = |name: &str, value: &Expr| {
            let reg = m.reg_en(name, zero(value.width()), moves);
            m.assign(&reg.d, value);
            reg
        };
        let any = m.let_("loads", moves & &now.any);
        let traps = m.let_("loads_trap", moves & &commits.trap);
        let data = |name: &str, enable: &Expr, value: &Expr| {
            let reg = m.reg_data(name, value.width(), enable);
            m.assign(&reg.d, value);
            reg
        };
        let pc = (0..config.n()).map(|i| {
            let reg = m.reg_data(&format!("pc_{i}"), w, &any);
            m.assign(&reg.d, commits.pc.slice(i * w, w));
            reg
        });
        Self {
            valid: reset("valid", &commits.valid),
            pc: pc.collect(),
            wide: data("wide", &any, &!&commits.compressed),
            itype: data("itype", &any, &commits.itype),
            ends: data("ends", &any, &side_by_side(&now.ends)),
            sijump: commits.sijump.as_ref().map(|value| data("sijump", &any, value)),
            expected: data("expected", &any, &now.expected),
            trap: reset("trap", &commits.trap),
            interrupt: data("interrupt", &traps, &commits.interrupt),
            cause: data("cause", &traps, &commits.cause),
            tval: data("tval", &traps, &commits.tval),
            trap_pc: data("trap_pc", &traps, &commits.trap_pc),
            privilege: reset("priv", &commits.privilege),
            halts: reset("halts_then", &commits.halts),
            lost: reset("lost_then", &commits.lost),
        }
    }
}
