//! Registers of a hardware trace decoder.

use super::{address, component, counter, versions};
use crate::registers::params::{DecoderParams, ParamsError, WalkerParams};
use crate::registers::table::{Enable, Input, Kind, Register, Table};

const DOC: &str = "\
A trace decoder, and what it follows the program with. It is not a component of the specification.

Set `hartraceDeActive`, write what is traced and the table of blocks, then set `hartraceDeEnable`: from then on, bytes are \
decoded. While it is set, and until everything that was decoded is followed, other registers cannot be written. A word of the \
table is written to `hartraceDeTableWord`, the lowest bits first, and goes to the entry whose number is then written to \
`hartraceDeTableIndex`.";

/// The registers of a decoder.
///
/// # Errors
///
/// If a parameter is out of its range.
pub fn decoder(params: &DecoderParams) -> Result<Table, ParamsError> {
    params.check()?;
    let input = |name, width, doc| Input { name, width, doc };
    let mut registers = vec![control(params), implementation(params)];
    let mut inputs = vec![input("busy", 1, "bytes are on their way, or records wait")];
    if params.source_bits > 0 {
        registers.push(
            Register::new("hartraceDeSource", 0x010, "Whose packets are decoded.").field(
                (11, 0),
                "hartraceDeSource",
                Kind::stored(params.source_bits),
                "The srcID.",
            ),
        );
    }
    if params.frames {
        registers.push(
            Register::new("hartraceDeTraceId", 0x014, "Whose bytes of the frames are decoded.")
                .field((6, 0), "hartraceDeTraceId", Kind::stored(7), "The trace ID."),
        );
        registers.extend(counter(
            "hartraceDeFrameErrors",
            0x018,
            "frame_errors",
            "Errors in frames; bytes are missing after each.",
        ));
        inputs.push(input("synced", 1, "it is known where frames start"));
        inputs.push(input("frame_errors", 32, "errors in frames"));
    }
    if let Some(walker) = &params.walker {
        follow(walker, &mut registers);
        inputs.push(input("lost", 32, "records that found the FIFO full"));
        inputs.push(input("table_index", walker.index_bits, "the entry that was written last"));
    }
    let (title, name) = ("Trace decoder", "decoder");
    Ok(Table { title, name, doc: DOC, inputs, registers })
}

/// The registers of the walker.
fn follow(walker: &WalkerParams, registers: &mut Vec<Register>) {
    registers.extend(counter(
        "hartraceDeLost",
        0x01c,
        "lost",
        "Records that were not followed, because too many waited. It stays at the largest number.",
    ));
    let width = walker.address_width;
    let names = ["hartraceDeBaseLow", "hartraceDeBaseHigh"];
    registers.extend(address(names, 0x020, width, "The address that the table counts from."));
    registers.push(Register::new("hartraceDeFinal", 0x028, "The size of the table.").field(
        (23, 0),
        "hartraceDeFinal",
        Kind::stored(walker.index_bits),
        "The number of its last entry.",
    ));
    let index = Kind::Pointer { input: "table_index", from: 0, bits: walker.index_bits };
    registers.push(
        Register::new("hartraceDeTableIndex", 0x02c, "Writes an entry of the table.").field(
            (23, 0),
            "hartraceDeTableIndex",
            index,
            "Its number. It reads as the one that was written last.",
        ),
    );
    for i in 0..walker.word_bits.div_ceil(32) {
        let register =
            Register::nth("hartraceDeTableWord{i}", (0x030, 4), i, "The word that is written.");
        let bits = (walker.word_bits - 32 * i).min(32);
        let doc = "32 bits of it, the lowest ones in register 0.";
        let field = Kind::stored(bits);
        registers.push(register.field((31, 0), "hartraceDeTableWord", field, doc));
    }
    let doc = "The trap vector of a privilege level, for handlers whose addresses are not sent.";
    for i in 0..walker.vectors {
        let low = Register::nth("hartraceDeVectorLow{i}", (0x040, 8), i, doc);
        let field = Kind::stored(width.min(32));
        registers.push(low.field((31, 0), "hartraceDeVectorLow", field, "Bits 31 to 0 of it."));
        if width > 32 {
            let high = Register::nth("hartraceDeVectorHigh{i}", (0x044, 8), i, doc);
            let field = Kind::stored(width - 32);
            let doc = "Bits 63 to 32 of it.";
            registers.push(high.field((31, 0), "hartraceDeVectorHigh", field, doc));
        }
    }
}

fn control(params: &DecoderParams) -> Register {
    let status = |input| Kind::Status { input, from: 0, bits: 1 };
    let register = Register::new("hartraceDeControl", 0x000, "Switches the decoder on and off.")
        .field((0, 0), "hartraceDeActive", Kind::Active, "Switches the decoder on. While this reads as 0, other registers are in reset and cannot be written. A write that sets this sets nothing else.")
        .field((1, 1), "hartraceDeEnable", Kind::Enable(Enable::Direct), "Bytes are decoded; without it, they are thrown away.")
        .field((2, 2), "hartraceDeBusy", status("busy"), "Bytes are on their way, or records wait to be followed.");
    match params.frames {
        true => register.field(
            (3, 3),
            "hartraceDeSynced",
            status("synced"),
            "It is known where frames start.",
        ),
        false => register,
    }
}

fn implementation(params: &DecoderParams) -> Register {
    let names = ["hartraceDeVerMajor", "hartraceDeVerMinor", "hartraceDeCompType"];
    let walker = params.walker.as_ref();
    versions(Register::new("hartraceDeImpl", 0x004, "What this is."), names, component::DECODER)
        .field((15, 12), "hartraceDeUnroll", Kind::Fixed(params.unroll), "Bytes per cycle.")
        .field(
            (16, 16),
            "hartraceDeHasFrames",
            Kind::Fixed(params.frames.into()),
            "Bytes come in frames.",
        )
        .field(
            (17, 17),
            "hartraceDeHasWalker",
            Kind::Fixed(walker.is_some().into()),
            "The program is followed.",
        )
        .field(
            (22, 18),
            "hartraceDeTableBits",
            Kind::Fixed(walker.map_or(0, |walker| walker.index_bits)),
            "Logarithm of the number of entries that the table can have.",
        )
}
