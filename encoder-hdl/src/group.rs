//! The output of the ingress for one cycle: blocks that retired, a trap, and marks between them.

use crate::config::{Config, ResyncUnit};
use hartrace_rtl::{Wire, bundle};

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

bundle! {
    /// The signals, lanes side by side.
    pub(crate) struct Group {
        retires, two, qualified, first, last, taken, not_taken, uninferable, wide,
        call: Option, ret: Option, sijump: Option, notify: Option, half_words: Option, cycles: Option,
        trap, trap_alone, trap_qualified, interrupt, cause, tval, privilege, time: Option,
        privilege_changes,
        context: Option, context_changes: Option, context_tears: Option, context_drifts: Option,
        mark, lost
    }
}

bundle! {
    /// Signals of a group that decisions depend on.
    pub(crate) struct Decided {
        retires, two, qualified, taken, not_taken, uninferable, wide,
        call: Option, ret: Option, sijump: Option, notify: Option,
        trap, trap_alone, trap_qualified, privilege_changes,
        context_changes: Option, context_tears: Option, context_drifts: Option,
        mark, lost
    }
}

bundle! {
    /// The others: they are only used in packets or counters.
    pub(crate) struct Passed {
        first, last, half_words: Option, cycles: Option, interrupt, cause, tval, privilege, time: Option,
        context: Option
    }
}

/// What a signal of a group is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// It has a value for each lane.
    Lanes,
    /// All lanes have it in common.
    All,
    /// It belongs to the trap or the mark at the end.
    End,
}

impl Group<(Of, Wire)> {
    /// The signals, and what each is about.
    pub(crate) fn signals(config: &Config) -> Self {
        let (n, aw, params) = (config.n(), config.address(), &config.etrace);
        let wire = |of, width, doc| (of, Wire::new(width, doc));
        let lanes = |width, doc| wire(Of::Lanes, n * width, doc);
        let lanes_if = |has: bool, width, doc| has.then(|| lanes(width, doc));
        let all_if = |has: bool, width, doc| has.then(|| wire(Of::All, width, doc));
        let (context, time) = (params.context_bits(), params.time_bits());
        let half_words = config.counts(ResyncUnit::HalfWords);
        Self {
            retires: lanes(1, "instructions retired on the lane"),
            two: lanes(1, "more than one: first and last are two steps"),
            qualified: lanes(1, "the lane is traced"),
            first: lanes(aw, "address of its first instruction"),
            last: lanes(aw, "address of its last instruction; of the one that traps alone"),
            taken: lanes(1, "the last instruction is a branch, taken"),
            not_taken: lanes(1, "the last instruction is a branch, not taken"),
            uninferable: lanes(1, "it is an uninferable discontinuity"),
            wide: lanes(1, "it has 4 bytes"),
            call: lanes_if(config.returns(), 1, "it is a call"),
            ret: lanes_if(config.returns(), 1, "it is a return"),
            sijump: lanes_if(params.sijump_p, 1, "it is a sequentially inferable jump"),
            notify: lanes_if(config.triggers, 1, "it is to be reported"),
            half_words: lanes_if(half_words, config.iretire_width_p.into(), "retired"),
            cycles: all_if(config.counts(ResyncUnit::Cycles), CYCLES, "since the group before"),
            trap: wire(Of::End, 1, "a trap follows the lanes"),
            trap_alone: lanes(1, "the lane of a trap before which nothing retired"),
            trap_qualified: wire(Of::End, 1, "the trap is traced"),
            interrupt: wire(Of::End, 1, "it is an interrupt"),
            cause: wire(Of::End, params.ecause_width_p.into(), ""),
            tval: wire(Of::End, params.iaddress_width_p.into(), ""),
            privilege: wire(Of::All, params.privilege_width_p.into(), ""),
            time: all_if(time > 0, time, ""),
            privilege_changes: wire(Of::All, 1, "against the group before"),
            context: all_if(context > 0, context, ""),
            context_changes: all_if(context > 0, 1, "and is to be reported precisely"),
            context_tears: all_if(context > 0, 1, "and so does the program counter"),
            context_drifts: all_if(context > 0, 1, "and is to be reported some time"),
            mark: wire(Of::End, 2, "1 break, 2 stop, 3 start, behind all others"),
            lost: wire(Of::End, 1, "input was lost here"),
        }
    }
}

impl Group<Wire> {
    /// The signals.
    pub(crate) fn new(config: &Config) -> Self {
        Group::signals(config).map(|_, (_, wire)| wire.clone())
    }
}

impl<T: Clone> Group<T> {
    /// What decisions depend on, and the others.
    pub(crate) fn parts(&self) -> (Decided<T>, Passed<T>) {
        let find = |name| self.get(name).cloned();
        (Decided::find(find), Passed::find(find))
    }
}

/// Width of the number of cycles between two groups. More are not counted: a wider number would
/// make the encoder cautious long before a resynchronisation is due.
pub(crate) const CYCLES: u32 = 4;
