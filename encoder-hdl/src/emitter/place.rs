//! Where the fields of a payload are.
//!
//! The layout is that of the codec. Only what is of variable width is taken apart by cases: the branch
//! map, and fields that may be absent.

use crate::bundle::Bundle;
use crate::config::Config;
use hartrace_etrace::{FieldName, Format, Layout, Presence, Width};
use hartrace_rtl::{Expr, Module, concat, lit, zero};

/// Numbers of branches that share a width of the map, and that width.
const MAPS: [(u32, u32); 5] = [(1, 1), (2, 3), (4, 7), (8, 15), (16, 31)];

/// The fields of a request, and which payload it is.
pub(crate) struct Places<'a> {
    layout: &'a Layout,
    /// The value of a field.
    values: Vec<(FieldName, Expr)>,
    request: &'a Bundle,
    /// Cases of the number of branches: none, and each width of the map.
    empty: Expr,
    widths: Vec<(u32, Expr)>,
    implicit: Expr,
    counts: bool,
}

/// A payload in one of its cases.
struct Case {
    when: Expr,
    bits: Expr,
}

impl<'a> Places<'a> {
    pub(crate) fn new(
        m: &Module,
        config: &Config,
        layout: &'a Layout,
        request: &'a Bundle,
        options: &Expr,
        implicit_exception: &Expr,
    ) -> Self {
        let get =
            |name: &str, width: u32| request.get(name).cloned().unwrap_or_else(|| zero(width));
        let address = &request["address"];
        // Each flag is sent as its difference from the bit before it.
        let notify = m.let_("notify_bit", address.msb() ^ get("notify", 1));
        let updiscon = m.let_("updiscon_bit", &notify ^ &request["updiscon"]);
        let branches = &request["branches"];
        let mut values = vec![
            (FieldName::Branch, request["branch"].clone()),
            (FieldName::Privilege, request["privilege"].clone()),
            (FieldName::Ecause, request["ecause"].clone()),
            (FieldName::Interrupt, request["interrupt"].clone()),
            (FieldName::Thaddr, request["thaddr"].clone()),
            (FieldName::Address, address.clone()),
            (FieldName::Tval, request["tval"].clone()),
            (FieldName::Notify, notify),
            (FieldName::Updiscon, updiscon.clone()),
            (FieldName::BranchMap, request["branch_map"].clone()),
            (FieldName::Ienable, request["ienable"].clone()),
            (FieldName::EncoderMode, zero(1)),
            (FieldName::QualStatus, request["qual_status"].clone()),
            (FieldName::Ioptions, options.clone()),
            (FieldName::Denable, zero(1)),
            (FieldName::Dloss, zero(1)),
            (FieldName::Doptions, zero(4)),
        ];
        for (field, name) in [
            (FieldName::Time, "time"),
            (FieldName::Context, "context"),
            (FieldName::BranchCount, "branch_count"),
            (FieldName::Index, "index"),
        ] {
            if let Some(value) = request.get(name) {
                values.push((field, value.clone()));
            }
        }
        if let Some(mispredicted) = request.get("mispredicted") {
            let fmt = request["map_only"].mux(lit(2, 0), concat(&[&lit(1, 1), mispredicted]));
            values.push((FieldName::BranchFmt, fmt));
        }
        let widths = MAPS.map(|(from, width)| {
            let top = from.ilog2();
            let above = if top == 4 { zero(1) } else { branches.slice(top + 1, 4 - top).any() };
            (width, m.let_(&format!("map_{width}"), branches.bit(top) & !above))
        });
        let mut places = Self {
            layout,
            values,
            request,
            empty: !branches.any(),
            widths: widths.into(),
            implicit: m.let_("implicit", implicit_exception & &request["thaddr"]),
            counts: config.predicts(),
        };
        let (irreport, irdepth) = places.depth(&updiscon);
        places.values.push((FieldName::Irreport, irreport));
        if let Some(irdepth) = irdepth {
            places.values.push((FieldName::Irdepth, irdepth));
        }
        places
    }

    /// irreport, as a difference from the bit before it, and irdepth, which repeats that bit where it
    /// is not reported.
    fn depth(&self, before: &Expr) -> (Expr, Option<Expr>) {
        match (self.request.get("irreport"), self.request.get("irdepth")) {
            (Some(report), Some(depth)) => {
                let filler = before.repeat(depth.width());
                (before ^ report, Some(report.mux(depth, filler)))
            }
            _ => (before.clone(), None),
        }
    }

    fn value(&self, name: FieldName) -> Expr {
        match self.values.iter().find(|(other, _)| *other == name) {
            Some((_, value)) => value.clone(),
            None => panic!("no value for {name:?}"),
        }
    }

