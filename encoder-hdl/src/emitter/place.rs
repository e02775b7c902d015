//! Positions of the fields of a payload.
//!
//! The layout is that of the codec. Cases distinguish only what has a variable width: the branch
//! map, and fields that may be absent. The case of a request is determined one stage before its
//! fields are placed.

use crate::config::Config;
use crate::request::Request;
use hartrace_etrace::{Field, FieldName, Format, Layout, Presence, Unit, Width};
use hartrace_rtl::{Expr, Module, bundle, concat, lit, zero};

bundle! {
    /// What payloads have of a request besides the address and tval, whose places may vary.
    pub(crate) struct Rest {
        branch, privilege, time: Option, context: Option, ecause, interrupt, thaddr, branches, branch_map,
        branch_count: Option, mispredicted: Option, notify: Option, updiscon: Option, target: Option,
        irreport: Option, irdepth: Option, ienable, qual_status, index: Option
    }
}

/// Numbers of branches that share a width of the map, and that width.
const MAPS: [(u32, u32); 5] = [(1, 1), (2, 3), (4, 7), (8, 15), (16, 31)];

/// A payload with every width fixed.
#[derive(Clone)]
pub(crate) struct Case {
    name: String,
    /// The request asks for it.
    when: Expr,
    format: Format,
    map: Option<u32>,
    /// Fields with this presence are absent.
    absent: &'static [Presence],
}

impl Case {
    /// The same one stage later.
    pub(crate) fn held(self, m: &Module, prefix: &str, load: &Expr) -> Self {
        let is = m.reg_data(&format!("{prefix}_{}", self.name), 1, load);
        m.assign(&is.d, &self.when);
        Self { when: is.q, ..self }
    }

    pub(crate) fn when(&self) -> &Expr {
        &self.when
    }
}

/// Every payload but the index of a target.
pub(crate) fn cases(m: &Module, config: &Config, r: &Request, implicit: &Expr) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut put = |name: &str, when: Expr, format, map, absent| {
        cases.push(Case { name: name.into(), when, format, map, absent });
    };
    let counting = r.counting.as_ref();
    let mapped = |asked: &Expr| counting.map_or_else(|| asked.clone(), |c| asked & !c);
    let report = m.let_("report_mapped", mapped(&r.report));
    let branches = &r.branches;
    put("address", &report & !branches.any(), Format::Address, None, &[][..]);
    for (from, width) in MAPS {
        let top = from.ilog2();
        let fits = match top {
            4 => branches.bit(top),
            _ => branches.bit(top) & !branches.slice(top + 1, 4 - top).any(),
        };
        put(&format!("map_{width}"), &report & fits, Format::Branch, Some(width), &[]);
    }
    let full = mapped(&r.map_only);
    put("full_map", full, Format::Branch, Some(31), &[Presence::IfBranches]);
    if let Some(counting) = counting {
        put("count_address", &r.report & counting, Format::BranchCount, None, &[]);
        let absent = &[Presence::IfCountAddress];
        put("count", &r.map_only & counting, Format::BranchCount, None, absent);
    }
    put("start", r.start.clone(), Format::Start, None, &[]);
    let (trap, interrupt) = (&r.trap, &r.interrupt);
    let told = match config.implicit_exception {
        false => trap.clone(),
        true => {
            let implied = m.let_("implied", implicit & &r.thaddr);
            let exception = trap & &implied & !interrupt;
            put("exception_implied", exception, Format::Trap, None, &[Presence::UnlessImplicit]);
            let absent = &[Presence::IfException, Presence::UnlessImplicit];
            put("interrupt_implied", trap & &implied & interrupt, Format::Trap, None, absent);
            trap & !implied
        }
    };
    put("exception", &told & !interrupt, Format::Trap, None, &[]);
    put("interrupt", told & interrupt, Format::Trap, None, &[Presence::IfException]);
    if let Some(context) = &r.context_only {
        put("context", context.clone(), Format::Context, None, &[]);
    }
    put("support", r.support.clone(), Format::Support, None, &[]);
    cases
}

/// The fields that move with the address, and the top bit of an address whose flags are in the way.
#[derive(Clone, Copy)]
pub(crate) struct Moving<'a> {
    pub(crate) address: &'a Expr,
    pub(crate) tval: &'a Expr,
    pub(crate) top: Option<&'a Expr>,
}

