//! Identifies the difference that explains why the peer loses the path with implicit returns.

use crate::difference::P;
use crate::explain::Scene;
use crate::golden::Traced;
use crate::tracer::Instead;
use hartrace_etrace::Payload;
use hartrace_etrace::ingress::IType;
use hartrace_golden::encoder::Reason;
use std::collections::BTreeSet;

/// The behaviour of a return stack.
#[derive(Copy, Clone, Debug)]
struct Rules {
    /// Whether returns that the stack did not predict also pop.
    all_pop: bool,
    /// The number of calls that it holds.
    limit: usize,
}

impl Scene<'_> {
    /// The difference that explains it, if implicit returns are on.
    pub(crate) fn explain_returns(&self) -> Option<P> {
        if !self.case.encoder.options.implicit_return {
            return None;
        }
        let params = &self.case.encoder.params;
        let (limit, more) = match params.return_stack_size_p {
            0 => ((1 << params.call_counter_size_p) - 1, 1 << params.call_counter_size_p),
            bits => (1 << bits, 1 << bits),
        };
        let stacks = self.stacks(Rules { all_pop: true, limit });
        let kept = self.stacks(Rules { all_pop: false, limit });
        let counted = self.stacks(Rules { all_pop: true, limit: more });
        let tests = [
            (P::DepthTooEarly, self.depth_too_early(&stacks)),
            (P::NotifyDepth, self.notify_depth()),
            (P::KeptReturns, self.matters(&stacks, &kept)),
            (P::CallCounter, self.matters(&stacks, &counted)),
            (P::DepthInDoubt, self.depth_in_doubt()),
            (P::MapAfterDoubt, self.map_after_doubt()),
            (P::StaleReturns, self.stale_returns(&stacks)),
        ];
        tests.into_iter().find(|(_, explains)| *explains).map(|(p, _)| p)
    }

    /// The return stack before each correct item, emptied by every synchronisation.
    fn stacks(&self, rules: Rules) -> Vec<Vec<u64>> {
        let end = (self.at.payload + 1).min(self.payloads.len());
        let sync = |payload: &Payload| matches!(payload, Payload::Start(_) | Payload::Trap(_));
        let payloads = &self.payloads[..end];
        let syncs: BTreeSet<u64> =
            payloads.iter().filter(|e| sync(&e.payload)).map(|e| e.row).collect();
        let mismatches: BTreeSet<u64> =
            payloads.iter().filter(|e| e.reason == Reason::ReturnMismatch).map(|e| e.row).collect();

        let mut stack: Vec<u64> = Vec::new();
        let mut stacks = Vec::new();
        for (row, what) in &self.want[..self.at.right] {
            if syncs.contains(&(*row as u64)) {
                stack.clear();
            }
            stacks.push(stack.clone());
            let retired = self.row(*row);
            if !matches!(what, Traced::Retired(_)) {
                continue;
            }
            if retired.itype.is_call() {
                stack.push(retired.next_address());
                if stack.len() > rules.limit {
                    stack.remove(0);
                }
            }
            let unused = self.sequential(*row) || mismatches.contains(&(*row as u64 + 1));
            if retired.itype == IType::Return && (rules.all_pop || !unused) {
                stack.pop();
            }
        }
        stacks
    }

    fn is_return(&self, item: usize) -> bool {
        self.row(self.want[item].0).itype == IType::Return
    }

    /// The correct items of the current payload, and the one before.
    fn span(&self) -> std::ops::Range<usize> {
        self.at.before.saturating_sub(1)..self.at.right
    }

    fn reports_depth(&self) -> bool {
        self.report(self.at.payload).is_some_and(|report| report.irdepth.is_some())
    }

    /// Two kinds of stack differ at a return in the current payload, or the payload has a depth.
    fn matters(&self, one: &[Vec<u64>], other: &[Vec<u64>]) -> bool {
        let depth = self.reports_depth();
        self.span().any(|k| one[k] != other[k] && (depth || self.is_return(k)))
    }

    /// The last instruction was a return at the reported depth.
    fn depth_too_early(&self, stacks: &[Vec<u64>]) -> bool {
        let Some(last) = self.at.right.checked_sub(1) else { return false };
        let depth = stacks[last].len() as u32;
        self.is_return(last)
            && self.report(self.at.payload).is_some_and(|report| report.irdepth == Some(depth))
    }

    /// The current payload has notify and a depth, and the peer stopped at another visit.
    fn notify_depth(&self) -> bool {
        let report = self.report(self.at.payload);
        matches!(self.at.instead, Instead::Visit)
            && report.is_some_and(|report| report.notify && report.irdepth.is_some())
    }

    /// The last address was in doubt and had a depth.
    fn depth_in_doubt(&self) -> bool {
        let report = self.in_doubt().and_then(|payload| self.report(payload));
        report.is_some_and(|report| report.irdepth.is_some())
    }

    /// The last address was in doubt, and the current payload is a full map.
    fn map_after_doubt(&self) -> bool {
        let map = |payload: &Payload| matches!(payload, Payload::Branch(b) if b.address.is_none());
        self.current().is_some_and(|e| map(&e.payload)) && self.in_doubt().is_some()
    }

    /// After a synchronisation, there was a return with an empty stack in the current payload; or
    /// the payload has a depth, and the peer treated a return as the mispredicted one or passed the
    /// reported instruction.
    fn stale_returns(&self, stacks: &[Vec<u64>]) -> bool {
        let end = self.at.payload.min(self.payloads.len());
        let sync = |payload: &Payload| matches!(payload, Payload::Start(_) | Payload::Trap(_));
        let synced = self.payloads[..end].iter().filter(|e| sync(&e.payload)).count() > 1;
        let returned = self.at.right.checked_sub(1).is_some_and(|last| self.is_return(last));
        let depth = self.reports_depth() && (returned || self.arrived());
        synced && self.span().any(|k| depth || self.is_return(k) && stacks[k].is_empty())
    }
}
