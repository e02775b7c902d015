//! Stages of a pipeline.

use crate::bundle::{Bundle, Wire};
use hartrace_rtl::{Expr, Module, Reg, zero};

/// The stages that hold something. A stage moves on if the next one is empty or moves on itself.
pub(super) struct Pipe {
    pub(super) held: Vec<Reg>,
    /// When a stage loads the content of the preceding one.
    pub(super) load: Vec<Expr>,
    pub(super) ready: Expr,
}

impl Pipe {
    pub(super) fn new(m: &Module, valid: &Expr, ready: &Expr, depth: usize) -> Self {
        let held: Vec<Reg> =
            (1..=depth).map(|stage| m.reg(&format!("valid_{stage}"), false)).collect();
        let mut load = Vec::new();
        let mut ready = ready.clone();
        for stage in (0..depth).rev() {
            let before = if stage == 0 { valid } else { &held[stage - 1].q };
            m.assign(&held[stage].d, before | (&held[stage].q & !&ready));
            ready = m.let_(&format!("move_{}", stage + 1), !&held[stage].q | ready);
            load.push(m.let_(&format!("load_{}", stage + 1), before & &ready));
        }
        load.reverse();
        Self { held, load, ready }
    }

    pub(super) fn any(&self) -> Expr {
        let held = self.held.iter().map(|stage| stage.q.clone());
        held.reduce(|any, stage| any | stage).unwrap_or_else(|| zero(1))
    }
}

/// A stage: all signals in registers.
pub(super) fn stage(m: &Module, name: &str, wires: &[Wire], from: &Bundle, load: &Expr) -> Bundle {
    Bundle::of(wires.iter().map(|wire| {
        let reg = m.reg_data(&format!("{name}_{}", wire.name), wire.width, load);
        m.assign(&reg.d, &from[wire.name]);
        (wire.name, reg.q)
    }))
}
