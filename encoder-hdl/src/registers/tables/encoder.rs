//! Registers of a trace encoder.

use super::{component, filters, versions};
use crate::Overflow;
use crate::registers::params::{EncoderParams, ImplicitReturn, ParamsError};
use crate::registers::table::{Enable, Input, Kind, Register, Table};

const DOC: &str = "\
The encoder is in use from the moment that `trTeEnable` is set until it is cleared and everything that \
was traced has been turned into packets. While it is in use, its configuration cannot be changed: \
writes of those fields are ignored, all but `trTeActive`, `trTeEnable`, `trTeInstTracing` and \
`trTeInstStallOrOverflow`. To change it, clear `trTeEnable`, wait until `trTeEmpty` is 1, and write.

If what is behind the encoder takes nothing, it stays in use for ever. Write 0 to `trTeActive` a second time then: \
what it holds is thrown away, `hartraceTeDropped` says so, and the next trace starts with a packet that reports the loss.

What is traced follows from filters. A filter takes part if its bit in `trTeInstFilters` and its \
`trTeFilterEnable` are both set. If none does, everything is traced; otherwise what at least one of \
them matches. A filter matches what has all that it asks for: privilege levels, an address range, and, as far \
as the encoder has them, a range of the context, and traps. Each filter has comparators of its own and no other.

A filter that asks for traps, by cause, by kind or by value, matches from such a trap to the return from it, \
with the traps in between (D22).

A comparator is a range and nothing else, `trTeCompPMatch` the first value in it and \
`trTeCompSMatch` the last; both are the same for an exact match. A block of instructions matches a range of addresses \
if a part of it is within.";

/// The registers of a trace encoder.
///
/// Spec: Trace Control Interface 1.0, "Trace Encoder Control Interface".
///
/// # Errors
///
/// If a parameter is out of its range.
pub fn encoder(params: &EncoderParams) -> Result<Table, ParamsError> {
    params.check()?;
    let mut registers = vec![control(params), implementation(params), features(params)];
    registers.push(Register::new("trTeInstFilters", 0x00c, "Which filters are in use.").field(
        (15, 0),
        "trTeInstFilters",
        Kind::stored(params.filters),
        "A bit for each filter. Without any, everything is traced.",
    ));
    registers.extend(timestamps(params));
    registers.extend(filters::registers(params));
    registers.push(
        Register::new("hartraceTeStatus", 0xe00, "What the specification has no place for.").field(
            (0, 0),
            "hartraceTeDropped",
            Kind::Mark { input: "dropped" },
            "Packets were thrown away, because 0 was written to `trTeActive` twice. Until 1 is written or `trTeEnable` is set.",
        ),
    );
    let input = |name, width, doc| Input { name, width, doc };
    let mut inputs = vec![
        input(
            "busy",
            1,
            "tracing, or what was traced is still inside: configuration must not change",
        ),
        input("empty", 1, "all packets have left"),
        input("event", 1, "the hart is stalled, or trace is lost"),
        input("dropped", 1, "a packet is thrown away"),
    ];
    if params.triggers {
        inputs.push(input("on", 1, "triggers have tracing on"));
    }
    if params.source_bits > 0 {
        inputs.push(input("src_id", params.source_bits, "constant: the source in packets"));
    }
    if params.time_width > 0 {
        inputs.push(input("time", params.time_width, ""));
    }
    Ok(Table { title: "Trace encoder", name: "te", doc: DOC, inputs, registers })
}

