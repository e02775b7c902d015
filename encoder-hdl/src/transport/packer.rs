//! Packs packets into words.

use crate::transport::len_width;
use hartrace_rtl::{Component, Expr, Module, Reg, bundle, concat, index_width, lit, ones, zero};

bundle! {
    /// The outputs of a [`packer`].
    pub struct PackerOut { ready, flushed, valid, data, len, last, held }
}

/// Parameters of a [`packer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packer {
    /// Maximum number of bytes in a packet.
    pub max_bytes: u32,
    /// Size of a word in bytes: 2, 4, 8 or 16.
    pub word_bytes: u32,
    /// Whether every flush gives a word with `last_o`, even if no byte is left; its length is 0
    /// then.
    pub mark_end: bool,
}

/// Packs packets into words without gaps: `packer_{max_bytes}to{word_bytes}`, with the suffix
/// `_end` if [`mark_end`](Packer::mark_end) is set.
///
/// `valid_i ready_o data_i len_i` accept packets; one of `n` bytes takes `n / word_bytes` cycles,
/// rounded up. `valid_o ready_i data_o len_o last_o` output words. All words are full (`len_o` is
/// `word_bytes`) except the last of a flush, which is padded with zeros. These are null packets of
/// the standard encapsulation; in another framing they are not part of the stream, and the receiver
/// must use `len_o`. `held_o` is the number of bytes that wait for a word to fill.
///
/// A flush happens at the end of a packet, before the next is taken: `flush_i` must stay set until
/// `flushed_o`, which is set when the last word is taken, or at once if there is none.
///
/// There is no register after the words: a word is output together with the packet that contains
/// its last byte.
///
/// # Panics
///
/// If `max_bytes` is 0 or the size of words is not one of those listed.
#[must_use]
#[track_caller]
pub fn packer(params: Packer) -> Component {
    let Packer { max_bytes, word_bytes, mark_end } = params;
    assert!(max_bytes >= 1, "packets without bytes");
    assert!([2, 4, 8, 16].contains(&word_bytes), "words of {word_bytes} bytes; 2, 4, 8 or 16");
    let end = if mark_end { "_end" } else { "" };
    let m = Module::new(
        &format!("packer_{max_bytes}to{word_bytes}{end}"),
        "Packs packets into words without gaps. A packet is taken in pieces of a word; each is\n\
         rotated to where the bytes held from before end.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", max_bytes * 8, "packet, byte 0 in bits 7:0");
    let len_i = m.input("len_i", len_width(max_bytes), "bytes of it");
    let flush_i = m.input("flush_i", 1, "until flushed");
    let flushed_o = m.output("flushed_o", 1, "");
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let data_o = m.output("data_o", word_bytes * 8, "word, byte 0 in bits 7:0");
    let len_o = m.output("len_o", len_width(word_bytes), "bytes of it, the rest is zero");
    let last_o = m.output("last_o", 1, "of a flush");
    let held_o = m.output("held_o", index_width(word_bytes), "bytes that wait for a word");

    let count = index_width(word_bytes);
    let held = m.reg("held", zero(count));
    let flushing = m.reg("flushing", zero(1));
    let take = m.wire("take", 1);

    m.section("A piece of the packet, and where it ends.");
    // The rest of a packet, minus one, fits into these bits; the length does not.
    let before = len_i.trunc(index_width(max_bytes)) - lit(index_width(max_bytes), 1);
    let before = m.let_("last_byte", before);
    let (piece, last_piece) = pieces(&m, &data_i, &before, word_bytes, &take);
    let piece_bytes = last_piece.mux(fit(&before, count), ones(count));
    let sum = held.q.zext(count + 1) + piece_bytes.zext(count + 1) + lit(count + 1, 1);
    let sum = m.let_("sum", sum);
    let full = m.let_("full", sum.msb());

    m.section("The word: bytes held, then bytes of the piece or, in a flush, zeros.");
    let rotated = rotate(&m, &piece, &held.q);
    let is_held: Vec<Expr> = (0..word_bytes).map(|i| held.q.gt(lit(count, i.into()))).collect();
    let is_held = is_held.iter().rev().collect::<Vec<_>>();
    let is_held = m.let_("is_held", concat(&is_held));
    let mut word = Vec::new();
    for i in (0..word_bytes).rev() {
        let new = rotated.slice(i * 8, 8);
        // Bytes past the end of the piece have no meaning; the next piece overwrites them.
        let store = &take & (&full | !is_held.bit(i));
        let byte: Reg = m.reg_data(&format!("byte{i}"), 8, store);
        m.assign(&byte.d, &new);
        word.push(is_held.bit(i).mux(&byte.q, (!&flushing.q).gate(new)));
    }
    m.assign(&data_o, concat(&word.iter().collect::<Vec<_>>()));

    m.section("Handshakes.");
    let rest = if mark_end { lit(1, 1) } else { held.q.any() };
    m.assign(&valid_o, flushing.q.mux(&rest, &valid_i & &full));
    m.assign(&len_o, flushing.q.mux(held.q.zext(count + 1), lit(count + 1, word_bytes.into())));
    m.assign(&last_o, &flushing.q);
    m.assign(&held_o, &held.q);
    let moves = m.let_("moves", !&flushing.q & (!&full | &ready_i));
    m.assign(&take, &valid_i & &moves);
    m.assign(&ready_o, &moves & &last_piece);
    m.assign(&flushed_o, &flushing.q & (&ready_i | !rest));
    m.comb(|b| {
        b.when(&flushing.q, |b| {
            b.when(&flushed_o, |b| {
                b.set(&flushing.d, false);
                b.set(&held.d, zero(count));
            });
        })
        .otherwise(|b| {
            b.set(&flushing.d, &flush_i & (!&valid_i | (&take & &last_piece)));
            b.when(&take, |b| b.set(&held.d, sum.trunc(count)));
        });
    });

    let most = lit(len_i.width(), max_bytes.into());
    m.assume_always("packet_in_range", !valid_i | (len_i.any() & len_i.le(most)));
    m.finish()
}

