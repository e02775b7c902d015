//! Converts the signals of the hart to steps: what retired, where its last instruction is, and
//! whether it is traced.

use crate::config::{Config, ResyncUnit};
use crate::filter::{self, Filters, Settings};
use crate::group::{self, Group};
use crate::lanes::module_of_lanes;
use hartrace_etrace::ingress::IType;
use hartrace_rtl::{Component, Expr, Module, Wire, bundle, concat, lit};

bundle! {
    /// The signals of the hart in one cycle, without the bits that no address has.
    pub(crate) struct Ingress {
        itype, iaddr, iretire, ilastsize, sijump: Option, cause, tval, r#priv,
        context: Option, ctype: Option, time: Option, trigger: Option, cycles: Option,
        mark, lost, resets: Option
    }
}

bundle! {
    /// Those that are needed besides the lanes; *iretire* only to be counted.
    pub(crate) struct Shared {
        iretire: Option, ilastsize, sijump: Option, cause, tval, r#priv,
        context: Option, ctype: Option, time: Option, trigger: Option, cycles: Option,
        mark, lost, resets: Option
    }
}

impl Ingress<Wire> {
    pub(crate) fn new(config: &Config) -> Self {
        let (n, params) = (config.n(), &config.etrace);
        let some = |has: bool, width, doc| has.then(|| Wire::new(width, doc));
        let (context, time) = (params.context_bits(), params.time_bits());
        Self {
            itype: Wire::new(n * u32::from(config.itype_width_p), "how the block ends"),
            iaddr: Wire::new(n * config.address(), "address of its first instruction"),
            iretire: Wire::new(n * u32::from(config.iretire_width_p), "half-words retired"),
            ilastsize: Wire::new(n, "its last instruction has 4 bytes"),
            sijump: some(params.sijump_p, n, "it ends in a sequentially inferable jump"),
            cause: Wire::new(params.ecause_width_p.into(), "of the trap"),
            tval: Wire::new(params.iaddress_width_p.into(), "of the trap"),
            r#priv: Wire::new(params.privilege_width_p.into(), "privilege level"),
            context: some(context > 0, context, ""),
            ctype: some(context > 0, 2, "how to report a change of the context"),
            time: some(time > 0, time, ""),
            trigger: some(config.triggers, 2 + n, "trace on, trace off, notify of each lane"),
            cycles: some(
                config.counts(ResyncUnit::Cycles),
                group::CYCLES,
                "since the group before",
            ),
            mark: Wire::new(2, "1 break, 2 stop, 3 start, behind the lanes"),
            lost: Wire::new(1, "input was lost here"),
            resets: some(config.filters_by_trap(), 1, "the hart is reset here"),
        }
    }
}

impl Ingress {
    fn shared(&self, config: &Config) -> Shared {
        let mut shared = Shared::find(|name| self.get(name).cloned());
        shared.iretire = shared.iretire.filter(|_| config.counts(ResyncUnit::HalfWords));
        shared
    }
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
    let raw = Ingress::new(config).inputs(&m);
    let settings = Settings::new(config).inputs(&m);
    let valid_o = m.output("valid_o", 1, "");
    let out = Group::new(config).outputs(&m).map(|name, port| (name, port.clone()));

    let mut lanes: Vec<Lane> = (0..config.n()).map(|i| Lane::new(&m, config, &raw, i)).collect();
    let held = m.reg("valid", false);
    let (mut load, mut raw) = (valid, raw.shared(config));
    if filter::is_slow(config) {
        m.section(
            "Comparators need the address of the last instruction, and a cycle of their own.",
        );
        let early = m.reg("early_valid", false);
        m.assign(&early.d, &load);
        lanes = (0..).zip(&lanes).map(|(i, lane)| lane.held(&m, i, &load)).collect();
        raw = raw.map(|name, signal| {
            let reg = m.reg_data(&format!("early_{name}"), signal.width(), &load);
            m.assign(&reg.d, signal);
            reg.q
        });
        load = early.q;
    }
    m.assign(&held.d, &load);
    m.assign(&valid_o, &held.q);

    let works = m.let_("works", any(lanes.iter().map(|lane| &lane.works)));
    let filters = Filters { m: &m, config, raw: &raw, settings: &settings };
    let qualified = filters.qualified(&lanes, (&load, &works));

