//! Converts the signals of the hart to steps: what retired, where its last instruction is, and
//! whether it is traced.

use crate::bundle::{Bundle, Wire, module_of_lanes};
use crate::config::{Config, ResyncUnit};
use crate::filter::{self, Filters};
use crate::group;
use hartrace_etrace::ingress::IType;
use hartrace_rtl::{Component, Expr, Module, concat, lit};

/// The signals of the hart in one cycle, without the bits that no address has.
pub(crate) fn wires(config: &Config) -> Vec<Wire> {
    let (n, params) = (config.n(), &config.etrace);
    let mut wires = vec![
        Wire::new("itype", n * u32::from(config.itype_width_p), "how the block ends"),
        Wire::new("iaddr", n * config.address(), "address of its first instruction"),
        Wire::new("iretire", n * u32::from(config.iretire_width_p), "half-words retired"),
        Wire::new("ilastsize", n, "its last instruction has 4 bytes"),
    ];
    if params.sijump_p {
        wires.push(Wire::new("sijump", n, "it ends in a sequentially inferable jump"));
    }
    wires.extend([
        Wire::new("cause", params.ecause_width_p.into(), "of the trap"),
        Wire::new("tval", params.iaddress_width_p.into(), "of the trap"),
        Wire::new("priv", params.privilege_width_p.into(), "privilege level"),
    ]);
    if params.context_bits() > 0 {
        wires.push(Wire::new("context", params.context_bits(), ""));
        wires.push(Wire::new("ctype", 2, "how to report a change of the context"));
    }
    if params.time_bits() > 0 {
        wires.push(Wire::new("time", params.time_bits(), ""));
    }
    if config.triggers {
        wires.push(Wire::new("trigger", 2 + n, "trace on, trace off, notify of each lane"));
    }
    if config.counts(ResyncUnit::Cycles) {
        wires.push(Wire::new("cycles", group::CYCLES, "since the group before"));
    }
    wires.push(Wire::new("mark", 2, "1 break, 2 stop, 3 start, behind the lanes"));
    wires.push(Wire::new("lost", 1, "input was lost here"));
    if config.filters_by_trap() {
        wires.push(Wire::new("resets", 1, "the hart is reset here"));
    }
    wires
}

