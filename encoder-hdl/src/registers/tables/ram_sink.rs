//! Registers of a sink in memory.

use super::{component, versions};
use crate::registers::params::{ParamsError, RamSinkParams};
use crate::registers::table::{Enable, Input, Kind, Register, Table};
use crate::transport::FREQ_BITS;

const DOC: &str = "\
A ring buffer in system memory (SMEM mode), from the word at `trRamStart` to the word at `trRamLimit`, \
both included. Trace is read from memory, so there are no `trRamRP` and `trRamData`.

The sink is in use from the moment that `trRamEnable` is set until it is cleared and everything is in \
memory. While it is in use, writes of other fields are ignored. Clearing `trRamEnable` flushes first; \
the last word may end in bytes that are no trace, see `hartraceRamFill`.

The buffer consists of whole words, and nothing outside of it is written, whatever these registers contain. Write \
`trRamStart`, `trRamLimit` and then `trRamWP`, before `trRamEnable` is set. While `trRamWP` is not between the other \
two, `hartraceRamOutside` is set and `trRamEnable` stays 0: read it back. A write that memory refuses stops the sink.";

/// The registers of a sink in memory.
///
/// Spec: Trace Control Interface 1.0, "Trace RAM Sink".
///
/// # Errors
///
/// If a parameter is out of its range.
pub fn ram_sink(params: &RamSinkParams) -> Result<Table, ParamsError> {
    params.check()?;
    let (width, word) = (params.address_width, params.word_bytes);
    let mut registers = vec![control(params.null_runs), implementation()];
    let buffer = [
        (["trRamStartLow", "trRamStartHigh"], "The first word of the buffer."),
        (["trRamLimitLow", "trRamLimitHigh"], "The last word of the buffer."),
    ];
    for (n, ([low, high], doc)) in (0..).zip(buffer) {
        let at = 0x010 + 8 * n;
        let kind = Kind::Stored {
            from: word.ilog2() - 2,
            bits: width.min(32) - word.ilog2(),
            tied: 0,
            choices: Vec::new(),
        };
        registers.push(Register::new(low, at, doc).field(
            (31, 2),
            low,
            kind,
            "Bits 31 to 2 of its address. Bits below a word cannot be written.",
        ));
        if width > 32 {
            let kind = Kind::stored(width - 32);
            registers.push(Register::new(high, at + 4, doc).field(
                (31, 0),
                high,
                kind,
                "Bits 63 to 32 of its address.",
            ));
        }
    }
    let pointer = |from, bits| Kind::Pointer { input: "wp", from, bits };
    let wrap = Kind::Status { input: "wrap", from: 0, bits: 1 };
    registers.push(
        Register::new("trRamWPLow", 0x020, "Where the next word goes. Writing it clears `trRamWrap`, `hartraceRamError` and `hartraceRamLost`.")
            .field((0, 0), "trRamWrap", wrap, "The buffer was full, and was continued at its start.")
            .field((31, 2), "trRamWPLow", pointer(2, width.min(32) - 2), "Bits 31 to 2 of the address. Bits below a word cannot be written."),
    );
    if width > 32 {
        registers.push(
            Register::new(
                "trRamWPHigh",
                0x024,
                "Where the next word goes. Writing it clears what writing `trRamWPLow` clears.",
            )
            .field(
                (31, 0),
                "trRamWPHigh",
                pointer(32, width - 32),
                "Bits 63 to 32 of the address.",
            ),
        );
    }
    let fill = (word + 1).next_power_of_two().ilog2();
    registers.push(status(fill));
    let input = |name, width, doc| Input { name, width, doc };
    let inputs = vec![
        input("empty", 1, "everything is in memory"),
        input("flushed", 1, "the flush is done"),
        input("stopped", 1, "the buffer is full, or memory refused a write; switches the sink off"),
        input("outside", 1, "the write pointer is not in the buffer"),
        input("wp", width, "the write pointer"),
        input("wrap", 1, "it has wrapped"),
        input("error", 1, "memory refused a write"),
        input("lost", 1, "words were thrown away"),
        input("fill", fill, "bytes of the last word that are trace"),
    ];
    Ok(Table { title: "Trace RAM sink", name: "ram_sink", doc: DOC, inputs, registers })
}

fn control(null_runs: bool) -> Register {
    let (freq, doc) = match null_runs {
        true => (
            Kind::stored(FREQ_BITS),
            "How often a run of null packets is put in, from which a reader can start in a buffer that has wrapped. 0: never. Otherwise at least one in 2^(n + 7) bytes (D21).",
        ),
        false => (Kind::Fixed(0), "How often a run of null packets is put in: never."),
    };
    Register::new("trRamControl", 0x000, "Switches the sink on and off.")
        .field((0, 0), "trRamActive", Kind::Active, "Switches the sink on. While this reads as 0, the sink is in reset, and so are its other registers: they cannot be written. A write that sets this sets nothing else.")
        .field((1, 1), "trRamEnable", Kind::Enable(Enable::Flushed { stop: Some("stopped"), refuse: Some("outside") }), "The sink is in use. It cannot be set while `hartraceRamOutside` is 1. Clearing it flushes what waits. A write that memory refuses clears it, and with `trRamStopOnWrap` a full buffer.")
        .field((3, 3), "trRamEmpty", Kind::Empty, "Everything is in memory.")
        .choice((4, 4), "trRamMode", Kind::Fixed(1), "Where trace goes.", &[(1, "SMEM", "to system memory")])
        .field((8, 8), "trRamStopOnWrap", Kind::stored(1), "When the buffer is full, the sink stops.")
        .choice((10, 9), "trRamMemFormat", Kind::Fixed(0), "What memory holds.", &[(0, "BYTES", "bytes of trace")])
        .field((14, 12), "trRamAsyncFreq", freq, doc)
}

fn implementation() -> Register {
    let names = ["trRamVerMajor", "trRamVerMinor", "trRamCompType"];
    versions(Register::new("trRamImpl", 0x004, "What this is."), names, component::RAM_SINK)
        .field((12, 12), "trRamHasSRAM", Kind::Fixed(0), "The sink has memory of its own.")
        .field((13, 13), "trRamHasSMEM", Kind::Fixed(1), "The sink can write to system memory.")
}

/// Our own register, in the part of the page that is reserved for such.
fn status(fill: u32) -> Register {
    let status = |input, bits| Kind::Status { input, from: 0, bits };
    Register::new("hartraceRamStatus", 0xe00, "What the specification has no place for.")
        .field((0, 0), "hartraceRamError", status("error", 1), "Memory refused a write since `trRamWPLow` was written.")
        .field((1, 1), "hartraceRamLost", status("lost", 1), "Words were thrown away since `trRamWPLow` was written, because the sink was stopped or not enabled.")
        .field((2, 2), "hartraceRamOutside", status("outside", 1), "`trRamWP` is not in the buffer, so the sink cannot be enabled.")
        .field((15, 8), "hartraceRamFill", status("fill", fill), "How many bytes of the word before `trRamWP` are trace.")
}
