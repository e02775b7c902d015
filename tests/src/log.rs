//! Decoder events in a form in which the golden and the production decoder can be compared.

use hartrace_decoder::{Event, Fault, Run, Sink, StreamPos};
use hartrace_etrace::QualStatus;
use hartrace_golden::decoder as golden;

/// One event of either decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// An instruction.
    Retired(u64),
    /// A trap or context, with all its fields.
    Other(String),
    /// Tracing starts or continues; the golden decoder does not report this.
    On,
    /// The end of tracing.
    Off(QualStatus),
    /// A gap because of something that the walk reached or could not read.
    Gap,
    /// A gap because the walk did not end.
    Endless,
}

/// Events with the number of the payload they belong to.
pub type Log = Vec<(u64, Seen)>;

fn trap(cause: u64, interrupt: bool, tval: Option<u64>, epc: Option<u64>) -> Seen {
    Seen::Other(format!("trap {cause} {interrupt} {tval:x?} {epc:x?}"))
}

fn context(privilege: u8, context: u64, time: u64) -> Seen {
    Seen::Other(format!("context {privilege} {context} {time}"))
}

/// An event of the golden decoder.
pub fn of_golden(event: &golden::Event) -> Seen {
    match *event {
        golden::Event::Retired(pc) => Seen::Retired(pc),
        golden::Event::Gap(golden::Fault::NoProgress(_) | golden::Fault::TooLong(_)) => {
            Seen::Endless
        }
        golden::Event::Gap(_) => Seen::Gap,
        golden::Event::Trap { cause, interrupt, tval, epc } => trap(cause, interrupt, tval, epc),
        golden::Event::Context { privilege, context: id, time } => context(privilege.0, id, time),
        golden::Event::Off(status) => Seen::Off(status),
    }
}

/// Collects the events of the production decoder.
#[derive(Debug, Default)]
pub struct Collect(pub Log);

impl Sink for Collect {
    // Occasionally full, to test that parts of parts are joined, too.
    fn is_full(&self) -> bool {
        self.0.len() > 100
    }

    fn run(&mut self, at: StreamPos, run: Run<'_>) {
        let before = self.0.len();
        run.addresses(|pc| self.0.push((at.packet, Seen::Retired(pc))));
        assert_eq!(self.0.len() - before, run.insns() as usize, "a run counts its instructions");
        assert!(run.insns() > 0, "a run is not empty");
        assert_eq!(self.0.last(), Some(&(at.packet, Seen::Retired(run.last()))));
    }

    fn event(&mut self, at: StreamPos, event: Event) {
        let seen = match event {
            Event::On => Seen::On,
            Event::Gap(Fault::NoProgress(_) | Fault::TooLong { .. }) => Seen::Endless,
            Event::Gap(_) => Seen::Gap,
            Event::Trap { cause, interrupt, tval, epc } => trap(cause, interrupt, tval, epc),
            Event::Context { privilege, context: id, time } => context(privilege, id, time),
            Event::Off(status) => Seen::Off(status),
            // That of a synchronisation is seen in its context.
            Event::Time(_) | Event::Restart | Event::Trigger | Event::LeftOut { .. } => return,
        };
        self.0.push((at.packet, seen));
    }
}

/// Removes [`Seen::On`], after checking that it occurs exactly where it should: before the first
/// instruction after each gap or end.
pub fn unannounced(log: Log) -> Log {
    let mut on = false;
    let mut kept = Log::with_capacity(log.len());
    for (packet, seen) in log {
        match &seen {
            Seen::On => {
                assert!(!on, "packet {packet}: on twice");
                on = true;
                continue;
            }
            Seen::Off(_) | Seen::Gap | Seen::Endless => on = false,
            Seen::Retired(pc) => assert!(on, "packet {packet}: {pc:#x} retires while off"),
            Seen::Other(_) => {}
        }
        kept.push((packet, seen));
    }
    kept
}

/// Removes the steps of walks that did not end: decoders differ in the number of loop iterations
/// before they detect this. All other walks are compared step by step, including those that end in
/// a gap.
pub fn settled(log: Log) -> Log {
    let mut kept: Log = Vec::new();
    for (packet, seen) in log {
        if seen == Seen::Endless {
            while matches!(kept.last(), Some((p, Seen::Retired(_))) if *p == packet) {
                kept.pop();
            }
        }
        kept.push((packet, seen));
    }
    kept
}
