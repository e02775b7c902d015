//! Where the fields of payloads are.

use hartrace_etrace::{FieldName, Format, Layout, Presence, Width, branch_map_width};
use std::collections::BTreeSet;

/// A place where a field can be.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) format: Format,
    pub(super) name: FieldName,
    /// Its first bit.
    pub(super) lo: u32,
    pub(super) width: u32,
    /// All of them must hold.
    pub(super) when: Vec<Condition>,
}

/// What decides about the place of a field.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// A field is there.
    Present(Presence),
    /// A field before it is not there.
    Absent(Presence),
    /// The branch map has this width.
    MapWidth { width: u32, none_if_empty: bool },
}

/// The width of the branch map for a number of branches.
pub(super) fn map_width(branches: u8, none_if_empty: bool) -> u32 {
    match branches {
        0 if none_if_empty => 0,
        _ => branch_map_width(branches).into(),
    }
}

/// The most branches that the field `branches` can count.
pub(super) const MOST_BRANCHES: u8 = 31;

/// Every place of every field.
pub(super) fn places(layout: &Layout) -> Vec<Place> {
    Format::STANDARD.into_iter().flat_map(|format| of_format(layout, format)).collect()
}

fn of_format(layout: &Layout, format: Format) -> Vec<Place> {
    let fields = layout.fields(format);
    let mut places = Vec::new();
    // Where the next field can start.
    let mut starts: Vec<(u32, Vec<Condition>)> = vec![(0, Vec::new())];
    for (number, field) in fields.iter().enumerate() {
        let optional = field.presence != Presence::Always;
        // Whether a later field can be there without this one.
        let matters =
            optional && fields[number + 1..].iter().any(|other| other.presence != field.presence);
        let mut next: Vec<(u32, Vec<Condition>)> = Vec::new();
        for (lo, conditions) in starts {
            let with = |condition: Condition| {
                let mut all = conditions.clone();
                all.push(condition);
                all
            };
            let here = |width: u32| Place {
                format,
                name: field.name,
                lo,
                width,
                when: if optional {
                    with(Condition::Present(field.presence))
                } else {
                    conditions.clone()
                },
            };
            match field.width {
                Width::Bits(width) => {
                    let width = u32::from(width);
                    places.push(here(width));
                    if matters {
                        next.push((lo, with(Condition::Absent(field.presence))));
                        next.push((lo + width, with(Condition::Present(field.presence))));
                    } else {
                        next.push((lo + width, conditions));
                    }
                }
                Width::BranchMap { none_if_empty } => {
                    places.push(here(MOST_BRANCHES.into()));
                    let widths: BTreeSet<u32> = (0..=MOST_BRANCHES)
                        .map(|branches| map_width(branches, none_if_empty))
                        .collect();
                    next.extend(widths.into_iter().map(|width| {
                        (lo + width, with(Condition::MapWidth { width, none_if_empty }))
                    }));
                }
                // The configuration excludes these layouts.
                Width::Chunked | Width::Records => {}
            }
        }
        starts = next;
    }
    places
}

/// The place of a field that has only one in its format.
pub(super) fn only(layout: &Layout, format: Format, name: FieldName) -> Option<(u32, u32)> {
    let of = of_format(layout, format);
    of.iter().find(|place| place.name == name).map(|place| (place.lo, place.width))
}
