//! Events of a trace, and gaps in detail.

use crate::collect::Collect;
use hartrace_decoder::{Endings, Event, Fault, Path, Run, Sink, StreamPos};
use hartrace_etrace::QualStatus;
use std::collections::BTreeMap;

/// Gaps that are described. The others are counted.
const DESCRIBED: usize = 500;

/// Counts events.
#[derive(Debug, Default)]
pub struct Events {
    insns: u64,
    /// Gaps, of which the first are described.
    pub(super) gaps: u64,
    pub(super) described: Vec<Gap>,
    /// How often packets were lost.
    pub(super) losses: u64,
    pub(super) exceptions: u64,
    pub(super) interrupts: u64,
    endings: Endings,
    /// What switched tracing on or off last, in a part.
    switched: Option<(StreamPos, Event)>,
    /// Instructions of each source in the parts before.
    before: BTreeMap<Option<u16>, u64>,
}

/// Where a part of a trace is missing.
#[derive(Copy, Clone, Debug)]
pub(super) struct Gap {
    pub(super) source: Option<u16>,
    pub(super) at: StreamPos,
    /// Instructions before it.
    pub(super) insns: u64,
    pub(super) cause: Fault,
}

impl Events {
    /// Adds the next part of a source.
    pub(super) fn merge(&mut self, source: Option<u16>, next: Self) {
        if let Some((at, event)) = next.switched {
            self.endings.event(source, at, &event);
        }
        let before = self.before.entry(source).or_default();
        for gap in next.described.iter().take(DESCRIBED.saturating_sub(self.described.len())) {
            let insns = before.saturating_add(gap.insns);
            self.described.push(Gap { source, insns, ..*gap });
        }
        *before = before.saturating_add(next.insns);
        for (own, other) in [
            (&mut self.gaps, next.gaps),
            (&mut self.losses, next.losses),
            (&mut self.exceptions, next.exceptions),
            (&mut self.interrupts, next.interrupts),
        ] {
            *own = own.saturating_add(other);
        }
    }

    /// Whether tracing was off at the last packet of every source.
    pub(super) fn is_ended(&self) -> bool {
        self.endings.on().next().is_none()
    }
}

impl Sink for Events {
    const REPEATS: bool = true;

    fn run(&mut self, _: StreamPos, run: Run<'_>) {
        self.insns = self.insns.wrapping_add(run.insns().into());
    }

    #[inline]
    fn path(&mut self, _: StreamPos, path: Path<'_>) {
        self.insns = self.insns.wrapping_add(path.insns());
    }

    fn repeat(&mut self, _: StreamPos, run: Run<'_>, times: u64) {
        self.insns = self.insns.wrapping_add(u64::from(run.insns()).wrapping_mul(times));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        if matches!(event, Event::On | Event::Off(_) | Event::Gap(_)) {
            self.switched = Some((at, event));
        }
        let count = match event {
            Event::Gap(cause) => {
                if self.described.len() < DESCRIBED {
                    self.described.push(Gap { source: None, at, insns: self.insns, cause });
                }
                &mut self.gaps
            }
            Event::Off(QualStatus::TraceLost) => &mut self.losses,
            Event::Trap { interrupt: true, .. } => &mut self.interrupts,
            Event::Trap { .. } => &mut self.exceptions,
            Event::Off(_) | Event::On | Event::Restart => return,
            Event::Context { .. } | Event::Time(_) | Event::Trigger | Event::LeftOut { .. } => {
                return;
            }
        };
        *count = count.saturating_add(1);
    }
}

impl Collect for Events {}
