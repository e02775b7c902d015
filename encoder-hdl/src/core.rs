//! The encoder, from the signals of the hart to payloads.

use crate::bundle::{Bundle, Wire, module_of_lanes};
use crate::config::{Config, ConfigError, Overflow, ResyncUnit};
use crate::group::{self, mark};
use crate::ingress::{self, any};
use crate::{emitter, filter, pack, priority, queue};
use hartrace_rtl::{Component, Expr, Module, Outputs, Reg, concat, index_width, lit, zero};

/// Signals from the control registers.
pub(crate) fn control_wires(config: &Config) -> Vec<Wire> {
    let mut wires = vec![
        Wire::new("enable", 1, "trace"),
        Wire::new("resync_mode", 2, "resynchronise: 0 never, 1 packets, 2 cycles, 3 half-words"),
        Wire::new("resync_max", 4, "after 2^(max + 4) of them"),
    ];
    if config.overflow == Overflow::Either {
        wires.push(Wire::new("stall", 1, "hold what retires rather than lose it"));
    }
    wires.extend(emitter::modes(config));
    wires.extend(filter::wires(config));
    wires
}

/// Signals that the hart drives.
pub(crate) fn hart_wires(config: &Config) -> Vec<Wire> {
    let inside = ["mark", "lost", "cycles", "resets"];
    let mut wires = ingress::wires(config);
    wires.retain(|wire| !inside.contains(&wire.name));
    for wire in &mut wires {
        if wire.name == "iaddr" {
            wire.width = config.n() * u32::from(config.etrace.iaddress_width_p);
        }
    }
    wires.push(Wire::new("halted", 1, "the hart is halted behind what retires"));
    wires.push(Wire::new("reset", 1, "the hart is reset behind what retires"));
    wires
}