/// The fields of a request, and the payload that it asks for.
pub(crate) struct Places<'a> {
    layout: &'a Layout,
    cases: &'a [Case],
    /// The value of a field.
    values: Vec<(FieldName, Expr)>,
    rest: &'a Rest,
    /// A chunked address with everything after it.
    chunked: Option<Expr>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(
        m: &Module,
        layout: &'a Layout,
        cases: &'a [Case],
        rest: &'a Rest,
        Moving { address, tval, top }: Moving<'_>,
        options: &Expr,
    ) -> Self {
        let flag = |flag: &Option<Expr>| flag.clone().unwrap_or_else(|| zero(1));
        // Each flag is sent as its difference from the preceding bit.
        let (notify, updiscon) = match layout.unit() {
            // Except the first; and the second is set for every target.
            Unit::RvTracer => {
                let top = top.cloned().unwrap_or_else(|| zero(1));
                (top.clone(), top ^ flag(&rest.target))
            }
            _ => {
                let notify = m.let_("notify_bit", address.msb() ^ flag(&rest.notify));
                let updiscon = &notify ^ flag(&rest.updiscon);
                (notify, m.let_("updiscon_bit", updiscon))
            }
        };
        let mut values = vec![
            (FieldName::Branch, rest.branch.clone()),
            (FieldName::Privilege, rest.privilege.clone()),
            (FieldName::Ecause, rest.ecause.clone()),
            (FieldName::Interrupt, rest.interrupt.clone()),
            (FieldName::Thaddr, rest.thaddr.clone()),
            (FieldName::Address, address.clone()),
            (FieldName::Tval, tval.clone()),
            (FieldName::Notify, notify),
            (FieldName::Updiscon, updiscon.clone()),
            (FieldName::BranchMap, rest.branch_map.clone()),
            (FieldName::Ienable, rest.ienable.clone()),
            (FieldName::EncoderMode, zero(1)),
            (FieldName::QualStatus, rest.qual_status.clone()),
            (FieldName::Ioptions, options.clone()),
            (FieldName::Denable, zero(1)),
            (FieldName::Dloss, zero(1)),
            (FieldName::Doptions, zero(4)),
        ];
        for (field, value) in [
            (FieldName::Time, &rest.time),
            (FieldName::Context, &rest.context),
            (FieldName::BranchCount, &rest.branch_count),
            (FieldName::Index, &rest.index),
        ] {
            values.extend(value.iter().map(|value| (field, value.clone())));
        }
        if let Some(mispredicted) = &rest.mispredicted {
            values.push((FieldName::BranchFmt, concat(&[&lit(1, 1), mispredicted])));
        }
        let mut places = Self { layout, cases, values, rest, chunked: None };
        let (irreport, irdepth) = places.depth(&updiscon);
        places.values.push((FieldName::Irreport, irreport));
        if let Some(irdepth) = irdepth {
            places.values.push((FieldName::Irdepth, irdepth));
        }
        places
    }

    /// irreport, as a difference from the preceding bit, and irdepth, which repeats that bit when
    /// it is not reported.
    fn depth(&self, before: &Expr) -> (Expr, Option<Expr>) {
        match (&self.rest.irreport, &self.rest.irdepth) {
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

    /// Sets a chunked address with everything after it.
    pub(crate) fn chunked(mut self, word: &Expr) -> Self {
        self.chunked = Some(word.clone());
        self
    }

    /// Every payload but the index of a target, in `width` bits.
    pub(crate) fn plain(&self, width: u32) -> Expr {
        self.select(self.cases.iter().map(|case| (&case.when, self.fields(case))), width)
    }

    /// The index of a target, instead of its address.
    pub(crate) fn index(&self, width: u32) -> Expr {
        let index = self.indexable().map(|(case, index)| (&case.when, self.fields(&index)));
        self.select(index, width)
    }

    /// Payloads with an address that an index can replace, and those with the index.
    pub(crate) fn indexable(&self) -> impl Iterator<Item = (&'a Case, Case)> {
        let addressed = |case: &&Case| {
            matches!(case.format, Format::Address | Format::Branch) && case.absent.is_empty()
        };
        let index = |case: &'a Case| (case, Case { format: Format::JumpTarget, ..case.clone() });
        self.cases.iter().filter(addressed).map(index)
    }

    /// The fields after a chunked address.
    pub(crate) fn tail(&self, format: Format) -> Expr {
        let parts: Vec<Expr> = self.behind(format).map(|field| self.value(field.name)).collect();
        concat(&parts.iter().rev().collect::<Vec<_>>())
    }

    fn tail_bits(&self, format: Format) -> u32 {
        let bits = self.behind(format).map(|field| match field.width {
            Width::Bits(bits) => u32::from(bits),
            _ => 0,
        });
        bits.sum()
    }

    fn behind(&self, format: Format) -> impl Iterator<Item = &'a Field> {
        let fields = self.layout.fields(format).iter();
        fields.skip_while(|field| field.width != Width::Chunked).skip(1)
    }

    /// Number of bits of the longest chunked address. In this format it follows the format field
    /// itself.
    pub(crate) fn address_bits(&self) -> u32 {
        let format = Format::Address;
        let before = self.layout.fields(format).iter().map_while(|field| match field.width {
            Width::Bits(bits) => Some(u32::from(bits)),
            _ => None,
        });
        self.layout.max_format_bits(format) - before.sum::<u32>() - self.tail_bits(format)
    }

    /// Whether the payload has a chunked address.
    pub(crate) fn has_address(&self, case: &Case) -> bool {
        let mut fields = self.layout.fields(case.format).iter();
        fields.any(|f| f.width == Width::Chunked && !case.absent.contains(&f.presence))
    }

    /// Number of bytes of the payload, with a chunked address of one byte.
    pub(crate) fn bytes(&self, case: &Case) -> u32 {
        let fields = self.layout.fields(case.format).iter();
        let there = fields.filter(|field| !case.absent.contains(&field.presence));
        let bits = there.map(|field| match field.width {
            Width::Bits(bits) => bits.into(),
            Width::BranchMap { .. } => case.map.unwrap_or_default(),
            Width::Chunked => 9,
            // The configuration excludes these payloads.
            Width::Records => 0,
        });
        bits.sum::<u32>().div_ceil(8)
    }

    /// The bits of the case that holds, in `width` bits, followed by copies of their last bit or by
    /// zeros.
    fn select<'e>(&self, cases: impl Iterator<Item = (&'e Expr, Expr)>, width: u32) -> Expr {
        let gated = cases.map(|(when, bits)| match self.layout.unit() {
            Unit::RvTracer => when.gate(bits.zext(width)),
            _ => when.gate(bits.sext(width)),
        });
        gated.reduce(|all, bits| all | bits).unwrap_or_else(|| zero(width))
    }

    /// The fields of a payload, one after the other.
    fn fields(&self, case: &Case) -> Expr {
        let Case { format, map, absent, .. } = case;
        let format = *format;
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
                (FieldName::Branches, _) if absent.contains(&Presence::IfBranches) => zero(5),
                (FieldName::Branches, _) => self.rest.branches.clone(),
                (FieldName::BranchMap, _) => match map {
                    Some(width) => self.value(FieldName::BranchMap).slice(0, *width),
                    None => continue,
                },
                (FieldName::BranchFmt, _) if absent.contains(&Presence::IfCountAddress) => zero(2),
                (FieldName::Irreport, _) if format == Format::JumpTarget => {
                    let before = parts.last().map_or_else(|| zero(1), Expr::msb);
                    self.depth(&before).0
                }
                (FieldName::Irdepth, _) if format == Format::JumpTarget => {
                    // The bit that precedes irreport.
                    let at = parts.len().saturating_sub(2);
                    let before = parts.get(at).map_or_else(|| zero(1), Expr::msb);
                    self.depth(&before).1.unwrap_or_else(|| zero(1))
                }
                (name, Width::Bits(w)) => {
                    let value = self.value(name);
                    assert!(value.width() == u32::from(w), "{name:?} has {w} bits");
                    value
                }
                (name, Width::Chunked) => match &self.chunked {
                    Some(word) => {
                        parts.push(word.slice(0, self.address_bits() + self.tail_bits(format)));
                        break;
                    }
                    None => panic!("{name:?} has no fixed width"),
                },
                (name, _) => panic!("{name:?} has no fixed width"),
            };
            parts.push(value);
        }
        concat(&parts.iter().rev().collect::<Vec<_>>())
    }
}
