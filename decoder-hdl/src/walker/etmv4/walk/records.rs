//! What a record does.

use super::cycle::{Cycle, Known};
use crate::walker::etmv4::intake::{ATOM_BITS, COUNT_BITS, Class};
use crate::walker::output::Cause;
use hartrace_rtl::{Block, lit};

impl Cycle<'_> {
    /// Takes up a record.
    pub(super) fn ready(&self, b: &mut Block, known: &Known) {
        let Self { record, place, .. } = self;
        let is = |class| record.is(class);
        let (following, context) = (&place.following, &place.context);
        b.when(&record.broken & &following.q, |b| self.lose(b, known, Cause::UnknownAddress))
            .elsif(is(Class::Malformed), |b| {
                b.set(self.take, true);
                b.when(&following.q, |b| self.lose(b, known, Cause::Malformed));
            })
            .elsif(is(Class::Async), |b| {
                b.set(self.take, true);
                b.set(&place.aligned.d, !&following.q);
            })
            .elsif(is(Class::TraceInfo), |b| {
                b.set(self.take, true);
                self.forget(b);
                if let Some(returns) = &place.returns {
                    b.set(&returns.blocked.d, true);
                }
                b.when(!&following.q & &place.aligned.q, |b| {
                    b.set(&following.d, true);
                    b.set(&place.aligned.d, false);
                    b.set(&context.d, false);
                    b.set(&place.need.d, true);
                });
            })
            .elsif(!&following.q, |b| {
                b.set(self.take, true);
                b.when(is(Class::Atoms), |b| self.stray(b, known, Cause::NotSynchronised));
            })
            .elsif(is(Class::Lost) | is(Class::Unsupported), |b| {
                b.set(self.take, true);
                self.lose(b, known, Cause::TraceLost);
                b.when(is(Class::Unsupported), |b| {
                    b.set(&self.said.cause, lit(Cause::BITS, Cause::Unsupported as u128));
                });
            })
            .elsif(is(Class::TraceOn), |b| {
                b.set(self.take, true);
                self.release(b);
                self.forget(b);
            })
            .elsif(is(Class::Context) | is(Class::Nothing), |b| {
                b.set(self.take, true);
                b.set(&context.d, &context.q | &record.context);
            })
            .elsif(is(Class::Address), |b| {
                b.set(self.take, true);
                b.set(&context.d, &context.q | &record.context);
                self.arrive(b);
                b.when(!&context.q & !&record.context, |b| {
                    b.set(&place.told.d, &place.told.q);
                });
            })
            .elsif(is(Class::Q), |b| {
                b.set(self.take, true);
                self.gap(b, Cause::Unsupported);
                b.when(&record.addressed, |b| self.arrive(b))
                    .otherwise(|b| b.set(&known.strays, true));
            })
            .otherwise(|b| {
                let target = is(Class::Exception) & &record.target;
                b.when(target, |b| {
                    b.set(self.take, true);
                    b.set(&context.d, &context.q | &record.context);
                    self.release(b);
                    self.arrive(b);
                })
                .otherwise(|b| {
                    let atoms = |b: &mut Block| {
                        b.when(is(Class::Atoms), |b| self.load(b));
                    };
                    self.come_back(b, known, atoms, |b| self.element(b, known));
                });
            });
    }

    /// Takes up an element of which the position is known, if it is known at all.
    fn element(&self, b: &mut Block, known: &Known) {
        let Self { record, place, .. } = self;
        b.when(record.is(Class::Exception), |b| self.exception(b, known))
            .elsif(!&place.context.q, |b| {
                b.set(self.take, true);
                self.stray(b, known, Cause::NotSynchronised);
            })
            .elsif(record.is(Class::Source), |b| self.source(b, known))
            .elsif(&place.need.q, |b| {
                b.set(self.take, true);
                self.stray(b, known, Cause::UnexpectedJump);
            })
            .otherwise(|b| self.load(b));
    }

    /// Takes the outcomes of the record.
    fn load(&self, b: &mut Block) {
        b.set(self.take, true);
        let atoms = &self.record.address;
        b.set(&self.place.left.d, atoms.trunc(COUNT_BITS));
        b.set(&self.place.outcomes.d, atoms.slice(COUNT_BITS, ATOM_BITS));
    }

    /// Executes what is before the address of an exception, block by block. Branches on the way were not taken.
    fn exception(&self, b: &mut Block, known: &Known) {
        let Self { record, found, place, .. } = self;
        let over = |b: &mut Block| {
            b.set(self.take, true);
            self.release(b);
        };
        let astray = |b: &mut Block, cause| {
            b.set(self.take, true);
            self.stray(b, known, cause);
        };
        let context = &place.context.q | &record.context;
        b.set(&place.context.d, &context);
        b.when(!&record.addressed | &place.need.q | !context, over)
            .elsif(&known.nowhere | !&found.code, |b| astray(b, Cause::NoCode))
            .elsif(&place.inside.q | &found.inside, |b| astray(b, Cause::InsideInstruction))
            .elsif(known.first.ge(&found.offset), over)
            .elsif(found.block.eq(&place.here.q), |b| {
                self.release_before(b);
                self.held.keep_part(b, &known.first, &found.offset);
                b.set(&place.fresh.d, false);
                b.set(&place.pc.d, &found.offset);
            })
            .elsif(&known.element, |b| astray(b, Cause::NoOutcome))
            .otherwise(|b| self.step(b, known, &lit(1, 0), &known.after));
    }

    /// Executes what is before the address of a source, block by block, then takes it for an outcome. Branches on the way
    /// were not taken.
    fn source(&self, b: &mut Block, known: &Known) {
        let Self { found, place, .. } = self;
        let astray = |b: &mut Block, cause| {
            b.set(self.take, true);
            self.stray(b, known, cause);
        };
        b.when(!&found.code, |b| astray(b, Cause::NoCode))
            .elsif(!&found.last, |b| astray(b, Cause::NotABranch))
            .elsif(&place.need.q | &known.nowhere | known.first.gt(&found.offset), |b| {
                b.note("How the program came here is not known.");
                self.release(b);
                self.arrive(b);
            })
            .elsif(!found.block.eq(&place.here.q) & &known.always, |b| {
                astray(b, Cause::NoOutcome);
            })
            .elsif(!found.block.eq(&place.here.q), |b| {
                self.step(b, known, &lit(1, 0), &known.after);
            })
            .elsif(!&known.element, |b| astray(b, Cause::NotABranch))
            .otherwise(|b| {
                b.set(self.take, true);
                b.set(&place.left.d, lit(COUNT_BITS, 1));
                b.set(&place.outcomes.d, lit(ATOM_BITS, 1));
            });
    }
}
