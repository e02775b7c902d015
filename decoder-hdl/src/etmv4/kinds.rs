//! Kinds of packets, for those who count them.

use super::Config;
use super::action::HEADER_BITS;
use super::format::{Format, headers};
use hartrace_etmv4::{Effect, Kind};
use hartrace_rtl::{Component, Expr, Module, index_width, lit};
use std::collections::BTreeMap;

/// The kinds that are counted, by number: packets that mean similar things are one kind.
pub const KINDS: [&str; 16] = [
    "alignment synchronisation",
    "discard, overflow",
    "trace info",
    "trace on",
    "timestamp, timestamp marker",
    "exception",
    "return from an exception or function",
    "cycle count",
    "commit, cancel, mispredict",
    "context",
    "address",
    "address with context",
    "atoms",
    "event",
    "Q",
    "others",
];

/// The number of the kind of a packet.
#[must_use]
pub fn kind_number(kind: Kind) -> usize {
    match kind {
        Kind::Async => 0,
        Kind::Discard | Kind::Overflow => 1,
        Kind::TraceInfo => 2,
        Kind::TraceOn => 3,
        Kind::Timestamp | Kind::TimestampMarker => 4,
        Kind::Exception | Kind::Reset | Kind::TransactionFail => 5,
        Kind::ExceptionReturn | Kind::FunctionReturn => 6,
        Kind::CycleCountF1 | Kind::CycleCountF2 | Kind::CycleCountF3 => 7,
        Kind::Commit
        | Kind::CancelF1
        | Kind::CancelF1Mispredict
        | Kind::CancelF2
        | Kind::CancelF3
        | Kind::Mispredict => 8,
        Kind::Context => 9,
        Kind::AddressMatch
        | Kind::AddressShortIs0
        | Kind::AddressShortIs1
        | Kind::Address32Is0
        | Kind::Address32Is1
        | Kind::Address64Is0
        | Kind::Address64Is1 => 10,
        Kind::AddressContext32Is0
        | Kind::AddressContext32Is1
        | Kind::AddressContext64Is0
        | Kind::AddressContext64Is1 => 11,
        Kind::AtomF1 | Kind::AtomF2 | Kind::AtomF3 | Kind::AtomF4 | Kind::AtomF5 | Kind::AtomF6 => {
            12
        }
        Kind::Event => 13,
        Kind::Q => 14,
        _ => OTHERS,
    }
}

const OTHERS: usize = 15;

/// The module `etmv4_kind`: the kind of a packet, from the header of its record.
pub(crate) fn classifier(config: &Config) -> Component {
    let format = Format::new(config);
    let m = Module::new("etmv4_kind", "The kind of a packet, as packets are counted.");
    let header = m.input("header_i", HEADER_BITS, "the header; bit 8: an extension");
    let width = index_width(KINDS.len() as u32);
    let kind_o = m.output("kind_o", width, "the number of its kind");
    let mut values: BTreeMap<usize, Vec<Expr>> = BTreeMap::new();
    let mut add = |kind: Kind, header: u128| {
        let number = kind_number(kind);
        if number != OTHERS {
            values.entry(number).or_default().push(lit(HEADER_BITS, header));
        }
    };
    for header in headers(&format.layout) {
        if let Some(row) = format.layout.row(header) {
            add(row.kind, header.into());
        }
    }
    // The last byte of an extension decides.
    for section in format.extensions() {
        for rule in format.layout.rules(section) {
            if let Effect::Kind(kind) = rule.effect {
                add(kind, 0x100 | u128::from(rule.test.value));
            }
        }
    }
    m.comb(|b| {
        b.set(&kind_o, lit(width, OTHERS as u128));
        b.switch(&header, |s| {
            for (number, values) in &values {
                s.cases(&values.iter().collect::<Vec<_>>(), |b| {
                    b.set(&kind_o, lit(width, *number as u128));
                });
            }
            s.default(|b| b.set(&kind_o, lit(width, OTHERS as u128)));
        });
    });
    m.finish()
}
