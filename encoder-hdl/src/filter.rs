//! Decides which blocks are traced, in the ingress.

use crate::config::Config;
use crate::group::mark;
use crate::ingress::{Lane, Shared};
use hartrace_etrace::ingress::IType;
use hartrace_rtl::{Expr, Module, Wire, bundle, lit, zero};

bundle! {
    /// Settings of filters that can change at run time. What there is for each filter has filter 0 in its low bits.
    pub(crate) struct Settings {
        filters: Option, privileges, initially_on: Option,
        ranges: Option, low: Option, high: Option,
        contexts: Option, context_low: Option, context_high: Option,
        handlers: Option, causes: Option, exceptions: Option, interrupts: Option,
        tvals: Option, tval_low: Option, tval_high: Option
    }
}

impl Settings<Wire> {
    pub(crate) fn new(config: &Config) -> Self {
        let (filters, params) = (config.filters(), &config.etrace);
        let levels = 1 << params.privilege_width_p.min(3);
        let some = |has: bool, width, doc| has.then(|| Wire::new(width, doc));
        let (c, aw) = (u32::from(config.comparators), config.address());
        let range = |width, doc| some(c > 0, c * width, doc);
        let (c, w) = (u32::from(config.context_comparators), params.context_bits());
        let context = |width, doc| some(c > 0, c * width, doc);
        let by_cause = config.causes() > 0;
        let (c, tw) = (u32::from(config.tval_comparators), u32::from(params.iaddress_width_p));
        let tval = |width, doc| some(c > 0, c * width, doc);
        Self {
            filters: some(filters > 1, filters, "filters in use; without any, all is traced"),
            privileges: Wire::new(filters * levels, "levels that are traced, one bit each"),
            initially_on: some(config.triggers, 1, "traced before the first trigger"),
            ranges: range(1, "ranges that are in use; without any, all is traced"),
            low: range(aw, "first address of each range"),
            high: range(aw, "last address of each range"),
            contexts: context(1, "ranges of the context that are in use"),
            context_low: context(w, "first context of each range"),
            context_high: context(w, "last context of each range"),
            handlers: some(config.filters_by_trap(), filters, "filters that ask for a trap"),
            causes: some(
                by_cause,
                filters * config.causes(),
                "causes that they ask for, one bit each",
            ),
            exceptions: some(by_cause, filters, "exceptions are asked for"),
            interrupts: some(by_cause, filters, "interrupts are asked for"),
            tvals: tval(1, "ranges of trap values that are in use"),
            tval_low: tval(tw, "first value of each range"),
            tval_high: tval(tw, "last value of each range"),
        }
    }
}

/// Ranges of a value that are in use, and their bounds.
struct Ranges<'a> {
    in_use: &'a Expr,
    low: &'a Expr,
    high: &'a Expr,
}

impl Settings {
    fn address_ranges(&self) -> Option<Ranges<'_>> {
        let Self { ranges, low, high, .. } = self;
        Some(Ranges { in_use: ranges.as_ref()?, low: low.as_ref()?, high: high.as_ref()? })
    }

    fn context_ranges(&self) -> Option<Ranges<'_>> {
        let Self { contexts, context_low: low, context_high: high, .. } = self;
        Some(Ranges { in_use: contexts.as_ref()?, low: low.as_ref()?, high: high.as_ref()? })
    }

    fn tval_ranges(&self) -> Option<Ranges<'_>> {
        let Self { tvals, tval_low: low, tval_high: high, .. } = self;
        Some(Ranges { in_use: tvals.as_ref()?, low: low.as_ref()?, high: high.as_ref()? })
    }
}

impl Ranges<'_> {
    /// Whether a value of the cycle is within range `f`, or that range is not in use.
    fn within(&self, value: &Expr, f: u32) -> Expr {
        let bound = |bounds: &Expr| bounds.slice(f * value.width(), value.width());
        !self.in_use.bit(f) | (value.ge(bound(self.low)) & value.le(bound(self.high)))
    }
}

/// Whether filters need a cycle of their own.
pub(crate) fn is_slow(config: &Config) -> bool {
    config.comparators > 0 || config.context_comparators > 0 || config.filters_by_trap()
}

