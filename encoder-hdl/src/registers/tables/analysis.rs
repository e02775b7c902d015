//! Registers of the analysis behind a hardware decoder.

use super::{address, component, counter, versions};
use crate::registers::params::{AnalysisParams, ParamsError};
use crate::registers::table::{Enable, Input, Kind, Register, Table};

const DOC: &str = "\
What is counted and watched behind a trace decoder. It is not a component of the specification.

`hartraceAnActive` starts with everything cleared, which takes a cycle for each entry of the profile: wait until \
`hartraceAnClearing` is 0. Write addresses and modes, then set `hartraceAnEnable`. After it is cleared, the profile is \
read: for each entry, write its number to `hartraceAnProfileIndex` and read the registers after it. What was spilled to \
memory before is part of the profile. Counters stay at the largest number.";

/// The registers of an analysis.
///
/// # Errors
///
/// If a parameter is out of its range.
pub fn analysis(params: &AnalysisParams) -> Result<Table, ParamsError> {
    params.check()?;
    let status = |input, from, bits| Kind::Status { input, from, bits };
    let mut registers = vec![control(params), implementation(params)];
    registers.extend(counter("hartraceAnBytes", 0x010, "bytes", "Bytes of trace."));
    registers.extend(counter("hartraceAnErrors", 0x014, "errors", "Errors in them."));
    registers.extend(counter(
        "hartraceAnSynchronisations",
        0x018,
        "synchronisations",
        "Synchronisations after a start or an error.",
    ));
    if params.blocks {
        of_blocks(params, &mut registers);
    }
    for i in 0..params.kinds {
        let register = Register::nth("hartraceAnKind{i}", (0x100, 4), i, "Packets of a kind.");
        let shows = status("kinds", 32 * i, 32);
        registers.push(register.field((31, 0), "hartraceAnKind", shows, "Their number."));
    }
    for i in 0..params.lengths {
        let register = Register::nth(
            "hartraceAnLength{i}",
            (0x180, 4),
            i,
            "Packets of a length; the last register has those that are longer, too.",
        );
        let shows = status("lengths", 32 * i, 32);
        let doc = "The number of those with one byte more than the number of the register.";
        registers.push(register.field((31, 0), "hartraceAnLength", shows, doc));
    }
    let input = |name, width, doc| Input { name, width, doc };
    let mut inputs = vec![
        input("busy", 1, "edges are on their way, or wait to be written"),
        input("bytes", 32, "bytes of trace"),
        input("errors", 32, "errors in them"),
        input("synchronisations", 32, "synchronisations"),
        input("kinds", 32 * params.kinds, "packets of each kind, the first lowest"),
        input("lengths", 32 * params.lengths, "packets of each length, the shortest lowest"),
    ];
    if params.blocks {
        let width = params.address_width;
        inputs.extend([
            input("clearing", 1, "the profile is being cleared"),
            input("windows", 32, "windows that were kept"),
            input("window", params.window_bits, "the window that is read"),
            input("window_length", 6, "outcomes in it"),
            input("violations", 32, "how often the property did not hold"),
            input("kind", 3, "the entry that is read: the kind of the instruction"),
            input("count", 32, "how often the edge was taken"),
            input("from", width, "the branch or jump"),
            input("to", width, "where it went"),
            input("lost", 32, "edges that are in no entry"),
        ]);
    }
    let (title, name) = ("Trace analysis", "analysis");
    Ok(Table { title, name, doc: DOC, inputs, registers })
}

