//! What a walker needs of the records of a decoder.

use super::Config;
use crate::walker::search::{Places, Searched};
use crate::wires::{any, delay, join};
use hartrace_etmv4::{Class as HeaderClass, FieldName, Kind, Layout, Row};
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, lit, zero};

bundle! {
    /// The outputs of a lane.
    struct LaneOut { stored, record, waits, target }
}
use std::collections::BTreeMap;

/// What a record is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Outcomes, which are in place of the address.
    Atoms = 0,
    Address = 1,
    /// An exception; the address is where it returns to.
    Exception = 2,
    Context = 3,
    /// Tracing starts.
    TraceOn = 4,
    TraceInfo = 5,
    /// An alignment synchronisation.
    Async = 6,
    /// The trace unit lost something.
    Lost = 7,
    /// The packet could not be read.
    Malformed = 8,
    /// Instructions of which at most the number is known.
    Q = 9,
    /// Everything up to the instruction at the address was executed, and it was taken.
    Source = 10,
    /// A packet that no walker follows.
    Unsupported = 11,
    /// Anything else.
    Nothing = 12,
}

/// Bits of the number of a class.
pub(super) const CLASS_BITS: u32 = 4;

/// Bits of the number of atoms, and of atoms.
pub(super) const COUNT_BITS: u32 = 5;
pub(super) const ATOM_BITS: u32 = 24;

/// ETE: numbers of exceptions that are packets of their own.
const RESET: u128 = 0;
const FAIL: u128 = 0x18;

/// What the address of an exception means if it is also the target of the branch before.
const TARGET: u128 = 2;

bundle! {
    /// The fields of a record in the FIFO. It may have a context; its return address may also be the target of the
    /// branch before; and the exception before it may have no address, which is `broken`.
    pub(super) struct Stored { class, addressed, context, target, broken, address }
}

impl Stored<Wire> {
    pub(super) fn new(config: &Config) -> Self {
        let field = |width| Wire::new(width, "");
        Self {
            class: field(CLASS_BITS),
            addressed: field(1),
            context: field(1),
            target: field(1),
            broken: field(1),
            address: field(config.decoder.address_bits),
        }
    }
}

/// The places of fields in a record in the FIFO.
pub(super) fn stored(config: &Config) -> Places {
    let stored = Stored::new(config);
    let places = stored.places();
    let searched = Searched::find(|name| places.get(name).copied());
    Places { searched, width: stored.width() }
}

bundle! {
    /// The fields of the decoder's records that a walker takes.
    struct Taken { valid, error, header, address, atoms, outcomes, exception }
}

impl Taken<Wire> {
    fn new(config: &Config) -> Self {
        let field = |width| Wire::new(width, "");
        Self {
            valid: field(1),
            error: field(1),
            header: field(9),
            address: field(config.decoder.address_bits),
            atoms: field(COUNT_BITS),
            outcomes: field(ATOM_BITS),
            exception: field(12),
        }
    }
}

/// Their names and widths.
pub(super) fn taken(config: &Config) -> Vec<(&'static str, u32)> {
    Taken::new(config).fields().into_iter().map(|(name, wire)| (name, wire.width)).collect()
}

/// What a header means for a walker.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meaning {
    class: Class,
    addressed: bool,
    context: bool,
    /// It may be between an exception and its address.
    between: bool,
}

