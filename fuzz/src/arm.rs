//! Shared code of the targets of the Arm decoder.

use hartrace_arm_decoder::{ElementSink, Event, Range, StreamPos};

/// Counts the reported events.
#[derive(Debug, Default)]
pub struct Count(pub u64);

impl ElementSink for Count {
    fn range(&mut self, _: StreamPos, range: &Range) {
        assert!(range.count > 0 && range.start != range.end);
        self.0 += 1;
    }

    fn event(&mut self, _: StreamPos, _: Event) {
        self.0 += 1;
    }
}
