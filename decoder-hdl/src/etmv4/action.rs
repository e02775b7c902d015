//! What a byte does to the values of the trace.

use super::Config;
use super::format::{Format, Target, headers};
use super::stream::index_bits;
use crate::wires::join;
use hartrace_etmv4::{End, FieldName, Headers, Kind, Packet, Section};
use hartrace_rtl::{Component, Expr, Module, concat, lit, zero};
use std::collections::BTreeMap;

/// Bits of the header in records: with the byte itself, a bit for packets whose header is an extension. Of
/// these, the last byte decides what they are.
pub(crate) const HEADER_BITS: u32 = 9;

/// Adjacent bits of a register that are written together.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) target: Target,
    pub(super) lo: u32,
    pub(super) width: u32,
    /// The class and the byte in it that are written, and the lowest bit of that byte.
    sources: Vec<(usize, u32, u32)>,
}

impl Segment {
    /// The lowest bit of the byte, if it is the same for all sources.
    pub(super) fn aligned(&self) -> Option<u32> {
        let (_, _, from) = *self.sources.first()?;
        self.sources.iter().all(|source| source.2 == from).then_some(from)
    }
}

/// The segments of a register.
pub(super) fn segments(format: &Format, target: Target) -> Vec<Segment> {
    let writes = || {
        let all = format.classes.iter().enumerate();
        let all = all.flat_map(|(class, of)| of.writes.iter().map(move |write| (class, write)));
        all.filter(|(_, write)| write.target == target)
    };
    let mut edges: Vec<u32> =
        writes().flat_map(|(_, write)| [write.to, write.to + write.width]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut segments: Vec<Segment> = Vec::new();
    for pair in edges.windows(2) {
        let (lo, end) = (pair[0], pair[1]);
        let covers = writes().filter(|(_, write)| write.to <= lo && end <= write.to + write.width);
        let sources: Vec<_> =
            covers.map(|(class, write)| (class, write.index, write.from + lo - write.to)).collect();
        if !sources.is_empty() {
            segments.push(Segment { target, lo, width: end - lo, sources });
        }
    }
    segments
}

/// Registers in the lanes of the trace; cycles have their own.
pub(super) const TRACED: [Target; 7] = [
    Target::Address,
    Target::Timestamp,
    Target::Vmid,
    Target::ContextId,
    Target::Context,
    Target::Exception,
    Target::Count,
];

/// All segments of these registers.
pub(super) fn all_segments(format: &Format, targets: &[Target]) -> Vec<Segment> {
    targets.iter().flat_map(|target| segments(format, *target)).collect()
}

/// Bits of the segments whose sources are not aligned.
pub(super) fn mixed_bits(segments: &[Segment]) -> u32 {
    segments.iter().filter(|segment| segment.aligned().is_none()).map(|segment| segment.width).sum()
}

/// Signals from an action to the lane of the trace: name, width, and what they are.
pub(super) fn wires(format: &Format) -> Vec<(&'static str, u32, &'static str)> {
    let segments = all_segments(format, &TRACED);
    let addresses = self::segments(format, Target::Address).len() as u32;
    let others = segments.len() as u32 - addresses;
    let mut wires = vec![
        ("head", 1, "the byte is a header"),
        ("valid", 1, "a packet ends, or an error is found"),
        ("error", 1, "an error is found"),
        ("header_set", 1, "the byte decides what the packet is"),
        ("header", HEADER_BITS, "the header, or the byte of an extension"),
        ("clear", 1, "addresses and time start again"),
        ("shift", 1, "an address is new"),
        ("is_set", 1, "the instruction set of the address is sent"),
        ("is", 1, "the instruction set"),
        ("half", 1, "the address has 32 bits"),
        (
            "select",
            2 * addresses,
            "each part of the address: 0 stays, 1 or 2 of that register, 3 is written",
        ),
        ("atoms", 5, "number of atoms"),
        ("outcomes", 24, "the atoms, the oldest lowest; set is E"),
        ("events", 4, "events, if it is a packet of events"),
        ("raised", 1, "an exception"),
        ("write", others, "parts of other registers are written"),
        ("byte", 8, "what is written: the byte, or 0 if something starts again"),
    ];
    if mixed_bits(&segments) > 0 {
        wires.push((
            "mixed",
            mixed_bits(&segments),
            "what is written where bytes have to be shifted",
        ));
    }
    wires
}

/// Inputs of modules that see the role of a byte.
pub(super) fn role(m: &Module, format: &Format) -> [Expr; 5] {
    let role = [
        m.input("byte_i", 8, "the byte"),
        m.input("head_i", 1, "it is a header"),
        m.input("inside_i", 1, "it is not"),
        m.input("section_i", format.classes.len() as u32, "its section, one-hot"),
        m.input("index_i", index_bits(format), "one-hot: bytes of the section after it"),
    ];
    // Not every section, and not every byte of one, has an effect.
    let [.., section, index] = &role;
    m.unused(section);
    m.unused(index);
    role
}

/// Whether the byte is one of the sources of a segment.
pub(super) fn is_source(format: &Format, segment: &Segment, section: &Expr, index: &Expr) -> Expr {
    let places = segment.sources.iter().map(|source| place(format, source, section, index));
    join(&places.collect::<Vec<_>>()).any()
}

/// Whether the byte is this byte of this section.
fn place(format: &Format, source: &(usize, u32, u32), section: &Expr, index: &Expr) -> Expr {
    let (class, byte, _) = *source;
    let place = section.bit(class as u32);
    match u32::from(format.classes[class].shape.most) {
        1 => place,
        most => place & index.bit(most - 1 - byte),
    }
}

/// The module `etmv4_action`: the effect of one byte whose role is known.
pub(super) fn build(config: &Config, format: &Format) -> Component {
    let m = Module::new("etmv4_action", "What one byte does, once its role is known.");
    let [byte, head, inside, section, index] = role(&m, format);
    let search = m.input("search_i", 1, "it is before a synchronisation");
    let last = m.input("last_i", 1, "a packet ends with it");
    let error = m.input("error_i", 1, "it is malformed");
    let wires: BTreeMap<&str, Expr> = wires(format)
        .into_iter()
        .map(|(name, width, doc)| (name, m.output(&format!("{name}_o"), width, doc)))
        .collect();
    let out = |name: &str| &wires[name];

    m.section("What the byte means as a header.");
    let meanings = Meanings::new(config, format);
    let shifts = m.wire("header_shifts", 1);
    let exact = m.wire("header_exact", 2);
    let is_sent = m.wire("header_has_is", 1);
    let is = m.wire("header_is", 1);
    let half = m.wire("header_is_half", 1);
    m.comb(|b| {
        for bit in [&shifts, &is_sent, &is, &half] {
            b.set(bit, false);
        }
        b.set(&exact, zero(2));
        b.switch(&byte, |s| {
            for (meaning, headers) in &meanings.groups {
                let values: Vec<_> =
                    headers.iter().map(|header| lit(8, (*header).into())).collect();
                s.cases(&values.iter().collect::<Vec<_>>(), |b| {
                    if meaning.shift {
                        b.set(&shifts, true);
                    }
                    if meaning.exact > 0 {
                        b.set(&exact, lit(2, meaning.exact.into()));
                    }
                    if let Some(one) = meaning.is {
                        b.set(&is_sent, true);
                        b.set(&is, one);
                    }
                    if meaning.half {
                        b.set(&half, true);
                    }
                });
            }
            s.default(|_| ());
        });
    });
    m.section("The atoms of a header. Outcomes have no meaning above their number.");
    let count = m.wire("header_atoms", 5);
    let outcomes = m.wire("header_outcomes", 24);
    m.comb(|b| {
        b.set(&count, zero(5));
        b.switch(&byte, |s| {
            let mut lens: BTreeMap<u8, Vec<Expr>> = BTreeMap::new();
            for (header, len, _) in &meanings.atoms {
                lens.entry(*len).or_default().push(lit(8, (*header).into()));
            }
            for (len, headers) in &lens {
                s.cases(&headers.iter().collect::<Vec<_>>(), |b| {
                    b.set(&count, lit(5, (*len).into()))
                });
            }
            s.default(|_| ());
        });
    });
    m.comb(|b| {
        b.set(&outcomes, zero(24));
        b.switch(byte.trunc(6), |s| {
            for (header, _, bits) in meanings.atoms.iter().filter(|(header, ..)| header >> 6 == 3) {
                s.case(lit(6, (header & 0x3f).into()), |b| {
                    b.set(&outcomes, lit(24, (*bits).into()))
                });
            }
        });
        // Atoms before a misprediction.
        b.when(!byte.bit(7), |b| {
            for (header, _, bits) in meanings.atoms.iter().filter(|(header, ..)| header >> 6 != 3) {
                b.when(byte.is((*header).into()), |b| {
                    b.set(&outcomes.slice(0, 2), lit(2, (*bits).into()))
                });
            }
        });
    });

    m.section("What it does.");
    m.assign(out("head"), &head);
    m.assign(out("valid"), &last | &error);
    m.assign(out("error"), &error);
    let extensions = format.classes.iter().enumerate().filter(|(_, class)| {
        class.sections.iter().any(|section| format.extensions().contains(section))
    });
    let extensions: Vec<Expr> =
        extensions.map(|(number, _)| section.bit(number as u32)).chain([search.clone()]).collect();
    m.assign(out("header_set"), &head | (&inside & join(&extensions).any()));
    m.assign(out("header"), concat(&[&!&head, &byte]));
    let starts = |kind: Kind| {
        let row = headers(&format.layout).filter_map(|header| format.layout.row(header));
        let first = row.into_iter().find(|row| row.kind == kind).map(|row| row.first);
        first.map_or_else(|| lit(1, 0), |first| &head & byte.is(first.into()))
    };
    let clear = m.let_("clear", &error | starts(Kind::TraceInfo));
    let raised = m.let_("raised", starts(Kind::Exception));
    m.assign(out("clear"), &clear);
    m.assign(out("shift"), &head & &shifts);
    m.assign(out("is_set"), &head & &is_sent);
    m.assign(out("is"), &is);
    m.assign(out("half"), &head & &half);
    m.assign(out("atoms"), head.gate(&count));
    m.assign(out("outcomes"), &outcomes);
    m.assign(out("events"), byte.trunc(4));
    m.assign(out("raised"), &raised);
    m.assign(out("byte"), (!&head & !&error).gate(&byte));
    let (mut selects, mut writes) = (Vec::new(), Vec::new());
    for segment in all_segments(format, &TRACED) {
        let sent = &inside & is_source(format, &segment, &section, &index);
        match segment.target {
            Target::Address => {
                let write = sent | &clear;
                selects.push((head.gate(&exact) | write.repeat(2)).clone());
            }
            Target::Timestamp => writes.push(sent | &clear),
            Target::Exception => writes.push(sent | &raised | &error),
            Target::Count => writes.push(sent | &head | &error),
            _ => writes.push(sent | &error),
        }
    }
    m.assign(out("select"), join(&selects));
    m.assign(out("write"), join(&writes));
    let segments = all_segments(format, &TRACED);
    if let Some(out) = wires.get("mixed") {
        let mut parts = Vec::new();
        for segment in segments.iter().filter(|segment| segment.aligned().is_none()) {
            let mut places: BTreeMap<u32, Vec<Expr>> = BTreeMap::new();
            for source in &segment.sources {
                places.entry(source.2).or_default().push(place(format, source, &section, &index));
            }
            let gated = places
                .into_iter()
                .map(|(from, places)| join(&places).any().gate(byte.slice(from, segment.width)));
            parts.extend(gated.reduce(|a, b| a | b));
        }
        m.assign(out, join(&parts));
    }
    m.finish()
}

/// What a header means for the values of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meaning {
    shift: bool,
    /// The address register that has the address, unless it is the newest.
    exact: u8,
    is: Option<bool>,
    half: bool,
}