/// The module `te_core`.
///
/// It outputs payloads one by one; a payload that is not taken stays.
pub fn encoder(config: &Config) -> Result<Component, ConfigError> {
    config.check()?;
    let m = module_of_lanes(
        config,
        "te_core",
        "Trace encoder without its registers and its transport: what retires comes in, payloads go out.",
    );
    let hart = Bundle::inputs(&m, &hart_wires(config));
    let control = Bundle::inputs(&m, &control_wires(config));
    let stall_o = config.may_stall().then(|| m.output("stall_o", 1, "what retires has to be held"));
    let lost_o = config.may_drop().then(|| m.output("lost_o", 1, "what retires is lost"));
    let active_o = m.output("active_o", 1, "tracing; configuration must not change");
    let empty_o = m.output("empty_o", 1, "nothing is on its way");
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let bytes = emitter::max_bytes(config)?;
    let data_o = m.output("data_o", 8 * bytes, "a payload, first byte lowest");
    let len_o = m.output("len_o", 5, "its bytes");

    m.section("What comes in, and marks between.");
    let front = Front::new(&m, config, &hart, &control);
    let wires = ingress::wires(config);
    let offered: Vec<Expr> = wires.iter().map(|wire| front.value(config, &hart, wire)).collect();
    let room = Room::new(&m, config);
    let (w, aw) = (u32::from(config.etrace.iaddress_width_p), config.address());
    for i in 0..config.n() {
        if w > aw {
            m.unused(&hart["iaddr"].slice(i * w, w - aw));
        }
    }
    let accepts = match &room.plenty {
        Some(plenty) => front.loses.mux(plenty, &room.is),
        None => room.is.clone(),
    };
    let refuses = Refuses { stall_o, lost_o, stall: control.get("stall").cloned() };
    let enters = front.drive(&m, &accepts, &refuses);
    m.assign(&active_o, &front.active.q);

    let mut ports: Vec<(String, Expr)> = vec![("valid_i".into(), enters.clone())];
    for (wire, value) in wires.iter().zip(&offered) {
        ports.push((format!("{}_i", wire.name), value.clone()));
    }
    for wire in filter::wires(config) {
        ports.push((format!("{}_i", wire.name), control[wire.name].clone()));
    }
    let came = instance(&m, "i_ingress", &ingress::build(config), &ports);
    let group_ports =
        |from: &Outputs| {
            let mut ports = vec![("valid_i".into(), from["valid_o"].clone())];
            ports.extend(group::wires(config).iter().map(|wire| {
                (format!("{}_i", wire.name), from[&format!("{}_o", wire.name)].clone())
            }));
            ports
        };
    let taken = m.wire("group_taken", 1);
    let hungry = config.packs().then(|| m.wire("hungry", 1));
    let packed = hungry.as_ref().map(|hungry| {
        let component = pack::build(config);
        let mut ports = group_ports(&came);
        ports.push(("hungry_i".into(), hungry.clone()));
        if component.ports().iter().any(|port| port.name == "resync_mode_i") {
            ports.push(("resync_mode_i".into(), control["resync_mode"].clone()));
        }
        instance(&m, "i_group_pack", &component, &ports)
    });
    let joins = packed.as_ref().map(|packed| packed["joins_o"].clone());
    let mut ports: Vec<(String, Expr)> = group_ports(packed.as_ref().unwrap_or(&came));
    ports.push(("ready_i".into(), taken.clone()));
    let mut learnt = queue::done(config);
    if config.predicts() {
        learnt.extend(queue::learnt(config));
    }
    let learnt: Vec<(Wire, Expr)> =
        learnt.into_iter().map(|wire| (wire.clone(), m.wire(wire.name, wire.width))).collect();
    for (wire, value) in &learnt {
        ports.push((format!("{}_i", wire.name), value.clone()));
    }
    let groups = instance(&m, "i_group_queue", &queue::build(config), &ports);
    if let Some(hungry) = &hungry {
        m.assign(hungry, &groups["hungry_o"]);
    }
    room.drive(&m, &enters, &(&groups["valid_o"] & &taken), joins.as_ref());
    if config.triggers {
        m.assign(&m.output("on_o", 1, "triggers have tracing on"), &came["on_o"]);
    }

    m.section("From groups to payloads.");
    let mut ports = group_ports(&groups);
    if config.predicts() {
        let more = queue::ahead(config).into_iter().chain(queue::looked(config));
        ports.extend(
            more.map(|wire| {
                (format!("{}_i", wire.name), groups[&format!("{}_o", wire.name)].clone())
            }),
        );
    }
    for name in ["resync_mode", "resync_max"] {
        ports.push((format!("{name}_i"), control[name].clone()));
    }
    let component = priority::build(config);
    let asks = m.wire("request_taken", 1);
    ports.push(("ready_i".into(), asks.clone()));
    let settled =
        config.caches().then(|| (m.wire("targets_settled", 1), m.wire("target_indexed", 1)));
    if let Some((settled, indexed)) = &settled {
        ports.push(("settled_i".into(), settled.clone()));
        ports.push(("indexed_i".into(), indexed.clone()));
    }
    let modes = emitter::modes(config);
    for wire in &modes {
        let port = format!("{}_i", wire.name);
        if component.ports().iter().any(|p| p.name == port) {
            ports.push((port, control[wire.name].clone()));
        }
    }
    let requests = instance(&m, "i_priority", &component, &ports);
    m.assign(&taken, &requests["ready_o"]);
    for (wire, value) in &learnt {
        m.assign(value, &requests[&format!("{}_o", wire.name)]);
    }

    let mut ports: Vec<(String, Expr)> =
        vec![("valid_i".into(), requests["valid_o"].clone()), ("ready_i".into(), ready_i.clone())];
    for wire in crate::request::wires(config) {
        ports.push((format!("{}_i", wire.name), requests[&format!("{}_o", wire.name)].clone()));
    }
    for wire in &modes {
        ports.push((format!("{}_i", wire.name), control[wire.name].clone()));
    }
    let payloads = instance(&m, "i_packet_emitter", &emitter::build(config)?, &ports);
    m.assign(&asks, &payloads["ready_o"]);
    if let Some((settled, indexed)) = &settled {
        m.assign(settled, &payloads["settled_o"]);
        m.assign(indexed, &payloads["indexed_o"]);
    }
    m.assign(&valid_o, &payloads["valid_o"]);
    m.assign(&data_o, &payloads["data_o"]);
    m.assign(&len_o, &payloads["len_o"]);
    m.assert_stays("payload", &valid_o & !&ready_i, concat(&[&valid_o, &data_o, &len_o]));
    // A loss that has not been reported yet counts as pending too.
    let empty = !room.taken.q.any() & !&front.loses & &payloads["empty_o"];
    m.assign(&empty_o, &empty);
    m.assign(&front.empty, &empty);
    Ok(m.finish())
}