/// The piece of the packet whose turn it is, and whether it is the last.
fn pieces(m: &Module, data: &Expr, last_byte: &Expr, word_bytes: u32, take: &Expr) -> (Expr, Expr) {
    let word = word_bytes * 8;
    let pieces = data.width().div_ceil(word);
    if pieces == 1 {
        return (m.let_("piece", data.zext(word)), lit(1, 1));
    }
    let width = index_width(pieces);
    let turn = m.reg_en("turn", zero(width), take);
    let last = last_byte.slice(index_width(word_bytes), width).eq(&turn.q);
    let last = m.let_("last_piece", last);
    m.assign(&turn.d, last.mux(zero(width), &turn.q + lit(width, 1)));
    let padded = data.zext(pieces * word);
    let pieces: Vec<Expr> = (0..pieces).map(|i| padded.slice(i * word, word)).collect();
    (m.let_("piece", choose(&pieces, &turn.q)), last)
}

/// The part with that number. A number past the end chooses some part, which needs less logic than
/// a zero.
pub(crate) fn choose(parts: &[Expr], number: &Expr) -> Expr {
    match parts {
        [one] => one.clone(),
        _ => {
            let half = parts.len().next_power_of_two() / 2;
            let (low, high) = parts.split_at(half);
            let bit = number.bit(half.trailing_zeros());
            bit.mux(choose(high, number), choose(low, number))
        }
    }
}

/// The low `width` bits; if there are fewer, all of them, extended with zeros.
pub(crate) fn fit(expr: &Expr, width: u32) -> Expr {
    if expr.width() < width { expr.zext(width) } else { expr.trunc(width) }
}

/// `word` rotated up by `by` bytes.
fn rotate(m: &Module, word: &Expr, by: &Expr) -> Expr {
    let mut word = word.clone();
    for bit in 0..by.width() {
        let bits = 8 << bit;
        let kept = word.width() - bits;
        let turned = concat(&[&word.trunc(kept), &word.slice(kept, bits)]);
        word = m.let_(&format!("rotated{}", 1 << bit), by.bit(bit).mux(turned, &word));
    }
    word
}
