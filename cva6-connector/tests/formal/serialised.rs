//! Invariants within the connector that processes one instruction after the other.

use crate::claims::{Claims, is_trap, trap_itype};
use crate::walk::{Instruction, Run, Trap, Walk};
use hartrace_rtl::{Expr, concat, lit, zero};

/// Asserts them.
pub(crate) fn invariants(follow: &Claims) {
    let m = &follow.rig.m;
    let inside = Inside { follow };
    let n = u32::from(follow.config.lanes);
    let (usage, [head, next]) = inside.entries();
    let open = inside.reg("open", 1);
    let level = inside.reg("level", 2);
    let done = inside.reg("done", n);

    m.section(
        "From the oldest to the newest: what is offered, what waits for the rest of its cycle,",
    );
    let mut walk = follow.offered();
    let offers = walk.half_words.any() | walk.traps.any();
    follow.within("offer_is_known", offers.implies(inside.reg("offers", 1)));
    let used = inside.collected(&mut walk, &head.level);
    let block = inside.open_block(&open, &level);
    walk.run(&block);
    m.section(
        "the open block, what is left of the cycle at the head of the FIFOs, and the cycle behind.",
    );
    head.pass(follow, &mut walk, &(&head.lanes & !&done), "head");
    next.pass(follow, &mut walk, &next.lanes, "next");
    follow.arrived(&walk);

    m.section("Lanes of the cycle at the head are done in order.");
    follow.within("done_of_head", done.any().implies(&head.valid));
    follow.within("done_of_lanes", (&done & !&head.lanes).is(0));
    for i in 1..n {
        let older = (head.lanes.trunc(i) & !done.trunc(i)).any();
        follow.within(&format!("done_in_order_{i}"), !(done.bit(i) & older));
    }
    let blocks = used.zext(4) + (&open & done.any()).zext(4);
    let turns = (0..n).fold(zero(4), |sum, i| sum + done.bit(i).zext(4));
    follow.within("a_block_for_each_lane", blocks.le(turns));

    m.section("A block is open at one level only.");
    let fresh = !done.any();
    let told = inside.reg("told", 1);
    follow.within("told_of_head", told.implies(&head.valid & &head.lost & !(&open & &fresh)));
    follow.within("told_before_done", (done.any() & &head.lost).implies(&told));
    for (name, entry) in [("head", &head), ("next", &next)] {
        let closes = (&entry.valid & &entry.lost).implies(&entry.closes);
        follow.within(&format!("{name}_loss_closes"), closes);
    }
    follow.within("level_of_head", done.any().implies(level.eq(&head.level)));
    let same = &open & &fresh & !&head.closes & &head.valid;
    follow.within("level_of_open", same.implies(level.eq(&head.level)));
    let same = &next.valid & !&next.closes & head.lanes.any();
    follow.within("level_of_next", same.implies(next.level.eq(&head.level)));
    let (dirty, newest) = (inside.reg("dirty", 1), inside.reg("priv", 2));
    let of_newest =
        |none: &Expr, one: &Expr, two: &Expr| usage.is(0).mux(none, usage.is(1).mux(one, two));
    let newest_level = of_newest(&level, &head.level, &next.level);
    follow.within("level_of_newest", dirty.implies(newest.eq(newest_level)));
    let may_be_open = of_newest(&open, &head.lanes.any(), &next.lanes.any());
    follow.within("dirty_if_open", may_be_open.implies(dirty));
}

/// The state within the connector.
struct Inside<'f> {
    follow: &'f Claims,
}

/// A cycle in the FIFOs.
struct Entry {
    valid: Expr,
    lanes: Expr,
    closes: Expr,
    lost: Expr,
    trap: Expr,
    interrupt: Expr,
    cause: Expr,
    tval: Expr,
    trap_pc: Expr,
    level: Expr,
    halts: Expr,
    of_lane: Vec<Expr>,
}

