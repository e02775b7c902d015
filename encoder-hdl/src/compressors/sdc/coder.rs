//! Turns streams into fields.

use super::cache::{self, CacheOut};
use super::detector::Stream;
use super::runs::{self, RunsOut};
use super::{LOW, Sdc};
use crate::compressors::bits::{Fields, high_width};
use crate::compressors::numbers::Field;
use crate::compressors::tables::Clear;
use hartrace_rtl::{Component, Module, bundle, concat, lit, zero};

bundle! {
    /// The outputs of the module, besides fields.
    pub(super) struct CoderOut { ended }
}

/// Bits of the longest field: a stream that is not in the cache, and whose address is sent whole.
pub(super) fn field_bits(config: &Sdc) -> u32 {
    1 + config.index() + 1 + (config.xlen - 1) + 8
}

/// The module `te_sdc_coder`.
///
/// A stream takes a cycle to be looked up, and then a cycle for each field, but at least one.
pub(super) fn build(config: &Sdc) -> Component {
    let (xlen, bits) = (config.xlen, field_bits(config));
    let m = Module::new(
        "te_sdc_coder",
        "Turns streams into fields: numbers of those that are in the cache, and descriptions of others. Runs\n\
         of streams that follow each other as they did before are only counted.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let from = Stream::new(config).inputs(&m);
    let end = m.input("end_i", 1, "send the run, if there is no stream");
    let ended_o = m.output("ended_o", 1, "there is neither a stream nor a run");
    let clear = Clear::inputs(&m, config.entries);
    let fields = Fields::new(&m, bits);

    m.section("The stream, which is looked up in its first cycle.");
    let held = m.reg("held", false);
    let looked = m.reg("looked", false);
    let done = m.wire("done", 1);
    m.assign(&ready_o, !&held.q | &done);
    let load = m.let_("load", valid_i & &ready_o);
    m.assign(&held.d, &load | (&held.q & !&done));
    m.assign(&looked.d, &held.q & !&done);
    let stream = from.map(|name, signal| {
        let reg = m.reg_data(&format!("stream_{name}"), signal.width(), &load);
        m.assign(&reg.d, signal);
        reg.q
    });
    let Stream { start, trap, length, .. } = &stream;
    let looks = m.let_("looks", &held.q & !&looked.q);
    let enters = &looks & !trap;
    let low = start.trunc(LOW - 1);
    let cached = CacheOut::of(&m.inst(
        "i_streams",
        &cache::streams(config),
        &[
            ("low_i", &low),
            ("length_i", length),
            ("update_i", &enters),
            ("clear_i", &clear.active),
            ("clear_index_i", &clear.index(config.sets())),
        ],
    ));
    let above = xlen - LOW;
    let upper = m.reg_en("upper", zero(above), &looks);
    let start_above = start.slice(LOW - 1, above);
    m.assign(&upper.d, trap.mux(stream.handler.slice(LOW - 1, above), &start_above));
    let near = m.let_("near", upper.q.eq(&start_above));
    let index = (&cached.found & &near & !trap).gate(&cached.index);
    let index = m.let_("index", index);
    let history = m.reg_en("history", zero(config.index()), &looks);
    m.assign(&history.d, &index);
    // Written when the number is in a register; nothing is read then.
    let before = m.reg_data("before", config.index(), &looks);
    m.assign(&before.d, &history.q);
    let successors = m.inst(
        "i_successors",
        &cache::successors(config),
        &[
            ("index_i", &history.q),
            ("update_i", &(&looked.q & !trap)),
            ("before_i", &before.q),
            ("next_i", &history.q),
            ("clear_i", &clear.active),
            ("clear_index_i", &clear.index(config.entries)),
        ],
    );
    let found = |name: &str, value: hartrace_rtl::Expr| {
        let reg = m.reg_data(&format!("found_{name}"), value.width(), &looks);
        m.assign(&reg.d, value);
        reg.q
    };
    let is_near = found("near", near);
    let is_next = found("next", index.any() & index.eq(successors.only()));

    m.section("Its fields: the run before, a number or a description, and where a trap leads.");
    let hit = m.wire("hit", 1);
    let run_ends = m.wire("run_ends", 1);
    let run = [("hit_i", &hit), ("end_i", &run_ends)];
    let run = RunsOut::of(&m.inst("i_runs", &runs::build(config), &run));
    let tail = m.reg("tail", false);
    let alone = m.let_("alone", end & !&held.q & &run.some);
    let runs_out = is_next.mux(&run.full, &run.some);
    let sends_run = m.let_("sends_run", &alone | (&looked.q & runs_out));
    let sends = m.let_("sends", &sends_run | (&looked.q & !&is_next));
    let moves = fields.moves(&m, &sends);
    let counted = m.let_("counted", &looked.q & &is_next & (!&sends | &moves));
    let described = m.let_("described", &moves & !&sends_run);
    m.assign(&hit, &counted);
    // A field of another stream ends the run, whether there is one or not.
    m.assign(&run_ends, &moves & !&counted);
    m.assign(&done, &counted | (&described & (&tail.q | !trap)));
    m.assign(&tail.d, !&done & (&tail.q | &described));
    m.assign(&ended_o, !&held.q & !&run.some);

    let width = config.index();
    let field = |data: hartrace_rtl::Expr, len: u32| Field {
        data: data.zext(bits),
        high: lit(high_width(bits), (len - 1).into()),
    };
    let known = field(length.clone(), 1 + width + 8);
    let near = field(concat(&[&low, length]), 1 + width + 1 + (LOW - 1) + 8);
    let far = field(concat(&[&lit(1, 1), start, length]), 1 + width + 1 + (xlen - 1) + 8);
    let missed = Field::select(&is_near, &near, &far);
    let missed = Field::select(&stream.known, &known, &missed);
    let described = Field::select(&history.q.any(), &field(history.q.clone(), 1 + width), &missed);
    let handler = concat(&[&stream.retired, &stream.handler, &zero(1)]);
    let described = Field::select(&tail.q, &field(handler, 8 + xlen), &described);
    fields.choose(&m, &moves, Field::select(&sends_run, &runs::field(&run, bits), &described));
    m.finish()
}
