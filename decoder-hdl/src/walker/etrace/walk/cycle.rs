//! What happens in a cycle.

use super::goal::{Goal, Leads};
use super::place::{Place, State, Visit};
use super::{COUNTED, STATE_BITS, field};
use crate::walker::etrace::Config;
use crate::walker::etrace::intake::{Class, OUTCOME_BITS, Stored};
use crate::walker::output::Cause;
use crate::walker::present::Present;
use crate::walker::report::Said;
use crate::walker::search::Found;
use crate::wires::any;
use hartrace_decoder::block_table::Ends;
use hartrace_rtl::{Block, Expr, Module, lit, zero};

/// What a cycle depends on.
pub(super) struct Inputs<'a> {
    pub(super) config: &'a Config,
    pub(super) record: &'a Stored,
    pub(super) valid: &'a Expr,
    pub(super) after_loss: &'a Expr,
    pub(super) found: &'a Found,
    pub(super) present: &'a Present,
    pub(super) branch: &'a Expr,
    pub(super) place: &'a Place,
    pub(super) visit: &'a Visit,
    pub(super) goal: &'a Goal,
    pub(super) leads: &'a Leads,
}

/// What is driven, besides the registers.
pub(super) struct Driven<'a> {
    pub(super) take: &'a Expr,
    pub(super) move_: &'a Expr,
    pub(super) moved_to: &'a Expr,
    pub(super) pushes: &'a Expr,
    pub(super) pops: &'a Expr,
    pub(super) forgets: &'a Expr,
    pub(super) updates: &'a Expr,
    pub(super) said: &'a Said,
}

