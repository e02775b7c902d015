//! What parts are decoded into.

use hartrace_decoder::{Event, Leaves, Run, Sink, StreamPos};

/// What happens to blocks.
#[derive(Copy, Clone, Debug)]
pub(super) enum Happened {
    Run { start: u64, end: u64, insns: u32, leaves: Leaves },
    Context(u8, u64),
    Break,
}

/// Runs of instructions, and what separates them.
#[derive(Debug, Default)]
pub(super) struct Runs(pub(super) Vec<Happened>);

impl Sink for Runs {
    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        let (start, end, insns, leaves) = (run.start(), run.end(), run.insns(), run.leaves());
        self.0.push(Happened::Run { start, end, insns, leaves });
    }

    #[inline]
    fn is_full(&self) -> bool {
        size_of_val(self.0.as_slice()) >= hartrace_report::decode::PART_BYTES
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        self.0.push(match event {
            Event::Time(_) | Event::Restart | Event::Trigger => return,
            Event::Context { privilege, context, .. } => Happened::Context(privilege, context),
            _ => Happened::Break,
        });
    }
}
