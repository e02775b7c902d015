//! What parts are decoded into.

use hartrace_decoder::{Event, Leaves, Path, Run, Sink, StreamPos};

/// Two sinks that receive the same.
#[derive(Debug, Default)]
pub(super) struct Both<A, B>(pub(super) A, pub(super) B);

impl<A: Sink, B: Sink> Sink for Both<A, B> {
    const ADDRESSES: bool = A::ADDRESSES || B::ADDRESSES;
    const ORDERED: bool = A::ORDERED || B::ORDERED;
    const REPEATS: bool = A::REPEATS && B::REPEATS;

    #[inline]
    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        self.0.run(at, run);
        self.1.run(at, run);
    }

    #[inline]
    fn path(&mut self, at: StreamPos, path: Path<'_>) {
        self.0.path(at, path);
        self.1.path(at, path);
    }

    fn repeat(&mut self, at: StreamPos, run: Run<'_>, times: u64) {
        self.0.repeat(at, run, times);
        self.1.repeat(at, run, times);
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.0.is_full() || self.1.is_full()
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        self.0.event(at, event);
        self.1.event(at, event);
    }
}

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
        size_of_val(self.0.as_slice()) >= crate::report::ROOM
    }

    fn event(&mut self, _: StreamPos, event: Event) {
        self.0.push(match event {
            Event::Time(_) => return,
            Event::Context { privilege, context, .. } => Happened::Context(privilege, context),
            _ => Happened::Break,
        });
    }
}
