//! The ports of the module, and the signals that all its parts share.

use crate::config::Config;
use crate::emitter;
use crate::group::{Group, mark};
use crate::queue::Looked;
use crate::request::Request;
use hartrace_rtl::{Expr, Module, Reg, bundle, lit, zero};

bundle! {
    /// The modes that the module needs to know.
    pub(crate) struct ModePorts {
        implicit_return: Option, sequential_jump: Option, branch_prediction: Option,
        jump_target_cache: Option
    }
}

bundle! {
    /// Whether a group is taken, and whether there is a request.
    pub(crate) struct Stream { ready, valid }
}

/// Everything that the parts of the module share.
pub(super) struct Context<'a> {
    pub(super) config: &'a Config,
    pub(super) m: &'a Module,
    pub(super) group: Group,
    /// What has been looked up of it.
    pub(super) looked: Option<Looked>,
    pub(super) group_valid: Expr,
    /// The emitter accepts a request.
    pub(super) can: Expr,
    pub(super) modes: Modes,
    pub(super) resync_mode: Expr,
    /// A hard step is being described.
    pub(super) busy: Expr,
    /// No target is in the emitter, and the last one was sent as an index.
    pub(super) settled: Option<(Expr, Expr)>,
}

/// Modes that are on. A mode that is not in the configuration is off.
pub(super) struct Modes {
    pub(super) returns: Expr,
    pub(super) sijump: Expr,
    pub(super) predicts: Expr,
    pub(super) caches: Expr,
}

/// Ports that only one part needs.
pub(super) struct Ports {
    /// All steps of the group have been taken.
    pub(super) group_ready: Expr,
    pub(super) resync_max: Expr,
    /// There is a request.
    pub(super) valid: Expr,
    /// The request.
    pub(super) out: Request,
    /// The packets of a hard step have been decided; [`Context::busy`] is its output.
    pub(super) planned: Reg,
}

impl<'a> Context<'a> {
    /// Declares the ports.
    pub(super) fn declare(config: &'a Config, m: &'a Module) -> (Self, Ports) {
        let group_valid = m.input("valid_i", 1, "there is a group");
        let group_ready = m.output("ready_o", 1, "all its steps have been taken");
        let group = Group::new(config).inputs(m);
        let looked = config.predicts().then(|| Looked::new(config).inputs(m));
        let modes = emitter::Modes::new(config);
        let modes = ModePorts::find(|name| modes.get(name).cloned()).inputs(m);
        let mode = |port: Option<Expr>| port.unwrap_or_else(|| zero(1));
        let modes = Modes {
            returns: mode(modes.implicit_return),
            sijump: mode(modes.sequential_jump),
            predicts: mode(modes.branch_prediction),
            caches: mode(modes.jump_target_cache),
        };
        let resync_mode = m.input("resync_mode_i", 2, "0 never, 1 packets, 2 cycles, 3 half-words");
        let resync_max = m.input("resync_max_i", 4, "");
        let valid = m.output("valid_o", 1, "there is a request");
        let can = m.input("ready_i", 1, "it is taken");
        let out = Request::new(config).outputs(m);
        let settled = config.caches().then(|| {
            let settled = m.input("settled_i", 1, "no target is on its way");
            (settled, m.input("indexed_i", 1, "the last target was sent as an index"))
        });
        let planned = m.reg("planned", false);
        let busy = planned.q.clone();
        let context =
            Self { config, m, group, looked, group_valid, can, modes, resync_mode, busy, settled };
        (context, Ports { group_ready, resync_max, valid, out, planned })
    }
}

/// Whether the mark is of this kind.
pub(super) fn is_mark(value: &Expr, kind: u128) -> Expr {
    debug_assert!(kind != mark::NONE);
    value.eq(lit(2, kind))
}
