//! Proof that every committed instruction is in exactly one block, and in order; the same for traps.
//!
//! An instruction that the prover chooses is followed, by the half-words that were committed before it and
//! have not come out yet: where they say that it is in a block, there is its address, its size and what it
//! does. Nothing comes out that was not committed, and when the connector says that it is empty, nothing is
//! missing.

use hartrace_cva6_connector::{Building, Config, Kind, connector};
use hartrace_ingress::IType;
use hartrace_prove::{Proof, Rig, run};
use hartrace_rtl::{Component, Expr, concat, lit, zero};
use std::path::Path;

/// Bits of addresses that are not always zero, so that the prover comes to an end. The others go through
/// the same gates; in simulation they are anything.
const ADDRESS: u32 = 4;

/// Width of numbers: of more half-words than are inside at any time, which is proven too.
const NUMBER: u32 = 5;

fn main() {
    let mut proofs = Vec::new();
    // Cycles from reset; each takes the prover twice to four times as long as the one before.
    for (lanes, building, cycles) in [
        (1, Building::Direct, 11),
        (2, Building::Direct, 8),
        (1, Building::Serialised, 8),
        (2, Building::Serialised, 7),
    ] {
        let config = Config {
            lanes,
            building,
            xlen: 32,
            itype_width_p: 3,
            iretire_width_p: 2,
            ecause_width_p: 1,
            fifo_depth: 2,
            ..Config::default()
        };
        let name = format!("{building:?}_{lanes}").to_lowercase();
        let proof = Proof::bounded(&name, &rig(&config), cycles).refuted_without("debug_i");
        proofs.push(match building {
            Building::Direct => proof
                .refuted_without("compressed_i")
                .refuted_without("taken_i")
                .refuted_without("trap_pc_i")
                .refuted_by("open_d & closes", "open_d & 1'b0"),
            _ => proof,
        });
    }
    run(Path::new(env!("CARGO_TARGET_TMPDIR")), proofs)
}

