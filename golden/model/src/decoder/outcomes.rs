use std::collections::VecDeque;

/// Source of the outcome of a branch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// A branch map, or the branch bit of a synchronisation.
    Known(bool),
    /// This many branches had the predicted outcome.
    Predicted(u64),
    /// The branch did not have the predicted outcome.
    Mispredicted,
}

/// Branches that have been reported but not yet executed, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcomes {
    queue: VecDeque<Outcome>,
    count: u64,
}

impl Outcomes {
    /// Number of such branches.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.count = 0;
    }

    fn push(&mut self, outcome: Outcome, count: u64) {
        if count > 0 {
            self.queue.push_back(outcome);
            self.count += count;
        }
    }

    pub(crate) fn known(&mut self, taken: bool) {
        self.push(Outcome::Known(taken), 1);
    }

    pub(crate) fn predicted(&mut self, count: u64) {
        self.push(Outcome::Predicted(count), count);
    }

    pub(crate) fn mispredicted(&mut self) {
        self.push(Outcome::Mispredicted, 1);
    }

    /// Whether the next branch is taken, if it is predicted as `prediction`.
    pub(crate) fn peek(&self, prediction: bool) -> Option<bool> {
        Some(match *self.queue.front()? {
            Outcome::Known(taken) => taken,
            Outcome::Predicted(_) => prediction,
            Outcome::Mispredicted => !prediction,
        })
    }

    /// As [`Outcomes::peek`], and removes the outcome.
    pub(crate) fn take(&mut self, prediction: bool) -> Option<bool> {
        let taken = self.peek(prediction)?;
        self.count -= 1;
        match self.queue.front_mut() {
            Some(Outcome::Predicted(n)) if *n > 1 => *n -= 1,
            _ => drop(self.queue.pop_front()),
        }
        Some(taken)
    }
}
