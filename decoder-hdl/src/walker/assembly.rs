//! How the parts of a walker are connected.

use super::fifo::FifoOut;
use super::output::outputs;
use super::present::Stack;
use super::search::{Found, Places, SearchOut};
use super::table::TableOut;
use super::{fifo, search, table};
use crate::wires::{any, instance};
use hartrace_decoder::block_table::WordLayout;
use hartrace_rtl::{Component, Direction, Expr, Module, bundle};

bundle! {
    /// Records of an intake.
    struct IntakeOut { valid, record }
}

/// The parts of a walker that depend on the protocol.
pub(super) struct Parts<'a> {
    /// Name of the module, and what it does.
    pub(super) name: &'a str,
    pub(super) doc: &'a str,
    /// The decoder in front.
    pub(super) decoder: &'a str,
    /// The fields of its records that are used, and their widths.
    pub(super) taken: Vec<(&'static str, u32)>,
    /// Records per cycle.
    pub(super) slots: u32,
    /// What is stored of a record.
    pub(super) stored: Places,
    pub(super) rows: u32,
    pub(super) layout: WordLayout,
    pub(super) address_bits: u32,
    /// Entries of the return stack.
    pub(super) returns: u32,
    pub(super) intake: Component,
    pub(super) walk: Component,
}

impl Parts<'_> {
    /// The walker. `tables` adds what else the walk needs, by port.
    pub(super) fn assemble(
        &self,
        tables: impl FnOnce(&Module) -> Vec<(String, Expr)>,
    ) -> Component {
        let (layout, address) = (&self.layout, self.address_bits);
        let m = Module::new(self.name, self.doc).clocked();
        let mut records: Vec<(String, Expr)> = Vec::new();
        for (name, width) in &self.taken {
            let port = format!("{name}_i");
            let value = m.input(&port, self.slots * width, &format!("see {}", self.decoder));
            records.push((port, value));
        }
        let write =
            m.input("write_i", 1, "write a word of the table; only while nothing is traced");
        let write_index = m.input("write_index_i", layout.index_bits, "its number");
        let write_word = m.input("write_word_i", layout.width(), "the word");
        let base = m.input("base_i", address, "the address that the table counts from");
        let final_i =
            m.input("final_i", layout.index_bits, "number of the last entry of the table");
        let results: Vec<(&str, Expr)> = outputs(address)
            .into_iter()
            .map(|output| (output.name, m.output(output.name, output.width, output.doc)))
            .collect();

        m.section("Records, one after the other.");
        let taken = m.wire("taken", 1);
        let rows = IntakeOut::of(&instance(&m, "i_intake", &self.intake, &records));
        let ports = [("valid_i", &rows.valid), ("record_i", &rows.record), ("take_i", &taken)];
        let unit = fifo::unit(self.slots, self.stored.width, self.rows);
        let fifo = FifoOut::of(&m.inst("i_fifo", &unit, &ports));

        m.section("The table, and the block of an address.");
        let (walk_read, walk_index) =
            (m.wire("walk_read", 1), m.wire("walk_index", layout.index_bits));
        let (search_read, search_index) =
            (m.wire("search_read", 1), m.wire("search_index", layout.index_bits));
        let ports = [
            ("write_i", &write),
            ("write_index_i", &write_index),
            ("write_word_i", &write_word),
            ("walk_read_i", &walk_read),
            ("walk_index_i", &walk_index),
            ("search_read_i", &search_read),
            ("search_index_i", &search_index),
        ];
        let words = TableOut::of(&m.inst("i_table", &table::unit(layout), &ports));
        let done = m.wire("done", 1);
        let ports = [
            ("valid_i", &fifo.valid),
            ("record_i", &fifo.record),
            ("after_loss_i", &fifo.after_loss),
            ("take_o", &taken),
            ("base_i", &base),
            ("changes_i", &write),
            ("final_i", &final_i),
            ("read_o", &search_read),
            ("index_o", &search_index),
            ("word_i", &words.search_word),
            ("take_i", &done),
        ];
        let search = m.inst("i_search", &search::unit(layout, &self.stored), &ports);
        let found = SearchOut::of(&search);

        m.section("The walk.");
        let walking = m.wire("walking", 1);
        let mut ports: Vec<(String, Expr)> = vec![
            ("record_i".into(), found.record.clone()),
            ("valid_i".into(), found.valid.clone()),
            ("after_loss_i".into(), found.after_loss.clone()),
            ("take_o".into(), done),
            ("walking_o".into(), walking.clone()),
            ("word_i".into(), words.walk_word.clone()),
            ("read_o".into(), walk_read),
            ("index_o".into(), walk_index),
            ("base_i".into(), base),
        ];
        ports.extend(Found::of(&search).to_walk());
        ports.extend(Stack::instance(&m, self.returns, layout.index_bits));
        ports.extend(tables(&m));
        for (name, output) in &results {
            match *name {
                "lost_o" => m.assign(output, &fifo.lost),
                "busy_o" => m.assign(
                    output,
                    any([
                        walking.clone(),
                        found.valid.clone(),
                        fifo.busy.clone(),
                        rows.valid.any(),
                    ]),
                ),
                name => ports.push((name.into(), output.clone())),
            }
        }
        instance(&m, "i_walk", &self.walk, &ports);
        m.finish()
    }
}

/// The module `name`: a decoder with a walker behind it. `record` has the fields of the decoder's records.
pub(super) fn follower(
    (name, doc): (&str, &str),
    decoder: &Component,
    walker: &Component,
    record: &[&str],
    address_bits: u32,
) -> Component {
    let m = Module::new(name, doc).clocked();
    let inputs = |of: &Component| -> Vec<(String, u32, String)> {
        let ports =
            of.ports().iter().filter(|port| !["clk_i", "rst_ni"].contains(&port.name.as_str()));
        let inputs = ports.filter(|port| port.direction == Direction::Input);
        inputs.map(|port| (port.name.clone(), port.width, port.doc.clone())).collect()
    };
    let bytes: Vec<(String, Expr)> = inputs(decoder)
        .into_iter()
        .map(|(name, width, doc)| (name.clone(), m.input(&name, width, &doc)))
        .collect();
    let records = instance(&m, "i_decoder", decoder, &bytes);
    let taken = inputs(walker);
    let mut ports = Vec::new();
    for field in record {
        let (port, value) = (format!("{field}_i"), &records[&format!("{field}_o")]);
        match taken.iter().any(|(name, ..)| *name == port) {
            true => ports.push((port, value.clone())),
            false => m.unused(value),
        }
    }
    for (name, width, doc) in taken {
        if !ports.iter().any(|(other, _)| *other == name) {
            ports.push((name.clone(), m.input(&name, width, &doc)));
        }
    }
    for output in outputs(address_bits) {
        ports.push((output.name.into(), m.output(output.name, output.width, output.doc)));
    }
    instance(&m, "i_walker", walker, &ports);
    m.finish()
}