/// The last lines of the header of every generated file.
const LICENSE: &str = "// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1\n\n";

/// Where a file comes from, if nothing more is to be said.
pub(crate) const ORIGIN: &str = "Generated by hartrace.";

/// Names and texts of the SystemVerilog files of an encoder, one for each module, in the order that tools require.
pub fn sources(config: &Config) -> Result<Vec<(String, String)>, ConfigError> {
    Ok(files(&encoder(config)?))
}

/// Names and texts of the SystemVerilog files of a module and of all modules in it, one for each, in the order
/// that tools require.
#[must_use]
pub fn files(of: &Component) -> Vec<(String, String)> {
    files_from(of, ORIGIN)
}

/// The same; `origin` says in the first lines of each file what it was made from.
pub(crate) fn files_from(of: &Component, origin: &str) -> Vec<(String, String)> {
    let files = of.files().into_iter();
    files.map(|(name, text)| (format!("{name}.sv"), noted(&text, origin))).collect()
}

/// The text of a file without what [`noted`] has put before it.
pub(crate) fn bare(text: &str) -> &str {
    text.split_once(LICENSE).map_or(text, |(_, text)| text)
}

/// The text of a file, with its origin and its licence before it.
pub(crate) fn noted(text: &str, origin: &str) -> String {
    let header: String = origin.lines().map(|line| format!("// {line}\n")).collect();
    format!("{header}{LICENSE}{text}")
}

fn instance(m: &Module, name: &str, of: &Component, ports: &[(String, Expr)]) -> Outputs {
    let ports: Vec<(&str, &Expr)> =
        ports.iter().map(|(port, expr)| (port.as_str(), expr)).collect();
    m.inst(name, of, &ports)
}

/// Room in the queue, counted when groups enter, because they need some cycles to reach it.
struct Room {
    is: Expr,
    /// Enough room to continue after a loss: all of it. What is traced between two losses costs a
    /// synchronisation, so it has to be long.
    plenty: Option<Expr>,
    taken: Reg,
    changes: Expr,
}

impl Room {
    fn new(m: &Module, config: &Config) -> Self {
        let depth = u32::from(config.ingress_depth);
        let changes = m.wire("room_changes", 1);
        let taken = m.reg_en("room_taken", zero(index_width(depth + 1)), &changes);
        let is = m.let_("room", taken.q.ne(lit(taken.q.width(), depth.into())));
        let plenty = config.may_drop().then(|| m.let_("plenty", !taken.q.any()));
        Self { is, plenty, taken, changes }
    }

    /// Groups that are joined need one place.
    fn drive(&self, m: &Module, enters: &Expr, leaves: &Expr, joins: Option<&Expr>) {
        let taken = &self.taken.q;
        let by = |n: u128| lit(taken.width(), n);
        let Some(joins) = joins else {
            m.assign(&self.changes, enters ^ leaves);
            m.assign(&self.taken.d, enters.mux(taken + by(1), taken - by(1)));
            return;
        };
        let both = leaves & joins;
        let fewer = m.let_("fewer", leaves | joins);
        m.assign(&self.changes, (enters ^ fewer) | &both);
        let more = enters.mux(both.mux(taken - by(1), taken + by(1)), taken - by(1));
        m.assign(&self.taken.d, (!enters & both).mux(taken - by(2), more));
    }
}

/// How input is refused that does not fit.
struct Refuses {
    stall_o: Option<Expr>,
    lost_o: Option<Expr>,
    /// Which of both, if there are both.
    stall: Option<Expr>,
}

/// Decides what enters: retired blocks, or a mark.
struct Front {
    active: Reg,
    /// Tracing has been switched off, and the mark that reports this has not entered. It must enter
    /// even if tracing is on again by then: what retires in between is not traced.
    stopping: Reg,
    dropping: Option<Reg>,
    halted: Reg,
    cycles: Option<Reg>,
    works: Expr,
    halts: Expr,
    /// Retired blocks enter, not a mark alone.
    rows: Expr,
    offers: Expr,
    starts: Expr,
    stops: Expr,
    breaks: Expr,
    loses: Expr,
    empty: Expr,
}

