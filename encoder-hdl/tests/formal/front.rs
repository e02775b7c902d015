//! Everything that enters the encoder leaves its queue in order, and everything that does not enter
//! is reported.
//!
//! The proof covers `te_core` up to the groups that `te_group_queue` outputs. Wires replace the
//! rest, so groups leave at the ports of payloads whenever the free input `ready_i` is set.

use crate::blocks::{block, tiny};
use hartrace_encoder_hdl::{Config, Overflow};
use hartrace_hdl_tools::prove::{Proof, Rig, Stream, num};
use hartrace_rtl::{Component, Direction, Expr, Module, lit, zero};
use std::collections::BTreeMap;

const GROUPS: Stream = Stream { valid: "valid_o", ready: "ready_i", data: &[] };

/// A module with the ports of another, whose outputs are computed from its inputs by `value`, or
/// zero.
fn stub(
    of: &Component,
    value: impl Fn(&str, &BTreeMap<String, Expr>) -> Option<Expr>,
) -> Component {
    let m = Module::new(of.name(), "").clocked();
    let ports = of.ports().iter().filter(|port| port.name != "clk_i" && port.name != "rst_ni");
    let (inputs, outputs): (Vec<_>, Vec<_>) =
        ports.partition(|port| port.direction == Direction::Input);
    let input =
        |port: &&hartrace_rtl::Port| (port.name.clone(), m.input(&port.name, port.width, ""));
    let inputs: BTreeMap<String, Expr> = inputs.iter().map(input).collect();
    for port in outputs {
        let output = m.output(&port.name, port.width, "");
        let value = value(&port.name, &inputs).unwrap_or_else(|| zero(1));
        m.assign(&output, value.zext(port.width));
    }
    inputs.values().for_each(|input| m.unused(input));
    m.finish()
}

/// Turns a group into a request: `start` if it contains instructions or a trap, `support` if it
/// reports that input was lost, and its mark as `branches`.
pub(crate) fn groups_as_requests(config: &Config) -> Component {
    stub(&block(config, "te_priority"), |output, group| {
        let value = match output {
            "valid_o" => group["valid_i"].clone(),
            "ready_o" => group["ready_i"].clone(),
            "start_o" => group["retires_i"].any() | &group["trap_i"],
            "support_o" => group["lost_i"].clone(),
            "branches_o" => group["mark_i"].clone(),
            "address_o" => group["first_i"].clone(),
            _ => return None,
        };
        Some(value)
    })
}

/// Turns a request into a payload.
pub(crate) fn requests_as_payloads(config: &Config) -> Component {
    stub(&block(config, "te_packet_emitter"), |output, request| {
        let value = match output {
            "valid_o" => request["valid_i"].clone(),
            "ready_o" => request["ready_i"].clone(),
            "empty_o" => lit(1, 1),
            "data_o" => hartrace_rtl::concat(&[
                &request["address_i"],
                &request["branches_i"].trunc(2),
                &request["support_i"],
                &request["start_i"],
            ]),
            _ => return None,
        };
        Some(value)
    })
}

/// A claim.
#[derive(Clone, Copy, PartialEq)]
enum Claim {
    /// As many rows leave as enter, and losses are reported where they should be.
    Accounts,
    /// Rows are those that entered, in order.
    Content,
}

