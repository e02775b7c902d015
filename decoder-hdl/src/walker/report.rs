//! The output of the walk: positions become addresses.

use super::output::Cause;
use crate::wires::delay;
use hartrace_decoder::block_table::Ends;
use hartrace_rtl::{Block, Expr, Module, concat, lit, zero};

/// What is said in a cycle, with positions.
pub(super) struct Said {
    pub(super) valid: Expr,
    pub(super) first: Expr,
    pub(super) last: Expr,
    pub(super) ends: Expr,
    pub(super) taken: Expr,
    pub(super) faulted: Expr,
    /// The next instruction follows: the first of the next block, or at `next` if that was `sent`.
    pub(super) follows: Expr,
    pub(super) sent: Expr,
    pub(super) next: Expr,
    pub(super) gap: Expr,
    pub(super) cause: Expr,
}

impl Said {
    pub(super) fn new(m: &Module, offset: u32) -> Self {
        let wire = |name: &str, width| m.wire(&format!("say_{name}"), width);
        Self {
            valid: wire("valid", 1),
            first: wire("first", offset),
            last: wire("last", offset),
            ends: wire("ends", Ends::BITS),
            taken: wire("taken", 1),
            faulted: wire("faulted", 1),
            follows: wire("follows", 1),
            sent: wire("sent", 1),
            next: wire("next", offset),
            gap: wire("gap", 1),
            cause: wire("cause", Cause::BITS),
        }
    }

    fn wires(&self) -> [&Expr; 11] {
        let Self { valid, first, last, ends, taken, faulted, follows, sent, next, gap, cause } =
            self;
        [valid, first, last, ends, taken, faulted, follows, sent, next, gap, cause]
    }

    /// Says nothing.
    pub(super) fn nothing(&self, b: &mut Block) {
        for wire in self.wires() {
            b.set(wire, zero(wire.width()));
        }
    }
}

/// The output stage.
pub(super) struct Report<'a> {
    pub(super) base: &'a Expr,
    /// Where the present block starts: one cycle later, the next block is the present one.
    pub(super) start: &'a Expr,
    pub(super) said: &'a Said,
}

impl Report<'_> {
    /// Drives the ports, two cycles later.
    pub(super) fn assign(&self, m: &Module, ports: &[(&str, Expr)]) {
        m.section("What is said, one cycle later: the table knows where the next block starts.");
        let said = self.said;
        let held =
            |name: &str, value: &Expr, clears| delay(m, &format!("said_{name}"), value, clears);
        let (valid, gap) = (held("valid", &said.valid, true), held("gap", &said.gap, true));
        let [first, last, ends, taken] = [
            ("first", &said.first),
            ("last", &said.last),
            ("ends", &said.ends),
            ("taken", &said.taken),
        ]
        .map(|(name, value)| held(name, value, false));
        let [faulted, follows, sent, next, cause] = [
            ("faulted", &said.faulted),
            ("follows", &said.follows),
            ("sent", &said.sent),
            ("next", &said.next),
            ("cause", &said.cause),
        ]
        .map(|(name, value)| held(name, value, false));
        let next = sent.mux(next, self.start);

        m.section("Addresses.");
        let bits = self.base.width();
        let address = |position: &Expr| {
            let half_words = concat(&[position, &lit(1, 0)]);
            self.base + half_words.zext(bits)
        };
        let values = [
            ("valid_o", valid, true),
            ("start_o", address(&first), false),
            ("last_o", address(&last), false),
            ("ends_o", ends, false),
            ("taken_o", taken, false),
            ("faulted_o", faulted, false),
            ("next_valid_o", follows, false),
            ("next_o", address(&next), false),
            ("gap_o", gap, true),
            ("cause_o", cause, false),
        ];
        for (name, value, clears) in values {
            let name_q = format!("out_{}", name.trim_end_matches("_o"));
            let value = delay(m, &name_q, &value, clears);
            if let Some((_, port)) = ports.iter().find(|(other, _)| *other == name) {
                m.assign(port, value);
            }
        }
    }
}
