//! What is in frames.

use super::{ID, WORD};
use crate::wires::{delay, join};
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, lit, zero};

bundle! {
    /// Bytes with the numbers of their sources.
    pub(super) struct ReaderOut { valid, bytes, ids, error }
}

/// Rows of a frame.
const ROWS: u32 = 4;

/// The module `frame_reader`: the bytes of a frame with the numbers of their sources, one row in each cycle, from the
/// second cycle after the frame is complete.
pub(super) fn build() -> Component {
    let m = Module::new(
        "frame_reader",
        "Splits frames. The rows of a frame wait for the last one, which has an auxiliary bit for each pair. The bytes\n\
         of a frame leave before the next one is complete.",
    )
    .clocked();
    let row_valid = m.input("row_valid_i", 1, "there is a row");
    let row_i = m.input("row_i", 8 * WORD, "the row, the oldest byte lowest");
    let number_i = m.input("row_number_i", 2, "its number within its frame");
    let error_i = m.input("error_i", 1, "the frame is incomplete");
    let out = ReaderOut {
        valid: Wire::new(WORD, "bytes of sources"),
        bytes: Wire::new(8 * WORD, "bytes, the oldest lowest"),
        ids: Wire::new(ID * WORD, "the numbers of their sources; 0 if not known"),
        error: Wire::new(1, "a frame after those of the bytes before was incomplete"),
    };
    let out = out.outputs(&m);

    m.section("Rows of a frame that arrives, and of one that leaves.");
    let rows = m.memory("rows", 8 * WORD, 2 * ROWS);
    let complete = m.let_("complete", &row_valid & number_i.all());
    let half = m.reg_en("half", false, &complete);
    m.assign(&half.d, !&half.q);
    m.write(&rows, &row_valid, concat(&[&half.q, &number_i]), &row_i);
    let busy = m.reg("busy", false);
    let number = m.reg("number", zero(2));
    m.assign(&busy.d, &complete | (&busy.q & !number.q.all()));
    m.assign(&number.d, (&busy.q & !&complete).gate(&number.q + lit(2, 1)));
    let row = m.read(&rows, "row", concat(&[&!&half.q, &number.q]));
    let auxiliary = m.reg_data("auxiliary", 8, &complete | &busy.q);
    m.assign(&auxiliary.d, complete.mux(row_i.slice(24, 8), auxiliary.q.slice(2, 6).zext(8)));
    m.assert_always("one_frame_leaves", !&complete | !&busy.q | number.q.all());

    m.section(
        "The sources of its bytes. After an error, the source is not known until a frame names it.",
    );
    let id = m.reg_en("id", zero(ID), &busy.q);
    let forgets = m.reg("forgets", false);
    let starts = m.let_("starts", &busy.q & !number.q.any());
    m.assign(&forgets.d, &error_i | (&forgets.q & !&starts));
    let mut now = m.let_("id_0", (!(&forgets.q & &starts)).gate(&id.q));
    let (mut ids, mut bytes, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..2 {
        let [even, odd] = [0, 1].map(|byte| row.slice(16 * pair + 8 * byte, 8));
        let (names, delayed) = (even.bit(0), auxiliary.q.bit(pair));
        let named = even.slice(1, ID);
        bytes.extend([concat(&[&named, &delayed]), odd]);
        ids.extend([now.clone(), (&names & !&delayed).mux(&named, &now)]);
        // The last byte of a frame has the auxiliary bits.
        let last = if pair == 1 { number.q.all() } else { lit(1, 0) };
        valid.extend([&busy.q & !&names, &busy.q & !last]);
        now = m.let_(&format!("id_{}", 2 * (pair + 1)), names.mux(&named, &now));
    }
    m.assign(&id.d, &now);
    m.assign(&out.valid, delay(&m, "valid", &join(&valid), true));
    m.assign(&out.bytes, delay(&m, "bytes", &join(&bytes), false));
    m.assign(&out.ids, delay(&m, "ids", &join(&ids), false));

    m.section("An error waits for the bytes before it.");
    let waits = m.reg("error_waits", zero(ROWS + 1));
    m.assign(&waits.d, concat(&[&waits.q.slice(0, ROWS), &error_i]));
    m.assign(&out.error, waits.q.bit(ROWS));
    m.assert_always("error_between_frames", error_between(&waits.q, &busy.q));
    m.finish()
}

/// No bytes leave in the cycle before the one with the error.
fn error_between(waits: &Expr, busy: &Expr) -> Expr {
    !(waits.bit(ROWS - 1) & busy)
}
