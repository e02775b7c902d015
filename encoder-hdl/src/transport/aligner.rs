//! Puts runs of null packets between packets.

use crate::transport::{Frame, len_width};
use hartrace_rtl::{Component, Expr, Module, bundle, concat, index_width, lit, zero};

bundle! {
    /// The outputs of an [`aligner`].
    pub struct AlignerOut { ready, valid, data, len, run, busy }
}

/// Width of the number that sets the period.
pub(crate) const FREQ_BITS: u32 = 3;

/// Logarithm of the period with the number 0, which means that there is none.
const SHORTEST: u32 = 7;

/// Width of a number of bytes up to the longest period.
const COUNT_BITS: u32 = SHORTEST + (1 << FREQ_BITS);

/// Parameters of an [`aligner`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aligner {
    /// Maximum number of bytes in a packet.
    pub max_bytes: u32,
    /// Number of null packets in a run, each of one byte: [`Frame::null_run`].
    pub run_bytes: u32,
    /// Size of the words into which a packer packs, in bytes.
    pub word_bytes: u32,
}

impl Frame {
    /// Number of null packets after which a reader that does not know where packets start can be certain: one
    /// more than the bytes that can follow the header of a packet. `None` if the framing has no null
    /// packets.
    ///
    /// Spec: RISC-V Trace Encapsulation 1.0, null packets.
    #[must_use]
    pub fn null_run(&self) -> Option<u32> {
        match self {
            Self::Encap(params) => {
                Some(32 + u32::from(params.src_id_bits() / 8) + u32::from(params.timestamp_bytes()))
            }
            Self::Reference => None,
        }
    }
}

/// Puts runs of null packets into a stream of packets, so that a reader can start in the middle of it, as in a
/// ring buffer that has wrapped: `aligner_{max_bytes}r{run_bytes}w{word_bytes}`.
///
/// `valid_i ready_o data_i len_i` take packets, `valid_o ready_i data_o len_o` give them to a packer, with the
/// runs: [`run_bytes`](Aligner::run_bytes) bytes 0, the last 0x80 (null.alignment). There is no register in the
/// way.
///
/// From the first byte of a run, or of the stream, to the last byte of the next run there are at most
/// 2^(`freq_i` + 7) bytes. A run follows the first packet after which another packet, the padding of a flush and
/// a run might be too much. With a `freq_i` of 0 there are no runs, and a new stream starts.
///
/// Padding counts: `held_i` is that of the packer, and `flushed_i` the end of its flush. `run_o` is set if a
/// run is to be sent next: a flush must wait for its end. `busy_o` is set while one is sent.
///
/// # Panics
///
/// If a run is shorter than a packet may be, or does not fit the shortest period with all the rest.
#[must_use]
#[track_caller]
pub fn aligner(params: Aligner) -> Component {
    let Aligner { max_bytes, run_bytes, word_bytes } = params;
    let reserve = max_bytes + word_bytes - 1 + run_bytes;
    assert!(run_bytes >= max_bytes, "a run of {run_bytes} bytes, packets of {max_bytes}");
    assert!(reserve + run_bytes <= 2 << SHORTEST, "{reserve} bytes do not fit the shortest period");
    let m = Module::new(
        &format!("aligner_{max_bytes}r{run_bytes}w{word_bytes}"),
        "Puts runs of null packets between packets, so that reading can start at one of them.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", max_bytes * 8, "packet, byte 0 in bits 7:0");
    let len_i = m.input("len_i", len_width(max_bytes), "bytes of it");
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let data_o = m.output("data_o", max_bytes * 8, "packet, or a part of a run");
    let len_o = m.output("len_o", len_width(max_bytes), "bytes of it");
    let freq_i = m.input("freq_i", FREQ_BITS, "a run in 2^(freq + 7) bytes; 0: none");
    let held_i = m.input("held_i", index_width(word_bytes), "bytes that wait for a word");
    let flushed_i = m.input("flushed_i", 1, "the word is padded");
    let run_o = m.output("run_o", 1, "a run is next");
    let busy_o = m.output("busy_o", 1, "a run is sent");

    m.section("A run, in parts that are not longer than a packet.");
    let due = m.reg("due", zero(1));
    let parts = run_bytes.div_ceil(max_bytes);
    let rest = run_bytes - (parts - 1) * max_bytes;
    let sent = m.let_("sent", &valid_o & &ready_i);
    let part_sent = m.let_("part_sent", &due.q & &ready_i);
    let (last, part) = run_parts(&m, [max_bytes, parts, rest], &part_sent);
    m.assign(&valid_o, &due.q | &valid_i);
    m.assign(&data_o, due.q.mux(part, &data_i));
    let width = len_i.width();
    let part_len = last.mux(lit(width, rest.into()), lit(width, max_bytes.into()));
    m.assign(&len_o, due.q.mux(part_len, &len_i));
    m.assign(&ready_o, &ready_i & !&due.q);

    m.section("The bytes since the start of the last run, with the padding of flushes.");
    let wide = COUNT_BITS;
    let count = m.reg("count", zero(wide));
    let on = m.let_("on", freq_i.any());
    let packet = m.let_("packet_end", &count.q + len_i.zext(wide));
    let padding = zero(held_i.width()) - &held_i;
    let run_ends = m.let_("run_ends", &part_sent & &last);
    m.comb(|b| {
        b.when(&sent & !&due.q, |b| b.set(&count.d, &packet));
        b.when(&flushed_i, |b| b.set(&count.d, &count.q + padding.zext(wide)));
        b.when(&run_ends, |b| b.set(&count.d, lit(wide, run_bytes.into())));
        b.when(!&on, |b| b.set(&count.d, zero(wide)));
    });

    m.section("A run is due when what may come before the next one might be too much.");
    let limit = m.wire("limit", wide);
    m.comb(|b| {
        b.set(&limit, zero(wide));
        for freq in 1..1 << FREQ_BITS {
            let most = (1u32 << (freq + SHORTEST)) - reserve;
            b.when(freq_i.is(freq.into()), |b| b.set(&limit, lit(wide, most.into())));
        }
    });
    let too_much = &on & packet.gt(&limit);
    m.comb(|b| {
        b.when(&sent & !&due.q, |b| b.set(&due.d, too_much));
        b.when(&run_ends, |b| b.set(&due.d, false));
    });
    m.assign(&run_o, &due.d);
    m.assign(&busy_o, &due.q);
    m.finish()
}

/// Whether this is the last part of a run, which has `rest` bytes, and the part.
fn run_parts(m: &Module, [max_bytes, parts, rest]: [u32; 3], sent: &Expr) -> (Expr, Expr) {
    // null.alignment is the last byte.
    let (above, below) = ((max_bytes - rest) * 8, (rest - 1) * 8);
    let mut end = vec![lit(8, 0x80)];
    if above > 0 {
        end.insert(0, zero(above));
    }
    if below > 0 {
        end.push(zero(below));
    }
    let end = concat(&end.iter().collect::<Vec<_>>());
    if parts == 1 {
        return (lit(1, 1), end);
    }
    let width = index_width(parts);
    let turn = m.reg_en("turn", zero(width), sent);
    let last = m.let_("last_part", turn.q.eq(lit(width, u128::from(parts - 1))));
    m.assign(&turn.d, last.mux(zero(width), &turn.q + lit(width, 1)));
    let part = last.gate(end);
    (last, part)
}
