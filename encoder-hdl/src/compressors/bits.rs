//! Packs fields of any number of bits into words.

use super::numbers::Field;
use crate::transport::choose;
use hartrace_rtl::{Component, Expr, Module, Reg, bundle, concat, index_width, lit, zero};

bundle! {
    /// The outputs of a [`packer`].
    struct PackerOut { ready, valid, data, len, empty }
}

bundle! {
    /// The outputs of a module for [`Fields`]: what it is given is taken, and a field, whose last bit is lowest; `high` is
    /// the number of its first one.
    pub(crate) struct FieldsOut { ready, valid, data, high }
}

/// Bits of a word.
pub(crate) const WORD: u32 = 32;

/// The width of `len_o`.
pub(crate) const LEN: u32 = 6;

/// The width of the number of the highest bit of a field of up to `bits` bits.
pub(crate) fn high_width(bits: u32) -> u32 {
    index_width(bits)
}

/// The module `te_bit_packer_{bits}`, for fields of up to `bits` bits, more than a word has.
///
/// `valid_i ready_o data_i high_i` accept fields of at least one bit, from bit `high_i` to bit 0; bits above are zero. A
/// field of `n` bits takes `n / 32` cycles, rounded up.
pub(crate) fn packer(bits: u32) -> Component {
    let m = Module::new(
        &format!("te_bit_packer_{bits}"),
        "Packs fields of bits into words without gaps, the first bit highest in its byte. A field is taken\n\
         in pieces of a word.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", bits, "the field, its last bit lowest; zero above");
    let high_i = m.input("high_i", high_width(bits), "number of its first bit");
    let flush_i = m.input("flush_i", 1, "send what is held");
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let data_o = m.output("data_o", WORD, "a word, first byte lowest");
    let len_o = m.output("len_o", LEN, "its bits");
    let empty_o = m.output("empty_o", 1, "no bit is held");

    let take = m.wire("take", 1);
    let (piece, piece_high, last) = pieces(&m, &data_i, &high_i, &take);
    let count = index_width(WORD);
    let held = m.reg("held", zero(WORD - 1));
    let held_len = m.reg("held_len", zero(count));
    let flushing = m.reg("flushing", false);

    m.section("The bits held, and the piece behind them.");
    let one = lit(count + 1, 1);
    let sum = m.let_("sum", held_len.q.zext(count + 1) + piece_high.zext(count + 1) + one);
    let full = m.let_("full", sum.msb());
    let both = 2 * WORD - 1;
    // The piece ends `sum` bits below the top, which is where all bits of `sum` are inverted.
    let placed = m.let_("placed", piece.zext(both) << !&sum);
    let joined = concat(&[&(placed.slice(WORD, WORD - 1) | &held.q), &placed.trunc(WORD)]);
    let joined = m.let_("joined", joined);
    let word = flushing.q.mux(concat(&[&held.q, &zero(1)]), joined.slice(WORD - 1, WORD));
    let word = m.let_("word", word);
    let bytes: Vec<Expr> = (0..WORD / 8).map(|i| word.slice(8 * i, 8)).collect();
    m.assign(&data_o, concat(&bytes.iter().collect::<Vec<_>>()));
    let bits_of_word = lit(count + 1, WORD.into());
    m.assign(&len_o, flushing.q.mux(held_len.q.zext(count + 1), bits_of_word));

    m.section("Handshakes.");
    m.assign(&valid_o, &flushing.q | (&valid_i & &full));
    let moves = m.let_("moves", !&flushing.q & (!&full | &ready_i));
    m.assign(&take, &valid_i & &moves);
    m.assign(&ready_o, &moves & &last);
    m.assign(&empty_o, !held_len.q.any());
    m.comb(|b| {
        b.when(&flushing.q, |b| {
            b.when(&ready_i, |b| {
                b.set(&flushing.d, false);
                b.set(&held.d, zero(WORD - 1));
                b.set(&held_len.d, zero(count));
            });
        })
        .otherwise(|b| {
            b.set(&flushing.d, &flush_i & !&valid_i & held_len.q.any());
            b.when(&take, |b| {
                let rest = full.mux(joined.trunc(WORD - 1), joined.slice(WORD, WORD - 1));
                b.set(&held.d, rest);
                b.set(&held_len.d, sum.trunc(count));
            });
        });
    });
    m.assume_always("zero_above", !valid_i | !data_i.shr(&high_i).shr(lit(1, 1)).any());
    m.finish()
}