/// The module `te_ingress`.
pub(crate) fn build(config: &Config) -> Component {
    let m = module_of_lanes(
        config,
        "te_ingress",
        "Takes what retired in a cycle apart into lanes, a trap and a mark, and decides which of it is\n\
         traced. Nothing stops here: whatever comes in goes out, in registers.",
    );
    let valid = m.input("valid_i", 1, "something retired, trapped or is marked");
    let raw = Bundle::inputs(&m, &wires(config));
    let settings = Bundle::inputs(&m, &filter::wires(config));
    let valid_o = m.output("valid_o", 1, "");
    let out = Bundle::outputs(&m, &group::wires(config));

    let mut lanes: Vec<Lane> = (0..config.n()).map(|i| Lane::new(&m, config, &raw, i)).collect();
    let held = m.reg("valid", false);
    let (mut load, mut raw) = (valid, raw);
    if filter::is_slow(config) {
        m.section(
            "Comparators need the address of the last instruction, and a cycle of their own.",
        );
        let early = m.reg("early_valid", false);
        m.assign(&early.d, &load);
        lanes = (0..).zip(&lanes).map(|(i, lane)| lane.held(&m, i, &load)).collect();
        raw = held_back(&m, config, &raw, &load);
        load = early.q;
    }
    m.assign(&held.d, &load);
    m.assign(&valid_o, &held.q);

    let works = m.let_("works", any(lanes.iter().map(|lane| &lane.works)));
    let filters = Filters { m: &m, config, raw: &raw, settings: &settings };
    let qualified = filters.qualified(&lanes, (&load, &works));

    let keep = |name: &'static str, value: Expr| {
        let reg = m.reg_data(name, value.width(), &load);
        m.assign(&reg.d, value);
        m.assign(&out[name], &reg.q);
    };
    let each = |of: &dyn Fn(&Lane) -> Expr| lanes_of(&lanes.iter().map(of).collect::<Vec<_>>());
    let trap_at = |of: &[Expr]| {
        any(lanes.iter().zip(of).map(|(lane, x)| &lane.trap & x).collect::<Vec<_>>().iter())
    };
    m.section("What retired. A lane that is not traced is a single step.");
    keep("retires", each(&|lane| lane.retires.clone()));
    let two: Vec<Expr> = lanes.iter().zip(&qualified).map(|(lane, q)| &lane.two & q).collect();
    keep("two", lanes_of(&two));
    keep("qualified", lanes_of(&qualified));
    keep("first", each(&|lane| lane.first.clone()));
    keep("last", each(&|lane| lane.last.clone()));
    keep("taken", each(&|lane| lane.is(&[IType::Taken])));
    keep("not_taken", each(&|lane| lane.is(&[IType::NotTaken])));
    keep("uninferable", each(&|lane| lane.is(&UNINFERABLE)));
    keep("wide", raw["ilastsize"].clone());
    if config.returns() {
        keep("call", each(&|lane| lane.is(&[IType::UninferableCall, IType::InferableCall])));
        keep("ret", each(&|lane| lane.is(&[IType::Return])));
    }
    if let Some(sijump) = raw.get("sijump") {
        keep("sijump", sijump.clone());
    }
    if config.triggers {
        keep("notify", raw["trigger"].slice(2, config.n()));
    }
    if config.counts(ResyncUnit::HalfWords) {
        keep("half_words", raw["iretire"].clone());
    }
    if config.counts(ResyncUnit::Cycles) {
        keep("cycles", raw["cycles"].clone());
    }
    m.section("The trap, in the newest lane.");
    keep("trap", any(lanes.iter().map(|lane| &lane.trap)));
    keep("trap_alone", each(&|lane| &lane.trap & !&lane.retires));
    keep("trap_qualified", trap_at(&qualified));
    keep(
        "interrupt",
        any(lanes.iter().map(|lane| lane.is(&[IType::Interrupt])).collect::<Vec<_>>().iter()),
    );
    keep("cause", raw["cause"].clone());
    keep("tval", raw["tval"].clone());

    m.section(
        "What the lanes share, and whether it is another than before. Marks have nothing of it.",
    );
    let shared = m.let_("shared", &load & &works);
    let changes = |name: &'static str, port: &str| {
        let reg = m.reg_data(name, raw[port].width(), &shared);
        m.assign(&reg.d, &raw[port]);
        m.assign(&out[name], &reg.q);
        reg.q.ne(&raw[port])
    };
    let privilege = changes("privilege", "priv") & &works;
    keep("privilege_changes", privilege);
    if config.etrace.context_bits() > 0 {
        let context = m.let_("context_differs", changes("context", "context") & &works);
        let ctype = |value| raw["ctype"].is(value);
        keep("context_changes", &context & (ctype(2) | ctype(3)));
        keep("context_tears", &context & ctype(3));
        keep("context_drifts", &context & ctype(1));
    }
    if config.etrace.time_bits() > 0 {
        keep("time", raw["time"].clone());
    }
    keep("mark", raw["mark"].clone());
    keep("lost", raw["lost"].clone());
    m.finish()
}

/// The signals that do not belong to a lane, one cycle later.
fn held_back(m: &Module, config: &Config, raw: &Bundle, load: &Expr) -> Bundle {
    let of_lanes = |name: &str| match name {
        "itype" | "iaddr" => true,
        "iretire" => !config.counts(ResyncUnit::HalfWords),
        _ => false,
    };
    let wires = wires(config).into_iter().filter(|wire| !of_lanes(wire.name));
    Bundle::of(wires.map(|wire| {
        let reg = m.reg_data(&format!("early_{}", wire.name), wire.width, load);
        m.assign(&reg.d, &raw[wire.name]);
        (wire.name, reg.q)
    }))
}