struct Meanings {
    groups: BTreeMap<Meaning, Vec<u8>>,
    /// Header, number of atoms, atoms.
    atoms: Vec<(u8, u8, u32)>,
}

impl Meanings {
    fn new(config: &Config, format: &Format) -> Self {
        let table = Headers::new(&config.unit);
        let mut groups: BTreeMap<Meaning, Vec<u8>> = BTreeMap::new();
        let mut atoms = Vec::new();
        // A header that starts no packet is an error, whatever else it does: it shares the logic of the one
        // before it.
        let mut known = None;
        for header in 0..=u8::MAX {
            known = format.layout.row(header).or(known);
            let Some(row) = known else { continue };
            let held = row.fields.iter().find(|field| field.name == FieldName::Match);
            let number = held.map(|field| field.extract(header.into()) as u8);
            let first = row.sections.first();
            let sent = first.filter(|section| {
                section.fields().iter().any(|field| field.name == FieldName::Address)
            });
            let is1 = |section: &Section| {
                let field = section.fields().iter().find(|field| field.name == FieldName::Address);
                field.is_some_and(|field| field.to == 1)
            };
            let half = |section: &Section| {
                let fixed = format.layout.shape(*section).end == End::Fixed;
                fixed && section.fields().iter().any(|field| field.to + field.width == 32)
            };
            let meaning = Meaning {
                shift: number.is_some() || sent.is_some(),
                exact: number.unwrap_or(0),
                is: sent.map(is1),
                half: sent.is_some_and(half),
            };
            if meaning.shift {
                groups.entry(meaning).or_default().push(header);
            }
            if format.layout.row(header).is_none() {
                continue;
            }
            let found = match Packet::parse(&table, &[header]) {
                Ok((Packet::Atoms(atoms), _)) => Some(atoms),
                Ok((Packet::Mispredict(atoms), _)) => atoms,
                Ok((Packet::Cancel(hartrace_etmv4::Cancel::F2(atoms)), _)) => atoms,
                Ok((Packet::Cancel(hartrace_etmv4::Cancel::F3 { atom: true, .. }), _)) => {
                    hartrace_etmv4::Atoms::new(1, 1)
                }
                _ => None,
            };
            atoms.extend(found.map(|found| (header, found.len(), found.bits())));
        }
        Self { groups, atoms }
    }
}
