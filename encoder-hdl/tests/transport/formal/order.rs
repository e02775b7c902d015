//! Buffers lose nothing, duplicate nothing and keep the order.

use hartrace_encoder_hdl::transport::{fifo, spill};
use hartrace_hdl_tools::prove::{Proof, Stream, buffer};
use hartrace_rtl::Component;

const IN: Stream = Stream { valid: "valid_i", ready: "ready_o", data: &["data_i"] };
const OUT: Stream = Stream { valid: "valid_o", ready: "ready_i", data: &["data_o"] };

fn ordered(block: &Component, depth: u32) -> Component {
    buffer(block, IN, OUT, depth)
}

pub(crate) fn proofs() -> Vec<Proof> {
    let mut proofs = Vec::new();
    for depth in [2, 3, 4, 5] {
        // The content of a word does not matter to a buffer, so one bit is enough.
        let rig = ordered(&fifo(1, depth), depth);
        proofs.push(
            Proof::any_run(&format!("fifo_{depth}_order"), &rig, depth + 6)
                .refuted_by("push = valid_i & ready_o", "push = valid_i")
                .refuted_by("ready_o = !full_o", "ready_o = 1'b1")
                .refuted_by("words[waddr_i]", "words[raddr_i]"),
        );
    }
    proofs.push(
        Proof::any_run("spill_order", &ordered(&spill(1), 2), 10)
            .refuted_by("spilled_q ? second_q : data_i", "data_i")
            .refuted_by("ready_o = !spilled_q", "ready_o = 1'b1"),
    );
    proofs
}
