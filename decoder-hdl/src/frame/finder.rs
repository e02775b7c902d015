//! Where frames are.

use super::WORD;
use crate::wires::{delay, join};
use hartrace_encap::coresight::HSYNC;
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, zero};

bundle! {
    /// Rows, and what is known of frames.
    pub(super) struct FinderOut { row_valid, row, row_number, error, synced }
}

/// Flags of bytes that synchronisation words are made of.
struct Flags {
    /// The byte is the first of a half synchronisation word.
    first: Expr,
    /// It is the second.
    second: Expr,
}

/// The module `frame_finder`: rows of frames, one cycle after the byte that completes them.
///
/// A pair that straddles two words is possible: a full synchronisation word may end at any byte. In a cycle, up to two
/// pairs arrive, and the second one may follow a synchronisation that ends in the same word.
pub(super) fn build() -> Component {
    let m = Module::new(
        "frame_finder",
        "Finds frames by full synchronisation words, drops half synchronisation words, and makes rows of two pairs.\n\
         A full synchronisation word within a frame, or a half of one, is an error: the next whole one is searched.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "there is a word");
    let bytes_i = m.input("bytes_i", 8 * WORD, "four bytes, the oldest lowest");
    let out = FinderOut {
        row_valid: Wire::new(1, "there is a row"),
        row: Wire::new(8 * WORD, "the row, the oldest byte lowest"),
        row_number: Wire::new(2, "its number within its frame"),
        error: Wire::new(1, "the frame is incomplete"),
        synced: Wire::new(1, "it is known where frames start"),
    };
    let out = out.outputs(&m);

    m.section(
        "The word, which bytes may belong to synchronisation words, and the bytes before it.",
    );
    let valid = delay(&m, "valid", &valid_i, true);
    let bytes = delay(&m, "bytes", &bytes_i, false);
    let is = |value: u8| {
        let lanes: Vec<Expr> =
            (0..WORD).map(|i| bytes_i.slice(8 * i, 8).is(value.into())).collect();
        join(&lanes)
    };
    let [first, second] = HSYNC;
    let flags = Flags {
        first: delay(&m, "first", &is(first), false),
        second: delay(&m, "second", &is(second), false),
    };
    let older_byte = m.reg_data("older_byte", 8, &valid);
    m.assign(&older_byte.d, bytes.slice(24, 8));
    // The three bytes before the word.
    let older_first = m.reg_en("older_first", zero(3), &valid);
    m.assign(&older_first.d, flags.first.slice(1, 3));
    let firsts = concat(&[&flags.first, &older_first.q]);
    let full: Vec<Expr> =
        (0..WORD).map(|i| firsts.slice(i, 3).all() & flags.second.bit(i)).collect();
    let full = m.let_("full", join(&full));

    m.section("The state before the word.");
    let synced = m.reg_en("synced", false, &valid);
    let odd = m.reg_en("odd", false, &valid);
    let opened = m.reg_en("opened", false, &valid);
    let pairs = m.reg_en("pairs", zero(3), &valid);

    m.section("The first pair.");
    let pair = |at: u32| pair_of(&bytes, &older_byte.q, at);
    let half = |at: u32| firsts.bit(at + 2) & flags.second.bit(at);
    let opening = |at: u32| firsts.bit(at + 2) & flags.first.bit(at);
    // A pair is named by its second byte.
    let half_0 = m.let_("half_0", odd.q.mux(half(0), half(1)));
    let opening_0 = m.let_("opening_0", odd.q.mux(opening(0), opening(1)));
    let empty = m.let_("empty", !pairs.q.any());
    let data_0 = m.let_("data_0", &synced.q & !&opened.q & !&half_0 & !&opening_0);
    let opens_0 = m.let_("opens_0", &synced.q & !&opened.q & &opening_0 & &empty);
    let lost_0 = &synced.q & opened.q.mux(!&half_0, &opening_0 & !&empty);
    let lost_0 = m.let_("lost_0", lost_0);

    m.section("A synchronisation within the word counts only where it is searched.");
    let searches = m.let_("searches", !&synced.q | &lost_0);
    let found_first = m.let_("found_first", (!&synced.q & full.bit(0)) | (&searches & full.bit(1)));

    m.section("The second pair.");
    let stays = m.let_("stays", &synced.q & !&lost_0);
    let here = m.let_("here", &stays | &found_first);
    let odd_1 = m.let_("odd_1", found_first.mux(full.bit(0), &odd.q));
    let half_1 = m.let_("half_1", odd_1.mux(half(2), half(3)));
    let opening_1 = m.let_("opening_1", odd_1.mux(opening(2), opening(3)));
    // Nothing is in the frame before it.
    let empty_1 = m.let_("empty_1", !&stays | data_0.mux(pairs.q.all(), &empty));
    let data_1 = m.let_("data_1", &here & !&opens_0 & !&half_1 & !&opening_1);
    let opens_1 = m.let_("opens_1", &here & !&opens_0 & &opening_1 & &empty_1);
    let lost_1 = &stays & opens_0.mux(!&half_1, &opening_1 & !&empty_1);
    let lost_1 = m.let_("lost_1", lost_1);

    m.section("The state after the word.");
    let found_last =
        m.let_("found_last", (&searches & full.bit(2)) | ((&searches | &lost_1) & full.bit(3)));
    m.assign(&synced.d, (&stays & !&lost_1) | &found_first | &found_last);
    m.assign(&odd.d, found_last.mux(full.bit(2), &odd_1));
    m.assign(&opened.d, &opens_1);
    let count = stays.gate(&pairs.q) + (&stays & &data_0).zext(3) + data_1.zext(3);
    m.assign(&pairs.d, (!&lost_1).gate(count));
    m.assign(&out.error, &valid & (&lost_0 | &lost_1));
    m.assign(&out.synced, &synced.q);

    m.section("Rows: a pair without its second one is held.");
    let holds = m.let_("holds", pairs.q.bit(0) & !&lost_0);
    // One of four pairs: a single level of logic.
    let choose = |name: &str, second: Expr| {
        let second = m.let_(&format!("{name}_is_second"), second);
        let odd = m.let_(&format!("{name}_is_odd"), second.mux(&odd_1, &odd.q));
        second.mux(odd.mux(pair(2), pair(3)), odd.mux(pair(0), pair(1)))
    };
    let held = m.reg_data("held", 16, &valid & (&data_0 | &data_1) & holds.eq(data_0.and(&data_1)));
    m.assign(&held.d, choose("held", data_1.clone()));
    let low = holds.mux(&held.q, odd.q.mux(pair(0), pair(1)));
    let high = choose("high", !(&holds & &data_0));
    m.assign(&out.row_valid, &valid & holds.mux(&data_0 | &data_1, &data_0 & &data_1));
    m.assign(&out.row, concat(&[&high, &low]));
    m.assign(&out.row_number, pairs.q.slice(1, 2));

    m.assert_always("opened_between_frames", !&opened.q | (&synced.q & empty));
    m.assert_always("one_error", !(lost_0 & lost_1));
    m.finish()
}

/// The pair whose second byte is the one with this number.
fn pair_of(bytes: &Expr, older: &Expr, second: u32) -> Expr {
    match second {
        0 => concat(&[&bytes.slice(0, 8), older]),
        _ => bytes.slice(8 * (second - 1), 16),
    }
}
