//! The situations that a configuration can get into.

use super::Point;
use hartrace_encoder_hdl::Config;
use hartrace_etrace::ingress::IType;
use hartrace_etrace::{Format, Mode};
use hartrace_golden::encoder::Reason;

/// Payloads whose format follows from the reason.
const FIXED: [(Format, Reason); 16] = [
    (Format::Start, Reason::First),
    (Format::Start, Reason::HandlerAfterReport),
    (Format::Start, Reason::Privilege),
    (Format::Start, Reason::Context),
    (Format::Start, Reason::Resync),
    (Format::Trap, Reason::Handler),
    (Format::Trap, Reason::TrapInHandler),
    (Format::Trap, Reason::TrapAtTarget),
    (Format::Trap, Reason::TrapAtStart),
    (Format::Trap, Reason::TrapAtEnd),
    (Format::Context, Reason::ImpreciseContext),
    (Format::Support, Reason::Enabled),
    (Format::Support, Reason::Stopped),
    (Format::Support, Reason::Lost),
    (Format::Support, Reason::Restart),
    (Format::Branch, Reason::MapFull),
];

/// Reasons to report an address that is no target.
const REPORTS: [Reason; 6] = [
    Reason::BeforeResync,
    Reason::BeforeTrap,
    Reason::BeforeChange,
    Reason::Last,
    Reason::Notify,
    Reason::CallAfterReturn,
];

/// Reasons to report the target of a jump.
const TARGETS: [Reason; 2] = [Reason::Updiscon, Reason::ReturnMismatch];

impl Point {
    /// Returns all situations that an encoder of this configuration can get into, whether or not a test can
    /// reach them.
    #[must_use]
    pub fn all(config: &Config) -> Vec<Self> {
        let mut points = inputs(config);
        packets(config, &mut points);
        let modes: Vec<_> = Mode::ALL.into_iter().filter(|mode| has(config, *mode)).collect();
        for (i, one) in modes.iter().enumerate() {
            let pairs = modes[i..].iter().map(|other| Self::Modes(one.code(), other.code()));
            points.extend(pairs);
        }
        points.extend(config.resync.iter().map(|unit| Self::Resync(*unit)));
        points.sort();
        points
    }
}

/// The number of calls that the return stack or the counter can hold.
pub(crate) fn calls(config: &Config) -> u32 {
    match config.etrace.return_stack_size_p {
        0 => (1 << config.etrace.call_counter_size_p) - 1,
        size => 1 << size,
    }
}

fn has(config: &Config, mode: Mode) -> bool {
    let etrace = &config.etrace;
    match mode {
        Mode::ImplicitReturn => returns(config),
        Mode::ImplicitException => config.implicit_exception,
        Mode::FullAddress => config.full_address,
        Mode::JumpTargetCache => etrace.cache_size_p > 0,
        Mode::BranchPrediction => etrace.bpred_size_p > 0,
        Mode::SequentiallyInferredJump => etrace.sijump_p,
        // A bit of packets, not a mode of its own; and one that hardware does not have.
        Mode::DeltaAddress | Mode::HistoryPrediction => false,
    }
}

fn returns(config: &Config) -> bool {
    config.etrace.irdepth_bits() > 0
}

fn inputs(config: &Config) -> Vec<Point> {
    let mut points = Vec::new();
    for lane in 0..config.lanes {
        points.push(Point::Blocks(lane + 1));
        // A reserved code is no input.
        let codes = (0..1 << config.itype_width_p).filter_map(|code| IType::try_from(code).ok());
        points.extend(codes.map(|itype| Point::Block { lane, itype: itype.raw() }));
    }
    for flag in [false, true] {
        for other in [false, true] {
            points.push(Point::Trap { interrupt: flag, retired: other });
            points.push(Point::Halt { reset: flag, alone: other });
        }
        let (context, tval) = (config.context_comparators > 0, config.tval_comparators > 0);
        let excint = config.filter_excint_p;
        let has = [true, config.comparators > 0, context, context, excint, excint, tval, tval];
        let by = Point::FILTERS.into_iter().zip(has).filter(|(_, has)| *has);
        points.extend(by.map(|(by, _)| Point::Filter { by, inside: flag }));
        points.push(Point::Lost { several: flag });
    }
    if config.triggers {
        points.extend((0..3).map(Point::Trigger));
    }
    if config.may_stall() {
        points.push(Point::Stalled);
    }
    points.push(Point::Waits);
    points
}

fn packets(config: &Config, points: &mut Vec<Point>) {
    let etrace = &config.etrace;
    let (predicts, caches) = (etrace.bpred_size_p > 0, etrace.cache_size_p > 0);
    let context = etrace.context_bits() > 0;
    let possible = |reason: &Reason| match reason {
        Reason::Context | Reason::ImpreciseContext => context,
        Reason::Restart => context || returns(config),
        Reason::Notify => config.triggers,
        Reason::CallAfterReturn | Reason::ReturnMismatch => returns(config),
        _ => true,
    };
    let fixed = FIXED.into_iter().filter(|(_, reason)| possible(reason));
    points.extend(fixed.map(|(format, reason)| Point::Packet(format.code(), reason)));
    let mut addresses = vec![Format::Branch, Format::Address];
    if predicts {
        addresses.push(Format::BranchCount);
        for reason in [Reason::Mispredicted, Reason::CountFull] {
            points.push(Point::Packet(Format::BranchCount.code(), reason));
        }
        let ends =
            ["without an address", "with an address", "with the address of a mispredicted branch"];
        points.extend(ends.map(Point::Count));
    }
    for reason in REPORTS.into_iter().chain(TARGETS).filter(possible) {
        points.extend(addresses.iter().map(|format| Point::Packet(format.code(), reason)));
    }
    let mut maps = vec![(Format::Branch, 1)];
    if caches {
        let targets = TARGETS.into_iter().filter(possible);
        points.extend(targets.map(|reason| Point::Packet(Format::JumpTarget.code(), reason)));
        points.extend((0..4.min(1 << etrace.cache_size_p)).map(Point::Index));
        maps.push((Format::JumpTarget, 0));
    }
    for (format, first) in maps {
        let numbers = Point::BRANCHES.into_iter().skip(first);
        points.extend(numbers.map(|number| Point::Branches(format.code(), number)));
    }
    let width = etrace.iaddress_width_p - etrace.iaddress_lsb_p;
    for bytes in 1..=width.div_ceil(8) {
        points.push(Point::Address { difference: false, bytes });
        points.push(Point::Address { difference: true, bytes });
    }
    if returns(config) {
        points.extend((0..3).map(Point::Depth));
    }
}
