//! Prints elements in the format of OpenCSD, for comparison.

use crate::capture::{Mark, MarkKind};
use crate::event::{Context, Event, Lost, Range, Start, Transaction};
use hartrace_isa::arm::{Isa, Kind, Return, Space, Spaces};
use std::fmt;

/// Prints what an [`ElementSink`](crate::ElementSink) receives.
#[derive(Copy, Clone, Debug)]
pub enum Shown<'a> {
    /// Instructions.
    Range(&'a Range),
    /// An event.
    Event(&'a Event),
    /// A trigger or a flush in a frame.
    Mark(&'a Mark),
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(range) => show_range(range, f),
            Self::Event(event) => show_event(event, f),
            // OpenCSD does not report these: O20.
            Self::Mark(Mark { kind: MarkKind::Trigger(byte), .. }) => {
                write!(f, "FRAME_TRIGGER({byte:#04x})")
            }
            Self::Mark(Mark { kind: MarkKind::Flush, .. }) => f.write_str("FRAME_FLUSH()"),
        }
    }
}

fn isa(isa: Isa) -> &'static str {
    match isa {
        Isa::A64 => "A64",
        Isa::A32 => "A32",
        Isa::T32 => "T32",
    }
}

fn show_range(range: &Range, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Range { start, end, count, size, .. } = *range;
    write!(f, "INSTR_RANGE(exec range={start:#x}:[{end:#x}] num_i({count}) last_sz({size}) ")?;
    let outcome = if range.taken { "E" } else { "N" };
    let kind = match range.kind {
        Kind::Other => "--- ",
        Kind::Direct { .. } => "BR  ",
        Kind::Indirect => "iBR ",
        Kind::Isb => "ISB ",
        Kind::Barrier => "DSB.DMB",
        Kind::Wfx => "WFI.WFE",
        Kind::TransactionStart => "TSTART",
    };
    let more = match range.returns {
        _ if range.link => "b+link ",
        Return::No => "",
        Return::Ret => "A64:ret ",
        Return::Eret => "A64:eret ",
        Return::Implied => "V7:impl ret",
    };
    let condition = if range.conditional { " <cond>" } else { "" };
    write!(f, "(ISA={}) {outcome} {kind}{more}{condition}", isa(range.isa))?;
    show_cycles(range.cycles, f)?;
    f.write_str(")")
}

fn show_cycles(cycles: Option<u32>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match cycles {
        Some(cycles) => write!(f, " [CC={cycles}]; "),
        None => Ok(()),
    }
}

fn spaces(spaces: Spaces) -> String {
    let all = [
        Space::El1S,
        Space::El1N,
        Space::El2N,
        Space::El3,
        Space::El2S,
        Space::El1R,
        Space::El2R,
        Space::Root,
    ];
    match spaces {
        _ if spaces == Spaces::security(false) => "Any S".to_owned(),
        _ if spaces == Spaces::security(true) => "Any NS".to_owned(),
        _ if spaces == Spaces::ALL => "Any".to_owned(),
        _ => {
            let names = all.iter().filter(|space| spaces.contains(**space));
            names.map(|space| space.name()).collect::<Vec<_>>().join(",")
        }
    }
}

fn lost(lost: Lost) -> &'static str {
    match lost {
        Lost::Start => "init-decoder",
        Lost::Overflow => "overflow",
        Lost::Discard => "discard",
        Lost::Packet => "bad-packet",
        Lost::End => "end-of-trace",
    }
}

fn show_context(context: &Context, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "PE_CONTEXT((ISA={}) ", isa(context.isa))?;
    if let Some(el) = context.el {
        write!(f, "EL{el}")?;
    }
    f.write_str(match (context.nse, context.ns) {
        (false, false) => "S; ",
        (false, true) => "N; ",
        (true, false) => "Root; ",
        (true, true) => "Realm; ",
    })?;
    f.write_str(if context.wide { "64-bit; " } else { "32-bit; " })?;
    if let Some(vmid) = context.vmid {
        write!(f, "VMID={vmid:#x}; ")?;
    }
    if let Some(id) = context.context_id {
        write!(f, "CTXTID={id:#x}; ")?;
    }
    f.write_str(")")
}

fn show_event(event: &Event, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match *event {
        Event::NoSync(why) => write!(f, "NO_SYNC( [{}])", lost(why)),
        Event::End(why) => write!(f, "EO_TRACE( [{}])", lost(why)),
        Event::TraceOn(start, cycles) => {
            let why = match start {
                Start::Normal => "begin or filter",
                Start::Overflow => "overflow",
                Start::DebugExit => "debug restart",
            };
            write!(f, "TRACE_ON( [{why}]")?;
            show_cycles(cycles, f)?;
            f.write_str(")")
        }
        Event::Context(ref context) => show_context(context, f),
        Event::NotAccessible { address, spaces: set } => {
            let bits = set.bits();
            write!(f, "ADDR_NACC( {address:#x}; Memspace [{bits:#x}:{}] )", spaces(set))
        }
        Event::Exception { number, returns, target, cycles, .. } => {
            f.write_str("EXCEPTION(")?;
            if let Some(address) = returns {
                write!(f, "pref ret addr:{address:#x}")?;
                f.write_str(if target { " [addr also prev br tgt]; " } else { "; " })?;
            }
            write!(f, "excep num (0x{number:02x}) ")?;
            show_cycles(cycles, f)?;
            f.write_str(")")
        }
        Event::ExceptionReturn => f.write_str("EXCEPTION_RET()"),
        Event::NoPath { start, next, count } => {
            write!(f, "I_RANGE_NOPATH(first {start:#x}:[next {next:#x}] num_i({count}) )")
        }
        Event::Timestamp { value, cycles } => {
            write!(f, "TIMESTAMP( [ TS=0x{value:012x}]; ")?;
            show_cycles(cycles, f)?;
            f.write_str(")")
        }
        Event::Cycles(cycles) => {
            f.write_str("CYCLE_COUNT(")?;
            show_cycles(Some(cycles.unwrap_or(0)), f)?;
            f.write_str(")")
        }
        Event::Events(bits) => write!(f, "EVENT( Numbered:{bits}; )"),
        Event::Trigger => f.write_str("EVENT( Trigger; )"),
        Event::TimestampMarker => f.write_str("SYNC_MARKER( [Timestamp marker(0x00000000)])"),
        Event::Transaction(what) => {
            let what = match what {
                Transaction::Within => "Init",
                Transaction::Start => "Start",
                Transaction::Commit => "Commit",
                Transaction::Fail => "Fail",
            };
            write!(f, "MEMTRANS({what})")
        }
        Event::Instrumentation { el, value } => {
            write!(f, "INSTRUMENTATION(EL{el}; 0x{value:016x})")
        }
        // OpenCSD reports these separately from elements.
        Event::Fault(fault) => write!(f, "FAULT({fault})"),
    }
}
