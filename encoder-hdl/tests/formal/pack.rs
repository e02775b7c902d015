//! Everything that arrives in groups leaves in groups, in the same order.

use crate::blocks::{block, ones_of, tiny};
use hartrace_encoder_hdl::{Config, ResyncUnit};
use hartrace_hdl_tools::prove::{Proof, Rig, num};
use hartrace_rtl::{Component, Expr, concat, lit, zero};

/// The items of a group, in order: for each lane a block, a trap, a mark. For each, whether it is
/// present, and its content.
fn items(rig: &Rig, n: u32, side: &str, valid: &Expr) -> Vec<(Expr, Expr)> {
    let port = |name: &str| rig.port(&format!("{name}_{side}"));
    let lane = |i: u32| {
        let width = port("first").width() / n;
        let bits = ["two", "qualified", "taken", "not_taken", "uninferable", "wide", "call", "ret"];
        let mut what: Vec<Expr> = bits
            .iter()
            .filter_map(|name| rig.find(&format!("{name}_{side}")).map(|port| port.bit(i)))
            .collect();
        what.push(port("first").slice(i * width, width));
        what.push(port("last").slice(i * width, width));
        // A trap before which nothing retired has its address in a lane.
        let here = port("retires").bit(i) | port("trap_alone").bit(i);
        what.push(port("trap_alone").bit(i));
        (valid & here, concat(&what.iter().collect::<Vec<_>>()))
    };
    let mut items: Vec<(Expr, Expr)> = (0..n).map(lane).collect();
    let width = items[0].1.width();
    let trap = concat(&[&port("cause"), &port("interrupt"), &port("trap_qualified")]);
    items.push((valid & port("trap"), trap.zext(width)));
    let mark = concat(&[&port("mark"), &port("lost")]);
    items.push((valid & port("mark").any(), mark.zext(width)));
    items
}

/// Any of them, chosen by a free input, leaves after those before it. With `helped`, its position
/// until then is also stated.
fn ordered(config: &Config, helped: bool) -> Component {
    let rig = Rig::new(&block(config, "te_group_pack"));
    let (m, n) = (&rig.m, u32::from(config.lanes));
    let number = |items: &[(Expr, Expr)]| {
        let there: Vec<Expr> = items.iter().map(|(there, _)| there.clone()).collect();
        ones_of(&there, 5)
    };
    let (enter, leave) =
        (items(&rig, n, "i", &rig.port("valid_i")), items(&rig, n, "o", &rig.port("valid_o")));
    let out = m.let_("items_out", number(&leave));
    let within = rig.count("within", 5, |sum| sum + number(&enter) - &out);
    // Which kind it is: a lane, a trap or a mark.
    let kinds = enter.len() as u32;
    let kind =
        |i: usize| if i < n as usize { lit(2, 0) } else { lit(2, 1 + i as u128 - u128::from(n)) };
    let track = m.input("track_i", kinds, "");
    let tracked = m.reg("tracked", zero(1));
    let ahead = m.reg("ahead", zero(5));
    let mut starts = zero(1);
    let (mut position, mut what, mut which) = (zero(5), zero(enter[0].1.width()), zero(2));
    for (i, (there, content)) in enter.iter().enumerate() {
        let here = there & track.bit(i as u32) & !&starts & !&tracked.q;
        position = here.mux(&within - &out + number(&enter[..i]), &position);
        what = here.mux(content, &what);
        which = here.mux(kind(i), &which);
        starts = starts | here;
    }
    let starts = m.let_("starts", starts);
    let expected = m.reg_data("expected", what.width(), &starts);
    let expected_kind = m.reg_data("expected_kind", 2, &starts);
    m.assign(&expected.d, what);
    m.assign(&expected_kind.d, which);
    let leaves = m.let_("leaves", &tracked.q & ahead.q.lt(&out));
    m.comb(|b| {
        b.when(&starts, |b| {
            b.set(&tracked.d, true);
            b.set(&ahead.d, &position);
        })
        .elsif(&leaves, |b| b.set(&tracked.d, false))
        .elsif(&tracked.q, |b| b.set(&ahead.d, &ahead.q - &out));
    });
    let among = |items: &[(Expr, Expr)]| {
        let mut right = zero(1);
        for (i, (there, content)) in items.iter().enumerate() {
            let turn = there & ahead.q.eq(number(&items[..i]));
            right = right | (turn & content.eq(&expected.q) & expected_kind.q.eq(kind(i)));
        }
        right
    };
    m.assert_always("comes_out", !&leaves | among(&leave));
    m.assert_always("is_within", !&tracked.q | ahead.q.lt(&within));

    // One place is free for every group that joins another, and groups that differ stay separate.
    let joins = rig.port("joins_o");
    let groups = rig.count("groups", 2, |groups| {
        groups + rig.port("valid_i").zext(2) - joins.zext(2) - rig.port("valid_o").zext(2)
    });
    m.assert_always("one_waits", groups.le(num(&groups, 1)));
    m.assert_always("joins_what_waits", !&joins | (rig.port("valid_i") & groups.is(1)));
    let differs = rig.port("privilege_changes_i") | rig.port("resync_mode_i").is(2);
    m.assert_always("stays_apart", !(joins & differs));
    if helped {
        let waiting = items(&rig, n, "o", &groups.is(1));
        m.assert_always("waits_here", !&tracked.q | among(&waiting));
        m.assert_always("held_if_one_waits", rig.inner("held_q", 1).eq(groups.is(1)));
        m.assert_always("all_wait_here", within.eq(number(&waiting)));
    }
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let prove = |lanes| {
        let resync = vec![ResyncUnit::Packets, ResyncUnit::Cycles];
        let config = Config { lanes, pack: true, resync, ..tiny() };
        Proof::any_run(&format!("group_pack_{lanes}"), &ordered(&config, false), 6)
            .by_induction(&ordered(&config, true), 2)
    };
    let mut two = prove(2);
    for port in
        ["valid_i", "retires_i", "first_i", "trap_i", "mark_i", "joins_o", "valid_o", "last_o"]
    {
        two = two.refuted_without(port);
    }
    vec![two, prove(3).refuted_without("trap_alone_i")]
}