/// Rows are what retires in one cycle.
fn rows(config: &Config, claim: Claim) -> Component {
    let rig = Rig::new(&block(config, "te_core"));
    let m = &rig.m;
    let itype = rig.port("itype_i");
    let mut works = rig.port("iretire_i").any() | itype.is(1) | itype.is(2);
    let mut incomplete = rig.port("lost_i");
    let allowed = rig.find("allow_i").map(|allow| allow.bit_at(rig.port("priv_i")));
    if let Some(allowed) = &allowed {
        // What may not be traced is not there. Nor is what a halted hart shows, which is not looked at here.
        works = works & allowed;
        incomplete = incomplete & allowed;
        m.assume_always("runs", !(rig.port("halted_i") | rig.port("reset_i")));
    }
    // What follows a stop is not traced, even if tracing is switched on before the stop could
    // enter. The stop is behind everything that was still on its way to the encoder.
    let (active, enable) = (rig.port("active_o"), rig.port("enable_i"));
    let stopping = m.reg("stopping", zero(1));
    let ends = m.let_("ends", &active & (!enable | &stopping.q));
    m.assign(&stopping.d, &ends);
    let traces = m.let_("traces", &active & !(&ends & rig.port("drained_i")));
    let lost = rig.port("lost_o");
    let mut missed = lost.clone();
    if config.may_stall() {
        missed = missed | rig.port("stall_o");
    }
    let enters = m.let_("enters", &works & &traces & !missed);

    let out = rig.moves(GROUPS);
    let data = rig.port("data_o");
    let row_out = m.let_("row_out", &out & data.bit(0));
    let within = rig.count("within", 4, |n| n + enters.zext(4) - row_out.zext(4));
    if claim == Claim::Content {
        let address = rig.port("iaddr_i").slice(1, config.etrace.address_bits());
        ordered(&rig, &enters, &address, &row_out, &within);
        return rig.finish();
    }
    let lost_out = m.let_("lost_out", &out & data.bit(1));
    m.assert_always("no_more_out_than_in", !&row_out | within.any());
    m.assert_always("empty_is_empty", !rig.port("empty_o") | within.is(0));
    flagged(&rig, &lost, &within, &row_out, &lost_out);
    if let Some(allowed) = &allowed {
        interrupted(&rig, (allowed, &traces), &enters, &within, &row_out);
    }
    let reason = match config.may_stall() {
        // The hart waits instead.
        true => incomplete.clone(),
        false => works | &incomplete,
    };
    m.assert_always("reasons_of_losses", !&lost | (reason & &traces));
    m.assert_always("what_is_incomplete_is_lost", !(incomplete & &traces) | &lost);
    m.assert_always("traces_until_the_end", rig.port("trace_o").eq(&active & !&ends));
    rig.finish()
}

/// Any row, chosen by a free input, leaves after those before it.
fn ordered(rig: &Rig, enters: &Expr, row: &Expr, row_out: &Expr, within: &Expr) {
    let m = &rig.m;
    let track = m.input("track_i", 1, "");
    let tracked = m.reg("tracked", zero(1));
    let ahead = m.reg("ahead", zero(4));
    let starts = m.let_("starts", enters & track & !&tracked.q);
    let address = m.reg_data("address", row.width(), &starts);
    m.assign(&address.d, row);
    let leaves = m.let_("leaves", row_out & &tracked.q & ahead.q.is(0));
    m.comb(|b| {
        b.when(&starts, |b| {
            b.set(&tracked.d, true);
            b.set(&ahead.d, within - row_out.zext(4));
        })
        .elsif(&leaves, |b| b.set(&tracked.d, false))
        .elsif(row_out & &tracked.q, |b| b.set(&ahead.d, &ahead.q - num(&ahead.q, 1)));
    });
    m.assert_always(
        "comes_out",
        !&leaves | rig.port("data_o").slice(4, row.width()).eq(&address.q),
    );
    m.assert_always("is_within", !&tracked.q | ahead.q.lt(within));
}

/// After any loss, chosen by a free input, and before the next row there is a group that reports
/// it.
fn flagged(rig: &Rig, lost: &Expr, within: &Expr, row_out: &Expr, lost_out: &Expr) {
    let m = &rig.m;
    let track = m.input("track_loss_i", 1, "");
    let owed = m.reg("owed", zero(1));
    let before = m.reg("rows_before", zero(4));
    let starts = m.let_("loss_starts", lost & track & !&owed.q);
    let here = m.let_("loss_is_next", &owed.q & before.q.is(0));
    m.comb(|b| {
        b.when(&starts, |b| {
            b.set(&owed.d, true);
            b.set(&before.d, within - row_out.zext(4));
        })
        .elsif(&here & lost_out, |b| b.set(&owed.d, false))
        .elsif(&owed.q & row_out, |b| b.set(&before.d, &before.q - num(&before.q, 1)));
    });
    m.assert_always("loss_is_said_before_a_row", !(&here & row_out));
    m.assert_always("loss_is_not_forgotten", !(&owed.q & rig.port("empty_o")));
    // It comes alone, as a break, and only after a loss.
    let data = rig.port("data_o");
    m.assert_always("loss_is_a_break", !lost_out | (data.slice(2, 2).is(1) & !data.bit(0)));
    let ever = rig.count("ever_lost", 1, |n| n | lost);
    m.assert_always("loss_is_true", !lost_out | ever);
}