/// The filters of an ingress.
pub(crate) struct Filters<'a> {
    pub(crate) m: &'a Module,
    pub(crate) config: &'a Config,
    pub(crate) raw: &'a Shared,
    pub(crate) settings: &'a Settings,
}

impl Filters<'_> {
    /// Whether each lane is traced; `load` is set when there is something, and `works` when it retires or traps.
    pub(crate) fn qualified(&self, lanes: &[Lane], (load, works): (&Expr, &Expr)) -> Vec<Expr> {
        let (m, filters) = (self.m, self.config.filters());
        let on = self.triggers(load, works);
        if filters == 1 {
            let asked = self.cycle(0);
            let on = on.map_or_else(|| m.let_("on", &asked), |on| on & &asked);
            let handlers = self.handlers(lanes, (load, works));
            let handler = |i: usize| handlers.first()?.get(i);
            let lane = |(i, lane): (usize, &Lane)| match self.lane(0, lane, handler(i)) {
                Some(asked) => m.shared(&format!("matches_{i}"), &on & asked),
                None => on.clone(),
            };
            return lanes.iter().enumerate().map(lane).collect();
        }
        m.section("Filters: what one of them asks for is traced, or everything if none is in use.");
        // There are several, so there is a bit for each.
        let in_use = self.settings.filters.clone().unwrap_or_else(|| zero(filters));
        let open = m.let_("unfiltered", !in_use.any());
        let handlers = self.handlers(lanes, (load, works));
        let mut matches = vec![open; lanes.len()];
        for f in 0..filters {
            let asked = in_use.bit(f) & self.cycle(f);
            let asked = m.let_(&format!("asked_{f}"), asked);
            for (i, lane) in lanes.iter().enumerate() {
                let handler = handlers.get(f as usize).and_then(|lanes| lanes.get(i));
                let here = self.lane(f, lane, handler).map_or(asked.clone(), |l| &asked & l);
                matches[i] = &matches[i] | here;
            }
        }
        let lane = |(i, matches): (usize, Expr)| {
            let traced = on.as_ref().map_or(matches.clone(), |on| on & &matches);
            m.shared(&format!("matches_{i}"), traced)
        };
        matches.into_iter().enumerate().map(lane).collect()
    }

    /// What filter `f` asks of all lanes of a cycle: levels and the context.
    fn cycle(&self, f: u32) -> Expr {
        let bits: u32 = self.config.etrace.privilege_width_p.min(3).into();
        let Settings { privileges, .. } = self.settings;
        let level = self.raw.r#priv.trunc(bits);
        let level = match self.config.filters() {
            1 => privileges.bit_at(level),
            _ => {
                let levels = privileges.slice(f << bits, 1 << bits);
                self.m.let_(&format!("levels_{f}"), levels).bit_at(level)
            }
        };
        let contexts =
            self.settings.context_ranges().filter(|_| f < self.config.context_comparators.into());
        match contexts.zip(self.raw.context.as_ref()) {
            Some((ranges, context)) => level & ranges.within(context, f),
            None => level,
        }
    }

    /// What filter `f` asks of a lane besides: an address range and a handler.
    fn lane(&self, f: u32, lane: &Lane, handler: Option<&Expr>) -> Option<Expr> {
        let aw = self.config.address();
        let ranges = self.settings.address_ranges().filter(|_| f < self.config.comparators.into());
        let range = ranges.map(|Ranges { in_use, low, high }| {
            let (low, high) = (low.slice(f * aw, aw), high.slice(f * aw, aw));
            // Whether an instruction between the first and the last is in the range.
            let in_use = in_use.bit(f);
            let hit = &in_use & lane.first.le(high) & lane.last.ge(low);
            !in_use | hit
        });
        match (range, handler) {
            (Some(range), Some(handler)) => Some(range & handler),
            (range, handler) => range.or(handler.cloned()),
        }
    }

    /// Whether each lane is between a trap that a filter asks for and the return from it, for each filter; empty if filters
    /// cannot ask for traps.
    fn handlers(&self, lanes: &[Lane], (load, works): (&Expr, &Expr)) -> Vec<Vec<Expr>> {
        let (m, raw) = (self.m, self.raw);
        let asks = self.settings.handlers.as_ref().zip(raw.resets.as_ref());
        let Some((asks, resets)) = asks else { return Vec::new() };
        m.section(
            "Handlers: from a trap that a filter asks for to the return from it. Traps are counted that have\n\
             not been returned from.",
        );
        // What was lost may contain the return, and after a reset there is none.
        let ends = load & (raw.mark.is(mark::START) | &raw.lost | resets);
        let ends = m.let_("handlers_end", ends);
        let counts = m.let_("traps_change", (load & works) | &ends);
        let filters = 0..self.config.filters();
        filters.map(|f| self.handler(f, &asks.bit(f), lanes, (&ends, &counts))).collect()
    }

    /// The same for filter `f`, if `asks`.
    fn handler(
        &self,
        f: u32,
        asks: &Expr,
        lanes: &[Lane],
        (ends, counts): (&Expr, &Expr),
    ) -> Vec<Expr> {
        let m = self.m;
        let traps = m.reg_en(&format!("traps_{f}"), zero(TRAPS), counts);
        let asked = m.shared(&format!("trap_asked_{f}"), self.trap(f));
        let mut count = traps.q.clone();
        let mut inside = Vec::new();
        for (i, lane) in lanes.iter().enumerate() {
            let kind = self.kind(f, lane);
            let here = count.any() | (&lane.trap & &asked & kind);
            let here = m.let_(&format!("handler_{f}_{i}"), here);
            let more = count.all().mux(&count, &count + lit(TRAPS, 1));
            let returns = &lane.retires & lane.is(&[IType::TrapReturn]);
            let fewer = returns.mux(&count - lit(TRAPS, 1), &count);
            let next = here.gate(lane.trap.mux(more, fewer));
            count = m.let_(&format!("traps_{f}_after_{i}"), next);
            inside.push(!asks | here);
        }
        m.assign(&traps.d, (!ends).gate(count));
        inside
    }

    /// Whether a trap with the cause and the value of this cycle is asked for by filter `f`.
    fn trap(&self, f: u32) -> Expr {
        let causes = self.config.causes();
        let tvals = self.settings.tval_ranges().filter(|_| f < self.config.tval_comparators.into());
        let tval = tvals.map(|ranges| ranges.within(&self.raw.tval, f));
        let cause = self.settings.causes.as_ref().map(|chosen| {
            let chosen = chosen.slice(f * causes, causes);
            let chosen = self.m.let_(&format!("causes_{f}"), chosen);
            chosen.bit_at(&self.raw.cause)
        });
        match (cause, tval) {
            (Some(cause), Some(tval)) => cause & tval,
            (cause, tval) => cause.or(tval).unwrap_or_else(|| lit(1, 1)),
        }
    }

    /// Whether the trap of a lane is of a kind that filter `f` asks for.
    fn kind(&self, f: u32, lane: &Lane) -> Expr {
        let kinds = self.settings.interrupts.as_ref().zip(self.settings.exceptions.as_ref());
        kinds.map_or_else(
            || lit(1, 1),
            |(interrupts, exceptions)| {
                lane.is(&[IType::Interrupt]).mux(interrupts.bit(f), exceptions.bit(f))
            },
        )
    }

    /// Whether triggers have tracing on, if there are any.
    fn triggers(&self, load: &Expr, works: &Expr) -> Option<Expr> {
        let (m, raw, settings) = (self.m, self.raw, self.settings);
        let (trigger, initially_on) = raw.trigger.as_ref().zip(settings.initially_on.as_ref())?;
        m.section("Triggers: on with the oldest instruction of the cycle, off behind the newest.");
        // From the start of a trace until something retires. A start mark comes alone.
        let starts = m.let_("starts", load & raw.mark.is(mark::START));
        let step = m.let_("step", load & works);
        let fresh = m.reg_en("fresh", true, &step | &starts);
        let on = m.reg_en("on", false, &step);
        let before = m.let_("on_before", fresh.q.mux(initially_on, &on.q));
        let now = m.let_("on", &before | trigger.bit(0));
        m.assign(&fresh.d, &starts);
        m.assign(&on.d, &now & !trigger.bit(1));
        m.assign(&m.output("on_o", 1, "triggers have tracing on"), before);
        Some(now)
    }
}

/// Width of the number of traps that are counted, up to seven (D22).
const TRAPS: u32 = 3;
