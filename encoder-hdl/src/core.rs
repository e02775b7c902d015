//! The encoder, from the signals of the hart to payloads.

use crate::config::{Config, ConfigError, Overflow, ResyncUnit};
use crate::emitter::{EmitterOut, Modes};
use crate::filter::Settings;
use crate::group::{self, Group, mark};
use crate::ingress::{self, Ingress, any};
use crate::lanes::module_of_lanes;
use crate::queue::{self, Ahead, Done, Learnt, Looked};
use crate::request::Request;
use crate::{emitter, pack, priority};
use hartrace_rtl::{
    Component, Expr, Module, Outputs, Reg, Wire, bundle, concat, index_width, lit, zero,
};

bundle! {
    /// Signals from the control registers, besides modes and settings of filters.
    struct Control { enable, resync_mode, resync_max, stall: Option }
}

impl Control<Wire> {
    fn new(config: &Config) -> Self {
        let either = config.overflow == Overflow::Either;
        let resync_mode = "resynchronise: 0 never, 1 packets, 2 cycles, 3 half-words";
        Self {
            enable: Wire::new(1, "trace"),
            resync_mode: Wire::new(2, resync_mode),
            resync_max: Wire::new(4, "after 2^(max + 4) of them"),
            stall: either.then(|| Wire::new(1, "hold what retires rather than lose it")),
        }
    }
}

bundle! {
    /// Signals that the hart drives.
    struct Hart {
        itype, iaddr, iretire, ilastsize, sijump: Option, cause, tval, r#priv, allow: Option,
        context: Option, ctype: Option, time: Option, trigger: Option, halted, reset, lost, drained
    }
}

impl Hart<Wire> {
    fn new(config: &Config) -> Self {
        let inside = Ingress::new(config);
        let iaddr = config.n() * u32::from(config.etrace.iaddress_width_p);
        Self {
            itype: inside.itype,
            iaddr: Wire { width: iaddr, ..inside.iaddr },
            iretire: inside.iretire,
            ilastsize: inside.ilastsize,
            sijump: inside.sijump,
            cause: inside.cause,
            tval: inside.tval,
            r#priv: inside.r#priv,
            allow: config.permission.then(|| {
                let levels = 1 << config.etrace.privilege_width_p;
                Wire::new(levels, "levels that may be traced, one bit for each value of priv_i")
            }),
            context: inside.context,
            ctype: inside.ctype,
            time: inside.time,
            trigger: inside.trigger,
            halted: Wire::new(1, "the hart is halted behind what retires"),
            reset: Wire::new(1, "the hart is reset behind what retires"),
            lost: Wire::new(1, "what retires is incomplete: some of it was lost on the way here"),
            drained: Wire::new(1, "nothing that retired while trace_o was set is still to come"),
        }
    }
}

bundle! {
    /// Of a module that groups leave.
    struct Offers { valid, joins: Option, hungry: Option, on: Option }
}

