//! Which decoder gets which bytes.

use super::{ID, WORD};
use crate::wires::{delay, join};
use hartrace_rtl::{Component, Expr, Module};

/// The module `frame_router_{outputs}`: valid lanes for each decoder, one cycle later.
pub(super) fn build(outputs: u32) -> Component {
    let m = Module::new(
        &format!("frame_router_{outputs}"),
        "Passes bytes on to the decoders of their sources. The bytes are the same for all; their lanes have holes.",
    )
    .clocked();
    let valid_i = m.input("valid_i", WORD, "valid bytes");
    let ids_i = m.input("ids_i", ID * WORD, "the numbers of their sources");
    let sources_i = m.input("sources_i", ID * outputs, "the number of each decoder's source");
    let valid_o = m.output("valid_o", WORD * outputs, "valid bytes of decoder 0, and so on");
    let lanes: Vec<Expr> = (0..outputs * WORD)
        .map(|i| {
            let (output, lane) = (i / WORD, i % WORD);
            let source = sources_i.slice(ID * output, ID);
            valid_i.bit(lane) & ids_i.slice(ID * lane, ID).eq(source)
        })
        .collect();
    m.assign(&valid_o, delay(&m, "valid", &join(&lanes), true));
    m.finish()
}
