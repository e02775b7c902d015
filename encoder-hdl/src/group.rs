//! The output of the ingress for one cycle: blocks that retired, a trap, and marks between them.

use crate::bundle::Wire;
use crate::config::{Config, ResyncUnit};

/// Request of a mark, after the blocks and the trap of its cycle.
pub(crate) mod mark {
    /// Nothing.
    pub(crate) const NONE: u128 = 0;
    /// Tracing is interrupted: the hart halts or is reset, or input was lost.
    pub(crate) const BREAK: u128 = 1;
    /// Tracing ends.
    pub(crate) const STOP: u128 = 2;
    /// Tracing begins.
    pub(crate) const START: u128 = 3;
}

/// The signals, lanes side by side.
pub(crate) fn wires(config: &Config) -> Vec<Wire> {
    let (n, aw, params) = (config.n(), config.address(), &config.etrace);
    let mut wires = vec![
        Wire::new("retires", n, "instructions retired on the lane"),
        Wire::new("two", n, "more than one: first and last are two steps"),
        Wire::new("qualified", n, "the lane is traced"),
        Wire::new("first", n * aw, "address of its first instruction"),
        Wire::new("last", n * aw, "address of its last instruction; of the one that traps alone"),
        Wire::new("taken", n, "the last instruction is a branch, taken"),
        Wire::new("not_taken", n, "the last instruction is a branch, not taken"),
        Wire::new("uninferable", n, "it is an uninferable discontinuity"),
        Wire::new("wide", n, "it has 4 bytes"),
    ];
    if config.returns() {
        wires.push(Wire::new("call", n, "it is a call"));
        wires.push(Wire::new("ret", n, "it is a return"));
    }
    if params.sijump_p {
        wires.push(Wire::new("sijump", n, "it is a sequentially inferable jump"));
    }
    if config.triggers {
        wires.push(Wire::new("notify", n, "it is to be reported"));
    }
    if config.counts(ResyncUnit::HalfWords) {
        wires.push(Wire::new("half_words", n * u32::from(config.iretire_width_p), "retired"));
    }
    if config.counts(ResyncUnit::Cycles) {
        wires.push(Wire::new("cycles", CYCLES, "since the group before"));
    }
    wires.extend([
        Wire::new("trap", 1, "a trap follows the lanes"),
        Wire::new("trap_alone", n, "the lane of a trap before which nothing retired"),
        Wire::new("trap_qualified", 1, "the trap is traced"),
        Wire::new("interrupt", 1, "it is an interrupt"),
        Wire::new("cause", params.ecause_width_p.into(), ""),
        Wire::new("tval", params.iaddress_width_p.into(), ""),
        Wire::new("privilege", params.privilege_width_p.into(), ""),
    ]);
    if params.time_bits() > 0 {
        wires.push(Wire::new("time", params.time_bits(), ""));
    }
    wires.push(Wire::new("privilege_changes", 1, "against the group before"));
    if params.context_bits() > 0 {
        wires.extend([
            Wire::new("context", params.context_bits(), ""),
            Wire::new("context_changes", 1, "and is to be reported precisely"),
            Wire::new("context_tears", 1, "and so does the program counter"),
            Wire::new("context_drifts", 1, "and is to be reported some time"),
        ]);
    }
    wires.push(Wire::new("mark", 2, "1 break, 2 stop, 3 start, behind all others"));
    wires.push(Wire::new("lost", 1, "input was lost here"));
    wires
}

/// Whether the signal has a value for each lane.
pub(crate) fn is_of_lanes(name: &str) -> bool {
    const LANES: [&str; 15] = [
        "retires",
        "two",
        "qualified",
        "first",
        "last",
        "taken",
        "not_taken",
        "uninferable",
        "wide",
        "call",
        "ret",
        "sijump",
        "notify",
        "half_words",
        "trap_alone",
    ];
    LANES.contains(&name)
}

/// Whether no decision depends on the signal: it is only used in packets or counters.
pub(crate) fn is_passed_on(name: &str) -> bool {
    const PASSED: [&str; 10] = [
        "first",
        "last",
        "half_words",
        "cycles",
        "interrupt",
        "cause",
        "tval",
        "privilege",
        "time",
        "context",
    ];
    PASSED.contains(&name)
}

/// Width of the number of cycles between two groups. More are not counted: a wider number would
/// make the encoder cautious long before a resynchronisation is due.
pub(crate) const CYCLES: u32 = 4;