impl Inside<'_> {
    fn signal(&self, name: &str, width: u32) -> Expr {
        self.follow.rig.inner(&format!("i_block_builder.{name}"), width)
    }

    fn reg(&self, name: &str, width: u32) -> Expr {
        self.signal(&format!("{name}_q"), width)
    }

    /// The number of cycles that wait, and the two that can.
    fn entries(&self) -> (Expr, [Entry; 2]) {
        let config = &self.follow.config;
        let (n, w) = (u32::from(config.lanes), u32::from(config.xlen));
        let shared = [n, 1, 1, 1, 1, config.ecause_width_p.into(), w, w, 2, 1];
        let usage = self.reg("i_cycles.usage", 2);
        let read = self.reg("i_cycles.read", 1);
        let [cycle_0, cycle_1] = self.words("i_cycles", &read, shared.iter().sum());
        let lanes = (0..n).map(|i| {
            let name = format!("i_lane_{i}");
            let own = |reg: &str| format!("{name}.{reg}");
            let together = self.reg(&own("usage"), 2).eq(&usage);
            let together = together & self.reg(&own("read"), 1).eq(&read);
            self.follow.within(&format!("together_{i}"), together);
            self.words(&name, &read, w + 5)
        });
        let (lanes_0, lanes_1) = lanes.map(|[first, second]| (first, second)).unzip();
        let entry = |valid: Expr, cycle: &Expr, of_lane: Vec<Expr>| {
            let mut at = cycle.width();
            let [lanes, closes, lost, trap, interrupt, cause, tval, trap_pc, level, halts] = shared
                .map(|width| {
                    at -= width;
                    cycle.slice(at, width)
                });
            let lanes = valid.gate(lanes);
            Entry {
                valid,
                lanes,
                closes,
                lost,
                trap,
                interrupt,
                cause,
                tval,
                trap_pc,
                level,
                halts,
                of_lane,
            }
        };
        let entries =
            [entry(usage.any(), &cycle_0, lanes_0), entry(usage.is(2), &cycle_1, lanes_1)];
        (usage, entries)
    }

    /// The words of a FIFO, the older one first.
    fn words(&self, fifo: &str, read: &Expr, width: u32) -> [Expr; 2] {
        let word = |i: u32| self.signal(&format!("{fifo}.i_words.words[{i}]"), width);
        let (low, high) = (word(0), word(1));
        [read.mux(&high, &low), read.mux(low, high)]
    }

    /// Passes the blocks that wait, and returns their number.
    fn collected(&self, walk: &mut Walk<'_>, level: &Expr) -> Expr {
        let config = &self.follow.config;
        let n = u32::from(config.lanes);
        let used = self.reg("collected_used", if n == 1 { 1 } else { 2 });
        let widths = [3, config.xlen.into(), config.iretire_width_p.into(), 1_u32];
        let blocks = self.reg("collected", n * widths.iter().sum::<u32>());
        for i in 0..n {
            let mut at = 0;
            let [itype, start, count, last_wide] = widths.map(|width| {
                let field = blocks.slice(at + i * width, width);
                at += n * width;
                field
            });
            let here = used.gt(lit(used.width(), i.into()));
            self.follow.within(&format!("no_trap_collected_{i}"), !(&here & is_trap(&itype)));
            let (count, itype) = (here.gate(count), Some(itype));
            walk.run(&Run { count, start, last_wide, itype, level: level.clone() });
        }
        used
    }

    /// The open block, which has an instruction and room for another.
    fn open_block(&self, open: &Expr, level: &Expr) -> Run {
        let config = &self.follow.config;
        let w = config.xlen.into();
        let count = self.reg("count", config.iretire_width_p.into());
        let (start, last_wide) = (self.reg("start", w), self.reg("last_wide", 1));
        let room = count.any() & !count.slice(1, count.width() - 1).all();
        self.follow.within("open_has_room", open.implies(room));
        self.follow
            .within("open_wide", (open & &last_wide).implies(count.gt(lit(count.width(), 1))));
        let behind = &start + concat(&[&count, &lit(1, 0)]).zext(w);
        self.follow.within("expected_is_next", open.implies(self.reg("expected", w).eq(behind)));
        Run { count: open.gate(count), start, last_wide, itype: None, level: level.clone() }
    }
}

impl Entry {
    /// Passes the instructions of `lanes` and the trap.
    fn pass(&self, follow: &Claims, walk: &mut Walk<'_>, lanes: &Expr, name: &str) {
        let w = follow.config.xlen.into();
        let some = self.lanes.any() | &self.closes | &self.trap | &self.halts;
        follow.within(&format!("{name}_has_a_reason"), self.valid.implies(some));
        for (i, fields) in (0..).zip(&self.of_lane) {
            let (ends, itype) = (fields.bit(0), fields.slice(2, 3));
            let known = (&ends | itype.is(0)) & !is_trap(&itype);
            follow.within(&format!("{name}_itype_{i}"), self.lanes.bit(i).implies(known));
            walk.instruction(&Instruction {
                valid: lanes.bit(i),
                pc: fields.slice(5, w),
                wide: fields.bit(1),
                itype,
                ends,
                level: self.level.clone(),
            });
        }
        walk.trap(&Trap {
            valid: &self.valid & &self.trap,
            pc: self.trap_pc.clone(),
            itype: trap_itype(&self.interrupt),
            level: self.level.clone(),
            cause: self.cause.clone(),
            tval: self.tval.clone(),
        });
    }
}