impl Front {
    fn new(m: &Module, config: &Config, hart: &Bundle, control: &Bundle) -> Self {
        let active = m.reg("active", false);
        let stopping = m.reg("stopping", false);
        let dropping = config.may_drop().then(|| m.reg("dropping", false));
        let halted = m.reg("halt_seen", false);
        let empty = m.wire("nothing_inside", 1);
        let (tw, rw) = (u32::from(config.itype_width_p), u32::from(config.iretire_width_p));
        let lane = |i: u32| {
            let itype = hart["itype"].slice(i * tw, tw);
            hart["iretire"].slice(i * rw, rw).any() | itype.is(1) | itype.is(2)
        };
        let works = m.let_("works", any((0..config.n()).map(lane)));
        let halts = m.let_("halts", &hart["halted"] | &hart["reset"]);
        let enable = &control["enable"];
        let starts = m.let_("starts", !&active.q & enable & &empty);
        let stops = m.let_("stops", &active.q & (!enable | &stopping.q));
        let loses = dropping.as_ref().map_or_else(|| zero(1), |d| d.q.clone());
        let open = m.let_("open", &active.q & !&stops & !&loses);
        let rows = m.let_("rows", &open & &works);
        let alone = &open & !&works & &halts & !&halted.q;
        let breaks = m.let_("breaks", (&rows & &halts) | alone);
        let offers = m.let_("offers", &starts | &stops | &rows | &breaks | &loses);
        let cycles =
            config.counts(ResyncUnit::Cycles).then(|| m.reg("cycles", lit(group::CYCLES, 1)));
        Self {
            active,
            stopping,
            dropping,
            halted,
            cycles,
            works,
            halts,
            rows,
            offers,
            starts,
            stops,
            breaks,
            loses,
            empty,
        }
    }

    /// The value for a wire of the ingress.
    fn value(&self, config: &Config, hart: &Bundle, wire: &Wire) -> Expr {
        match wire.name {
            // A mark comes alone.
            "itype" | "iretire" => self.rows.gate(&hart[wire.name]),
            "iaddr" => {
                let (w, aw) = (u32::from(config.etrace.iaddress_width_p), config.address());
                let lanes = (0..config.n()).rev().map(|i| hart["iaddr"].slice(i * w + w - aw, aw));
                concat(&lanes.collect::<Vec<_>>().iter().collect::<Vec<_>>())
            }
            "mark" => {
                let kind = |kind: u128| lit(2, kind);
                let other = self.stops.mux(kind(mark::STOP), self.breaks.gate(kind(mark::BREAK)));
                let other = self.starts.mux(kind(mark::START), other);
                self.loses.mux(kind(mark::BREAK), other)
            }
            "lost" => self.loses.clone(),
            "resets" => &self.breaks & &hart["reset"],
            "cycles" => self.cycles.as_ref().map_or_else(|| zero(1), |cycles| cycles.q.clone()),
            name => hart[name].clone(),
        }
    }

    /// Drives what enters now.
    fn drive(&self, m: &Module, accepts: &Expr, refuses: &Refuses) -> Expr {
        let enters = m.let_("enters", &self.offers & accepts);
        m.comb(|b| {
            b.when(&enters & &self.starts, |b| b.set(&self.active.d, true));
            b.when(&enters & &self.stops & !&self.loses, |b| b.set(&self.active.d, false));
        });
        let stopped = &enters & !&self.loses;
        m.assign(&self.stopping.d, &self.stops & !stopped);
        // A break alone is offered until it is accepted, and then not again.
        let seen = &self.halted.q | (&self.breaks & &enters);
        m.assign(&self.halted.d, seen & &self.halts);
        let refused = &self.rows & !accepts;
        if let Some(stall) = &refuses.stall_o {
            m.assign(stall, refuses.stall.as_ref().map_or(refused.clone(), |on| &refused & on));
        }
        if let (Some(dropping), Some(lost)) = (&self.dropping, &refuses.lost_o) {
            let dropped = refuses.stall.as_ref().map_or(refused.clone(), |on| &refused & !on);
            let drops = m.let_("drops", dropped);
            m.assign(lost, &drops | (&self.loses & &self.works));
            m.assign(&dropping.d, &drops | (&self.loses & !&enters));
        }
        if let Some(cycles) = &self.cycles {
            m.comb(|b| {
                b.when(!cycles.q.all(), |b| b.set(&cycles.d, &cycles.q + lit(group::CYCLES, 1)));
                b.when(&enters & &self.rows, |b| b.set(&cycles.d, lit(group::CYCLES, 1)));
            });
        }
        enters
    }
}
