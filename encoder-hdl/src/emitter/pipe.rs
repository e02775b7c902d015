//! Stages of a pipeline.

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

/// A stage: the registers of its signals.
pub(super) fn held(m: &Module, stage: &str, load: &Expr) -> impl Fn(&'static str, &Expr) -> Expr {
    move |name, value| {
        let reg = m.reg_data(&format!("{stage}_{name}"), value.width(), load);
        m.assign(&reg.d, value);
        reg.q
    }
}
