//! The slices between a core whose clock stops and its bus: nothing is lost, doubled or reordered, and what is offered stays
//! until it is taken, whatever the other side does. Neither claim assumes that a request stays, because one of a core that
//! stands still does not.

use hartrace_cva6_connector::HOLD;
use hartrace_encoder_hdl::transport::spill;
use hartrace_hdl_tools::prove::{Proof, Rig, Stream, buffer};

const FROM: Stream = Stream { valid: "valid_i", ready: "ready_o", data: &["data_i"] };
const TO: Stream = Stream { valid: "valid_o", ready: "ready_i", data: &["data_o"] };

pub(crate) fn proofs() -> [Proof; 2] {
    // The same ports; the text is that of the slice.
    let ports = spill(1);
    let ordered = Proof::any_run("hold_slice_order", &buffer(&ports, FROM, TO, 2), 10)
        .written(&ports, slice())
        .refuted_by("second_valid_q ? second_q : data_i", "data_i")
        .refuted_by("ready_o = ~second_valid_q", "ready_o = 1'b1");
    let rig = Rig::new(&ports);
    rig.assert_kept(TO);
    let stable = Proof::any_run("hold_slice_stable", &rig.finish(), 6)
        .written(&ports, slice())
        .refuted_by("if (ready_i | ~first_valid_q) first_q", "first_q")
        .refuted_by("else if (ready_i | ~first_valid_q)", "else if (1'b1)");
    [ordered, stable]
}

/// The slice, and around it a module with the name of the generated block with the same ports.
fn slice() -> String {
    let text: String = HOLD
        .iter()
        .filter(|(name, _)| *name == "te_hold_slice.sv")
        .map(|(_, text)| *text)
        .collect();
    format!(
        "{text}\nmodule spill_1 (\n  input logic clk_i, rst_ni, valid_i, ready_i,\n  input logic [0:0] data_i,\n  \
         output logic valid_o, ready_o,\n  output logic [0:0] data_o\n);\n  te_hold_slice #(.Width(1)) i_slice (\n    \
         .clk_i(clk_i), .rst_ni(rst_ni), .valid_i(valid_i), .ready_o(ready_o), .data_i(data_i),\n    \
         .valid_o(valid_o), .ready_i(ready_i), .data_o(data_o)\n  );\nendmodule\n"
    )
}
