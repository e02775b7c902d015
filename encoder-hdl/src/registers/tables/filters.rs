//! Registers of the filters and comparators of a trace encoder.

use crate::registers::params::EncoderParams;
use crate::registers::table::{Kind, Register};

/// Where the first filter and the first comparator are, and how far the next is.
const FILTERS: (u32, u32) = (0x400, 0x20);
const COMPARATORS: (u32, u32) = (0x600, 0x20);

/// A field of a filter: its bits, its name, its behaviour and its meaning.
type Part = ((u32, u32), &'static str, Kind, &'static str);

/// All of them, filters first.
pub(super) fn registers(params: &EncoderParams) -> Vec<Register> {
    let mut registers: Vec<Register> =
        (0..params.filters).flat_map(|i| filter(params, i)).collect();
    let all = compared(params).into_iter();
    let all =
        all.flat_map(|(count, input, width, lsb)| (0..count).map(move |_| (input, width, lsb)));
    registers.extend((0..).zip(all).flat_map(|(i, of)| comparator(params, i, of)));
    registers
}

/// Kinds of comparators in the order of their numbers: how many there are, the code of their input, its width, and how
/// many bits at its bottom are not stored. Trap values come before contexts, which may need one word only.
fn compared(params: &EncoderParams) -> [(u32, u32, u32, u32); 3] {
    [
        (params.comparators, 0, params.address_width, params.address_lsb),
        (params.tval_comparators, 2, params.address_width, 0),
        (params.context_comparators, 1, params.context_width, 0),
    ]
}

fn filter(params: &EncoderParams, i: u32) -> Vec<Register> {
    let tval = params.comparators;
    let context = tval + params.tval_comparators;
    // Whether the filter has a comparator, and its number.
    let compares = |count: u32| Kind::bits_if(i < count, 1);
    let number = |count: u32, first: u32| Kind::Fixed(if i < count { first + i } else { 0 });
    let asks = |bits| Kind::stored(bits);
    let parts: [(bool, Part); 10] = [
        (true, ((0, 0), "trTeFilterEnable", asks(1), "The filter takes part.")),
        (true, ((1, 1), "trTeFilterMatchPrivilege", asks(1), "It asks for privilege levels.")),
        (
            params.causes > 0,
            ((2, 2), "trTeFilterMatchEcause", asks(1), "It asks for traps of some causes."),
        ),
        (
            params.causes > 0,
            (
                (3, 3),
                "trTeFilterMatchInterrupt",
                asks(1),
                "It asks for interrupts, or for exceptions.",
            ),
        ),
        (
            true,
            (
                (4, 4),
                "trTeFilterMatchComp1",
                compares(params.comparators),
                "It asks for the address range of its comparator.",
            ),
        ),
        (
            true,
            (
                (7, 5),
                "trTeFilterComp1",
                number(params.comparators, 0),
                "The number of its comparator.",
            ),
        ),
        (
            params.context_comparators > 0,
            (
                (8, 8),
                "trTeFilterMatchComp2",
                compares(params.context_comparators),
                "It asks for a range of the context.",
            ),
        ),
        (
            params.context_comparators > 0,
            (
                (11, 9),
                "trTeFilterComp2",
                number(params.context_comparators, context),
                "The number of its comparator of the context.",
            ),
        ),
        (
            params.tval_comparators > 0,
            (
                (12, 12),
                "trTeFilterMatchComp3",
                compares(params.tval_comparators),
                "It asks for traps with a value in a range.",
            ),
        ),
        (
            params.tval_comparators > 0,
            (
                (15, 13),
                "trTeFilterComp3",
                number(params.tval_comparators, tval),
                "The number of its comparator of trap values.",
            ),
        ),
    ];
    let control = Register::nth("trTeFilter{i}Control", FILTERS, i, "What a filter asks for.");
    let parts = parts.into_iter().filter(|(has, _)| *has);
    let control =
        parts.fold(control, |all, (_, (bits, name, kind, doc))| all.field(bits, name, kind, doc));
    let matched = match params.causes {
        0 => "The privilege levels that a filter asks for.",
        _ => "The privilege levels and the kind of traps that a filter asks for.",
    };
    let mut levels = Register::nth("trTeFilter{i}MatchInst", at(FILTERS, 4), i, matched).field(
        (7, 0),
        "trTeFilterMatchChoicePrivilege",
        asks(params.privilege_levels),
        "A bit for each level.",
    );
    if params.causes > 0 {
        levels = levels.choice(
            (8, 8),
            "trTeFilterMatchValueInterrupt",
            asks(1),
            "The kind of traps.",
            &[(0, "EXCEPTION", "exceptions"), (1, "INTERRUPT", "interrupts")],
        );
    }
    let mut registers = vec![control, levels];
    let halves = [
        (
            "trTeFilter{i}MatchEcauseLow",
            "trTeFilterMatchChoiceEcauseLow",
            "A bit for each of causes 0 to 31.",
        ),
        (
            "trTeFilter{i}MatchEcauseHigh",
            "trTeFilterMatchChoiceEcauseHigh",
            "A bit for each of causes 32 to 63.",
        ),
    ];
    for (half, (register, field, doc)) in (0..).zip(halves) {
        let causes = params.causes.saturating_sub(32 * half).min(32);
        if causes > 0 {
            let of = "The causes of traps that a filter asks for.";
            let register = Register::nth(register, at(FILTERS, 8 + 4 * half), i, of);
            registers.push(register.field((31, 0), field, asks(causes), doc));
        }
    }
    registers
}

