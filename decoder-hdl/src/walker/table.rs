//! The table of blocks in block RAM.

use hartrace_decoder::block_table::{Ends, WordLayout};
use hartrace_rtl::{Component, Module, Wire, bundle};

bundle! {
    /// The words that are read.
    pub(super) struct TableOut { walk_word, search_word }
}

bundle! {
    /// The fields of a word.
    pub(super) struct Word { start, span, ends, sequential, target }
}

impl Word<Wire> {
    pub(super) fn new(layout: &WordLayout) -> Self {
        let field = |width| Wire::new(width, "");
        Self {
            start: field(layout.start_bits),
            span: field(layout.span_bits),
            ends: field(Ends::BITS),
            sequential: field(1),
            target: field(layout.index_bits),
        }
    }
}

/// The module `walker_table`: two ports for reading, one of which also writes.
pub(super) fn unit(layout: &WordLayout) -> Component {
    let m = Module::new(
        "walker_table",
        "The blocks of the program. While a word is written, the second port does not read.",
    )
    .clocked();
    let (width, index) = (layout.width(), layout.index_bits);
    let write = m.input("write_i", 1, "write a word");
    let write_index = m.input("write_index_i", index, "its number");
    let write_word = m.input("write_word_i", width, "the word");
    let walk_read = m.input("walk_read_i", 1, "read a word for the walk");
    let walk_index = m.input("walk_index_i", index, "its number");
    let walk_word = m.output("walk_word_o", width, "the word, from the next cycle on");
    let search_read = m.input("search_read_i", 1, "read a word for the search");
    let search_index = m.input("search_index_i", index, "its number");
    let search_word = m.output("search_word_o", width, "the word, from the next cycle on");
    let memory = m.memory("blocks", width, layout.depth());
    let second = m.let_("second_index", write.mux(&write_index, &search_index));
    m.write(&memory, &write, &second, &write_word);
    m.assign(&walk_word, m.read_clocked(&memory, "walk_word", &walk_read, &walk_index));
    m.assign(&search_word, m.read_clocked(&memory, "search_word", &search_read & !&write, &second));
    m.finish()
}