/// The piece of the field whose turn it is, the number of its highest bit, and whether it is the last.
fn pieces(m: &Module, data: &Expr, high: &Expr, take: &Expr) -> (Expr, Expr, Expr) {
    m.section("A piece of the field, the first one highest.");
    let (count, number) = (index_width(WORD), data.width().div_ceil(WORD));
    let width = index_width(number);
    let within = m.reg_en("within", false, take);
    let turn = m.reg_en("turn", zero(width), take);
    let now = m.let_("now", within.q.mux(&turn.q, high.slice(count, width)));
    let last = m.let_("last_piece", !now.any());
    m.assign(&within.d, !&last);
    m.assign(&turn.d, &now - lit(width, 1));
    let padded = data.zext(number * WORD);
    let parts: Vec<Expr> = (0..number).map(|i| padded.slice(i * WORD, WORD)).collect();
    let piece = m.let_("piece", choose(&parts, &now));
    (piece, m.let_("piece_high", &within.q.repeat(count) | high.trunc(count)), last)
}

/// The ports of a compressor for words.
pub(crate) struct Words {
    flush: Expr,
    empty_o: Expr,
    valid_o: Expr,
    ready: Expr,
    data_o: Expr,
    len_o: Expr,
}

impl Words {
    pub(crate) fn new(m: &Module) -> Self {
        Self {
            flush: m.input("flush_i", 1, "send all bits; nothing retires"),
            empty_o: m.output("empty_o", 1, "nothing is on its way"),
            valid_o: m.output("valid_o", 1, ""),
            ready: m.input("ready_i", 1, ""),
            data_o: m.output("data_o", WORD, "a word, first byte lowest"),
            len_o: m.output("len_o", LEN, "its bits"),
        }
    }

    /// Whether all bits are to be sent.
    pub(crate) fn flush(&self) -> &Expr {
        &self.flush
    }

    /// Packs fields of up to `bits` bits. `rests`: no field is on its way. `taken` is driven: the field is taken.
    pub(crate) fn pack(
        self,
        m: &Module,
        bits: u32,
        (fields, taken): (&FieldsOut, &Expr),
        rests: &Expr,
    ) {
        let words = PackerOut::of(&m.inst(
            "i_packer",
            &packer(bits),
            &[
                ("valid_i", &fields.valid),
                ("data_i", &fields.data),
                ("high_i", &fields.high),
                ("flush_i", &(self.flush & rests)),
                ("ready_i", &self.ready),
            ],
        ));
        m.assign(taken, &words.ready);
        m.assign(&self.valid_o, &words.valid);
        m.assign(&self.data_o, &words.data);
        m.assign(&self.len_o, &words.len);
        m.assign(&self.empty_o, rests & &words.empty);
    }
}

/// The ports of a module for fields, which leave through a register: choosing one takes most of a cycle.
pub(crate) struct Fields {
    bits: u32,
    chosen: Reg,
    valid_o: Expr,
    data_o: Expr,
    high_o: Expr,
    /// A field can be chosen.
    pub(crate) free: Expr,
}

impl Fields {
    /// For fields of up to `bits` bits.
    pub(crate) fn new(m: &Module, bits: u32) -> Self {
        let valid_o = m.output("valid_o", 1, "");
        let ready_i = m.input("ready_i", 1, "");
        let data_o = m.output("data_o", bits, "a field, its last bit lowest");
        let high_o = m.output("high_o", high_width(bits), "number of its first bit");
        let chosen = m.reg("chosen", false);
        let free = m.let_("free", !&chosen.q | ready_i);
        Self { bits, chosen, valid_o, data_o, high_o, free }
    }

    /// Whether a field is chosen now, if there is one.
    pub(crate) fn moves(&self, m: &Module, valid: &Expr) -> Expr {
        let moves = m.let_("moves", valid & &self.free);
        m.assign(&self.chosen.d, valid | !&self.free);
        m.assign(&self.valid_o, &self.chosen.q);
        moves
    }

    /// The field that is chosen.
    pub(crate) fn choose(self, m: &Module, moves: &Expr, field: Field) {
        let data = m.reg_data("data", self.bits, moves);
        let high = m.reg_data("high", high_width(self.bits), moves);
        m.assign(&data.d, field.data);
        m.assign(&high.d, field.high);
        m.assign(&self.data_o, &data.q);
        m.assign(&self.high_o, &high.q);
    }
}