/// The place of a register behind the first of a group.
fn at((first, stride): (u32, u32), offset: u32) -> (u32, u32) {
    (first + offset, stride)
}

/// A comparator of an input: its code, its width, and how many bits at its bottom are not stored.
fn comparator(
    params: &EncoderParams,
    i: u32,
    (input, width, lsb): (u32, u32, u32),
) -> Vec<Register> {
    let codes = [
        (0, "IADDR", "the address of instructions"),
        (1, "CONTEXT", "the context"),
        (2, "TVAL", "the value of a trap"),
    ];
    let there = |code: u32| compared(params).iter().any(|kind| kind.0 > 0 && kind.1 == code);
    let inputs: Vec<_> = codes.into_iter().filter(|code| there(code.0)).collect();
    let mut registers = vec![
        Register::nth("trTeComp{i}Control", COMPARATORS, i, "What a comparator compares.")
            .choice(
                (1, 0),
                "trTeCompPInput",
                Kind::Fixed(input),
                "What is compared first.",
                &inputs,
            )
            .choice(
                (3, 2),
                "trTeCompSInput",
                Kind::Fixed(input),
                "What is compared second.",
                &inputs,
            )
            .choice(
                (6, 4),
                "trTeCompPFunction",
                Kind::Fixed(5),
                "How the first is compared.",
                &[(5, "GREATER_OR_EQUAL", "it is at least the value")],
            )
            .choice(
                (10, 8),
                "trTeCompSFunction",
                Kind::Fixed(3),
                "How the second is compared.",
                &[(3, "LESS_OR_EQUAL", "it is at most the value")],
            )
            .choice(
                (13, 12),
                "trTeCompMatchMode",
                Kind::Fixed(1),
                "How they are combined.",
                &[(1, "BOTH", "both have to hold")],
            )
            .field((14, 14), "trTeCompPNotify", Kind::Fixed(0), "The first is reported.")
            .field((15, 15), "trTeCompSNotify", Kind::Fixed(0), "The second is reported."),
    ];
    let low =
        || Kind::Stored { from: lsb, bits: width.min(32) - lsb, tied: 0, choices: Vec::new() };
    let [first, last] = match inputs.len() {
        1 if there(0) => ["The first address of a range.", "The last address of a range."],
        _ => ["The first value of a range.", "The last value of a range."],
    };
    let parts = [
        (
            "trTeComp{i}PmatchLow",
            "trTeCompPMatchLow",
            "trTeComp{i}PmatchHigh",
            "trTeCompPMatchHigh",
            first,
        ),
        (
            "trTeComp{i}SmatchLow",
            "trTeCompSMatchLow",
            "trTeComp{i}SmatchHigh",
            "trTeCompSMatchHigh",
            last,
        ),
    ];
    for (n, (low_register, low_field, high_register, high_field, doc)) in (0..).zip(parts) {
        let low_at = at(COMPARATORS, 0x10 + 8 * n);
        let register = Register::nth(low_register, low_at, i, doc);
        registers.push(register.field(
            (31, 0),
            low_field,
            low(),
            "Bits 31 to 0. Bits that addresses or the context do not have read as 0.",
        ));
        if width > 32 {
            let register = Register::nth(high_register, at(low_at, 4), i, doc);
            let kind = Kind::stored(width - 32);
            registers.push(register.field(
                (31, 0),
                high_field,
                kind,
                "Bits 63 to 32. Bits that addresses or the context do not have read as 0.",
            ));
        }
    }
    registers
}