fn rig(config: &Config) -> Component {
    let block = connector(config).unwrap_or_else(|e| panic!("{e}"));
    let rig = Rig::new(&block);
    let m = &rig.m;
    let n = u32::from(config.lanes);
    let (w, rw) = (u32::from(config.xlen), u32::from(config.iretire_width_p));
    let takes = m.let_("takes", !rig.port("stall_o"));
    let live = m.let_("live", &takes & !rig.port("debug_i"));
    let valid = rig.port("valid_i");
    for (name, lanes) in [("pc_i", n), ("trap_pc_i", 1)] {
        let high = (0..lanes).map(|i| rig.port(name).slice(i * w + ADDRESS, w - ADDRESS).any());
        let high = high.reduce(|a, b| a | b).unwrap_or_else(|| zero(1));
        m.assume_always(&format!("low_{name}"), !high);
    }
    if config.building == Building::Direct {
        // With a trap, a lane is left for it.
        m.assume_always("room_for_trap", !(rig.port("trap_i") & valid.all()));
        m.assert_always("nothing_lost", !rig.port("lost_o"));
    } else {
        m.assert_always("loss_is_told", rig.port("lost_o").eq(rig.port("stall_o")));
    }

    m.section("What the prover follows, and how much comes out before it.");
    let choose = m.input("choose", n, "lanes that may be followed");
    let choose_trap = m.input("choose_trap", 1, "the trap may be followed");
    let inside = m.reg("inside", zero(NUMBER));
    let chosen = m.reg("chosen", false);
    let ahead = m.reg("ahead", zero(NUMBER));
    let pc = m.reg("chosen_pc", zero(w));
    let wide = m.reg("chosen_wide", false);
    let plain = m.reg("chosen_plain", false);
    let itype = m.reg("chosen_itype", zero(3));
    let traps_inside = m.reg("traps_inside", zero(NUMBER));
    let trap_chosen = m.reg("trap_chosen", false);
    let trap_ahead = m.reg("trap_ahead", zero(NUMBER));
    let traps_ahead = m.reg("traps_ahead", zero(NUMBER));
    let trap_pc = m.reg("chosen_trap_pc", zero(w));
    let trap_itype = m.reg("chosen_trap_itype", zero(3));
    let right = m.wire("right", 1);
    let known = m.wire("known", 1);
    let fits = m.wire("fits", 1);
    let code = |itype: IType| lit(3, itype.raw().into());
    let one = lit(NUMBER, 1);
    m.comb(|b| {
        b.set(&right, true);
        b.set(&known, true);
        b.set(&fits, true);
        b.note("What comes out was committed before this cycle.");
        b.when(!rig.port("stall_i"), |b| {
            for i in 0..n {
                let count = rig.port("iretire_o").slice(i * rw, rw).zext(NUMBER);
                let iaddr = rig.port("iaddr_o").slice(i * w, w);
                let found = rig.port("itype_o").slice(i * 3, 3);
                b.when(count.gt(&inside.d), |b| b.set(&known, false));
                b.set(&inside.d, &inside.d - &count);
                b.when(&chosen.d & ahead.d.lt(&count), |b| {
                    let offset = concat(&[&ahead.d, &lit(1, 0)]).zext(w);
                    let behind = &ahead.d + half_words(&!&wide.q);
                    let as_last = rig.port("ilastsize_o").bit(i).eq(&wide.q) & found.eq(&itype.q);
                    let in_it = behind.eq(&count).mux(as_last, &plain.q & behind.lt(&count));
                    b.set(&right, &right & in_it & (&iaddr + offset).eq(&pc.q));
                    b.set(&chosen.d, false);
                })
                .otherwise(|b| b.set(&ahead.d, &ahead.d - &count));
                b.set(&trap_ahead.d, &trap_ahead.d - &count);
                b.when(found.is(1) | found.is(2), |b| {
                    b.when(traps_inside.d.is(0), |b| b.set(&known, false));
                    b.set(&traps_inside.d, &traps_inside.d - &one);
                    b.when(&trap_chosen.d & traps_ahead.d.is(0), |b| {
                        let same =
                            trap_ahead.d.is(0) & iaddr.eq(&trap_pc.q) & found.eq(&trap_itype.q);
                        b.set(&right, &right & same);
                        b.set(&trap_chosen.d, false);
                    });
                    b.set(&traps_ahead.d, &traps_ahead.d - &one);
                });
            }
        });
        b.note("What is committed.");
        for i in 0..n {
            let kind = rig.port("kind_i").slice(i * 3, 3);
            let is = |of: Kind| kind.is(of as u128);
            let compressed = rig.port("compressed_i").bit(i);
            let branch = rig.port("taken_i").bit(i).mux(code(IType::Taken), code(IType::NotTaken));
            let far = is(Kind::IndirectJump) & rig.port("rs1_i").slice(i * 5, 5).any();
            let other = is(Kind::TrapReturn).gate(code(IType::TrapReturn));
            let other = far.mux(code(IType::UninferableJump), other);
            b.when(&live & valid.bit(i), |b| {
                b.when(choose.bit(i) & !&chosen.d, |b| {
                    b.set(&chosen.d, true);
                    b.set(&ahead.d, &inside.d);
                    b.set(&pc.d, rig.port("pc_i").slice(i * w, w));
                    b.set(&wide.d, !&compressed);
                    b.set(&plain.d, is(Kind::Plain));
                    b.set(&itype.d, is(Kind::Branch).mux(branch, other));
                });
                b.set(&inside.d, &inside.d + half_words(&compressed));
                b.when(inside.d.lt(half_words(&compressed)), |b| b.set(&fits, false));
            });
        }
        b.when(&live & rig.port("trap_i"), |b| {
            b.when(&choose_trap & !&trap_chosen.d, |b| {
                b.set(&trap_chosen.d, true);
                b.set(&trap_ahead.d, &inside.d);
                b.set(&traps_ahead.d, &traps_inside.d);
                b.set(&trap_pc.d, rig.port("trap_pc_i"));
                let interrupt = rig.port("interrupt_i");
                b.set(&trap_itype.d, interrupt.mux(code(IType::Interrupt), code(IType::Exception)));
            });
            b.set(&traps_inside.d, &traps_inside.d + &one);
        });
    });
    m.assert_always("in_place", &right);
    m.assert_always("nothing_invented", &known);
    m.assert_always("numbers_fit", &fits);
    let nothing = !(inside.q.any() | traps_inside.q.any());
    m.assert_always("nothing_missing", rig.port("empty_o").implies(nothing));
    rig.finish()
}

/// Half-words of an instruction.
fn half_words(compressed: &Expr) -> Expr {
    compressed.mux(lit(NUMBER, 1), lit(NUMBER, 2))
}
