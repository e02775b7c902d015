//! The ports that are common to both ways of building blocks.

use crate::config::Config;
use hartrace_etrace::ingress::CType;
use hartrace_rtl::{Expr, Module, concat, lit};

/// Committed instructions, and whether they end a block; lane 0 is the oldest.
#[derive(Debug)]
pub(crate) struct Commits {
    /// Excludes instructions of debug mode.
    pub(crate) valid: Expr,
    pub(crate) pc: Expr,
    pub(crate) compressed: Expr,
    pub(crate) itype: Expr,
    pub(crate) ends: Expr,
    pub(crate) sijump: Option<Expr>,
    pub(crate) trap: Expr,
    pub(crate) interrupt: Expr,
    pub(crate) cause: Expr,
    pub(crate) tval: Expr,
    pub(crate) trap_pc: Expr,
    /// With the context in the bits above it: a block has one of each.
    pub(crate) privilege: Expr,
    /// Whether the hart is halted after these commits.
    pub(crate) halts: Expr,
    /// Whether no block may wait for more instructions.
    pub(crate) flush: Expr,
    /// Whether commits before these were lost.
    pub(crate) lost: Expr,
    /// The hart may not be traced at its level, if there is an input that says so.
    pub(crate) forbidden: Option<Expr>,
    /// Whether commits count. What came before is still passed on.
    pub(crate) enable: Expr,
    pub(crate) stall: Expr,
    /// What the hart has to keep while it is stalled.
    kept: Expr,
}

impl Commits {
    pub(crate) fn inputs(m: &Module, config: &Config) -> Self {
        let (n, w) = (config.n(), config.address());
        let valid = m.input("valid_i", n, "an instruction is committed, lane 0 oldest");
        let pc = m.input("pc_i", n * w, "its address");
        let compressed = m.input("compressed_i", n, "it has 2 bytes");
        let itype = m.input("itype_i", n * config.itype(), "how a block ends with it");
        let ends = m.input("ends_i", n, "a block ends with it");
        let sijump = config.sijump.then(|| m.input("sijump_i", n, "a sequentially inferable jump"));
        let trap =
            m.input("trap_i", 1, "behind what is committed; fewer instructions than lanes then");
        let interrupt = m.input("interrupt_i", 1, "the trap is an interrupt");
        let cause = m.input("cause_i", w, "of the trap");
        let tval = m.input("tval_i", w, "of the trap; ignored for interrupts");
        let trap_pc = m.input("trap_pc_i", w, "address of what did not retire");
        let level = m.input("priv_i", config.privilege_width_p.into(), "level, in every cycle");
        let allow = config.permission.then(|| {
            let levels = 1 << config.privilege_width_p;
            m.input(
                "allow_i",
                levels,
                "levels that may be traced, one bit for each value of priv_i",
            )
        });
        let context = (config.context_width_p > 0).then(|| {
            m.input("context_i", config.context_width_p.into(), "context, in every cycle")
        });
        let and_level = |context: &Option<Expr>| {
            context.as_ref().map_or_else(|| level.clone(), |context| concat(&[context, &level]))
        };
        let kept_level = and_level(&context);
        let debug = m.input("debug_i", 1, "in debug mode: nothing of it is traced");
        let halted = m.input("halted_i", 1, "halted behind what is committed");
        let flush = m.input("flush_i", 1, "let no block wait for more instructions");
        let lost = m.input("lost_i", 1, "commits before these were lost");
        let enable = m.input("enable_i", 1, "commits count; if not, what is open ends");
        let stall = m.input("stall_i", 1, "keep what is offered to the encoder");

        let ecause = config.ecause_width_p.into();
        if ecause < w {
            m.unused(&cause.slice(ecause, w - ecause));
        }
        let pcs = (0..n).rev().map(|i| valid.bit(i).gate(pc.slice(i * w, w))).collect::<Vec<_>>();
        let pcs = concat(&pcs.iter().collect::<Vec<_>>());
        let kept = concat(&[&valid, &pcs, &trap, &trap_pc, &kept_level, &lost]);
        let forbidden = allow.map(|allow| {
            m.section(
                "Permission. What is committed at a level that may not be traced is replaced by zeros here, and the hart\n\
                 counts as halted: only priv_i and allow_i are seen of it.",
            );
            m.let_("forbidden", !allow.bit_at(&level))
        });
        let shown = |name: &str, signal: Expr| match &forbidden {
            Some(forbidden) => m.let_(&format!("shown_{name}"), (!forbidden).gate(signal)),
            None => signal,
        };
        let valid = shown("valid", valid);
        let pc = shown("pc", pc);
        let compressed = shown("compressed", compressed);
        let itype = shown("itype", itype);
        let ends = shown("ends", ends);
        let sijump = sijump.map(|sijump| shown("sijump", sijump));
        let trap = shown("trap", trap);
        let interrupt = shown("interrupt", interrupt);
        let cause = shown("cause", cause.trunc(ecause));
        let tval = shown("tval", tval);
        let trap_pc = shown("trap_pc", trap_pc);
        let privilege = and_level(&context.map(|context| shown("context", context)));
        let debug = shown("debug", debug);
        let halted = shown("halted", halted);
        let lost = shown("lost", lost);
        let live = m.let_("live", &enable & !&debug);
        Self {
            valid: m.let_("commits", live.gate(&valid)),
            pc,
            compressed,
            itype,
            ends,
            sijump,
            trap: m.let_("traps", &live & &trap),
            cause,
            tval: m.let_("tval", (!&interrupt).gate(&tval)),
            interrupt,
            trap_pc,
            privilege,
            halts: match &forbidden {
                Some(forbidden) => m.let_("halts", &enable & (&debug | &halted | forbidden)),
                None => m.let_("halts", &enable & (&debug | &halted)),
            },
            flush: m.let_("flushes", flush | !&enable),
            lost: m.let_("loses", &enable & lost),
            forbidden,
            enable,
            stall,
            kept,
        }
    }

