//! The walk from block to block.

use super::fields::Fields;
use super::intake::{Class, OUTCOME_BITS, stored};
use super::outcomes::Outcomes;
use super::output::{Cause, outputs};
use super::report::{Report, Said};
use super::table::word;
use super::{Config, search};
use crate::wires::{any, delay};
use hartrace_decoder::block_table::Ends;
use hartrace_rtl::{Block, Component, Expr, Module, index_width, lit, zero};

/// What the walker does.
#[derive(Copy, Clone)]
enum State {
    /// It takes up a record.
    Ready = 0,
    /// It follows the program to where the record says.
    Walk = 1,
    /// It finds the outcome of the predicted branch that it has reached, since more may be sent for later ones.
    Latch = 2,
}

/// Bits of the state.
const STATE_BITS: u32 = 2;

/// Branches that are counted beyond the number in a record.
const COUNTED: u128 = 31;

/// Inputs about the block of the address in the record.
struct Found {
    block: Expr,
    offset: Expr,
    code: Expr,
    inside: Expr,
    last: Expr,
    branch: Expr,
}

/// The record at the input.
struct Record<'a> {
    fields: Fields,
    vector: &'a Expr,
}

impl Record<'_> {
    /// A field, or 0 if the encoder does not have it.
    fn get(&self, name: &str) -> Expr {
        self.fields.get(self.vector, name).unwrap_or_else(|| lit(1, 0))
    }

    fn is(&self, class: Class) -> Expr {
        self.get("class").is(class as u128)
    }
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
    let vector = m.input("record_i", stored(config).width(), "the record");
    let valid = m.input("valid_i", 1, "there is one");
    let after_loss = m.input("after_loss_i", 1, "records before it are lost");
    let take = m.output("take_o", 1, "the record is done");
    let walking = m.output("walking_o", 1, "it follows one, or says something");
    let [block, offset_i, code, inside, at_last_i, branch_i] = search::results(config)
        .map(|(name, width, doc)| m.input(&format!("found_{name}_i"), width, doc));
    let found = Found { block, offset: offset_i, code, inside, last: at_last_i, branch: branch_i };
    let word_i = m.input("word_i", layout.width(), "the present block, from the table");
    let read = m.output("read_o", 1, "read another block");
    let index_o = m.output("index_o", index, "its number");
    let base =
        m.input("base_i", config.address_bits(), "the address that positions are counted from");
    let stack = (config.returns() > 0).then(|| {
        let depth = index_width(config.returns() + 1);
        (
            m.output("push_o", 1, "a call"),
            m.output("pop_o", 1, "a return"),
            m.output("after_call_o", index, "the block after the call"),
            m.output("clear_returns_o", 1, "forget all calls"),
            m.input("return_i", index, "the block after the last call"),
            m.input("depth_i", depth, "calls that are known"),
        )
    });
    let predictor = (config.decoder.params.bpred_size_p > 0).then(|| {
        (
            m.output("branch_o", config.decoder.params.bpred_size_p.into(), "the branch"),
            m.output("update_o", 1, "it is executed"),
            m.output("outcome_o", 1, "it is taken"),
            m.output("clear_predictions_o", 1, "forget all outcomes"),
            m.input("predicted_i", 1, "it is predicted to be taken"),
        )
    });
    let ports: Vec<(&str, Expr)> = outputs(config.address_bits())
        .into_iter()
        .filter(|output| !["lost_o", "busy_o"].contains(&output.name))
        .map(|output| (output.name, m.output(output.name, output.width, output.doc)))
        .collect();
    let record = Record { fields: stored(config), vector: &vector };

    m.section("What is known of the present block.");
    let word = word(layout);
    let get = |name: &str| word.get(&word_i, name).unwrap_or_else(|| zero(1));
    let start = m.let_("start", get("start"));
    let last = m.let_("last", &start + get("span").zext(offset));
    let ends = m.let_("ends", get("ends"));
    let is = |which: Ends| ends.is(which as u128);
    let branch = m.let_("is_branch", is(Ends::Branch));
    let indirect = m.let_("is_indirect", ends.bit(2) & !is(Ends::NoCode));

    m.section("Where the walker is.");
    let state = m.reg("state", zero(STATE_BITS));
    let in_state = |which: State| state.q.is(which as u128);
    // Neither: nothing was traced yet, or not any more.
    let on = m.reg("on", zero(1));
    let lost = m.reg("lost", zero(1));
    let here = m.reg("here", zero(index));
    // Nothing of the block is executed yet; otherwise everything up to pc, of which nothing from `from` on was reported.
    let fresh = m.reg("fresh", zero(1));
    let pc = m.reg("pc", zero(offset));
    let from = m.reg("from", zero(offset));
    let at_last = m.reg("at_last", zero(1));
    // The instruction at pc, or the first of the block, was reached from the one before it in memory.
    let in_sequence = m.reg("in_sequence", zero(1));
    let trapped = m.reg("trapped", zero(1));
    let walked = m.reg("walked", zero(1));
    let privilege = m.reg("privilege", zero(record.get("privilege").width()));
    let patience = m.reg("patience", zero(config.patience));
    let outcomes = Outcomes::new(&m, predictor.is_some());

    m.section(
        "A visit of an address that may not be the one that was meant: the next record decides.",
    );
    let undecided = m.reg("undecided", zero(1));
    let deciding = m.reg("deciding", zero(1));
    let earlier = m.reg("earlier", zero(index));
    let earlier_branch = m.reg("earlier_branch", zero(1));
    let earlier_last = m.reg("earlier_last", zero(1));
    let earlier_offset = m.reg("earlier_offset", zero(offset));
    let has_depth = stack.is_some() && record.fields.get(&vector, "irdepth").is_some();
    let earlier_depth = has_depth.then(|| {
        let width = record.get("irdepth").width();
        (m.reg("earlier_report", zero(1)), m.reg("earlier_depth", zero(width)))
    });

    m.section("Where the walk ends.");
    let report = m.let_("report", record.is(Class::Report));
    let starts = m.let_("starts", record.is(Class::Start));
    let traps = m.let_("traps", record.is(Class::Trap));
    let addressed = m.let_("addressed", record.get("addressed"));
    let to_branch = m.let_("to_branch", !&deciding.q & &report & !&addressed);
    let goal = m.let_("goal", deciding.q.mux(&earlier.q, &found.block));
    let goal_offset = m.let_("goal_offset", deciding.q.mux(&earlier_offset.q, &found.offset));
    let goal_last = m.let_("goal_last", deciding.q.mux(&earlier_last.q, &found.last));
    let goal_branch = m.let_("goal_branch", deciding.q.mux(&earlier_branch.q, &found.branch));
    let bad = m.let_("bad_goal", !&found.code | &found.inside);
    let no_goal = m.let_("no_goal", !&deciding.q & &addressed & &bad);
    let as_target = m.let_("as_target", &deciding.q | (&report & record.get("target")));
    // The outcome of a branch at the goal is sent with the goal.
    let pending = m.let_("pending", &to_branch | &goal_branch);
    let counted = m.let_("counted", pending.mux(&outcomes.one, &outcomes.none));
    let (depth_fits, depth_said) = match (&earlier_depth, &stack) {
        (Some((reported, depth)), Some((.., now))) => {
            let said = deciding.q.mux(&reported.q, &report & record.get("irreport"));
            let said = m.let_("depth_said", said);
            let depth = deciding.q.mux(&depth.q, record.get("irdepth"));
            let width = depth.width().max(now.width());
            let same = depth.zext(width).eq(now.zext(width));
            (m.let_("depth_fits", !&said | &same), m.let_("depth_same", said & same))
        }
        _ => (lit(1, 1), lit(1, 0)),
    };
    let later = m.let_("later", goal_offset.gt(&pc.q));
    let same_privilege = !&starts | &deciding.q | privilege.q.eq(record.get("privilege"));
    let passes_goal =
        !&as_target & goal.eq(&here.q) & (&fresh.q | &later) & depth_fits & same_privilege;
    let passes_branch = &branch & (&fresh.q | !&at_last.q);
    let passes = m.let_("passes", to_branch.mux(passes_branch, passes_goal));
    let arrives = m.let_("arrives", &counted & passes);

    m.section("Where the present block leads.");
    let implicit = record.get("implicit_return");
    let follows = fresh.q.mux(get("span").any() | &in_sequence.q, !&at_last.q | &in_sequence.q);
    let by_constant =
        m.let_("by_constant", get("sequential") & record.get("sequential_jump") & follows);
    let by_stack = stack.as_ref().map_or_else(
        || lit(1, 0),
        |(.., depth)| {
            let failed = depth_said & &counted;
            m.let_("by_stack", is(Ends::Return) & &implicit & depth.any() & !failed)
        },
    );
    let hits = m.let_("hits", &indirect & !&by_constant & !&by_stack);
    let predicted = predictor.as_ref().map(|(.., predicted)| predicted);
    let taken = m.let_("taken", outcomes.taken(predicted));
    let after = m.let_("after", &here.q + lit(index, 1));
    let by_return = &by_stack & !&by_constant;
    let falls = m.let_("falls", is(Ends::Next) | (&branch & !&taken));
    let leads = any([
        falls.gate(&after),
        hits.gate(&goal),
        stack.as_ref().map_or_else(|| zero(index), |(.., top, _)| by_return.gate(top)),
        (!(&falls | &hits | by_return.clone())).gate(get("target")),
    ]);
    let leads = m.let_("leads", leads);
    let impatient = m.let_("impatient", patience.q.all());

    m.section("What happens in this cycle.");
    let predicts = record.get("branch_prediction");
    let (move_, moved_to) = (m.wire("moves", 1), m.wire("moves_to", index));
    m.assign(&read, &move_);
    m.assign(&index_o, &moved_to);
    let (pushes, pops, forgets) = (m.wire("pushes", 1), m.wire("pops", 1), m.wire("forgets", 1));
    let updates = m.wire("updates", 1);
    let said = Said::new(&m, offset);
    let first = m.let_("first", fresh.q.mux(&start, &from.q));
    let open = m.let_("open", &on.q & !&trapped.q);
    let jumped = any([Ends::Jump, Ends::Call].map(is)) | &indirect;
    let jumped = m.let_("jumped", jumped);

    // Reports what was executed up to pc.
    let flush = |b: &mut Block| {
        b.when(&open, |b| {
            b.set(&said.valid, true);
            b.set(&said.first, &from.q);
            b.set(&said.last, &pc.q);
            b.set(&said.ends, at_last.q.gate(&ends));
            let went = branch.mux(outcomes.count.q.any() & !outcomes.known.q.bit(0), &jumped);
            b.set(&said.taken, &at_last.q & went);
        });
    };
    // Reports the present block, of which nothing was reported before.
    let emit = |b: &mut Block| {
        b.set(&said.valid, true);
        b.set(&said.first, &first);
        b.set(&said.last, &last);
        b.set(&said.ends, &ends);
        b.set(&said.taken, branch.mux(&taken & !&outcomes.none, &jumped));
    };
    // Waits for the next synchronisation. A gap in a gap is not another one.
    let gap = |b: &mut Block, cause: Cause| {
        b.set(&said.gap, !&lost.q);
        b.set(&said.cause, lit(Cause::BITS, cause as u128));
        b.set(&on.d, false);
        b.set(&lost.d, true);
        b.set(&state.d, lit(STATE_BITS, State::Ready as u128));
        b.set(&deciding.d, false);
        b.set(&undecided.d, false);
        b.set(&trapped.d, false);
        outcomes.clear(b);
    };
    let go = |b: &mut Block| {
        b.set(&state.d, lit(STATE_BITS, State::Walk as u128));
        b.set(&patience.d, zero(config.patience));
    };
    // The position is the goal.
    let reach = |b: &mut Block| {
        b.set(&here.d, &goal);
        b.set(&fresh.d, false);
        b.set(&pc.d, &goal_offset);
        b.set(&at_last.d, &goal_last);
    };
    // The walk is over.
    let end = |b: &mut Block, passing: bool| {
        b.set(&state.d, lit(STATE_BITS, State::Ready as u128));
        b.set(&deciding.d, false);
        b.when(&deciding.q, |b| b.set(&undecided.d, false))
            .elsif(&starts, |b| b.set(&walked.d, true))
            .elsif(&report, |b| {
                b.set(&take, true);
                if passing {
                    let unsaid = &addressed & !record.get("passing");
                    b.set(&undecided.d, unsaid);
                }
                if let Some((number, wrong)) = &outcomes.predicted {
                    let left = !outcomes.count.q.any() & (number.q.any() | &wrong.q);
                    b.when(left, |b| b.set(&state.d, lit(STATE_BITS, State::Latch as u128)));
                }
            });
    };
    let synchronise = |b: &mut Block| {
        b.set(&take, true);
        b.set(&walked.d, false);
        b.set(&on.d, true);
        b.set(&lost.d, false);
        b.set(&trapped.d, false);
        b.set(&undecided.d, false);
        b.set(&privilege.d, record.get("privilege"));
        b.set(&forgets, true);
        reach(b);
        b.set(&in_sequence.d, false);
        b.set(&move_, true);
        b.set(&moved_to, &goal);
        b.when(&traps | !&open, |b| b.set(&from.d, &goal_offset));
        outcomes.clear(b);
        b.when(&found.branch, |b| outcomes.only(b, &record.get("outcomes").bit(0)));
    };
    // Both kinds of synchronisation, up to where it is known to be usable.
    let not_a_branch = m.let_("not_a_branch", !&found.branch & !record.get("outcomes").bit(0));
    let self_loop = at_last.q.clone()
        & !get("span").any()
        & get("target").eq(&here.q)
        & branch.mux(outcomes.count.q.any() & !outcomes.known.q.bit(0), &jumped & !&indirect);
    let faulted = m.let_("faulted", record.get("fetch") & !self_loop);

    m.comb(|b| {
        b.set(&take, false);
        b.set(&move_, false);
        b.set(&moved_to, &leads);
        b.set(&pushes, false);
        b.set(&pops, false);
        b.set(&forgets, false);
        b.set(&updates, false);
        said.nothing(b);
        b.when(in_state(State::Ready) & &valid, |b| {
            b.when(&after_loss & !&lost.q & !&walked.q, |b| {
                flush(b);
                gap(b, Cause::Lost);
            })
            .elsif(record.is(Class::Malformed), |b| {
                b.set(&take, true);
                b.when(!&lost.q, |b| {
                    flush(b);
                    gap(b, Cause::Malformed);
                });
            })
            .elsif(record.is(Class::Support), |b| {
                b.when(&open & &undecided.q & record.get("ended"), |b| {
                    b.set(&deciding.d, true);
                    go(b);
                })
                .otherwise(|b| {
                    b.set(&take, true);
                    b.set(&undecided.d, false);
                    b.when(record.get("off"), |b| {
                        flush(b);
                        outcomes.clear(b);
                        b.set(&on.d, false);
                        b.set(&lost.d, false);
                        b.set(&trapped.d, false);
                        b.when(record.get("overflow"), |b| {
                            b.set(&said.gap, true);
                            b.set(&said.cause, lit(Cause::BITS, Cause::TraceLost as u128));
                        });
                    });
                });
            })
            .elsif(&traps & !record.get("handler"), |b| {
                b.note("Another trap follows before any instruction of the handler.");
                b.set(&take, true);
                flush(b);
                b.set(&trapped.d, &on.q);
                b.set(&undecided.d, false);
                b.set(&forgets, true);
                outcomes.clear(b);
            })
            .elsif(&traps | &starts, |b| {
                b.when(!&addressed | !record.get("known"), |b| {
                    flush(b);
                    gap(b, Cause::UnknownAddress);
                    b.set(&take, true);
                })
                .elsif(&bad | &not_a_branch, |b| {
                    flush(b);
                    gap(b, Cause::NotABranch);
                    b.when(&found.inside, |b| {
                        b.set(&said.cause, lit(Cause::BITS, Cause::InsideInstruction as u128));
                    });
                    b.when(!&found.code, |b| {
                        b.set(&said.cause, lit(Cause::BITS, Cause::NoCode as u128));
                    });
                    b.set(&take, true);
                    b.set(&walked.d, false);
                })
                .elsif(&starts & &open & !&walked.q, |b| {
                    b.set(&undecided.d, false);
                    b.when(&found.branch, |b| {
                        outcomes.append(b, &lit(1, 1), &record.get("outcomes"));
                    });
                    go(b);
                })
                .otherwise(|b| {
                    b.when(&traps, |b| {
                        flush(b);
                        b.set(&said.faulted, &open & &faulted);
                    });
                    synchronise(b);
                });
            })
            .elsif(&lost.q, |b| b.set(&take, true))
            .elsif(!&open, |b| {
                gap(b, Cause::NotSynchronised);
                b.set(&take, true);
            })
            .elsif(&undecided.q, |b| {
                b.set(&deciding.d, true);
                go(b);
            })
            .elsif(&addressed & !record.get("known"), |b| {
                flush(b);
                gap(b, Cause::UnknownAddress);
                b.set(&take, true);
            })
            .otherwise(|b| {
                let map = record.get("outcomes");
                match &outcomes.predicted {
                    None => outcomes.append(b, &record.get("branches"), &map),
                    Some((number, wrong)) => {
                        b.when(record.get("counted"), |b| {
                            let width = OUTCOME_BITS + 1;
                            b.set(&number.d, map.zext(width) + lit(width, COUNTED));
                            b.set(&wrong.d, record.get("mispredicted"));
                        })
                        .otherwise(|b| outcomes.append(b, &record.get("branches"), &map));
                    }
                }
                go(b);
            });
        })
        .elsif(in_state(State::Walk), |b| {
            b.when(&no_goal, |b| {
                b.when(!&fresh.q, flush);
                gap(b, Cause::InsideInstruction);
                b.when(!&found.code, |b| {
                    b.set(&said.cause, lit(Cause::BITS, Cause::NoCode as u128));
                });
            })
            .elsif(is(Ends::NoCode), |b| gap(b, Cause::NoCode))
            .elsif(&arrives, |b| {
                b.set(&from.d, &first);
                b.set(&fresh.d, false);
                b.set(&in_sequence.d, !&fresh.q | get("span").any() | &in_sequence.q);
                b.when(&to_branch, |b| {
                    b.set(&pc.d, &last);
                    b.set(&at_last.d, true);
                })
                .otherwise(reach);
                b.set(&earlier.d, &goal);
                b.set(&earlier_offset.d, &goal_offset);
                b.set(&earlier_last.d, &goal_last);
                b.set(&earlier_branch.d, &goal_branch);
                if let Some((reported, depth)) = &earlier_depth {
                    b.set(&reported.d, record.get("irreport"));
                    b.set(&depth.d, record.get("irdepth"));
                }
                end(b, true);
            })
            .elsif(&branch & &outcomes.none, |b| {
                emit(b);
                gap(b, Cause::NoOutcome);
            })
            .elsif(&hits & (&to_branch | !&counted), |b| {
                emit(b);
                gap(b, Cause::BranchesLeft);
                b.when(&outcomes.none, |b| {
                    b.set(&said.cause, lit(Cause::BITS, Cause::NoOutcome as u128));
                });
                b.when(&to_branch, |b| {
                    b.set(&said.cause, lit(Cause::BITS, Cause::UnexpectedJump as u128));
                });
            })
            .elsif(&impatient, |b| {
                emit(b);
                gap(b, Cause::NoProgress);
            })
            .otherwise(|b| {
                emit(b);
                b.set(&said.follows, true);
                b.set(&move_, true);
                b.set(&here.d, &leads);
                b.set(&fresh.d, true);
                b.set(&in_sequence.d, is(Ends::Next));
                b.set(&pops, is(Ends::Return) & &implicit);
                b.set(&pushes, (is(Ends::Call) | is(Ends::IndirectCall)) & &implicit);
                b.set(&patience.d, &patience.q + lit(config.patience, 1));
                b.when(&branch, |b| {
                    outcomes.step(b);
                    b.set(&updates, &predicts);
                    b.set(&patience.d, zero(config.patience));
                });
                b.when(&hits, |b| {
                    reach(b);
                    b.set(&from.d, &goal_offset);
                    b.set(&said.next, &goal_offset);
                    b.set(&said.sent, true);
                    end(b, false);
                });
            });
        })
        .elsif(in_state(State::Latch), |b| {
            outcomes.only(b, &!&taken);
            b.set(&state.d, lit(STATE_BITS, State::Ready as u128));
        });
    });

    if let Some((push, pop, after_call, clear, ..)) = &stack {
        m.assign(push, &pushes);
        m.assign(pop, &pops);
        m.assign(after_call, &after);
        m.assign(clear, &forgets);
    } else {
        m.unused(&pushes);
        m.unused(&pops);
    }
    match &predictor {
        Some((address, update, outcome, clear, _)) => {
            let skipped = u32::from(config.decoder.params.iaddress_lsb_p.max(1)) - 1;
            let size = address.width();
            let low = offset.min(size + skipped);
            let sum = base.slice(1, size + skipped) + last.trunc(low).zext(size + skipped);
            let sum = m.let_("branch_at", sum);
            m.assign(address, sum.slice(skipped, size));
            if skipped > 0 {
                m.unused(&sum);
            }
            m.assign(update, &updates);
            m.assign(outcome, &taken);
            m.assign(clear, &forgets);
        }
        None => m.unused(&updates),
    }
    if stack.is_none() && predictor.is_none() {
        m.unused(&forgets);
    }
    m.unused(&vector);
    let speaks = said.valid.clone() | &said.gap;
    let spoke = delay(&m, "spoke", &speaks, true);
    m.assign(&walking, !in_state(State::Ready) | speaks | spoke);
    Report { base: &base, start: &start, said: &said }.assign(&m, &ports);
    m.finish()
}
