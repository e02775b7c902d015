//! What the registers of filters tell an encoder.

use super::block::Block;
use super::low_first;
use crate::registers::params::EncoderParams;
use hartrace_rtl::{Expr, Module, concat, ones, zero};

/// An output: its name, its value and its meaning.
type Output = (&'static str, Expr, &'static str);

/// The outputs. A single filter that is not in use asks for nothing; several say which of them are in use.
pub(super) fn outputs(m: &Module, block: &Block<'_>, params: &EncoderParams) -> Vec<Output> {
    m.section("Filters: without any, everything is traced.");
    let count = params.filters;
    let of = Fields { block, count };
    let enabled = (0..count).map(|i| {
        let chosen = block.kept("trTeInstFilters", "trTeInstFilters");
        of.control(i, "trTeFilterEnable") & chosen.unwrap_or_else(|| zero(count)).bit(i)
    });
    let filters = m.let_("filters", low_first(&enabled.collect::<Vec<_>>()));
    let mut outputs = Vec::new();
    if count > 1 {
        outputs.push(("filters", filters.clone(), "filters in use; without any, all is traced"));
    }
    // What a filter asks for.
    let asks = |i: u32, field: &str| match count {
        1 => filters.any() & of.control(i, field),
        _ => of.control(i, field),
    };
    let levels = params.privilege_levels;
    let privileges = of.each(count, |i| {
        let chosen = of.matched(i, "Inst", "trTeFilterMatchChoicePrivilege", levels);
        asks(i, "trTeFilterMatchPrivilege").mux(chosen, ones(levels))
    });
    outputs.push(("privileges", privileges, "levels that are traced, one bit each"));
    let ranges = |names: [&'static str; 3], (first, number): (u32, u32), field: &str| {
        let in_use = match (count, field) {
            // The same in fewer words.
            (1, "trTeFilterMatchComp1") => {
                let everywhere = filters.bit(0) & !of.control(0, field);
                (!everywhere).gate(&filters)
            }
            _ => of.each(number, |i| asks(i, field)),
        };
        [
            (names[0], in_use),
            (names[1], of.each(number, |i| of.bound(first + i, "P"))),
            (names[2], of.each(number, |i| of.bound(first + i, "S"))),
        ]
    };
    if params.comparators > 0 {
        let names = ["ranges", "low", "high"];
        let [ranges, low, high] = ranges(names, (0, params.comparators), "trTeFilterMatchComp1");
        let doc = "ranges that are in use; without any, all is traced";
        outputs.push((ranges.0, ranges.1, doc));
        outputs.push((low.0, low.1, "first address of each range"));
        outputs.push((high.0, high.1, "last address of each range"));
    }
    if params.context_comparators > 0 {
        let first = params.comparators + params.tval_comparators;
        let names = ["contexts", "context_low", "context_high"];
        let number = params.context_comparators;
        let [ranges, low, high] = ranges(names, (first, number), "trTeFilterMatchComp2");
        outputs.push((ranges.0, ranges.1, "ranges of the context that are in use"));
        outputs.push((low.0, low.1, "first context of each range"));
        outputs.push((high.0, high.1, "last context of each range"));
    }
    if params.causes > 0 || params.tval_comparators > 0 {
        let handlers = of.each(count, |i| {
            let fields =
                ["trTeFilterMatchEcause", "trTeFilterMatchInterrupt", "trTeFilterMatchComp3"];
            let all = fields.into_iter().filter_map(|field| of.maybe(i, field));
            let any = all.reduce(|a, b| a | b).unwrap_or_else(|| zero(1));
            if count == 1 { filters.any() & any } else { any }
        });
        outputs.push(("handlers", handlers, "filters that ask for a trap"));
    }
    if params.causes > 0 {
        let kinds = |wanted: bool| {
            of.each(count, |i| {
                let value = of.matched(i, "Inst", "trTeFilterMatchValueInterrupt", 1);
                let value = if wanted { value } else { !value };
                !of.control(i, "trTeFilterMatchInterrupt") | value
            })
        };
        let causes = of.each(count, |i| {
            let half = |half: &str| {
                let field = format!("trTeFilterMatchChoiceEcause{half}");
                block.kept(&format!("trTeFilter{i}MatchEcause{half}"), &field)
            };
            let low = half("Low").unwrap_or_else(|| zero(params.causes));
            let chosen = half("High").map_or(low.clone(), |high| concat(&[&high, &low]));
            of.control(i, "trTeFilterMatchEcause").mux(chosen, ones(params.causes))
        });
        outputs.push(("causes", causes, "causes that they ask for, one bit each"));
        outputs.push(("exceptions", kinds(false), "exceptions are asked for"));
        outputs.push(("interrupts", kinds(true), "interrupts are asked for"));
    }
    if params.tval_comparators > 0 {
        let names = ["tvals", "tval_low", "tval_high"];
        let at = (params.comparators, params.tval_comparators);
        let [ranges, low, high] = ranges(names, at, "trTeFilterMatchComp3");
        outputs.push((ranges.0, ranges.1, "ranges of trap values that are in use"));
        outputs.push((low.0, low.1, "first value of each range"));
        outputs.push((high.0, high.1, "last value of each range"));
    }
    outputs
}

/// Values that fields of filters and comparators hold.
struct Fields<'a> {
    block: &'a Block<'a>,
    count: u32,
}

impl Fields<'_> {
    /// A bit of the control register of a filter, if it can be set.
    fn maybe(&self, i: u32, field: &str) -> Option<Expr> {
        self.block.kept(&format!("trTeFilter{i}Control"), field)
    }

    fn control(&self, i: u32, field: &str) -> Expr {
        self.maybe(i, field).unwrap_or_else(|| zero(1))
    }

    fn matched(&self, i: u32, what: &str, field: &str, width: u32) -> Expr {
        let value = self.block.kept(&format!("trTeFilter{i}Match{what}"), field);
        value.unwrap_or_else(|| zero(width))
    }

    /// The first (P) or last (S) value of a range.
    fn bound(&self, i: u32, part: &str) -> Expr {
        let half = |half: &str| {
            let field = format!("trTeComp{part}Match{half}");
            self.block.kept(&format!("trTeComp{i}{part}match{half}"), &field)
        };
        let low = half("Low").unwrap_or_else(|| zero(1));
        half("High").map_or(low.clone(), |high| concat(&[&high, &low]))
    }

    /// Values of the first `number` filters side by side.
    fn each(&self, number: u32, value: impl Fn(u32) -> Expr) -> Expr {
        debug_assert!(number <= self.count);
        low_first(&(0..number).map(value).collect::<Vec<_>>())
    }
}
