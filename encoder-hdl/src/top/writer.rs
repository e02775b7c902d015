//! Records into memory.

use crate::registers::RamSinkParams;
use crate::top::config::TopError;
use crate::top::flush::flush;
use crate::top::sink::{SinkOut, memory};
use crate::top::wiring::Wiring;
use crate::transport::{MemorySink, Packer, PackerOut, len_width, packer};
use hartrace_rtl::{Component, Module, lit};

/// The module `record_writer`: records of a fixed size into a ring buffer in memory, with the registers of a RAM sink,
/// for what is spilled by an analysis behind a decoder.
///
/// `valid_i ready_o data_i` take records; the bus of the registers and the AXI4 port are those of a top module whose
/// sink is memory. Clearing `trRamEnable` flushes: afterwards all records that were taken are in memory.
///
/// # Errors
///
/// If a parameter is out of its range.
pub fn record_writer(record_bytes: u32, params: MemorySink) -> Result<Component, TopError> {
    if !(1..=64).contains(&record_bytes) {
        let name = "record_bytes";
        return Err(TopError::OutOfRange { name, value: record_bytes, min: 1, max: 64 });
    }
    let of = RamSinkParams {
        address_width: params.addr_width,
        word_bytes: params.word_bytes,
        null_runs: false,
    };
    let m = Module::new("record_writer", "Writes records into a ring buffer in memory.").clocked();
    let valid_i = m.input("valid_i", 1, "");
    let ready_o = m.output("ready_o", 1, "");
    let data_i = m.input("data_i", 8 * record_bytes, "record, byte 0 in bits 7:0");

    m.section("Words.");
    let [flush_now, flushed, word_ready] =
        ["flush", "flushed", "word_ready"].map(|name| m.wire(name, 1));
    let word_bytes = params.word_bytes;
    let words = PackerOut::of(&m.inst(
        "i_packer",
        &packer(Packer { max_bytes: record_bytes, word_bytes, mark_end: true }),
        &[
            ("valid_i", &valid_i),
            ("data_i", &data_i),
            ("len_i", &lit(len_width(record_bytes), record_bytes.into())),
            ("ready_o", &ready_o),
            ("flush_i", &flush_now),
            ("flushed_o", &flushed),
            ("ready_i", &word_ready),
        ],
    ));

    m.section("Memory.");
    let [asked, done] = ["asked", "done"].map(|name| m.wire(name, 1));
    let waiting = &valid_i | words.held.any();
    let sink = memory(&of, params)?;
    let sunk = Wiring::new(&m, sink)
        .wire("valid_i", &words.valid)
        .wire("ready_o", &word_ready)
        .wire("data_i", &words.data)
        .wire("len_i", &words.len)
        .wire("last_i", &words.last)
        .wire("waiting_i", &waiting)
        .wire("asked_i", &asked)
        .wire("done_i", &done)
        .ports("", |port| port.name != "flush_o")
        .inst("i_sink");
    m.inst(
        "i_flush",
        &flush(1, 1),
        &[
            ("request_i", &SinkOut::of(&sunk).flush),
            ("asked_o", &asked),
            ("done_o", &done),
            ("waiting_i", &valid_i),
            ("taken_i", &(&valid_i & &ready_o)),
            ("flush_o", &flush_now),
            ("flushed_i", &flushed),
        ],
    );
    Ok(m.finish())
}