pub(crate) const UNINFERABLE: [IType; 7] = [
    IType::TrapReturn,
    IType::UninferableJump,
    IType::UninferableCall,
    IType::UninferableTailCall,
    IType::CoRoutineSwap,
    IType::Return,
    IType::OtherUninferableJump,
];

/// Whether any of some bits is set.
pub(crate) fn any<'a>(bits: impl IntoIterator<Item = impl Into<Expr>> + 'a) -> Expr {
    bits.into_iter().map(Into::into).reduce(|a, b| a | b).unwrap_or_else(|| lit(1, 0))
}

/// Lanes side by side, lane 0 lowest.
fn lanes_of(lanes: &[Expr]) -> Expr {
    let parts: Vec<&Expr> = lanes.iter().rev().collect();
    concat(&parts)
}

/// What one lane has.
pub(crate) struct Lane {
    itype: Expr,
    pub(crate) retires: Expr,
    pub(crate) trap: Expr,
    works: Expr,
    pub(crate) first: Expr,
    pub(crate) last: Expr,
    two: Expr,
}

impl Lane {
    fn new(m: &Module, config: &Config, raw: &Bundle, i: u32) -> Self {
        let (aw, rw, tw) =
            (config.address(), config.iretire_width_p.into(), config.itype_width_p.into());
        let itype = m.let_(&format!("itype_{i}"), raw["itype"].slice(i * tw, tw));
        let iretire = m.let_(&format!("iretire_{i}"), raw["iretire"].slice(i * rw, rw));
        let first = m.let_(&format!("first_{i}"), raw["iaddr"].slice(i * aw, aw));
        let wide = raw["ilastsize"].bit(i);
        let retires = m.let_(&format!("retires_{i}"), iretire.any());
        // Half-words that precede the last instruction.
        let before = retires.gate(&iretire - wide.mux(lit(rw, 2), lit(rw, 1)));
        let before = m.let_(&format!("before_{i}"), before);
        let trap = itype_is(&itype, &[IType::Exception, IType::Interrupt]);
        let trap = m.let_(&format!("trap_{i}"), trap);
        let last = m.let_(&format!("last_{i}"), &first + units(config, &before, aw));
        Self { two: before.any(), works: &retires | &trap, last, retires, trap, first, itype }
    }

    /// The same one cycle later.
    fn held(&self, m: &Module, i: u32, load: &Expr) -> Self {
        let hold = |name: &str, value: &Expr| {
            let reg = m.reg_data(&format!("early_{name}_{i}"), value.width(), load);
            m.assign(&reg.d, value);
            reg.q
        };
        Self {
            itype: hold("itype", &self.itype),
            retires: hold("retires", &self.retires),
            trap: hold("trap", &self.trap),
            works: hold("works", &self.works),
            first: hold("first", &self.first),
            last: hold("last", &self.last),
            two: hold("two", &self.two),
        }
    }

    pub(crate) fn is(&self, itypes: &[IType]) -> Expr {
        itype_is(&self.itype, itypes)
    }
}

/// Converts half-words to the units of addresses.
fn units(config: &Config, half_words: &Expr, width: u32) -> Expr {
    match config.etrace.iaddress_lsb_p {
        0 => concat(&[&half_words.zext(width - 1), &lit(1, 0)]),
        1 => half_words.zext(width),
        _ => half_words.slice(1, half_words.width() - 1).zext(width),
    }
}

pub(crate) fn itype_is(itype: &Expr, itypes: &[IType]) -> Expr {
    let known = itypes.iter().filter(|t| u32::from(t.raw()) < 1 << itype.width());
    let known: Vec<Expr> = known.map(|t| itype.is(t.raw().into())).collect();
    any(known.iter())
}