    /// Makes the hart wait if it `holds` what it commits. While nothing counts it need not.
    pub(crate) fn hold(&self, m: &Module, config: &Config, holds: &Expr, out: &Blocks) {
        m.assign(&out.stall, holds & &self.enable);
        if config.holds {
            m.assert_stays("commits_held", &out.stall, &self.kept);
        } else {
            m.assume_always("encoder_never_stalls", !&self.stall);
        }
    }
}

/// The inputs of `te_core` from a hart, with its names and widths, and the state of the connector.
#[derive(Debug)]
pub(crate) struct Blocks {
    pub(crate) itype: Expr,
    pub(crate) iaddr: Expr,
    pub(crate) iretire: Expr,
    pub(crate) ilastsize: Expr,
    pub(crate) sijump: Option<Expr>,
    pub(crate) cause: Expr,
    pub(crate) tval: Expr,
    /// With the context in the bits above it.
    pub(crate) privilege: Expr,
    pub(crate) halted: Expr,
    pub(crate) stall: Expr,
    pub(crate) lost: Expr,
    pub(crate) empty: Expr,
}

impl Blocks {
    pub(crate) fn outputs(m: &Module, config: &Config) -> Self {
        let (n, w) = (config.most_blocks(), config.address());
        Self {
            itype: m.output("itype_o", n * config.itype(), "how the block ends, lane 0 oldest"),
            iaddr: m.output("iaddr_o", n * w, "address of its first instruction"),
            iretire: m.output("iretire_o", n * config.iretire(), "half-words retired"),
            ilastsize: m.output("ilastsize_o", n, "its last instruction has 4 bytes"),
            sijump: config
                .sijump
                .then(|| m.output("sijump_o", n, "it ends in a sequentially inferable jump")),
            cause: m.output("cause_o", config.ecause_width_p.into(), "of the trap"),
            tval: m.output("tval_o", w, "of the trap"),
            privilege: level(m, config),
            halted: m.output("halted_o", 1, "the hart is halted behind what retires"),
            stall: m.output("stall_o", 1, "the hart has to hold what it commits"),
            lost: m.output("lost_o", 1, "what was committed before this is lost"),
            empty: m.output("empty_o", 1, "nothing is on its way"),
        }
    }
}

/// The privilege level, and above it the context if there is one.
fn level(m: &Module, config: &Config) -> Expr {
    let width = config.privilege_width_p.into();
    let level = m.output("priv_o", width, "privilege level");
    if config.context_width_p == 0 {
        return level;
    }
    let context = m.output("context_o", config.context_width_p.into(), "the context");
    let ctype = m.output("ctype_o", 2, "how to report a change of the context: where it is");
    m.assign(&ctype, lit(2, CType::Precise as u128));
    let both = m.wire("level_and_context", width + context.width());
    m.assign(&level, both.trunc(width));
    m.assign(&context, both.slice(width, context.width()));
    both
}

/// Lanes side by side, lane 0 lowest.
pub(crate) fn side_by_side(lanes: &[Expr]) -> Expr {
    let parts: Vec<&Expr> = lanes.iter().rev().collect();
    concat(&parts)
}
