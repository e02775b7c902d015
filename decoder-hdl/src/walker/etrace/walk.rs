//! The walk from block to block.

mod cycle;
mod goal;
mod place;

use super::Config;
use super::intake::{Class, Stored};
use crate::walker::output::outputs;
use crate::walker::present::{Present, Stack};
use crate::walker::report::{Report, Said};
use crate::walker::search::Found;
use crate::wires::delay;
use cycle::{Driven, Inputs};
use goal::{Goal, Leads};
use hartrace_decoder::block_table::Ends;
use hartrace_rtl::{Component, Expr, Module, lit};
use place::{Place, State, Visit};

/// Bits of the state.
const STATE_BITS: u32 = 2;

/// Branches that are counted beyond the number in a record.
const COUNTED: u128 = 31;

impl Stored {
    fn is(&self, class: Class) -> Expr {
        self.class.is(class as u128)
    }
}

/// A field, or 0 if the encoder does not have it.
fn field(field: &Option<Expr>) -> Expr {
    field.clone().unwrap_or_else(|| lit(1, 0))
}

/// The ports to the predictor.
struct Predictor {
    branch: Expr,
    update: Expr,
    outcome: Expr,
    clear: Expr,
    predicted: Expr,
}

/// The module `walker_walk`: the state machine of the walker.
pub(super) fn unit(config: &Config) -> Component {
    let layout = &config.table;
    let (offset, index) = (layout.start_bits, layout.index_bits);
    let m = Module::new(
        "walker_walk",
        "Follows the program from where it is to where a record says, one block per cycle. Positions are half-words \
         from the base of the table.",
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
    let base =
        m.input("base_i", config.address_bits(), "the address that positions are counted from");
    let stack = Stack::ports(&m, config.returns(), index);
    let predictor = (config.decoder.params.bpred_size_p > 0).then(|| Predictor {
        branch: m.output("branch_o", config.decoder.params.bpred_size_p.into(), "the branch"),
        update: m.output("update_o", 1, "it is executed"),
        outcome: m.output("outcome_o", 1, "it is taken"),
        clear: m.output("clear_predictions_o", 1, "forget all outcomes"),
        predicted: m.input("predicted_i", 1, "it is predicted to be taken"),
    });
    let ports: Vec<(&str, Expr)> = outputs(config.address_bits())
        .into_iter()
        .filter(|output| !["lost_o", "busy_o"].contains(&output.name))
        .map(|output| (output.name, m.output(output.name, output.width, output.doc)))
        .collect();
    let record = Stored::new(config).split(&vector);

    let present = Present::new(&m, &word_i, layout);
    let branch = m.let_("is_branch", present.is(Ends::Branch));
    let place = Place::new(&m, config, &record, predictor.is_some());
    let depth = record.irdepth.clone().filter(|_| stack.is_some());
    let visit = Visit::new(&m, config, depth.map(|depth| depth.width()));
    let goal = Goal::new(&m, &record, (&found, &branch), (&place, &visit), stack.as_ref());
    let tables = (stack.as_ref(), predictor.as_ref());
    let leads = Leads::new(&m, &record, (&present, &branch), (&place, &goal), tables);

    m.section("What happens in this cycle.");
    let (move_, moved_to) = (m.wire("moves", 1), m.wire("moves_to", index));
    m.assign(&read, &move_);
    m.assign(&index_o, &moved_to);
    let (pushes, pops, forgets) = (m.wire("pushes", 1), m.wire("pops", 1), m.wire("forgets", 1));
    let updates = m.wire("updates", 1);
    let said = Said::new(&m, offset);
    let inputs = Inputs {
        config,
        record: &record,
        valid: &valid,
        after_loss: &after_loss,
        found: &found,
        present: &present,
        branch: &branch,
        place: &place,
        visit: &visit,
        goal: &goal,
        leads: &leads,
    };
    let driven = Driven {
        take: &take,
        move_: &move_,
        moved_to: &moved_to,
        pushes: &pushes,
        pops: &pops,
        forgets: &forgets,
        updates: &updates,
        said: &said,
    };
    cycle::assign(&m, &inputs, &driven);

    if let Some(stack) = &stack {
        m.assign(&stack.push, &pushes);
        m.assign(&stack.pop, &pops);
        m.assign(&stack.after_call, &leads.after);
        m.assign(&stack.clear, &forgets);
    } else {
        m.unused(&pushes);
        m.unused(&pops);
    }
    match &predictor {
        Some(table) => {
            let skipped = u32::from(config.decoder.params.iaddress_lsb_p.max(1)) - 1;
            let size = table.branch.width();
            let low = offset.min(size + skipped);
            let sum = base.slice(1, size + skipped) + present.last.trunc(low).zext(size + skipped);
            let sum = m.let_("branch_at", sum);
            m.assign(&table.branch, sum.slice(skipped, size));
            if skipped > 0 {
                m.unused(&sum);
            }
            m.assign(&table.update, &updates);
            m.assign(&table.outcome, &leads.taken);
            m.assign(&table.clear, &forgets);
        }
        None => m.unused(&updates),
    }
    if stack.is_none() && predictor.is_none() {
        m.unused(&forgets);
    }
    m.unused(&vector);
    let speaks = said.valid.clone() | &said.gap;
    let spoke = delay(&m, "spoke", &speaks, true);
    m.assign(&walking, !place.is_in(State::Ready) | speaks | spoke);
    Report { base: &base, start: &present.start, said: &said }.assign(&m, &ports);
    m.finish()
}