impl Meaning {
    fn of(row: &Row, commopt: bool) -> Self {
        let class = match row.kind {
            Kind::AtomF1
            | Kind::AtomF2
            | Kind::AtomF3
            | Kind::AtomF4
            | Kind::AtomF5
            | Kind::AtomF6 => Class::Atoms,
            Kind::AddressMatch
            | Kind::AddressShortIs0
            | Kind::AddressShortIs1
            | Kind::Address32Is0
            | Kind::Address32Is1
            | Kind::Address64Is0
            | Kind::Address64Is1
            | Kind::AddressContext32Is0
            | Kind::AddressContext32Is1
            | Kind::AddressContext64Is0
            | Kind::AddressContext64Is1 => Class::Address,
            Kind::SourceMatch
            | Kind::SourceShortIs0
            | Kind::SourceShortIs1
            | Kind::Source32Is0
            | Kind::Source32Is1
            | Kind::Source64Is0
            | Kind::Source64Is1 => Class::Source,
            Kind::Exception => Class::Exception,
            Kind::Context if !row.sections.is_empty() => Class::Context,
            Kind::TraceOn => Class::TraceOn,
            Kind::TraceInfo => Class::TraceInfo,
            Kind::Q => Class::Q,
            Kind::Commit
            | Kind::CancelF1
            | Kind::CancelF1Mispredict
            | Kind::CancelF2
            | Kind::CancelF3
            | Kind::Mispredict
            | Kind::ConditionalF1
            | Kind::ConditionalF2
            | Kind::ConditionalF3
            | Kind::ConditionalFlush
            | Kind::ResultF1
            | Kind::ResultF2
            | Kind::ResultF3
            | Kind::ResultF4
            | Kind::NumberedMarker
            | Kind::UnnumberedMarker => Class::Unsupported,
            // Their counts commit elements.
            Kind::CycleCountF1 | Kind::CycleCountF2 | Kind::CycleCountF3 if !commopt => {
                Class::Unsupported
            }
            _ => Class::Nothing,
        };
        let contexts = [
            Kind::AddressContext32Is0,
            Kind::AddressContext32Is1,
            Kind::AddressContext64Is0,
            Kind::AddressContext64Is1,
        ];
        let sent = row.fields.iter().any(|field| field.name == FieldName::Match)
            || row.sections.first().is_some_and(|section| {
                section.fields().iter().any(|field| field.name == FieldName::Address)
            });
        let ignored = matches!(row.kind, Kind::Ignore | Kind::Context);
        Self {
            class,
            addressed: sent,
            context: class == Class::Context || contexts.contains(&row.kind),
            between: ignored || class == Class::Address,
        }
    }
}

/// Headers by their meaning.
fn meanings(config: &Config) -> BTreeMap<Meaning, Vec<u8>> {
    let unit = &config.decoder.unit;
    let layout = Layout::new(unit);
    let mut groups: BTreeMap<Meaning, Vec<u8>> = BTreeMap::new();
    for header in 0..=u8::MAX {
        if matches!(layout.class(header), HeaderClass::Packet(_))
            && let Some(row) = layout.row(header)
        {
            groups.entry(Meaning::of(row, unit.commopt)).or_default().push(header);
        }
    }
    groups
}

/// The module `etmv4_intake`: what the FIFO stores, one cycle later.
pub(super) fn unit(config: &Config) -> Component {
    let slots = config.decoder.unroll;
    let stored = Stored::new(config);
    let m = Module::new(
        "etmv4_intake",
        "What a walker needs of records. An exception and its address become one record; they are known here even if the \
         FIFO is full.",
    )
    .clocked();
    let inputs: Vec<(&str, u32, Expr)> = taken(config)
        .into_iter()
        .map(|(name, width)| (name, width, m.input(&format!("{name}_i"), slots * width, "")))
        .collect();
    let valid_o = m.output("valid_o", slots, "there is a record");
    let record_o = m.output("record_o", slots * stored.width(), "it");

    let lane = lane(config);
    // An exception waits for its address, which is also the target of the branch before.
    let waits = m.reg("waits", zero(1));
    let target = m.reg("target", zero(1));
    let mut now = (waits.q.clone(), target.q.clone());
    let (mut valids, mut records) = (Vec::new(), Vec::new());
    for slot in 0..slots {
        let values: Vec<(String, Expr)> = inputs
            .iter()
            .map(|(name, width, value)| (format!("{name}_i"), value.slice(slot * width, *width)))
            .chain([("waits_i".into(), now.0), ("target_i".into(), now.1)])
            .collect();
        let out = crate::wires::instance(&m, &format!("i_lane_{slot}"), &lane, &values);
        let LaneOut { stored, record, waits, target } = LaneOut::of(&out);
        now = (waits, target);
        valids.push(stored);
        records.push(record);
    }
    m.assign(&waits.d, &now.0);
    m.assign(&target.d, &now.1);
    m.assign(&valid_o, delay(&m, "valid", &join(&valids), true));
    m.assign(&record_o, delay(&m, "record", &join(&records), false));
    m.finish()
}

