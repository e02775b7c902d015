//! Decides which blocks are traced, in the ingress.

use crate::bundle::{Bundle, Wire};
use crate::config::Config;
use crate::group::mark;
use crate::ingress::Lane;
use hartrace_etrace::ingress::IType;
use hartrace_rtl::{Expr, Module, lit, zero};

/// Settings of filters that can change at run time. What there is for each filter has filter 0 in its low bits.
pub(crate) fn wires(config: &Config) -> Vec<Wire> {
    let (aw, c) = (config.address(), u32::from(config.comparators));
    let (filters, params) = (config.filters(), &config.etrace);
    let levels = 1 << params.privilege_width_p.min(3);
    let mut wires = Vec::new();
    if filters > 1 {
        wires.push(Wire::new("filters", filters, "filters in use; without any, all is traced"));
    }
    wires.push(Wire::new("privileges", filters * levels, "levels that are traced, one bit each"));
    if config.triggers {
        wires.push(Wire::new("initially_on", 1, "traced before the first trigger"));
    }
    if c > 0 {
        wires.push(Wire::new("ranges", c, "ranges that are in use; without any, all is traced"));
        wires.push(Wire::new("low", c * aw, "first address of each range"));
        wires.push(Wire::new("high", c * aw, "last address of each range"));
    }
    let (contexts, width) = (u32::from(config.context_comparators), params.context_bits());
    if contexts > 0 {
        wires.push(Wire::new("contexts", contexts, "ranges of the context that are in use"));
        wires.push(Wire::new("context_low", contexts * width, "first context of each range"));
        wires.push(Wire::new("context_high", contexts * width, "last context of each range"));
    }
    if config.filters_by_trap() {
        wires.push(Wire::new("handlers", filters, "filters that ask for a trap"));
    }
    if config.causes() > 0 {
        let causes = filters * config.causes();
        wires.push(Wire::new("causes", causes, "causes that they ask for, one bit each"));
        wires.push(Wire::new("exceptions", filters, "exceptions are asked for"));
        wires.push(Wire::new("interrupts", filters, "interrupts are asked for"));
    }
    let (tvals, width) = (config.tval_comparators.into(), u32::from(params.iaddress_width_p));
    if tvals > 0 {
        wires.push(Wire::new("tvals", tvals, "ranges of trap values that are in use"));
        wires.push(Wire::new("tval_low", tvals * width, "first value of each range"));
        wires.push(Wire::new("tval_high", tvals * width, "last value of each range"));
    }
    wires
}

/// Whether filters need a cycle of their own.
pub(crate) fn is_slow(config: &Config) -> bool {
    config.comparators > 0 || config.context_comparators > 0 || config.filters_by_trap()
}

/// The filters of an ingress.
pub(crate) struct Filters<'a> {
    pub(crate) m: &'a Module,
    pub(crate) config: &'a Config,
    pub(crate) raw: &'a Bundle,
    pub(crate) settings: &'a Bundle,
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
        let open = m.let_("unfiltered", !self.settings["filters"].any());
        let handlers = self.handlers(lanes, (load, works));
        let mut matches = vec![open; lanes.len()];
        for f in 0..filters {
            let asked = self.settings["filters"].bit(f) & self.cycle(f);
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
        let levels = self.settings["privileges"].slice(f << bits, 1 << bits);
        let level = match self.config.filters() {
            1 => self.settings["privileges"].bit_at(self.raw["priv"].trunc(bits)),
            _ => self.m.let_(&format!("levels_{f}"), levels).bit_at(self.raw["priv"].trunc(bits)),
        };
        match f < self.config.context_comparators.into() {
            true => level & self.within("context", "contexts", f),
            false => level,
        }
    }

    /// Whether a value of the cycle is within range `f` of its kind, or that range is not in use.
    fn within(&self, value: &str, in_use: &str, f: u32) -> Expr {
        let (raw, settings) = (&self.raw[value], self.settings);
        let bound =
            |end: &str| settings[&format!("{value}_{end}")].slice(f * raw.width(), raw.width());
        !settings[in_use].bit(f) | (raw.ge(bound("low")) & raw.le(bound("high")))
    }

    /// What filter `f` asks of a lane besides: an address range and a handler.
    fn lane(&self, f: u32, lane: &Lane, handler: Option<&Expr>) -> Option<Expr> {
        let aw = self.config.address();
        let range = self.settings.get("ranges").filter(|_| f < self.config.comparators.into());
        let range = range.map(|ranges| {
            let low = self.settings["low"].slice(f * aw, aw);
            let high = self.settings["high"].slice(f * aw, aw);
            // Whether an instruction between the first and the last is in the range.
            let in_use = ranges.bit(f);
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
        let Some(asks) = self.settings.get("handlers") else { return Vec::new() };
        m.section(
            "Handlers: from a trap that a filter asks for to the return from it. Traps are counted that have\n\
             not been returned from.",
        );
        // What was lost may contain the return, and after a reset there is none.
        let ends = load & (raw["mark"].is(mark::START) | &raw["lost"] | &raw["resets"]);
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
        let (raw, settings, causes) = (self.raw, self.settings, self.config.causes());
        let tval =
            (f < self.config.tval_comparators.into()).then(|| self.within("tval", "tvals", f));
        let cause = (causes > 0).then(|| {
            let chosen = settings["causes"].slice(f * causes, causes);
            let chosen = self.m.let_(&format!("causes_{f}"), chosen);
            chosen.bit_at(&raw["cause"])
        });
        match (cause, tval) {
            (Some(cause), Some(tval)) => cause & tval,
            (cause, tval) => cause.or(tval).unwrap_or_else(|| lit(1, 1)),
        }
    }

    /// Whether the trap of a lane is of a kind that filter `f` asks for.
    fn kind(&self, f: u32, lane: &Lane) -> Expr {
        let kinds = self.settings.get("interrupts").zip(self.settings.get("exceptions"));
        kinds.map_or_else(
            || lit(1, 1),
            |(interrupts, exceptions)| {
                lane.is(&[IType::Interrupt]).mux(interrupts.bit(f), exceptions.bit(f))
            },
        )
    }

    /// Whether triggers have tracing on, if there are any.
    fn triggers(&self, load: &Expr, works: &Expr) -> Option<Expr> {
        if !self.config.triggers {
            return None;
        }
        let (m, raw) = (self.m, self.raw);
        m.section("Triggers: on with the oldest instruction of the cycle, off behind the newest.");
        let trigger = &raw["trigger"];
        // From the start of a trace until something retires. A start mark comes alone.
        let starts = m.let_("starts", load & raw["mark"].is(mark::START));
        let step = m.let_("step", load & works);
        let fresh = m.reg_en("fresh", true, &step | &starts);
        let on = m.reg_en("on", false, &step);
        let before = m.let_("on_before", fresh.q.mux(&self.settings["initially_on"], &on.q));
        let now = m.let_("on", &before | trigger.bit(0));
        m.assign(&fresh.d, &starts);
        m.assign(&on.d, &now & !trigger.bit(1));
        m.assign(&m.output("on_o", 1, "triggers have tracing on"), before);
        Some(now)
    }
}

/// Width of the number of traps that are counted, up to seven (D22).
const TRAPS: u32 = 3;
