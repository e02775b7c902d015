//! The walk from block to block.

mod cycle;
mod place;
mod records;

use super::Config;
use super::intake::{Class, Stored};
use crate::walker::output::outputs;
use crate::walker::present::{Present, Stack};
use crate::walker::report::{Report, Said};
use crate::walker::search::Found;
use crate::wires::delay;
use cycle::Cycle;
use hartrace_rtl::{Component, Expr, Module};
use place::{Held, Place};

impl Stored {
    fn is(&self, class: Class) -> Expr {
        self.class.is(class as u128)
    }
}

/// The module `etmv4_walk`: the state machine of the walker.
pub(super) fn unit(config: &Config) -> Component {
    let layout = &config.table;
    let (offset, index, address) =
        (layout.start_bits, layout.index_bits, config.decoder.address_bits);
    let m = Module::new(
        "etmv4_walk",
        "Follows the program, one block per cycle. Positions are half-words from the base of the table.",
    )
    .clocked();
    let vector = m.input("record_i", Stored::new(config).width(), "the record");
    let valid = m.input("valid_i", 1, "there is one");
    let after_loss = m.input("after_loss_i", 1, "records before it are lost");
    let take = m.output("take_o", 1, "the record is done");
    let walking = m.output("walking_o", 1, "it follows one, or says something");
    let found = Found::inputs_of_walk(&m, layout);
    let word_i = m.input("word_i", layout.width(), "the present block, from the table");
    let read = m.output("read_o", 1, "read another block");
    let index_o = m.output("index_o", index, "its number");
    let base = m.input("base_i", address, "the address that positions are counted from");
    let stack = Stack::ports(&m, config.returns(), index);
    let ports: Vec<(&str, Expr)> = outputs(address)
        .into_iter()
        .filter(|output| !["lost_o", "busy_o"].contains(&output.name))
        .map(|output| (output.name, m.output(output.name, output.width, output.doc)))
        .collect();
    let record = Stored::new(config).split(&vector);

    let present = Present::new(&m, &word_i, layout);
    let place = Place::new(&m, layout, stack.is_some());
    let held = Held::new(&m, offset);
    m.section("What happens in this cycle.");
    let said = Said::new(&m, offset);
    let cycle = Cycle {
        record: &record,
        valid: &valid,
        after_loss: &after_loss,
        found: &found,
        present: &present,
        place: &place,
        held: &held,
        stack: stack.as_ref(),
        said: &said,
        take: &take,
        read: &read,
        index: &index_o,
    };
    cycle.assign(&m);
    m.unused(&vector);
    m.unused(&found.branch);
    let speaks = said.valid.clone() | &said.gap;
    let spoke = delay(&m, "spoke", &speaks, true);
    m.assign(&walking, place.left.q.any() | speaks | spoke);
    Report { base: &base, start: &present.start, said: &said }.assign(&m, &ports);
    m.finish()
}
