//! Values that move from stage to stage.

use crate::wires::delay;
use hartrace_rtl::{Expr, Module};
use std::collections::BTreeMap;

/// The values of the packets in all slots at one stage.
pub(super) struct Pipe<'a> {
    m: &'a Module,
    values: BTreeMap<(&'static str, u32), Expr>,
}

/// Values that must not be garbage after reset.
const CLEARED: [&str; 7] =
    ["known", "enters", "forgets", "stores", "clears", "absolute", "relative"];

impl<'a> Pipe<'a> {
    pub(super) fn new(m: &'a Module) -> Self {
        Self { m, values: BTreeMap::new() }
    }

    pub(super) fn put(&mut self, name: &'static str, slot: u32, value: Expr) {
        self.values.insert((name, slot), value);
    }

    /// A value that later stages need too.
    #[track_caller]
    pub(super) fn get(&self, name: &'static str, slot: u32) -> Expr {
        match self.values.get(&(name, slot)) {
            Some(value) => value.clone(),
            None => panic!("no {name} of slot {slot} at this stage"),
        }
    }

    /// A value that no later stage needs.
    #[track_caller]
    pub(super) fn take(&mut self, name: &'static str, slot: u32) -> Expr {
        let value = self.get(name, slot);
        self.values.remove(&(name, slot));
        value
    }

    /// Moves all values to the next stage.
    pub(super) fn advance(&mut self, stage: &str) {
        for ((name, slot), value) in &mut self.values {
            let clears = CLEARED.contains(name);
            *value = delay(self.m, &format!("{stage}_{name}_{slot}"), value, clears);
        }
    }
}
