//! A packer outputs the bytes of its input: the same number, each in its place.

use hartrace_encoder_hdl::transport::{Packer, packer};
use hartrace_hdl_tools::prove::{Proof, Rig, Stream, num};
use hartrace_rtl::{Component, Expr, lit, zero};

const PACKETS: Stream = Stream { valid: "valid_i", ready: "ready_o", data: &["data_i", "len_i"] };
const WORDS: Stream = Stream { valid: "valid_o", ready: "ready_i", data: &[] };

/// Counts bytes in and out, and follows the byte of a free but constant number.
fn conserved(params: Packer) -> Component {
    let rig = Rig::new(&packer(params));
    rig.assume_kept(PACKETS);
    rig.assume_kept(Stream { valid: "flush_i", ready: "flushed_o", data: &[] });
    let m = &rig.m;
    let wide = |e: &Expr| e.zext(8);
    let (taken, given) = (rig.moves(PACKETS), rig.moves(WORDS));
    let (len_in, len_out) = (wide(&rig.port("len_i")), wide(&rig.port("len_o")));
    let bytes_in = rig.count("bytes_in", 8, |n| n + taken.gate(&len_in));
    let bytes_out = rig.count("bytes_out", 8, |n| n + given.gate(&len_out));

    // Between packets, all input has been output or is held.
    let waits = rig.port("valid_i") & !rig.port("ready_o");
    let within = rig.past("within", &waits);
    let held = wide(&rig.port("held_o"));
    m.assert_always("count", within | bytes_in.eq(&bytes_out + held));
    // Words are full, except for the last of a flush.
    let full = rig.port("len_o").is(params.word_bytes.into());
    m.assert_always("full", !rig.port("valid_o") | rig.port("last_o") | full);

    let number = m.input("number_i", 8, "");
    let constant = number.eq(rig.past("number_past", &number));
    let first = rig.count("started", 1, |_| lit(1, 1));
    m.assume_always("number_constant", !first | constant);
    let byte_of = |data: &Expr, base: &Expr, len: &Expr| {
        let at = &number - base;
        (at.lt(len), data.index(&at, 8))
    };
    let (in_packet, sent) = byte_of(&rig.port("data_i"), &bytes_in, &len_in);
    let seen = m.reg("seen", zero(1));
    let byte = m.reg("byte", zero(8));
    // From the moment it is offered: its word may leave before the packet is taken.
    let offered = rig.port("valid_i") & in_packet;
    m.assign(&seen.d, &seen.q | &offered);
    m.assign(&byte.d, offered.mux(&sent, &byte.q));
    let (in_word, read) = byte_of(&rig.port("data_o"), &bytes_out, &len_out);
    let comes = given & in_word;
    m.assert_always("byte_was_sent", !&comes | &seen.d);
    m.assert_always("byte_is_same", !&comes | read.eq(&byte.d));
    m.assume_always("few_enough", bytes_in.lt(num(&bytes_in, 200)));
    rig.finish()
}

pub(crate) fn proofs() -> Vec<Proof> {
    let params = |max_bytes, mark_end| Packer { max_bytes, word_bytes: 4, mark_end };
    vec![
        Proof::bounded("packer_5to4_bytes", &conserved(params(5, false)), 7)
            .refuted_by("take & (full | !is_held[1])", "take & !is_held[1]")
            .refuted_by("held_d = sum[1:0]", "held_d = sum[1:0] | held_q"),
        Proof::bounded("packer_9to4_end_bytes", &conserved(params(9, true)), 7)
            .refuted_by("is_held[1] ? byte1_q", "is_held[2] ? byte1_q"),
        Proof::bounded("packer_3to4_bytes", &conserved(params(3, true)), 7)
            .refuted_by("held_q[0] ?", "held_q[1] ?"),
    ]
}
