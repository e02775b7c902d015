//! Blocks that send nothing: most of a program is branches that only wait in the map or in the count.

use crate::state::State;
use hartrace_etrace::ingress::{IType, Privilege, Retired};

/// What has to stay the same from block to block.
#[derive(Copy, Clone)]
pub(crate) struct Unchanged {
    pub(crate) privilege: Privilege,
    pub(crate) context: u64,
}

impl Unchanged {
    /// Whether nothing but a jump or a branch happens in a block, at the same privilege and in the same context.
    #[inline(always)]
    pub(crate) fn is_kept_by(self, block: &Retired) -> bool {
        let special = block.halted
            | block.reset
            | block.trigger.on
            | block.trigger.off
            | block.trigger.notify
            | block.itype.is_trap()
            | (block.iretire == 0);
        let same = (block.privilege == self.privilege) & (block.context == self.context);
        same & !special
    }
}

/// A set of itypes.
type Kinds = u16;

/// The kinds of jump that a decoder can follow.
const INFERABLE: Kinds = 1 << IType::None.raw()
    | 1 << IType::InferableCall.raw()
    | 1 << IType::InferableTailCall.raw()
    | 1 << IType::OtherInferableJump.raw();

impl State {
    /// Describes `current`, and then the blocks after it, up to the first that may send a payload or that changes more
    /// than the state of branches. Nothing is being lost, no resynchronisation is due, and `current` was not
    /// entered by an uninferable jump. Returns how many of `blocks` have been entered; the last of them is not described.
    #[inline(always)]
    pub(crate) fn pass_quietly(
        &mut self,
        current: &Retired,
        blocks: &[Retired],
        same: Unchanged,
    ) -> usize {
        match self.options.branch_prediction {
            true => self.pass::<true>(current, blocks, same),
            false => self.pass::<false>(current, blocks, same),
        }
    }

    #[inline(always)]
    fn pass<'b, const PREDICTS: bool>(
        &mut self,
        mut current: &'b Retired,
        blocks: &'b [Retired],
        same: Unchanged,
    ) -> usize {
        // Calls are remembered if returns are implicit.
        let calls = if self.options.implicit_return { 1 << IType::InferableCall.raw() } else { 0 };
        let quiet: Kinds = INFERABLE & !calls;
        let (mut map, mut branches, mut correct) = (self.map, self.branches, self.correct);
        let mut entered = 0;
        for block in blocks {
            if !same.is_kept_by(block) {
                break;
            }
            if current.itype.is_branch() {
                let taken = current.itype == IType::Taken;
                if branches < 30 {
                    map |= u32::from(!taken) << branches;
                    if PREDICTS {
                        correct += u64::from(self.predictor.learn(current.last_address(), taken));
                    }
                } else if PREDICTS && branches > 31 && correct < u32::MAX.into() {
                    // A count of predicted branches, up to the one that is not.
                    let address = current.last_address();
                    if self.predictor.predict(address) != taken {
                        break;
                    }
                    self.predictor.learn(address, taken);
                    correct += 1;
                } else {
                    break;
                }
                branches += 1;
            } else if quiet >> current.itype.raw() & 1 == 0 {
                break;
            }
            current = block;
            entered += 1;
        }
        // Any branch shows a decoder where it is.
        if branches != self.branches {
            self.forget_returns();
        }
        (self.map, self.branches, self.correct) = (map, branches, correct);
        entered
    }
}
