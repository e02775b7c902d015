//! Words of several sources in CoreSight frames.

use crate::transport::len_width;
use hartrace_encap::coresight::FSYNC;
use hartrace_rtl::{Component, Expr, Module, concat, index_width, lit, ones, zero};

/// Size of the words that a frame generator takes, in bytes.
pub const WORD_BYTES: u32 = 2;

/// Bits of the number of a source.
const ID: u32 = 7;

/// Puts the words of a packer into CoreSight frames on an AXI4-Stream of four bytes: `frame_generator_{sync_frames}`.
///
/// `valid_i ready_o data_i len_i last_i` connect to a packer with [`mark_end`](crate::transport::Packer::mark_end) and
/// words of [`WORD_BYTES`] bytes. `id_i` is the source of the word, 1 to 0x6f; the next word may be of another one. A
/// full synchronisation word comes before the first frame and after every `sync_frames` frames, and the first frame
/// after it names its source, so that reading can start there.
///
/// `last_i` ends a flush: what is left of the frame is padding, and its last word has `tlast`. The word with `last_i` is
/// taken when that word leaves. If nothing is left, `tlast` comes with
/// a transfer without bytes. The next frame comes after a synchronisation, so that each part up to `tlast` can be read on
/// its own.
///
/// A pair of bytes leaves in every cycle, that is 1.875 bytes of a source. There is no padding but in a flush, and a
/// change of source costs one byte.
///
/// # Panics
///
/// If `sync_frames` is not in 1..=65535.
#[must_use]
#[track_caller]
pub fn frame_generator(sync_frames: u32) -> Component {
    assert!((1..=0xffff).contains(&sync_frames), "a synchronisation after {sync_frames} frames");
    let m = Module::new(
        &format!("frame_generator_{sync_frames}"),
        "Puts words of several sources into CoreSight frames. A frame leaves while it is made: its last byte has the\n\
         lowest bits of all bytes before whose place tells data from the number of a source.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", 8 * WORD_BYTES, "word, byte 0 in bits 7:0");
    let len_i = m.input("len_i", len_width(WORD_BYTES), "bytes of it");
    let last_i = m.input("last_i", 1, "of a flush");
    let id_i = m.input("id_i", ID, "source of the word");
    let tvalid_o = m.output("tvalid_o", 1, "");
    let tready_i = m.input("tready_i", 1, "");
    let tdata_o = m.output("tdata_o", 32, "two pairs of a frame, or a synchronisation");
    let tkeep_o = m.output("tkeep_o", 4, "all, or none");
    let tlast_o = m.output("tlast_o", 1, "of a flush");

    m.section("The frame: its pairs so far, their lowest bits, and the source of the next byte.");
    let moves = m.wire("moves", 1);
    let pair = m.reg("pair", zero(3));
    let bits = m.reg("bits", zero(7));
    let id = m.reg("id", zero(ID));
    let known = m.reg("known", false);
    let frames_width = index_width(sync_frames + 1);
    let frames = m.reg("frames", lit(frames_width, sync_frames.into()));
    let ending = m.reg("ending", false);

    m.section(
        "The next two bytes: one that is held, of the source of the frame, then those of the word.",
    );
    let held = m.reg("held", false);
    let take = m.wire("take", 1);
    let byte = m.reg_data("byte", 8, &take & len_i.any());
    let leaving = m.wire("leaving", 1);
    let word = m.let_("word", &valid_i & !&ending.q & !&leaving);
    let two = m.let_("two", len_i.bit(1));
    let first = m.let_("first", held.q.mux(&byte.q, data_i.slice(0, 8)));
    let first_valid = m.let_("first_valid", &held.q | (&word & len_i.any()));
    let first_id = m.let_("first_id", held.q.mux(&id.q, &id_i));
    let second = m.let_("second", held.q.mux(data_i.slice(0, 8), data_i.slice(8, 8)));
    let second_valid = m.let_("second_valid", &word & held.q.mux(len_i.any(), &two));
    let goes_on = m.let_("goes_on", id_i.eq(&id.q));
    let same = m.let_("same", &known.q & (&held.q | &goes_on));

    m.section("What leaves: a pair, a synchronisation, or the end of a flush with nothing left.");
    let [put, sync, close, lowest] = ["put", "sync", "close", "lowest"].map(|name| m.wire(name, 1));
    let [even, odd] = ["even", "odd"].map(|name| m.wire(name, 8));
    let starts = m.let_("starts", !pair.q.any());
    // The last pair has one byte only.
    let single = m.let_("single", pair.q.all());
    let due = m.let_("due", frames.q.is(sync_frames.into()));
    let names = |id: &Expr| concat(&[id, &lit(1, 1)]);
    let data = concat(&[&first.slice(1, 7), &lit(1, 0)]);
    m.comb(|b| {
        for wire in [&put, &sync, &close, &take, &lowest] {
            b.set(wire, false);
        }
        b.set(&even, zero(8));
        b.set(&odd, zero(8));
        b.set(&byte.d, data_i.slice(8, 8));
        b.when(&moves & &starts & &due & &first_valid, |b| {
            b.set(&sync, true);
            b.set(&known.d, false);
        })
        .elsif(&moves & !&first_valid & &ending.q, |b| {
            b.note("The rest of the frame is padding, of source 0.");
            b.set(&close, &starts);
            b.set(&put, !&starts);
            b.set(&even, names(&zero(ID)) & (!(&known.q & !id.q.any())).repeat(8));
            b.set(&id.d, zero(ID));
        })
        .elsif(&moves & !&first_valid, |b| b.set(&take, &word))
        .elsif(&moves & (&single | !&same), |b| {
            b.note("One byte, and before it the number of its source, if that changes.");
            b.set(&put, true);
            b.set(&even, same.mux(&data, names(&first_id)));
            b.set(&lowest, &same & first.bit(0));
            b.set(&odd, &first);
            b.set(&id.d, &first_id);
            b.set(&known.d, true);
            b.when(!&single | &same, |b| {
                b.set(&take, !&held.q);
                b.set(&held.d, !&held.q & &two);
            });
        })
        .elsif(&moves & &second_valid & (!&held.q | &goes_on), |b| {
            b.set(&put, true);
            b.set(&even, &data);
            b.set(&lowest, first.bit(0));
            b.set(&odd, &second);
            b.set(&take, true);
            b.set(&held.d, &held.q & &two);
        })
        .elsif(&moves & &held.q & (&second_valid | &ending.q), |b| {
            b.note(
                "The byte is the last of its source: the number of the next one comes before it.",
            );
            b.set(&put, true);
            b.set(&even, names(&(!&ending.q).gate(&id_i)));
            b.set(&lowest, true);
            b.set(&odd, &first);
            b.set(&id.d, (!&ending.q).gate(&id_i));
            b.set(&held.d, false);
        })
        .elsif(&moves & &held.q, |b| b.set(&take, &word))
        .elsif(&moves, |b| {
            b.note("What follows the byte decides where it is in its pair.");
            b.set(&take, true);
            b.set(&held.d, true);
            b.set(&byte.d, data_i.slice(0, 8));
        });
    });
    let ends = m.let_("ends", &ending.q & (&close | (&put & &single & (!&held.q | &same))));
    m.comb(|b| {
        b.when(&sync, |b| b.set(&frames.d, zero(frames_width)));
        b.when(&put, |b| {
            b.set(&pair.d, &pair.q + lit(3, 1));
            b.set(&bits.d, concat(&[&lowest, &bits.q.slice(1, 6)]));
            b.when(&single & !&due, |b| b.set(&frames.d, &frames.q + lit(frames_width, 1)));
        });
        b.when(&take & &last_i, |b| b.set(&ending.d, true));
        b.when(&ends, |b| {
            b.set(&ending.d, false);
            b.set(&frames.d, lit(frames_width, sync_frames.into()));
        });
    });
    // The last word is taken when everything has left.
    m.assign(&ready_o, (&take & !&last_i) | (&leaving & &tready_i));

    m.section("Words of two pairs.");
    let auxiliary = concat(&[&lowest, &bits.q]);
    let now = m.let_("now", concat(&[&single.mux(&auxiliary, &odd), &even]));
    let low = m.reg_data("low", 16, &put);
    m.assign(&low.d, &now);
    let full = m.reg("full", false);
    let sends = m.let_("sends", &sync | &close | (&put & pair.q.bit(0)));
    m.assign(&full.d, moves.mux(&sends, &full.q));
    let out = m.reg_data("out", 32, &sends);
    let fsync = lit(32, u32::from_le_bytes(FSYNC).into());
    m.assign(&out.d, sync.mux(fsync, concat(&[&now, &low.q])));
    let empty = m.reg_en("empty", false, &sends);
    m.assign(&empty.d, &close);
    let last = m.reg_en("last", false, &sends);
    m.assign(&last.d, &ends);
    m.assign(&leaving, &full.q & &last.q);
    m.assign(&moves, !&full.q | &tready_i);
    m.assign(&tvalid_o, &full.q);
    m.assign(&tdata_o, &out.q);
    m.assign(&tkeep_o, (!&empty.q).gate(ones(4)));
    m.assign(&tlast_o, &last.q);

    let some = len_i.any() | &last_i;
    m.assume_always("word_in_range", !&valid_i | (some & !len_i.all()));
    m.assume_always("source_in_range", !valid_i | (id_i.any() & id_i.lt(lit(ID, 0x70))));
    m.finish()
}