fn control(params: &EncoderParams) -> Register {
    let resync = &params.resync;
    let units = [
        (0, "OFF", "never", true),
        (1, "PACKETS", "packets", resync.packets),
        (2, "CYCLES", "clock cycles", resync.cycles),
        (3, "HALF_WORDS", "half-words of instructions", resync.half_words),
    ];
    let legal: Vec<_> =
        units.into_iter().filter(|unit| unit.3).map(|unit| (unit.0, unit.1, unit.2)).collect();
    let choices: Vec<u32> = legal.iter().map(|unit| unit.0).collect();
    let counts = choices.len() > 1;
    let mode = match counts {
        true => Kind::Stored {
            from: 0,
            bits: 2,
            tied: 0,
            choices: if choices.len() == 4 { vec![] } else { choices },
        },
        false => Kind::Fixed(0),
    };
    let tracing = match params.triggers {
        true => Kind::Triggered { input: "on", by: "trTeInstTrigEnable" },
        false => Kind::Switch,
    };
    let stall = match params.overflow {
        Overflow::Stall => Kind::Fixed(1),
        Overflow::Drop => Kind::Fixed(0),
        Overflow::Either => Kind::stored(1),
    };
    Register::new("trTeControl", 0x000, "Switches the encoder on and off.")
        .field((0, 0), "trTeActive", Kind::Active, "Switches the encoder on. While this reads as 0, the encoder is in reset, and so are all its other registers: they cannot be written. A write that sets this sets nothing else.")
        .field((1, 1), "trTeEnable", Kind::Enable(Enable::Direct), "The encoder is in use. Clearing it ends the trace, all of which is sent.")
        .field((2, 2), "trTeInstTracing", tracing, match params.triggers {
            true => "Instructions are traced. While `trTeInstTrigEnable` is 1, what is written is whether tracing is on when `trTeEnable` is set, cannot be written while the encoder is in use, and shows then what triggers made of it.",
            false => "Instructions are traced, while `trTeEnable` is 1.",
        })
        .field((3, 3), "trTeEmpty", Kind::Empty, "The encoder is not in use, and all its packets have left.")
        .choice((6, 4), "trTeInstMode", Kind::Fixed(6), "How instructions are traced.", &[(6, "OPTIMIZED", "with branch maps")])
        .field((9, 9), "trTeContext", Kind::Fixed(1), "Packets carry the privilege level and, if the encoder has one, the context.")
        .field((11, 11), "trTeInstTrigEnable", Kind::bits_if(params.triggers, 1), "Triggers of the hart switch tracing on and off.")
        .field((12, 12), "trTeInstStallOrOverflow", Kind::Sticky { input: "event" }, "The hart was stalled or trace was lost, since this was cleared: by writing 1, or by setting `trTeEnable`.")
        .field((13, 13), "trTeInstStallEna", stall, "If there is no room for trace, the hart is stalled (1) or trace is lost (0).")
        .field((15, 15), "trTeInhibitSrc", Kind::Fixed(0), "The source is left out of packets.")
        .choice((17, 16), "trTeInstSyncMode", mode, "What the time until the next synchronisation is counted in. A value that is not listed is not taken.", &legal)
        .field((23, 20), "trTeInstSyncMax", Kind::bits_if(counts, 4), "The next synchronisation comes after 2^(this + 4) of them.")
        .choice((26, 24), "trTeFormat", Kind::Fixed(0), "Format of the trace.", &[(0, "E_TRACE", "Efficient Trace for RISC-V")])
}

fn implementation(params: &EncoderParams) -> Register {
    let names = ["trTeVerMajor", "trTeVerMinor", "trTeCompType"];
    versions(Register::new("trTeImpl", 0x004, "What this is."), names, component::ENCODER)
        .field(
            (19, 16),
            "trTeProtocolMajor",
            Kind::Fixed(params.protocol.0),
            "Major version of the trace protocol.",
        )
        .field(
            (23, 20),
            "trTeProtocolMinor",
            Kind::Fixed(params.protocol.1),
            "Minor version of the trace protocol.",
        )
}