    let keep = |(name, port): &(&str, Expr), value: Expr| {
        let reg = m.reg_data(name, value.width(), &load);
        m.assign(&reg.d, value);
        m.assign(port, &reg.q);
    };
    let keep_if = |to: &Option<(&str, Expr)>, value: &dyn Fn() -> Expr| {
        if let Some(to) = to {
            keep(to, value());
        }
    };
    let copy_if = |to: &Option<(&str, Expr)>, value: &Option<Expr>| {
        if let (Some(to), Some(value)) = (to, value) {
            keep(to, value.clone());
        }
    };
    let each = |of: &dyn Fn(&Lane) -> Expr| lanes_of(&lanes.iter().map(of).collect::<Vec<_>>());
    let trap_at = |of: &[Expr]| {
        any(lanes.iter().zip(of).map(|(lane, x)| &lane.trap & x).collect::<Vec<_>>().iter())
    };
    m.section("What retired. A lane that is not traced is a single step.");
    keep(&out.retires, each(&|lane| lane.retires.clone()));
    let two: Vec<Expr> = lanes.iter().zip(&qualified).map(|(lane, q)| &lane.two & q).collect();
    keep(&out.two, lanes_of(&two));
    keep(&out.qualified, lanes_of(&qualified));
    keep(&out.first, each(&|lane| lane.first.clone()));
    keep(&out.last, each(&|lane| lane.last.clone()));
    keep(&out.taken, each(&|lane| lane.is(&[IType::Taken])));
    keep(&out.not_taken, each(&|lane| lane.is(&[IType::NotTaken])));
    keep(&out.uninferable, each(&|lane| lane.is(&UNINFERABLE)));
    keep(&out.wide, raw.ilastsize.clone());
    let calls = [IType::UninferableCall, IType::InferableCall];
    keep_if(&out.call, &|| each(&|lane| lane.is(&calls)));
    keep_if(&out.ret, &|| each(&|lane| lane.is(&[IType::Return])));
    copy_if(&out.sijump, &raw.sijump);
    copy_if(&out.notify, &raw.trigger.as_ref().map(|trigger| trigger.slice(2, config.n())));
    copy_if(&out.half_words, &raw.iretire);
    copy_if(&out.cycles, &raw.cycles);
    m.section("The trap, in the newest lane.");
    keep(&out.trap, any(lanes.iter().map(|lane| &lane.trap)));
    keep(&out.trap_alone, each(&|lane| &lane.trap & !&lane.retires));
    keep(&out.trap_qualified, trap_at(&qualified));
    keep(
        &out.interrupt,
        any(lanes.iter().map(|lane| lane.is(&[IType::Interrupt])).collect::<Vec<_>>().iter()),
    );
    keep(&out.cause, raw.cause.clone());
    keep(&out.tval, raw.tval.clone());

    m.section(
        "What the lanes share, and whether it is another than before. Marks have nothing of it.",
    );
    let shared = m.let_("shared", &load & &works);
    let changes = |(name, port): &(&str, Expr), value: &Expr| {
        let reg = m.reg_data(name, value.width(), &shared);
        m.assign(&reg.d, value);
        m.assign(port, &reg.q);
        reg.q.ne(value)
    };
    let privilege = changes(&out.privilege, &raw.r#priv) & &works;
    keep(&out.privilege_changes, privilege);
    if let (Some(to), Some(context), Some(ctype)) = (&out.context, &raw.context, &raw.ctype) {
        let context = m.let_("context_differs", changes(to, context) & &works);
        keep_if(&out.context_changes, &|| &context & (ctype.is(2) | ctype.is(3)));
        keep_if(&out.context_tears, &|| &context & ctype.is(3));
        keep_if(&out.context_drifts, &|| &context & ctype.is(1));
    }
    copy_if(&out.time, &raw.time);
    keep(&out.mark, raw.mark.clone());
    keep(&out.lost, raw.lost.clone());
    m.finish()
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
    fn new(m: &Module, config: &Config, raw: &Ingress, i: u32) -> Self {
        let (aw, rw, tw) =
            (config.address(), config.iretire_width_p.into(), config.itype_width_p.into());
        let itype = m.let_(&format!("itype_{i}"), raw.itype.slice(i * tw, tw));
        let iretire = m.let_(&format!("iretire_{i}"), raw.iretire.slice(i * rw, rw));
        let first = m.let_(&format!("first_{i}"), raw.iaddr.slice(i * aw, aw));
        let wide = raw.ilastsize.bit(i);
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