    /// Every payload but the index of a target, in `width` bits, its last bit repeated.
    pub(crate) fn plain(&self, width: u32) -> Expr {
        let r = self.request;
        let counting = r.get("counting").cloned().unwrap_or_else(|| zero(1));
        let mapped = &r["report"] & !&counting;
        let full = &r["map_only"] & !&counting;
        let mut cases = Vec::new();
        let mut put = |when: Expr, format, map: Option<u32>, absent: &[Presence]| {
            let bits = self.fields(format, map, absent, full_map(format, absent));
            cases.push(Case { when, bits: bits.sext(width) });
        };
        put(&mapped & &self.empty, Format::Address, None, &[]);
        for (map, when) in &self.widths {
            put(&mapped & when, Format::Branch, Some(*map), &[]);
        }
        put(full, Format::Branch, Some(31), &[Presence::IfBranches]);
        if self.counts {
            put(&r["report"] & &counting, Format::BranchCount, None, &[]);
            put(&r["map_only"] & &counting, Format::BranchCount, None, &[Presence::IfCountAddress]);
        }
        put(r["start"].clone(), Format::Start, None, &[]);
        let (implicit, interrupt) = (&self.implicit, &r["interrupt"]);
        for (gone, absent) in [
            (!implicit & !interrupt, &[][..]),
            (!implicit & interrupt, &[Presence::IfException]),
            (implicit & !interrupt, &[Presence::UnlessImplicit]),
            (implicit & interrupt, &[Presence::IfException, Presence::UnlessImplicit]),
        ] {
            if gone.value().is_none_or(|value| *value != hartrace_rtl::Bits::zero(1)) {
                put(&r["trap"] & gone, Format::Trap, None, absent);
            }
        }
        if r.get("context").is_some() {
            put(r["context_only"].clone(), Format::Context, None, &[]);
        }
        put(r["support"].clone(), Format::Support, None, &[]);
        select(&cases, width)
    }

    /// The index of a target.
    pub(crate) fn index(&self, width: u32) -> Expr {
        let mut cases = Vec::new();
        let none = self.fields(Format::JumpTarget, None, &[], false);
        cases.push(Case { when: self.empty.clone(), bits: none.sext(width) });
        for (map, when) in &self.widths {
            let bits = self.fields(Format::JumpTarget, Some(*map), &[], false);
            cases.push(Case { when: when.clone(), bits: bits.sext(width) });
        }
        select(&cases, width)
    }

    /// The fields of a format, one after the other.
    fn fields(&self, format: Format, map: Option<u32>, absent: &[Presence], full: bool) -> Expr {
        let mut parts: Vec<Expr> = Vec::new();
        for field in self.layout.fields(format) {
            if absent.contains(&field.presence) {
                continue;
            }
            let value = match (field.name, field.width) {
                (FieldName::Format, Width::Bits(w)) => lit(w.into(), format.format().into()),
                (FieldName::Subformat, Width::Bits(w)) => {
                    lit(w.into(), format.subformat().unwrap_or_default().into())
                }
                (FieldName::Branches, _) if full => zero(5),
                (FieldName::Branches, _) => self.request["branches"].clone(),
                (FieldName::BranchMap, _) => match map {
                    Some(width) => self.value(FieldName::BranchMap).slice(0, width),
                    None => continue,
                },
                (FieldName::Irreport, _) if format == Format::JumpTarget => {
                    let before = parts.last().map_or_else(|| zero(1), Expr::msb);
                    self.depth(&before).0
                }
                (FieldName::Irdepth, _) if format == Format::JumpTarget => {
                    // The bit before irreport.
                    let at = parts.len().saturating_sub(2);
                    let before = parts.get(at).map_or_else(|| zero(1), Expr::msb);
                    self.depth(&before).1.unwrap_or_else(|| zero(1))
                }
                (name, Width::Bits(w)) => {
                    let value = self.value(name);
                    assert!(value.width() == u32::from(w), "{name:?} has {w} bits");
                    value
                }
                (name, _) => panic!("{name:?} has no fixed width"),
            };
            parts.push(value);
        }
        concat(&parts.iter().rev().collect::<Vec<_>>())
    }
}

/// A map without an address.
fn full_map(format: Format, absent: &[Presence]) -> bool {
    format == Format::Branch && absent.contains(&Presence::IfBranches)
}

/// The bits of the case that holds.
fn select(cases: &[Case], width: u32) -> Expr {
    cases.iter().fold(zero(width), |all, case| all | case.when.gate(&case.bits))
}
