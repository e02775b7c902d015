//! What is counted and watched on the chip, behind a decoder and a [walker](crate::walker).
//!
//! | module | input | result |
//! | --- | --- | --- |
//! | `packet_counters` | ends of packets, lane by lane | bytes, errors, synchronisations; packets by kind and by length |
//! | `edge_profile` | blocks | how often each branch and jump went where |
//! | `path_windows` | blocks | the outcomes of the branches before a trigger |
//! | `property_monitor` | blocks | how often "A before B", or "B within n cycles of A", does not hold |
//!
//! [`analysis`] combines them with registers. Nothing here can make a decoder wait. What is lost is counted.

mod config;
mod counters;
mod module;
mod monitor;
mod profile;
mod windows;

pub use config::{Config, ConfigError};
pub(crate) use module::is_bus;
pub use module::{BLOCK, analysis};
pub use profile::RECORD_BYTES;

use crate::wires::any;
use hartrace_rtl::{Expr, Module, Reg, zero};

/// Bits of counters.
const COUNTER: u32 = 32;

/// A counter that stays at the largest number.
pub(crate) fn counter(m: &Module, name: &str, clear: &Expr, by: &Expr) -> Expr {
    let reg = m.reg(name, zero(COUNTER));
    let sum = m.let_(&format!("{name}_sum"), reg.q.zext(COUNTER + 1) + by.zext(COUNTER + 1));
    let stays = sum.msb().repeat(COUNTER) | sum.trunc(COUNTER);
    m.assign(&reg.d, (!clear).gate(stays));
    reg.q
}

/// Number of bits that are set.
fn population(bits: &[Expr]) -> Expr {
    let width = hartrace_rtl::index_width(bits.len() as u32 + 1);
    let bits = bits.iter().map(|bit| bit.zext(width));
    bits.reduce(|a, b| a + b).unwrap_or_else(|| zero(1))
}

/// A block of the walker.
struct Block {
    valid: Expr,
    start: Expr,
    last: Expr,
    faulted: Expr,
}

impl Block {
    fn new(m: &Module, address_bits: u32) -> Self {
        Self {
            valid: m.input("valid_i", 1, "instructions were executed, at consecutive addresses"),
            start: m.input("start_i", address_bits, "address of the first one"),
            last: m.input("last_i", address_bits, "address of the last one"),
            faulted: m.input("faulted_i", 1, "the last one was not executed"),
        }
    }

    /// Whether the instruction at an address is among them.
    fn has(&self, m: &Module, name: &str, address: &Expr) -> Expr {
        let before_end = self.faulted.mux(address.lt(&self.last), address.le(&self.last));
        m.let_(name, &self.valid & address.ge(&self.start) & before_end)
    }
}

/// A register that is set by one condition and cleared by another, which wins.
fn flag(m: &Module, name: &str, set: &Expr, clear: &[&Expr]) -> Reg {
    let reg = m.reg(name, false);
    let cleared = any(clear.iter().map(|expr| (*expr).clone()));
    m.assign(&reg.d, (set | &reg.q) & !cleared);
    reg
}