/// What is known of blocks: windows, the property, and the profile.
fn of_blocks(params: &AnalysisParams, registers: &mut Vec<Register>) {
    let width = params.address_width;
    let status = |input, from, bits| Kind::Status { input, from, bits };
    registers.extend(address(
        ["hartraceAnTriggerLow", "hartraceAnTriggerHigh"],
        0x020,
        width,
        "A window is kept whenever the instruction there is executed.",
    ));
    let index = params.windows.ilog2();
    registers.push(Register::new("hartraceAnWindowIndex", 0x028, "Which window is read.").field(
        (15, 0),
        "hartraceAnWindowIndex",
        Kind::stored(index),
        "Its number; the window after the newest one is the oldest, once all were used.",
    ));
    registers.extend(counter(
        "hartraceAnWindows",
        0x02c,
        "windows",
        "Windows that were kept; the newest is the one before this number, modulo how many there are.",
    ));
    registers.push(
        Register::new("hartraceAnWindow", 0x030, "The outcomes of branches before the trigger.")
            .field(
                (31, 0),
                "hartraceAnWindow",
                status("window", 0, params.window_bits),
                "The newest in bit 0; 1 is a branch that was taken.",
            ),
    );
    registers.push(
        Register::new("hartraceAnWindowLength", 0x034, "How many of them are known.").field(
            (5, 0),
            "hartraceAnWindowLength",
            status("window_length", 0, 6),
            "Less than all of them after a start or a gap.",
        ),
    );
    registers.extend(address(
        ["hartraceAnFirstLow", "hartraceAnFirstHigh"],
        0x040,
        width,
        "A of the property.",
    ));
    registers.extend(address(
        ["hartraceAnSecondLow", "hartraceAnSecondHigh"],
        0x048,
        width,
        "B of the property.",
    ));
    registers.push(Register::new("hartraceAnProperty", 0x050, "What is watched.").choice(
        (1, 0),
        "hartraceAnProperty",
        Kind::stored(2),
        "The property.",
        &[
            (0, "NONE", "nothing"),
            (1, "BEFORE", "A is executed before each B, after the B before it"),
            (2, "WITHIN", "after A, B is executed within `hartraceAnLimit` cycles"),
        ],
    ));
    registers.push(Register::new("hartraceAnLimit", 0x054, "The longest time from A to B.").field(
        (31, 0),
        "hartraceAnLimit",
        Kind::stored(32),
        "Cycles of the decoder.",
    ));
    registers.extend(counter(
        "hartraceAnViolations",
        0x058,
        "violations",
        "How often the property did not hold.",
    ));
    let index = params.entries.ilog2();
    registers.push(
        Register::new("hartraceAnProfileIndex", 0x060, "Which entry of the profile is read.")
            .field((15, 0), "hartraceAnProfileIndex", Kind::stored(index), "Its number."),
    );
    registers.push(
        Register::new("hartraceAnProfileKind", 0x064, "What the instruction is.").field(
            (2, 0),
            "hartraceAnProfileKind",
            status("kind", 0, 3),
            "1 branch, 2 jump, 3 call, 4 indirect jump, 5 indirect call, 6 return.",
        ),
    );
    registers.extend(counter(
        "hartraceAnProfileCount",
        0x068,
        "count",
        "How often the edge was taken; 0 if the entry is empty.",
    ));
    registers.extend(counter(
        "hartraceAnProfileLost",
        0x06c,
        "lost",
        "Edges that are in no entry, because what was spilled could not be written in time.",
    ));
    let edge = [
        (["hartraceAnFromLow", "hartraceAnFromHigh"], 0x070, "from", "The branch or jump."),
        (["hartraceAnToLow", "hartraceAnToHigh"], 0x078, "to", "Where it went."),
    ];
    for ([low, high], at, input, doc) in edge {
        let part = status(input, 0, width.min(32));
        registers.push(Register::new(low, at, doc).field(
            (31, 0),
            low,
            part,
            "Bits 31 to 0 of its address.",
        ));
        if width > 32 {
            let part = status(input, 32, width - 32);
            let high = Register::new(high, at + 4, doc).field(
                (31, 0),
                high,
                part,
                "Bits 63 to 32 of its address.",
            );
            registers.push(high);
        }
    }
}

fn control(params: &AnalysisParams) -> Register {
    let status = |input| Kind::Status { input, from: 0, bits: 1 };
    let register = Register::new("hartraceAnControl", 0x000, "Switches the analysis on and off.")
        .field((0, 0), "hartraceAnActive", Kind::Active, "Switches the analysis on. While this reads as 0, everything is cleared, and other registers cannot be written. A write that sets this sets nothing else.")
        .field((1, 1), "hartraceAnEnable", Kind::Enable(Enable::Direct), "Counts and watches.");
    match params.blocks {
        true => register
            .field(
                (2, 2),
                "hartraceAnClearing",
                status("clearing"),
                "The profile is being cleared; edges are lost.",
            )
            .field(
                (3, 3),
                "hartraceAnBusy",
                status("busy"),
                "Edges are on their way, or wait to be written to memory.",
            ),
        false => register,
    }
}

fn implementation(params: &AnalysisParams) -> Register {
    let names = ["hartraceAnVerMajor", "hartraceAnVerMinor", "hartraceAnCompType"];
    let register = Register::new("hartraceAnImpl", 0x004, "What this is.");
    // The logarithms of the sizes are 0 without blocks.
    let if_blocks = |value: u32| Kind::Fixed(if params.blocks { value } else { 0 });
    versions(register, names, component::ANALYSIS)
        .field(
            (16, 12),
            "hartraceAnEntries",
            if_blocks(params.entries.ilog2()),
            "Logarithm of the number of entries of the profile; 0 if there is none.",
        )
        .field(
            (21, 17),
            "hartraceAnWindowEntries",
            if_blocks(params.windows.ilog2()),
            "Logarithm of the number of windows that are kept; 0 if there are none.",
        )
        .field(
            (27, 22),
            "hartraceAnWindowBits",
            if_blocks(params.window_bits),
            "Outcomes in a window.",
        )
}
