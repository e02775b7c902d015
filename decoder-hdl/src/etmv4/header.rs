//! What a byte would mean as a header.

use super::format::Format;
use hartrace_etmv4::{Class, Sections};
use hartrace_rtl::{Component, Module, lit, zero};
use std::collections::BTreeMap;

/// The outputs of `etmv4_header`.
pub(super) const OUTPUTS: [&str; 5] = ["single", "bad", "start", "then", "tests"];

/// The module `etmv4_header`: a function of one byte.
pub(super) fn build(format: &Format) -> Component {
    let m = Module::new(
        "etmv4_header",
        "What a byte means if it is a header, and what it decides if it is not.",
    );
    let byte = m.input("byte_i", 8, "");
    let (classes, pending) = (format.classes.len() as u32, format.pending.len() as u32);
    let single = m.output("single_o", 1, "the header is the whole packet");
    let bad = m.output("bad_o", 1, "no packet starts with it");
    let start = m.output("start_o", classes, "the first section after it, one-hot");
    let then = m.output("then_o", pending, "sections that follow the first one");
    let tests = m.output("tests_o", format.tests.len() as u32, "results of comparisons");

    // Headers with the same sections, in the order of the first of them.
    let mut groups: BTreeMap<(u64, u64), Vec<u8>> = BTreeMap::new();
    let mut singles = Vec::new();
    for header in 0..=u8::MAX {
        let (first, rest) = format.sections(header);
        match (format.layout.class(header), first) {
            (Class::Packet(_), None) => singles.push(header),
            (Class::Packet(_), Some(section)) => {
                let key = (1 << format.class(section), mask(format, rest));
                groups.entry(key).or_default().push(header);
            }
            _ => {}
        }
    }
    m.comb(|b| {
        b.set(&single, false);
        b.set(&bad, false);
        b.set(&start, zero(classes));
        b.set(&then, zero(pending));
        b.switch(&byte, |s| {
            let values = |headers: &[u8]| -> Vec<_> {
                headers.iter().map(|header| lit(8, (*header).into())).collect()
            };
            for ((class, rest), headers) in &groups {
                let values = values(headers);
                s.cases(&values.iter().collect::<Vec<_>>(), |b| {
                    b.set(&start, lit(classes, (*class).into()));
                    if *rest != 0 {
                        b.set(&then, lit(pending, (*rest).into()));
                    }
                });
            }
            let values = values(&singles);
            s.cases(&values.iter().collect::<Vec<_>>(), |b| b.set(&single, true));
            s.default(|b| b.set(&bad, true));
        });
    });
    m.comb(|b| {
        for (i, (mask, value)) in (0u32..).zip(&format.tests) {
            let bits = if *mask == 0xff { byte.clone() } else { &byte & lit(8, (*mask).into()) };
            b.set(&tests.bit(i), bits.eq(lit(8, (*value).into())));
        }
    });
    m.finish()
}

/// Pending sections as a mask.
fn mask(format: &Format, sections: Sections) -> u64 {
    let bit = |section| format.pending.iter().position(|other| *other == section);
    sections.filter_map(bit).fold(0, |mask, bit| mask | 1 << bit)
}
