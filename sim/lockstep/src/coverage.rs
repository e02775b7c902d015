//! Functional coverage: the situations that runs of an encoder have to contain.
//!
//! A [`Point`] is one situation, seen at the ports: what a hart reports, how busy both sides are, and what the
//! golden encoder says about a payload. [`Point::all`] lists those that a configuration can get into, and
//! [`Coverage`] counts them. Each belongs to the module that has to deal with it.

mod goals;

use crate::Setting;
use hartrace_encoder_hdl::{Config, ResyncUnit};
use hartrace_etrace::ingress::{IType, Retired};
use hartrace_etrace::{BranchFmt, JumpTarget, Mode, Payload};
use hartrace_golden::encoder::{Encoded, Reason};
use std::collections::BTreeMap;
use std::fmt;

/// A situation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Point {
    /// A lane has a block that ends like this (a code of *itype*).
    Block {
        /// The lane, from 0.
        lane: u8,
        /// The code.
        itype: u8,
    },
    /// So many blocks retire in a cycle.
    Blocks(u8),
    /// A trap, after an instruction of the same block or alone.
    Trap {
        /// An interrupt, or an exception.
        interrupt: bool,
        /// An instruction retires before it.
        retired: bool,
    },
    /// The hart is halted or reset, in the cycle of its last block or later.
    Halt {
        /// It is reset.
        reset: bool,
        /// No block retires in this cycle.
        alone: bool,
    },
    /// A trigger: 0 for trace on, 1 for trace off, 2 for notify.
    Trigger(u8),
    /// A filter is set, by one of [`Point::FILTERS`].
    Filter {
        /// What it asks for.
        by: &'static str,
        /// A block starts within it, or a trap is what it asks for; or not.
        inside: bool,
    },
    /// Input is lost: for one cycle, or for several in a row.
    Lost {
        /// For several.
        several: bool,
    },
    /// The hart has to wait.
    Stalled,
    /// A payload is offered and not taken.
    Waits,
    /// A payload is sent for a reason.
    Packet(&'static str, Reason),
    /// A payload has this many branches, one of [`Point::BRANCHES`].
    Branches(&'static str, &'static str),
    /// An address is sent in so many bytes, as a difference or in full.
    Address {
        /// As a difference.
        difference: bool,
        /// The fewest bytes whose sign extension is the address.
        bytes: u8,
    },
    /// A synchronisation that counts this unit is due.
    Resync(ResyncUnit),
    /// Two modes are on at once; one, if they are the same.
    Modes(&'static str, &'static str),
    /// The depth of the return stack is reported: 0 for an empty one, 2 for a full one, 1 for all others.
    Depth(u8),
    /// An entry of the jump target cache is sent, by its quarter of the cache.
    Index(u8),
    /// A count of predicted branches ends without an address, with one, or with one of a mispredicted branch.
    Count(&'static str),
}

impl Point {
    /// The numbers of branches: those that need a larger map, and those around a full one.
    pub const BRANCHES: [&'static str; 7] = ["0", "1", "2-3", "4-7", "8-15", "16-30", "31"];

    /// What filters ask for. A range of one value is an exact match.
    pub const FILTERS: [&'static str; 8] = [
        "privileges",
        "addresses",
        "contexts",
        "exact context",
        "causes",
        "kind of traps",
        "trap values",
        "exact trap value",
    ];

    /// Returns the module that has to deal with it.
    #[must_use]
    pub fn module(&self) -> &'static str {
        match self {
            Self::Block { .. } | Self::Blocks(_) | Self::Trap { .. } => "te_ingress",
            Self::Trigger(_) | Self::Filter { .. } => "te_ingress",
            Self::Halt { .. } | Self::Lost { .. } | Self::Stalled => "te_core",
            Self::Waits | Self::Address { .. } => "te_packet_emitter",
            Self::Branches(..) => "te_branch_map",
            Self::Resync(_) => "te_resync_counter",
            Self::Modes(..) => "te_priority",
            Self::Depth(_) => "te_return_stack",
            Self::Index(_) => "te_jump_target_cache",
            Self::Count(_) => "te_branch_predictor",
            Self::Packet(_, reason) => match reason {
                Reason::MapFull | Reason::CountFull => "te_branch_map",
                Reason::Mispredicted => "te_branch_predictor",
                Reason::ReturnMismatch => "te_return_stack",
                Reason::CallAfterReturn => "te_return_marks",
                Reason::Resync | Reason::BeforeResync => "te_resync_counter",
                _ => "te_priority",
            },
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Block { lane, itype } => write!(f, "lane {lane}, itype {itype}"),
            Self::Blocks(number) => write!(f, "{number} blocks in a cycle"),
            Self::Trap { interrupt, retired } => {
                let kind = if interrupt { "interrupt" } else { "exception" };
                let place = if retired { "after an instruction of its block" } else { "alone" };
                write!(f, "{kind} {place}")
            }
            Self::Halt { reset, alone } => {
                let kind = if reset { "reset" } else { "halt" };
                write!(f, "{kind} {} a block", if alone { "without" } else { "with" })
            }
            Self::Trigger(kind) => {
                let kind = ["trace on", "trace off", "notify"][usize::from(kind.min(2))];
                write!(f, "trigger {kind}")
            }
            Self::Filter { by, inside } => {
                write!(f, "{} the filtered {by}", if inside { "inside" } else { "outside" })
            }
            Self::Lost { several } => {
                write!(f, "{} lost", if several { "several cycles" } else { "one cycle" })
            }
            Self::Stalled => f.write_str("hart waits"),
            Self::Waits => f.write_str("payload waits"),
            Self::Packet(format, reason) => write!(f, "{format} {}", reason.name()),
            Self::Branches(format, number) => write!(f, "{format} with {number} branches"),
            Self::Address { difference, bytes } => {
                let kind = if difference { "difference" } else { "full address" };
                write!(f, "{kind} of {bytes} bytes")
            }
            Self::Resync(unit) => {
                let unit = match unit {
                    ResyncUnit::Packets => "packets",
                    ResyncUnit::Cycles => "cycles",
                    ResyncUnit::HalfWords => "half-words",
                };
                write!(f, "synchronisation by {unit}")
            }
            Self::Modes(one, other) if one == other => write!(f, "mode {one}"),
            Self::Modes(one, other) => write!(f, "modes {one} and {other}"),
            Self::Depth(depth) => {
                let kind = ["empty", "neither empty nor full", "full"][usize::from(depth.min(2))];
                write!(f, "reported depth: {kind}")
            }
            Self::Index(quarter) => write!(f, "index in quarter {quarter} of the cache"),
            Self::Count(end) => write!(f, "count {end}"),
        }
    }
}

/// How often each situation occurred.
#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeMap<Point, u64>);

impl Coverage {
    /// Returns the count of a situation.
    #[must_use]
    pub fn count(&self, point: &Point) -> u64 {
        self.0.get(point).copied().unwrap_or(0)
    }

    /// Returns the situations that occurred, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (&Point, u64)> {
        self.0.iter().map(|(point, count)| (point, *count))
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        for (point, count) in other.iter() {
            *self.0.entry(*point).or_default() += count;
        }
    }

    pub(crate) fn hit(&mut self, point: Point) {
        *self.0.entry(point).or_default() += 1;
    }

    /// Counts the modes of a run.
    pub(crate) fn modes(&mut self, setting: &Setting) {
        let on: Vec<_> = Mode::ALL.into_iter().filter(|mode| setting.options.get(*mode)).collect();
        for (i, one) in on.iter().enumerate() {
            on[i..].iter().for_each(|other| self.hit(Point::Modes(one.code(), other.code())));
        }
    }

    /// Counts what retires in a cycle and is accepted.
    pub(crate) fn accepted(&mut self, setting: &Setting, rows: &[Retired]) {
        self.hit(Point::Blocks(rows.len() as u8));
        for (lane, row) in (0..).zip(rows) {
            self.hit(Point::Block { lane, itype: row.itype.raw() });
            if row.itype.is_trap() {
                let interrupt = row.itype == IType::Interrupt;
                self.hit(Point::Trap { interrupt, retired: row.iretire > 0 });
            }
            let triggers = [row.trigger.on, row.trigger.off, row.trigger.notify];
            (0..)
                .zip(triggers)
                .filter(|(_, on)| *on)
                .for_each(|(i, _)| self.hit(Point::Trigger(i)));
            self.filters(setting, row);
        }
    }

    /// Counts whether a row has what filters ask for, together.
    fn filters(&mut self, setting: &Setting, row: &Retired) {
        let within = |value: u64| move |(low, high): (u64, u64)| (low..=high).contains(&value);
        let exact = |range: Option<(u64, u64)>| range.filter(|(first, last)| first == last);
        let wide = |range: Option<(u64, u64)>| range.filter(|(first, last)| first != last);
        let trap = row.itype.is_trap();
        let interrupt = row.itype == IType::Interrupt;
        let some = |asks: bool, has: bool| asks.then_some(has);
        // Whether each filter that asks finds it here.
        let asked = setting.filters.iter().map(|one| {
            let tval = |range: Option<(u64, u64)>| range.filter(|_| trap).map(within(row.tval));
            [
                some(!one.privileges.is_empty(), one.privileges.contains(&row.privilege.0)),
                one.range.map(within(row.iaddr)),
                wide(one.context).map(within(row.context)),
                exact(one.context).map(within(row.context)),
                some(trap && !one.causes.is_empty(), one.causes.contains(&row.cause)),
                one.interrupt.filter(|_| trap).map(|wanted| wanted == interrupt),
                tval(wide(one.tval)),
                tval(exact(one.tval)),
            ]
        });
        let asked: Vec<[Option<bool>; 8]> = asked.collect();
        for (i, by) in Point::FILTERS.into_iter().enumerate() {
            let here = asked.iter().filter_map(|one| one[i]);
            if let Some(inside) = here.reduce(|a, b| a | b) {
                self.hit(Point::Filter { by, inside });
            }
        }
    }

    /// Counts a payload.
    pub(crate) fn payload(&mut self, config: &Config, setting: &Setting, encoded: &Encoded) {
        let payload = &encoded.payload;
        let format = payload.format().code();
        self.hit(Point::Packet(format, encoded.reason));
        if encoded.reason == Reason::Resync
            && let Some(unit) = setting.resync_unit()
        {
            self.hit(Point::Resync(unit));
        }
        let mut address = None;
        match payload {
            Payload::BranchCount(count) => match count.branch_fmt {
                BranchFmt::NoAddress => self.hit(Point::Count("without an address")),
                BranchFmt::Address(report) => {
                    self.hit(Point::Count("with an address"));
                    address = Some(report);
                }
                BranchFmt::MispredictedAddress(report) => {
                    self.hit(Point::Count("with the address of a mispredicted branch"));
                    address = Some(report);
                }
            },
            Payload::JumpTarget(JumpTarget { index, map, irdepth }) => {
                let quarter = index << 2 >> config.etrace.cache_size_p;
                self.hit(Point::Index(quarter as u8));
                self.hit(Point::Branches(format, branches(map.branches())));
                self.depth(config, *irdepth);
            }
            Payload::Branch(branch) => {
                self.hit(Point::Branches(format, branches(branch.map.branches())));
                address = branch.address;
            }
            Payload::Address(report) => address = Some(*report),
            Payload::Start(start) => self.address(config, false, start.address),
            Payload::Trap(_) | Payload::Context(_) | Payload::Support(_) => {}
            // Hardware does not send it.
            Payload::History(_) => {}
        }
        if let Some(report) = address {
            self.address(config, !setting.options.full_address, report.address);
            self.depth(config, report.irdepth);
        }
    }

    fn address(&mut self, config: &Config, difference: bool, address: u64) {
        let unused = 64 - u32::from(config.etrace.iaddress_width_p - config.etrace.iaddress_lsb_p);
        let value = (address << unused).cast_signed() >> unused;
        let fits = |bytes: &u8| {
            let rest = 64 - 8 * u32::from(*bytes);
            value << rest >> rest == value
        };
        let bytes = (1..=8).find(fits).unwrap_or(8);
        self.hit(Point::Address { difference, bytes });
    }

    fn depth(&mut self, config: &Config, depth: Option<u32>) {
        if let Some(depth) = depth {
            let full = goals::calls(config);
            let class = if depth == 0 { 0 } else { 1 + u8::from(depth == full) };
            self.hit(Point::Depth(class));
        }
    }
}

fn branches(number: u8) -> &'static str {
    match number {
        0 => "0",
        1 => "1",
        2..=3 => "2-3",
        4..=7 => "4-7",
        8..=15 => "8-15",
        16..=30 => "16-30",
        _ => "31",
    }
}
