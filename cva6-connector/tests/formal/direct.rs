//! Invariants within the connector that processes all instructions of a cycle at once.

use crate::claims::{Claims, is_trap, trap_itype};
use crate::walk::{Instruction, Run, Trap};
use hartrace_rtl::{Expr, concat, lit, zero};

/// Asserts them.
pub(crate) fn invariants(follow: &Claims) {
    let (rig, m) = (&follow.rig, &follow.rig.m);
    let inner = |name: &str, width: u32| rig.inner(&format!("i_block_builder.{name}_q"), width);
    let (n, w) = (u32::from(follow.config.lanes), u32::from(follow.config.xlen));
    let open = inner("open", 1);
    let count = inner("count", follow.config.iretire_width_p.into());
    let (start, last_wide) = (inner("start", w), inner("last_wide", 1));
    let (valid, wide, ends) = (inner("valid", n), inner("wide", n), inner("ends", n));
    let (itype, expected) = (inner("itype", 3 * n), inner("expected", w));
    let (trap, halts) = (inner("trap", 1), inner("halts_then", 1));
    let level = inner("priv", 2);

    m.section("From the oldest to the newest: what is offered, the open block, what is held.");
    let mut walk = follow.offered();
    let offers = walk.half_words.any() | walk.traps.any();
    follow.within("offer_is_known", offers.implies(inner("offers", 1)));
    walk.run(&Run {
        count: open.gate(&count),
        start: start.clone(),
        last_wide: last_wide.clone(),
        itype: None,
        level: level.clone(),
    });
    // Where the open block or the previous instruction ends, and whether it must continue
    // there.
    let mut goes_on = open.clone();
    let mut at = &start + concat(&[&count, &lit(1, 0)]).zext(w);
    for i in 0..n {
        let (here, pc) = (valid.bit(i), inner(&format!("pc_{i}"), w));
        let here_itype = itype.slice(i * 3, 3);
        follow.within(&format!("follows_{i}"), (&here & &goes_on).implies(pc.eq(&at)));
        follow.within(&format!("no_trap_{i}"), !(&here & is_trap(&here_itype)));
        let known = ends.bit(i) | here_itype.is(0);
        follow.within(&format!("itype_ends_{i}"), here.implies(known));
        walk.instruction(&Instruction {
            valid: here.clone(),
            pc: pc.clone(),
            wide: wide.bit(i),
            itype: here_itype,
            ends: ends.bit(i),
            level: level.clone(),
        });
        goes_on = here.mux(!ends.bit(i), goes_on);
        at = here.mux(pc + bytes(&wide.bit(i), w), at);
    }
    let some = valid.any() | &open;
    follow.within("expected_is_next", some.implies(expected.eq(at)));
    walk.trap(&Trap {
        valid: trap.clone(),
        pc: inner("trap_pc", w),
        itype: trap_itype(&inner("interrupt", 1)),
        level,
        cause: inner("cause", follow.config.ecause_width_p.into()),
        tval: inner("tval", w),
    });
    follow.arrived(&walk);

    m.section("The open block has an instruction, and room for another.");
    let room = count.any() & !count.slice(1, count.width() - 1).all();
    follow.within("open_has_room", open.implies(room));
    follow.within("open_wide", (&open & &last_wide).implies(count.gt(lit(count.width(), 1))));

    m.section("There is a lane for a trap, and nothing open before it without an instruction.");
    follow.within("lane_for_trap", !(&trap & valid.all()));
    let alone = (&trap | halts) & valid.eq(zero(n));
    follow.within("trap_alone", !(alone & &open));
}

/// Bytes of an instruction.
fn bytes(wide: &Expr, width: u32) -> Expr {
    wide.mux(lit(width, 4), lit(width, 2))
}