/// Drives them.
pub(super) fn assign(m: &Module, inputs: &Inputs<'_>, driven: &Driven<'_>) {
    let Inputs {
        config,
        record,
        valid,
        after_loss,
        found,
        present,
        branch,
        place,
        visit,
        goal,
        leads,
    } = *inputs;
    let Driven { take, move_, moved_to, pushes, pops, forgets, updates, said } = *driven;
    let Place {
        state, on, lost, here, fresh, pc, from, at_last, in_sequence, trapped, walked, ..
    } = place;
    let Place { privilege, patience, outcomes, .. } = place;
    let first = m.let_("first", fresh.q.mux(&present.start, &from.q));
    let open = m.let_("open", &on.q & !&trapped.q);
    let jumped = any([Ends::Jump, Ends::Call].map(|which| present.is(which))) | &present.indirect;
    let jumped = m.let_("jumped", jumped);

    // Reports what was executed up to pc.
    let flush = |b: &mut Block| {
        b.when(&open, |b| {
            b.set(&said.valid, true);
            b.set(&said.first, &from.q);
            b.set(&said.last, &pc.q);
            b.set(&said.ends, at_last.q.gate(&present.ends));
            let went = branch.mux(outcomes.count.q.any() & !outcomes.known.q.bit(0), &jumped);
            b.set(&said.taken, &at_last.q & went);
        });
    };
    // Reports the present block, of which nothing was reported before.
    let emit = |b: &mut Block| {
        b.set(&said.valid, true);
        b.set(&said.first, &first);
        b.set(&said.last, &present.last);
        b.set(&said.ends, &present.ends);
        b.set(&said.taken, branch.mux(&leads.taken & !&outcomes.none, &jumped));
    };
    // Waits for the next synchronisation. A gap in a gap is not another one.
    let gap = |b: &mut Block, cause: Cause| {
        b.set(&said.gap, !&lost.q);
        b.set(&said.cause, lit(Cause::BITS, cause as u128));
        b.set(&on.d, false);
        b.set(&lost.d, true);
        b.set(&state.d, lit(STATE_BITS, State::Ready as u128));
        b.set(&visit.deciding.d, false);
        b.set(&visit.undecided.d, false);
        b.set(&trapped.d, false);
        outcomes.clear(b);
    };
    let go = |b: &mut Block| {
        b.set(&state.d, lit(STATE_BITS, State::Walk as u128));
        b.set(&patience.d, zero(config.patience));
    };
    // The position is the goal.
    let reach = |b: &mut Block| {
        b.set(&here.d, &goal.block);
        b.set(&fresh.d, false);
        b.set(&pc.d, &goal.offset);
        b.set(&at_last.d, &goal.last);
    };
    // The walk is over.
    let end = |b: &mut Block, passing: bool| {
        b.set(&state.d, lit(STATE_BITS, State::Ready as u128));
        b.set(&visit.deciding.d, false);
        b.when(&visit.deciding.q, |b| b.set(&visit.undecided.d, false))
            .elsif(&goal.starts, |b| b.set(&walked.d, true))
            .elsif(&goal.report, |b| {
                b.set(take, true);
                if passing {
                    let unsaid = &goal.addressed & !&record.passing;
                    b.set(&visit.undecided.d, unsaid);
                }
                if let Some((number, wrong)) = &outcomes.predicted {
                    let left = !outcomes.count.q.any() & (number.q.any() | &wrong.q);
                    b.when(left, |b| b.set(&state.d, lit(STATE_BITS, State::Latch as u128)));
                }
            });
    };
    let synchronise = |b: &mut Block| {
        b.set(take, true);
        b.set(&walked.d, false);
        b.set(&on.d, true);
        b.set(&lost.d, false);
        b.set(&trapped.d, false);
        b.set(&visit.undecided.d, false);
        b.set(&privilege.d, &record.privilege);
        b.set(forgets, true);
        reach(b);
        b.set(&in_sequence.d, false);
        b.set(move_, true);
        b.set(moved_to, &goal.block);
        b.when(&goal.traps | !&open, |b| b.set(&from.d, &goal.offset));
        outcomes.clear(b);
        b.when(&found.branch, |b| outcomes.only(b, &record.outcomes.bit(0)));
    };
    // Both kinds of synchronisation, up to where it is known to be usable.
    let not_a_branch = m.let_("not_a_branch", !&found.branch & !record.outcomes.bit(0));
    let self_loop = at_last.q.clone()
        & !present.word.span.any()
        & present.word.target.eq(&here.q)
        & branch
            .mux(outcomes.count.q.any() & !outcomes.known.q.bit(0), &jumped & !&present.indirect);
    let faulted = m.let_("faulted", &record.fetch & !self_loop);

    m.comb(|b| {
        b.set(take, false);
        b.set(move_, false);
        b.set(moved_to, &leads.to);
        b.set(pushes, false);
        b.set(pops, false);
        b.set(forgets, false);
        b.set(updates, false);
        said.nothing(b);
        b.when(place.is_in(State::Ready) & valid, |b| {
            b.when(after_loss & !&lost.q & !&walked.q, |b| {
                flush(b);
                gap(b, Cause::Lost);
            })
            .elsif(record.is(Class::Malformed), |b| {
                b.set(take, true);
                b.when(!&lost.q, |b| {
                    flush(b);
                    gap(b, Cause::Malformed);
                });
            })
            .elsif(record.is(Class::Support), |b| {
                b.when(&open & &visit.undecided.q & &record.ended, |b| {
                    b.set(&visit.deciding.d, true);
                    go(b);
                })
                .otherwise(|b| {
                    b.set(take, true);
                    b.set(&visit.undecided.d, false);
                    b.when(&record.off, |b| {
                        flush(b);
                        outcomes.clear(b);
                        b.set(&on.d, false);
                        b.set(&lost.d, false);
                        b.set(&trapped.d, false);
                        b.when(&record.overflow, |b| {
                            b.set(&said.gap, true);
                            b.set(&said.cause, lit(Cause::BITS, Cause::TraceLost as u128));
                        });
                    });
                });
            })
            .elsif(&goal.traps & !&record.handler, |b| {
                b.note("Another trap follows before any instruction of the handler.");
                b.set(take, true);
                flush(b);
                b.set(&trapped.d, &on.q);
                b.set(&visit.undecided.d, false);
                b.set(forgets, true);
                outcomes.clear(b);
            })
            .elsif(&goal.traps | &goal.starts, |b| {
                b.when(!&goal.addressed | !&record.known, |b| {
                    flush(b);
                    gap(b, Cause::UnknownAddress);
                    b.set(take, true);
                })
                .elsif(&goal.bad | &not_a_branch, |b| {
                    flush(b);
                    gap(b, Cause::NotABranch);
                    b.when(&found.inside, |b| {
                        b.set(&said.cause, lit(Cause::BITS, Cause::InsideInstruction as u128));
                    });
                    b.when(!&found.code, |b| {
                        b.set(&said.cause, lit(Cause::BITS, Cause::NoCode as u128));
                    });
                    b.set(take, true);
                    b.set(&walked.d, false);
                })
                .elsif(&goal.starts & &open & !&walked.q, |b| {
                    b.set(&visit.undecided.d, false);
                    b.when(&found.branch, |b| {
                        outcomes.append(b, &lit(1, 1), &record.outcomes);
                    });
                    go(b);
                })
                .otherwise(|b| {
                    b.when(&goal.traps, |b| {
                        flush(b);
                        b.set(&said.faulted, &open & &faulted);
                    });
                    synchronise(b);
                });
            })
            .elsif(&lost.q, |b| b.set(take, true))
            .elsif(!&open, |b| {
                gap(b, Cause::NotSynchronised);
                b.set(take, true);
            })
            .elsif(&visit.undecided.q, |b| {
                b.set(&visit.deciding.d, true);
                go(b);
            })
            .elsif(&goal.addressed & !&record.known, |b| {
                flush(b);
                gap(b, Cause::UnknownAddress);
                b.set(take, true);
            })
            .otherwise(|b| {
                let map = &record.outcomes;
                match &outcomes.predicted {
                    None => outcomes.append(b, &record.branches, map),
                    Some((number, wrong)) => {
                        b.when(field(&record.counted), |b| {
                            let width = OUTCOME_BITS + 1;
                            b.set(&number.d, map.zext(width) + lit(width, COUNTED));
                            b.set(&wrong.d, field(&record.mispredicted));
                        })
                        .otherwise(|b| outcomes.append(b, &record.branches, map));
                    }
                }
                go(b);
            });
        })
        .elsif(place.is_in(State::Walk), |b| {
            b.when(&goal.missing, |b| {
                b.when(!&fresh.q, flush);
                gap(b, Cause::InsideInstruction);
                b.when(!&found.code, |b| {
                    b.set(&said.cause, lit(Cause::BITS, Cause::NoCode as u128));
                });
            })
            .elsif(present.is(Ends::NoCode), |b| gap(b, Cause::NoCode))
            .elsif(&goal.arrives, |b| {
                b.set(&from.d, &first);
                b.set(&fresh.d, false);
                b.set(&in_sequence.d, !&fresh.q | present.word.span.any() | &in_sequence.q);
                b.when(&goal.to_branch, |b| {
                    b.set(&pc.d, &present.last);
                    b.set(&at_last.d, true);
                })
                .otherwise(reach);
                b.set(&visit.block.d, &goal.block);
                b.set(&visit.offset.d, &goal.offset);
                b.set(&visit.last.d, &goal.last);
                b.set(&visit.branch.d, &goal.branch);
                if let Some((reported, depth)) = &visit.depth {
                    b.set(&reported.d, field(&record.irreport));
                    b.set(&depth.d, field(&record.irdepth));
                }
                end(b, true);
            })
            .elsif(branch & &outcomes.none, |b| {
                emit(b);
                gap(b, Cause::NoOutcome);
            })
            .elsif(&leads.hits & (&goal.to_branch | !&goal.counted), |b| {
                emit(b);
                gap(b, Cause::BranchesLeft);
                b.when(&outcomes.none, |b| {
                    b.set(&said.cause, lit(Cause::BITS, Cause::NoOutcome as u128));
                });
                b.when(&goal.to_branch, |b| {
                    b.set(&said.cause, lit(Cause::BITS, Cause::UnexpectedJump as u128));
                });
            })
            .elsif(&leads.impatient, |b| {
                emit(b);
                gap(b, Cause::NoProgress);
            })
            .otherwise(|b| {
                emit(b);
                b.set(&said.follows, true);
                b.set(move_, true);
                b.set(&here.d, &leads.to);
                b.set(&fresh.d, true);
                b.set(&in_sequence.d, present.is(Ends::Next));
                b.set(pops, present.is(Ends::Return) & &leads.implicit);
                b.set(
                    pushes,
                    (present.is(Ends::Call) | present.is(Ends::IndirectCall)) & &leads.implicit,
                );
                b.set(&patience.d, &patience.q + lit(config.patience, 1));
                b.when(branch, |b| {
                    outcomes.step(b);
                    b.set(updates, &record.branch_prediction);
                    b.set(&patience.d, zero(config.patience));
                });
                b.when(&leads.hits, |b| {
                    reach(b);
                    b.set(&from.d, &goal.offset);
                    b.set(&said.next, &goal.offset);
                    b.set(&said.sent, true);
                    end(b, false);
                });
            });
        })
        .elsif(place.is_in(State::Latch), |b| {
            outcomes.only(b, &!&leads.taken);
            b.set(&state.d, lit(STATE_BITS, State::Ready as u128));
        });
    });
}