fn features(params: &EncoderParams) -> Register {
    let returns = match params.implicit_return {
        ImplicitReturn::None => (0, "NONE", "no returns are implicit"),
        ImplicitReturn::Counter => (1, "COUNTER", "calls are counted, addresses are not compared"),
        ImplicitReturn::Stack => (3, "STACK", "whole addresses are compared"),
    };
    let source = match params.source_bits {
        0 => Kind::Fixed(0),
        bits => Kind::Status { input: "src_id", from: 0, bits },
    };
    Register::new(
        "trTeInstFeatures",
        0x008,
        "Modes of the trace. What the encoder does not have reads as 0.",
    )
    .field(
        (0, 0),
        "trTeInstNoAddrDiff",
        Kind::bits_if(params.full_address, 1),
        "Addresses are sent in full, not as differences.",
    )
    .field(
        (1, 1),
        "trTeInstNoTrapAddr",
        Kind::bits_if(params.implicit_exception, 1),
        "Addresses of trap handlers are not sent.",
    )
    .field(
        (2, 2),
        "trTeInstEnSequentialJump",
        Kind::bits_if(params.sequential_jump, 1),
        "Targets of jumps that follow from the instruction before them are not sent.",
    )
    .field(
        (3, 3),
        "trTeInstEnImplicitReturn",
        Kind::bits_if(returns.0 > 0, 1),
        "Targets of returns that follow from the call are not sent.",
    )
    .field(
        (4, 4),
        "trTeInstEnBranchPrediction",
        Kind::bits_if(params.branch_prediction, 1),
        "Branches that were predicted are counted instead of sent.",
    )
    .field(
        (5, 5),
        "trTeInstEnJumpTargetCache",
        Kind::bits_if(params.jump_target_cache, 1),
        "Targets are sent as an index of the cache where that is shorter.",
    )
    .choice(
        (7, 6),
        "trTeInstImplicitReturnMode",
        Kind::Fixed(returns.0),
        "How returns are told to follow from a call.",
        &[returns],
    )
    .field((8, 8), "trTeInstEnRepeatedHistory", Kind::Fixed(0), "Repeated branch maps are counted.")
    .field((9, 9), "trTeInstEnAllJumps", Kind::Fixed(0), "Jumps that need not be sent are sent.")
    .field(
        (10, 10),
        "trTeInstExtendAddrMSB",
        Kind::Fixed(0),
        "The top bits of addresses are handled in another way.",
    )
    .field((27, 16), "trTeSrcID", source, "The source in packets.")
    .field(
        (31, 28),
        "trTeSrcBits",
        Kind::Fixed(params.source_bits),
        "How many bits the source has in packets.",
    )
}

/// Packets contain the time whenever it exists.
fn timestamps(params: &EncoderParams) -> Vec<Register> {
    if params.time_width == 0 {
        return Vec::new();
    }
    let active = Kind::Copy { register: "trTeControl", field: "trTeActive" };
    // The field ends at bit 63.
    let width = params.time_width.min(63);
    let mut control = Register::new("trTsControl", 0x040, "Time in packets.").field(
        (0, 0),
        "trTsActive",
        active,
        "As `trTeActive`.",
    );
    control = match params.internal_time {
        true => control
            .field(
                (1, 1),
                "trTsCount",
                Kind::Switch,
                "The time is counted. Can be written at any time.",
            )
            .field((2, 2), "trTsReset", Kind::Pulse, "The time starts again from 0.")
            .choice(
                (6, 4),
                "trTsMode",
                Kind::Fixed(2),
                "Where the time comes from.",
                &[(2, "INTERNAL_SYSTEM", "a counter of clock cycles")],
            )
            .choice(
                (9, 8),
                "trTsPrescale",
                Kind::stored(2),
                "How many cycles one tick has.",
                &[(0, "1", "one"), (1, "4", "four"), (2, "16", "sixteen"), (3, "64", "sixty-four")],
            ),
        false => control.choice(
            (6, 4),
            "trTsMode",
            Kind::Fixed(1),
            "Where the time comes from.",
            &[(1, "EXTERNAL", "from outside")],
        ),
    };
    let mut registers = vec![
        control
            .field((15, 15), "trTsEnable", Kind::Fixed(1), "Packets carry the time.")
            .field((29, 24), "trTsWidth", Kind::Fixed(width), "How many bits the time has; 63 stands for 64 as well."),
        Register::new("trTsCounterLow", 0x048, "The time, which does not stop: read the high bits before and after the low bits, and both again if they differ.").field(
            (31, 0),
            "trTsCounterLow",
            Kind::Status { input: "time", from: 0, bits: params.time_width.min(32) },
            "Bits 31 to 0.",
        ),
    ];
    if params.time_width > 32 {
        registers.push(Register::new("trTsCounterHigh", 0x04c, "The time.").field(
            (31, 0),
            "trTsCounterHigh",
            Kind::Status { input: "time", from: 32, bits: params.time_width - 32 },
            "Bits 63 to 32.",
        ));
    }
    registers
}