bundle! {
    /// The outputs of the module.
    pub(crate) struct CoreOut {
        stall: Option, lost, active, empty, valid, data, len, on: Option
    }
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
    let hart = Hart::new(config).inputs(&m);
    let control = Control::new(config).inputs(&m);
    let modes = Modes::new(config).inputs(&m);
    let settings = Settings::new(config).inputs(&m);
    let stall_o = config.may_stall().then(|| m.output("stall_o", 1, "what retires has to be held"));
    let lost_o = m.output("lost_o", 1, "what retires is lost");
    let trace_o = m.output("trace_o", 1, "what retires from now on is traced");
    let active_o = m.output("active_o", 1, "tracing; configuration must not change");
    let empty_o = m.output("empty_o", 1, "nothing is on its way");
    let valid_o = m.output("valid_o", 1, "");
    let ready_i = m.input("ready_i", 1, "");
    let bytes = emitter::max_bytes(config)?;
    let data_o = m.output("data_o", 8 * bytes, "a payload, first byte lowest");
    let len_o = m.output("len_o", 5, "its bytes");

    let permission = Permission::new(&m, &hart);
    let hart = permission.as_ref().map_or_else(|| hart.clone(), |it| it.shown(&m, &hart));
    m.section("What comes in, and marks between.");
    let front = Front::new(&m, config, &hart, &control, permission);
    let offered = front.offered(config, &hart);
    let room = Room::new(&m, config);
    let (w, aw) = (u32::from(config.etrace.iaddress_width_p), config.address());
    for i in 0..config.n() {
        if w > aw {
            m.unused(&hart.iaddr.slice(i * w, w - aw));
        }
    }
    let accepts = front.dropping.q.mux(&room.plenty, &room.is);
    let refuses = Refuses { stall_o, lost_o, stall: control.stall.clone() };
    let enters = front.drive(&m, &hart, &accepts, &refuses);
    m.assign(&trace_o, &front.active.q & !&front.ends);
    m.assign(&active_o, &front.active.q);

    let mut ports: Vec<(String, Expr)> = vec![("valid_i".into(), enters.clone())];
    ports.extend(offered.to_inputs());
    ports.extend(settings.to_inputs());
    let came = instance(&m, "i_ingress", &ingress::build(config), &ports);
    let group_ports = |from: &Outputs| {
        let mut ports = vec![("valid_i".into(), Offers::of(from).valid)];
        ports.extend(Group::of(from).to_inputs());
        ports
    };
    let taken = m.wire("group_taken", 1);
    let hungry = config.packs().then(|| m.wire("hungry", 1));
    let packed = hungry.as_ref().map(|hungry| {
        let mut ports = group_ports(&came);
        ports.push(("hungry_i".into(), hungry.clone()));
        if config.counts(ResyncUnit::Cycles) {
            ports.push(("resync_mode_i".into(), control.resync_mode.clone()));
        }
        instance(&m, "i_group_pack", &pack::build(config), &ports)
    });
    let joins = packed.as_ref().and_then(|packed| Offers::of(packed).joins);
    let mut ports: Vec<(String, Expr)> = group_ports(packed.as_ref().unwrap_or(&came));
    ports.push(("ready_i".into(), taken.clone()));
    let done = Done::new(config).wires(&m);
    ports.extend(done.to_inputs());
    let learnt = config.predicts().then(|| Learnt::new(config).wires(&m));
    ports.extend(learnt.iter().flat_map(Learnt::to_inputs));
    let groups = instance(&m, "i_group_queue", &queue::build(config), &ports);
    let leaves = Offers::of(&groups);
    if let (Some(to), Some(hungry)) = (&hungry, &leaves.hungry) {
        m.assign(to, hungry);
    }
    room.drive(&m, &enters, &(&leaves.valid & &taken), joins.as_ref());
    if let Some(on) = Offers::of(&came).on {
        m.assign(&m.output("on_o", 1, "triggers have tracing on"), on);
    }

    m.section("From groups to payloads.");
    let mut ports = group_ports(&groups);
    if config.predicts() {
        ports.extend(Ahead::of(&groups).to_inputs());
        ports.extend(Looked::of(&groups).to_inputs());
    }
    ports.push(("resync_mode_i".into(), control.resync_mode.clone()));
    ports.push(("resync_max_i".into(), control.resync_max.clone()));
    let asks = m.wire("request_taken", 1);
    ports.push(("ready_i".into(), asks.clone()));
    let settled =
        config.caches().then(|| (m.wire("targets_settled", 1), m.wire("target_indexed", 1)));
    if let Some((settled, indexed)) = &settled {
        ports.push(("settled_i".into(), settled.clone()));
        ports.push(("indexed_i".into(), indexed.clone()));
    }
    ports.extend(priority::ModePorts::find(|name| modes.get(name).cloned()).to_inputs());
    let requests = instance(&m, "i_priority", &priority::build(config), &ports);
    let stream = priority::Stream::of(&requests);
    m.assign(&taken, &stream.ready);
    done.assign(&m, &Done::of(&requests));
    if let Some(learnt) = &learnt {
        learnt.assign(&m, &Learnt::of(&requests));
    }

    let mut ports: Vec<(String, Expr)> =
        vec![("valid_i".into(), stream.valid), ("ready_i".into(), ready_i.clone())];
    ports.extend(Request::of(&requests).to_inputs());
    ports.extend(modes.to_inputs());
    let payloads =
        EmitterOut::of(&instance(&m, "i_packet_emitter", &emitter::build(config)?, &ports));
    m.assign(&asks, &payloads.ready);
    if let Some((settled, indexed)) = &settled {
        for (to, from) in [(settled, &payloads.settled), (indexed, &payloads.indexed)] {
            from.iter().for_each(|from| m.assign(to, from));
        }
    }
    m.assign(&valid_o, &payloads.valid);
    m.assign(&data_o, &payloads.data);
    m.assign(&len_o, &payloads.len);
    m.assert_stays("payload", &valid_o & !&ready_i, concat(&[&valid_o, &data_o, &len_o]));
    // A loss that has not been reported yet counts as pending too.
    let empty = !room.taken.q.any() & !&front.dropping.q & &payloads.empty;
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
    plenty: Expr,
    taken: Reg,
    changes: Expr,
}

