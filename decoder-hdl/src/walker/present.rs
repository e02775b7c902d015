//! What every walk sees: the present block, the block of the address in a record, and the return stack.

use super::table::Word;
use hartrace_decoder::block_table::{Ends, WordLayout};
use hartrace_rtl::{Expr, Module, index_width};

/// The present block, from the table.
pub(super) struct Present {
    pub(super) word: Word,
    pub(super) start: Expr,
    pub(super) last: Expr,
    pub(super) ends: Expr,
    pub(super) indirect: Expr,
}

impl Present {
    pub(super) fn new(m: &Module, word_i: &Expr, layout: &WordLayout) -> Self {
        m.section("What is known of the present block.");
        let word = Word::new(layout).split(word_i);
        let start = m.let_("start", &word.start);
        let last = m.let_("last", &start + word.span.zext(layout.start_bits));
        let ends = m.let_("ends", &word.ends);
        let no_code = ends.is(Ends::NoCode as u128);
        let indirect = m.let_("is_indirect", ends.bit(2) & !no_code);
        Self { word, start, last, ends, indirect }
    }

    pub(super) fn is(&self, which: Ends) -> Expr {
        self.ends.is(which as u128)
    }
}

/// The ports to the return stack.
pub(super) struct Stack {
    pub(super) push: Expr,
    pub(super) pop: Expr,
    pub(super) after_call: Expr,
    pub(super) clear: Expr,
    pub(super) top: Expr,
    pub(super) depth: Expr,
}

impl Stack {
    /// The ports of a walk; `None` if there is no stack.
    pub(super) fn ports(m: &Module, entries: u32, index: u32) -> Option<Self> {
        (entries > 0).then(|| Self {
            push: m.output("push_o", 1, "a call"),
            pop: m.output("pop_o", 1, "a return"),
            after_call: m.output("after_call_o", index, "the block after the call"),
            clear: m.output("clear_returns_o", 1, "forget all calls"),
            top: m.input("return_i", index, "the block after the last call"),
            depth: m.input("depth_i", index_width(entries + 1), "calls that are known"),
        })
    }

    /// An instance of the stack, with the connections to the walk by port.
    pub(super) fn instance(m: &Module, entries: u32, index: u32) -> Vec<(String, Expr)> {
        if entries == 0 {
            return Vec::new();
        }
        let push = m.wire("push", 1);
        let pop = m.wire("pop", 1);
        let after = m.wire("after_call", index);
        let clear = m.wire("clear_returns", 1);
        let stack = super::returns::ReturnsOut::of(&m.inst(
            "i_returns",
            &super::returns::unit(entries, index),
            &[("push_i", &push), ("block_i", &after), ("pop_i", &pop), ("clear_i", &clear)],
        ));
        vec![
            ("push_o".into(), push),
            ("pop_o".into(), pop),
            ("after_call_o".into(), after),
            ("clear_returns_o".into(), clear),
            ("return_i".into(), stack.top),
            ("depth_i".into(), stack.depth),
        ]
    }
}
