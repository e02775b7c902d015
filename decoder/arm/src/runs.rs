//! One sink for three protocols: converts the reports of the Arm decoder to events of the E-Trace
//! decoder.
//!
//! [`Runs`] is a sink for the decoders of this crate that wraps a sink for [`hartrace_decoder`]. The
//! inner sink receives runs of instructions, traps, context, time and gaps, as from an E-Trace stream.
//! Information of a single protocol (events of the trace unit, transactions) is left out;
//! to receive it, use the events of the Arm decoder directly.

use crate as arm;
use hartrace_decoder::{Event, Fault, Leaves, Run, Sink, StreamPos, Time, Transfer};
use hartrace_etrace::QualStatus;
use hartrace_isa::arm::{Kind, Return};

/// Which exceptions are interrupts.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Application and real-time cores: IRQ and FIQ.
    A,
    /// Microcontrollers: from PendSV on, except exceptions that stop the core.
    M,
}

impl Profile {
    const fn is_interrupt(self, number: u16) -> bool {
        match self {
            Self::A => matches!(number, 0xe | 0xf),
            Self::M => matches!(number, 0x2 | 0xe..=0x17 | 0x208..),
        }
    }
}

/// Passes on the reports of the Arm decoder.
///
/// Packets are numbered for each source; [`StreamPos::byte`] is a position in the trace buffer.
#[derive(Debug)]
pub struct Runs<S> {
    /// The inner sink.
    pub sink: S,
    profile: Profile,
    /// The last event announced that instructions follow.
    on: bool,
    /// Instructions of a range that is not complete, from `base` on.
    base: u64,
    offsets: Vec<u16>,
    privilege: u8,
    context: u64,
    time: u64,
}

impl<S: Sink> Runs<S> {
    /// Creates a sink for a core of this profile.
    pub fn new(sink: S, profile: Profile) -> Self {
        let (base, offsets) = (0, Vec::new());
        Self { sink, profile, on: false, base, offsets, privilege: 0, context: 0, time: 0 }
    }

    /// Passes on the collected instructions, which end here.
    fn flush(&mut self, at: StreamPos, end: u64, leaves: Leaves, transfer: Transfer) {
        if !self.on && !self.offsets.is_empty() {
            self.sink.event(at, Event::On);
            self.on = true;
        }
        if let Some(run) = Run::new(self.base, &self.offsets, end, leaves) {
            self.sink.run(at, run.with_transfer(transfer));
        }
        self.offsets.clear();
    }

    fn state(&mut self, at: StreamPos) {
        let Self { privilege, context, time, .. } = *self;
        self.sink.event(at, Event::Context { privilege, context, time });
    }

    /// Reports the cycles of a packet that contains them.
    fn cycles(&mut self, at: StreamPos, cycles: Option<u32>) {
        if let Some(cycles) = cycles {
            self.sink.event(at, Event::Time(Time::Cycles(Some(cycles.into()))));
        }
    }

    fn off(&mut self, at: StreamPos, status: QualStatus) {
        if self.on {
            self.sink.event(at, Event::Off(status));
        }
        self.on = false;
    }

    fn gap(&mut self, at: StreamPos, fault: Fault) {
        self.sink.event(at, Event::Gap(fault));
        self.on = false;
    }
}

/// How the program continues after a range.
const fn leaves(range: &arm::Range) -> Leaves {
    match range.kind {
        Kind::Direct { .. } if range.conditional => Leaves::Branch,
        Kind::Direct { .. } => Leaves::Jump,
        Kind::Indirect => Leaves::Indirect,
        _ => Leaves::No,
    }
}

/// What the last instruction of a range does to the call stack.
const fn transfer(range: &arm::Range) -> Transfer {
    match range.returns {
        _ if !range.taken => Transfer::None,
        _ if range.link => Transfer::Call,
        Return::Ret | Return::Implied => Transfer::Return,
        Return::Eret => Transfer::TrapReturn,
        Return::No => Transfer::None,
    }
}

impl<S: Sink> arm::ElementSink for Runs<S> {
    const INSTRUCTIONS: bool = true;

    fn range(&mut self, at: StreamPos, range: &arm::Range) {
        self.flush(at, range.end, leaves(range), transfer(range));
        self.cycles(at, range.cycles);
    }

    fn instructions(&mut self, at: StreamPos, base: u64, offsets: &[u16]) {
        self.flush(at, base, Leaves::No, Transfer::None);
        self.base = base;
        self.offsets.extend_from_slice(offsets);
    }

    fn event(&mut self, at: StreamPos, event: arm::Event) {
        match event {
            arm::Event::NoSync(arm::Lost::Overflow | arm::Lost::Discard) => {
                self.off(at, QualStatus::TraceLost);
            }
            // At the start nothing is lost; for a packet, a fault was reported before.
            arm::Event::NoSync(_) => self.on = false,
            // The part that a filter passed ended before.
            arm::Event::TraceOn(_, cycles) => {
                self.off(at, QualStatus::EndedNtr);
                self.cycles(at, cycles);
            }
            arm::Event::Context(context) => {
                self.privilege = context.el.unwrap_or(0);
                self.context = context.context_id.unwrap_or(0).into();
                self.state(at);
            }
            arm::Event::Timestamp { value, cycles } => {
                self.time = value;
                self.state(at);
                self.sink.event(at, Event::Time(Time::Stamp { value, bits: 64 }));
                self.cycles(at, cycles);
            }
            arm::Event::Cycles(cycles) => {
                self.sink.event(at, Event::Time(Time::Cycles(cycles.map(u64::from))));
            }
            arm::Event::Exception { number, returns, cycles, .. } => {
                self.cycles(at, cycles);
                let interrupt = self.profile.is_interrupt(number);
                let cause = number.into();
                self.sink.event(at, Event::Trap { cause, interrupt, tval: None, epc: returns });
            }
            arm::Event::NotAccessible { address, .. } => self.gap(at, Fault::NoCode(address)),
            arm::Event::NoPath { .. } => self.gap(at, Fault::NoPath),
            arm::Event::Fault(fault) => self.gap(at, fault.into()),
            // The instruction itself shows that it returns, and the end of a stream is evident.
            arm::Event::ExceptionReturn | arm::Event::End(_) => {}
            arm::Event::Events(_) | arm::Event::Trigger => self.sink.event(at, Event::Trigger),
            arm::Event::TimestampMarker
            | arm::Event::Transaction(_)
            | arm::Event::Instrumentation { .. } => {}
        }
    }
}