/// Between a row and the next one there is a mark, if the hart was at a level that may not be traced in any cycle between
/// them; a free input chooses the first such cycle.
fn interrupted(
    rig: &Rig,
    (allowed, traces): (&Expr, &Expr),
    enters: &Expr,
    within: &Expr,
    row_out: &Expr,
) {
    let m = &rig.m;
    let track = m.input("track_gap_i", 1, "");
    let since =
        rig.count("row_before_gap", 1, |row| rig.port("active_o") & ((row & allowed) | enters));
    let owed = m.reg("gap_tracked", zero(1));
    let before = m.reg("rows_before_gap", zero(4));
    let starts = m.let_("gap_starts", traces & !allowed & track & since & !&owed.q);
    let here = m.let_("gap_is_next", &owed.q & before.q.is(0));
    let marked = rig.moves(GROUPS) & rig.port("data_o").slice(2, 2).any();
    m.comb(|b| {
        b.when(&starts, |b| {
            b.set(&owed.d, true);
            b.set(&before.d, within - row_out.zext(4));
        })
        .elsif(&here & &marked, |b| b.set(&owed.d, false))
        .elsif(&owed.q & row_out, |b| b.set(&before.d, &before.q - num(&before.q, 1)));
    });
    m.assert_always("gap_is_marked_before_a_row", !(&here & row_out));
    m.assert_always("gap_is_not_forgotten", !(&owed.q & rig.port("empty_o")));
}

/// The claims about encoders of harts that may not be traced at every level.
fn permitted() -> Vec<Proof> {
    let overflows = [("permits_drops_2", Overflow::Drop), ("permits_stalls_2", Overflow::Stall)];
    let proof = |(name, overflow): (&str, Overflow)| {
        let config = Config { ingress_depth: 2, overflow, permission: true, ..tiny() };
        Proof::any_run(&format!("front_{name}"), &rows(&config, Claim::Accounts), 15)
            .with(&groups_as_requests(&config))
            .with(&requests_as_payloads(&config))
            .refuted_soon()
            .refuted_with("allow_i")
            .refuted_without("lost_o")
            .refuted_by("gap_owed_d = active_q & gap & !enters", "gap_owed_d = 1'b0")
            .refuted_by("& !over", "")
    };
    overflows.into_iter().map(proof).collect()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let mut proofs = Vec::new();
    for (depth, comparators) in [(2, 0), (3, 1)] {
        for overflow in [Overflow::Drop, Overflow::Stall] {
            let config = Config { ingress_depth: depth, comparators, overflow, ..tiny() };
            let wired = |proof: Proof| {
                proof.with(&groups_as_requests(&config)).with(&requests_as_payloads(&config))
            };
            let drops = overflow == Overflow::Drop;
            let name = format!("front_{}_{depth}", if drops { "drops" } else { "stalls" });
            let rig = rows(&config, Claim::Accounts);
            // No invariant for three words can be found in time.
            let accounts = match depth {
                3 => wired(Proof::bounded(&name, &rig, 13)),
                _ => wired(Proof::any_run(&name, &rig, 15)),
            };
            let accounts = accounts
                .refuted_without("lost_o")
                .refuted_without("empty_o")
                .refuted_without("drained_i")
                .refuted_by("dropping_d = drops |", "dropping_d =");
            proofs.push(if drops { accounts } else { accounts.refuted_without("stall_o") });
            if drops {
                let rig = rows(&config, Claim::Content);
                let proof = Proof::bounded(&format!("{name}_content"), &rig, 10);
                proofs.push(wired(proof).refuted_without("iaddr_i"));
            }
        }
    }
    proofs.extend(permitted());
    proofs
}
