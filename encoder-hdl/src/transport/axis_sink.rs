//! Words on an AXI4-Stream.

use crate::transport::len_width;
use hartrace_rtl::{Component, Module, concat, lit};

/// Sends the words of a packer as AXI4-Stream transfers of `word_bytes` bytes:
/// `axis_sink_{word_bytes}`.
///
/// `valid_i ready_o data_i len_i last_i` connect to a packer with
/// [`mark_end`](crate::transport::Packer::mark_end): `tlast` then marks the end of every flush, and
/// the transfer of a flush with nothing left has no byte in `tkeep`. The sink has no register; put
/// a [`spill`](crate::transport::spill) before it if timing requires one.
///
/// # Panics
///
/// If `word_bytes` is 0.
#[must_use]
#[track_caller]
pub fn axis_sink(word_bytes: u32) -> Component {
    let m = Module::new(
        &format!("axis_sink_{word_bytes}"),
        "Words as AXI4-Stream transfers; tlast ends a flush. No register.",
    );
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", word_bytes * 8, "");
    let len_i = m.input("len_i", len_width(word_bytes), "");
    let last_i = m.input("last_i", 1, "");
    let tvalid_o = m.output("tvalid_o", 1, "");
    let tready_i = m.input("tready_i", 1, "");
    let tdata_o = m.output("tdata_o", word_bytes * 8, "");
    let tkeep_o = m.output("tkeep_o", word_bytes, "");
    let tlast_o = m.output("tlast_o", 1, "");

    m.assign(&tvalid_o, valid_i);
    m.assign(&ready_o, tready_i);
    m.assign(&tdata_o, data_i);
    let width = len_i.width();
    let keep: Vec<_> = (0..word_bytes).rev().map(|i| len_i.gt(lit(width, i.into()))).collect();
    m.assign(&tkeep_o, concat(&keep.iter().collect::<Vec<_>>()));
    m.assign(&tlast_o, last_i);
    m.finish()
}
