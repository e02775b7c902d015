//! Words on an AMBA trace bus.

use crate::transport::len_width;
use hartrace_rtl::{Component, Module, bundle, index_width, lit};

bundle! {
    /// The outputs of an [`atb_sink`] that are not on the bus.
    pub(crate) struct AtbSinkOut { ready, flush }
}

/// Sends the words of a packer as ATB transfers of `word_bytes` bytes: `atb_sink_{word_bytes}`.
///
/// `valid_i ready_o data_i len_i` connect to a packer without
/// [`mark_end`](crate::transport::Packer::mark_end): ATBYTES cannot express that there is no byte.
/// `id_i` is the ATID and must change only while nothing is sent; 0 and 0x70 to 0x7f are reserved.
/// `flush_o flushed_i` connect to the packer, or to a [`drain`](crate::transport::drain) before it.
///
/// # Panics
///
/// If the size of words is not 2, 4, 8 or 16 bytes.
#[must_use]
#[track_caller]
pub fn atb_sink(word_bytes: u32) -> Component {
    assert!([2, 4, 8, 16].contains(&word_bytes), "words of {word_bytes} bytes; 2, 4, 8 or 16");
    let m = Module::new(
        &format!("atb_sink_{word_bytes}"),
        "Words as ATB transfers, and flush requests of the bus. No register.",
    )
    .clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", word_bytes * 8, "");
    let len_i = m.input("len_i", len_width(word_bytes), "");
    let id_i = m.input("id_i", 7, "constant while anything is sent");
    let flush_o = m.output("flush_o", 1, "until flushed");
    let flushed_i = m.input("flushed_i", 1, "");
    let atvalid_o = m.output("atvalid_o", 1, "");
    let atready_i = m.input("atready_i", 1, "");
    let atid_o = m.output("atid_o", 7, "");
    let atdata_o = m.output("atdata_o", word_bytes * 8, "");
    let atbytes_o = m.output("atbytes_o", index_width(word_bytes), "bytes less one");
    let afvalid_i = m.input("afvalid_i", 1, "");
    let afready_o = m.output("afready_o", 1, "");

    let width = index_width(word_bytes);
    m.assign(&atvalid_o, &valid_i);
    m.assign(&ready_o, atready_i);
    m.assign(&atid_o, id_i);
    m.assign(&atdata_o, data_i);
    m.assign(&atbytes_o, len_i.trunc(width) - lit(width, 1));
    m.assign(&flush_o, afvalid_i);
    m.assign(&afready_o, flushed_i);
    let most = lit(len_i.width(), word_bytes.into());
    m.assume_always("word_in_range", !valid_i | (len_i.any() & len_i.le(most)));
    m.finish()
}