impl Room {
    fn new(m: &Module, config: &Config) -> Self {
        let depth = u32::from(config.ingress_depth);
        let changes = m.wire("room_changes", 1);
        let taken = m.reg_en("room_taken", zero(index_width(depth + 1)), &changes);
        let is = m.let_("room", taken.q.ne(lit(taken.q.width(), depth.into())));
        let plenty = m.let_("plenty", !taken.q.any());
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
    lost_o: Expr,
    /// Whether it is held rather than lost, if that can be chosen.
    stall: Option<Expr>,
}

/// Whether a hart may be traced at its level, in configurations with such an input.
struct Permission {
    /// It may not: what it does comes no further.
    forbidden: Expr,
    /// A break has to enter, because the hart was or is at a forbidden level: what the trace has after it need not
    /// follow what it has before.
    gap: Expr,
    /// There was no room for that break yet. Nothing may enter before it.
    owed: Reg,
    /// The hart was halted or in reset in the cycle before.
    was_halted: Reg,
}

impl Permission {
    fn new(m: &Module, hart: &Hart) -> Option<Self> {
        let allow = hart.allow.as_ref()?;
        m.section(
            "Permission. What a hart shows at a level that may not be traced is replaced by zeros here, so that nothing\n\
             behind depends on it: priv_i and allow_i alone decide when the break enters that interrupts the trace.",
        );
        let forbidden = m.let_("forbidden", !allow.bit_at(&hart.r#priv));
        let was_forbidden = m.reg("was_forbidden", false);
        m.assign(&was_forbidden.d, &forbidden);
        let owed = m.reg("gap_owed", false);
        let gap = m.let_("gap", (&forbidden & !&was_forbidden.q) | &owed.q);
        let was_halted = m.reg("was_halted", false);
        Some(Self { forbidden, gap, owed, was_halted })
    }

    /// The signals of the hart, as far as they may be seen. Its level decides what may be, and `drained_i` says
    /// nothing about what the hart does.
    fn shown(&self, m: &Module, hart: &Hart) -> Hart {
        let hides = |name: &str| !["priv", "allow", "drained"].contains(&name);
        hart.map(|name, signal| match hides(name) {
            true => m.let_(&format!("shown_{name}"), (!&self.forbidden).gate(signal)),
            false => signal.clone(),
        })
    }
}

/// Decides what enters: retired blocks, or a mark.
struct Front {
    active: Reg,
    /// Tracing has been switched off, and the mark that reports this has not entered. It must enter
    /// even if tracing is on again by then: what retires in between is not traced.
    stopping: Reg,
    /// Something was lost, and this has not been reported. Until then nothing enters.
    dropping: Reg,
    halted: Reg,
    cycles: Option<Reg>,
    works: Expr,
    halts: Expr,
    /// What retires has to wait until the break before it has entered, or is lost.
    held_back: Expr,
    /// Retired blocks enter, not a mark alone.
    rows: Expr,
    offers: Expr,
    starts: Expr,
    /// Tracing is to end; what is still to come is traced.
    ends: Expr,
    /// What retires is no longer traced.
    over: Expr,
    /// Tracing ends here.
    stops: Expr,
    breaks: Expr,
    empty: Expr,
    permission: Option<Permission>,
}

impl Front {
    fn new(
        m: &Module,
        config: &Config,
        hart: &Hart,
        control: &Control,
        permission: Option<Permission>,
    ) -> Self {
        let active = m.reg("active", false);
        let stopping = m.reg("stopping", false);
        let dropping = m.reg("dropping", false);
        let halted = m.reg("halt_seen", false);
        let empty = m.wire("nothing_inside", 1);
        let (tw, rw) = (u32::from(config.itype_width_p), u32::from(config.iretire_width_p));
        let lane = |i: u32| {
            let itype = hart.itype.slice(i * tw, tw);
            hart.iretire.slice(i * rw, rw).any() | itype.is(1) | itype.is(2)
        };
        let mut works = any((0..config.n()).map(lane));
        let (mut gap, mut owed) = (zero(1), zero(1));
        if let Some(permission) = &permission {
            // A hart that was halted and still is retires nothing that belongs to a program.
            let still_halted = &permission.was_halted.q & (&hart.halted | &hart.reset);
            works = works & !m.let_("still_halted", still_halted);
            (gap, owed) = (permission.gap.clone(), permission.owed.q.clone());
        }
        let works = m.let_("works", works);
        let halts = m.let_("halts", &hart.halted | &hart.reset);
        let enable = &control.enable;
        let starts = m.let_("starts", !&active.q & enable & &empty);
        let ends = m.let_("ends", &active.q & (!enable | &stopping.q));
        let mut over = &ends & &hart.drained;
        if permission.is_some() {
            over = m.let_("over", over);
        }
        // The break enters before the end does.
        let stops = m.let_("stops", &over & !&gap);
        let open = m.let_("open", &active.q & !&stops & !&dropping.q & !&hart.lost);
        let rows = m.let_("rows", &open & &works & !&owed);
        let held_back = m.shared("held_back", &open & &works & &owed & !&over);
        let alone = &open & !&works & &halts & !&halted.q;
        let interrupts = &active.q & !&dropping.q & &gap;
        let breaks = m.let_("breaks", (&rows & &halts) | alone | interrupts);
        let offers = m.let_("offers", &starts | &stops | &rows | &breaks | &dropping.q);
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
            held_back,
            rows,
            offers,
            starts,
            ends,
            over: if permission.is_some() { over } else { stops.clone() },
            stops,
            breaks,
            empty,
            permission,
        }
    }

    /// What is offered to the ingress.
    fn offered(&self, config: &Config, hart: &Hart) -> Ingress {
        let (w, aw) = (u32::from(config.etrace.iaddress_width_p), config.address());
        let lanes = (0..config.n()).rev().map(|i| hart.iaddr.slice(i * w + w - aw, aw));
        let kind = |kind: u128| lit(2, kind);
        let mark = self.stops.mux(kind(mark::STOP), self.breaks.gate(kind(mark::BREAK)));
        let mark = self.starts.mux(kind(mark::START), mark);
        Ingress {
            // A mark comes alone.
            itype: self.rows.gate(&hart.itype),
            iaddr: concat(&lanes.collect::<Vec<_>>().iter().collect::<Vec<_>>()),
            iretire: self.rows.gate(&hart.iretire),
            ilastsize: hart.ilastsize.clone(),
            sijump: hart.sijump.clone(),
            cause: hart.cause.clone(),
            tval: hart.tval.clone(),
            r#priv: hart.r#priv.clone(),
            context: hart.context.clone(),
            ctype: hart.ctype.clone(),
            time: hart.time.clone(),
            trigger: hart.trigger.clone(),
            cycles: self.cycles.as_ref().map(|cycles| cycles.q.clone()),
            mark: self.dropping.q.mux(kind(mark::BREAK), mark),
            lost: self.dropping.q.clone(),
            resets: config.filters_by_trap().then(|| self.forgets_traps(hart)),
        }
    }

    /// Whether filters forget the traps that have not been returned from: the hart is reset, or may have returned
    /// where it was not seen.
    fn forgets_traps(&self, hart: &Hart) -> Expr {
        match &self.permission {
            Some(permission) => &self.breaks & (&hart.reset | &permission.gap),
            None => &self.breaks & &hart.reset,
        }
    }

    /// Drives what enters now.
    fn drive(&self, m: &Module, hart: &Hart, accepts: &Expr, refuses: &Refuses) -> Expr {
        let dropping = &self.dropping;
        let enters = m.let_("enters", &self.offers & accepts);
        let stopped = m.let_("stopped", &enters & &self.stops & !&dropping.q);
        m.comb(|b| {
            b.when(&enters & &self.starts, |b| b.set(&self.active.d, true));
            b.when(&stopped, |b| b.set(&self.active.d, false));
        });
        m.assign(&self.stopping.d, &self.ends & !&stopped);
        // A break alone is offered until it is accepted, and then not again.
        let seen = &self.halted.q | (&self.breaks & &enters);
        m.assign(&self.halted.d, seen & &self.halts);
        // The rest of what is incomplete is lost too: otherwise it would have to be told apart from what is whole.
        let incomplete = m.let_("incomplete", &self.active.q & !&self.over & &hart.lost);
        let behind = &self.active.q & !&self.over & &dropping.q & &self.works & !&hart.lost;
        let refused = (&self.rows & !accepts) | &self.held_back;
        let [refused, behind] = [("refused", refused), ("behind_loss", behind)]
            .map(|(name, value)| m.let_(name, value));
        let stalls = match (&refuses.stall_o, &refuses.stall) {
            (Some(_), Some(on)) => on.clone(),
            (Some(_), None) => lit(1, 1),
            (None, _) => zero(1),
        };
        if let Some(stall_o) = &refuses.stall_o {
            m.assign(stall_o, (&refused | &behind) & &stalls);
        }
        if let Some(permission) = &self.permission {
            m.assign(&permission.owed.d, &self.active.q & &permission.gap & !&enters);
            // A hart that waits shows the same once more, which it retires only then.
            let waits = refuses.stall_o.clone().unwrap_or_else(|| zero(1));
            m.assign(&permission.was_halted.d, waits.mux(&permission.was_halted.q, &self.halts));
        }
        m.assign(&refuses.lost_o, &incomplete | ((&refused | &behind) & !&stalls));
        // What is lost while a loss is being reported is part of that loss.
        let drops = m.let_("drops", (&refused & !&stalls) | (&incomplete & !&dropping.q));
        m.assign(&dropping.d, &drops | (&dropping.q & !&enters));
        if let Some(cycles) = &self.cycles {
            m.comb(|b| {
                b.when(!cycles.q.all(), |b| b.set(&cycles.d, &cycles.q + lit(group::CYCLES, 1)));
                b.when(&enters & &self.rows, |b| b.set(&cycles.d, lit(group::CYCLES, 1)));
            });
        }
        enters
    }
}