/// The module `etmv4_intake_lane`: one record, with what came before it.
fn lane(config: &Config) -> Component {
    let stored = Stored::new(config);
    let m = Module::new("etmv4_intake_lane", "What a walker needs of one record.");
    let taken = Taken::new(config).inputs(&m);
    let waits = m.input("waits_i", 1, "an exception waits for its address");
    let target = m.input("target_i", 1, "which is also the target of the branch before");
    let stored_o = m.output("stored_o", 1, "there is something to store");
    let record_o = m.output("record_o", stored.width(), "it");
    let waits_o = m.output("waits_o", 1, "an exception waits after it");
    let target_o = m.output("target_o", 1, "see target_i");

    m.section("What the packet is.");
    let class = m.wire("packet_class", CLASS_BITS);
    let [addressed, context, between] =
        ["has_address", "has_context", "is_between"].map(|name| m.wire(name, 1));
    let header = &taken.header;
    let number = |class: Class| lit(CLASS_BITS, class as u128);
    let Taken { valid, error, exception, .. } = &taken;
    m.comb(|b| {
        b.set(&class, number(Class::Nothing));
        for bit in [&addressed, &context, &between] {
            b.set(bit, false);
        }
        b.switch(header.trunc(8), |s| {
            for (meaning, headers) in &meanings(config) {
                let values: Vec<_> =
                    headers.iter().map(|header| lit(8, (*header).into())).collect();
                s.cases(&values.iter().collect::<Vec<_>>(), |b| {
                    b.set(&class, number(meaning.class));
                    b.set(&addressed, meaning.addressed);
                    b.set(&context, meaning.context);
                    b.set(&between, meaning.between);
                });
            }
            s.default(|_| ());
        });
        b.note(
            "The last byte of an extension is 80 for a synchronisation; 03 and 05 tell of a loss.",
        );
        b.when(header.bit(8), |b| {
            b.set(&class, header.bit(7).mux(number(Class::Async), number(Class::Lost)));
            b.set(&addressed, false);
            b.set(&context, false);
            b.set(&between, header.bit(7));
        });
        b.when(error, |b| {
            b.set(&class, number(Class::Malformed));
            b.set(&addressed, false);
            b.set(&between, true);
        });
    });

    m.section("An exception, and the address after it.");
    let is = |which: Class| class.is(which as u128);
    let (own, without) = match config.decoder.unit.is_ete() {
        true => {
            let kind = exception.trunc(10);
            (!kind.is(RESET) & !kind.is(FAIL), kind.is(RESET))
        }
        false => (lit(1, 1), lit(1, 0)),
    };
    let raised = m.let_("raised", is(Class::Exception) & own);
    let reset = m.let_("reset", is(Class::Exception) & without);
    m.unused(exception);
    let arrives = m.let_("arrives", &waits & is(Class::Address));
    let lost = is(Class::Lost) | is(Class::Malformed);
    let broken = m.let_("broken", &waits & !&between & !&lost);
    let failed = is(Class::Exception) & !&reset;
    let kept = any([
        arrives.gate(number(Class::Exception)),
        (&failed & !&arrives).gate(number(Class::Nothing)),
        (!&failed & !&arrives).gate(&class),
    ]);
    let said = m.let_("said", !(is(Class::Nothing) | &failed) | &broken);
    m.assign(&stored_o, valid & said);
    let still = &waits & &between & !is(Class::Address) & !lost;
    m.assign(&waits_o, valid.mux(&raised | still, &waits));
    let newest = exception.slice(10, 2).is(TARGET);
    m.assign(&target_o, (valid & raised).mux(newest, &target));
    let outcomes = concat(&[&taken.outcomes, &taken.atoms]).zext(config.decoder.address_bits);
    // The lowest bit is the instruction set, which follows from the address.
    let place = concat(&[&taken.address.slice(1, config.decoder.address_bits - 1), &lit(1, 0)]);
    let record = Stored {
        class: kept,
        addressed,
        context,
        target: &arrives & &target,
        broken,
        address: is(Class::Atoms).mux(&outcomes, &place),
    };
    m.assign(&record_o, record.join());
    m.unused(&taken.address.bit(0));
    m.finish()
}
