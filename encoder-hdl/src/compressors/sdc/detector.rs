//! Finds streams: instructions from the target of a jump up to the next taken branch.

use super::Sdc;
use crate::compressors::port::{BRANCH, Row};
use hartrace_etrace::ingress::IType;
use hartrace_rtl::{Component, Module, Wire, bundle, lit, zero};

/// The largest number of instructions in a stream.
const LONGEST: u128 = 254;
/// The length of a stream that was cut there.
const CUT: u128 = 255;

bundle! {
    /// The signals of a stream.
    pub(super) struct Stream { start, known, length, trap, retired, handler }
}

impl Stream<Wire> {
    pub(super) fn new(config: &Sdc) -> Self {
        let address = config.xlen - 1;
        Self {
            start: Wire::new(address, "address of its first instruction, but for the lowest bit"),
            known: Wire::new(1, "which the stream before tells"),
            length: Wire::new(8, "instructions; 255 if it was cut behind 254, 0 if a trap ends it"),
            trap: Wire::new(1, "a trap ends it"),
            retired: Wire::new(8, "instructions before the trap"),
            handler: Wire::new(address, "where the trap leads"),
        }
    }
}

bundle! {
    /// The other outputs of the module.
    pub(super) struct DetectorOut { stall, ended, valid }
}

/// The module `te_stream_detector`.
///
/// A row is looked at when the next one arrives: only then it is known where it leads.
pub(super) fn build(config: &Sdc) -> Component {
    let m = Module::new(
        "te_stream_detector",
        "Finds streams: instructions from the target of a jump up to the next taken branch. Direct jumps do\n\
         not end them. A row is looked at when the next one arrives.",
    )
    .clocked();
    let row = Row::new(&m, config.xlen);
    let stall_o = m.output("stall_o", 1, "what retires has to be held");
    let stall = m.input("stall_i", 1, "hold it in any case");
    let end = m.input("end_i", 1, "the trace ends: nothing retires");
    let ended_o = m.output("ended_o", 1, "no stream is open");
    let valid_o = m.output("valid_o", 1, "a stream ends");
    let ready = m.input("ready_i", 1, "it can be taken");
    let out = Stream::new(config).outputs(&m);

    m.section("The row before, which leads to the one that arrives.");
    let take = m.wire("take", 1);
    let keep = |name: &str, value: hartrace_rtl::Expr| {
        let reg = m.reg_en(&format!("last_{name}"), false, &take);
        m.assign(&reg.d, value);
        reg.q
    };
    let branch = keep("taken", row.is(&[IType::Taken]));
    let indirect = keep("indirect", row.is_indirect());
    let trap = keep("trap", row.is_trap());
    let wide = keep("wide", row.wide.clone());
    let retires = m.reg("last_retires", false);
    let low = BRANCH - 1;
    let last = m.reg_data("last_address", low, &take);
    m.assign(&last.d, row.address.slice(1, low));
    let behind = &last.q + wide.mux(lit(low, 2), lit(low, 1));
    // Where it leads is not known at the end.
    let leaves = behind.ne(row.address.slice(1, low)) & !&end;
    let taken = m.let_("taken", branch & leaves);

    m.section("The open stream.");
    let begun = m.reg("begun", false);
    let known = m.reg("known", false);
    let length = m.reg("length", zero(8));
    let now = m.let_("length_now", &length.q + retires.q.zext(8));
    let natural = m.let_("natural", &taken | &indirect);
    let cut = m.let_("cut", !&natural & now.is(LONGEST));
    let traps = m.let_("traps", &trap & !&end & !&cut);
    let rest = &end & now.any();
    let closes = m.let_("closes", &begun.q & (&natural | &cut | &traps | rest));
    // A trap behind a stream that is cut is a stream of its own, without instructions.
    let twice = m.let_("twice", &begun.q & &cut & &trap & !&end);
    let offered = m.let_("offered", &row.works & !stall);
    m.assign(&valid_o, &closes & (&offered | &end));
    let held = m.let_("held", &closes & !ready);
    m.assign(&take, &offered & !&held & !&twice & !&end);
    m.assign(&stall_o, &row.works & !&take);
    let start = m.reg_data("start", config.xlen - 1, &take & (!&begun.q | &closes));
    m.assign(&start.d, row.address.slice(1, config.xlen - 1));
    m.assign(&ended_o, !&begun.q);
    m.comb(|b| {
        b.when(&take, |b| {
            b.set(&retires.d, &row.retires);
            b.set(&begun.d, true);
            b.set(&length.d, (!&closes & &begun.q).gate(&now));
            b.when(&closes, |b| b.set(&known.d, !&indirect))
                .elsif(!&begun.q, |b| b.set(&known.d, false));
        })
        .elsif(&end & !&held, |b| b.set(&begun.d, false))
        .elsif(&offered & &twice & !&held, |b| {
            b.set(&retires.d, false);
            b.set(&length.d, zero(8));
            b.set(&known.d, true);
        });
    });
    m.assign(&out.start, &start.q);
    m.assign(&out.known, &known.q);
    m.assign(&out.length, traps.mux(zero(8), cut.mux(lit(8, CUT), &now)));
    m.assign(&out.trap, &traps);
    m.assign(&out.retired, &now);
    m.assign(&out.handler, row.address.slice(1, config.xlen - 1));
    m.finish()
}
